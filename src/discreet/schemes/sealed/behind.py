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
Order = NDArray[np.int64]
Lot = Callable[[], Order]
"""Draws lots among values that occur equally often."""
Holds = Callable[[Counts], bool]
Numbers = Callable[[Counts, Lot], Counts]
"""How many rows of each value stay, given how often each occurs."""


def rows_behind(
    classes: NDArray[np.int32], width: int, numbers: Numbers, seeded: np.random.Generator | None
) -> NDArray[np.int64]:
    """Return the rows that stay behind, given the value of every row; there may be none.

    >>> from functools import partial
    >>> classes = np.repeat([0, 1], [600, 403]).astype(np.int32)
    >>> rows = rows_behind(classes, 2, partial(numbers_behind, np.ones(2), lambda some: True), None)
    >>> np.bincount(classes[rows]).tolist()
    [2, 1]
    """
    counts = np.bincount(classes, minlength=width)

    def lot() -> Order:
        present, drawn = np.flatnonzero(counts), np.zeros(width, np.int64)
        drawn[present] = permutation(len(present), seeded)
        return drawn

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


def numbers_behind(caps: NDArray[np.float64], holds: Holds, counts: Counts, lot: Lot) -> Counts:
    """Return how many rows of each value stay behind, so that the number of the others can be halved often.

    Those who stay and those who do not both keep the promise (``holds``; ``caps`` are its bounds on shares, 1 where it
    has none). The former have nearly the shares of all. None stay if the number of all can be halved often enough.

    >>> free = np.ones(2)
    >>> numbers_behind(free, lambda counts: True, np.array([6000, 4030]), lambda: np.arange(2)), 10030 - 46 == 2**8 * 39
    (array([28, 18]), True)
    >>> numbers_behind(free, lambda counts: counts.sum() > 10, np.array([600, 403]), lambda: np.arange(2))
    array([0, 0])
    """
    rows = int(counts.sum())
    none = np.zeros_like(counts)
    if halved_often(rows):
        return none
    commonest = np.lexsort((lot(), -counts))
    for times in range(rows.bit_length(), 0, -1):
        size, more = rows % 2**times, 2**times
        while size <= rows // ONE_IN:
            if size == 0:
                return none
            staying = _spread(counts, size, *_range(counts, size, caps), commonest)
            if staying is not None and holds(staying) and holds(counts - staying):
                return staying
            size, more = size + more, 2 * more
    return none


def numbers_apart(caps: NDArray[np.float64], holds: Holds, counts: Counts, lot: Lot) -> Counts:
    """Return how many rows of each value stay behind because of values that no equal halves could hold.

    These stay together with all rows of the rarest values, which would soon be in the way, and as few others as the
    promise needs; ``caps`` are its bounds on shares. None stay if there are no such values, or if those who stay or the
    others could not keep the promise.

    >>> caps = np.array([0.0198, 0.06, 0.8, 0.6])
    >>> numbers_apart(caps, lambda some: True, np.array([0, 3, 60, 37]), lambda: np.arange(4))
    array([0, 0, 0, 0])
    >>> numbers_apart(caps, lambda some: True, np.array([1, 3, 60, 37]), lambda: np.arange(4))
    array([ 1,  3, 29, 18])
    """
    rows, none = int(counts.sum()), np.zeros_like(counts)
    blocked = too_many(caps, counts)
    if not blocked.any():
        return none
    size = int(np.ceil((counts[blocked] / caps[blocked] - SLACK).max()))
    if size >= rows:
        return none
    least, largest = _range(counts, size, caps)
    least[blocked] = counts[blocked]
    rarest = np.lexsort((lot(), counts))
    few = rarest[np.cumsum(counts[rarest]) <= size // RARE]
    gathered = least.copy()
    gathered[few] = largest[few]
    for fewest in (gathered, least):
        staying = _spread(counts, size, fewest, largest, rarest[::-1])
        if staying is not None:
            return staying if holds(staying) and holds(counts - staying) else none
    return none


def halved_often(rows: int) -> bool:
    """Whether a number of rows can be halved often enough for all of them to go on.

    >>> halved_often(200), halved_often(2**8 * 39), halved_often(10030)
    (True, True, False)
    """
    return rows <= OFTEN * (rows & -rows)


def too_many(caps: NDArray[np.float64], counts: Counts) -> NDArray[np.bool_]:
    """Return the values that occur too often for any equal halves to hold, if there are ``caps`` on their shares."""
    return counts > 2 * most_of(caps, int(counts.sum()) // 2)


def most_of(caps: NDArray[np.float64], size: int) -> Counts:
    """Return how many rows of each value may be among so many, if there are ``caps`` on their shares.

    >>> most_of(np.array([0.3, 1.0]), 5)
    array([1, 5])
    """
    return np.floor(caps * size + SLACK).astype(np.int64)


def _range(counts: Counts, size: int, caps: NDArray[np.float64]) -> tuple[Counts, Counts]:
    """How many rows of each value stay behind, if so many stay, at least, for the others to keep the caps, and at
    most."""
    least = np.maximum(counts - most_of(caps, int(counts.sum()) - size), 0)
    return least, np.minimum(most_of(caps, size), counts)


def _spread(counts: Counts, size: int, least: Counts, largest: Counts, commonest: Order) -> Counts | None:
    """So many rows between the least and the largest number of each value, and beyond that the same share of each:
    rounded down, and the commonest values make up for it; None if there are no such numbers."""
    if (least > largest).any() or not least.sum() <= size <= largest.sum():
        return None
    low, high = 0.0, 1.0
    for _ in range(2 * int(counts.sum()).bit_length()):  # no two shares at which numbers change are nearer
        share = (low + high) / 2.0
        enough = np.clip((counts * share).astype(np.int64), least, largest).sum() > size
        low, high = (low, share) if enough else (share, high)
    staying: Counts = np.clip((counts * low).astype(np.int64), least, largest)
    more = commonest[(staying < largest)[commonest]]
    staying[more[: size - int(staying.sum())]] += 1
    return staying
