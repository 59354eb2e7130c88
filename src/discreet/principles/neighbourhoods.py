"""Neighbourhoods of numbers: of a width, by a function, or with the two ends stated for every number.

The ends of neighbourhoods are rounded, so values at the end of a width are decided by exact distances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.options import Interval
from discreet.principles.measuring import ROUNDING, Ruler
from discreet.principles.prior import whole
from discreet.table.texts import number_text

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]
Function = Callable[[Numbers], tuple[Any, Any]]
"""Maps an array of numbers to the lower and the upper ends of their neighbourhoods."""
Ends = tuple[tuple[float, float, float], ...]
"""Triples of a number and the lower and upper end of its neighbourhood."""


Width = Annotated[float, Interval(0)]
Neighbourhood = Annotated[
    Literal["absolute", "relative", "stated"] | tuple[Width, Width] | Function,
    "absolute or relative, a pair of widths (below, above), or a function that gives the ends",
]
ASCENDING = "numbers in ascending order with the ends of their neighbourhoods, which contain them and never decrease"
StatedEnds = Annotated[str | Sequence[Any], ASCENDING]
"""The ends of the neighbourhood of every number: ``Ends``, or written ``1000:900:1100 1010:905:1115``."""


class Widths(NamedTuple):
    """How far neighbourhoods reach below and above a number: by these amounts, or by these shares of the number."""

    below: float
    above: float
    relative: bool = False

    def ends(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
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

    def apart(self, ruler: Ruler, owner: Places, other: Places) -> Numbers:
        """The smallest width with which each owner's neighbourhood includes the other number."""
        if self.relative:
            return ruler.relatively(owner, other)
        return ruler.apart(np.minimum(owner, other), np.maximum(owner, other))

    def windows(self, numbers: Numbers) -> tuple[Places, Places]:
        """The positions of the first and the last number in the neighbourhood of each of these ascending numbers.

        >>> [places.tolist() for places in Widths(10, 10).windows(np.array([40.0, 50.0, 60.0, 80.0]))]
        [[0, 0, 1, 3], [1, 2, 2, 3]]
        """
        ruler = Ruler.of(numbers)
        begin, end = covered(numbers, *self.ends(numbers))
        begin = _furthest(begin, -1, lambda at, of: self.apart(ruler, of, at) <= self.below)
        end = _furthest(end, 1, lambda at, of: self.apart(ruler, of, at) <= self.above)
        return begin, end


def covered(numbers: Numbers, low: Numbers, high: Numbers) -> tuple[Places, Places]:
    """The positions of the first and the last number from ``low`` to ``high``; a number always includes itself."""
    positions = np.arange(len(numbers))
    begin = np.minimum(np.searchsorted(numbers, low, "left"), positions)
    end = np.maximum(np.searchsorted(numbers, high, "right") - 1, positions)
    return begin, end


def _furthest(places: Places, step: int, holds: Callable[[Places, Places], NDArray[np.bool_]]) -> Places:
    """The furthest position in direction ``step`` that each number's neighbourhood includes, starting from guesses.

    ``holds(places, positions)`` returns whether the neighbourhoods of the numbers at ``positions`` include those at
    ``places``. The result is nondecreasing, as the ends of neighbourhoods are.
    """
    places, positions = places.copy(), np.arange(len(places))
    moving = positions
    while len(moving):  # move inwards, at most to the number itself, which is always included
        moving = moving[~holds(places[moving], moving)]
        places[moving] -= step
    moving = positions
    while len(moving):
        moving = moving[(places[moving] + step >= 0) & (places[moving] + step < len(places))]
        moving = moving[holds(places[moving] + step, moving)]
        places[moving] += step
    return np.maximum.accumulate(places) if step > 0 else np.minimum.accumulate(places[::-1])[::-1]


