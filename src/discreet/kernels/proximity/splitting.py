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
    waiting = [(0, n)]
    starts = np.empty(n, np.int64)
    pieces = 0
    while len(waiting) > 0:
        start, end = waiting.pop()
        best_axis, best_code = -1, 0
        if end - start >= 2 * max(m, least):
            bound_box(points, start, end, low, high)
            met = 0
            for j in range(d):
                if low[j] == high[j]:
                    continue
                found = cut_codes(points, start, end, j, int(low[j]), int(high[j]), positions, tally, codes)
                cut_costs(points, start, end, j, codes[:found], axes, lows, highs, sizes, costs[met:], lefts[met:])
                cut_axis[met : met + found] = j
                cut_code[met : met + found] = codes[:found]
                met += found
            for _ in range(met):  # the cheapest first
                k = np.argmin(costs[:met])
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
            continue
        left, away = start, 0
        for r in range(start, end):
            if points[r, best_axis] <= best_code:
                if left != r:
                    points[left] = points[r]
                    classes[left] = classes[r]
                    rows[left] = rows[r]
                left += 1
            else:
                part_points[away] = points[r]
                part_classes[away] = classes[r]
                part_rows[away] = rows[r]
                away += 1
        points[left:end] = part_points[:away]
        classes[left:end] = part_classes[:away]
        rows[left:end] = part_rows[:away]
        waiting.append((left, end))
        waiting.append((start, left))
    return starts[:pieces]
