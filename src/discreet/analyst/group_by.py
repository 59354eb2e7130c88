"""Workloads of GROUP BY counts, and how accurately a release answers them.

They follow Query-1, Query-2 and Query-3 in Section 8.1 of "Ambiguity: Hide the Presence of Individuals and Their
Privacy with Low Information Loss" (COMAD 2008):

    SELECT Q1, ..., Qi, COUNT(*) FROM data WHERE S = v GROUP BY Q1, ..., Qi

with random quasi-identifiers, varying sensitive values v, and selectivities of 1, 5 and 10 %. The paper does not define
selectivity where a single value may be more or less frequent than that. Here it is the share of the table's rows that
satisfy the WHERE clause: v is a run of consecutive sensitive values (often a single one) that starts at a random value
and whose length brings its share as close to the selectivity as possible. Starts whose closest share is off by a factor
of more than 1.5 are skipped, unless all are.

The error of a query is the mean relative error of its cells. Cells that are empty in the original have no relative
error; they are dropped and counted. So rows that a release wrongly places in such cells do not count against it here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.analyst.queries import relative_errors
from discreet.analyst.workload import any_one
from discreet.errors import DiscreetError
from discreet.randomness import generator
from discreet.releases.release import Release
from discreet.table.grouping import GroupBy, occupied
from discreet.table.query import OneOf, Query
from discreet.table.table import Column, Table

SELECTIVITIES = {"Query-1": 0.01, "Query-2": 0.05, "Query-3": 0.1}
"""The three workloads of the paper."""
OFF = 1.5
"""The largest factor by which the share of a run may differ from the selectivity."""


@dataclass(frozen=True)
class GroupCells:
    """The cells of a workload that contain rows of the original, with their exact counts."""

    queries: list[Query]
    exact: NDArray[np.int64]
    of: NDArray[np.int64]
    """The index of each cell's GROUP BY count in the workload."""
    dropped: int
    """The number of cells that are empty in the original."""


@dataclass(frozen=True)
class GroupByResult:
    """The errors of a release on a GROUP BY workload, relative to exact counts; NaN if every cell is empty."""

    mean: float
    """The mean over queries of the mean relative error of a query's cells."""
    median: float
    """The median over queries of the mean relative error of a query's cells."""
    cells: int
    """The number of cells with a relative error."""
    dropped: int
    """The number of cells that are empty in the original."""

    def as_dict(self) -> dict[str, Any]:
        """The result as a mapping."""
        return asdict(self)


def group_by_workload(
    table: Table,
    *,
    dimensions: int | None = None,
    selectivity: float = 0.05,
    number: int = 20,
    seed: int | None = 0,
) -> list[GroupBy]:
    """Random GROUP BY counts on a table, reproducible by ``seed``.

    ``dimensions`` is the number of quasi-identifiers to group by, by default 2 or as many as there are;
    ``selectivity`` is the share of rows that satisfy the condition on the sensitive attribute (with several, one drawn
    at random), as nearly as its values allow.

    >>> from discreet.datasets import patients
    >>> [one.attributes for one in group_by_workload(patients(), number=2, seed=1)]
    [('age', 'zip'), ('age', 'sex')]
    """
    most = len(table.quasi)
    dimensions = min(2, most) if dimensions is None else dimensions
    if table.secret is None:
        raise DiscreetError("this workload has a condition on the sensitive attribute and the table has none")
    if not 1 <= dimensions <= most:
        raise DiscreetError(
            f"counts cannot be grouped by {dimensions} of the {most} quasi-identifiers of this table; choose a number "
            f"from 1 to {most}"
        )
    if not 0 < selectivity <= 1:
        raise DiscreetError(f"the selectivity must lie between 0 and 1, and {selectivity} does not; try 0.05")
    if number < 1:
        raise DiscreetError(f"a workload needs at least one query, not {number}")
    chance = generator(seed)
    each = [(column, column.values.tolist(), _runs(column, selectivity)) for column in table.sensitive]
    found = []
    for _ in range(number):
        chosen = np.sort(chance.permutation(most)[:dimensions]).tolist()
        [(column, values, runs)] = any_one(each, chance)
        first, after = runs[int(chance.integers(len(runs)))]
        condition = OneOf(column.name, tuple(values[first:after]))
        found.append(GroupBy(tuple(table.quasi_names[axis] for axis in chosen), Query((condition,))))
    return found


