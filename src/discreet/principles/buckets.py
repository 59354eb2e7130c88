"""Buckets of sensitive values that can replace one another in a group without breaking a bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import SLACK


def fewest_buckets(counts: NDArray[np.int64], caps: NDArray[np.float64] | None, room: int = 0) -> NDArray[np.int32]:
    """The bucket of each value, in the fewest buckets of values with neighbouring caps.

    A bucket is safe if its total count is at most ``cap x rows`` for the smallest cap among its values. A group that
    draws from each bucket in proportion to the bucket's size then keeps every cap, whichever rows of the bucket it
    draws; equality is allowed.

    Values are sorted by cap, and each bucket is a run of this order. If a run is safe, so is every part of it, because
    dropping its first values cannot lower its smallest cap. Taking the longest safe run from the front therefore gives
    the fewest buckets. For the caps of beta-likeness this matches ``DPpartition`` of the paper.

    With ``room``, values share a bucket only if that many more rows would still fit.

    Values that do not occur in the table share a bucket of their own. Without caps, every value has its own bucket.

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
    # in whole rows; the bucket of values that do not occur needs no room
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
