"""Rows that stay behind as a group of their own, so that the others can be halved often."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.randomness import permutation

ONE_IN = 100
"""At most one row in so many stays behind."""
OFTEN = 256
"""A number of rows can be halved often enough if no more than so many are left in the end."""
Counts = NDArray[np.int64]


def rows_behind(
    classes: NDArray[np.int32], width: int, holds: Callable[[Counts], bool], seeded: np.random.Generator | None
) -> NDArray[np.int64]:
    """Return the rows that stay behind, given the value of every row; there may be none.

    How many rows of each value stay is decided by the promise and by how often the values occur, with a lot among
    values that occur equally often; and which rows, by lot. So whoever sees which rows stay learns the counts of both
    parts, which are published, and nothing else: all ways to give these values to the persons of either part are as
    likely as each other.

    >>> classes = np.repeat([0, 1], [600, 403]).astype(np.int32)
    >>> np.bincount(classes[rows_behind(classes, 2, lambda counts: True, None)]).tolist()
    [2, 1]
    """
    staying = numbers_behind(np.bincount(classes, minlength=width), holds, permutation(width, seeded))
    order = permutation(len(classes), seeded)
    order = order[np.argsort(classes[order], kind="stable")]
    starts = np.searchsorted(classes[order], np.arange(width))
    return np.sort(
        np.concatenate([order[start : start + number] for start, number in zip(starts, staying, strict=True)])
    )


def numbers_behind(counts: Counts, holds: Callable[[Counts], bool], lot: NDArray[np.int64]) -> Counts:
    """Return how many rows of each value stay behind, so that the number of the others can be halved often.

    Those who stay and those who do not both keep the promise (``holds``). The former have nearly the shares of all:
    rounded down, and the commonest values, by ``lot`` if equally common, make up for it. None stay if the number of all
    can be halved often enough.

    >>> numbers_behind(np.array([6000, 4030]), lambda counts: True, np.arange(2)).tolist(), 10030 - 46 == 2**8 * 39
    ([28, 18], True)
    >>> numbers_behind(np.array([600, 403]), lambda counts: counts.sum() > 10, np.arange(2)).tolist()
    [0, 0]
    """
    rows = int(counts.sum())
    none = np.zeros_like(counts)
    if rows <= OFTEN * (rows & -rows):
        return none
    commonest = np.lexsort((lot, -counts))
    for times in range(rows.bit_length(), 0, -1):
        size, more = rows % 2**times, 2**times
        while size <= rows // ONE_IN:
            if size == 0:
                return none
            staying: Counts = counts * size // rows
            staying[commonest[: size - int(staying.sum())]] += 1
            if holds(staying) and holds(counts - staying):
                return staying
            size, more = size + more, 2 * more
    return none
