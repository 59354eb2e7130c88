"""Rows that move from one group to others, so that boxes shrink and every group keeps the rules."""

from __future__ import annotations

import numpy as np

from discreet.kernels.boxes.boxes import HIGH, LOW, NO_HIGH, NO_LOW
from discreet.kernels.compiling import kernel, part_in_place
from discreet.kernels.costs import box_cost, interval_cost
from discreet.kernels.judging import strain

FEW = 32
"""At most so many rows leave a group at once."""


@part_in_place
def _bound(points, group, after, first, box):
    """The box of the rows in a list, but for those that are marked as in no group."""
    for j in range(points.shape[1]):
        box[LOW, j] = NO_LOW
        box[HIGH, j] = NO_HIGH
    r = first
    while r >= 0:
        if group[r] >= 0:
            _grow(points[r], box, box)
        r = after[r]


@part_in_place
def _grow(point, box, grown):
    """The box with a point in it."""
    for j in range(point.shape[0]):
        grown[LOW, j] = min(box[LOW, j], point[j])
        grown[HIGH, j] = max(box[HIGH, j], point[j])


@part_in_place
def _copy(box, copy):
    """The same box: line by line, as to assign it at once takes long to compile."""
    for j in range(box.shape[1]):
        copy[LOW, j] = box[LOW, j]
        copy[HIGH, j] = box[HIGH, j]


@part_in_place
def _move(classes, row, g, h, group, first, after, before, sizes, counts):
    """Take a row out of the list of group ``g`` and put it in front of that of ``h``."""
    if before[row] >= 0:
        after[before[row]] = after[row]
    else:
        first[g] = after[row]
    if after[row] >= 0:
        before[after[row]] = before[row]
    after[row] = first[h]
    before[row] = -1
    if first[h] >= 0:
        before[first[h]] = row
    first[h] = row
    group[row] = h
    sizes[g] -= 1
    sizes[h] += 1
    counts[g, classes[row]] -= 1
    counts[h, classes[row]] += 1


@part_in_place
def _within(axes, j, low, high, side):
    """The largest interval that costs less, without some codes at one end: under a tree these may be many."""
    cost = interval_cost(axes, j, low, high)
    while low < high and interval_cost(axes, j, low, high) >= cost:
        if side == LOW:
            low += 1
        else:
            high -= 1
    return low, high


@kernel
def move_rows(points, classes, group, number, axes, rules, m, most):
    """Move rows between groups, in place, where that costs less in all.

    The rows at one end of a group's box leave it together, each for the group where it costs least, costly groups
    first. Groups that lose or gain rows are judged: what would break the rules of any of them is undone. After about
    ``most`` comparisons nothing more is tried. Returns how many rows moved, what that saved, and the comparisons.
    """
    n, d = points.shape
    first, after, before = np.full(number, -1, np.int32), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    sizes, counts = np.zeros(number, np.int64), np.zeros((number, m), np.int64)
    for r in range(n - 1, -1, -1):
        g = group[r]
        after[r] = first[g]
        if first[g] >= 0:
            before[first[g]] = r
        first[g] = r
        sizes[g] += 1
        counts[g, classes[r]] += 1
    boxes, costs = np.empty((number, 2, d), np.int32), np.empty(number)
    for g in range(number):
        _bound(points, group, after, first[g], boxes[g])
        costs[g] = sizes[g] * box_cost(axes, boxes[g, LOW], boxes[g, HIGH], sizes[g])
    rest, grown = np.empty((2, d), np.int32), np.empty((2, d), np.int32)
    every = np.arange(np.int32(m))
    leaving, into = np.empty(FEW, np.int32), np.empty(FEW, np.int32)
    kept, had = np.empty((FEW, 2, d), np.int32), np.empty(FEW)
    moved, saved, tried = 0, 0.0, 0
    for g in np.argsort(-costs):
        if tried >= most:
            break
        for face in range(2 * d):
            j, side = face // 2, face % 2
            if boxes[g, LOW, j] == boxes[g, HIGH, j]:
                continue
            low, high = _within(axes, j, boxes[g, LOW, j], boxes[g, HIGH, j], side)
            few = 0
            r = first[g]
            while r >= 0 and few <= FEW:
                if not low <= points[r, j] <= high:
                    if few < FEW:
                        leaving[few] = r
                    few += 1
                r = after[r]
            if few > FEW or few == sizes[g]:
                continue
            for t in range(few):
                group[leaving[t]] = -1
            _bound(points, group, after, first[g], rest)
            for t in range(few):
                group[leaving[t]] = g
            size = sizes[g] - few
            left = size * box_cost(axes, rest[LOW], rest[HIGH], size)
            gain = costs[g] - left
            done = 0
            while done < few and gain > 1e-9:
                row = leaving[done]
                tried += number
                best, to = gain - 1e-9, -1
                for h in range(number):
                    if h == g:
                        continue
                    _grow(points[row], boxes[h], grown)
                    extra = (sizes[h] + 1) * box_cost(axes, grown[LOW], grown[HIGH], sizes[h] + 1) - costs[h]
                    if extra < best:
                        tried += m
                        counts[h, classes[row]] += 1
                        if strain(counts[h], sizes[h] + 1, rules, every) <= 1.0:
                            best, to = extra, h
                        counts[h, classes[row]] -= 1
                if to < 0:
                    break
                _copy(boxes[to], kept[done])
                had[done] = costs[to]
                into[done] = to
                _move(classes, row, g, to, group, first, after, before, sizes, counts)
                _grow(points[row], boxes[to], boxes[to])
                costs[to] += best
                gain -= best
                done += 1
            if done == few and gain > 1e-9 and strain(counts[g], sizes[g], rules, every) <= 1.0:
                moved += few
                saved += gain
                costs[g] = left
                _copy(rest, boxes[g])
                continue
            while done > 0:
                done -= 1
                to = into[done]
                _move(classes, leaving[done], to, g, group, first, after, before, sizes, counts)
                costs[to] = had[done]
                _copy(kept[done], boxes[to])
    return moved, saved, tried
