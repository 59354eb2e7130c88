"""Buckets of sensitive values that may stand in for each other without breaking a bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import SLACK


def fewest_buckets(counts: NDArray[np.int64], caps: NDArray[np.float64] | None, room: int = 0) -> NDArray[np.int32]:
    """The bucket of each value, in the fewest buckets of values with neighbouring caps.

    A group that draws from every bucket in proportion to its size keeps every cap, whichever rows of the bucket it
    draws, when the whole bucket is no larger than the smallest cap of its values: ``counts <= cap x rows``, summed
    over the bucket. With values in ascending order of cap this splits the order into runs. Whatever fits from some
    value on, fits from any later one on as well; so the longest runs from the front are the fewest, and those that
    ``DPpartition`` of the beta-likeness paper finds, here for any caps. Values may share a bucket when equality holds.

    With ``room``, values share a bucket only if it could hold so many rows more.

    Values that the table does not hold have nothing to draw and share a bucket of their own; without caps, every
    value has a bucket of its own.

    >>> fewest_buckets(np.array([2, 3, 3, 3, 4, 4]), np.array([0.31, 0.45, 0.45, 0.45, 0.54, 0.54])).tolist()
    [0, 0, 1, 1, 2, 2]
    >>> fewest_buckets(np.array([2, 3, 3, 3, 4, 4]), np.array([0.31, 0.45, 0.45, 0.45, 0.54, 0.54]), 1).tolist()
    [0, 1, 1, 2, 2, 3]
    """
    m = len(counts)
    if caps is None:
        return np.arange(m, dtype=np.int32)
    rows = int(counts.sum())
    limits = np.where(counts > 0, caps, 0.0) * rows + SLACK
    order = np.lexsort((np.arange(m), counts, limits))
    up_to = np.concatenate([[0], np.cumsum(counts[order])])
    # whole rows; a bucket of values that are not held needs no room
    most = np.maximum(np.floor(limits[order]).astype(np.int64) - room, 0)
    ends = np.maximum(np.searchsorted(up_to, up_to[:-1] + most, "right") - 1, np.arange(1, m + 1)).tolist()
    first = np.zeros(m, dtype=np.int32)
    start = 0
    while start < m:
        first[start] = 1
        start = ends[start]
    result = np.empty(m, dtype=np.int32)
    result[order] = np.cumsum(first) - 1
    return result
