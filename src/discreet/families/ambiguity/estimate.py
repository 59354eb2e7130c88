"""Estimate how many rows of an ambiguous release satisfy a query.

Within a group nothing is published about which values belong to the same row, so they are taken as independent. The
estimate is the sum over groups of

    (rows of the group whose sensitive value satisfies its conditions; of several sensitive attributes the first)
    x (for each further one: the share of the group's rows whose value satisfies its conditions)
    x (for each auxiliary table: the share of the group's rows that satisfies the conditions on its attributes),

as in Example 6.1 of "Ambiguity: Hide the Presence of Individuals and Their Privacy with Low Information Loss" (COMAD
2008); its Algorithm 1 adds what has to be multiplied. How many of a group's rows have each of its entries is not
published. The estimators (``ESTIMATORS``) assume

``product``   the same number for all entries, as in the paper: the share is that of the entries;
``weighted``  more rows for entries that are common in the table, and at least one each. How common an entry is follows
              from the groups that list it, see `discreet.families.ambiguity.weights`;
``auto``      weighted if there are at least 100 groups to judge from, which is then far closer to the truth in most
              workloads (`python -m benchmarks ambiguity`); otherwise as in the paper.

Withheld rows are neither in the release nor in the estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.families.ambiguity.kernels.products import add_products, add_up
from discreet.releases.canonical import line_keys
from discreet.releases.columns import ExactColumn
from discreet.releases.exact_rows import codes_found, lines_at
from discreet.table.combinations import ranked
from discreet.table.query import Condition, Query
from discreet.table.table import Column

if TYPE_CHECKING:
    from discreet.families.ambiguity.release import AmbiguousRelease

ESTIMATORS = {
    "product": "all entries of a group have equally many of its rows, and shares are multiplied, as in the paper",
    "weighted": "as product, but entries that are common in the table have more rows",
}
Conditions = tuple[tuple[Condition, ...], ...]
"""The conditions on each attribute of a table."""
Floats = NDArray[np.float64]

ENOUGH = 100
"""How many groups are needed to infer how common an entry is."""
LINES = 1 << 11
"""How many different conditions are evaluated together, at most."""
ROOM = 1 << 23
"""How many shares of groups are kept at a time."""


def expected_counts(release: AmbiguousRelease, queries: Sequence[Query], estimator: str) -> Floats:
    """The expected number of published rows that satisfy each query.

    Distinct conditions are few, however many queries there are. Each is evaluated once, for many of them together.
    """
    for query in queries:
        for name in query.by_attribute:
            release.attribute(name)
    tables = _tables(release, estimator == "weighted")
    most = min(LINES, ROOM // max(1, release.groups))
    lines: dict[tuple[int, Conditions], int] = {}
    factors: list[list[int]] = []
    results = [np.zeros(0)]
    for query in queries:
        given = query.by_attribute
        factors.append([])
        for at, table in enumerate(tables):
            conditions = tuple(given.get(name, ()) for name in table.names)
            if any(conditions):
                factors[-1].append(lines.setdefault((at, conditions), len(lines) + 1))
            elif at == 0:
                factors[-1].append(0)  # the sizes of groups
        if len(lines) >= most:
            results.append(_summed(release, tables, lines, factors))
            lines, factors = {}, []
    return np.concatenate([*results, _summed(release, tables, lines, factors)])


def _summed(
    release: AmbiguousRelease, tables: list[_Table], lines: dict[tuple[int, Conditions], int], factors: list[list[int]]
) -> Floats:
    """For each query, the product of its factors, summed over groups; ``lines`` numbers what factors say of groups."""
    known = np.zeros((len(lines) + 1, release.groups))
    known[0] = release.sizes
    for at, table in enumerate(tables):
        own = {conditions: line for (of, conditions), line in lines.items() if of == at}
        if own:
            known[list(own.values())] = table.weigh(list(own))
    starts = np.concatenate([[0], np.cumsum([len(of_query) for of_query in factors], dtype=np.int64)])
    results = np.zeros(len(factors))
    add_products(known, starts, np.array([line for of_query in factors for line in of_query], np.int64), results)
    return results


def _tables(release: AmbiguousRelease, weighted: bool) -> list[_Table]:
    """The tables of sensitive values, of which the first counts rows, and the auxiliary tables."""
    tables: list[_Table] = []
    for attribute, (values, counts) in zip(release.sensitive, release.counted, strict=True):
        amounts = partial(counts.amounts.astype, np.float64)
        column = ExactColumn(values, counts.values)
        tables.append(_Table(release, (attribute.name,), (column,), counts.groups, amounts, bool(tables)))
    for at, (block, (groups, columns)) in enumerate(zip(release.blocks, release.auxiliaries, strict=True)):
        weights = partial(release.weights.__getitem__, at) if weighted else partial(np.ones, len(groups))
        tables.append(_Table(release, block, columns, groups, weights, True))
    return tables


class _Table:
    """One published table: the groups of its entries in ascending order, and the weight of each entry."""

    def __init__(
        self,
        release: AmbiguousRelease,
        names: tuple[str, ...],
        columns: tuple[ExactColumn, ...],
        groups: NDArray[np.integer],
        weights: Callable[[], Floats],
        shares: bool,
    ) -> None:
        """``weights`` is called once a query needs the table; with ``shares``, they are shares of their group."""
        self.names, self.columns, self.groups, self.shares, self.weights = names, columns, groups, shares, weights
        self.kinds, self.number = [release.attribute(name).meaning for name in names], release.groups
        _, first, self.combinations = ranked(line_keys(columns, len(groups)))
        self.held = [column.codes[first] for column in columns]

    def admits(self, conditions: Conditions) -> NDArray[np.bool_]:
        """Which combinations of values satisfy the conditions."""
        result = np.ones(len(self.held[0]), np.bool_)
        for kind, column, held, on in zip(self.kinds, self.columns, self.held, conditions, strict=True):
            for condition in on:
                result &= condition.admits(column.values, kind)[held]
        return result

    def weigh(self, conditions: Sequence[Conditions]) -> Floats:
        """For each of some conditions, the total weight, per group, of the entries that satisfy them."""
        admitted = np.stack([self.admits(each) for each in conditions])
        # values that satisfy the same conditions share their marks, so that marks stay few
        _, first, kind = np.unique(np.packbits(admitted, axis=0), axis=1, return_index=True, return_inverse=True)
        marks = np.ascontiguousarray(admitted[:, first].T, np.float64)
        kinds = kind.ravel().astype(np.int32)[self.combinations]
        lines = np.zeros((len(conditions), self.number))
        add_up(self.groups, kinds, self.weights(), marks, 0, self.shares, lines)
        return lines


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
