"""Distances between decimal numbers, exact although floats round most decimals.

In floats 0.3 - 0.1 is less than 0.2, yet a reader of these decimals takes 0.3 to be 0.2 away from 0.1. So if all
numbers are multiples of a power of ten, they are measured as whole multiples of it. These are exact, and so are their
differences; a quotient is rounded once, just as parsing rounded the width that the quotient is compared with. If the
numbers have too many digits for that, the largest possible rounding error is subtracted from the distance.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.table.texts import LARGEST_WHOLE

Numbers = NDArray[np.float64]

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""A generous bound on the relative error of a number."""
MOST_PLACES = 22
"""The largest power of ten that a float represents exactly."""
MOST_DIGITS = 15
"""Different decimals with at most this many digits are different floats."""


def in_units(numbers: Numbers, asked: float, power: int) -> tuple[Numbers, Fraction]:
    """The numbers (NaN where one is missing) and the width ``asked``, exactly, in one common unit.

    ``asked`` is measured in the ``power``-th power of the unit (2 for a variance). If all numbers are multiples of a
    power of ten, that power is the unit: the numbers become whole, and ``asked`` is taken as the decimal it is written
    as. A smaller unit is chosen if only that makes ``asked`` exact. Otherwise the binary values are used unchanged.

    >>> in_units(np.array([0.1, np.nan, 0.3]), 0.2, 1)
    (array([ 1., nan,  3.]), Fraction(2, 1))
    """
    known = numbers[~np.isnan(numbers)]
    scale = Ruler.of(known).scale
    if not scale:
        return numbers, Fraction(asked)
    decimal, largest = Fraction(repr(float(asked))), float(np.abs(known).max(initial=0.0))
    smallest = min(10**MOST_PLACES, 10**MOST_DIGITS / max(largest, 1e-300))
    whole = int(scale)
    while (decimal * whole**power).denominator & ((decimal * whole**power).denominator - 1) and whole * 10 <= smallest:
        whole *= 10
    return np.rint(numbers * float(whole)), decimal * whole**power


class Ruler(NamedTuple):
    """Measures distances between numbers, given their positions in ascending order."""

    numbers: Numbers
    """In multiples of the unit, if there is one."""
    scale: float
    """How many units make 1; 0 if there is no common unit."""

    @classmethod
    def of(cls, numbers: Numbers) -> Ruler:
        """The ruler for these ascending numbers.

        >>> Ruler.of(np.array([0.1, 0.3])).apart(np.array([0]), np.array([1])).tolist(), 0.3 - 0.1
        ([0.2], 0.19999999999999998)
        """
        largest = float(np.abs(numbers).max(initial=0.0))
        for places in range(MOST_PLACES + 1):
            scale = 10.0**places
            if largest * scale > (LARGEST_WHOLE if places == 0 else 10.0**MOST_DIGITS):
                break
            if all((np.rint(some * scale) / scale == some).all() for some in (numbers[:1000], numbers)):
                return cls(np.rint(numbers * scale), scale)
        return cls(numbers, 0.0)

    def apart(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> Numbers:
        """How far the number at each position in ``high`` lies above the number at the same entry of ``low``."""
        lower, upper = self.numbers[low], self.numbers[high]
        with np.errstate(over="ignore"):
            gaps = upper - lower
        if self.scale:
            return np.asarray(gaps / self.scale)
        off = ROUNDING * np.maximum(np.abs(lower), np.abs(upper))
        return np.where(low != high, np.maximum(gaps - off, 0.0), 0.0)

    def relatively(self, owner: NDArray[np.int64], other: NDArray[np.int64]) -> Numbers:
        """The distance of ``other`` from ``owner`` as a share of ``owner``; infinite from zero and across signs."""
        center, neighbour = self.numbers[owner], self.numbers[other]
        gaps = np.full(len(center), np.inf)
        alike = (np.sign(center) * np.sign(neighbour) >= 0) & (center != 0)
        center, neighbour = center[alike], neighbour[alike]
        with np.errstate(over="ignore"):
            shares = np.abs(neighbour - center) / np.abs(center)
        gaps[alike] = shares if self.scale else np.maximum(shares - ROUNDING, 0.0)
        gaps[owner == other] = 0.0
        return gaps
