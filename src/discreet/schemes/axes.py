"""Quasi-identifiers as axes: the order in which an algorithm passes through values, and the cost of an interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.costs import Axes
from discreet.releases.generalization import Values
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column, Table

Loss = Literal["ail", "gcp", "discernibility"]

_BEFORE_ALL = -1.0
"""The position of missing values on a numeric axis: an interval with them and a number costs as much as all."""


class Axis(NamedTuple):
    """The values of a quasi-identifier in the order in which an algorithm passes through them."""

    height: int
    """How many levels of nodes are above the values; 0 where an interval costs by its ends."""
    nodes: NDArray[np.int32]
    """``nodes[level, place]``: the node above each value."""
    prices: NDArray[np.float64]
    """``prices[level, place]``: what that node costs; with ``height`` 0, where the value lies."""
    weight: float = 1.0
    """How much its cost counts among those of all axes."""


def side_by_side(axes: Sequence[Axis], by_size: bool = False) -> Axes:
    """Return axes in the form that kernels use; the weights of all add up to 1."""
    sizes = [axis.nodes.size for axis in axes]
    weights = np.array([axis.weight for axis in axes], np.float64)
    return Axes(
        np.array([axis.height for axis in axes], np.int64),
        np.array([axis.nodes.shape[1] for axis in axes], np.int64),
        np.cumsum([0, *sizes[:-1]], dtype=np.int64),
        np.concatenate([axis.nodes.ravel() for axis in axes]).astype(np.int32),
        np.concatenate([axis.prices.ravel() for axis in axes]).astype(np.float64),
        weights / weights.sum(),
        by_size,
    )


def axes_of(table: Table, loss: Loss, values: Values) -> tuple[NDArray[np.int32], Axes]:
    """Return the rows of a table as points (one line per row, one code per axis), and their axes.

    ``values``, how quasi-identifiers will be published, decides what an interval costs: the extent of its numbers, the
    hierarchy node above it, or (sets, under ``gcp``) how many values it contains.
    """
    points = np.empty((table.rows, len(table.quasi)), dtype=np.int32)
    axes = []
    for j, column in enumerate(table.quasi):
        place, axis = axis_of(column, np.bincount(column.codes, minlength=len(column.values)), loss, values)
        points[:, j] = column.codes if place is None else place[column.codes]
        axes.append(axis)
    return points, side_by_side(axes, loss == "discernibility")


def axis_of(
    column: Column, counts: NDArray[np.int64], loss: Loss, values: Values
) -> tuple[NDArray[np.int64] | None, Axis]:
    """Return the place of each code of a column along its axis, None if it is the code itself, and the axis; ``counts``
    has the number of rows with each code."""
    if column.hierarchy is None or (column.kind != "categorical" and values != "label"):
        return None, Axis(0, np.zeros((1, len(column.values)), np.int32), _positions(column)[None, :], column.weight)
    order = frequent_first(column.hierarchy, counts)
    height, nodes = column.hierarchy.height, np.ascontiguousarray(column.hierarchy.ancestors[1:, order])
    leaves = len(order)
    below = np.array([np.bincount(above)[above] for above in nodes])  # how many leaves are below each node
    if loss == "gcp" and values == "set":
        height, nodes, prices = 0, nodes[:1], (np.arange(leaves) / max(1, leaves - 1))[None, :]
    elif loss == "gcp":
        prices = (below - 1) / max(1, leaves - 1)
    else:
        prices = np.where(below > 1, below / leaves, 0.0)
    return np.argsort(order), Axis(height, nodes, prices, column.weight)


def frequent_first(hierarchy: Hierarchy, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the leaves in a pre-order of the tree in which, at every node, the child with the most rows comes first.

    Any order of siblings is a pre-order of the tree. With the largest first, one cut separates the bulk of the rows,
    which on real data (most people from one country, few from many others) is the most important cut.

    >>> tree = Hierarchy("city", (("a", "b", "c"), ("*",)), np.array([[0, 1, 2], [0, 0, 0]], np.int32))
    >>> frequent_first(tree, np.array([1, 5, 3])).tolist()
    [1, 2, 0]
    """
    keys: list[NDArray[np.int64]] = []
    for above in hierarchy.ancestors:  # lexsort: the last key, the topmost level, decides first
        node_counts = np.bincount(above, weights=counts).astype(np.int64)
        keys += [above.astype(np.int64), -node_counts[above]]
    return np.lexsort(keys)


def _positions(column: Column) -> NDArray[np.float64]:
    """Return the positions of the values of a numeric or ordinal attribute on a scale from 0 to 1."""
    if column.kind == "numeric":
        places = np.asarray(column.values, dtype=np.float64)
        low, high = column.domain or (float(np.nanmin(places)), float(np.nanmax(places)))
        # halved, because the distance between two numbers may overflow
        places = (places / 2 - low / 2) / (high / 2 - low / 2) if high > low else np.zeros(len(places))
    else:
        known = np.arange(len(column.values)) - (0 if column.missing is None else 1)
        places = known / max(1, known[-1])
    if column.missing is not None:
        places[column.missing] = _BEFORE_ALL
    return places
