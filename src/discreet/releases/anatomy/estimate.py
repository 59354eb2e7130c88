"""Expected counts from the two tables of an anatomy release."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.principles.counts import Counts
from discreet.releases.canonical import line_keys
from discreet.table.query import Query

if TYPE_CHECKING:
    from discreet.releases.anatomy.release import AnatomyRelease
    from discreet.releases.counted import Counted

CELLS = 1 << 24
"""The largest table of points and sensitive values in which expected counts are kept for a batch of queries."""


class Points(NamedTuple):
    """The distinct combinations of the columns that are published unchanged."""

    of_row: NDArray[np.int64]
    """The index of each published row's combination."""
    codes: tuple[NDArray[np.int32], ...]
    """For each column, the code of each combination."""


def points_of(release: AnatomyRelease) -> Points:
    """The distinct combinations of quasi-identifiers and other columns of a release."""
    columns = release.columns.values()
    _, first, of_row = np.unique(line_keys([*columns], release.rows), return_index=True, return_inverse=True)
    return Points(of_row.astype(np.int64), tuple(column.codes[first] for column in columns))


def expected_counts(release: AnatomyRelease, queries: Sequence[Query]) -> NDArray[np.float64]:
    """The expected count of each query: each row that satisfies its other conditions counts with the share of the row's
    group that satisfies its condition on the sensitive attribute, or the product of the shares of several.

    Rows with the same combination are handled together. If combinations and sensitive values are few enough, expected
    counts are accumulated over the sensitive values beforehand, so that a range costs no more than a single value.
    """
    columns = release.columns
    points = points_of(release)
    number = len(points.codes[0]) if points.codes else min(1, release.rows)
    codes = dict(zip(columns, points.codes, strict=True))
    of_points = bearers(points.of_row, release.group_of, (number, release.groups))
    secrets = {
        attribute.name: _Shares(counted, of_points)
        for attribute, counted in zip(release.sensitive, release.counted, strict=True)
    }
    sizes = np.bincount(points.of_row, minlength=number).astype(np.float64)
    results = np.empty(len(queries))
    for at, query in enumerate(queries):
        keep = np.ones(number, np.bool_)
        wanted: dict[str, NDArray[np.bool_]] = {}
        for condition in query.conditions:
            name, attribute = condition.attribute, release.asked(condition)
            if name in secrets:
                admitted = condition.admits(secrets[name].values, attribute.meaning)
                wanted[name] = wanted[name] & admitted if name in wanted else admitted
                continue
            keep &= condition.admits(columns[name].values, attribute.meaning)[codes[name]]
        weights = None
        if not wanted:
            weights = sizes
        elif len(wanted) == 1:
            ((name, values),) = wanted.items()
            weights = secrets[name].expected(values)
        if weights is not None:
            results[at] = weights @ keep
        else:
            share = np.prod([secrets[name].of_groups(values) for name, values in wanted.items()], axis=0)
            results[at] = share[release.group_of[keep[points.of_row]]].sum()
    return results


class _Shares:
    """The shares of an attribute's values in each group, and what these make of the rows of each combination."""

    def __init__(self, counted: Counted, bearers: Any) -> None:
        self.values, self.shares, self.bearers = counted.values, shares_in(counted.counts), bearers

    @cached_property
    def sums(self) -> NDArray[np.float64] | None:
        """Per value and combination, the expected rows with any value before it; None if they are too many."""
        number, wide = self.bearers.shape[0], len(self.values) + 1
        if number * wide > CELLS:
            return None
        sums = np.zeros((wide, number))
        np.cumsum((self.bearers @ self.shares).toarray().T, axis=0, out=sums[1:])
        return sums

    def expected(self, values: NDArray[np.bool_]) -> NDArray[np.float64] | None:
        """Per combination, the expected rows with these values; None if that would take too much memory."""
        if self.sums is None:
            return None
        edges = np.flatnonzero(np.diff(values, prepend=False, append=False))
        return np.asarray(self.sums[edges[1::2]].sum(axis=0) - self.sums[edges[::2]].sum(axis=0), np.float64)

    def of_groups(self, values: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Per group, the share of its rows with these values."""
        return np.asarray(self.shares @ values.astype(np.float64), np.float64)


def bearers(place_of_row: NDArray[Any], group_of: NDArray[np.int32], shape: tuple[int, int]) -> Any:
    """The number of rows of each combination in each group, as a sparse matrix."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(group_of)), (place_of_row, group_of)), shape=shape)


def shares_in(counts: Counts) -> Any:
    """The share of each sensitive value in each group, as a sparse matrix."""
    from scipy.sparse import csr_array

    return csr_array((counts.shares, counts.values, counts.starts), shape=(len(counts), counts.width))
