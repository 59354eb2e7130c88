"""What groups may hold: how many rows are enough for that, which rows stay behind, and which may move by a coin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.sealed.rounds import EARLY, ROUNDED, Sealing, last_rejection, limit, room_of
from discreet.principles.joint import jointly
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.randomness import words
from discreet.schemes.sealed.behind import (
    Counts,
    Numbers,
    halved_often,
    most_of,
    numbers_apart,
    numbers_behind,
    rows_behind,
    too_many,
)
from discreet.schemes.sealed.cutting import Cutting
from discreet.table.table import Table

Rows = NDArray[np.int64]
SPARING = 0.1
"""A coin is tossed if that tells at most this share of what may be told."""


@dataclass(frozen=True, eq=False)
class Limits:
    """A promise about a table: rows are counted by their values or, of several attributes, combinations of them."""

    classes: NDArray[np.int32]
    """Per row: its combination."""
    promise: Principle
    prior: Prior
    cutting: Cutting | None
    """The table with bounds on the odds of values, if the promise consists of these; else nothing may be told."""
    seeded: np.random.Generator | None

    @classmethod
    def of(
        cls, table: Table, promise: Principle, cutting: Cutting | None, seeded: np.random.Generator | None
    ) -> Limits:
        """Return the limits of a table; ``cutting`` has bounds on odds, if the promise consists of these."""
        one, promise, prior = jointly(promise, table)
        return cls(one.classes, promise, prior, cutting, seeded)

    @property
    def sealing(self) -> Sealing | None:
        """The bounds on odds, if there are any."""
        return None if self.cutting is None else self.cutting.sealing

    def hold(self, *counts: Counts) -> bool:
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

    def tidiable(self, rows: Rows, least: int) -> bool:
        """Whether a coin is likely to be tossed about a cut of so many rows from others, by the counts of all."""
        if self.sealing is None:
            return False
        counts = self._by_value(rows)
        unsure = np.minimum(counts, least) > most_of(self.caps, least)
        slack = float(((self.caps - counts / len(rows)) * least)[unsure].min(initial=np.inf))
        return self._price(slack, counts, len(rows)) is not None

    def tidied(self, pure: Rows, moved: Rows, others: Rows) -> float | None:
        """Test with a coin whether some rows may move from others to a pure half, and return what a rejection tells, 0
        if they may; None if that is not tested, because it might tell too much.

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

        def slack(some: NDArray[np.float64] | Counts) -> float:
            """How many more rows of any value both sides could have if these move; negative if one has too many."""
            return float(np.minimum(left - kept - some, right - mixed + some)[unsure].min())

        rows = len(moved) + len(others)
        price = self._price(slack(mixed * len(moved) / rows), mixed, rows)
        if price is None:
            return None
        found = slack(moving)
        fails = found < 0.0 or words(1, self.seeded)[0] < last_rejection(price, found)
        return price + ROUNDED if fails else 0.0

    def _price(self, slack: float, counts: Counts, rows: int) -> float | None:
        """What a test of some expected slack tells, as the logarithm of odds; None if that is too much for rows in
        which values occur so often."""
        assert self.sealing is not None, "bounds are there"
        room = room_of(np.flatnonzero(counts), counts, rows, 0.0, self.sealing)
        price = EARLY / slack if slack > 0.0 else np.inf
        return price if price + ROUNDED <= SPARING * room else None

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        """The largest share of each combination; 1 where none is known, as of values of several attributes."""
        one = self.cutting is not None and self.cutting.classes.shape[1] == 1
        return self.caps if one else np.ones(len(self.prior.counts))

    def _drawn(self, rows: Rows, numbers: Numbers) -> Rows:
        return rows[rows_behind(self.classes[rows], len(self.prior.counts), numbers, self.seeded)]

    def _counts(self, rows: Rows) -> Counts:
        return np.bincount(self.classes[rows], minlength=len(self.prior.counts))

    def _by_value(self, rows: Rows) -> Counts:
        """How often each value of every attribute occurs in some rows."""
        assert self.cutting is not None, "values are known by their bounds"
        return np.bincount(self.cutting.classes[rows].ravel(), minlength=len(self.caps))

    @cached_property
    def caps(self) -> NDArray[np.float64]:
        """The largest share of each value of every attribute."""
        assert self.sealing is not None, "bounds are there"
        bound = self.sealing.odds < np.inf
        return np.where(bound, limit(np.where(bound, self.sealing.odds, 0.0), 0.0), 1.0)


def sure_rows(counts: Counts, caps: NDArray[np.float64]) -> int:
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
