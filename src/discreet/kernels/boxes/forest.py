"""A forest of k-d trees over coded points.

Every tree contains a contiguous range of the points (those with one sensitive value, say), so that "how many points of
this tree lie in this box" is one search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel, part

LEAF = 16
"""A node with at most this many points is not split."""


class Forest(NamedTuple):
    """K-d trees over points; the points are stored in the order of the trees' leaves."""

    order: NDArray[np.int64]
    """``order[position]``: the index of the given point at this position."""
    points: NDArray[np.int32]
    weights: NDArray[np.int64]
    first: NDArray[np.int64]
    """Per node: its first position; ``last`` is the position after its last."""
    last: NDArray[np.int64]
    left: NDArray[np.int64]
    """Per node: its left child, followed by the right one; -1 for a leaf."""
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    totals: NDArray[np.int64]
    """Per node: the weight of its points."""
    roots: NDArray[np.int64]


@kernel
def plant(points, weights, firsts, scales):
    """Build one tree per range ``firsts[t]`` to ``firsts[t + 1]`` of the points; ``scales`` weighs the axes."""
    n, d = points.shape
    trees = firsts.shape[0] - 1
    most = trees + 4 * n // LEAF + 1
    order = np.arange(n)
    first = np.empty(most, np.int64)
    last = np.empty(most, np.int64)
    left = np.full(most, -1, np.int64)
    low = np.zeros((most, d), np.int32)
    high = np.full((most, d), -1, np.int32)
    totals = np.zeros(most, np.int64)
    # all roots come first, then children, always after their parents
    nodes = trees
    for t in range(trees):
        first[t] = firsts[t]
        last[t] = firsts[t + 1]
    node = 0
    while node < nodes:
        start, end = first[node], last[node]
        for position in range(start, end):
            totals[node] += weights[order[position]]
        axis = np.int64(-1)  # not a constant, for which what is called is compiled once more
        widest = 0.0
        for j in range(d):
            if start < end:
                smallest = points[order[start], j]
                largest = smallest
                for position in range(start + 1, end):
                    code = points[order[position], j]
                    smallest = min(smallest, code)
                    largest = max(largest, code)
                low[node, j] = smallest
                high[node, j] = largest
                width = (largest - smallest) * scales[j]
                if width > widest:
                    widest = width
                    axis = j
        if end - start > LEAF and axis >= 0:
            middle = (start + end) // 2
            _select(points, axis, order, start, end, middle)
            left[node] = nodes
            first[nodes] = start
            last[nodes] = middle
            first[nodes + 1] = middle
            last[nodes + 1] = end
            nodes += 2
        node += 1
    ordered = np.empty((n, d), np.int32)
    heavy = np.empty(n, np.int64)
    for position in range(n):
        for j in range(d):
            ordered[position, j] = points[order[position], j]
        heavy[position] = weights[order[position]]
    return Forest(
        order,
        ordered,
        heavy,
        first[:nodes].copy(),
        last[:nodes].copy(),
        left[:nodes].copy(),
        low[:nodes].copy(),
        high[:nodes].copy(),
        totals[:nodes].copy(),
        np.arange(trees),
    )


@part
def _select(points, axis, order, start, end, middle):
    """Rearrange ``order[start:end]`` so that on the axis no point before ``middle`` is larger than one from it on."""
    low, high = start, end - 1
    while low < high:
        pivot = points[order[(low + high) // 2], axis]
        i, j = low, high
        while i <= j:
            while points[order[i], axis] < pivot:
                i += 1
            while points[order[j], axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return
