"""A node surveyed: along every axis its rows in blocks, and the cuts that put some blocks left and the others right."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.boxes.boxes import HIGH, LOW, NO_HIGH, NO_LOW
from discreet.kernels.compiling import part_in_place
from discreet.kernels.costs import interval_cost
from discreet.kernels.cuts.layout import AxisLayout, find_edges, lay_out, layout_of

HELD = 2
"""The lines of a box from here on: after ``LOW`` and ``HIGH``, on axes of sets a bit for every code."""
BITS = 63
BY_NUMBER = 0.4
"""How large a part of what a set costs in the search is the number of codes it holds; the rest is by the node above
them. By number alone, one frequent code and one rare code together cost next to nothing among many codes, and whoever
then takes the codes of a set for equally likely is wrong about both. Chosen on Adult and on a census of 10,000 rows."""


class Survey(NamedTuple):
    """What is known of a node and its blocks; a *slot* is a value that some local row of the node has."""

    slots: NDArray[np.int32]
    """Per row of the node: the slot of its value; -1 when the row is lifted above the node."""
    layout: AxisLayout
    """How the rows of the node lie along the axis at hand."""
    box: NDArray[np.int64]
    """The box of the node."""
    boxes: NDArray[np.int64]
    """Per block of the axis at hand: its box; ``before``: the box of all blocks up to it; ``behind``: from it on."""
    before: NDArray[np.int64]
    behind: NDArray[np.int64]
    joined: NDArray[np.int64]
    """Per child: the box of a cut that is looked at."""
    persons: NDArray[np.int64]
    """Per axis and block: how many persons lie in it and before it; ``rows``: how many local rows."""
    rows: NDArray[np.int64]
    counts: NDArray[np.int32]
    """Per axis, block and slot: how many local rows lie in it and before it."""
    totals: NDArray[np.int64]
    """Per slot: how many local rows the node has."""
    axis: NDArray[np.int64]
    """Per cut: its axis; the blocks ``first`` to ``last`` go left, those from the code ``low`` to the code ``high``."""
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    losses: NDArray[np.float64]
    """Per cut and child: what a row costs that stays in it."""
    least: NDArray[np.float64]
    """Per cut: what it costs when nothing is lifted."""


def survey_of(size: int, d: int, slots: int, card: int, positions: int, height: int, most_in_set: int) -> Survey:
    """Room for surveys of nodes of up to ``size`` persons."""
    blocks = positions + 1
    lines = HELD + (most_in_set + BITS - 1) // BITS
    cuts = d * blocks * (2 + height)
    return Survey(
        np.empty(size, np.int32),
        layout_of(size, card, positions),
        np.empty((lines, d), np.int64),
        np.empty((blocks, lines, d), np.int64),
        np.empty((blocks, lines, d), np.int64),
        np.empty((blocks, lines, d), np.int64),
        np.empty((2, lines, d), np.int64),
        np.empty((d, blocks), np.int64),
        np.empty((d, blocks), np.int64),
        np.empty((d, blocks, slots), np.int32),
        np.empty(slots, np.int64),
        np.empty(cuts, np.int64),
        np.empty(cuts, np.int64),
        np.empty(cuts, np.int64),
        np.empty(cuts, np.int64),
        np.empty(cuts, np.int64),
        np.empty((cuts, 2)),
        np.empty(cuts),
    )


@part_in_place
def find_box(points, sets, survey):
    """The box of the rows of a node, into ``survey``."""
    box = survey.box
    _clear(box)
    for t in range(points.shape[0]):
        _include(points, t, sets, box)


@part_in_place
def box_loss(axes, sets, box, by_number):
    """What a row costs that is published under this box; ``by_number``: the part of a set's cost that counts codes."""
    total = 0.0
    for j in range(sets.shape[0]):
        if sets[j]:
            held = 0
            for line in range(HELD, box.shape[0]):
                bits = box[line, j]
                while bits:
                    bits &= bits - 1
                    held += 1
            total += axes.weights[j] * by_number * (held - 1) / max(1, axes.cards[j] - 1)
        other = 1.0 - by_number if sets[j] else 1.0
        if other > 0.0:
            total += axes.weights[j] * other * interval_cost(axes, j, box[LOW, j], box[HIGH, j])
    return total


@part_in_place
def find_cuts(points, number, axes, terms, positions, survey):
    """All cuts of a node whose local rows have this many slots, into ``survey``; returns how many there are."""
    listed = np.int64(0)  # as it will be: for a constant, what is called is compiled once more
    for j in range(points.shape[1]):
        if survey.box[LOW, j] < survey.box[HIGH, j]:
            steps = lay_out(points, j, survey.box[LOW, j], survey.box[HIGH, j], survey.layout)
            blocks = find_edges(points.shape[0], steps, positions, survey.layout) + 1
            _fill(points, j, number, blocks, terms.sets, survey)
            listed = _list_cuts(j, blocks, axes, terms, survey, listed)
    return listed


