"""How the rows of a group lie along one axis: their steps, their order, and the blocks between positions to cut at."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.boxes.boxes import HIGH, LOW, NO_HIGH, NO_LOW
from discreet.kernels.compiling import part_in_place
from discreet.kernels.shell_sort import sort


class AxisLayout(NamedTuple):
    """How rows lie along the axis at hand; scratch memory."""

    order: NDArray[np.int32]
    """Rows, counted from the first of the group, in the order of the axis."""
    steps: NDArray[np.int32]
    """Per row: its step along the axis."""
    tally: NDArray[np.int32]
    """Per step: how many rows lie before it."""
    block: NDArray[np.int32]
    """Per step: the block it lies in."""
    edges: NDArray[np.int32]
    """Per block: how many rows lie in it and before it."""


class Blocks(NamedTuple):
    """What lies between the edges; scratch memory."""

    counts: NDArray[np.int64]
    """Per block and value, or value of each attribute: how many rows lie in it and before it."""
    boxes: NDArray[np.int32]
    """Per block: its own box."""


class Held(NamedTuple):
    """Which values of each of several attributes a group has; scratch memory."""

    values: NDArray[np.int32]
    """From where the values of an attribute begin: those that rows of the group have."""
    numbers: NDArray[np.int64]
    """Per attribute: how many these are."""


def layout_of(size: int, card: int, positions: int) -> AxisLayout:
    """Scratch memory for groups of up to ``size`` rows on axes of up to ``card`` codes."""
    steps = min(card, 4 * size + 64) + 2
    return AxisLayout(*(np.empty(length, np.int32) for length in (size, size, steps, steps, positions + 2)))


@part_in_place
def lay_out(points, j, low, high, layout):
    """Where the rows of a group lie along axis ``j``: steps from 0 on, and how many rows lie before each
    step, into ``layout``. Returns the number of steps."""
    n = points.shape[0]
    steps, tally = layout.steps, layout.tally
    span = np.int64(high) - low + 1
    if span > 4 * n + 64:  # few rows on a long axis: steps are ranks
        ordered = layout.order[:n]
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
    for c in range(span + 1):
        tally[c] = 0
    for t in range(n):
        tally[steps[t] + 1] += 1
    for c in range(span):
        tally[c + 1] += tally[c]
    return span


@part_in_place
def put_in_order(n, layout):
    """Order the rows that were laid out, ties as they stand; uses up ``layout.tally``."""
    for t in range(n):
        c = layout.steps[t]
        layout.order[layout.tally[c]] = t
        layout.tally[c] += 1


@part_in_place
def find_edges(n, span, positions, layout):
    """Positions in the order of an axis where one step ends and another begins: all of them, or those nearest to equal
    shares. Returns how many; ``layout.block`` tells between which of them each step lies."""
    tally, edges = layout.tally, layout.edges
    changes = 0
    for c in range(1, span):
        if tally[c] > tally[c - 1]:
            changes += 1
    number = 0
    last = 0
    if changes <= positions:
        for c in range(1, span):
            if tally[c] > last:
                edges[number] = tally[c]
                number += 1
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
                edges[number] = edge
                number += 1
                last = edge
    edges[number] = n
    b = 0
    for c in range(span):
        while tally[c] >= edges[b] and b < number:
            b += 1
        layout.block[c] = b
    return number


@part_in_place
def wide(a, n, held):
    """Whether one of several attributes has so many values in a group that they are counted only for cuts that keep the
    rules about the others."""
    return 4 * held.numbers[a] > n


@part_in_place
def fill_blocks(points, sensitive_codes, edges, present, joint, layout, blocks, held):
    """What lies in the blocks before and behind edges: the counts of all rows up to the end of each block, and
    the box of the block alone."""
    counts, boxes = blocks.counts, blocks.boxes
    n, d = points.shape
    for b in range(edges + 1):
        if joint is None:
            for i in present:
                counts[b, i] = 0
        else:
            for j in joint.by_width:
                if wide(j, n, held):
                    continue
                for at in range(joint.offsets[j], joint.offsets[j] + held.numbers[j]):
                    counts[b, joint.offsets[j] + held.values[at]] = 0
        for a in range(d):
            boxes[b, LOW, a] = NO_LOW
            boxes[b, HIGH, a] = NO_HIGH
    for t in range(n):
        b = layout.block[layout.steps[t]]
        if joint is None:
            counts[b, sensitive_codes[t]] += 1
        else:
            for j in joint.by_width:
                if wide(j, n, held):
                    continue
                counts[b, joint.offsets[j] + joint.codes[j, sensitive_codes[t]]] += 1
        for a in range(d):
            code = points[t, a]
            if code < boxes[b, LOW, a]:
                boxes[b, LOW, a] = code
            if code > boxes[b, HIGH, a]:
                boxes[b, HIGH, a] = code
    for b in range(1, edges + 1):
        if joint is None:
            for i in present:
                counts[b, i] += counts[b - 1, i]
        else:
            for j in joint.by_width:
                if wide(j, n, held):
                    continue
                for at in range(joint.offsets[j], joint.offsets[j] + held.numbers[j]):
                    i = joint.offsets[j] + held.values[at]
                    counts[b, i] += counts[b - 1, i]
