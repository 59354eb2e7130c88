"""Rows that stay behind as a group of their own, so that the others can be halved, and often.

How many rows of each value stay is decided by the promise and by how often the values occur, with a lot among values
that occur equally often; and which rows, by lot (``rows_behind``). So whoever sees which rows stay learns the counts of
both parts, which are published, and nothing else: all ways to give these values to the persons of either part are as
likely as each other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import SLACK
from discreet.randomness import permutation

ONE_IN = 100
"""At most one row in so many stays behind."""
OFTEN = 256
"""A number of rows can be halved often enough if no more than so many are left in the end."""
RARE = 4
"""Values stay together with those that no halves could hold, the rarest first, up to one in so many of those rows."""
Counts = NDArray[np.int64]
Lot = NDArray[np.int64]
Holds = Callable[[Counts], bool]
Numbers = Callable[[Counts, Lot], Counts]
"""How many rows of each value stay, given how often each occurs, and a lot for those that occur equally often."""


def rows_behind(
    classes: NDArray[np.int32], width: int, numbers: Numbers, seeded: np.random.Generator | None
) -> NDArray[np.int64]:
    """Return the rows that stay behind, given the value of every row; there may be none.

    >>> from functools import partial
    >>> classes = np.repeat([0, 1], [600, 403]).astype(np.int32)
    >>> rows = rows_behind(classes, 2, partial(numbers_behind, lambda some: True), None)
    >>> np.bincount(classes[rows]).tolist()
    [2, 1]
    """
    counts = np.bincount(classes, minlength=width)
    present, lot = np.flatnonzero(counts), np.zeros(width, np.int64)
    lot[present] = permutation(len(present), seeded)
    staying = numbers(counts, lot)
    if not staying.any():
        return np.zeros(0, np.int64)
    order = permutation(len(classes), seeded)
    order = order[np.argsort(classes[order], kind="stable")]
    values = np.flatnonzero(staying)
    starts = np.searchsorted(classes[order], values)
    return np.sort(
        np.concatenate([order[start : start + staying[of]] for start, of in zip(starts, values, strict=True)])
    )


def numbers_behind(holds: Holds, counts: Counts, lot: Lot) -> Counts:
    """Return how many rows of each value stay behind, so that the number of the others can be halved often.

    Those who stay and those who do not both keep the promise (``holds``). The former have nearly the shares of all:
    rounded down, and the commonest values, by ``lot`` if equally common, make up for it. None stay if the number of all
    can be halved often enough.

    >>> numbers_behind(lambda counts: True, np.array([6000, 4030]), np.arange(2)).tolist(), 10030 - 46 == 2**8 * 39
    ([28, 18], True)
    >>> numbers_behind(lambda counts: counts.sum() > 10, np.array([600, 403]), np.arange(2)).tolist()
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
            staying = _sample(counts, size, commonest)
            if holds(staying) and holds(counts - staying):
                return staying
            size, more = size + more, 2 * more
    return none


def _sample(counts: Counts, size: int, commonest: Lot) -> Counts:
    """So many rows with nearly the shares of all: rounded down, and the commonest values make up for it."""
    sample: Counts = counts * size // int(counts.sum())
    sample[commonest[: size - int(sample.sum())]] += 1
    return sample


def numbers_apart(caps: NDArray[np.float64], holds: Holds, counts: Counts, lot: Lot) -> Counts:
    """Return how many rows of each value stay behind because of values that no equal halves could hold.

    These stay together with all rows of the rarest values, which would soon be in the way, and as few others as the
    promise needs; ``caps`` are its bounds on shares. None stay if there are no such values, or if those who stay or the
    others could not keep the promise.

    >>> caps = np.array([0.0198, 0.06, 0.8, 0.6])
    >>> numbers_apart(caps, lambda some: True, np.array([0, 3, 60, 37]), np.arange(4))
    array([0, 0, 0, 0])
    >>> numbers_apart(caps, lambda some: True, np.array([1, 3, 60, 37]), np.arange(4))
    array([ 1,  3, 32, 15])
    """
    rows, none = int(counts.sum()), np.zeros_like(counts)

    def most(size: int) -> Counts:
        return np.minimum(np.floor(np.minimum(caps, 1.0) * size + SLACK).astype(np.int64), counts)

    blocked = counts > 2 * most(rows // 2)
    if not blocked.any():
        return none
    size = int(np.ceil((counts[blocked] / caps[blocked] - SLACK).max()))
    if size >= rows:
        return none
    largest, least = most(size), np.where(blocked, counts, counts - most(rows - size))
    if (least > largest).any() or not least.sum() <= size <= largest.sum():
        return none
    rarest = np.lexsort((lot, counts))
    few = np.cumsum(counts[rarest]) <= size // RARE
    staying: Counts = least.copy()
    staying[rarest[few]] = largest[rarest[few]]
    if staying.sum() > size:
        staying = least.copy()
    others = counts - staying
    missing = size - int(staying.sum())
    staying += np.minimum(others * missing // max(1, int(others.sum())), largest - staying)
    commonest = rarest[::-1]
    room = (largest - staying)[commonest]
    staying[commonest] += np.clip(size - staying.sum() - (np.cumsum(room) - room), 0, room)
    return staying if holds(staying) and holds(counts - staying) else none
