"""Counts by the values of some attributes: one count query per cell, a cell being one value of each of them.

As in SQL, conditions on other attributes (or on the same ones) may restrict the rows, and a cell without rows is not
listed. What is missing of a numeric or ordered attribute is in no cell, since it satisfies no condition.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.table.moments import Meaning, Notation, written
from discreet.table.query import NUMBERS, Condition, OneOf, Query, lacking
from discreet.table.table import Table
from discreet.table.texts import LARGEST_WHOLE, MISSING

MOST_CELLS = 1_000_000
"""Counts by more cells than this are refused."""
COUNT = "count"
"""The heading of the counts unless another is asked for."""


@dataclass(frozen=True)
class GroupBy:
    """The counts of the rows that satisfy a query, by the values of some attributes.

    >>> GroupBy(("sex",)).shown
    (('sex', 'sex'), (None, 'count'))
    """

    attributes: tuple[str, ...]
    query: Query = field(default_factory=Query)
    shown: tuple[tuple[str | None, str], ...] = ()
    """The columns of the answer: an attribute, or None for the counts, and its heading."""

    def __post_init__(self) -> None:
        """Take a single attribute, or attributes in a list, for what they are; show them and then the counts."""
        alone = isinstance(self.attributes, str)
        object.__setattr__(self, "attributes", (self.attributes,) if alone else tuple(self.attributes))
        for name in self.attributes:
            if self.attributes.count(name) > 1:
                raise DiscreetError(f"counts are grouped by {name!r} twice; name it once")
        if not self.shown:
            heading = COUNT
            while heading in self.attributes:
                heading += "_"
            object.__setattr__(self, "shown", (*((name, name) for name in self.attributes), (None, heading)))

    def grid(self, known: Mapping[str, NDArray[Any]], kinds: Mapping[str, Meaning], limited: bool = True) -> Grid:
        """The cells over these known values of the attributes, as far as the conditions admit them.

        Too many to be counted one by one are refused, unless they are not ``limited``.
        """
        on = self.query.by_attribute
        sides: list[list[float | str]] = []
        for name in self.attributes:
            values = known[name]
            keep = ~np.isnan(values) if kinds[name] in NUMBERS else np.ones(len(values), np.bool_)
            if kinds[name] == "ordinal":
                keep = np.array([value != MISSING for value in values.tolist()], np.bool_)
            for condition in on.get(name, ()):
                keep &= condition.admits(values, kinds[name])
            sides.append(values[keep].tolist())
        rest = tuple(one for one in self.query.conditions if one.attribute not in self.attributes)
        grid = Grid(self.attributes, tuple(sides), rest)
        if limited and grid.size > MOST_CELLS:
            told = ", ".join(f"{name!r} ({len(side):,})" for name, side in zip(self.attributes, sides, strict=True))
            raise DiscreetError(
                f"the values of {told} make {grid.size:,} cells, more than {MOST_CELLS:,}; "
                "group by fewer columns, or have fewer of their values by conditions"
            )
        return grid

    def answer(
        self, cells: Mapping[str, Sequence[float | str]], counts: NDArray[Any], notations: Mapping[str, Notation]
    ) -> pa.Table:
        """The table that is asked for, from the value of every attribute and the count in each cell."""
        columns = [
            pa.array(counts) if name is None else _column(cells[name], notations[name]) for name, _ in self.shown
        ]
        return pa.table(columns, names=[heading for _, heading in self.shown])

    def count(self, table: Table) -> pa.Table:
        """The exact counts of a table, without the cells that have no rows.

        >>> from discreet.datasets import patients
        >>> GroupBy(("sex",)).count(patients()).to_pydict()
        {'sex': ['F', 'M'], 'count': [24, 24]}
        """
        codes, counts = occupied(table, self.attributes, self.query)
        columns = [table.column(name) for name in self.attributes]
        cells = {one.name: one.values[at].tolist() for one, at in zip(columns, codes, strict=True)}
        return self.answer(cells, counts, {one.name: one.notation for one in columns})


@dataclass(frozen=True)
class Grid:
    """Cells that are to be counted: each combination of one of the values of every attribute.

    >>> [query.conditions[0].values for query in Grid(("sex",), (["f", "m"],), ()).queries()]
    [('f',), ('m',)]
    """

    attributes: tuple[str, ...]
    values: tuple[list[float | str], ...]
    conditions: tuple[Condition, ...]
    """What the rows of all cells have to satisfy besides."""

    @property
    def size(self) -> int:
        """How many cells there are; one when there are no attributes."""
        return math.prod(len(side) for side in self.values)

    def queries(self) -> Iterator[Query]:
        """The query of each cell, the last attribute changing fastest."""
        sides = [[OneOf(name, (one,)) for one in side] for name, side in zip(self.attributes, self.values, strict=True)]
        for cell in itertools.product(*sides):
            yield Query((*self.conditions, *cell))

    def query(self, cell: Sequence[float | str]) -> Query:
        """The query of one cell."""
        values = zip(self.attributes, cell, strict=True)
        return Query((*self.conditions, *(OneOf(name, (value,)) for name, value in values)))

    def cells(self, places: NDArray[np.int64]) -> dict[str, list[float | str]]:
        """The values of the cells at these places."""
        at = np.unravel_index(places, [len(side) for side in self.values]) if self.values else ()
        sides = zip(self.attributes, self.values, at, strict=True)
        return {name: [side[one] for one in where.tolist()] for name, side, where in sides}


def occupied(
    table: Table, attributes: Sequence[str], query: Query
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """The cells that rows of a table lie in, as codes of each attribute, and how many rows satisfy the query in each.

    >>> from discreet.datasets import patients
    >>> codes, counts = occupied(patients(), ["age", "sex"], Query())
    >>> len(codes), int(counts.sum())
    (2, 48)
    """
    keep = query.satisfied(table)
    for name in attributes:
        column = table.column(name)
        if column.missing is not None:
            keep &= column.codes != column.missing
        rows = lacking(table, column)
        if rows is not None:
            keep[rows] = False
    rows = np.flatnonzero(keep)
    cell_of = np.zeros(len(rows), np.int64)
    for name in attributes:
        column = table.column(name)
        _, cell_of = np.unique(cell_of * len(column.values) + column.codes[rows], return_inverse=True)
    _, first, counts = np.unique(cell_of, return_index=True, return_counts=True)
    if not attributes:  # as in SQL, the rows in one cell, also when there are none
        return [], np.array([len(rows)], np.int64)
    return [table.column(name).codes[rows[first]].astype(np.int64) for name in attributes], counts.astype(np.int64)


def _column(values: Sequence[float | str], notation: Notation) -> pa.Array:
    if notation != "number":
        return pa.array([None if one != one else written(float(one), notation) for one in values], pa.string())
    if values and all(isinstance(one, float) and one.is_integer() and abs(one) <= LARGEST_WHOLE for one in values):
        return pa.array([int(one) for one in values])
    return pa.array(values)
