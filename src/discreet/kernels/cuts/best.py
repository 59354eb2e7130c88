"""The best cuts of a group, while they are looked for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import part_in_place

AXIS, BY_BUCKET, SIZE = 0, 1, 2


class BestCuts(NamedTuple):
    """The best cuts of a group found so far, cheapest first."""

    score: NDArray[np.float64]
    terms: NDArray[np.int64]
    """Per cut: its ``AXIS``, -1 where there is no cut; whether it is ``BY_BUCKET``, so that ``x`` counts rows per
    bucket and not per value; and its ``SIZE``, how many rows go left."""
    x: NDArray[np.int64]
    """Per cut and stratum how many rows go left; meaningless for strata that the group does not have."""


def no_cuts(how_many: int, m: int) -> BestCuts:
    """Room for the best ``how_many`` cuts."""
    return BestCuts(np.full(how_many, np.inf), np.full((how_many, 3), -1, np.int64), np.zeros((how_many, m), np.int64))


@part_in_place
def keep(cuts, score, j, by_bucket, size, limits, present, x):
    """Put a cut that takes ``x`` rows of every stratum to the left in its place among the best."""
    k = cuts.score.shape[0] - 1
    if not score < cuts.score[k]:
        return
    while k > 0 and score < cuts.score[k - 1]:
        cuts.score[k] = cuts.score[k - 1]
        for t in range(cuts.terms.shape[1]):
            cuts.terms[k, t] = cuts.terms[k - 1, t]
        for i in present:
            cuts.x[k, i] = cuts.x[k - 1, i]
            cuts.x[k, limits.buckets[i]] = cuts.x[k - 1, limits.buckets[i]]
        k -= 1
    cuts.score[k] = score
    cuts.terms[k, AXIS] = j
    cuts.terms[k, BY_BUCKET] = by_bucket
    cuts.terms[k, SIZE] = size
    strata = limits.buckets if by_bucket else limits.values
    for i in present:
        cuts.x[k, strata[i]] = x[strata[i]]
