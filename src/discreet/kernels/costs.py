"""The cost of a box: the loss that partitioners minimise, on axes of codes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel_in_place


class Axes(NamedTuple):
    """The quasi-identifiers as axes of codes, and the cost of an interval of codes on each."""

    levels: NDArray[np.int64]
    """Per axis: 0 if the cost is a distance between positions, else the height of its tree."""
    cards: NDArray[np.int64]
    offsets: NDArray[np.int64]
    """Per axis: where its part of the flat arrays below begins."""
    ancestors: NDArray[np.int32]
    """Per level above the leaves and code: the node above it."""
    costs: NDArray[np.float64]
    """Per level above the leaves and code: the cost of that node; on an axis without a tree: the position of a code."""
    weights: NDArray[np.float64]
    by_size: bool
    """Whether a group costs its size and not the extent of its box (discernibility)."""


@kernel_in_place
def interval_cost(axes, j, low, high):
    """Return the cost of publishing the codes ``low`` to ``high`` of axis ``j``, between 0 and 1."""
    if low == high:
        return 0.0
    offset = axes.offsets[j]
    card = axes.cards[j]
    if axes.levels[j] == 0:
        return min(1.0, axes.costs[offset + high] - axes.costs[offset + low])
    for level in range(axes.levels[j]):
        at = offset + level * card
        if axes.ancestors[at + low] == axes.ancestors[at + high]:
            return axes.costs[at + low]
    return 1.0


@kernel_in_place
def box_cost(axes, low, high, size):
    """Return the cost of publishing one row in a group of this box and size."""
    if axes.by_size:
        return float(size)
    total = 0.0
    for j in range(low.shape[0]):
        total += axes.weights[j] * interval_cost(axes, j, low[j], high[j])
    return total


@kernel_in_place
def bound_box(points, start, end, low, high):
    """Write the smallest box around the rows ``start`` to ``end`` into ``low`` and ``high``."""
    d = points.shape[1]
    for j in range(d):
        low[j] = points[start, j]
        high[j] = points[start, j]
    for r in range(start + 1, end):
        for j in range(d):
            code = points[r, j]
            if code < low[j]:
                low[j] = code
            if code > high[j]:
                high[j] = code
