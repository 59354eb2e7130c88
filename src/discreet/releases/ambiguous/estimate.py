"""Estimate how many rows of an ambiguous release satisfy a query.

Within a group nothing is published about which values belong to the same row, so they are taken as independent. The
estimate is the sum over groups of

    (rows of the group whose sensitive value satisfies its conditions; of several sensitive attributes the first)
    x (for each further one: the share of the group's rows whose value satisfies its conditions)
    x (for each auxiliary table: the share of the group's rows that satisfies the conditions on its attributes),

as in Example 6.1 of "Ambiguity: Hide the Presence of Individuals and Their Privacy with Low Information Loss" (COMAD
2008); its Algorithm 1 adds what has to be multiplied. How many of a group's rows have each of its entries is not
published. The estimators assume

``product``   the same number for all entries, as in the paper: the share is that of the entries;
``weighted``  more rows for entries that are common in the table, and at least one each. How common an entry is follows
              from the groups that list it, see `discreet.releases.ambiguous.weights`;
``auto``      weighted if there are at least 100 groups to judge from, which is then far closer to the truth in most
              workloads (`python -m benchmarks ambiguity`); otherwise as in the paper.

Withheld rows are neither in the release nor in the estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.options import checked
from discreet.principles.counts import Counts
from discreet.releases.canonical import line_keys
from discreet.releases.columns import ExactColumn
from discreet.releases.exact_rows import codes_found, lines_at
from discreet.table.moments import Meaning
from discreet.table.query import Condition, Query
from discreet.table.table import Column

if TYPE_CHECKING:
    from discreet.releases.ambiguous.release import AmbiguousRelease

Estimator = Literal["auto", "product", "weighted"]
Conditions = tuple[tuple[Condition, ...], ...]
"""The conditions on each attribute of a table."""
Floats = NDArray[np.float64]

ENOUGH = 100
"""How many groups are needed to infer how common an entry is."""
LINES = 1 << 11
"""How many different conditions are evaluated together."""
MARKS = 1 << 26
"""About how many marks of values that satisfy conditions are kept at a time."""
ROOM = 1 << 22
"""How many shares of groups are kept at a time."""


def expected_counts(
    release: AmbiguousRelease, queries: Sequence[Query], estimator: Estimator = "auto"
) -> NDArray[np.float64]:
    """The expected number of published rows that satisfy each query."""
    checked("estimator", estimator, Estimator)
    weighted = estimator == "weighted" or (estimator == "auto" and release.groups >= ENOUGH)
    for query in queries:
        for name in query.by_attribute:
            release.attribute(name)
    return np.concatenate(
        [np.zeros(0), *(_summed(release, *batch) for batch in _batches(_tables(release, weighted), queries))]
    )


def _tables(release: AmbiguousRelease, weighted: bool) -> list[_Table]:
    """The tables of sensitive values, followed by the auxiliary tables."""
    kinds = {attribute.name: attribute.meaning for attribute in release.attributes}
    tables: list[_Table] = []
    for attribute, (values, counts) in zip(release.sensitive, release.counted, strict=True):

        def amounts(counts: Counts = counts) -> NDArray[np.int64]:
            return counts.amounts

        secret = (ExactColumn(values, counts.values),)
        # the first table counts rows, of which all others tell shares
        tables.append(_Table((attribute.name,), secret, kinds, counts.groups, amounts, bool(tables)))
    for at, (block, auxiliary) in enumerate(zip(release.blocks, release.auxiliaries, strict=True)):

        def weights(at: int = at, entries: int = len(auxiliary.groups)) -> Floats:
            return release.weights[at] if weighted else np.ones(entries)

        tables.append(_Table(block, auxiliary.columns, kinds, auxiliary.groups, weights, True))
    return tables


def contingency(release: AmbiguousRelease, column: Column, spread: bool) -> Floats:
    """The number of rows with each value of a quasi-identifier and each sensitive value, in groups that list it."""
    from scipy.sparse import csr_array

    at = next(at for at, block in enumerate(release.blocks) if column.name in block)
    auxiliary, counts = release.auxiliaries[at], release.counts
    listed = auxiliary.columns[release.blocks[at].index(column.name)]
    shares = release.weights[at] if release.groups >= ENOUGH else np.ones(len(auxiliary.groups))
    shares = shares / np.bincount(auxiliary.groups, shares, release.groups)[auxiliary.groups]
    shape = (len(listed.values), release.groups)
    covers = csr_array((shares, (listed.codes, auxiliary.groups)), shape=shape)
    if not spread:
        covers.data[:] = 1.0  # a value that several entries of a group have was summed above, and counts once
    held = covers @ csr_array((counts.amounts, counts.values, counts.starts), shape=(release.groups, counts.width))
    return lines_at(held.toarray(), codes_found(release.attribute(column.name), listed, column.values))


Asked = list[list[tuple[int, int]]]
"""For each query, the tables it has conditions on, each with the index of the line that answers them."""


def _batches(tables: list[_Table], queries: Sequence[Query]) -> Iterator[tuple[list[_Lines], Asked]]:
    """Batches of queries, each with its distinct conditions per table: few, however many queries there are."""
    places: list[dict[Conditions, int]] = [{} for _ in tables]
    asked: Asked = []

    def lines() -> list[_Lines]:
        return [_Lines(table, list(of)) for table, of in zip(tables, places, strict=True)]

    marks = 0
    for query in queries:
        given = query.by_attribute
        asked.append([])
        for at, table in enumerate(tables):
            conditions = tuple(given.get(name, ()) for name in table.names)
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
    """The answers to a batch of queries: the product over tables, summed over groups in portions."""
    from discreet.kernels.products import add_products

    # line 0 contains the sizes of groups, the lines of the first table parts of these sizes, all others shares
    places = 1 + np.concatenate([[0], np.cumsum([of.number for of in lines])])
    factors = [[0] * (not pairs or pairs[0][0] > 0) + [places[at] + line for at, line in pairs] for pairs in asked]
    starts = np.concatenate([[0], np.cumsum([len(of_query) for of_query in factors])])
    flat = np.array([factor for of_query in factors for factor in of_query], np.int64)
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
    """One published table: the groups of its entries in ascending order, and the weight of each entry."""

    def __init__(
        self,
        names: tuple[str, ...],
        columns: tuple[ExactColumn, ...],
        kinds: Mapping[str, Meaning],
        groups: NDArray[np.integer],
        weigh: Callable[[], Floats | NDArray[np.int64]],
        shares: bool,
    ) -> None:
        """``weigh`` is called once a query needs the table; with ``shares``, weights are shares of their group."""
        self.names, self.kinds, self.groups, self.shares, self._weigh = names, kinds, groups, shares, weigh
        self.columns = columns
        self.held: list[NDArray[np.integer]] = [np.arange(len(columns[0].values))]
        self.combinations = columns[0].codes
        if len(columns) > 1:
            keys = line_keys(columns, len(groups))
            _, first, place = np.unique(keys, return_index=True, return_inverse=True)
            self.held, self.combinations = [column.codes[first] for column in columns], place.astype(np.int32)

    @property
    def width(self) -> int:
        """The number of distinct values, or combinations of values, of the entries."""
        return len(self.held[0])

    @cached_property
    def weights(self) -> Floats:
        """The weight of each entry."""
        return self._weigh().astype(np.float64)

    def admits(self, conditions: Conditions) -> NDArray[np.bool_]:
        """Which combinations of values satisfy the conditions."""
        result = np.ones(self.width, np.bool_)
        for name, column, held, on in zip(self.names, self.columns, self.held, conditions, strict=True):
            for condition in on:
                result &= condition.admits(column.values, self.kinds[name])[held]
        return result


class _Lines:
    """For each of some conditions, one line: the total weight, per group, of a table's entries that satisfy them."""

    def __init__(self, table: _Table, conditions: Sequence[Conditions]) -> None:
        """Values that satisfy the same conditions share their marks, so that marks stay few."""
        self.table, self.number = table, len(conditions)
        if conditions:
            admitted = np.stack([table.admits(each) for each in conditions])
            _, first, kind = np.unique(np.packbits(admitted, axis=0), axis=1, return_index=True, return_inverse=True)
            self.marks = np.ascontiguousarray(admitted[:, first].T, np.float64)
            self.kinds = kind.ravel().astype(np.int32)[table.combinations]

    def within(self, first: int, last: int, lines: Floats) -> None:
        """Add the lines for groups ``first`` to ``last - 1`` to ``lines``, which must be zero."""
        from discreet.kernels.products import add_up

        table = self.table
        if self.number:
            # bounds of the same type as the groups: otherwise searchsorted would convert all of these first
            part = slice(*np.searchsorted(table.groups, np.array([first, last], table.groups.dtype)))
            entries = table.groups[part], self.kinds[part], table.weights[part]
            add_up(*entries, self.marks, first, table.shares, lines)
