"""Rolling up: counts of merged groups, and costs of intervals, by definition."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.datasets import patients
from discreet.kernels import rollup
from discreet.principles.counts import Counts
from discreet.schemes.axes import Loss, axes_of
from naive.cuts import interval_cost

kernels = cast(Any, rollup)


@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 2**20))
def test_merged_groups_have_the_counts_of_their_parts(groups: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 3, (groups, width))
    order = rng.permutation(groups)
    first = rng.random(groups) < 0.4
    first[0] = True
    given_ = Counts.of(counts, width)
    found = kernels.merged_counts(order, first, given_.starts, given_.values, given_.amounts, width)
    home = np.cumsum(first) - 1
    expected = [counts[order[home == group]].sum(axis=0).tolist() for group in range(home[-1] + 1)]
    assert Counts(*found, width).matrix().tolist() == expected
    assert (found[2] > 0).all()


@pytest.mark.parametrize("loss", ["ail", "gcp"])
def test_intervals_cost_what_their_codes_cost(loss: Loss) -> None:
    table = patients()
    _, axes = axes_of(table, loss, "interval")
    for j, card in enumerate(axes.cards.tolist()):
        low, high = np.triu_indices(card)
        ends = low.astype(np.int32), high.astype(np.int32)
        expected = [interval_cost(axes, j, [a, b]) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        assert kernels.interval_costs(axes, j, *ends).tolist() == pytest.approx(expected)
