"""Neighbourhoods of fixed width, or of a width in proportion to the number, and the values that they include.

The ends of neighbourhoods are rounded, so values at an end are decided by exact distances.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.principles.measuring import ROUNDING, Ruler

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class Widths(NamedTuple):
    """How far neighbourhoods reach below and above a number: by these amounts, or by these shares of the number."""

    below: float
    above: float
    relative: bool = False

    def ends(self, numbers: Floats) -> tuple[Floats, Floats]:
        """The lower and upper ends of the neighbourhoods of these ascending numbers, widened for rounding."""
        with np.errstate(over="ignore"):
            if self.relative:
                low = numbers - np.abs(numbers) * (self.below + ROUNDING * (1.0 + self.below))
                high = numbers + np.abs(numbers) * (self.above + ROUNDING * (1.0 + self.above))
                # the allowance for rounding must not move an end past zero, where ends would start to decrease
                return (
                    np.where(numbers > 0, np.maximum(low, 0.0), low),
                    np.where(numbers < 0, np.minimum(high, 0.0), high),
                )
            # one term at a time: the sum of two large widths could overflow although the end does not
            low = numbers - self.below - ROUNDING * np.abs(numbers) - ROUNDING * self.below
            high = numbers + self.above + ROUNDING * np.abs(numbers) + ROUNDING * self.above
        return low, high

    def apart(self, ruler: Ruler, owner: Places, other: Places) -> Floats:
        """The smallest width with which each owner's neighbourhood includes the other number."""
        if self.relative:
            return ruler.relatively(owner, other)
        return ruler.apart(np.minimum(owner, other), np.maximum(owner, other))

    def windows(self, numbers: Floats) -> tuple[Places, Places]:
        """The positions of the first and the last number in the neighbourhood of each of these ascending numbers.

        >>> [places.tolist() for places in Widths(10, 10).windows(np.array([40.0, 50.0, 60.0, 80.0]))]
        [[0, 0, 1, 3], [1, 2, 2, 3]]
        """
        ruler = Ruler.of(numbers)
        begin, end = covered(numbers, *self.ends(numbers))
        begin = _furthest(begin, -1, lambda at, of: self.apart(ruler, of, at) <= self.below)
        end = _furthest(end, 1, lambda at, of: self.apart(ruler, of, at) <= self.above)
        return begin, end


def covered(numbers: Floats, low: Floats, high: Floats) -> tuple[Places, Places]:
    """The positions of the first and the last number from ``low`` to ``high``; a number always includes itself."""
    own = np.arange(len(numbers))
    begin = np.minimum(np.searchsorted(numbers, low, "left"), own)
    end = np.maximum(np.searchsorted(numbers, high, "right") - 1, own)
    return begin, end


def _furthest(places: Places, step: int, holds: Callable[[Places, Places], NDArray[np.bool_]]) -> Places:
    """The furthest position in direction ``step`` that each number's neighbourhood includes, starting from guesses.

    ``holds(places, own)`` returns whether the neighbourhoods of the numbers at ``own`` include the positions
    ``places``. The result is nondecreasing, as the ends of neighbourhoods are.
    """
    places, own = places.copy(), np.arange(len(places))
    moving = own
    while len(moving):  # move inwards, at most to the number itself, which is always included
        moving = moving[~holds(places[moving], moving)]
        places[moving] -= step
    moving = own
    while len(moving):
        moving = moving[(places[moving] + step >= 0) & (places[moving] + step < len(places))]
        moving = moving[holds(places[moving] + step, moving)]
        places[moving] += step
    return np.maximum.accumulate(places) if step > 0 else np.minimum.accumulate(places[::-1])[::-1]