def cells_of(table: Table, wanted: Sequence[GroupBy], most: int | None = None, seed: int | None = 0) -> GroupCells:
    """The cells of GROUP BY counts that contain rows of a table: at most ``most`` per count, drawn at random.

    >>> from discreet.datasets import patients
    >>> cells = cells_of(patients(), [GroupBy(("sex",)), GroupBy(("sex", "zip"), Query(OneOf("sex", "F")))])
    >>> cells.exact[cells.of == 0].tolist(), cells.dropped
    ([24, 24], 0)
    """
    chance = generator(seed)
    queries: list[Query] = []
    exact, of, dropped = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    for at, counts in enumerate(wanted):
        codes, amounts = occupied(table, counts.attributes, counts.query)
        columns = [table.column(name) for name in counts.attributes]
        known = {column.name: column.values for column in columns}
        grid = counts.grid(known, {column.name: column.meaning for column in columns}, limited=False)
        dropped += grid.size - len(amounts)
        if most is not None and len(amounts) > most:
            some = np.sort(chance.permutation(len(amounts))[:most])
            codes, amounts = [of_column[some] for of_column in codes], amounts[some]
        held = [column.values[place].tolist() for column, place in zip(columns, codes, strict=True)]
        queries += [grid.query(cell) for cell in (zip(*held, strict=True) if held else [()])]
        exact.append(amounts)
        of.append(np.full(len(amounts), at))
    return GroupCells(queries, np.concatenate(exact), np.concatenate(of), dropped)


def run_group_by(release: Release, cells: GroupCells) -> GroupByResult:
    """The errors of a release's GROUP BY counts.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> cells = cells_of(patients(), group_by_workload(patients(), number=5))
    >>> run_group_by(dc.publish(patients(), dc.KAnonymity(1)), cells).mean
    0.0
    """
    errors = relative_errors(release.estimates(cells.queries), cells.exact)
    there = ~np.isnan(errors)
    number = np.bincount(cells.of[there])
    totals = np.bincount(cells.of[there], errors[there])[number > 0] / number[number > 0]
    mean, median = (float(totals.mean()), float(np.median(totals))) if len(totals) else (math.nan, math.nan)
    return GroupByResult(mean, median, int(there.sum()), cells.dropped)


def _runs(column: Column, selectivity: float) -> list[tuple[int, int]]:
    """The runs of sensitive values to draw from, each as its first code and the code after its last."""
    counts = np.bincount(column.codes, minlength=len(column.values)).astype(np.int64)
    if column.missing is not None:
        counts[column.missing] = 0
    held = np.flatnonzero(counts)
    if not len(held):
        raise DiscreetError(f"no row of the table has a value of {column.name!r}, so nothing can be asked of it")
    sums = np.concatenate(([0], np.cumsum(counts[held])))
    first, wanted = np.arange(len(held)), selectivity * len(column.codes)
    # the shortest run with enough rows, and one value less or more, whichever comes closest
    ends = np.searchsorted(sums, sums[:-1] + wanted)[:, None] + np.array([-1, 0, 1])
    ends = np.clip(ends, first[:, None] + 1, len(held))
    off = np.abs(np.log((sums[ends] - sums[first, None]) / wanted))
    nearest = np.argmin(off, axis=1)
    end, off = ends[first, nearest], off[first, nearest]
    near = np.flatnonzero(off <= math.log(OFF))
    taken = near if len(near) else np.array([int(np.argmin(off))])
    return list(zip(held[taken].tolist(), (held[end[taken] - 1] + 1).tolist(), strict=True))