@part_in_place
def _fill(points, j, number, blocks, sets, survey):
    """Count persons, local rows and slots, and bound the boxes, of the blocks along an axis that was laid out."""
    persons, rows, counts = survey.persons[j], survey.rows[j], survey.counts[j]
    for b in range(blocks):
        persons[b] = 0
        rows[b] = 0
        for i in range(number):
            counts[b, i] = 0
        _clear(survey.boxes[b])
    for t in range(points.shape[0]):
        b = survey.layout.block[survey.layout.steps[t]]
        persons[b] += 1
        i = survey.slots[t]
        if i >= 0:
            rows[b] += 1
            counts[b, i] += 1
        _include(points, t, sets, survey.boxes[b])
    for b in range(1, blocks):
        persons[b] += persons[b - 1]
        rows[b] += rows[b - 1]
        for i in range(number):
            counts[b, i] += counts[b - 1, i]
    for b in range(blocks):
        back = blocks - 1 - b
        _join(survey.boxes[b], survey.boxes[b] if b == 0 else survey.before[b - 1], survey.before[b])
        _join(survey.boxes[back], survey.boxes[back] if b == 0 else survey.behind[back + 1], survey.behind[back])


@part_in_place
def _list_cuts(j, blocks, axes, terms, survey, listed):
    """The cuts along one axis: up to a block; of categories also one block, or the blocks under one node of their
    hierarchy, against the others."""
    left, right = survey.joined[0], survey.joined[1]
    for b in range(blocks - 1):
        _join(survey.before[b], survey.before[b], left)
        _join(survey.behind[b + 1], survey.behind[b + 1], right)
        listed = _list(j, np.int64(0), b, blocks, axes, terms.sets, survey, listed)
    top = max(0, axes.levels[j] - 1) if terms.unordered[j] else -1  # where one node is above all
    for level in range(-1, top):
        first = np.int64(1)
        while first < blocks:
            last = first
            _join(survey.boxes[first], survey.boxes[first], left)
            if level >= 0:
                at = axes.offsets[j] + level * axes.cards[j]
                node = axes.ancestors[at + survey.boxes[first, LOW, j]]
                while last + 1 < blocks and axes.ancestors[at + survey.boxes[last + 1, HIGH, j]] == node:
                    last += 1
                    _join(survey.boxes[last], left, left)
            # what ends with the last block was listed as its rest, and one block as that
            if last + 1 < blocks and (level < 0 or last > first):
                _join(survey.before[first - 1], survey.behind[last + 1], right)
                listed = _list(j, first, last, blocks, axes, terms.sets, survey, listed)
            first = last + 1
    return listed


@part_in_place
def _list(j, first, last, blocks, axes, sets, survey, listed):
    """Put down a cut whose children have the boxes ``joined``."""
    survey.axis[listed] = j
    survey.first[listed] = first
    survey.last[listed] = last
    survey.low[listed] = survey.joined[0, LOW, j]
    survey.high[listed] = survey.joined[0, HIGH, j]
    for c in range(2):
        survey.losses[listed, c] = box_loss(axes, sets, survey.joined[c], BY_NUMBER)
    left = survey.rows[j, last] - (survey.rows[j, first - 1] if first > 0 else 0)
    right = survey.rows[j, blocks - 1] - left
    survey.least[listed] = left * survey.losses[listed, 0] + right * survey.losses[listed, 1]
    return listed + 1


@part_in_place
def _clear(box):
    for a in range(box.shape[1]):
        box[LOW, a] = NO_LOW
        box[HIGH, a] = NO_HIGH
        for line in range(HELD, box.shape[0]):
            box[line, a] = 0


@part_in_place
def _include(points, t, sets, box):
    for a in range(points.shape[1]):
        code = points[t, a]
        box[LOW, a] = min(box[LOW, a], code)
        box[HIGH, a] = max(box[HIGH, a], code)
        if sets[a]:
            box[HELD + code // BITS, a] |= np.int64(1) << (code % BITS)


@part_in_place
def _join(box, other, into):
    for a in range(into.shape[1]):
        into[LOW, a] = min(box[LOW, a], other[LOW, a])
        into[HIGH, a] = max(box[HIGH, a], other[HIGH, a])
        for line in range(HELD, into.shape[0]):
            into[line, a] = box[line, a] | other[line, a]
