"""How many rows of an ambiguous release satisfy a query, as far as its separate tables let one say.

Within a group nothing is known about which values belong to the same row, so they are taken to be independent. The
estimate is the sum over groups of

    (rows of the group whose sensitive value satisfies its conditions)
    x (for each auxiliary table: the share of the group's rows that satisfies the conditions on its attributes),

as in Example 6.1 of "Ambiguity: Hide the Presence of Individuals and Their Privacy with Low Information Loss" (COMAD
2008); its Algorithm 1 adds what has to be multiplied. How many of a group's rows hold each of its entries is not
published. It is taken to be

``product``   the same for all entries, as in the paper: the share is that of the entries;
``weighted``  more for entries that are common in the table, each at least once. How common an entry is, is judged from
              the groups that show it, see `discreet.releases.ambiguous.weights`;
``auto``      weighted if there are 100 groups or more to judge from, which is then far closer to the truth in most
              workloads (`python -m benchmarks ambiguity`), and else as in the paper.

Withheld rows are not in the release and not in the estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.releases.columns import ExactColumn
from discreet.table.combinations import numbered
from discreet.table.moments import Meaning
from discreet.table.query import Condition, Query
from discreet.table.texts import near

if TYPE_CHECKING:
    from discreet.releases.ambiguous.release import AmbiguousRelease

Estimator = Literal["auto", "product", "weighted"]
Conditions = tuple[tuple[Condition, ...], ...]
"""The conditions on each attribute of a table."""
Floats = NDArray[np.float64]

ENOUGH = 100
"""How many groups it takes to judge from them how common an entry is."""
LINES = 1 << 11
"""How many different conditions on tables are answered together."""
MARKS = 1 << 26
"""How many marks of values that satisfy conditions are held at a time, about."""
ROOM = 1 << 22
"""How many shares of groups are held at a time."""


def expected_counts(
    release: AmbiguousRelease, queries: Sequence[Query], estimator: Estimator = "auto"
) -> NDArray[np.float64]:
    """How many published rows are expected to satisfy each query."""
    if estimator not in get_args(Estimator):
        raise DiscreetError(f"estimator={estimator!r} is not known; choose {', '.join(get_args(Estimator))}")
    weighted = estimator == "weighted" or (estimator == "auto" and release.groups >= ENOUGH)
    kinds = {attribute.name: attribute.meaning for attribute in release.attributes}
    for query in queries:
        for name in query.by_attribute:
            if name not in kinds:
                raise DiscreetError(f"there is no column {name!r} in the release; {near(name, kinds)}")
    return np.concatenate(
        [np.zeros(0), *(_summed(release, *batch) for batch in _batches(_tables(release, weighted), queries))]
    )


def _tables(release: AmbiguousRelease, weighted: bool) -> list[_Table]:
    """The table of sensitive values and the auxiliary ones."""
    kinds = {attribute.name: attribute.meaning for attribute in release.attributes}
    counts = release.counts
    secret = (ExactColumn(release.values, counts.values),)
    tables = [_Table((release.sensitive.name,), secret, kinds, counts.groups, lambda: counts.amounts, False)]
    for at, (block, auxiliary) in enumerate(zip(release.blocks, release.auxiliaries, strict=True)):

        def weights(at: int = at, entries: int = len(auxiliary.groups)) -> Floats:
            return release.weights[at] if weighted else np.ones(entries)

        tables.append(_Table(block, auxiliary.columns, kinds, auxiliary.groups, weights, True))
    return tables


Asked = list[list[tuple[int, int]]]
"""Per query: the tables that it has conditions on, and which of the lines of these answer it."""


def _batches(tables: list[_Table], queries: Sequence[Query]) -> Iterator[tuple[list[_Lines], Asked]]:
    """Queries whose conditions are answered together. Few conditions are distinct, however many queries there are."""
    places: list[dict[Conditions, int]] = [{} for _ in tables]
    asked: Asked = []

    def lines() -> list[_Lines]:
        return [_Lines(table, list(of)) for table, of in zip(tables, places, strict=True)]

    marks = 0
    for query in queries:
        own = query.by_attribute
        asked.append([])
        for at, table in enumerate(tables):
            conditions = tuple(own.get(name, ()) for name in table.names)
            if any(conditions):
                if conditions not in places[at]:
                    marks += table.width
                asked[-1].append((at, places[at].setdefault(conditions, len(places[at]))))
        if sum(map(len, places)) >= LINES or marks >= MARKS:
            yield lines(), asked
            places, asked, marks = [{} for _ in tables], [], 0
    if asked:
        yield lines(), asked


def _summed(release: AmbiguousRelease, lines: list[_Lines], asked: Asked) -> Floats:
    """The answers to a batch of queries: over groups, some at a time, the product of what each table says."""
    from discreet.kernels.multiplying import add_products

    # the first line tells the rows of groups, those of the first table some of these, the others shares of them
    places = 1 + np.concatenate([[0], np.cumsum([of.number for of in lines])])
    factors = [[0] * (not own or own[0][0] > 0) + [places[table] + line for table, line in own] for own in asked]
    starts = np.concatenate([[0], np.cumsum([len(own) for own in factors])])
    flat = np.array([factor for own in factors for factor in own], np.int64)
    step = max(1, ROOM // int(places[-1]))
    results = np.zeros(len(asked))
    for first in range(0, release.groups, step):
        last = min(first + step, release.groups)
        known = np.zeros((places[-1], last - first))
        known[0] = release.sizes[first:last]
        for of, place in zip(lines, places[:-1], strict=True):
            of.within(first, last, known[place : place + of.number])
        add_products(known, starts, flat, results)
    return results


class _Table:
    """One published table: the groups of its entries in ascending order, and what each entry weighs."""

    def __init__(
        self,
        names: tuple[str, ...],
        columns: tuple[ExactColumn, ...],
        kinds: Mapping[str, Meaning],
        groups: NDArray[np.integer],
        weigh: Callable[[], Floats | NDArray[np.int64]],
        shares: bool,
    ) -> None:
        """``weigh`` is called when a query asks for the table; ``shares``: whether to tell shares of groups."""
        self.names, self.kinds, self.groups, self.shares, self._weigh = names, kinds, groups, shares, weigh
        self.columns = columns
        self.held: list[NDArray[np.integer]] = [np.arange(len(columns[0].values))]
        self.combinations = columns[0].codes
        if len(columns) > 1:
            keys = numbered([one.codes for one in columns], [len(one.values) for one in columns], len(groups))
            _, first, place = np.unique(keys, return_index=True, return_inverse=True)
            self.held, self.combinations = [one.codes[first] for one in columns], place.astype(np.int32)

    @property
    def width(self) -> int:
        """How many values, or combinations of these, entries have."""
        return len(self.held[0])

    @cached_property
    def weights(self) -> Floats:
        """What each entry weighs."""
        return self._weigh().astype(np.float64)

    def admits(self, conditions: Conditions) -> NDArray[np.bool_]:
        """The combinations of values that satisfy conditions."""
        result = np.ones(self.width, np.bool_)
        for name, column, held, on in zip(self.names, self.columns, self.held, conditions, strict=True):
            for condition in on:
                result &= condition.admits(column.values, self.kinds[name])[held]
        return result


class _Lines:
    """What the entries of a table that satisfy some conditions weigh in each group, a line for each of these."""

    def __init__(self, table: _Table, conditions: Sequence[Conditions]) -> None:
        """Values that the same conditions admit are taken together, so that few marks serve however many values."""
        self.table, self.number = table, len(conditions)
        if conditions:
            admitted = np.stack([table.admits(one) for one in conditions])
            _, first, kind = np.unique(np.packbits(admitted, axis=0), axis=1, return_index=True, return_inverse=True)
            self.marks = np.ascontiguousarray(admitted[:, first].T, np.float64)
            self.kinds = kind.ravel().astype(np.int32)[table.combinations]

    def within(self, first: int, last: int, lines: Floats) -> None:
        """The lines for some of the groups, into zeros."""
        from discreet.kernels.multiplying import add_up

        table = self.table
        if self.number:
            # numbers of the type that groups have: else these would all be changed into the other type for the search
            part = slice(*np.searchsorted(table.groups, np.array([first, last], table.groups.dtype)))
            entries = table.groups[part], self.kinds[part], table.weights[part]
            add_up(*entries, self.marks, first, table.shares, lines)
