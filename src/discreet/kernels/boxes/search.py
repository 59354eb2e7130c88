"""Search for the points of a forest in boxes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.boxes.boxes import in_set
from discreet.kernels.boxes.forest import LEVELS
from discreet.kernels.compiling import kernel

DISJOINT, OVERLAPPING, INSIDE = range(3)

EVERYTHING = 2**63 - 1
"""More than any tree weighs: a search with this limit finds everything."""


class Room(NamedTuple):
    """Scratch memory of searches."""

    waiting: NDArray[np.int64]
    """Nodes still to visit: at most one per level, and two on the last."""
    hits: NDArray[np.int64]
    """What lies in the box: nodes whose points all do, and points of other leaves, encoded as the number of nodes plus
    their position."""


@kernel
def room_for(forest):
    """Return scratch memory for any search of a forest."""
    return Room(np.empty(LEVELS, np.int64), np.empty(forest.first.shape[0] + forest.points.shape[0], np.int64))


@kernel
def search(forest, boxes, box, tree, enough, room):
    """Write what lies in a box of one tree into ``room.hits``; return the number of entries and their weight.

    The search stops as soon as the weight is ``enough``.
    """
    # One function, with the box as three rows: passing arrays to a function that compares a node or a point, or slicing
    # rows there, takes five times as long as the comparison itself.
    waiting, hits = room.waiting, room.hits
    points, least, most, left = forest.points, forest.low, forest.high, forest.left
    low, high, set_at = boxes.low[box], boxes.high[box], boxes.set_at[box]
    nodes = left.shape[0]
    waiting[0] = forest.roots[tree]
    top = 1
    number = 0
    weight = 0
    while top > 0 and weight < enough:
        top -= 1
        node = waiting[top]
        relation = INSIDE
        for j in range(low.shape[0]):
            if least[node, j] > high[j] or most[node, j] < low[j]:
                relation = DISJOINT
                break
            if least[node, j] < low[j] or most[node, j] > high[j]:
                relation = OVERLAPPING
            if set_at[j] >= 0:
                if least[node, j] != most[node, j]:
                    relation = OVERLAPPING
                elif not in_set(boxes, set_at[j], least[node, j]):
                    relation = DISJOINT
                    break
        if relation == INSIDE:
            hits[number] = node
            number += 1
            weight += forest.totals[node]
        elif relation == OVERLAPPING and left[node] >= 0:
            waiting[top] = left[node]
            waiting[top + 1] = left[node] + 1
            top += 2
        elif relation == OVERLAPPING:
            for position in range(forest.first[node], forest.last[node]):
                inside = True
                for j in range(low.shape[0]):
                    code = points[position, j]
                    if code < low[j] or code > high[j] or (set_at[j] >= 0 and not in_set(boxes, set_at[j], code)):
                        inside = False
                        break
                if inside:
                    hits[number] = nodes + position
                    number += 1
                    weight += forest.weights[position]
    return number, weight


@kernel
def tally(forest, boxes, box_of, tree_of, needs):
    """Return, per query ``i``, the weight of the points of tree ``tree_of[i]`` in box ``box_of[i]``.

    A search stops as soon as it has found ``needs[i]``, so answers at or above that are lower bounds.
    """
    room = room_for(forest)
    result = np.empty(box_of.shape[0], np.int64)
    for i in range(box_of.shape[0]):
        _, result[i] = search(forest, boxes, box_of[i], tree_of[i], needs[i], room)
    return result


@kernel
def _ends(forest, place):
    """Return the first position of an entry of ``room.hits``, and the one after its last."""
    nodes = forest.first.shape[0]
    if place < nodes:
        return forest.first[place], forest.last[place]
    return place - nodes, place - nodes + 1


@kernel
def incidences(forest, boxes, box_of, tree_of, limit):
    """Return the number of points of tree ``tree_of[i]`` in box ``box_of[i]`` per query, and all their positions.

    Once there are more positions than ``limit``, the remaining queries are skipped and get -1.
    """
    room = room_for(forest)
    numbers = np.full(box_of.shape[0], -1, np.int64)
    space = 1024
    result = np.empty(space, np.int64)
    filled = 0
    for i in range(box_of.shape[0]):
        many, _ = search(forest, boxes, box_of[i], tree_of[i], EVERYTHING, room)
        before = filled
        for place in room.hits[:many]:
            first, last = _ends(forest, place)
            while filled + last - first > space:
                result = np.append(result, np.empty(space, np.int64))
                space *= 2
            for position in range(first, last):
                result[filled] = position
                filled += 1
        numbers[i] = filled - before
        if filled > limit:
            break
    return numbers, result[:filled].copy()


@kernel
def sums_inside(forest, boxes, box_of, starts, columns, amounts, width, wanted):
    """Return, per query ``i``, the sum in column ``wanted[i]`` over the points of the first tree in box ``box_of[i]``.

    The point at a position has ``amounts[e]`` in column ``columns[e]`` for every ``e`` from ``starts[position]`` to
    ``starts[position + 1]``. Queries about the same box must be consecutive: it is searched once.
    """
    room = room_for(forest)
    sums = np.zeros(width, np.int64)
    result = np.empty(box_of.shape[0], np.int64)
    i = 0
    while i < box_of.shape[0]:
        box = box_of[i]
        many, _ = search(forest, boxes, box, 0, EVERYTHING, room)
        for place in room.hits[:many]:
            first, last = _ends(forest, place)
            for e in range(starts[first], starts[last]):
                sums[columns[e]] += amounts[e]
        while i < box_of.shape[0] and box_of[i] == box:
            result[i] = sums[wanted[i]]
            i += 1
        for place in room.hits[:many]:
            first, last = _ends(forest, place)
            for e in range(starts[first], starts[last]):
                sums[columns[e]] = 0
    return result
