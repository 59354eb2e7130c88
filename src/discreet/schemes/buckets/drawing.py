"""Drawing groups from buckets: rows near each other in the space of the quasi-identifiers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.bucket_draws import draw_along, draw_nearest
from discreet.kernels.hilbert import hilbert_keys
from discreet.table.combinations import ranked_combinations
from discreet.table.table import Column

if TYPE_CHECKING:
    from discreet.schemes.grouping import GroupingTask

Retrieval = Literal["hilbert", "nearest"]


def draw_groups(
    task: GroupingTask, buckets: NDArray[np.int32], wanted: NDArray[np.int64], retrieval: Retrieval
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the group of each of the task's rows, and its position along a Hilbert curve through quasi-identifiers.

    ``wanted`` is the number of rows that each group draws from every bucket; each group forms around a random row.
    """
    task.progress("drawing groups", 0.0)
    points, point_of = distinct_points(task.table.quasi, task.rows)
    rank, place = along_curve(points)
    number = wanted.shape[1]
    starts = np.concatenate([[0], np.cumsum(np.bincount(buckets, minlength=number))])
    bins = rank[point_of]
    bins += buckets * np.int64(len(points))
    order = np.argsort(bins, kind="stable")
    curve = place[point_of[order]]
    # seeds drawn twice are skipped; this many draws almost always suffice (coupon collector)
    seeds = task.rng.integers(len(buckets), size=int(len(wanted) * (math.log(len(wanted)) + 10)))
    if retrieval == "hilbert":
        drawn = draw_along(curve, starts, wanted, seeds)
    else:
        drawn = draw_nearest(points[point_of[order]], starts, wanted, seeds)
    groups = np.empty(len(buckets), np.int32)
    groups[order] = drawn
    task.progress("drawing groups", 1.0)
    return groups, place[point_of]


def distinct_points(
    columns: tuple[Column, ...], rows: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the different points of the unit cube, and each row's point: numbers lie by size, ordered values and
    leaves by rank."""
    sizes = [len(column.values) for column in columns]
    _, first, point_of = ranked_combinations([column.codes[rows] for column in columns], sizes, len(rows))
    return np.stack([_scale(column)[column.codes[rows[first]]] for column in columns], axis=1), point_of


def along_curve(points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rank of every point along a Hilbert curve, and its position on it (only distances are meaningful)."""
    d = points.shape[1]
    bits = max(1, min(10, 62 // d)) if d <= 31 else 2
    words = hilbert_keys(np.rint(points * (2**bits - 1)).astype(np.int64), bits)
    order = np.lexsort(words.T[::-1])
    rank = np.empty(len(points), np.int64)
    rank[order] = np.arange(len(points))
    place = np.zeros(len(points))
    for word in words.T:
        place = place * 2.0**64 + word
    return rank, place


def _scale(column: Column) -> NDArray[np.float64]:
    """Return the positions of a column's values between 0 and 1; missing values come one step before the smallest."""
    scale = np.arange(len(column.values), dtype=np.float64)
    if column.kind == "numeric":
        scale = np.array(column.values, np.float64)
    if column.missing is not None:
        known = np.delete(scale, column.missing)
        scale[column.missing] = known[0] - (known[-1] - known[0]) / max(1, len(known) - 1) if len(known) else 0.0
    low, high = scale.min(), scale.max()
    return (scale / 2 - low / 2) / (high / 2 - low / 2) if high > low else np.zeros(len(scale))
