"""(k, e)-anonymity: every group's numbers differ and span a range (Zhang, Koudas, Srivastava and Yu, ICDE 2007)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import DISTINCT, RANGE, Rules
from discreet.options import Interval
from discreet.principles.counts import Counts
from discreet.principles.families import NumericPrinciple
from discreet.principles.measuring import in_units
from discreet.principles.principle import AttributeName, Reach
from discreet.principles.prior import Prior
from discreet.principles.rules import combine, rule
from discreet.principles.wording import about, counted, rows
from discreet.table.texts import number_text


@dataclass(frozen=True)
class KEAnonymity(NumericPrinciple):
    """Every group has at least ``k`` different numbers, and the largest exceeds the smallest by at least ``e``.

    This protects little: all but one of a group's numbers may lie close together, which proximity bounds. A missing
    value counts towards ``k`` but not towards the range. Monotone: a union has the values of both parts.

    >>> prior = Prior(np.array([2, 2, 2]), ("1000", "1010", "9000"), "numeric")
    >>> KEAnonymity(2, 500).explain([1, 1, 0], prior)
    'The numbers of this group of 2 rows span 10, from 1000 to 1010; at least 500 is required.'
    """

    name: ClassVar[str] = "ke-anonymity"
    example: ClassVar[str] = "'ke-anonymity(k=3, e=2000)'"
    larger_is_stronger: ClassVar[bool] = True

    k: Annotated[int, Interval(1)]
    """The fewest different numbers of a group."""
    e: Annotated[float, Interval(0)]
    """The smallest difference between the largest and the smallest number of a group."""
    attribute: AttributeName | None = None
    """The sensitive attribute that the promise is about; ``None`` for every one that it fits."""

    def rules(self, prior: Prior) -> Rules:
        """One rule on the number of different values, one on their range."""
        self.require(prior)
        width = len(prior.values)
        return combine([rule(DISTINCT, self.k, width=width), self._spread(prior, width)])

    def _spread(self, prior: Prior, width: int) -> Rules:
        numbers, asked = in_units(prior.require_numbers(str(self)), self.e, 1)
        # ranges between whole numbers are whole, so the bound is rounded up; without a unit it is a float already
        needed = asked if numbers is prior.numbers else math.ceil(asked)
        bound = float(needed)
        bound = bound if bound >= needed else math.nextafter(bound, math.inf)
        return rule(RANGE, bound, width=width, bounds=numbers)

    def reachable(self, prior: Prior) -> Reach:
        """Feasible if the whole table keeps it."""
        strongest = int(self.achieved(prior.counts[None], prior))
        low, high = ends_of(prior.counts, prior)
        held = int((prior.counts > 0).sum())
        fact = f"the sensitive attribute has {counted(held, 'different value')} that span {_span(low, high, prior)}"
        if self.k <= strongest:
            return Reach(True, strongest, f"{self} can be kept: {fact}, so k can be up to {strongest}.")
        limit = f"k can be at most {held}" if strongest else f"e can be at most {_span(low, high, prior)}"
        wish = f"k={min(self.k, held)} and e={number_text(min(self.e, gap_of(low, high, prior)))}"
        return Reach(False, strongest, f"{fact[0].upper()}{fact[1:]}, so {limit}; ask for {wish} or less.")

    def _violation(self, counts: NDArray[np.int64], prior: Prior, subject: str) -> str:
        size, held = rows(int(counts.sum())), int((counts > 0).sum())
        if held < self.k:
            holds = f"{subject.capitalize()} of {size} holds {counted(held, 'different value')}"
            return f"{holds}; at least {self.k:,} are required."
        low, high = ends_of(counts, prior)
        where = "" if low < 0 else f", from {prior.values[low]} to {prior.values[high]}"
        span = _span(low, high, prior)
        return f"The numbers of {subject} of {size} span {span}{where}; at least {number_text(self.e)} is required."

    def _achieved_each(self, counts: Counts, prior: Prior) -> NDArray[np.int64]:
        """The largest k; 0 if the group spans less than e."""
        narrow = counts.strains(self._spread(prior, counts.width)) > 1.0
        return np.where(narrow, 0, np.diff(counts.starts))


def ends_of(counts: NDArray[np.int64], prior: Prior) -> tuple[int, int]:
    """The codes of the smallest and the largest number with a positive count; -1 if all are missing."""
    assert prior.numbers is not None
    known = np.flatnonzero((counts > 0) & ~np.isnan(prior.numbers))
    if len(known) == 0:
        return -1, -1
    return int(known[prior.numbers[known].argmin()]), int(known[prior.numbers[known].argmax()])


def gap_of(low: int, high: int, prior: Prior) -> float:
    """The distance between the numbers of two codes; 0 if the codes are -1."""
    assert prior.numbers is not None
    return 0.0 if low < 0 else float(prior.numbers[high]) - float(prior.numbers[low])


def _span(low: int, high: int, prior: Prior) -> str:
    return about(gap_of(low, high, prior))
