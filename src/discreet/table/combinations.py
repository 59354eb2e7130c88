"""Combinations of codes as single numbers, and which numbers there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def numbered(columns: Sequence[NDArray[Any]], sizes: Sequence[int], rows: int) -> NDArray[np.int64]:
    """Combinations of codes as single numbers, equal exactly when all codes are.

    >>> numbered([np.array([1, 0, 1]), np.array([2, 2, 2])], [2, 3], 3).tolist()
    [5, 2, 5]
    """
    keys, room = np.zeros(rows, np.int64), 1
    for codes, size in zip(columns, sizes, strict=True):
        if room > (1 << 62) // max(1, size):
            found, keys = np.unique(keys, return_inverse=True)
            room = len(found)
        keys = keys * max(1, size) + codes
        room *= max(1, size)
    return keys


def distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """The numbers that occur, in order.

    By a sort: ``np.unique`` looks each number up in a table of those seen, which takes an order of magnitude longer
    where most of millions differ.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]