def ends_given(value: str | Sequence[Any]) -> Ends:
    """The triples in a text or a sequence; the message about others does not repeat them, as they may be many.

    >>> ends_given("1000:900:1100 2000:1800:inf")
    ((1000.0, 900.0, 1100.0), (2000.0, 1800.0, inf))
    """
    try:
        triples = [triple.split(":") for triple in value.split()] if isinstance(value, str) else value
        table = np.array(triples, np.float64)
        if table.ndim != 2 or table.shape[1] != 3 or not np.isfinite(table[:, 0]).all():
            raise ValueError
        numbers, low, high = table.T
        if (numbers[1:] <= numbers[:-1]).any():
            raise ValueError
    except (ValueError, TypeError):
        raise DiscreetError(
            f"proximity: ends must be {ASCENDING}; write for example ends=1000:900:1100 2000:1800:2200"
        ) from None
    _check_ends(numbers, low, high)
    return tuple((float(number), float(begin), float(end)) for number, begin, end in table)


def ends_by(function: Function, numbers: Numbers) -> tuple[Numbers, Numbers]:
    """The ends from a user's function; raises unless they enclose their number and never decrease as it grows.

    >>> [end.tolist() for end in ends_by(lambda x: (x - 1, x * 2), np.array([1.0, 5.0]))]
    [[0.0, 4.0], [2.0, 10.0]]
    """
    try:
        low, high = (
            np.broadcast_to(np.asarray(end, np.float64), numbers.shape).copy() for end in function(numbers.copy())
        )
    except Exception as error:  # a user's function may raise anything
        raise DiscreetError(
            f"proximity: the function that gives the neighbourhoods failed ({error}); from an array of numbers it "
            "must make two arrays of the same length, the lower and the upper ends"
        ) from error
    _check_ends(numbers, low, high)
    return low, high


def ends_stated(ends: Ends, numbers: Numbers) -> tuple[Numbers, Numbers]:
    """The stated ends for these numbers; raises if a number is not listed."""
    known, low, high = np.array(ends, np.float64).T
    at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    strange = numbers[known[at] != numbers]
    if len(strange):
        raise DiscreetError(
            f"proximity states no neighbourhood of the number {number_text(float(strange[0]))}; state one for every "
            "number of the sensitive attribute"
        )
    return low[at], high[at]


def widened(numbers: Numbers, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
    """Move ends outwards by the largest possible rounding error, unless all are whole; they stay nondecreasing.

    >>> [end.tolist() for end in widened(np.array([2.0**52]), np.array([2.0**52 - 1]), np.array([2.0**52 + 3]))]
    [[4503599627370495.0], [4503599627370499.0]]
    """
    with np.errstate(invalid="ignore", over="ignore"):
        if not (whole(numbers) and whole(low[np.isfinite(low)])):
            low = np.where(np.isfinite(low), low - ROUNDING * (np.abs(numbers) + np.abs(low)), low)
        if not (whole(numbers) and whole(high[np.isfinite(high)])):
            high = np.where(np.isfinite(high), high + ROUNDING * (np.abs(numbers) + np.abs(high)), high)
    return np.minimum.accumulate(low[::-1])[::-1], np.maximum.accumulate(high)


def _check_ends(numbers: Numbers, low: Numbers, high: Numbers) -> None:
    """Raise an error unless neighbourhoods of ascending numbers contain these, and their ends never decrease."""
    outside = np.flatnonzero(~((low <= numbers) & (numbers <= high)))
    if len(outside):
        number, begin, end = (number_text(float(column[outside[0]])) for column in (numbers, low, high))
        if "nan" in (begin, end):
            raise DiscreetError(
                f"proximity: the neighbourhood of {number} has an end that is not a number; give every number two ends"
            )
        raise DiscreetError(
            f"proximity: the neighbourhood of {number} goes from {begin} to {end} and does not contain it; it must "
            "contain its number"
        )
    for word, ends in (("begins", low), ("ends", high)):
        for at in np.flatnonzero(ends[1:] < ends[:-1])[:1].tolist():
            number, larger, end, later = map(number_text, (*numbers[at : at + 2].tolist(), *ends[at : at + 2].tolist()))
            raise DiscreetError(
                f"proximity: the neighbourhood of {larger} {word} at {later}, below where that of {number} {word} "
                f"({end}); its ends must never decrease when the number grows"
            )
