"""The terms of cuts: which are tried, what the rules allow, and the best that are kept."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import part_in_place

PLAIN, STRATIFIED, BUCKETED, REPAIRED = 1, 2, 4, 8
AXIS, BY_BUCKET, SIZE = 0, 1, 2


class Recipe(NamedTuple):
    """How a partitioner chooses among the cuts that keep the rules."""

    families: int
    """A sum of ``PLAIN``, ``STRATIFIED``, ``BUCKETED``, ``REPAIRED``."""
    positions: int
    """How many positions of an axis are tried by plain and repaired cuts."""
    shares: int
    """How many shares are tried by stratified cuts: 1 is the half, 3 are the quarters."""
    caution: float
    """What a half costs that is close to its bounds: later cuts of it will be blocked."""
    plain_above: int
    """Groups of more rows than this take a plain cut whenever one is allowed: it leaves the others for later."""
    widest: bool
    """Whether the widest axis is cut, as Mondrian does, and not the one where the cut costs least."""


class Limits(NamedTuple):
    """The linear part of the rules, and what follows from them for cuts."""

    caps: NDArray[np.float64]
    """Per value: the largest share of a group it may have (1 when unbounded)."""
    floors: NDArray[np.float64]
    """Per value: the smallest share of a group it must have."""
    values: NDArray[np.int32]
    """Strata of one value each: 0, 1, 2, ..."""
    buckets: NDArray[np.int32]
    """Per value: its bucket. Taking the same share of every bucket keeps the caps, whichever values are taken."""
    smallest: int
    """No smaller group can keep the rules."""


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
