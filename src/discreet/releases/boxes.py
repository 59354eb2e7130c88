"""The descriptions of a release as boxes of codes of a table's columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.kernels.boxes.boxes import Boxes
from discreet.kernels.boxes.forest import Forest
from discreet.kernels.boxes.forest import plant as plant_trees
from discreet.kernels.presence.mixtures import mixtures
from discreet.principles.counts import Counts
from discreet.releases.attributes import Attribute, numbers_given, points_given, texts_given
from discreet.releases.columns import coded_numbers, ordered_values
from discreet.releases.descriptions import Descriptions
from discreet.releases.labels import Regions
from discreet.table.table import Column
from discreet.table.texts import MISSING

BATCH = 1 << 24
"""How many counts are summed at a time."""


def boxes_in(descriptions: Descriptions, columns: Sequence[Column]) -> Boxes:
    """The description of every cell as a box of codes, given one column per quasi-identifier in the same order."""
    cells, axes = descriptions.cells, len(columns)
    low, high = np.zeros((cells, axes), np.int32), np.zeros((cells, axes), np.int32)
    set_at = np.full((cells, axes), -1, np.int32)
    sets: list[NDArray[np.int64]] = []
    for axis, (column, regions, texts) in enumerate(
        zip(columns, descriptions.regions, descriptions.texts, strict=True)
    ):
        first, last, gaps = ranges(descriptions.quasi[axis], regions, column)
        which = np.full(len(first), -1, np.int32)
        for at, codes in gaps.items():
            which[at] = len(sets)
            sets.append(codes)
        low[:, axis], high[:, axis] = first[texts.of_cell], last[texts.of_cell]
        set_at[:, axis] = which[texts.of_cell]
    starts = np.cumsum([0, *(len(codes) for codes in sets)], dtype=np.int64)
    members = np.concatenate([np.zeros(0, np.int32), *sets]).astype(np.int32)
    return Boxes(low, high, set_at, starts, members)


def ranges(
    attribute: Attribute, regions: Regions, column: Column
) -> tuple[NDArray[np.int32], NDArray[np.int32], dict[int, NDArray[np.int64]]]:
    """For each text, the first and last code it admits, and the list of codes where these have gaps."""
    size = len(column.values)
    gaps: dict[int, NDArray[np.int64]] = {}
    if attribute.kind == "numeric":
        skip = 0 if column.missing is None else 1
        known = column.values[skip:].astype(np.float64)
        first = np.searchsorted(known, regions.low, side="left") + skip
        last = np.searchsorted(known, regions.high, side="right") - 1 + skip
    else:
        first, last, gaps = _ranked(attribute, regions, column)
    empty = first > last
    # a region that contains none of the column's values admits nothing, except perhaps missing values
    first, last = np.where(empty, 1, first), np.where(empty, 0, last)
    if column.missing is not None:
        only = empty & regions.missing & ~regions.whole
        first, last = np.where(only, column.missing, first), np.where(only, column.missing, last)
    first, last = np.where(regions.whole, 0, first), np.where(regions.whole, size - 1, last)
    return first.astype(np.int32), last.astype(np.int32), gaps


def _ranked(
    attribute: Attribute, regions: Regions, column: Column
) -> tuple[NDArray[Any], NDArray[Any], dict[int, NDArray[np.int64]]]:
    """``ranges`` for an attribute whose regions are ranks, which the column's codes may number differently."""
    values = ordered_values(attribute)
    place = {str(value): code for code, value in enumerate(column.values.tolist())}
    codes = np.array([place.get(value, -1) for value in values], np.int64)
    number = len(regions.low)
    gaps: dict[int, NDArray[np.int64]] = {}
    first, last = np.ones(number, np.int64), np.zeros(number, np.int64)
    for at in np.flatnonzero(~regions.whole & (regions.low <= regions.high)).tolist():
        ranks = regions.sets.get(at, np.arange(int(regions.low[at]), int(regions.high[at]) + 1))
        present = np.unique(codes[ranks])
        present = present[present >= 0]
        if len(present):
            first[at], last[at] = present[0], present[-1]
            if len(present) < present[-1] - present[0] + 1:
                gaps[at] = present
    return first, last, gaps


