"""The two halves of a cut: what each holds, and what they cost together."""

from __future__ import annotations

import numpy as np

from discreet.kernels.boxes.boxes import NO_HIGH, NO_LOW
from discreet.kernels.compiling import inlined, part
from discreet.kernels.costs import box_cost
from discreet.kernels.cuts.layout import wide
from discreet.kernels.judging import rules_about, strain, strain_of_one
from discreet.kernels.sorting import sort

EASE = 0.8
"""A half of at most this strain is far enough from its bounds to be cut again."""


@part
def count_each(present, joint, work):
    """The counts of each of several attributes' values in the group, and which of them occur, in their order."""
    if joint is None:
        return
    for a in range(joint.widths.shape[0]):
        offset = joint.offsets[a]
        number = 0
        for i in present:
            value = joint.codes[a, i]
            if work.totals[offset + value] == 0:
                work.held[offset + number] = value
                number += 1
            work.totals[offset + value] += work.counts[i]
        work.numbers[a] = number
        sort(work.held[offset : offset + number])


@part
def forget(present, joint, work):
    """Set all counts of the group back to 0."""
    for i in present:
        work.counts[i] = 0
    if joint is None:
        for i in present:
            work.left[i] = work.right[i] = 0
        return
    for a in range(joint.widths.shape[0]):
        offset = joint.offsets[a]
        for value in work.held[offset : offset + work.numbers[a]]:
            at = offset + value
            work.totals[at] = work.left[at] = work.right[at] = 0


@part
def join_blocks(b, edges, present, joint, work):
    """Counts of the left half and boxes of both, into ``work``, when the blocks up to ``b`` go left and the others, the
    last of which is behind so many edges, right. Counts of several attributes are taken when they are judged."""
    low, high = work.half_low, work.half_high
    block_low, block_high = work.block_low, work.block_high
    if joint is None:
        for i in present:
            work.left[i] = work.block_counts[b, i]
    for a in range(low.shape[1]):
        low[0, a] = block_low[0, a]
        high[0, a] = block_high[0, a]
        low[1, a] = block_low[edges, a]
        high[1, a] = block_high[edges, a]
        for c in range(1, b + 1):
            low[0, a] = min(low[0, a], block_low[c, a])
            high[0, a] = max(high[0, a], block_high[c, a])
        for c in range(b + 1, edges):
            low[1, a] = min(low[1, a], block_low[c, a])
            high[1, a] = max(high[1, a], block_high[c, a])


@part
def left_of(a, classes, b, joint, work):
    """The counts of one of several attributes' values in the blocks up to ``b``, into ``work.left``."""
    n, offset = classes.shape[0], joint.offsets[a]
    held = work.held[offset : offset + work.numbers[a]]
    if not wide(a, n, work):
        for value in held:
            work.left[offset + value] = work.block_counts[b, offset + value]
        return
    for value in held:
        work.left[offset + value] = 0
    for t in range(n):
        if work.block[work.steps[t]] <= b:
            work.left[offset + joint.codes[a, classes[t]]] += 1


@part
def count_left(classes, b, present, joint, work):
    """How many rows of each combination of several attributes' values lie in the blocks up to ``b``."""
    if joint is None:
        return
    for i in present:
        work.x[i] = 0
    for t in range(classes.shape[0]):
        if work.block[work.steps[t]] <= b:
            work.x[classes[t]] += 1


@part
def take_rows(points, classes, strata, present, joint, work):
    """The same when ``work.x`` rows of every stratum go left. Returns the size of the left half."""
    low, high, taken = work.half_low, work.half_high, work.taken
    n, d = points.shape
    for i in present:
        taken[strata[i]] = 0
    if joint is None:
        for i in present:
            work.left[i] = 0
    else:
        for a in range(joint.widths.shape[0]):
            for at in range(joint.offsets[a], joint.offsets[a] + work.numbers[a]):
                work.left[joint.offsets[a] + work.held[at]] = 0
    size = 0
    for j in range(d):
        low[0, j] = NO_LOW
        low[1, j] = NO_LOW
        high[0, j] = NO_HIGH
        high[1, j] = NO_HIGH
    for t in range(n):
        r = work.order[t]
        i = classes[r]
        s = strata[i]
        side = 1
        if taken[s] < work.x[s]:
            taken[s] += 1
            if joint is None:
                work.left[i] += 1
            else:
                for a in range(joint.widths.shape[0]):
                    work.left[joint.offsets[a] + joint.codes[a, i]] += 1
            size += 1
            side = 0
        for j in range(d):
            code = points[r, j]
            low[side, j] = min(low[side, j], code)
            high[side, j] = max(high[side, j], code)
    return size


@inlined
def weigh(left_size, right_size, axes, rules, caution, most, classes, block, present, work):
    """The score of a cut whose counts and boxes stand in ``work``; infinite when a half breaks the rules.

    A cut that costs ``most`` or more is of no use, and is not judged. A plain cut takes the blocks up to ``block`` to
    the left; for all others that is -1.
    """
    if left_size == 0 or right_size == 0:
        return np.inf
    cost = 0.0
    for side in range(2):  # not two calls of each: what is called twice is compiled twice
        size = right_size if side else left_size
        cost += size * box_cost(axes, work.half_low[side], work.half_high[side], size)
    if cost >= most:
        return np.inf
    left, right = _tensions(left_size, right_size, rules, classes, block, present, work, rules.joint)
    tight = caution * left_size * max(0.0, left - EASE)
    return cost + tight + caution * right_size * max(0.0, right - EASE) if left <= 1.0 else np.inf


@part
def _tensions(left_size, right_size, rules, classes, block, present, work, joint):
    """The strains of both halves; both infinite when one of them breaks the rules."""
    left, right = 0.0, 0.0
    if joint is None:
        for side in range(2):
            size = left_size
            counts = work.left
            if side:
                size = right_size
                counts = work.right
                for i in present:
                    counts[i] = work.counts[i] - work.left[i]
            left = right
            right = strain(counts, size, rules, present)
            if right > 1.0:
                return np.inf, np.inf
        return left, right
    for a in joint.by_width:
        begin, end = joint.offsets[a], joint.offsets[a + 1]
        own = rules_about(rules, joint, a)
        held = work.held[begin : begin + work.numbers[a]]
        for side in range(2):
            size = left_size
            counts = work.left[begin:end]
            if side:
                size = right_size
                counts = work.right[begin:end]
                for value in held:
                    counts[value] = work.totals[begin + value] - work.left[begin + value]
            elif block >= 0:
                left_of(a, classes, block, joint, work)
            tension = strain_of_one(counts, size, own, held)
            if tension > 1.0:
                return np.inf, np.inf
            if side:
                right = max(right, tension)
            else:
                left = max(left, tension)
    return left, right
