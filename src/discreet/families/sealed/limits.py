"""What groups may hold: how many rows are enough for that, which rows stay behind, and which may move by a coin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from discreet.families.sealed.cutting import Cutting
from discreet.families.sealed.kernels.rounds import EARLY, ROUNDED, Sealing, last_rejection, limit, room_of
from discreet.kernels.judging import SLACK
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.randomness import permutation, words

ONE_IN = 100
"""One row of this many stays behind, at most."""
OFTEN = 256
"""A number of rows can be halved often enough if no more than this many are left in the end."""
RARE = 4
"""Values stay together with those that no halves could hold, the rarest first, up to one of this many of those rows."""
SPARING = 0.1
"""A coin is tossed if that reveals at most this share of what may be revealed."""
Rows = NDArray[np.int64]
ValueCounts = NDArray[np.int64]
Order = NDArray[np.int64]
Lot = Callable[[], Order]
"""Draws lots among values that occur equally often."""
Holds = Callable[[ValueCounts], bool]
Numbers = Callable[[ValueCounts, Lot], ValueCounts]
"""How many rows of each value stay, given how often each occurs."""


@dataclass(frozen=True, eq=False)
class CountLimits:
    """A promise about a table: rows are counted by their values or, of several attributes, combinations of them."""

    sensitive_codes: NDArray[np.int32]
    """Per row: its combination."""
    promise: Principle
    prior: Prior
    cutting: Cutting | None
    """The table with bounds on the odds of values, if the promise consists of these; else nothing may leak."""
    seeded: np.random.Generator | None

    @property
    def sealing(self) -> Sealing | None:
        """The bounds on odds, if there are any."""
        return None if self.cutting is None else self.cutting.sealing

    def hold(self, *counts: ValueCounts) -> bool:
        """Whether groups keep the promise, given how often each combination occurs in each of them."""
        return bool(self.promise.holds(np.array(counts), self.prior).all())

    def keep(self, *groups: Rows) -> bool:
        """Whether groups of rows keep the promise."""
        return self.hold(*map(self._counts, groups))

    def sure(self, rows: Rows) -> int | None:
        """Return how many of some rows suffice to keep the promise, whichever these are; None if that is not known."""
        if self.sealing is None:
            return None
        return max(self.sealing.least, sure_rows(self._by_value(rows), self.caps))

    def apart(self, rows: Rows) -> Rows:
        """Return the rows that stay behind because no equal halves could hold their values."""
        return self._drawn(rows, partial(numbers_apart, self._shares, self.hold))

    def behind(self, rows: Rows) -> Rows:
        """Return the rows that stay behind so that the others can be halved often."""
        return self._drawn(rows, partial(numbers_behind, self._shares, self.hold))

    def all_go_on(self, rows: Rows) -> bool:
        """Whether none of some rows stay behind, whatever lots are drawn."""
        return halved_often(len(rows)) and self.none_apart(rows)

    def none_apart(self, rows: Rows) -> bool:
        """Whether equal halves could hold all values of some rows."""
        return not too_many(self._shares, self._counts(rows)).any()

    def likely_to_toss(self, rows: Rows, least: int) -> bool:
        """Whether a coin is likely to be tossed about a cut of this many rows from others, by the counts of all."""
        if self.sealing is None:
            return False
        counts = self._by_value(rows)
        unsure = np.minimum(counts, least) > most_of(self.caps, least)
        slack = float(((self.caps - counts / len(rows)) * least)[unsure].min(initial=np.inf))
        return self._price(slack, counts, len(rows)) is not None

    def sample_move(self, pure: Rows, moved: Rows, others: Rows) -> float | None:
        """Toss a coin whether some rows may move from others to a pure half, and return the price of a rejection: what
        it reveals, 0 if they may move; None if no coin is tossed, because that might reveal too much.

        The counts of both halves are known, and so is how many rows of each value may be expected to move.
        """
        sealing, sizes = self.sealing, (len(pure) + len(moved), len(others))
        if sealing is None or min(sizes) < sealing.least:
            return None
        kept, moving, staying = (self._by_value(rows) for rows in (pure, moved, others))
        mixed, (left, right) = moving + staying, (most_of(self.caps, size) for size in sizes)
        unsure = (kept + np.minimum(mixed, len(moved)) > left) | (np.minimum(mixed, len(others)) > right)
        if not unsure.any():
            return 0.0

        def slack(some: NDArray[np.float64] | ValueCounts) -> float:
            """How many more rows of any value both sides could have if these move; negative if one has too many."""
            return float(np.minimum(left - kept - some, right - mixed + some)[unsure].min())

        rows = len(moved) + len(others)
        price = self._price(slack(mixed * len(moved) / rows), mixed, rows)
        if price is None:
            return None
        left_over = slack(moving)
        fails = left_over < 0.0 or words(1, self.seeded)[0] < last_rejection(price, left_over)
        return price + ROUNDED if fails else 0.0

    def _price(self, slack: float, counts: ValueCounts, rows: int) -> float | None:
        """What a test of some expected slack reveals, as the logarithm of odds; None if that is too much for rows in
        which values occur so often."""
        assert self.sealing is not None, "bounds are there"
        room = room_of(np.flatnonzero(counts), counts, rows, 0.0, self.sealing)
        price = EARLY / slack if slack > 0.0 else np.inf
        return price if price + ROUNDED <= SPARING * room else None

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        """The largest share of each combination; 1 where none is known, as of values of several attributes."""
        single = self.cutting is not None and self.cutting.sensitive_codes.shape[1] == 1
        return self.caps if single else np.ones(len(self.prior.counts))

    def _drawn(self, rows: Rows, numbers: Numbers) -> Rows:
        return rows[rows_behind(self.sensitive_codes[rows], len(self.prior.counts), numbers, self.seeded)]

    def _counts(self, rows: Rows) -> ValueCounts:
        return np.bincount(self.sensitive_codes[rows], minlength=len(self.prior.counts))

    def _by_value(self, rows: Rows) -> ValueCounts:
        """How often each value of every attribute occurs in some rows."""
        assert self.cutting is not None, "values are known by their bounds"
        return np.bincount(self.cutting.sensitive_codes[rows].ravel(), minlength=len(self.caps))

    @cached_property
    def caps(self) -> NDArray[np.float64]:
        """The largest share of each value of every attribute."""
        assert self.sealing is not None, "bounds are there"
        bound = self.sealing.odds < np.inf
        return np.where(bound, limit(np.where(bound, self.sealing.odds, 0.0), 0.0), 1.0)


def sure_rows(counts: ValueCounts, caps: NDArray[np.float64]) -> int:
    """Return how many of some rows, given how often each value occurs, suffice to keep caps on shares, whichever they
    are.

    >>> sure_rows(np.array([3, 1]), np.array([0.5, 0.25])), sure_rows(np.array([2]), np.array([1.0]))
    (6, 0)
    """
    bound = (counts > 0) & (caps < 1.0)
    if not bound.any():
        return 0
    rows = int(np.ceil((counts[bound] / caps[bound]).max()))
    while (counts[bound] > caps[bound] * rows).any():  # what is rounded away by the division
        rows += 1
    return rows


def rows_behind(
    sensitive_codes: NDArray[np.int32], width: int, numbers: Numbers, seeded: np.random.Generator | None
) -> NDArray[np.int64]:
    """Return the rows that stay behind, given the value of every row; there may be none."""
    counts = np.bincount(sensitive_codes, minlength=width)

    def lot() -> Order:
        present, drawn = np.flatnonzero(counts), np.zeros(width, np.int64)
        drawn[present] = permutation(len(present), seeded)
        return drawn

    staying = numbers(counts, lot)
    if not staying.any():
        return np.zeros(0, np.int64)
    order = permutation(len(sensitive_codes), seeded)
    order = order[np.argsort(sensitive_codes[order], kind="stable")]
    values = np.flatnonzero(staying)
    starts = np.searchsorted(sensitive_codes[order], values)
    return np.sort(
        np.concatenate([order[start : start + staying[of]] for start, of in zip(starts, values, strict=True)])
    )


def numbers_behind(caps: NDArray[np.float64], holds: Holds, counts: ValueCounts, lot: Lot) -> ValueCounts:
    """Return how many rows of each value stay behind, so that the number of the others can be halved often.

    Those who stay and those who do not both keep the promise (``holds``; ``caps`` are its bounds on shares, 1 where it
    has none). The former have nearly the shares of all. None stay if the number of all can be halved often enough.

    >>> free = np.ones(2)
    >>> numbers_behind(free, lambda counts: True, np.array([6000, 4030]), lambda: np.arange(2)), 10030 - 46 == 2**8 * 39
    (array([28, 18]), True)
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


