"""Splitting a table by quasi-identifiers into pieces that can be divided into groups without near rows.

`nearness` defines what is near, and the order of rows.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiling import kernel
from discreet.kernels.costs import bound_box
from discreet.kernels.proximity.nearness import divisible
from discreet.kernels.proximity.positions import cut_codes, cut_costs


@kernel
def split(points, classes, rows, axes, first, last, m, least, positions):
    """Split all rows at values of the quasi-identifiers while both parts stay divisible; reorders the three arrays.

    Of the allowed splits, the one whose parts cost least is made, as in the paper; ``positions`` is how many shares are
    tried on every axis, and 1 is the median alone. Every part keeps the order of its rows. Returns where the pieces
    begin, ascending.
    """
    n, d = points.shape
    part_points = np.empty((n, d), points.dtype)
    part_classes = np.empty(n, classes.dtype)
    part_rows = np.empty(n, rows.dtype)
    tally = np.empty(4 * n + 64, np.int64)
    codes = np.empty(2 * positions, np.int64)
    low, high = np.empty(d, points.dtype), np.empty(d, points.dtype)
    lows, highs = np.empty((2 * positions + 1, d), points.dtype), np.empty((2 * positions + 1, d), points.dtype)
    sizes = np.empty(2 * positions + 1, np.int64)
    costs, lefts = np.empty(2 * positions * d), np.empty(2 * positions * d, np.int64)
    cut_axis, cut_code = np.empty(2 * positions * d, np.int64), np.empty(2 * positions * d, np.int64)
    waiting = np.empty(n, np.int64)  # where the pieces end that are still to be split, the first of them last
    waiting[0] = n
    left_over = 1
    starts = np.empty(n, np.int64)
    pieces = 0
    start = np.int64(0)  # not a constant, for which what is called is compiled once more
    while left_over > 0:
        end = waiting[left_over - 1]
        best_axis, best_code = -1, 0
        if end - start >= 2 * max(m, least):
            bound_box(points, start, end, low, high)
            met = 0
            for j in range(d):
                if low[j] == high[j]:
                    continue
                number = cut_codes(points, start, end, j, np.int64(low[j]), np.int64(high[j]), positions, tally, codes)
                cut_costs(points, start, end, j, codes[:number], axes, lows, highs, sizes, costs[met:], lefts[met:])
                for k in range(number):
                    cut_axis[met + k] = j
                    cut_code[met + k] = codes[k]
                met += number
            for _ in range(met):  # the cheapest first
                k = 0
                for other in range(1, met):
                    if costs[other] < costs[k]:
                        k = other
                if costs[k] == np.inf:
                    break
                costs[k] = np.inf
                size = lefts[k]
                if min(size, end - start - size) < max(m, least):
                    continue
                j, code = cut_axis[k], cut_code[k]
                left, right = start, start + size
                for r in range(start, end):
                    if points[r, j] <= code:
                        part_classes[left] = classes[r]
                        left += 1
                    else:
                        part_classes[right] = classes[r]
                        right += 1
                if divisible(part_classes, start, left, first, last, m, least) and divisible(
                    part_classes, left, end, first, last, m, least
                ):
                    best_axis, best_code = j, code
                    break
        if best_axis < 0:
            starts[pieces] = start
            pieces += 1
            left_over -= 1
            start = end
            continue
        left, away = start, 0
        for r in range(start, end):
            if points[r, best_axis] <= best_code:
                if left != r:
                    for i in range(d):
                        points[left, i] = points[r, i]
                    classes[left] = classes[r]
                    rows[left] = rows[r]
                left += 1
            else:
                for i in range(d):
                    part_points[away, i] = points[r, i]
                part_classes[away] = classes[r]
                part_rows[away] = rows[r]
                away += 1
        for t in range(away):  # not by slices, which take long to compile
            for i in range(d):
                points[left + t, i] = part_points[t, i]
            classes[left + t] = part_classes[t]
            rows[left + t] = part_rows[t]
        waiting[left_over] = left
        left_over += 1
    return starts[:pieces]
