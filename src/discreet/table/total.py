"""Sums and means of a column of numbers over the rows that satisfy a query: ``SELECT SUM(weight) FROM t WHERE ...``.

As in SQL, rows without a number are left out. The mean of no rows is not a number.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.options import checked
from discreet.table.floors import cells_in
from discreet.table.query import HasTree, Query, as_query, lacking
from discreet.table.table import Table, as_name


@dataclass(frozen=True)
class Measure:
    """What is computed of a column of numbers.

    >>> str(Measure("weight")), str(Measure("wage", mean=True))
    ("SUM('weight')", "AVG('wage')")
    """

    attribute: str
    mean: bool = False
    """Whether the mean is asked for, not the sum."""

    def __post_init__(self) -> None:
        """Refuse what names no column."""
        as_name(self.attribute)
        checked("mean", self.mean, bool)

    def __str__(self) -> str:
        """What SQL calls it."""
        return f"{'AVG' if self.mean else 'SUM'}({self.attribute!r})"

    @property
    def heading(self) -> str:
        """The default heading of its column in an answer."""
        return f"{'avg' if self.mean else 'sum'}_{self.attribute}"

    def check(self, column: HasTree) -> None:
        """Raise if a column holds no numbers that can be added."""
        if column.meaning == "numeric":
            return
        bins = column.fit is not None and bool(column.fit.edges)
        what = "is published in bins" if bins else "holds no numbers"
        raise DiscreetError(
            f"column {column.name!r} {what}, so it has no {'mean' if self.mean else 'sum'}; ask for counts of its "
            "values instead",
            column.name,
        )

    def of_rows(
        self, table: Table, rows: NDArray[np.bool_], cells: NDArray[np.intp], number: int
    ) -> NDArray[np.float64]:
        """Return the sum or the mean of marked rows of a table in each of a number of cells."""
        column = table.column(self.attribute)
        self.check(column)
        numbers = amounts(column, np.asarray(column.values))[column.codes]
        rows = rows & ~np.isnan(numbers)
        unusable = lacking(table, column)
        if unusable is not None:
            rows[unusable] = False
        sums = np.bincount(cells[rows], numbers[rows], number).astype(np.float64)
        return quotients(sums, np.bincount(cells[rows], minlength=number)) if self.mean else sums


@dataclass(frozen=True)
class Total:
    """A request for the sum or the mean of a column of numbers over the rows that satisfy a query.

    >>> from discreet.datasets import patients
    >>> Total(Measure("age", mean=True)).of(patients())
    48.604166666666664
    """

    measure: Measure
    query: Query = field(default_factory=Query)

    def __post_init__(self) -> None:
        """Accept the name of a column to be added up."""
        if isinstance(self.measure, str):
            object.__setattr__(self, "measure", Measure(self.measure))
        checked("measure", self.measure, Measure)
        as_query(self.query)

    def over(self, query: Query) -> Total:
        """Return the same for another query."""
        return replace(self, query=query)

    def of(self, table: Table) -> float:
        """Compute it exactly from the rows of a table."""
        cells = np.zeros(table.rows, np.intp)
        return float(self.measure.of_rows(table, self.query.satisfied(table), cells, 1)[0])


def amounts(column: HasTree, values: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return what the numbers of a column count as: the places of cells with a floor as the middles of these cells.

    >>> from discreet.table.floors import Cells
    >>> from discreet.table.table import Column
    >>> cells, none = Cells("number", "5"), np.zeros(0, np.int32)
    >>> age = Column("age", "numeric", none, np.arange(3), None, (0, 2), notation=cells, floor="5")
    >>> amounts(age, np.array([0.0, 1.0])).tolist()
    [2.0, 7.0]
    """
    numbers, cells = np.asarray(values, np.float64), cells_in(column.notation)
    return numbers if cells is None else (cells.first(numbers) + cells.last(numbers)) / 2.0


def quotients(sums: NDArray[np.float64], counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return means, which are no numbers where nothing was counted."""
    return np.asarray(np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0))
