"""Floors: the smallest detail in which a quasi-identifier is ever published, chosen by the publisher for everybody.

A column with a floor is made coarse where it is read, before any scheme sees it. A code keeps its first characters.
Numbers and dates become the *places* of their cells: with the floor 5 the numbers from 35 to 39 are at place 7, and
with the floor ``month`` the days of January 1970 are at place 0. Such a column is numeric, and its notation (`Cells`)
says how its places are written: as the cells that they stand for. So whatever counts, measures or compares its numbers
counts cells, and nothing behind the reading knows more than a cell of anybody.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.options import brief
from discreet.table.decimals import Ruler
from discreet.table.texts import value_text

Numbers = NDArray[np.float64]

CALENDAR = {"month": 1, "quarter": 3, "year": 12}
"""The floors of dates, and how many months their cells have."""
_width = re.compile(r"(0|[1-9]\d{0,14})(\.\d{1,6})?")
_length = re.compile(r"[1-9]\d{0,2}")


@dataclass(frozen=True)
class Cells:
    """The cells of a floor, numbered from the one that begins with 0 or with 1970.

    The decimals of a width are those of the numbers: the cells of ``5`` hold whole numbers, those of ``5.0`` tenths.

    >>> fives, tenths = Cells("number", "5"), Cells("number", "5.0")
    >>> fives.places([35, 39, 40]).tolist(), fives.last([7]).tolist(), tenths.last([7]).tolist()
    ([7.0, 7.0, 8.0], [39.0], [39.9])
    """

    base: Literal["number", "date"]
    """How the numbers in a cell are written."""
    floor: str
    """The width of a cell, or its name in the calendar."""

    @classmethod
    def of(cls, floor: str, base: str) -> Self | None:
        """Return the cells of a floor of numbers or dates; None if it is no floor of these."""
        if base == "number":
            return cls("number", floor) if _width.fullmatch(floor) and float(floor) > 0 else None
        return cls("date", floor) if floor in CALENDAR else None

    @cached_property
    def ruler(self) -> Ruler:
        """The numbers that cells are made of: decimals, or whole days."""
        return Ruler(10 ** len(self.floor.partition(".")[2]) if self.base == "number" else 1)

    @cached_property
    def width(self) -> int:
        """How many steps of the ruler a cell has, or how many months."""
        return round(float(self.floor) * self.ruler.scale) if self.base == "number" else CALENDAR[self.floor]

    def places(self, numbers: Any) -> Numbers:
        """Return the places of the cells in which numbers lie; NaN stays."""
        steps = self.ruler.down(np.asarray(numbers, np.float64))
        if self.base == "date":
            known = np.isfinite(steps)
            days = np.where(known, steps, 0.0).astype(np.int64).astype("datetime64[D]")
            steps = np.where(known, days.astype("datetime64[M]").astype(np.float64), steps)
        return np.asarray(np.floor(steps / self.width))

    def first(self, places: Any) -> Numbers:
        """Return the first number of each cell; NaN stays."""
        starts = np.asarray(places, np.float64) * self.width
        if self.base == "number":
            return self.ruler.numbers(starts)
        known = np.isfinite(starts)
        months = np.where(known, starts, 0.0).astype(np.int64).astype("datetime64[M]")
        return np.where(known, months.astype("datetime64[D]").astype(np.float64), starts)

    def last(self, places: Any) -> Numbers:
        """Return the last number of each cell; NaN stays."""
        after = self.first(np.asarray(places, np.float64) + 1.0)
        return self.ruler.numbers(self.ruler.down(after) - 1.0)

    def between(self, first: float, last: float) -> tuple[float, float]:
        """Return the places of the cells from one that begins with a number to one that ends with another; ValueError
        if none do.

        >>> Cells("number", "5").between(35, 44)
        (7.0, 8.0)
        """
        low, high = float(self.places(first)), float(self.places(last))
        if low > high or float(self.first(low)) != first or float(self.last(high)) != last:
            raise ValueError(first, last)
        return low, high

    def __str__(self) -> str:
        """Say what the cells are, in words."""
        return f"cells of {self.floor}" if self.base == "number" else f"{self.floor}s"


def cells_in(notation: object) -> Cells | None:
    """Return a notation if it writes cells; None if it writes numbers or dates."""
    return notation if isinstance(notation, Cells) else None


def floor_given(name: str, given: Any) -> str:
    """Return a floor as text; refuse what is a floor of no kind of column.

    >>> floor_given("age", 5.0), floor_given("pay", "0.50"), floor_given("born", "month")
    ('5', '0.50', 'month')
    """
    number = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
    text = value_text(given).strip() if number or isinstance(given, str) else ""
    if text not in CALENDAR and Cells.of(text, "number") is None:
        raise DiscreetError(
            f"the floor {brief(given)} of column {name!r} is neither a width nor a number of characters nor one of "
            f"{', '.join(CALENDAR)}; say for example {argument('floor', {name: 5})}"
        )
    return text


def characters(name: str, floor: str) -> int:
    """Return how many characters of its values a column of texts keeps; refuse a floor that does not say that.

    >>> characters("zip", "3")
    3
    """
    if not _length.fullmatch(floor):
        raise DiscreetError(
            f"column {name!r} holds names or codes, of which the floor says how many characters are kept, and {floor!r}"
            f" says no such number; say for example {argument('floor', {name: 3})}"
        )
    return int(floor)


def shortened(text: str, length: int) -> str:
    """Return the first characters of a value.

    >>> shortened("SW1A 1AA", 5), shortened("021", 5)
    ('SW1A', '021')
    """
    return text.strip()[:length].rstrip()
