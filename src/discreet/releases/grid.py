"""Ends of intervals that are nobody's: cells of a public grid, to which published intervals are widened.

The smallest interval around some numbers ends at two of them, so "is 31, and the rest as described" is always true of
somebody. Instead an interval is widened to whole *cells* of 2, 4, 8, 16, ... units each, counted from the start of the
attribute's domain: the fewest units that are at least an eighth of its length. The unit is the last decimal place that
the numbers of the column have; of dates it is a day, of times a second or less, and of ordered values one place.

*Why no end is certain.* Whoever knows the rule and sees an interval [a, b] knows that its lowest number lies in the
first cell and its highest in the last one. Cells have two numbers or more. If they are as narrow as they get, any
number of the first cell may be the lowest, and any of the last cell the highest. If not, the interval was longer than
four cells and at most eight, and others that begin or end elsewhere in the same cells are so, too. So for either end
there is an interval around other numbers that is published alike. (`tests/releases/test_grid.py` enumerates them.)

*Why nested intervals stay nested.* Every number of units divides the larger ones, so every cell is a union of narrower
ones, and an interval inside another is not longer. What is left at the end of a domain joins the last cell of its size,
and is inside the last cell of every larger one.

A domain that nobody declared ends at somebody's numbers, too. It is widened by the same rule, on cells counted from 0,
and so becomes a start that tells nothing but what an interval around all numbers would.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.releases.attributes import Attribute
from discreet.releases.descriptions import Texts
from discreet.releases.generalization import merged
from discreet.releases.labels import interval, parse, quoted
from discreet.table.date_numbers import in_calendar, written
from discreet.table.decimals import STEPS as DECIMALS
from discreet.table.decimals import Numbers, unit_of
from discreet.table.table import Column

Places = NDArray[np.int64]

STEPS = 2 * 2 ** np.arange(52, dtype=np.int64)
"""How many units a cell may have."""
FARTHEST = int(STEPS[-1]) // 2
"""How far from 0 the numbers of a column may lie, in units: cells of the domain that nobody declared reach further."""
FEW = 8
"""Attributes of at most so many values, such as 0 and 1 or a scale from 1 to 5, are widened only if asked for."""
CELLS = 8
"""An interval is at most as long as so many of its cells, before it is widened; and longer than half as many, unless
its cells are the narrowest."""


class Grid(NamedTuple):
    """The numbers of a domain, as places that count its units from its start.

    >>> ages = Grid(1.0, 16, 80)
    >>> ages.widened(np.array([17.0, 23.0, 20.0]), np.array([19.0, 23.0, 61.0]))
    (array([16., 22., 16.]), array([19., 23., 63.]))
    """

    unit: float
    start: int
    """The lowest number, in units."""
    size: int
    """How many numbers there are."""

    @classmethod
    def of(cls, attribute: Attribute) -> Grid:
        """Return the grid of an attribute that is published on one."""
        assert attribute.unit is not None, "only attributes with a unit have a grid"
        if attribute.kind == "ordinal":
            return cls(1.0, 0, len(attribute.values))
        low, high = attribute.domain or (0.0, 0.0)
        scale = round(1.0 / attribute.unit)
        return cls(attribute.unit, round(low * scale), round(high * scale) - round(low * scale) + 1)

    @classmethod
    def from_zero(cls, unit: float) -> Grid:
        """Return the grid of domains that nobody declared: 0 starts a cell, and the last cell is far away."""
        return cls(unit, -int(STEPS[-1]), 2 * int(STEPS[-1]))

    def widened(self, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
        """Return the ends of intervals around numbers from the lowest to the highest."""
        first, last = self._places(low), self._places(high)
        steps = STEPS[np.searchsorted(CELLS * STEPS, last - first)]
        final = np.maximum(self.size // steps, 1) - 1
        begin, end = (np.minimum(places // steps, final) for places in (first, last))
        return self.numbers(begin * steps), self.numbers(np.where(end == final, self.size, (end + 1) * steps) - 1)

    def possible(self, low: Numbers, high: Numbers, known: Numbers | None = None) -> NDArray[np.bool_]:
        """Return which intervals can have been published, around some of the numbers that are ``known`` to occur.

        >>> Grid(1.0, 0, 99).possible(np.array([0.0, 1.0, 0.0]), np.array([5.0, 5.0, 4.0]))
        array([ True, False, False])
        """
        first, last = self._places(low), self._places(high)
        result = np.zeros(len(first), np.bool_)
        for step, ends, begins in self._end_cells(first, last):
            lowest, highest = (first, ends), (begins, last)
            fits = first <= begins
            if known is not None:
                lowest, highest = (_nearest(self._places(known), *cell) for cell in (lowest, highest))
                fits &= (lowest[0] <= lowest[1]) & (highest[0] <= highest[1])
            result |= fits & _so_long(step, highest[0] - lowest[1], highest[1] - lowest[0])
        return result

    def end_cells(self, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
        """Return the last number of the first cell of intervals and the first number of the last one; of all cells that
        these may have, the narrowest."""
        first, last = self._places(low), self._places(high)
        narrowest = last.copy(), first.copy()
        unknown = np.ones(len(first), np.bool_)
        for step, ends, begins in self._end_cells(first, last):
            fits = unknown & (first <= begins) & _so_long(step, begins - ends, last - first)
            narrowest = np.where(fits, ends, narrowest[0]), np.where(fits, begins, narrowest[1])
            unknown &= ~fits
        return self.numbers(narrowest[0]), self.numbers(narrowest[1])

    def _end_cells(self, first: Places, last: Places) -> Iterator[tuple[int, Places, Places]]:
        """Yield, for each number of units that a cell may have, where the first cell of intervals ends and the last one
        begins; the latter before the interval if these are no cells."""
        for step in STEPS[: 1 + int(np.searchsorted(STEPS, self.size))].tolist():
            final = (max(self.size // step, 1) - 1) * step
            ends = np.where(first == final, self.size, first + step) - 1
            begins = np.where(last == self.size - 1, final, last + 1 - step)
            inner = (begins % step == 0) & (begins < final)
            cells = (first >= 0) & (first % step == 0) & (inner | (last == self.size - 1))
            yield step, ends, np.where(cells, begins, first - 1)

    def _places(self, numbers: Numbers) -> Places:
        return np.rint(numbers * round(1.0 / self.unit)).astype(np.int64) - self.start

    def cells(self, numbers: Numbers, most: int) -> tuple[Places, int]:
        """Return the cells of numbers, of which the domain has at most about so many, and how many units one has."""
        step = int(STEPS[np.searchsorted(STEPS, self.size / most)])
        final = max(self.size // step, 1) - 1
        return np.minimum(self._places(numbers) // step, final), step

    def numbers(self, places: Places) -> Numbers:
        """Return the numbers at places."""
        return np.asarray((places + self.start) / round(1.0 / self.unit), np.float64)


def _so_long(step: int, shortest: Places, longest: Places) -> NDArray[np.bool_]:
    """Whether an interval as long as one of these is widened to cells of so many units."""
    long = np.ones(len(longest), np.bool_) if step == STEPS[0] else 2 * longest > CELLS * step
    return np.asarray((shortest <= CELLS * step) & long)


def _nearest(known: Places, first: Places, last: Places) -> tuple[Places, Places]:
    """Return the lowest and the highest of known places, which ascend, in each range; where there are none, the former
    is above the latter."""
    if not len(known):
        return first, first - 1
    begin, end = np.searchsorted(known, first), np.searchsorted(known, last, side="right") - 1
    lowest, highest = known[np.minimum(begin, len(known) - 1)], known[end]
    return np.where(begin > end, first, lowest), np.where(begin > end, first - 1, highest)


def column_unit(column: Column) -> float | None:
    """Return the unit in which intervals of a column are widened; None if it has none, and an error if it needs one."""
    if column.kind == "categorical":
        return None
    if column.kind == "ordinal":
        if column.declared_values:
            return 1.0
        raise DiscreetError(
            f"column {column.name!r} has values whose order nobody declared, so intervals of them end at somebody's; "
            f"give all of them in their order ({argument('hierarchies', {column.name: 'FILE'})}), or say snap=false"
        )
    numbers = _public(column, _occurring(column))
    unit = unit_of(numbers)
    if unit is None or float(np.nanmax(np.abs(numbers), initial=0.0)) * round(1.0 / unit) > FARTHEST:
        raise DiscreetError(
            f"column {column.name!r} has numbers of too many digits to have a last decimal place in common, in which "
            "intervals could be widened; round them, or say snap=false"
        )
    known = _occurring(column)
    known = known[~np.isnan(known)]
    if column.notation != "number" and len(known) and not column.declared_domain:
        around = Grid.from_zero(unit).widened(known[:1], known[-1:])
        if not all(in_calendar(float(end[0]), column.notation) for end in around):
            raise DiscreetError(
                f"column {column.name!r} has dates too close to the first or the last year for intervals around them "
                f"to be widened; declare a range of dates ({argument('domains', {column.name: 'FIRST:LAST'})}), or say "
                "snap=false"
            )
    return unit


def column_step(column: Column) -> float | None:
    """Return the decimal place on which all numbers of a column lie; None if they are whole, or have too many digits.

    A release states it beside intervals, so that counts know which numbers lie in them. It is the last decimal place of
    the numbers of the published rows and of a declared domain.

    *Why no promise is broken.* It follows from the quasi-identifiers of the published rows alone, like the domain.
    Promises about sensitive values hold for adversaries who know all of these; promises about sizes of groups, because
    it stays the same if two rows of a group exchange theirs. It may tell that somebody whose number has more digits
    than all others is in the table; so it is not stated where presence is promised about.

    >>> column_step(Column("age", "numeric", np.array([0, 1], np.int32), np.array([6.6, 7.0])))
    0.1
    """
    known = _occurring(column) if column.kind == "numeric" else np.zeros(0)
    known = known[~np.isnan(known)]
    if bool((known == np.floor(known)).all()):
        return None
    unit = unit_of(_public(column, known))
    return unit if unit in DECIMALS else None


def stepped(attribute: Attribute, column: Column) -> Attribute:
    """Return an attribute with the decimal place on which its numbers lie, unless it has a grid or labels."""
    step = None if attribute.labelled or attribute.unit is not None else column_step(column)
    return replace(attribute, step=step)


def _occurring(column: Column) -> Numbers:
    """Return the numbers of a column that some row has."""
    return column.values[np.bincount(column.codes, minlength=len(column.values)) > 0].astype(np.float64)


def _public(column: Column, numbers: Numbers) -> Numbers:
    """Return numbers with the ends of the column's domain, if that is declared."""
    return np.concatenate([numbers, column.domain if column.declared_domain and column.domain is not None else ()])


