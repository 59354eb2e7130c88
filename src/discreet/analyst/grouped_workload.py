"""Workloads of GROUP BY counts, as "Ambiguity" (COMAD 2008) measures its releases by them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.analyst.workload import any_one, check_number
from discreet.errors import DiscreetError
from discreet.randomness import generator
from discreet.table.grouping import GroupBy
from discreet.table.query import OneOf, Query
from discreet.table.table import Column, Table
from discreet.table.texts import MISSING

SELECTIVITIES = {"Query-1": 0.01, "Query-2": 0.05, "Query-3": 0.1}
"""The three workloads of GROUP BY counts in "Ambiguity"."""
TOLERANCE = 1.5
"""The largest factor by which the share of a run may differ from the selectivity."""


def group_by_workload(
    table: Table,
    *,
    dimensions: int | None = None,
    selectivity: float = 0.05,
    number: int = 20,
    seed: int | None = 0,
) -> list[GroupBy]:
    """Random GROUP BY counts, as in Section 8.1 of "Ambiguity: Hide the Presence of Individuals and Their Privacy with
    Low Information Loss" (COMAD 2008), reproducible by ``seed``:

        SELECT Q1, ..., Qi, COUNT(*) FROM data WHERE S = v GROUP BY Q1, ..., Qi

    The ``dimensions`` quasi-identifiers are random, 2 by default or as many as there are. The paper does not define
    selectivity where a single value may be more or less frequent than that. Here it is the share of the table's rows
    that satisfy the WHERE clause: v is a run of consecutive values of the sensitive attribute (with several, of one
    drawn at random) that starts at a random value and whose length brings its share as close to the selectivity as
    possible. Starts whose closest share is off by a factor of more than 1.5 are skipped, unless all are.
    """
    most = len(table.quasi)
    dimensions = min(2, most) if dimensions is None else dimensions
    if table.sensitive_attribute is None:
        raise DiscreetError("this workload has a condition on the sensitive attribute and the table has none")
    if not 1 <= dimensions <= most:
        raise DiscreetError(
            f"counts cannot be grouped by {dimensions} of the {most} quasi-identifiers of this table; choose a number "
            f"from 1 to {most}"
        )
    if not 0 < selectivity <= 1:
        raise DiscreetError(f"the selectivity must lie between 0 and 1, and {selectivity} does not; try 0.05")
    check_number(number)
    chance = generator(seed)
    each = [(column, column.values.tolist(), _runs(column, selectivity)) for column in table.sensitive]
    counts = []
    for _ in range(number):
        chosen = np.sort(chance.permutation(most)[:dimensions]).tolist()
        [(column, values, runs)] = any_one(each, chance)
        first, after = runs[int(chance.integers(len(runs)))]
        condition = OneOf(column.name, tuple(values[first:after]))
        counts.append(GroupBy(tuple(table.quasi_names[axis] for axis in chosen), Query((condition,))))
    return counts


def _runs(column: Column, selectivity: float) -> list[tuple[int, int]]:
    """The runs of sensitive values to draw from, each as its first code and the code after its last."""
    counts = np.bincount(column.codes, minlength=len(column.values)).astype(np.int64)
    if column.missing is not None:
        counts[column.missing] = 0
    held = np.flatnonzero(counts)
    if not len(held):
        raise DiscreetError(f"no row of the table has a value of {column.name!r}, so no query can ask for one")
    sums = np.concatenate(([0], np.cumsum(counts[held])))
    first, wanted = np.arange(len(held)), selectivity * len(column.codes)
    # the shortest run with enough rows, and one value less or more, whichever comes closest
    ends = np.searchsorted(sums, sums[:-1] + wanted)[:, None] + np.array([-1, 0, 1])
    ends = np.clip(ends, first[:, None] + 1, len(held))
    off = np.abs(np.log((sums[ends] - sums[first, None]) / wanted))
    nearest = np.argmin(off, axis=1)
    end, off = ends[first, nearest], off[first, nearest]
    near = np.flatnonzero(off <= math.log(TOLERANCE))
    taken = near if len(near) else np.array([int(np.argmin(off))])
    return list(zip(held[taken].tolist(), (held[end[taken] - 1] + 1).tolist(), strict=True))


@dataclass(frozen=True)
class GroupCells:
    """The cells of GROUP BY counts that contain rows of the original: others have no relative error."""

    queries: list[Query]
    exact: NDArray[np.int64]
    of: NDArray[np.int64]
    """The index of each cell's GROUP BY count in the workload."""


def cells_of(table: Table, wanted: Sequence[GroupBy], most: int | None = None, seed: int | None = 0) -> GroupCells:
    """The cells of GROUP BY counts that contain rows of a table: at most ``most`` per count, drawn at random."""
    chance = generator(seed)
    queries: list[Query] = []
    exact, of = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for at, counts in enumerate(wanted):
        *held, amounts = (column.to_pylist() for column in counts.count(table).columns)
        ordinal = [table.column(name).kind == "ordinal" for name in counts.attributes]
        cells = [
            (cell, amount)
            for *cell, amount in zip(*held, amounts, strict=True)
            if not any(one is None or (one == MISSING and ranked) for one, ranked in zip(cell, ordinal, strict=True))
        ]
        if most is not None and len(cells) > most:
            cells = [cells[place] for place in np.sort(chance.permutation(len(cells))[:most]).tolist()]
        rest = [one for one in counts.query.conditions if one.attribute not in counts.attributes]
        for cell, _ in cells:
            singles = [OneOf(name, (value,)) for name, value in zip(counts.attributes, cell, strict=True)]
            queries.append(Query((*rest, *singles)))
        exact.append(np.array([amount for _, amount in cells], np.int64))
        of.append(np.full(len(cells), at))
    return GroupCells(queries, np.concatenate(exact), np.concatenate(of))
