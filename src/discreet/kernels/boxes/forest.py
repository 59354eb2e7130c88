"""A forest of k-d trees over coded points, planted for the boxes that will be searched for in it.

Every tree contains a contiguous range of the points (those with one sensitive value, say), so that "how many points of
this tree lie in this box" is one search.

Trees that halve their points on the widest axis serve boxes of many axes badly: a box is narrow on a few axes, and
where a node is divided on another, its search goes both ways. So nodes are divided between the boxes that reach them,
by the cut that leaves the fewest pairs of a point and a box on the same side. Boxes from a tree of cuts, as those of
most schemes are, can be divided without cutting any, and their searches go one way. The boxes given decide how long
searches take, and never what they find.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel, part, part_in_place

LEAF = 16
"""A node with at most this many points is not split."""

SHARE = 8
"""A cut between boxes leaves at least the points of the node divided by this on either side."""

LEVELS = 256
"""More than the depth of any tree: a split leaves at most 7 / 8 of the points on a side, and no machine stores
(8 / 7) to the power of this many."""

SOME, MANY = 32, 256
"""How many boxes and points are looked at on every axis to choose one, and on the chosen one to choose the cut."""


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
def plant(points, weights, firsts, scales, boxes, box_of, starts):
    """Build one tree per range ``firsts[t]`` to ``firsts[t + 1]`` of the points; ``scales`` weighs the axes.

    Tree ``t`` will be searched for the boxes ``box_of[starts[t]:starts[t + 1]]``.
    """
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
    # nodes that are still to be divided, and boxes that may reach them: at most as many as they have points
    waiting, begins = np.empty(trees + LEVELS, np.int64), np.empty(trees + LEVELS, np.int64)
    reaching, held = np.empty(n, np.int64), np.int64(0)
    # all roots come first, then children, always after their parents
    nodes = trees
    for t in range(trees):
        first[t], last[t], waiting[t], begins[t] = firsts[t], firsts[t + 1], t, held
        held = _thin(box_of[starts[t] : starts[t + 1]], firsts[t + 1] - firsts[t], reaching, held)
    top = trees
    while top > 0:
        top -= 1
        node = waiting[top]
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
        near = _meeting(boxes, reaching[begins[top] : held], low[node], high[node])
        held = begins[top]
        if end - start > LEAF and axis >= 0:
            middle = _divide(points, order, start, end, boxes, near)
            if SHARE * min(middle - start, end - middle) < end - start:
                middle = (start + end) // 2
                _select(points, axis, order, start, end, middle)
            left[node] = nodes
            for side_start, side_end in ((start, middle), (middle, end)):
                first[nodes], last[nodes], waiting[top], begins[top] = side_start, side_end, nodes, held
                held = _thin(near, side_end - side_start, reaching, held)
                nodes += 1
                top += 1
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


@part_in_place
def _thin(given, most, result, at):
    """Write the boxes given from position ``at`` on, or if they exceed ``most``, that number of evenly spaced ones;
    return the position after them."""
    number = min(given.shape[0], most)
    for i in range(number):
        result[at + i] = given[i * given.shape[0] // number]
    return at + number


@part
def _meeting(boxes, given, least, most):
    """Return which of the boxes given meet another."""
    chosen = np.empty(given.shape[0], np.int64)
    number = 0
    for box in given:
        meets = True
        for j in range(least.shape[0]):
            if boxes.low[box, j] > most[j] or boxes.high[box, j] < least[j]:
                meets = False
                break
        if meets:
            chosen[number] = box
            number += 1
    return chosen[:number]


@part
def _divide(points, order, start, end, boxes, near):
    """Rearrange ``order[start:end]`` by the best cut between boxes; return the position of the points after the cut.

    If there are too few points, or no cut has fewer pairs, all points are before it.
    """
    best, axis, cut = 1.0, np.int64(-1), np.int32(0)
    if end - start > SHARE * LEAF and near.shape[0] > 1:
        scratch = np.empty((3, MANY), np.int32)
        for j in range(points.shape[1]):
            pairs, _ = _best_cut(points, order, start, end, boxes, near, j, SOME, scratch)
            if pairs < best:
                best, axis = pairs, np.int64(j)
        if axis >= 0:
            best, cut = _best_cut(points, order, start, end, boxes, near, axis, MANY, scratch)
    if axis < 0 or best >= 1.0:
        return end
    i, j = start, end - 1
    while i <= j:
        if points[order[i], axis] < cut:
            i += 1
        else:
            order[i], order[j] = order[j], order[i]
            j -= 1
    return i


@part
def _best_cut(points, order, start, end, boxes, near, axis, number, scratch):
    """Return the share of pairs of a point and a box on the same side of the best cut of an axis, and the cut: the
    smallest code after it. A box that is cut is on both sides.

    At most ``number`` points and boxes are looked at, evenly spaced; a cut with too few points on a side is none.
    """
    some, many = min(near.shape[0], number), min(end - start, number)
    lows, highs, codes = scratch[0, :some], scratch[1, :some], scratch[2, :many]
    for i in range(some):
        box = near[i * near.shape[0] // some]
        lows[i], highs[i] = boxes.low[box, axis], boxes.high[box, axis]
    for i in range(many):
        codes[i] = points[order[start + i * (end - start) // many], axis]
    lows.sort()
    highs.sort()
    codes.sort()
    best, cut = 1.0, np.int32(0)
    ended, before = 0, 0
    for begun in range(some):
        while ended < some and highs[ended] < lows[begun]:
            ended += 1
        while before < many and codes[before] < lows[begun]:
            before += 1
        pairs = (before * begun + (many - before) * (some - ended)) / (some * many)
        if pairs < best and SHARE * min(before, many - before) >= many:
            best, cut = pairs, lows[begun]
    return best, cut


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
