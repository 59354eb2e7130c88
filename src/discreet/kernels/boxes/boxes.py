"""Boxes of codes: one interval per axis, possibly with gaps.

Where the codes that a box admits on an axis have gaps, ``set_at[box, axis]`` is the number of the set that lists them;
elsewhere it is -1. An empty interval (its low end above its high end) admits nothing. Sets are lists, not masks, so
that they need no more memory than the texts they come from.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel, kernel_in_place, part_in_place

NO_LOW, NO_HIGH = 2147483647, -1
"""The ends of an interval without codes: above and below all of them."""
LOW, HIGH = 0, 1
"""The lines of a box that is one array: the smallest and the largest code on each axis."""


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
    # inside are only boxes that begin within the outer one on any axis, so on the longest, and empty ones
    longest, keys = 0, np.empty(number, np.int64)
    for j in range(d if number > 0 else 0):
        if boxes.high[:, j].max() > boxes.high[:, longest].max():
            longest = j
    for box in range(number):
        keys[box] = boxes.low[box, longest] if boxes.low[box, longest] <= boxes.high[box, longest] else NO_LOW
    order = np.argsort(keys, kind="mergesort")
    keys = keys[order]
    empty = np.searchsorted(keys, NO_LOW)
    sums = np.zeros(width, np.int64)
    others = np.zeros(width, np.bool_)
    touched = np.empty(width, np.int64)
    room = 1024
    found = np.empty((3, room), np.int64)
    filled = 0
    for place in range(chosen.shape[0]):
        outer = chosen[place]
        least, most = boxes.low[outer], boxes.high[outer]
        many = 0
        begin, end = np.searchsorted(keys, least[longest]), np.searchsorted(keys, most[longest] + 1)
        for first, last in ((begin, min(end, empty)), (empty, number)):
            for box in order[first:last]:
                inside = True
                for j in range(d):
                    if boxes.low[box, j] < least[j] or boxes.high[box, j] > most[j]:
                        inside = False
                        break
                for i in range(starts[box], starts[box + 1] if inside else starts[box]):
                    column = columns[i]
                    if sums[column] == 0:
                        touched[many] = column
                        many += 1
                    sums[column] += amounts[i]
                    others[column] = others[column] or box != outer
        for column in touched[:many]:
            if others[column]:
                if filled == room:
                    found = np.concatenate((found, np.empty((3, room), np.int64)), axis=1)
                    room *= 2
                found[0, filled], found[1, filled], found[2, filled] = place, column, sums[column]
                filled += 1
            sums[column] = 0
            others[column] = False
    return found[0, :filled].copy(), found[1, :filled].copy(), found[2, :filled].copy()
