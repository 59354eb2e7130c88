"""How the rows of a group lie along one axis: their steps, their order, and the blocks between positions to cut at."""

from __future__ import annotations

from discreet.kernels.boxes.boxes import NO_HIGH, NO_LOW
from discreet.kernels.compiling import part
from discreet.kernels.sorting import sort


@part
def lay_out(points, j, low, high, work):
    """Where the rows of a group lie along axis ``j``: steps from 0 on into ``work.steps``, and how many rows lie before
    each step into ``work.tally``. Returns the number of steps."""
    n = points.shape[0]
    steps, tally = work.steps, work.tally
    span = high - low + 1
    if span > 4 * n + 64:  # few rows on a long axis: steps are ranks
        ordered = work.order[:n]
        for t in range(n):
            ordered[t] = points[t, j]
        sort(ordered)
        span = 0
        for t in range(n):
            if t == 0 or ordered[t] != ordered[span - 1]:
                ordered[span] = ordered[t]
                span += 1
        for t in range(n):
            rank = 0
            above = span
            while above - rank > 1:
                middle = (rank + above) // 2
                if ordered[middle] <= points[t, j]:
                    rank = middle
                else:
                    above = middle
            steps[t] = rank
    else:
        for t in range(n):
            steps[t] = points[t, j] - low
    tally[: span + 1] = 0
    for t in range(n):
        tally[steps[t] + 1] += 1
    for c in range(span):
        tally[c + 1] += tally[c]
    return span


@part
def put_in_order(n, work):
    """Order the rows that were laid out, ties as they stand, into ``work.order``; uses up ``work.tally``."""
    for t in range(n):
        c = work.steps[t]
        work.order[work.tally[c]] = t
        work.tally[c] += 1


@part
def find_edges(n, span, positions, work):
    """Positions in the order of an axis where one step ends and another begins: all of them, or those nearest to equal
    shares. Returns how many; ``work.block`` tells between which of them each step lies."""
    tally, edges = work.tally, work.edges
    changes = 0
    for c in range(1, span):
        if tally[c] > tally[c - 1]:
            changes += 1
    found = 0
    last = 0
    if changes <= positions:
        for c in range(1, span):
            if tally[c] > last:
                edges[found] = tally[c]
                found += 1
                last = tally[c]
    else:
        c = 1
        for k in range(positions):
            target = (k + 1) * n // (positions + 1)
            while c < span - 1 and tally[c + 1] <= target:
                c += 1
            # tally[c] is the last change up to the target (or the first of all), tally[c + 1] the next one
            edge = tally[c]
            if c + 1 < span and (edge <= last or target - edge > tally[c + 1] - target):
                edge = tally[c + 1]
            if last < edge < n:
                edges[found] = edge
                found += 1
                last = edge
    edges[found] = n
    b = 0
    for c in range(span):
        while tally[c] >= edges[b] and b < found:
            b += 1
        work.block[c] = b
    return found


@part
def wide(j, n, work):
    """Whether one of several attributes has so many values in a group that they are counted only for cuts that keep the
    rules about the others."""
    return 4 * work.numbers[j] > n


@part
def fill_blocks(points, classes, edges, present, joint, work):
    """What lies in the blocks before and behind so many edges: the counts of all rows up to the end of each block, and
    the box of the block alone."""
    counts, low, high = work.block_counts, work.block_low, work.block_high
    n, d = points.shape
    for b in range(edges + 1):
        if joint is None:
            for i in present:
                counts[b, i] = 0
        else:
            for j in joint.by_width:
                if wide(j, n, work):
                    continue
                for at in range(joint.offsets[j], joint.offsets[j] + work.numbers[j]):
                    counts[b, joint.offsets[j] + work.held[at]] = 0
        for a in range(d):
            low[b, a] = NO_LOW
            high[b, a] = NO_HIGH
    for t in range(n):
        b = work.block[work.steps[t]]
        if joint is None:
            counts[b, classes[t]] += 1
        else:
            for j in joint.by_width:
                if wide(j, n, work):
                    continue
                counts[b, joint.offsets[j] + joint.codes[j, classes[t]]] += 1
        for a in range(d):
            code = points[t, a]
            low[b, a] = min(low[b, a], code)
            high[b, a] = max(high[b, a], code)
    for b in range(1, edges + 1):
        if joint is None:
            for i in present:
                counts[b, i] += counts[b - 1, i]
        else:
            for j in joint.by_width:
                if wide(j, n, work):
                    continue
                for at in range(joint.offsets[j], joint.offsets[j] + work.numbers[j]):
                    i = joint.offsets[j] + work.held[at]
                    counts[b, i] += counts[b - 1, i]