def numbers_apart(caps: NDArray[np.float64], holds: Holds, counts: ValueCounts, lot: Lot) -> ValueCounts:
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


def too_many(caps: NDArray[np.float64], counts: ValueCounts) -> NDArray[np.bool_]:
    """Return the values that occur too often for any equal halves to hold, if there are ``caps`` on their shares."""
    return counts > 2 * most_of(caps, int(counts.sum()) // 2)


def most_of(caps: NDArray[np.float64], size: int) -> ValueCounts:
    """Return how many rows of each value may be among this many, if there are ``caps`` on their shares.

    >>> most_of(np.array([0.3, 1.0]), 5)
    array([1, 5])
    """
    return np.floor(caps * size + SLACK).astype(np.int64)


def _range(counts: ValueCounts, size: int, caps: NDArray[np.float64]) -> tuple[ValueCounts, ValueCounts]:
    """How many rows of each value stay behind, if this many stay, at least, for the others to keep the caps, and at
    most."""
    least = np.maximum(counts - most_of(caps, int(counts.sum()) - size), 0)
    return least, np.minimum(most_of(caps, size), counts)


def _spread(
    counts: ValueCounts, size: int, least: ValueCounts, largest: ValueCounts, commonest: Order
) -> ValueCounts | None:
    """This many rows between the least and the largest number of each value, and beyond that the same share of each:
    rounded down, and the commonest values make up for it; None if there are no such numbers."""
    if (least > largest).any() or not least.sum() <= size <= largest.sum():
        return None
    low, high = 0.0, 1.0
    for _ in range(2 * int(counts.sum()).bit_length()):  # no two shares at which numbers change are nearer
        share = (low + high) / 2.0
        enough = np.clip((counts * share).astype(np.int64), least, largest).sum() > size
        low, high = (low, share) if enough else (share, high)
    staying: ValueCounts = np.clip((counts * low).astype(np.int64), least, largest)
    more = commonest[(staying < largest)[commonest]]
    staying[more[: size - int(staying.sum())]] += 1
    return staying
