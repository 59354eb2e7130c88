"""The two halves of a cut: what each holds, and what they cost together."""

from __future__ import annotations

import numpy as np

from discreet.kernels.boxes.boxes import NO_HIGH, NO_LOW
from discreet.kernels.compiling import inlined, part
from discreet.kernels.costs import box_cost
from discreet.kernels.judging import strain

EASE = 0.8
"""A half of at most this strain is far enough from its bounds to be cut again."""


@part
def join_blocks(b, edges, present, work):
    """Counts of the left half and boxes of both, into ``work``, when the blocks up to ``b`` go left and the others, the
    last of which is behind so many edges, right."""
    low, high = work.half_low, work.half_high
    block_low, block_high = work.block_low, work.block_high
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
def take_rows(points, classes, strata, present, work):
    """The same when ``work.x`` rows of every stratum go left. Returns the size of the left half."""
    low, high, taken = work.half_low, work.half_high, work.taken
    n, d = points.shape
    for i in present:
        taken[strata[i]] = 0
        work.left[i] = 0
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
            work.left[i] += 1
            size += 1
            side = 0
        for j in range(d):
            code = points[r, j]
            low[side, j] = min(low[side, j], code)
            high[side, j] = max(high[side, j], code)
    return size


@inlined
def weigh(left_size, right_size, axes, rules, caution, present, work):
    """The score of a cut whose counts and boxes stand in ``work``; infinite when a half breaks the rules."""
    if left_size == 0 or right_size == 0:
        return np.inf
    cost = 0.0
    tight_left = tight = 0.0
    for side in range(2):  # not two calls of each: what is called twice is compiled twice
        size = left_size
        counts = work.left
        if side:
            size = right_size
            counts = work.right
            for i in present:
                counts[i] = work.counts[i] - work.left[i]
        tension = strain(counts, size, rules, present)
        if tension > 1.0:
            return np.inf
        cost += size * box_cost(axes, work.half_low[side], work.half_high[side], size)
        tight_left = tight
        tight = caution * size * max(0.0, tension - EASE)
    return cost + tight_left + tight
