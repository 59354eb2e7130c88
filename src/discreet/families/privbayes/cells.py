"""The values that a drawn row may have: of each column a public list of cells, which says nothing about anyone.

The numbers that occur in a table, and the smallest and the largest of them, are somebody's. So the cells of a numeric
column are equal ranges of its declared domain, and a number is drawn from all whole numbers of a range, or from a grid
of at least a thousand steps where the ends of the domain are not whole. Names must be declared, too: a disease that is
listed only because one person has it would be told with certainty. A missing value is none that was declared: a
list or a column that has one because a single person lacks a value would tell that, so a table with missing cells is
refused. And whether a column holds dates or times is not left to its cells, but follows from how the ends are declared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.releases.attributes import as_shown
from discreet.table.date_numbers import DAY
from discreet.table.table import Column, Table
from discreet.table.texts import MISSING

Ints = NDArray[np.int64]
MOST_RANGES = 128
"""The most ranges of numbers."""
FEWEST_RANGES = 8
"""Numbers are never taken in fewer ranges, unless there are fewer numbers."""


@dataclass(frozen=True)
class ColumnCells:
    """The cells of a column. One for each of its values, unless they are numbers."""

    column: Column

    @cached_property
    def _listed(self) -> Ints:
        """The code of each cell's value: all of them, but no number that is beyond the domain."""
        column = self.column
        inside = np.ones(len(column.values), np.bool_)
        if column.kind == "numeric" and column.domain is not None:
            numbers = column.values.astype(np.float64)
            inside = ~((numbers < column.domain[0]) | (numbers > column.domain[1]))  # a missing one is not beyond
        return np.flatnonzero(inside)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self._listed)

    @property
    def codes(self) -> Ints:
        """The cell of every row."""
        return np.searchsorted(self._listed, self.column.codes)

    def drawn(self, cells: Ints, random: np.random.Generator) -> Column:
        """The column with a value of each of these cells instead."""
        return replace(self.column, codes=self._listed[cells].astype(np.int32))

    def has(self, numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which of these numbers may be drawn."""
        return np.isin(numbers, self.column.values[self._listed].astype(np.float64))


@dataclass(frozen=True)
class Ranges(ColumnCells):
    """The cells of a numeric column: ranges of a grid of numbers, after one for missing numbers if there are any."""

    low: float
    step: float
    steps: int
    """How many numbers the grid has."""
    ranges: int

    @classmethod
    def of(cls, column: Column, most: int, observed: bool) -> Ranges:
        """The ranges of a column whose domain is public, at most this many.

        Numbers are whole if the ends of the domain are, and not 1 apart (as those of shares); and if those that occur
        are, where that is public.
        """
        assert column.domain is not None, "every numeric column has a domain"
        low, high = map(float, column.domain)
        whole = low.is_integer() and high.is_integer() and (observed or high - low != 1.0)
        if observed:
            numbers = column.values[int(column.missing is not None) :].astype(np.float64)
            whole &= bool((numbers == np.floor(numbers)).all())
        step = 1.0 if whole and high - low < 2.0**53 else 10.0 ** (math.floor(math.log10(high - low or 1.0)) - 3)
        steps = int((high - low) / step + 1e-9) + 1
        return cls(column, low, step, steps, min(steps, most))

    @property
    def _first(self) -> int:
        return int(self.column.missing is not None)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.ranges + self._first

    @property
    def codes(self) -> Ints:
        """The cell of every row."""
        numbers = np.nan_to_num(self.column.values.astype(np.float64), nan=self.low)
        places = np.clip(np.rint((numbers - self.low) / self.step), 0, self.steps - 1)
        cells = np.minimum((places * (self.ranges / self.steps)).astype(np.int64), self.ranges - 1) + self._first
        if self._first:
            cells[0] = 0
        return np.asarray(cells[self.column.codes])

    def drawn(self, cells: Ints, random: np.random.Generator) -> Column:
        """The column with a number of each of these ranges, any as likely as another."""
        edges = np.array([-(-at * self.steps // self.ranges) for at in range(self.ranges + 1)], np.int64)
        at = np.maximum(cells - self._first, 0)
        places = random.integers(edges[at], edges[at + 1])
        used, codes = np.unique(np.where(cells < self._first, -1, places), return_inverse=True)
        gone = None if used[0] >= 0 else 0
        numbers = np.where(used < 0, math.nan, self._at(used))
        return replace(self.column, codes=codes.astype(np.int32), values=numbers, missing=gone)

    def has(self, numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which of these numbers are on the grid."""
        places = np.clip(np.rint((numbers - self.low) / self.step), 0, self.steps - 1)
        return np.asarray(self._at(places.astype(np.int64)) == numbers)

    def _at(self, places: Ints) -> NDArray[np.float64]:
        """The numbers at these places of the grid, with as many digits as are told apart."""
        return np.array([float(f"{self.low + place * self.step:.15g}") for place in places.tolist()], np.float64)


def cells_of(table: Table, observed: bool, most: int) -> list[ColumnCells]:
    """The cells of every quasi-identifier and sensitive attribute, with about this many ranges of numbers.

    Values that were not declared are refused unless ``observed`` says that they are public as they occur; then numbers,
    too, are taken one by one where they are few.
    """
    columns = (*table.quasi, *table.sensitive)
    if not observed:
        for column in columns:
            _check_declared(column)
            _check_nothing_missing(table, column)
    return [cells_in(column, observed, most) for column in columns]


def cells_in(column: Column, observed: bool, most: int = FEWEST_RANGES) -> ColumnCells:
    """The cells of one column, whether or not it was declared; see ``cells_of``."""
    if column.kind != "numeric":
        return ColumnCells(column)
    if column.hierarchy is not None and not column.declared_domain:
        # any listed number may be drawn, so the list is what is told, and not which of its numbers occur
        numbers = column.values.astype(np.float64)
        column = replace(column, domain=(float(np.nanmin(numbers)), float(np.nanmax(numbers))), declared_domain=True)
    # what is public of a column now is not to be taken from the drawn rows later
    column = replace(as_shown(column, None), declared_domain=True)
    listed = column.hierarchy is not None or (observed and len(column.values) <= MOST_RANGES)
    return ColumnCells(column) if listed else Ranges.of(column, min(MOST_RANGES, max(FEWEST_RANGES, most)), observed)


def _check_declared(column: Column) -> None:
    """Raise an error for a column whose values are only known from the table."""
    numbers = column.kind == "numeric"
    leaves = not numbers or column.hierarchy is not None
    if (column.declared_domain or not numbers) and (column.declared_values or not leaves):
        return
    if numbers and not column.declared_domain:
        what = "the release would reveal the smallest and the largest number of {0!r}, which belong to someone"
        way = argument("domains", {column.name: (0, 100)})
    else:
        what = "the release would reveal which values of {0!r} occur, and perhaps only one person has one"
        way = argument("hierarchies", {column.name: "FILE"})
    raise DiscreetError(
        f"{what.format(column.name)}; declare what may occur (as in {way}), or say that what occurs is public anyway "
        "(option domains=observed)"
    )


def _check_nothing_missing(table: Table, column: Column) -> None:
    """Raise an error for a column with missing cells, or times where days were declared: its kind would tell so."""
    if column.notation == "datetime" and column.domain is not None and not any(end % DAY for end in column.domain):
        raise DiscreetError(
            f"column {column.name!r} holds times of day, but the ends of its domain are declared by days; declare them "
            "by times, or leave the times of day out"
        )
    if column.missing is None and MISSING not in column.texts and not table.lacking.get(column.name):
        return
    numbers = column.kind == "numeric"
    way = "fill in a number" if numbers else "write a value that its list has, such as 'unknown'"
    raise DiscreetError(
        f"column {column.name!r} may have missing values, and the release would reveal that somebody's is missing; "
        f"{way}, leave out the rows, or say that what occurs is public anyway (option domains=observed)"
    )
