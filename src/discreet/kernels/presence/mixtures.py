"""The combined contents of the boxes that contain a point, for all points of a tree.

A node that lies wholly in a box stores the box's content once, for all its points, and hands it down at the end. So
nodes and points share one array, with the points after the nodes, in the order in which they were given.
"""

import numpy as np

from discreet.kernels.boxes.search import EVERYTHING, room_for, search
from discreet.kernels.compiling import kernel, part


@kernel
def mixtures(forest, boxes, starts, columns, amounts, width):
    """Sum, per point of the first tree, the contents of the boxes that contain it, in the order of the given points.

    Box ``b`` contains ``amounts[i]`` in column ``columns[i]`` for every ``i`` from ``starts[b]`` to ``starts[b + 1]``.
    """
    room = room_for(forest)
    nodes = forest.first.shape[0]
    held = np.zeros((nodes + forest.points.shape[0], width), amounts.dtype)
    for box in range(starts.shape[0] - 1):
        for taker in _takers(forest, boxes, box, room):
            for i in range(starts[box], starts[box + 1]):
                held[taker, columns[i]] += amounts[i]
    _hand_down(forest, held, False)
    return held[nodes:]


@kernel
def cover(forest, boxes, presences):
    """Return, per point of the first tree, how many boxes contain it, and what their ``presences`` amount to.

    These are the largest of the presences, and the sum of log(1 - presence), in the order of the given points.
    """
    room = room_for(forest)
    nodes = forest.first.shape[0]
    takers = nodes + forest.points.shape[0]
    times, largest, logs = np.zeros((takers, 1), np.int64), np.zeros((takers, 1)), np.zeros((takers, 1))
    for box in range(presences.shape[0]):
        presence = presences[box]
        absent = np.log1p(-presence) if presence < 1.0 else -np.inf
        for taker in _takers(forest, boxes, box, room):
            times[taker, 0] += 1
            largest[taker, 0] = max(largest[taker, 0], presence)
            logs[taker, 0] += absent
    _hand_down(forest, times, False)
    _hand_down(forest, largest, True)
    _hand_down(forest, logs, False)
    return times[nodes:, 0], largest[nodes:, 0], logs[nodes:, 0]


@part
def _takers(forest, boxes, box, room):
    """Return the nodes and points of the first tree that a box contains."""
    nodes = forest.first.shape[0]
    number, _ = search(forest, boxes, box, 0, EVERYTHING, room)
    for i in range(number):
        if room.hits[i] >= nodes:
            room.hits[i] = nodes + forest.order[room.hits[i] - nodes]
    return room.hits[:number]


@part
def _hand_down(forest, held, largest):
    """Give every point what the nodes above it hold: the largest of these, or their sum."""
    nodes = forest.first.shape[0]
    for node in range(nodes):  # children come after their parent
        child = forest.left[node]
        if child >= 0:
            _hand(held, node, child, largest)
            _hand(held, node, child + 1, largest)
        else:
            for position in range(forest.first[node], forest.last[node]):
                _hand(held, node, nodes + forest.order[position], largest)


@part
def _hand(held, giver, taker, largest):
    """Give one node or point what another holds."""
    for column in range(held.shape[1]):
        if largest:
            held[taker, column] = max(held[taker, column], held[giver, column])
        else:
            held[taker, column] += held[giver, column]
