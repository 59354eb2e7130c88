"""The best cuts of a group, while they are looked for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import part


class BestCuts(NamedTuple):
    """The best cuts of a group found so far, cheapest first; ``axis`` is -1 where there is none."""

    score: NDArray[np.float64]
    axis: NDArray[np.int64]
    by_bucket: NDArray[np.bool_]
    """Whether ``x`` counts rows per bucket and not per value."""
    size: NDArray[np.int64]
    """How many rows go left."""
    x: NDArray[np.int64]
    """Per stratum how many rows go left; meaningless for strata that the group does not have."""


def no_cuts(how_many: int, m: int) -> BestCuts:
    """Room for the best ``how_many`` cuts."""
    return BestCuts(
        np.full(how_many, np.inf),
        np.full(how_many, -1, np.int64),
        np.zeros(how_many, np.bool_),
        np.zeros(how_many, np.int64),
        np.zeros((how_many, m), np.int64),
    )


@part
def keep(cuts, score, j, by_bucket, size, limits, present, work):
    """Put a cut that takes ``work.x`` rows of every stratum to the left in its place among the best."""
    k = cuts.score.shape[0] - 1
    if not score < cuts.score[k]:
        return
    while k > 0 and score < cuts.score[k - 1]:
        cuts.score[k] = cuts.score[k - 1]
        cuts.axis[k] = cuts.axis[k - 1]
        cuts.by_bucket[k] = cuts.by_bucket[k - 1]
        cuts.size[k] = cuts.size[k - 1]
        for i in present:
            cuts.x[k, i] = cuts.x[k - 1, i]
            cuts.x[k, limits.buckets[i]] = cuts.x[k - 1, limits.buckets[i]]
        k -= 1
    cuts.score[k] = score
    cuts.axis[k] = j
    cuts.by_bucket[k] = by_bucket
    cuts.size[k] = size
    strata = limits.buckets if by_bucket else limits.values
    for i in present:
        cuts.x[k, strata[i]] = work.x[strata[i]]