def points_of(columns: Sequence[Column]) -> NDArray[np.int32]:
    """The codes of the columns as a matrix with one line per row."""
    rows = len(columns[0].codes) if columns else 0
    points = np.empty((rows, len(columns)), np.int32)
    for axis, column in enumerate(columns):
        points[:, axis] = column.codes
    return points


def plant(
    points: NDArray[np.int32],
    weights: NDArray[np.int64],
    firsts: NDArray[np.int64],
    boxes: Boxes,
    box_of: NDArray[np.int64],
    tree_of: NDArray[np.int64],
) -> Forest:
    """Search trees over ranges of points, one for each pair of consecutive ``firsts``.

    They will be searched for boxes ``box_of[i]`` in trees ``tree_of[i]``, which they are planted to find quickly.
    """
    spread = points.max(axis=0, initial=0) + 1 if len(points) else np.ones(points.shape[1])
    scales = 1.0 / np.maximum(1.0, spread.astype(np.float64))
    by_tree = np.argsort(tree_of, kind="stable")
    starts = np.searchsorted(tree_of[by_tree], np.arange(len(firsts)))
    return cast(Forest, plant_trees(points, weights, firsts, scales, boxes, box_of[by_tree], starts))


def plant_tree(points: NDArray[np.int32], boxes: Boxes) -> Forest:
    """A single search tree over points of weight 1, which will be searched for all boxes."""
    number = len(boxes.low)
    ends = np.array([0, len(points)])
    return plant(points, np.ones(len(points), np.int64), ends, boxes, np.arange(number), np.zeros(number, np.int64))


def mixed(descriptions: Descriptions, columns: Sequence[Column], counts: Counts) -> NDArray[Any]:
    """For each row of these columns, the summed ``counts`` of all cells whose description admits it."""
    points = points_of(columns)
    if not columns:
        raise DiscreetError("a release without quasi-identifiers cannot be matched with anyone")
    described = boxes_in(descriptions, columns)
    width = counts.width
    result = np.empty((len(points), width), counts.amounts.dtype)
    batch = max(1, BATCH // max(1, width))
    for start in range(0, len(points), batch):
        part = points[start : start + batch]
        forest = plant_tree(part, described)
        held = mixtures(forest, described, counts.starts, counts.values, counts.amounts, width)
        result[start : start + batch] = held
    return result


def columns_at(quasi: Sequence[Attribute], points: Mapping[str, ArrayLike]) -> list[Column]:
    """Convert points from original values, one array per quasi-identifier, to columns."""
    if not quasi:
        raise DiscreetError("a release without quasi-identifiers cannot be matched with anyone")
    return [_column(*each) for each in zip(quasi, points_given(quasi, points), strict=True)]


def _column(attribute: Attribute, given: NDArray[Any]) -> Column:
    """Convert original values to a column whose codes follow the order of the attribute."""
    if attribute.kind == "numeric":
        values, codes = coded_numbers(numbers_given(attribute, given))
        missing = 0 if np.isnan(values[:1]).any() else None
        return Column(attribute.name, "numeric", codes, values, missing=missing)
    texts = texts_given(given, attribute.floor, attribute.fit)
    missing = None if attribute.kind == "categorical" else 0
    known = ordered_values(attribute) if missing is None else [MISSING, *ordered_values(attribute)]
    place = {value: code for code, value in enumerate(known)}
    instead = attribute.stand_ins(texts)
    texts = [instead.get(text, text) for text in texts]
    places = np.array([place.setdefault(text, len(place)) for text in texts], np.int32)
    return Column(attribute.name, attribute.kind, places, np.array(list(place), object), missing=missing)


def shares(counts: NDArray[Any], withheld: ArrayLike | None) -> NDArray[np.float64]:
    """Each line of counts as a distribution; an empty line gets that of ``withheld``, or NaN if that is unknown."""
    result = counts.astype(np.float64)
    if withheld is not None and np.asarray(withheld).sum() > 0:
        result[~result.any(axis=1)] = np.asarray(withheld)
    totals = result.sum(axis=1, keepdims=True)
    beliefs: NDArray[np.float64] = np.divide(result, totals, out=np.full_like(result, np.nan), where=totals > 0)
    return beliefs


def values_in(described: Boxes, occurring: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """For each box and axis, the number of occurring codes that it admits, at least one.

    With frequencies in place of what occurs, it is the number of rows with these codes."""
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
