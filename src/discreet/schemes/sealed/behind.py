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

    How many rows of each value stay is decided by how often the values occur, and which ones by lot. So whoever sees
    which rows stay learns the counts of both parts, which are published, and nothing else: all ways to give these
    values to the persons of either part are as likely as each other.

    >>> classes = np.repeat([0, 1], [600, 403]).astype(np.int32)
    >>> np.bincount(classes[rows_behind(classes, 2, lambda counts: True, None)]).tolist()
    [2, 1]
    """
    staying = numbers_behind(np.bincount(classes, minlength=width), holds)
    order = permutation(len(classes), seeded)
    order = order[np.argsort(classes[order], kind="stable")]
    starts = np.searchsorted(classes[order], np.arange(width))
    return np.sort(
        np.concatenate([order[start : start + number] for start, number in zip(starts, staying, strict=True)])
    )


def numbers_behind(counts: Counts, holds: Callable[[Counts], bool]) -> Counts:
    """Return how many rows of each value stay behind, so that the number of the others can be halved most often.

    They keep the promise (``holds``) as a group, and are nearly a picture of the table. None stay if the number of all
    can be halved often enough.

    >>> numbers_behind(np.array([6000, 4030]), lambda counts: True).tolist(), 10030 - 46 == 2**8 * 39
    ([28, 18], True)
    >>> numbers_behind(np.array([600, 403]), lambda counts: counts.sum() > 10).tolist()
    [0, 0]
    """
    rows = int(counts.sum())
    if rows <= OFTEN * (rows & -rows):
        return np.zeros_like(counts)
    for times in range(rows.bit_length(), 0, -1):
        for size in range(rows % 2**times, rows // ONE_IN + 1, 2**times):
            staying = apportioned(counts, size)
            if size == 0 or holds(staying):
                return staying
    return np.zeros_like(counts)


def apportioned(counts: Counts, size: int) -> Counts:
    """Return so many rows with the shares of the counts, rounded down; the commonest values make up for it.

    >>> apportioned(np.array([5, 1, 4]), 5).tolist()
    [3, 0, 2]
    """
    found = counts * size // max(1, int(counts.sum()))
    found[np.argsort(-counts, kind="stable")[: size - int(found.sum())]] += 1
    return found
