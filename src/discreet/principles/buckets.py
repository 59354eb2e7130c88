"""Buckets of sensitive values that may stand in for each other without breaking a bound."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import SLACK


def fewest_buckets(counts: NDArray[np.int64], caps: NDArray[np.float64] | None) -> NDArray[np.int32]:
    """The bucket of each value, in the fewest buckets of values with neighbouring caps.

    A group that draws from every bucket in proportion to its size keeps every cap, whichever rows of the bucket it
    draws, when the whole bucket is no larger than the smallest cap of its values: ``counts <= cap x rows``, summed
    over the bucket. With values in ascending order of cap this splits the order into runs; dynamic programming finds
    the fewest. This is ``DPpartition`` of the beta-likeness paper for any caps; values may share a bucket when equality
    holds. Both the longest run that ends at a value and the fewest buckets up to a value can only grow with its place
    in the order, so the best start of the last run is found by bisection: m log m instead of m squared. Among equally
    good splits it takes the paper's, whose last runs are the shortest.

    Values that the table does not hold have nothing to draw and share a bucket of their own; without caps, every
    value has a bucket of its own.

    >>> fewest_buckets(np.array([2, 3, 3, 3, 4, 4]), np.array([0.31, 0.45, 0.45, 0.45, 0.54, 0.54])).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    m = len(counts)
    if caps is None:
        return np.arange(m, dtype=np.int32)
    rows = int(counts.sum())
    limits = np.where(counts > 0, caps, 0.0) * rows + SLACK
    order = np.lexsort((np.arange(m), counts, limits))
    up_to = np.concatenate([[0], np.cumsum(counts[order])]).tolist()
    limit = limits[order].tolist()
    fewest = [0]  # fewest[e]: for the first e values in this order; never falls
    start = [0]  # start[e]: where the last bucket of these begins
    low = 0
    for end in range(1, m + 1):
        while low < end - 1 and up_to[end] - up_to[low] > limit[low]:
            low += 1
        fewest.append(fewest[low] + 1)
        start.append(min(end - 1, bisect_right(fewest, fewest[low], low, end) - 1))
    result = np.empty(m, dtype=np.int32)
    end, bucket = m, fewest[m] - 1
    while end > 0:
        result[order[start[end] : end]] = bucket
        end, bucket = start[end], bucket - 1
    return result
