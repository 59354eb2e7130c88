"""Which points lie in which boxes: a forest of k-d trees over coded points, and the hot loops that search it.

A *box* is one interval of codes per axis. Where the values it admits on an axis have gaps, ``set_at[box, axis]`` names
the set that lists the codes admitted; elsewhere it is -1. An interval that is empty (its low end above its high end)
admits nothing. Sets are lists, not masks, so that they need no more memory than the texts they come from.

Every tree holds a contiguous range of the points (those with one sensitive value, say), so that "how many points of
this tree lie in this box" is one search. All kernels live in this file because they call each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel

LEAF = 16
"""A node with at most this many points is not split."""

DISJOINT, OVERLAPPING, INSIDE = range(3)


class Boxes(NamedTuple):
    """Boxes in the codes of a table."""

    low: NDArray[np.int32]
    """``low[box, axis]``: the smallest code admitted."""
    high: NDArray[np.int32]
    set_at: NDArray[np.int32]
    """``set_at[box, axis]``: the set of codes admitted where these have gaps, else -1."""
    starts: NDArray[np.int64]
    """``members[starts[s]:starts[s + 1]]``: the codes of set ``s``, ascending."""
    members: NDArray[np.int32]


class Forest(NamedTuple):
    """K-d trees over points; the points are held in the order in which the trees' leaves list them."""

    order: NDArray[np.int64]
    """``order[position]``: which of the points given stands at this position."""
    points: NDArray[np.int32]
    weights: NDArray[np.int64]
    first: NDArray[np.int64]
    """Per node: its first position; ``last`` is the position after its last."""
    last: NDArray[np.int64]
    left: NDArray[np.int64]
    """Per node: its left child, which the right one follows; -1 for a leaf."""
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    totals: NDArray[np.int64]
    """Per node: the weight of its points."""
    roots: NDArray[np.int64]


@kernel
def spans(codes, groups, low, high):
    """The smallest and largest code of every group, into ``low`` and ``high``; group -1 is nobody's."""
    for r in range(codes.shape[0]):
        group = groups[r]
        if group >= 0:
            code = codes[r]
            if code < low[group]:
                low[group] = code
            if code > high[group]:
                high[group] = code


@kernel
def plant(points, weights, firsts, scales):
    """Build one tree per range ``firsts[t]`` to ``firsts[t + 1]`` of the points; ``scales``: what a step is worth."""
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
    # all roots come first; then children, always after their parent
    nodes = trees
    for t in range(trees):
        first[t] = firsts[t]
        last[t] = firsts[t + 1]
    node = 0
    while node < nodes:
        start, end = first[node], last[node]
        for position in range(start, end):
            totals[node] += weights[order[position]]
        axis = -1
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


@kernel
def _select(points, axis, order, start, end, middle):
    """Rearrange ``order[start:end]`` so that no point before ``middle`` stands after one behind it on the axis."""
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


