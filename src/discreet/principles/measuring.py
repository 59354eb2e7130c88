"""How far numbers are apart as their decimals say, although most decimals are rounded when they are read.

0.3 - 0.1 is less than 0.2 where numbers are binary, yet whoever reads these three texts counts 0.3 as 0.2 away from
0.1. So numbers are measured as whole multiples of a power of ten where all of them are: those are exact, so are their
differences, and a quotient of two is rounded once, as the text of the width was with which it is compared. Where they
are no such multiples (they have too many digits), what rounding may have added is taken off the distance.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.table.texts import LARGEST_WHOLE

Numbers = NDArray[np.float64]

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""How much of itself a number may be off by, generously."""
MOST_PLACES = 22
"""Powers of ten up to this one are exact."""
MOST_DIGITS = 15
"""No two decimals of so many digits are read as the same number."""


def in_units(numbers: Numbers, asked: float, power: int) -> tuple[Numbers, Fraction]:
    """Numbers (NaN where one is missing), and what is asked of their ``power``-th power, in one unit and exactly.

    Where all numbers are multiples of a power of ten, they become whole numbers of it, and what is asked is the decimal
    that its text says; a smaller unit is taken where that is exact only so. Elsewhere all are what they are in binary.

    >>> in_units(np.array([0.1, np.nan, 0.3]), 0.2, 1)
    (array([ 1., nan,  3.]), Fraction(2, 1))
    """
    known = numbers[~np.isnan(numbers)]
    scale = Ruler.of(known).scale
    if not scale:
        return numbers, Fraction(asked)
    told, largest = Fraction(repr(float(asked))), float(np.abs(known).max(initial=0.0))
    smallest = min(10**MOST_PLACES, 10**MOST_DIGITS / max(largest, 1e-300))
    whole = int(scale)
    while (told * whole**power).denominator & ((told * whole**power).denominator - 1) and whole * 10 <= smallest:
        whole *= 10
    return np.rint(numbers * float(whole)), told * whole**power


class Ruler(NamedTuple):
    """Measures how far numbers are apart, of which only the places in ascending order are told."""

    numbers: Numbers
    """In multiples of the unit, if they have one."""
    scale: float
    """How many units make 1; 0 where there is no unit."""

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
        """How far each number at the places ``high`` is above the one at ``low``."""
        lower, upper = self.numbers[low], self.numbers[high]
        with np.errstate(over="ignore"):
            gaps = upper - lower
        if self.scale:
            return np.asarray(gaps / self.scale)
        off = ROUNDING * np.maximum(np.abs(lower), np.abs(upper))
        return np.where(low != high, np.maximum(gaps - off, 0.0), 0.0)

    def relatively(self, owner: NDArray[np.int64], other: NDArray[np.int64]) -> Numbers:
        """The distance of two numbers as a share of the first; infinite where their signs differ, and from zero."""
        one, two = self.numbers[owner], self.numbers[other]
        gaps = np.full(len(one), np.inf)
        alike = (np.sign(one) * np.sign(two) >= 0) & (one != 0)
        one, two = one[alike], two[alike]
        with np.errstate(over="ignore"):
            shares = np.abs(two - one) / np.abs(one)
        gaps[alike] = shares if self.scale else np.maximum(shares - ROUNDING, 0.0)
        gaps[owner == other] = 0.0
        return gaps
