"""What effort=thorough is worth on census tables: less loss than before rows could move between groups."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.analyst.loss import gcp
from discreet.datasets import census
from discreet.datasets.census import HETEROGENEOUS_QUASI
from discreet.schemes.described import narrow

BEFORE = {("occupation", 0): 0.60168, ("salary", 0): 0.70081, ("salary", 1): 0.65003}
"""The penalty when rows were only exchanged, once, at the end of the search."""


@pytest.mark.slow
@pytest.mark.parametrize(("sensitive", "seed"), BEFORE)
def test_a_promise_that_leaves_few_groups_costs_less_than_before_rows_moved(sensitive: str, seed: int) -> None:
    table = census(2000, quasi=HETEROGENEOUS_QUASI, sensitive=sensitive, seed=seed)
    scheme = dc.Cuts(effort="thorough", loss="gcp", random_state=2)
    release = dc.publish(table, dc.BetaLikeness(1, "basic"), narrow(scheme))
    assert gcp(release) < 0.985 * BEFORE[sensitive, seed]
    assert release.trace is not None
    counts = np.zeros((release.groups, len(table.prior_counts)), np.int64)
    np.add.at(counts, (release.trace, table.sensitive_codes), 1)
    assert dc.BetaLikeness(1, "basic").holds(counts, dc.principles.Prior.of(table)).all()


@pytest.mark.slow
def test_a_seed_repeats_a_thorough_search() -> None:
    table = census(500, quasi=HETEROGENEOUS_QUASI)
    first, second = (
        dc.publish(table, dc.LDiversity(5), dc.Cuts(effort="thorough", random_state=3)).trace for _ in range(2)
    )
    assert np.array_equal(first, second)
