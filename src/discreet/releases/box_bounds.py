"""How many rows under boxes satisfy a query for certain, and how many may.

The groups give one answer: those whose boxes lie within the conditions, and those whose boxes meet them. For conditions
on one column the counts of whole columns, where they are published, give another: the cells within and those that are
met. Of several columns with at least a, b, ... of n rows within the conditions on each, a + b + ... - (columns - 1) n
rows are within all; and no more rows are than within the conditions on any one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.releases.attributes import Attribute
from discreet.releases.labels import Regions
from discreet.releases.spread import Conditions, Shares, asked_numbers, listed_values, shares_of
from discreet.table.decimals import Ruler
from discreet.table.query import OneOf, Query, texts_of
from discreet.table.unnamed import OTHERS

if TYPE_CHECKING:
    from discreet.releases.described import DescribedRelease

Mask = NDArray[np.bool_]


def bounds(release: DescribedRelease, queries: Sequence[Query]) -> NDArray[np.float64]:
    """Return, per query, how many rows satisfy it for certain, and how many may.

    What is published unchanged is known of every row. A description that admits missing values lies within none.
    """
    names = [each.name for each in release.attributes if each.role != "quasi"]
    exact = dict(zip(names, (*release.sensitive_columns, *release.others), strict=True))
    axes = {attribute.name: axis for axis, attribute in enumerate(release.quasi)}
    counted = {axis: cells for axis in axes.values() if (cells := _cells(release, axis)) is not None}
    sensitive = [attribute.name for attribute in release.sensitive[:1]]
    group_of_count = np.repeat(np.arange(release.groups), np.diff(release.counts.starts))
    result = np.empty((len(queries), 2))
    for line, query in zip(result, queries, strict=True):
        admitted: dict[str, Mask] = {}
        within, meeting = np.ones(release.groups, np.bool_), np.ones(release.groups, np.bool_)
        alone = list[tuple[float, float]]()
        for name, conditions in query.by_attribute.items():
            attribute = release.asked(conditions[0])
            if name in axes:
                axis = axes[name]
                regions, shares = release.descriptions.regions[axis], release.even_shares[axis]
                inside, touched = covered(attribute, regions, conditions, shares)
                of_cell = release.texts[axis].of_cell
                within &= inside[of_cell]
                meeting &= touched[of_cell]
                least, most = release.sizes[inside[of_cell]].sum(), release.sizes[touched[of_cell]].sum()
                if axis in counted:
                    of_cells = counted[axis]
                    inside, touched = covered(attribute, of_cells.regions, conditions, of_cells.shares)
                    least = max(least, of_cells.counts[inside].sum())
                    most = min(most, of_cells.counts[touched].sum())
                alone.append((float(least), float(most)))
                continue
            for condition in conditions:
                release.asked(condition)
            values = [condition.admits(exact[name].values, attribute.meaning) for condition in conditions]
            admitted[name] = np.logical_and.reduce(values)
        if not admitted:
            counts = release.sizes
        elif [*admitted] == sensitive:
            held = np.where(admitted[sensitive[0]][release.counts.values], release.counts.amounts, 0.0)
            counts = np.bincount(group_of_count, held, release.groups)
        else:
            rows = np.logical_and.reduce([held[exact[name].codes] for name, held in admitted.items()])
            counts = np.bincount(release.group_of[rows], minlength=release.groups)
        if admitted:
            alone.append((float(counts.sum()), float(counts.sum())))
        together = sum(least for least, _ in alone) - (len(alone) - 1) * release.rows if alone else 0.0
        least_of_any = min((most for _, most in alone), default=float(release.rows))
        line[:] = max(counts[within].sum(), together), min(counts[meeting].sum(), least_of_any)
    return result


class _Cells(NamedTuple):
    """The counted cells of a quasi-identifier."""

    regions: Regions
    counts: NDArray[np.int64]
    shares: Shares
    """The function for the shares of the cells that conditions admit."""


def _cells(release: DescribedRelease, axis: int) -> _Cells | None:
    """Return the counted cells of a quasi-identifier; None if there are none."""
    if release.marginals is None or not release.marginals.cells[axis]:
        return None
    regions = release.marginals.regions(axis, release.quasi[axis])
    return _Cells(regions, release.marginals.counts[axis], shares_of(release.quasi[axis], regions))


def covered(attribute: Attribute, regions: Regions, conditions: Conditions, shares: Shares) -> tuple[Mask, Mask]:
    """Return which texts of an attribute lie within some conditions, and which meet them."""
    known = regions.low <= regions.high
    if attribute.kind == "numeric" and attribute.hierarchy is None:
        ruler = Ruler.of(attribute.spacing)  # only what is stated is certain
        low, high = ruler.up(regions.low), ruler.down(regions.high)
        start, end, points = asked_numbers(attribute, conditions)
        first, last = ruler.up(start), ruler.down(end)
        meeting = known & (first <= last) & (low <= last) & (high >= first)
        inside = (low >= first) & (high <= last)
        if points is not None:
            points = ruler.down(points[ruler.on(points)])
            number = np.searchsorted(points, high, "right") - np.searchsorted(points, low, "left")
            meeting &= number > 0
            inside &= (number == high - low + 1.0) if ruler.scale else (low == high) & meeting
        return meeting & inside & ~regions.missing, meeting
    if _names_others(attribute, conditions):
        return np.zeros(len(known), np.bool_), np.ones(len(known), np.bool_)
    share = shares(conditions)
    named = all(attribute.standing_in(condition) == condition for condition in conditions)
    inside = (share == 1.0) & named
    if attribute.kind != "categorical":
        inside &= ~regions.missing
    return inside, share > 0.0


def _names_others(attribute: Attribute, conditions: Conditions) -> bool:
    """Whether conditions ask for values that the release does not list, so that any row might have them."""
    if attribute.kind == "numeric":
        return attribute.recipe is not None
    known = {*listed_values(attribute).tolist(), OTHERS}
    return any(
        text not in known
        for condition in conditions
        if isinstance(condition, OneOf)
        for text in texts_of(attribute.standing_in(condition))
    )
