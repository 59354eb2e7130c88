"""Beliefs and expected counts from the two tables of an anatomy release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.principles.counts import Counts
from discreet.releases.exact_rows import codes_at, codes_found, lines_at
from discreet.releases.grouped import Members
from discreet.table.combinations import numbered
from discreet.table.query import Query
from discreet.table.table import Column

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
    payloads = (*release.exact, *release.others)
    keys = numbered([one.codes for one in payloads], [len(one.values) for one in payloads], release.rows)
    _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    return Points(of_row.astype(np.int64), tuple(payload.codes[first] for payload in payloads))


def beliefs_at(
    release: AnatomyRelease, points: Mapping[str, ArrayLike], withheld: ArrayLike | None
) -> NDArray[np.float64]:
    """For each point, the mean distribution over the groups of the rows that have its values."""
    columns = codes_at(release.quasi, release.exact, points)
    known = np.all([column >= 0 for column in columns], axis=0)
    both = [
        np.concatenate([payload.codes, column[known]]) for payload, column in zip(release.exact, columns, strict=True)
    ]
    keys = numbered(both, [len(payload.values) for payload in release.exact], len(both[0]))
    found, places = np.unique(keys, return_inverse=True)
    bearers = _bearers(places[: release.rows], len(found), release)
    result = np.zeros((len(known), len(release.values)))
    result[known] = (bearers[places[release.rows :]] @ _shares(release.counts)).toarray()
    if withheld is not None and np.asarray(withheld).sum() > 0:
        result[~result.any(axis=1)] = np.asarray(withheld)
    totals = result.sum(axis=1, keepdims=True)
    beliefs: NDArray[np.float64] = np.divide(result, totals, out=np.full_like(result, np.nan), where=totals > 0)
    return beliefs


def expected_counts(release: AnatomyRelease, queries: Sequence[Query]) -> NDArray[np.float64]:
    """The expected count of each query: each row that satisfies its other conditions counts with the share of the row's
    group that satisfies its condition on the sensitive attribute, or the product of the shares of several.

    Rows with the same combination are handled together. If combinations and sensitive values are few enough, expected
    counts are accumulated over the sensitive values beforehand, so that a range costs no more than a single value.
    """
    payloads = release.unchanged
    points = points_of(release)
    number = len(points.codes[0]) if points.codes else min(1, release.rows)
    codes = dict(zip(payloads, points.codes, strict=True))
    bearers = _bearers(points.of_row, number, release)
    secrets = {
        attribute.name: _Shares(counted, bearers)
        for attribute, counted in zip(release.sensitive, release.counted, strict=True)
    }
    sizes = np.bincount(points.of_row, minlength=number).astype(np.float64)
    results = np.empty(len(queries))
    for at, query in enumerate(queries):
        keep = np.ones(number, np.bool_)
        wanted: dict[str, NDArray[np.bool_]] = {}
        for condition in query.conditions:
            attribute = release.asked(condition)
            name = attribute.name
            if attribute.role == "sensitive":
                admitted = condition.admits(secrets[name].values, attribute.meaning)
                wanted[name] = wanted[name] & admitted if name in wanted else admitted
            else:
                keep &= condition.admits(payloads[name].values, attribute.meaning)[codes[name]]
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
        self.values, self.shares, self.bearers = counted.values, _shares(counted.counts), bearers

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


def certain_groups(release: AnatomyRelease, people: Sequence[Column]) -> NDArray[np.int64]:
    """The group in which all rows with a person's quasi-identifiers are; -1 if there are several or none."""
    rows, own, number = _matched(release, people)
    first, last = np.full(number, release.groups), np.full(number, -1)
    np.minimum.at(first, rows, release.group_of)
    np.maximum.at(last, rows, release.group_of)
    return np.where(first == last, first, -1)[own]


def members(release: AnatomyRelease, people: Sequence[Column]) -> Members:
    """The people, all different, with the quasi-identifiers of each row, in the group of the row."""
    rows, own, number = _matched(release, people)
    line = np.full(number, -1, np.int64)
    line[own] = np.arange(len(own))
    known = line[rows] >= 0
    pairs, times = np.unique(line[rows][known] * release.groups + release.group_of[known], return_counts=True)
    return Members.of(pairs // release.groups, pairs % release.groups, times)


def _matched(release: AnatomyRelease, people: Sequence[Column]) -> tuple[NDArray[np.intp], NDArray[np.intp], int]:
    """Numbers for rows and for people that are equal exactly if all quasi-identifiers are, and how many there are."""
    codes = [
        codes_found(attribute, exact, column.values)[column.codes]
        for attribute, exact, column in zip(release.quasi, release.exact, people, strict=True)
    ]
    both = [np.concatenate([exact.codes, at]) + 1 for exact, at in zip(release.exact, codes, strict=True)]
    found, places = np.unique(
        numbered(both, [len(exact.values) + 1 for exact in release.exact], len(both[0])), return_inverse=True
    )
    return places[: release.rows], places[release.rows :], len(found)


def contingency(release: AnatomyRelease, column: Column) -> NDArray[np.float64]:
    """The expected number of rows with each value of a quasi-identifier and each sensitive value."""
    axis = next(at for at, attribute in enumerate(release.quasi) if attribute.name == column.name)
    exact = release.exact[axis]
    held = (_bearers(exact.codes, len(exact.values), release) @ _shares(release.counts)).toarray()
    return lines_at(held, codes_found(release.quasi[axis], exact, column.values))


def _bearers(place_of_row: NDArray[Any], number: int, release: AnatomyRelease) -> Any:
    """The number of rows of each combination in each group, as a sparse matrix."""
    from scipy.sparse import csr_array

    ones = np.ones(release.rows)
    return csr_array((ones, (place_of_row, release.group_of)), shape=(number, release.groups))


def _shares(counts: Counts) -> Any:
    """The share of each sensitive value in each group, as a sparse matrix."""
    from scipy.sparse import csr_array

    return csr_array((counts.shares, counts.values, counts.starts), shape=(len(counts), counts.width))
