"""The two halves of a cut: what each holds, and what they cost together."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.boxes.boxes import HIGH, LOW, NO_HIGH, NO_LOW
from discreet.kernels.compiling import inlined, part_in_place
from discreet.kernels.costs import box_cost
from discreet.kernels.cuts.layout import wide
from discreet.kernels.judging import rules_about, strain, strain_on_attribute
from discreet.kernels.shell_sort import sort

EASE = 0.8
"""A half of at most this strain is far enough from its bounds to be cut again."""
LEFT, RIGHT, WHOLE = 0, 1, 2


class Halves(NamedTuple):
    """What the two halves of a cut hold, and the whole group; scratch memory."""

    counts: NDArray[np.int64]
    """Per half, and of the whole: how many rows have each value, or each value of each attribute."""
    boxes: NDArray[np.int32]
    """Per half, and of the whole: its box."""


@part_in_place
def count_each(present, joint, counts, halves, held):
    """The counts of each of several attributes' values in the group, and which of them occur, in their order; from the
    ``counts`` of their combinations."""
    if joint is None:  # known from its type: the compiler drops what follows
        return
    for a in range(joint.widths.shape[0]):
        offset = joint.offsets[a]
        number = 0
        for i in present:
            value = joint.codes[a, i]
            if halves.counts[WHOLE, offset + value] == 0:
                held.values[offset + number] = value
                number += 1
            halves.counts[WHOLE, offset + value] += counts[i]
        held.numbers[a] = number
        sort(held.values[offset : offset + number])


@part_in_place
def forget(present, joint, counts, halves, held):
    """Set all counts of the group back to 0."""
    for i in present:
        counts[i] = 0
    for side in range(3):
        if joint is None:
            for i in present:
                halves.counts[side, i] = 0
        else:
            for a in range(joint.widths.shape[0]):
                for at in range(joint.offsets[a], joint.offsets[a] + held.numbers[a]):
                    halves.counts[side, joint.offsets[a] + held.values[at]] = 0


@part_in_place
def join_blocks(b, edges, present, joint, blocks, halves):
    """Counts of the left half and boxes of both when the blocks up to ``b`` go left and the others, the
    last of which is behind this many edges, right. Counts of several attributes are taken when they are judged."""
    if joint is None:
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
def left_of(a, sensitive_codes, b, joint, layout, blocks, halves, held):
    """The counts of one of several attributes' values in the blocks up to ``b``, for the left half."""
    n, offset = sensitive_codes.shape[0], joint.offsets[a]
    counts, values = halves.counts[LEFT], held.values[offset : offset + held.numbers[a]]
    if not wide(a, n, held):
        for value in values:
            counts[offset + value] = blocks.counts[b, offset + value]
        return
    for value in values:
        counts[offset + value] = 0
    for t in range(n):
        if layout.block[layout.steps[t]] <= b:
            counts[offset + joint.codes[a, sensitive_codes[t]]] += 1


@part_in_place
def count_left(sensitive_codes, b, present, joint, layout, x):
    """How many rows of each combination of several attributes' values lie in the blocks up to ``b``, into ``x``."""
    if joint is None:
        return
    for i in present:
        x[i] = 0
    for t in range(sensitive_codes.shape[0]):
        if layout.block[layout.steps[t]] <= b:
            x[sensitive_codes[t]] += 1


@part_in_place
def take_rows(points, sensitive_codes, order, strata, present, joint, takings, halves, held):
    """The same when ``takings.x`` rows of every stratum go left. Returns the size of the left half."""
    taken, boxes = takings.taken, halves.boxes
    n, d = points.shape
    for i in present:
        taken[strata[i]] = 0
    if joint is None:
        for i in present:
            halves.counts[LEFT, i] = 0
    else:
        for a in range(joint.widths.shape[0]):
            for at in range(joint.offsets[a], joint.offsets[a] + held.numbers[a]):
                halves.counts[LEFT, joint.offsets[a] + held.values[at]] = 0
    size = 0
    for side in range(2):
        for j in range(d):
            boxes[side, LOW, j] = NO_LOW
            boxes[side, HIGH, j] = NO_HIGH
    for t in range(n):
        r = order[t]
        i = sensitive_codes[r]
        s = strata[i]
        side = RIGHT
        if taken[s] < takings.x[s]:
            taken[s] += 1
            if joint is None:
                halves.counts[LEFT, i] += 1
            else:
                for a in range(joint.widths.shape[0]):
                    halves.counts[LEFT, joint.offsets[a] + joint.codes[a, i]] += 1
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
def weigh(left_size, right_size, axes, rules, caution, most, sensitive_codes, block, present, work):
    """The score of a cut whose left counts and boxes stand in ``work.halves``; infinite when a half breaks the rules.

    A cut that costs ``most`` or more is of no use, and is not judged. A plain cut takes the blocks up to ``block`` to
    the left; for all others that is -1.
    """
    if left_size == 0 or right_size == 0:
        return np.inf
    halves, cost = work.halves, 0.0
    for side in range(2):  # not two calls of each: what is called twice is compiled twice
        size = right_size if side == RIGHT else left_size
        cost += size * box_cost(axes, halves.boxes[side, LOW], halves.boxes[side, HIGH], size)
    if cost >= most:
        return np.inf
    left, right = _tensions(
        left_size,
        right_size,
        rules,
        sensitive_codes,
        block,
        present,
        rules.joint,
        work.layout,
        work.blocks,
        halves,
        work.held,
    )
    if left > 1.0:
        return np.inf
    return cost + caution * left_size * max(0.0, left - EASE) + caution * right_size * max(0.0, right - EASE)


@part_in_place
def _tensions(left_size, right_size, rules, sensitive_codes, block, present, joint, layout, blocks, halves, held):
    """The strains of both halves; both infinite when one of them breaks the rules."""
    left, right = 0.0, 0.0
    if joint is None:
        for side in range(2):
            size = left_size
            if side == RIGHT:
                size = right_size
                for i in present:
                    halves.counts[RIGHT, i] = halves.counts[WHOLE, i] - halves.counts[LEFT, i]
            left = right
            right = strain(halves.counts[side], size, rules, present)
            if right > 1.0:
                return np.inf, np.inf
        return left, right
    for a in joint.by_width:
        begin, end = joint.offsets[a], joint.offsets[a + 1]
        attribute_rules = rules_about(rules, joint, a)
        values = held.values[begin : begin + held.numbers[a]]
        for side in range(2):
            size = left_size
            counts = halves.counts[side][begin:end]
            if side == RIGHT:
                size = right_size
                for value in values:
                    counts[value] = halves.counts[WHOLE, begin + value] - halves.counts[LEFT, begin + value]
            elif block >= 0:
                left_of(a, sensitive_codes, block, joint, layout, blocks, halves, held)
            tension = strain_on_attribute(counts, size, attribute_rules, values)
            if tension > 1.0:
                return np.inf, np.inf
            if side == RIGHT:
                right = max(right, tension)
            else:
                left = max(left, tension)
    return left, right