@kernel
def _in_set(boxes, which, code):
    """Whether a set holds a code."""
    low, high = boxes.starts[which], boxes.starts[which + 1]
    while low < high:
        middle = (low + high) // 2
        if boxes.members[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low < boxes.starts[which + 1] and boxes.members[low] == code


@kernel
def _relation(forest, node, boxes, box):
    """How the points of a node lie to a box."""
    relation = INSIDE
    for j in range(forest.low.shape[1]):
        least, most = forest.low[node, j], forest.high[node, j]
        if least > boxes.high[box, j] or most < boxes.low[box, j]:
            return DISJOINT
        if least < boxes.low[box, j] or most > boxes.high[box, j]:
            relation = OVERLAPPING
        which = boxes.set_at[box, j]
        if which >= 0:
            if least == most:
                if not _in_set(boxes, which, least):
                    return DISJOINT
            else:
                relation = OVERLAPPING
    return relation


@kernel
def _holds(forest, position, boxes, box):
    """Whether the point at a position lies in a box."""
    for j in range(forest.points.shape[1]):
        code = forest.points[position, j]
        if code < boxes.low[box, j] or code > boxes.high[box, j]:
            return False
        which = boxes.set_at[box, j]
        if which >= 0 and not _in_set(boxes, which, code):
            return False
    return True


@kernel
def tally(forest, boxes, box_of, tree_of, needs):
    """Per question ``i``: the weight of the points of tree ``tree_of[i]`` in box ``box_of[i]``.

    A search may stop as soon as it has found ``needs[i]``, so answers above that are lower bounds.
    """
    result = np.zeros(box_of.shape[0], np.int64)
    stack = np.empty(256, np.int64)
    for i in range(box_of.shape[0]):
        box = box_of[i]
        stack[0] = forest.roots[tree_of[i]]
        top = 1
        found = 0
        while top > 0 and found < needs[i]:
            top -= 1
            node = stack[top]
            relation = _relation(forest, node, boxes, box)
            if relation == INSIDE:
                found += forest.totals[node]
            elif relation == OVERLAPPING:
                if forest.left[node] < 0:
                    for position in range(forest.first[node], forest.last[node]):
                        if _holds(forest, position, boxes, box):
                            found += forest.weights[position]
                else:
                    stack[top] = forest.left[node]
                    stack[top + 1] = forest.left[node] + 1
                    top += 2
        result[i] = found
    return result


@kernel
def incidences(forest, boxes, box_of, tree_of, numbers):
    """The positions of the points that ``tally`` counts, question after question; ``numbers``: how many each has."""
    result = np.empty(numbers.sum(), np.int64)
    stack = np.empty(256, np.int64)
    at = 0
    for i in range(box_of.shape[0]):
        box = box_of[i]
        stack[0] = forest.roots[tree_of[i]]
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            relation = _relation(forest, node, boxes, box)
            if relation == INSIDE:
                for position in range(forest.first[node], forest.last[node]):
                    result[at] = position
                    at += 1
            elif relation == OVERLAPPING:
                if forest.left[node] < 0:
                    for position in range(forest.first[node], forest.last[node]):
                        if _holds(forest, position, boxes, box):
                            result[at] = position
                            at += 1
                else:
                    stack[top] = forest.left[node]
                    stack[top + 1] = forest.left[node] + 1
                    top += 2
    return result


@kernel
def mixtures(forest, boxes, starts, columns, amounts, width):
    """Per point of the first tree, the sum of what the boxes that hold it contain, in the order of the points given.

    Box ``b`` contains ``amounts[i]`` in column ``columns[i]`` for every ``i`` from ``starts[b]`` to ``starts[b + 1]``.
    A node that lies wholly in a box takes the box's content once, and hands it down at the end.
    """
    nodes = forest.first.shape[0]
    held = np.zeros((nodes, width), np.int64)
    result = np.zeros((forest.points.shape[0], width), np.int64)
    stack = np.empty(256, np.int64)
    for box in range(starts.shape[0] - 1):
        stack[0] = forest.roots[0]
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            relation = _relation(forest, node, boxes, box)
            if relation == INSIDE:
                for i in range(starts[box], starts[box + 1]):
                    held[node, columns[i]] += amounts[i]
            elif relation == OVERLAPPING:
                if forest.left[node] < 0:
                    for position in range(forest.first[node], forest.last[node]):
                        if _holds(forest, position, boxes, box):
                            point = forest.order[position]
                            for i in range(starts[box], starts[box + 1]):
                                result[point, columns[i]] += amounts[i]
                else:
                    stack[top] = forest.left[node]
                    stack[top + 1] = forest.left[node] + 1
                    top += 2
    for node in range(nodes):
        child = forest.left[node]
        if child >= 0:
            for column in range(width):
                held[child, column] += held[node, column]
                held[child + 1, column] += held[node, column]
        else:
            for position in range(forest.first[node], forest.last[node]):
                for column in range(width):
                    result[forest.order[position], column] += held[node, column]
    return result


@kernel
def cover(forest, boxes, presences):
    """Per point of the first tree and the boxes that hold it: how many there are, the largest of their ``presences``,
    and the sum of log(1 - presence), in the order of the points given.

    As in ``mixtures``, a node that lies wholly in a box takes what the box says once, and hands it down at the end.
    """
    nodes, n = forest.first.shape[0], forest.points.shape[0]
    times_at, largest_at, logs_at = np.zeros(nodes, np.int64), np.zeros(nodes), np.zeros(nodes)
    times, largest, logs = np.zeros(n, np.int64), np.zeros(n), np.zeros(n)
    stack = np.empty(256, np.int64)
    for box in range(presences.shape[0]):
        presence = presences[box]
        absent = np.log1p(-presence) if presence < 1.0 else -np.inf
        stack[0] = forest.roots[0]
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            relation = _relation(forest, node, boxes, box)
            if relation == INSIDE:
                times_at[node] += 1
                largest_at[node] = max(largest_at[node], presence)
                logs_at[node] += absent
            elif relation == OVERLAPPING:
                if forest.left[node] < 0:
                    for position in range(forest.first[node], forest.last[node]):
                        if _holds(forest, position, boxes, box):
                            point = forest.order[position]
                            times[point] += 1
                            largest[point] = max(largest[point], presence)
                            logs[point] += absent
                else:
                    stack[top] = forest.left[node]
                    stack[top + 1] = forest.left[node] + 1
                    top += 2
    for node in range(nodes):
        child = forest.left[node]
        if child >= 0:
            for below in (child, child + 1):
                times_at[below] += times_at[node]
                largest_at[below] = max(largest_at[below], largest_at[node])
                logs_at[below] += logs_at[node]
        else:
            for position in range(forest.first[node], forest.last[node]):
                point = forest.order[position]
                times[point] += times_at[node]
                largest[point] = max(largest[point], largest_at[node])
                logs[point] += logs_at[node]
    return times, largest, logs


@kernel
def admitted(boxes, box_of, axis, codes):
    """Per question ``i``: whether box ``box_of[i]`` admits ``codes[i]`` on one axis."""
    result = np.empty(box_of.shape[0], np.bool_)
    for i in range(box_of.shape[0]):
        box, code = box_of[i], codes[i]
        inside = boxes.low[box, axis] <= code <= boxes.high[box, axis]
        which = boxes.set_at[box, axis]
        result[i] = inside and (which < 0 or _in_set(boxes, which, code))
    return result


@kernel
def nested(boxes, chosen, starts, columns, amounts, width):
    """What lies in boxes: per chosen box and column, the sum over all boxes inside it, where these are several.

    Box ``b`` contains ``amounts[i]`` in column ``columns[i]`` for every ``i`` from ``starts[b]`` to ``starts[b + 1]``.
    A box lies inside another when its interval does on every axis; what gaps leave out is not looked at. Returns three
    arrays: places in ``chosen``, columns, and sums.
    """
    number, d = boxes.low.shape
    sums = np.zeros(width, np.int64)
    others = np.zeros(width, np.bool_)
    touched = np.empty(width, np.int64)
    room = 1024
    place_of, column_of, sum_of = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    found = 0
    for place in range(chosen.shape[0]):
        outer = chosen[place]
        many = 0
        for box in range(number):
            inside = True
            for j in range(d):
                if boxes.low[box, j] < boxes.low[outer, j] or boxes.high[box, j] > boxes.high[outer, j]:
                    inside = False
                    break
            if inside:
                for i in range(starts[box], starts[box + 1]):
                    column = columns[i]
                    if sums[column] == 0:
                        touched[many] = column
                        many += 1
                    sums[column] += amounts[i]
                    if box != outer:
                        others[column] = True
        for i in range(many):
            column = touched[i]
            if others[column]:
                if found == room:
                    room *= 2
                    place_of = np.append(place_of, np.empty(found, np.int64))
                    column_of = np.append(column_of, np.empty(found, np.int64))
                    sum_of = np.append(sum_of, np.empty(found, np.int64))
                place_of[found] = place
                column_of[found] = column
                sum_of[found] = sums[column]
                found += 1
            sums[column] = 0
            others[column] = False
    return place_of[:found].copy(), column_of[:found].copy(), sum_of[:found].copy()
