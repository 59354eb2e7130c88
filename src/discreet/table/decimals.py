"""Numbers on a decimal place: whole numbers, ages in tenths, amounts in cents."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.table.texts import LARGEST_WHOLE

Numbers = NDArray[np.float64]

UNITS: tuple[float, ...] = tuple(1 / 10**digits for digits in range(16))
"""The decimal places that numbers may have in common."""
STEPS = UNITS[1:7]
"""Those in which numbers that are not whole are counted; with more digits they are as good as continuous."""


def unit_of(numbers: Numbers) -> float | None:
    """Return the last decimal place that numbers have; None if they have too many digits to be counted in units.

    >>> unit_of(np.array([17.0, 2.5, 0.25])), unit_of(np.array([1 / 3]))
    (0.01, None)
    """
    known = numbers[~np.isnan(numbers)]
    largest = float(np.abs(known).max(initial=0.0))
    for unit in UNITS:
        scale = round(1.0 / unit)
        if largest * scale > LARGEST_WHOLE:
            return None
        if bool((np.rint(known * scale) / scale == known).all()):
            return unit
    return None


def middles(low: Numbers, high: Numbers) -> Numbers:
    """Return the middles of intervals: of decimals the nearest numbers to the exact middles, so none has more digits.

    >>> middles(np.array([10.7]), np.array([11.1])).tolist(), (10.7 / 2 + 11.1 / 2)
    ([10.9], 10.899999999999999)
    """
    unit = unit_of(np.concatenate([low, high]))
    if unit is None:
        return np.where(low == high, low, low / 2 + high / 2)  # their sum may be no number
    ruler = Ruler.of(unit)
    return Ruler(2 * ruler.scale).numbers(ruler.down(low) + ruler.down(high))


class Ruler(NamedTuple):
    """The numbers on a decimal place, each at its *place*: how many steps it is from 0. Or all numbers, at themselves.

    >>> tenths = Ruler.of(0.1)
    >>> float(tenths.up(6.55)), float(tenths.down(7.05)), tenths.numbers(np.array([66.0, 70.0])).tolist()
    (66.0, 70.0, [6.6, 7.0])
    """

    scale: int
    """How many steps make 1; 0 if there are none, and numbers are measured instead of counted."""

    @classmethod
    def of(cls, step: float | None) -> Ruler:
        """Return the ruler with this step; without one it has all numbers."""
        return cls(round(1.0 / step) if step else 0)

    @property
    def gap(self) -> float:
        """The distance of neighbouring places."""
        return 1.0 if self.scale else 0.0

    def down(self, numbers: Any) -> Numbers:
        """Return the places of the highest numbers on the ruler that are not above some numbers."""
        places = self._nearest(numbers)
        return np.asarray(places - (self.numbers(places) > numbers) * self.gap)

    def up(self, numbers: Any) -> Numbers:
        """Return the places of the lowest numbers on the ruler that are not below some numbers."""
        places = self._nearest(numbers)
        return np.asarray(places + (self.numbers(places) < numbers) * self.gap)

    def on(self, numbers: Any) -> NDArray[np.bool_]:
        """Return which numbers are on the ruler."""
        return np.asarray(self.numbers(self._nearest(numbers)) == numbers)

    def numbers(self, places: Any) -> Numbers:
        """Return the numbers at places: the nearest floating-point numbers to the decimals."""
        return np.asarray(places / self.scale if self.scale else places, np.float64)

    def _nearest(self, numbers: Any) -> Numbers:
        with np.errstate(over="ignore"):  # beyond all places is infinity
            return np.rint(np.multiply(numbers, self.scale)) if self.scale else np.asarray(numbers, np.float64)
