"""The two halves of a cut: what each holds, and what they cost together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.boxes.boxes import HIGH, LOW, NO_HIGH, NO_LOW
from discreet.kernels.compiling import inlined, part_in_place
from discreet.kernels.costs import box_cost
from discreet.kernels.judging import strain

EASE = 0.8
"""A half of at most this strain is far enough from its bounds to be cut again."""
LEFT, RIGHT, WHOLE = 0, 1, 2


class Halves(NamedTuple):
    """What the two halves of a cut hold, and the whole group; scratch memory."""

    counts: NDArray[np.int64]
    """Per half, and of the whole: how many rows have each value."""
    boxes: NDArray[np.int32]
    """Per half, and of the whole: its box."""


@part_in_place
def join_blocks(b, edges, present, blocks, halves):
    """Counts of the left half and boxes of both when the blocks up to ``b`` go left and the others, the
    last of which is behind so many edges, right."""
    for i in present:
        halves.counts[LEFT, i] = blocks.counts[b, i]
    for side in range(2):
        first, last = (0, b) if side == LEFT else (b + 1, edges)
        for a in range(halves.boxes.shape[2]):
            low, high = blocks.boxes[first, LOW, a], blocks.boxes[first, HIGH, a]
            for c in range(first + 1, last + 1):
                if blocks.boxes[c, LOW, a] < low:
                    low = blocks.boxes[c, LOW, a]
                if blocks.boxes[c, HIGH, a] > high:
                    high = blocks.boxes[c, HIGH, a]
            halves.boxes[side, LOW, a] = low
            halves.boxes[side, HIGH, a] = high


@part_in_place
def take_rows(points, classes, order, strata, present, takings, halves):
    """The same when ``takings.x`` rows of every stratum go left. Returns the size of the left half."""
    taken, boxes = takings.taken, halves.boxes
    n, d = points.shape
    for i in present:
        taken[strata[i]] = 0
        halves.counts[LEFT, i] = 0
    size = 0
    for side in range(2):
        for j in range(d):
            boxes[side, LOW, j] = NO_LOW
            boxes[side, HIGH, j] = NO_HIGH
    for t in range(n):
        r = order[t]
        i = classes[r]
        s = strata[i]
        side = RIGHT
        if taken[s] < takings.x[s]:
            taken[s] += 1
            halves.counts[LEFT, i] += 1
            size += 1
            side = LEFT
        for j in range(d):
            code = points[r, j]
            if code < boxes[side, LOW, j]:
                boxes[side, LOW, j] = code
            if code > boxes[side, HIGH, j]:
                boxes[side, HIGH, j] = code
    return size


@inlined
def weigh(left_size, right_size, axes, rules, caution, present, halves):
    """The score of a cut whose left counts and boxes stand in ``halves``; infinite when a half breaks the rules."""
    if left_size == 0 or right_size == 0:
        return np.inf
    cost = 0.0
    tight_left = tight = 0.0
    for side in range(2):  # not two calls of each: what is called twice is compiled twice
        size = left_size
        if side == RIGHT:
            size = right_size
            for i in present:
                halves.counts[RIGHT, i] = halves.counts[WHOLE, i] - halves.counts[LEFT, i]
        tension = strain(halves.counts[side], size, rules, present)
        if tension > 1.0:
            return np.inf
        cost += size * box_cost(axes, halves.boxes[side, LOW], halves.boxes[side, HIGH], size)
        tight_left = tight
        tight = caution * size * (tension - EASE) if tension > EASE else 0.0
    return cost + tight_left + tight
