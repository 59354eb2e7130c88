"""Drawing groups from buckets: rows near each other in the space of the quasi-identifiers."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.drawing import draw_along, draw_nearest
from discreet.kernels.hilbert import hilbert_keys
from discreet.table.table import Column

Retrieval = Literal["hilbert", "nearest"]
"""How a group finds rows near each other: along a Hilbert curve, or by exact distance (slow on large tables)."""


def draw_groups(
    places: NDArray[np.float64],
    buckets: NDArray[np.int32],
    wanted: NDArray[np.int64],
    retrieval: Retrieval,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The group of every row, and its place along the curve.

    ``wanted`` says how many rows of every bucket each group draws; each forms around a row picked at random.
    """
    order, starts, keys = bucket_order(places, buckets, wanted.shape[1])
    seeds = rng.permutation(len(places))
    if retrieval == "hilbert":
        drawn = draw_along(keys, starts, wanted, seeds)
    else:
        drawn = draw_nearest(places[order], starts, wanted, seeds)
    groups, curve = np.empty(len(places), np.int32), np.empty(len(places))
    groups[order], curve[order] = drawn, keys
    return groups, curve


def places_of(columns: tuple[Column, ...], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Rows as points of the unit cube: numbers by their size, ordered values and leaves by their rank."""
    places = np.empty((len(rows), len(columns)))
    for j, column in enumerate(columns):
        scale = np.arange(len(column.values), dtype=np.float64)
        if column.kind == "numeric":
            scale = np.asarray(column.values, np.float64)
        if column.missing is not None:  # one step before the smallest
            known = np.delete(scale, column.missing)
            scale = scale.copy()
            scale[column.missing] = known[0] - (known[-1] - known[0]) / max(1, len(known) - 1) if len(known) else 0.0
        low, high = scale.min(), scale.max()
        scale = (scale / 2 - low / 2) / (high / 2 - low / 2) if high > low else np.zeros(len(scale))
        places[:, j] = scale[column.codes[rows]]
    return places


def bucket_order(
    places: NDArray[np.float64], buckets: NDArray[np.int32], number: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Rows by bucket, and within a bucket along a Hilbert curve; where each bucket starts; and the rows' keys.

    Only the distance of keys is asked for later, so keys are handed on as floating point numbers.
    """
    d = places.shape[1]
    bits = max(1, min(10, 62 // d)) if d <= 31 else 2
    cells = np.rint(places * (2**bits - 1)).astype(np.int64)
    words = hilbert_keys(cells, bits)
    starts = np.concatenate([[0], np.cumsum(np.bincount(buckets, minlength=number))])
    if words.shape[1] == 1 and d * bits + int(number).bit_length() <= 64:
        packed = (buckets.astype(np.uint64) << np.uint64(d * bits)) | words[:, 0]
        order = np.argsort(packed)
    else:
        order = np.lexsort((*words.T[::-1], buckets))
    keys = np.zeros(len(places))
    for word in words.T:
        keys = keys * 2.0**64 + word
    return order, starts, keys[order]
