"""Workloads that papers measure their releases by and no command of ours asks for, and queries as SQL for databases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.analyst.workload import any_one, check_number, ranges_on
from discreet.errors import DiscreetError
from discreet.randomness import generator
from discreet.table.grouping import GroupBy
from discreet.table.query import Condition, OneOf, Query, Range
from discreet.table.table import Column, Table
from discreet.table.texts import MISSING, number_text

SELECTIVITIES = {"Query-1": 0.01, "Query-2": 0.05, "Query-3": 0.1}
"""The three workloads of GROUP BY counts in "Ambiguity"."""
TOLERANCE = 1.5
"""The largest factor by which the share of a run may differ from the selectivity."""

# ------------------------------------------------------------------------------------------------------------ GROUP BY


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


# ------------------------------------------------------------------------------------------------------------ prefixes


def prefix_workload(
    table: Table,
    *,
    prefix: str | None = None,
    dimensionality: int | None = None,
    sensitive: float = 0.5,
    number: int = 1_000,
    seed: int | None = 0,
) -> list[Query]:
    """Random prefix queries, as in Section 5.2 of "One-off Disclosure Control by Heterogeneous Generalization" (USENIX
    Security 2022): how many people up to this level of one attribute have exactly these values of some others?

    A query has a prefix, all values from the lowest of the domain up to a random one, on an attribute with an order; a
    single value on each of some other quasi-identifiers; and, if there is one, a range on the sensitive attribute.
    Values drawn one by one rarely occur together, so those of a query are the values of a random row, and the prefix
    ends anywhere in its domain. Then some queries select nobody, and are dropped and counted as in other workloads.

    ``prefix`` is the attribute with the prefix, by default the first quasi-identifier that has an order.
    ``dimensionality`` is the number of quasi-identifiers in a query, that one included, by default 3 or as many as
    there are. ``sensitive`` is the share of the sensitive attribute's domain that its range covers.
    """
    ordered = [column for column in table.quasi if column.kind != "categorical"]
    first = next((column for column in ordered if prefix in (None, column.name)), None)
    if first is None:
        named = f"the quasi-identifier {prefix!r}" if prefix is not None else "a quasi-identifier"
        raise DiscreetError(
            f"a prefix needs {named} to be numeric or ordinal, and this table has "
            f"{', '.join(column.name for column in ordered) or 'none'}; choose one of those, or another workload"
        )
    others = [column for column in table.quasi if column is not first]
    dimensionality = min(3, len(table.quasi)) if dimensionality is None else dimensionality
    if not 1 <= dimensionality <= len(table.quasi):
        raise DiscreetError(
            f"a query cannot have conditions on {dimensionality} of the {len(table.quasi)} quasi-identifiers of this "
            f"table; choose a dimensionality from 1 to {len(table.quasi)}"
        )
    if not 0 < sensitive <= 1:
        raise DiscreetError(f"a share of the sensitive domain must lie above 0 and at most at 1, not at {sensitive}")
    check_number(number)
    chance = generator(seed)
    last = [] if table.sensitive_attribute is None else [ranges_on(table.sensitive_attribute, chance)]
    queries = []
    for _ in range(number):
        row = int(chance.integers(table.rows))
        chosen = np.sort(chance.permutation(len(others))[: dimensionality - 1]).tolist()
        singles = [_single(others[at], row) for at in chosen]
        queries.append(Query((_prefix(first, chance), *singles, *(draw(sensitive) for draw in last))))
    return queries


def _prefix(column: Column, chance: np.random.Generator) -> Condition:
    """All values up to a random one that occurs."""
    known = [value for code, value in enumerate(column.values.tolist()) if code != column.missing]
    end = int(chance.integers(len(known)))
    if column.kind == "ordinal":
        return OneOf(column.name, tuple(map(str, known[: end + 1])))
    low = known[0] if column.domain is None else column.domain[0]
    return Range(column.name, float(low), float(known[end]))


def _single(column: Column, row: int) -> Condition:
    """The value of a row; where it is missing, the lowest that is not."""
    code = int(column.codes[row])
    value = column.values[code if code != column.missing else (code + 1) % len(column.values)]
    return OneOf(column.name, (float(value),) if column.kind == "numeric" else (str(value),))


# ----------------------------------------------------------------------------------------------------------------- SQL


def sql_text(query: Query, table: str = "t") -> str:
    """Write a query as SQL for a database.

    Ranges of an ordinal attribute of texts are not supported: a database would compare them alphabetically.
    """
    parts: list[str] = []
    for condition in query.conditions:
        name = _quoted(condition.attribute, '"')
        if isinstance(condition, OneOf):
            listed = ", ".join(_literal(value) for value in condition.values)
            parts.append(f"{name} IN ({listed})" if listed else "1 = 0")
            continue
        if condition.low is None and condition.high is None:
            parts.append(f"{name} IS NOT NULL")
        if condition.low is not None:
            parts.append(f"{name} {'>' if condition.low_open else '>='} {_literal(condition.low)}")
        if condition.high is not None:
            parts.append(f"{name} {'<' if condition.high_open else '<='} {_literal(condition.high)}")
    return f"SELECT COUNT(*) FROM {table}" + (f" WHERE {' AND '.join(parts)}" if parts else "")


def _quoted(text: str, mark: str) -> str:
    return mark + text.replace(mark, 2 * mark) + mark


def _literal(value: float | str) -> str:
    return _quoted(value, "'") if isinstance(value, str) else number_text(value)
