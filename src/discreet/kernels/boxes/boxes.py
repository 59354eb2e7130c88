"""Boxes of codes: one interval per axis, possibly with gaps.

Where the codes that a box admits on an axis have gaps, ``set_at[box, axis]`` is the number of the set that lists them;
elsewhere it is -1. An empty interval (its low end above its high end) admits nothing. Sets are lists, not masks, so
that they need no more memory than the texts they come from.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel, kernel_in_place, part, part_in_place

NO_LOW, NO_HIGH = 2147483647, -1
"""The ends of an interval without codes: above and below all of them."""
LOW, HIGH = 0, 1
"""The lines of a box that is one array: the smallest and the largest code on each axis."""

BLOCK = 512
"""How many boxes are compared with another at once, axis by axis."""


class Boxes(NamedTuple):
    """Boxes in the codes of a table."""

    low: NDArray[np.int32]
    """``low[box, axis]``: the smallest code admitted."""
    high: NDArray[np.int32]
    set_at: NDArray[np.int32]
    """``set_at[box, axis]``: the set of admitted codes where these have gaps, else -1."""
    starts: NDArray[np.int64]
    """``members[starts[s]:starts[s + 1]]``: the codes of set ``s``, ascending."""
    members: NDArray[np.int32]


@kernel_in_place
def spans(codes, groups, low, high):
    """Write the smallest and largest code of every group into ``low`` and ``high``, initially without codes.

    Rows of group -1 are skipped.
    """
    for r in range(codes.shape[0]):
        group = groups[r]
        if group >= 0:
            code = codes[r]
            if code < low[group]:
                low[group] = code
            if code > high[group]:
                high[group] = code


@part_in_place
def in_set(boxes, which, code):
    """Whether a set contains a code."""
    low, high = boxes.starts[which], boxes.starts[which + 1]
    while low < high:
        middle = (low + high) // 2
        if boxes.members[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low < boxes.starts[which + 1] and boxes.members[low] == code


def admitted(boxes: Boxes, box_of: NDArray[np.integer], axis: int, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return, per query ``i``, whether box ``box_of[i]`` admits ``codes[i]`` on one axis.

    >>> ends, codes = np.array([[0], [2]], np.int32), np.array([2, 2], np.int32)
    >>> boxes = Boxes(ends, ends + 3, np.array([[-1], [0]], np.int32), np.array([0, 2]), np.array([3, 5], np.int32))
    >>> admitted(boxes, np.array([0, 1]), 0, codes)
    array([ True, False])
    """
    result: NDArray[np.bool_] = (boxes.low[box_of, axis] <= codes) & (codes <= boxes.high[box_of, axis])
    sets = boxes.set_at[box_of, axis].astype(np.int64)
    asked = np.flatnonzero(result & (sets >= 0))
    if len(asked):
        # in one line of all sets, each has a span of numbers to itself
        width = int(max(boxes.members.max(initial=0), codes[asked].max())) + 1
        line = np.repeat(np.arange(len(boxes.starts) - 1), np.diff(boxes.starts)) * width + boxes.members
        result[asked] = np.isin(sets[asked] * width + codes[asked], line)
    return result


@kernel
def nested(boxes, chosen, starts, columns, amounts, width):
    """Sum the contents of all boxes inside each chosen box, per column, where several boxes contribute.

    Box ``b`` contains ``amounts[i]`` in column ``columns[i]`` for every ``i`` from ``starts[b]`` to ``starts[b + 1]``.
    A box lies inside another if its interval does on every axis; gaps are ignored. Returns three arrays: indices into
    ``chosen``, columns, and sums.
    """
    number, d = boxes.low.shape
    longest, codes = 0, 1
    for box in range(number):
        for j in range(d):
            if boxes.high[box, j] >= codes:
                longest, codes = j, boxes.high[box, j] + 1
    order, begin = _by_low(boxes, longest, codes)
    low, high = np.empty((d, number), np.int32), np.empty((d, number), np.int32)
    for at in range(number):
        for j in range(d):
            low[j, at], high[j, at] = boxes.low[order[at], j], boxes.high[order[at], j]
    marks = np.empty(BLOCK, np.uint8)
    sums = np.zeros(width, np.int64)
    others = np.zeros(width, np.bool_)
    touched = np.empty(width, np.int64)
    room = 1024
    place_of, column_of, sum_of = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    filled = 0
    for place in range(chosen.shape[0]):
        outer = chosen[place]
        many = 0
        # inside are only boxes that begin within the outer one, and empty ones
        at, last = begin[codes], number
        if boxes.low[outer, longest] <= boxes.high[outer, longest]:
            at, last = begin[boxes.low[outer, longest]], begin[boxes.high[outer, longest] + 1]
        while at < number:
            if at >= last:
                at, last = max(at, begin[codes]), number
            end = min(at + BLOCK, last)
            if _mark_inside(low, high, boxes.low[outer], boxes.high[outer], at, end, marks):
                for mark in range(end - at):
                    if marks[mark]:
                        box = order[at + mark]
                        for i in range(starts[box], starts[box + 1]):
                            column = columns[i]
                            if sums[column] == 0:
                                touched[many] = column
                                many += 1
                            sums[column] += amounts[i]
                            if box != outer:
                                others[column] = True
            at = end
        for i in range(many):
            column = touched[i]
            if others[column]:
                if filled == room:
                    room *= 2
                    place_of = np.append(place_of, np.empty(filled, np.int64))
                    column_of = np.append(column_of, np.empty(filled, np.int64))
                    sum_of = np.append(sum_of, np.empty(filled, np.int64))
                place_of[filled] = place
                column_of[filled] = column
                sum_of[filled] = sums[column]
                filled += 1
            sums[column] = 0
            others[column] = False
    return place_of[:filled].copy(), column_of[:filled].copy(), sum_of[:filled].copy()


@part
def _by_low(boxes, axis, codes):
    """Return the boxes in the order of their smallest code on an axis of so many codes, those without codes last, and
    where those begin that have each smallest code."""
    number = boxes.low.shape[0]
    begin = np.zeros(codes + 2, np.int64)
    keys = np.empty(number, np.int64)
    for box in range(number):
        keys[box] = boxes.low[box, axis] if boxes.low[box, axis] <= boxes.high[box, axis] else codes
        begin[keys[box] + 1] += 1
    for code in range(codes + 1):
        begin[code + 1] += begin[code]
    order, ends = np.empty(number, np.int64), begin.copy()
    for box in range(number):
        order[ends[keys[box]]] = box
        ends[keys[box]] += 1
    return order, begin


@part_in_place
def _mark_inside(low, high, least, most, start, end, marks):
    """Mark which of the boxes ``start`` to ``end`` lie inside another, and return whether any does."""
    for i in range(marks.shape[0]):
        marks[i] = 1
    for j in range(low.shape[0]):  # noqa: SIM110 (a kernel has no generators)
        if not _narrow(low[j, start:end], high[j, start:end], least[j], most[j], marks):
            return False
    return True


@part_in_place
def _narrow(low, high, least, most, marks):
    """Keep the marks of intervals that lie within another, many at once, and return whether any is left."""
    some = np.uint8(0)
    for i in range(low.shape[0]):
        marks[i] &= np.uint8(low[i] >= least) & np.uint8(high[i] <= most)
        some |= marks[i]
    return some > 0
