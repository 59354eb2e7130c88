"""Counts grouped by some attributes: one count query per cell, a cell being a combination of one value of each.

As in SQL, conditions on any attributes may restrict the rows, and a cell without rows is not listed. Rows whose value
of a grouped attribute is missing form cells of their own, unless a condition on that attribute leaves them out: a
missing number or date is null in the answer, any other missing value the text ``(missing)``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.options import several
from discreet.table.combinations import numbered
from discreet.table.date_numbers import Meaning, Notation, written
from discreet.table.query import NUMBERS, Condition, OneOf, Query, Range, as_query, lacking
from discreet.table.table import Table, as_name
from discreet.table.texts import LARGEST_WHOLE, MISSING
from discreet.table.unnamed import OTHERS, is_unnamed

if TYPE_CHECKING:
    from discreet.table.total import Measure

MOST_CELLS = 1_000_000
"""The maximum number of cells; a query with more is refused."""
BATCH = 1 << 16
"""How many cells are estimated at a time."""
COUNT = "count"
"""The default heading of the counts."""


@dataclass(frozen=True)
class GroupBy:
    """A request for the counts of the rows that satisfy a query, or for sums or means, grouped by some attributes.

    >>> GroupBy(("sex",)).shown
    (('sex', 'sex'), (None, 'count'))
    """

    attributes: tuple[str, ...]
    query: Query = field(default_factory=Query)
    shown: tuple[tuple[str | None, str], ...] = ()
    """The columns of the answer with their headings: an attribute, or None for the counts."""
    measure: Measure | None = None
    """What is computed in place of counts."""

    def __post_init__(self) -> None:
        """Accept a single attribute or a list; by default the answer has the attributes and then the counts."""
        object.__setattr__(self, "attributes", tuple(map(as_name, several(self.attributes))))
        as_query(self.query)
        for name in self.attributes:
            if self.attributes.count(name) > 1:
                raise DiscreetError(f"counts are grouped by {name!r} twice; name it once")
        if not self.shown:
            heading = COUNT if self.measure is None else self.measure.heading
            while heading in self.attributes:
                heading += "_"
            object.__setattr__(self, "shown", (*((name, name) for name in self.attributes), (None, heading)))

    def grid(self, known: Mapping[str, NDArray[Any]], kinds: Mapping[str, Meaning]) -> Grid:
        """Return the cells over the known values of the attributes that the conditions admit, at most `MOST_CELLS`."""
        on = self.query.by_attribute
        present: list[Condition | None] = []
        sides: list[list[float | str]] = []
        for name in self.attributes:
            values = known[name]
            keep = ~np.isnan(values) if kinds[name] in NUMBERS else np.ones(len(values), np.bool_)
            if kinds[name] == "ordinal":
                keep = np.array([value != MISSING for value in values.tolist()], np.bool_)
            for condition in on.get(name, ()):
                keep &= condition.admits(values, kinds[name])
            sides.append(values[keep].tolist())
            unasked = kinds[name] != "categorical" and name not in on
            some = Range(name) if kinds[name] in NUMBERS else OneOf(name, tuple(sides[-1]))
            present.append(some if unasked else None)
        rest = tuple(condition for condition in self.query.conditions if condition.attribute not in self.attributes)
        grid = Grid(self.attributes, tuple(sides), rest, tuple(present))
        if grid.size > MOST_CELLS:
            sizes = ", ".join(f"{name!r} ({len(side):,})" for name, side in zip(self.attributes, sides, strict=True))
            raise DiscreetError(
                f"the values of {sizes} make {grid.size:,} cells, more than {MOST_CELLS:,}; "
                "group by fewer columns, or have fewer of their values by conditions"
            )
        return grid

    def answer(
        self, cells: Mapping[str, Sequence[float | str]], counts: NDArray[Any], notations: Mapping[str, Notation]
    ) -> pa.Table:
        """Build the answer from the values and the count of each cell."""
        columns = [
            pa.array(counts) if name is None else _column(cells[name], notations[name]) for name, _ in self.shown
        ]
        return pa.table(columns, names=[heading for _, heading in self.shown])

    def count(self, table: Table) -> pa.Table:
        """Count the rows of a table exactly; cells without rows are left out.

        >>> from discreet.datasets import patients
        >>> GroupBy(("sex",)).count(patients()).to_pydict()
        {'sex': ['F', 'M'], 'count': [24, 24]}
        """
        columns = [table.column(name) for name in self.attributes]
        keep = self.query.satisfied(table)
        for column in columns:
            unusable = lacking(table, column)
            if unusable is not None:
                keep[unusable] = False
        rows = np.flatnonzero(keep)
        codes = [column.codes[rows] for column in columns]
        cell_of = numbered(codes, [len(column.values) for column in columns], len(rows))
        _, first, counts = np.unique(cell_of, return_index=True, return_counts=True)
        if not columns:  # as in SQL: all rows form one cell, even if there are none
            first, counts = np.zeros(1, np.int64), np.array([len(rows)])
        amounts: NDArray[Any] = counts
        if self.measure is not None:
            place = np.zeros(table.rows, np.intp)
            place[rows] = np.unique(cell_of, return_inverse=True)[1]
            amounts = self.measure.of_rows(table, keep, place, len(first))
        cells = {column.name: column.values[held[first]].tolist() for column, held in zip(columns, codes, strict=True)}
        return self.answer(cells, amounts, {column.name: column.notation for column in columns})


@dataclass(frozen=True)
class Grid:
    """The cells to count: every combination of one value per attribute.

    >>> Grid(("sex", "age"), (["f", "m"], [17.0]), ()).cells(np.array([1]))
    {'sex': ['m'], 'age': [17.0]}
    """

    attributes: tuple[str, ...]
    values: tuple[list[float | str], ...]
    conditions: tuple[Condition, ...]
    """The conditions on other attributes, which the rows of all cells must satisfy."""
    present: tuple[Condition | None, ...] = ()
    """Per attribute of which missing values are counted, too: the condition that all others satisfy."""

    @property
    def size(self) -> int:
        """The number of cells; one if there are no attributes."""
        return math.prod(len(side) for side in self.values)

    def counts(self, estimates: Callable[[Sequence[Query]], NDArray[np.float64]]) -> tuple[Grid, NDArray[np.float64]]:
        """Return the grid with a missing value on each side that may have one, and the estimate of each of its cells.

        The last attribute changes fastest.
        A missing value satisfies no condition: its rows are those without a condition, less those that have a value.
        """
        sides: list[list[Condition | None]] = []
        for name, side, present in zip(self.attributes, self.values, self.present, strict=True):
            more: list[Condition | None] = [] if present is None else [None, present]
            sides.append([*more, *(OneOf(name, (value,)) for value in side)])
        cells = itertools.product(*sides)
        parts = [np.zeros(0)]
        while batch := list(itertools.islice(cells, BATCH)):
            asked = [[condition for condition in cell if condition is not None] for cell in batch]
            parts.append(estimates([Query((*self.conditions, *cell)) for cell in asked]))
        estimated = np.concatenate(parts).reshape([len(side) for side in sides])
        values = list(self.values)
        for axis, (side, present) in enumerate(zip(self.values, self.present, strict=True)):
            if present is None:
                continue
            everything, known = estimated.take([0], axis), estimated.take([1], axis)
            rest = estimated.take(range(2, estimated.shape[axis]), axis)
            absent = np.where(np.isclose(everything, known), 0.0, everything - known)
            estimated = np.concatenate([absent, rest], axis)
            values[axis] = [math.nan if isinstance(present, Range) else MISSING, *side]
        for axis, side in enumerate(values):
            nameless = np.array([isinstance(value, str) and is_unnamed(value) for value in side], np.bool_)
            if nameless.any():
                others = estimated.compress(nameless, axis).sum(axis, keepdims=True)
                estimated = np.concatenate([estimated.compress(~nameless, axis), others], axis)
                values[axis] = [*(value for value, without in zip(side, nameless, strict=True) if not without), OTHERS]
        return Grid(self.attributes, tuple(values), self.conditions), estimated.ravel()

    def cells(self, places: NDArray[np.int64]) -> dict[str, list[float | str]]:
        """Return the values of the cells at these places in the order of `counts`."""
        at = np.unravel_index(places, [len(side) for side in self.values]) if self.values else ()
        sides = zip(self.attributes, self.values, at, strict=True)
        return {name: [side[place] for place in where.tolist()] for name, side, where in sides}


def _column(values: Sequence[float | str], notation: Notation) -> pa.Array:
    known = [None if value != value else value for value in values]
    if notation != "number":
        return pa.array([None if value is None else written(float(value), notation) for value in known], pa.string())
    numbers = [value for value in known if value is not None]
    if numbers and all(isinstance(n, float) and n.is_integer() and abs(n) <= LARGEST_WHOLE for n in numbers):
        return pa.array([None if value is None else int(value) for value in known])
    return pa.array(known)
