"""Beliefs about who is in the table, from descriptions.

Take a group of |G| rows whose description admits a person's quasi-identifiers. Then |G| of the combinations of values
that the description admits are in the table. If all are equally likely, the belief that the person's combination is
among them is |G| divided by their number, or 1 if that is less. Groups with the same description count separately, and
together they imply 1 - (1 - p1)(1 - p2)... .

Not all numbers in an interval need exist (codes of regions, salaries in hundreds), so only values known to occur are
counted. From the files alone these are, for numbers and ordered values, the ends of published intervals; so the number
of combinations is a lower bound and the belief an upper one. This belief is an average over the combinations that a
description admits: an attacker who knows that descriptions are as narrow as possible believes more in combinations of
ends of intervals, and less in others (`discreet.releases.corners`; promises are judged by the strongest of these
beliefs). Where values are listed one by one, as in ambiguous releases, all combinations are equally likely.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.boxes.boxes import Boxes
from discreet.kernels.presence.mixtures import cover
from discreet.releases.attributes import Attribute
from discreet.releases.boxes import plant_tree, points_of
from discreet.releases.columns import ordered_values
from discreet.releases.descriptions import Descriptions
from discreet.releases.labels import Regions, finite
from discreet.table.table import Column
from discreet.table.texts import MISSING


def covered(
    described: Boxes, columns: Sequence[Column], chances: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """For each row of these columns, the number of boxes that contain it, the largest of their chances, and the chance
    of at least one of them if boxes are independent."""
    forest = plant_tree(points_of(columns), described)
    times, largest, logs = cover(forest, described, chances)
    return times, largest, 0.0 - np.expm1(logs)


def combinations_known(descriptions: Descriptions) -> NDArray[np.float64]:
    """For each cell, the number of combinations that its description admits, of values known from the files."""
    product = np.ones(descriptions.cells)
    for attribute, regions, texts in zip(descriptions.quasi, descriptions.regions, descriptions.texts, strict=True):
        if attribute.kind == "categorical":
            assert attribute.hierarchy is not None, "every categorical attribute has a hierarchy"
            known = np.arange(len(attribute.hierarchy.leaves), dtype=np.float64)
        else:
            known = _ends(attribute, regions)
        numbers = np.searchsorted(known, regions.high, side="right") - np.searchsorted(known, regions.low, side="left")
        for at, ranks in regions.sets.items():
            numbers[at] = len(ranks)
        # a description that admits anything also admits missing values, if these are known to occur
        if bool((regions.missing & ~regions.whole).any()):
            numbers += regions.missing
        product *= np.maximum(1, numbers)[texts.of_cell]
    return product


def _ends(attribute: Attribute, regions: Regions) -> NDArray[np.float64]:
    """The numbers or ranks known to occur: ends of published intervals, and leaves if the hierarchy is published."""
    plain = ~regions.whole & (regions.low <= regions.high)
    ends = [regions.low[plain], regions.high[plain]]
    if attribute.hierarchy is not None:
        leaves = [leaf for leaf in attribute.hierarchy.leaves if leaf != MISSING]
        ends.append(
            np.arange(len(leaves), dtype=np.float64)
            if attribute.kind == "ordinal"
            else np.array([finite(leaf) for leaf in leaves], np.float64)
        )
    return np.unique(np.concatenate(ends))


def combinations_in(described: Boxes, occurring: Sequence[NDArray[np.bool_]]) -> NDArray[np.float64]:
    """For each box, the number of combinations of occurring codes that it admits; every axis counts at least one.

    >>> low = np.zeros((1, 2), np.int32)
    >>> both = Boxes(low, low + 2, low - 1, np.zeros(1, np.int64), np.zeros(0, np.int32))
    >>> combinations_in(both, [np.array([True, True, True]), np.array([True, False, True])]).tolist()
    [6.0]
    """
    return np.asarray(np.prod(values_in(described, occurring), axis=1, dtype=np.float64))


def values_in(described: Boxes, occurring: Sequence[NDArray[np.bool_]]) -> NDArray[np.int64]:
    """For each box and axis, the number of occurring codes that it admits, at least one."""
    result = np.ones(described.low.shape, np.int64)
    for axis, mask in enumerate(occurring):
        before = np.concatenate([[0], np.cumsum(mask)])
        low, high = described.low[:, axis], described.high[:, axis]
        numbers = np.where(low <= high, before[np.minimum(high + 1, len(mask))] - before[np.minimum(low, len(mask))], 0)
        which = described.set_at[:, axis]
        # sets of other axes may list codes beyond this axis; clipped, because their counts are never used
        members = np.minimum(described.members, len(mask) - 1)
        inside = np.concatenate([[0], np.cumsum(mask[members])])
        gaps = which >= 0
        numbers[gaps] = inside[described.starts[which[gaps] + 1]] - inside[described.starts[which[gaps]]]
        result[:, axis] = np.maximum(1, numbers)
    return result


def occurring(columns: Sequence[Column], attributes: Sequence[Attribute]) -> list[NDArray[np.bool_]]:
    """For each column, which of its codes occur in some row, and may occur in published ones.

    A category that no published row has is not listed in the attribute's hierarchy, so that readers can rule it out.
    """
    masks = []
    for column, attribute in zip(columns, attributes, strict=True):
        mask = np.bincount(column.codes, minlength=len(column.values)) > 0
        if attribute.kind != "numeric":
            listed = set(ordered_values(attribute))
            mask &= np.array([text in listed for text in column.texts], np.bool_)
            if attribute.kind == "ordinal" and column.missing is not None:
                mask[column.missing] = bool((column.codes == column.missing).any())
        masks.append(mask)
    return masks