def unit_if_any(column: Column) -> float | None:
    """Return the unit in which intervals of a column are widened; None if they cannot be, or need not."""
    try:
        return column_unit(column)
    except DiscreetError:
        return None


def widened(attribute: Attribute, texts: Texts, column: Column, every: bool = True) -> tuple[Attribute, Texts]:
    """Return an attribute and its texts with the ends of all intervals on the grid, if it has one and is not published
    by labels; ``column`` has the numbers of the published rows. Unless ``every`` attribute is asked for, those of a few
    values stay as categories do, and those with a floor, whose cells are public already."""
    unit = None if attribute.labelled else unit_if_any(column)
    if unit is None or not (every or (attribute.floor is None and Grid.of(replace(attribute, unit=unit)).size > FEW)):
        return attribute, texts
    if attribute.kind == "numeric" and not attribute.declared and attribute.domain is not None:
        bottom, top = Grid.from_zero(unit).widened(*(np.array([end]) for end in attribute.domain))
        attribute = replace(attribute, domain=(float(bottom[0]), float(top[0])))
    attribute = replace(attribute, unit=unit)
    regions = parse(attribute, texts.texts)
    bounded = np.flatnonzero(regions.low <= regions.high)
    bounded = bounded[~regions.whole[bounded]]
    low, high = Grid.of(attribute).widened(regions.low[bounded], regions.high[bounded])
    words = list(texts.texts)
    for at, first, last in zip(bounded.tolist(), low.tolist(), high.tolist(), strict=True):
        words[at] = interval(end_text(attribute, first), end_text(attribute, last))
    return attribute, merged(words, texts.of_cell)


def ranked_numbers(attribute: Attribute, column: Column) -> Numbers:
    """Return the number of each code of a column; of ordered values the place in the attribute's order, -1 if none."""
    if attribute.kind == "numeric":
        return column.values.astype(np.float64)
    place = {value: float(at) for at, value in enumerate(attribute.values)}
    return np.array([place.get(text, -1.0) for text in column.texts])


def end_text(attribute: Attribute, end: float) -> str:
    """Return an end of an interval as it is published."""
    return quoted(attribute.values[int(end)]) if attribute.kind == "ordinal" else written(end, attribute.notation)
