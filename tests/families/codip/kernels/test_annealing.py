"""Annealing against all partitions of few items (also with NUMBA_DISABLE_JIT=1)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet.families.codip.kernels.annealing import anneal
from naive.codip import partitions

BOUNDS = np.array([0.0, 0.05, 0.2, 0.4, 0.7, 1.0])


@pytest.mark.parametrize("seed", range(6))
def test_the_best_partitions_by_exposure(seed: int) -> None:
    """A walk that comes everywhere remembers all that is best; one without patience exposes no more than allowed."""
    random, size = np.random.default_rng(seed), 5
    shared, exposed = np.triu(random.random((2, size, size)), 1)
    shared, exposed = shared + shared.T, exposed + exposed.T
    exposed *= 2 / exposed.sum() / size  # all items in one part expose 1
    least = np.full(len(BOUNDS), -np.inf)
    for plan in partitions(tuple(range(size))):
        pairs = [(one, other, len(part)) for part in plan for one, other in itertools.combinations(part, 2)]
        exposure = sum(exposed[one, other] * number for one, other, number in pairs)
        at = np.searchsorted(BOUNDS, exposure - 1e-9)
        least[at] = max(least[at], sum(shared[one, other] for one, other, _ in pairs))
    moves = np.column_stack([random.integers(0, size, (4000, 2)), random.integers(0, 2, 4000)])
    everywhere, kept, parts = np.full(4000, np.inf), np.full(6, -np.inf), np.zeros((6, size), np.int16)
    anneal(shared, exposed, BOUNDS, 0, 1.0, moves, everywhere, kept, parts)
    assert kept == pytest.approx(least)
    for total, labels in zip(kept, parts, strict=True):
        together = labels[:, None] == labels
        assert not np.isfinite(total) or (shared * together).sum() / 2 == pytest.approx(total)
    for aim in (1, 3, 5):
        kept[:] = -np.inf
        anneal(shared, exposed, BOUNDS, aim, 100.0, moves, np.zeros(4000), kept, parts)
        assert 0.0 < kept[: aim + 1].max() <= least[: aim + 1].max() + 1e-9
        assert (kept[aim + 1 :] == -np.inf).all()  # what exposes too much is dear
