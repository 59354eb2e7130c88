"""How many rows under boxes satisfy a query for certain, and how many may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.releases.attributes import Attribute
from discreet.releases.labels import Regions
from discreet.releases.spread import Conditions, Shares, asked_numbers, listed_values
from discreet.table.decimals import Ruler
from discreet.table.query import OneOf, Query, texts_of
from discreet.table.unnamed import OTHERS

if TYPE_CHECKING:
    from discreet.releases.described import DescribedRelease

Mask = NDArray[np.bool_]


def bounds(release: DescribedRelease, queries: Sequence[Query]) -> NDArray[np.float64]:
    """Return, per query, the rows of groups whose descriptions lie within the conditions, and of those that meet them.

    What is published unchanged is known of every row. A description that admits missing values lies within none.
    """
    names = [each.name for each in release.attributes if each.role != "quasi"]
    exact = dict(zip(names, (*release.sensitive_columns, *release.others), strict=True))
    axes = {attribute.name: axis for axis, attribute in enumerate(release.quasi)}
    result = np.empty((len(queries), 2))
    for line, query in zip(result, queries, strict=True):
        rows: Mask | None = None
        within, meeting = np.ones(release.groups, np.bool_), np.ones(release.groups, np.bool_)
        for name, conditions in query.by_attribute.items():
            attribute = release.asked(conditions[0])
            if name in axes:
                axis = axes[name]
                regions, shares = release.descriptions.regions[axis], release.even_shares[axis]
                inside, touched = covered(attribute, regions, conditions, shares)
                of_cell = release.texts[axis].of_cell
                within &= inside[of_cell]
                meeting &= touched[of_cell]
                continue
            for condition in conditions:
                release.asked(condition)
                held = condition.admits(exact[name].values, attribute.meaning)[exact[name].codes]
                rows = held if rows is None else rows & held
        counts = np.bincount(release.group_of if rows is None else release.group_of[rows], minlength=release.groups)
        line[:] = counts[within].sum(), counts[meeting].sum()
    return result


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
