"""Estimate sums and means of a column of numbers, from what a release says of counts.

The numbers that a column may have are divided into *steps*: single numbers, which are those that cells begin and end
with, and what lies between two of them. A sum is the number of rows in each step times the number that rows in it have,
the middle of what lies between. So it follows from counts alone, which every format estimates, and tells nothing that
counts do not tell. With even spread it is exact: between the ends of cells, rows are taken to lie evenly.

A column with more different ends, or different numbers, than ``MOST`` has steps between some of them, of about equally
many. Where the numbers are published, what lies in such a step counts as their mean.

Bounds are certain if those of counts are: with ends b0 < b1 < ..., a number is at least b0 plus every difference
b(k) - b(k-1) with b(k) not above it, and at most b0 plus every difference with b(k-1) below it. Both are sums over rows
of counts of the rows beyond an end, of which the release says how many there are at least and at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.releases.exact_rows import ExactRowsRelease
from discreet.table.query import Condition, OneOf, Query, Range
from discreet.table.total import Measure, Total, amounts, quotients

if TYPE_CHECKING:
    from discreet.releases.attributes import Attribute
    from discreet.releases.release import Release
    from discreet.table.grouping import Grid

Numbers = NDArray[np.float64]

MOST = 200
"""The most ends that steps of a column have."""
AT_ONCE = 200_000
"""About how many counts are estimated for all queries: of many queries, columns have fewer steps."""


class Steps(NamedTuple):
    """The steps of a column: the conditions that their rows satisfy, and the number that these have."""

    ends: Numbers
    """Single numbers, in ascending order, from the smallest to the largest that rows may have."""
    conditions: list[Condition]
    amounts: Numbers


def sums(release: Release, name: str, queries: Sequence[Query], estimator: str) -> Numbers:
    """Estimate the sum of a column over the rows that satisfy each query.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> release = dc.publish(patients(), dc.BetaLikeness(2), dc.Cuts(descriptions="exact"))
    >>> sums(release, "age", [Query(), Query(OneOf("sex", "F"))], "shares").tolist()
    [2333.0, 1139.0]
    """
    exactly = release.exact_sums(name, queries)
    if exactly is not None:
        return exactly
    steps = steps_of(release, name, min(MOST, max(20, AT_ONCE // max(1, 2 * len(queries)))))
    if not len(queries) or not steps.conditions:
        return np.zeros(len(queries))
    asked = [Query((*query.conditions, step)) for query in queries for step in steps.conditions]
    counts = release.estimates(asked, estimator).reshape(len(queries), len(steps.conditions))
    return np.asarray(counts @ steps.amounts)


def answered(release: Release, asked: Sequence[Query | Total], estimator: str) -> Numbers:
    """Estimate counts, sums and means."""
    counts = [at for at, each in enumerate(asked) if isinstance(each, Query)]
    result = np.empty(len(asked))
    result[counts] = release.estimates([each for each in asked if isinstance(each, Query)], estimator)
    by_measure: dict[Measure, list[int]] = {}
    for at, each in enumerate(asked):
        if isinstance(each, Total):
            by_measure.setdefault(each.measure, []).append(at)
    for measure, places in by_measure.items():
        measure.check(release.attribute(measure.attribute))
        queries = [each.query for at in places if isinstance(each := asked[at], Total)]
        added = sums(release, measure.attribute, queries, estimator)
        if measure.mean:
            added = quotients(added, numbered(release, measure.attribute, queries, estimator))
        result[places] = added
    return result


def grouped(release: Release, measure: Measure, grid: Grid, estimator: str) -> Numbers:
    """Estimate the sum or the mean of a column over the rows of each cell of a grid."""
    name = measure.attribute
    measure.check(release.attribute(name))
    _, added = grid.counts(lambda queries: sums(release, name, queries, estimator))
    if not measure.mean:
        return added
    _, counts = grid.counts(lambda queries: numbered(release, name, queries, estimator))
    return quotients(added, counts)


def numbered(release: Release, name: str, queries: Sequence[Query], estimator: str) -> Numbers:
    """Estimate how many rows that satisfy each query have a number in a column."""
    return release.estimates([Query((*query.conditions, Range(name))) for query in queries], estimator)


def bounds(release: Release, name: str, query: Query) -> tuple[float, float] | None:
    """Return what the sum of a column is at least and at most; None if the release bounds no counts.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> release = dc.publish(patients(), dc.BetaLikeness(2), dc.Cuts(descriptions="exact"))
    >>> bounds(release, "age", Query(OneOf("sex", "F")))
    (1139.0, 1139.0)
    """
    ends = steps_of(release, name).ends
    if not len(ends):
        return None
    attribute = release.attribute(name)
    upwards = [Range(name), *(Range(name, low, placed=True) for low in ends[1:].tolist())]
    beyond = [Range(name), *(Range(name, low, low_open=True, placed=True) for low in ends[:-1].tolist())]
    certain = release.certain_bounds([Query((*query.conditions, each)) for each in (*upwards, *beyond)])
    if certain is None:
        return None
    at = amounts(attribute, ends)
    heights = np.concatenate((at[:1], np.diff(at)))
    at_least, at_most = certain[: len(ends)], certain[len(ends) :]
    low = np.where(heights >= 0.0, at_least[:, 0], at_least[:, 1]) @ heights
    high = np.where(heights >= 0.0, at_most[:, 1], at_most[:, 0]) @ heights
    return float(low), float(high)


def steps_of(release: Release, name: str, most: int = MOST) -> Steps:
    """Return the steps of a column of numbers, with at most so many ends."""
    attribute = release.attribute(name)
    listed, held = _listed(release, attribute)
    every = _ends(release, attribute) if listed is None else listed
    ends = every
    if len(every) > most:
        ends = np.unique(every[np.linspace(0, len(every) - 1, most).round().astype(np.int64)])
    # placed: the numbers are those of the release, also where it counts cells
    conditions: list[Condition] = [OneOf(name, (end,), placed=True) for end in ends.tolist()]
    worth = amounts(attribute, ends)
    if listed is not None and len(ends) == len(every):
        return Steps(ends, conditions, worth)
    between: list[Condition] = [
        Range(name, low, high, low_open=True, high_open=True, placed=True)
        for low, high in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]
    middles = (worth[:-1] + worth[1:]) / 2.0
    if listed is not None:
        inside = np.searchsorted(ends, listed, side="right") - 1
        apart = ~np.isin(listed, ends)
        held = np.where(apart, held, 0.0)
        weight = np.bincount(inside, held, len(ends))[: len(middles)]
        added = np.bincount(inside, held * amounts(attribute, listed), len(ends))[: len(middles)]
        middles = np.where(weight > 0.0, added / np.where(weight > 0.0, weight, 1.0), middles)
    return Steps(ends, [*conditions, *between], np.concatenate((worth, middles)))


def _ends(release: Release, attribute: Attribute) -> Numbers:
    """Return the numbers that descriptions of a column begin and end with, and counts of the whole column."""
    found = [np.array(attribute.domain or (), np.float64)]
    for part in release.projections:
        at = next((at for at, each in enumerate(part.quasi) if each.name == attribute.name), None)
        if at is None or part.descriptions is None:
            continue
        regions = [part.descriptions.regions[at]]
        regions += [] if part.marginals is None else [part.marginals.regions(at, part.quasi[at])]
        found += [
            end for each in regions for end in (each.low[each.low <= each.high], each.high[each.low <= each.high])
        ]
    ends = np.unique(np.concatenate(found))
    return np.asarray(ends[np.isfinite(ends)])


def _listed(release: Release, attribute: Attribute) -> tuple[Numbers | None, Numbers]:
    """Return the numbers that rows may have, if they are listed and not described, and how many rows have each, or 1
    for each where that is not published row by row."""
    boxed = (each for part in release.projections if part.descriptions is not None for each in part.quasi)
    if attribute.hierarchy is None and attribute.name in [each.name for each in boxed]:
        return None, np.zeros(0)
    values = np.asarray(release.known_values(attribute.name), np.float64)
    held: NDArray[np.int64] | None = None
    if attribute.role == "sensitive":
        held = release.about(attribute.name).published
    elif isinstance(release, ExactRowsRelease):
        held = np.bincount(release.columns[attribute.name].codes, minlength=len(values))
    known = ~np.isnan(values)
    return values[known], (np.ones(len(values)) if held is None else held.astype(np.float64))[known]
