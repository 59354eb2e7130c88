"""Variance control: every group's numbers vary enough (LeFevre, DeWitt and Ramakrishnan, KDD 2006)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import VARIANCE, Rules
from discreet.options import Interval
from discreet.principles.counts import Counts
from discreet.principles.families import NumericPrinciple
from discreet.principles.measuring import in_units
from discreet.principles.principle import AttributeName, Reach
from discreet.principles.prior import Prior
from discreet.principles.rules import rule
from discreet.principles.wording import about, rows
from discreet.table.texts import number_text


@dataclass(frozen=True)
class Variance(NumericPrinciple):
    """In every group the variance of the sensitive numbers (mean squared distance from their mean) is at least ``v``.

    This protects little: a single distant number gives any group a large variance. Proximity bounds how many numbers
    lie close together. Missing values do not count. Monotone: the variance of a union is at least the smaller variance
    of its parts, because the distance between their means only adds to it.

    >>> prior = Prior(np.array([2, 2, 2]), ("10", "20", "90"), "numeric")
    >>> Variance(100).explain([1, 1, 0], prior)
    'The numbers of this group of 2 rows have a variance of 25; at least 100 is required.'
    """

    name: ClassVar[str] = "variance"
    example: ClassVar[str] = "'variance(v=1000)'"
    larger_is_stronger: ClassVar[bool] = True

    v: Annotated[float, Interval(0)]
    """The smallest variance of the numbers of a group."""
    attribute: AttributeName | None = None
    """The sensitive attribute that the promise is about; ``None`` for every one that it fits."""

    def rules(self, prior: Prior) -> Rules:
        """One rule on the variance."""
        self.require(prior)
        numbers, asked = in_units(prior.require_numbers(str(self)), self.v, 2)
        return rule(VARIANCE, *_twofold(asked), width=len(prior.values), bounds=numbers)

    def reachable(self, prior: Prior) -> Reach:
        """Feasible if the whole table keeps it."""
        strongest = self.achieved(prior.counts[None], prior)
        fact = f"the numbers of the whole table have a variance of {about(strongest)}"
        if self.holds(prior.counts[None], prior)[0]:
            return Reach(True, strongest, f"{self} can be kept: {fact}, so v can be up to that.")
        return Reach(False, strongest, f"{fact[0].upper()}{fact[1:]}, so v can be at most that; ask for less.")

    def _violation(self, counts: NDArray[np.int64], prior: Prior, subject: str) -> str:
        has = about(self.achieved(counts[None], prior))
        size = rows(int(counts.sum()))
        return (
            f"The numbers of {subject} of {size} have a variance of {has}; at least {number_text(self.v)} is required."
        )

    def _achieved_each(self, counts: Counts, prior: Prior) -> NDArray[np.float64]:
        measure = self.v or 1.0  # v itself is close to the variances measured, so that strains stay in a float's range
        strains = counts.strains(replace(self, v=measure).rules(prior))
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(measure / strains)


def _twofold(asked: Fraction) -> tuple[float, float]:
    """A number as the sum of two floats, rounded up where that is not exact."""
    try:
        high = float(asked)
    except OverflowError:
        return np.inf, 0.0
    rest = asked - Fraction(high)
    low = float(rest)
    return high, low if Fraction(low) >= rest else float(np.nextafter(low, np.inf))
