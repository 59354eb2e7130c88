"""Splitting a table by quasi-identifiers into pieces that can be divided into groups without near rows.

Where a piece may be cut along a quasi-identifier, and the cost of the two sides; `nearness` defines what is near, and
the order of rows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.families.proximity.kernels.nearness import divisible
from discreet.kernels.boxes.boxes import NO_HIGH, NO_LOW
from discreet.kernels.compiling import kernel, part, part_in_place
from discreet.kernels.costs import bound_box, box_cost
from discreet.kernels.shell_sort import sort


class AxisCuts(NamedTuple):
    """The cuts of a piece: rows up to ``code`` on ``axis`` go left."""

    axis: NDArray[np.int64]
    code: NDArray[np.int64]
    costs: NDArray[np.float64]
    lefts: NDArray[np.int64]
    """How many rows go left."""


@part
def list_cuts(points, start, end, axes, positions):
    """Return the cuts of the rows ``start`` to ``end``; of every axis ``positions`` shares are tried."""
    n, d = end - start, points.shape[1]
    low, high = np.empty(d, points.dtype), np.empty(d, points.dtype)
    bound_box(points, start, end, low, high)
    tally, codes = np.empty(4 * n + 64, np.int64), np.empty(2 * positions, np.int64)
    lows, highs = np.empty((2 * positions + 1, d), points.dtype), np.empty((2 * positions + 1, d), points.dtype)
    sizes = np.empty(2 * positions + 1, np.int64)
    most = 2 * positions * d
    cuts = AxisCuts(np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most), np.empty(most, np.int64))
    met = 0
    for j in range(d):
        if low[j] < high[j]:
            number = _cut_codes(points, start, end, j, np.int64(low[j]), np.int64(high[j]), positions, tally, codes)
            some = codes[:number]
            _cut_costs(points, start, end, j, some, axes, lows, highs, sizes, cuts.costs[met:], cuts.lefts[met:])
            for k in range(number):
                cuts.axis[met + k] = j
                cuts.code[met + k] = codes[k]
            met += number
    return AxisCuts(cuts.axis[:met], cuts.code[:met], cuts.costs[:met], cuts.lefts[:met])


@part_in_place
def _cut_codes(points, start, end, j, low, high, positions, tally, codes):
    """Write the codes of axis ``j`` up to which rows may go left, those around equal shares; return how many."""
    n = end - start
    span = high - low + 1
    number = 0
    counted = span <= 4 * n + 64
    ordered = tally[:n]
    if counted:
        for code in range(span):
            tally[code] = 0
        for r in range(start, end):
            tally[points[r, j] - low] += 1
    else:  # few rows on a long axis
        for t in range(n):
            ordered[t] = points[start + t, j]
        sort(ordered)
    c = 0
    below = 0  # rows before code low + c
    held = low - 1  # the last code before that with rows
    for k in range(positions):
        target = (k + 1) * (n - 1) // (positions + 1)
        code = low
        if counted:
            while below + tally[c] <= target:
                if tally[c] > 0:
                    held = low + c
                below += tally[c]
                c += 1
            code = low + c
        else:
            code = ordered[target]
            before = target
            while before > 0 and ordered[before - 1] == code:
                before -= 1
            held = ordered[before - 1] if before > 0 else low - 1
        if held >= low and (number == 0 or held > codes[number - 1]):
            codes[number] = held
            number += 1
        if code < high and (number == 0 or code > codes[number - 1]):
            codes[number] = code
            number += 1
    return number


@part
def _cut_costs(points, start, end, j, codes, axes, low, high, sizes, costs, lefts):
    """Write, per code of axis ``j`` (ascending), the cost of both sides of the cut, and how many rows go left.

    Every row is counted once, between two codes; the sides of a code are composed from these.
    """
    d = points.shape[1]
    number = codes.shape[0]
    for k in range(number + 1):
        sizes[k] = 0
        for i in range(d):
            low[k, i] = NO_LOW
            high[k, i] = NO_HIGH
    for r in range(start, end):
        code = points[r, j]
        k, top = 0, number
        while k < top:
            middle = (k + top) // 2
            if codes[middle] >= code:
                top = middle
            else:
                k = middle + 1
        sizes[k] += 1
        for i in range(d):
            low[k, i] = min(low[k, i], points[r, i])
            high[k, i] = max(high[k, i], points[r, i])
    bottom, peak = np.empty(d, low.dtype), np.empty(d, high.dtype)
    for way in range(2):
        for i in range(d):
            bottom[i] = NO_LOW
            peak[i] = NO_HIGH
        size = 0
        for step in range(number):
            k = step if way == 0 else number - step
            size += sizes[k]
            for i in range(d):
                bottom[i] = min(bottom[i], low[k, i])
                peak[i] = max(peak[i], high[k, i])
            cost = size * box_cost(axes, bottom, peak, size)
            if way == 0:
                lefts[k] = size
                costs[k] = cost
            else:
                costs[k - 1] += cost


@kernel
def split(points, sensitive_codes, rows, axes, first, last, m, least, positions):
    """Split all rows at values of the quasi-identifiers while both parts stay divisible; reorders the three arrays.

    Of the allowed splits, the one whose parts cost least is made, as in the paper; ``positions`` is how many shares are
    tried on every axis, and 1 is the median alone. Every part keeps the order of its rows. Returns where the pieces
    begin, ascending.
    """
    n, d = points.shape
    part_points = np.empty((n, d), points.dtype)
    part_classes = np.empty(n, sensitive_codes.dtype)
    part_rows = np.empty(n, rows.dtype)
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
            cuts = list_cuts(points, start, end, axes, positions)
            for _ in range(cuts.costs.shape[0]):  # the cheapest first
                k = np.argmin(cuts.costs)
                if cuts.costs[k] == np.inf:
                    break
                cuts.costs[k] = np.inf
                size = cuts.lefts[k]
                if min(size, end - start - size) < max(m, least):
                    continue
                j, code = cuts.axis[k], cuts.code[k]
                left, right = start, start + size
                for r in range(start, end):
                    if points[r, j] <= code:
                        part_classes[left] = sensitive_codes[r]
                        left += 1
                    else:
                        part_classes[right] = sensitive_codes[r]
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
                    sensitive_codes[left] = sensitive_codes[r]
                    rows[left] = rows[r]
                left += 1
            else:
                for i in range(d):
                    part_points[away, i] = points[r, i]
                part_classes[away] = sensitive_codes[r]
                part_rows[away] = rows[r]
                away += 1
        for t in range(away):  # not by slices, which take long to compile
            for i in range(d):
                points[left + t, i] = part_points[t, i]
            sensitive_codes[left + t] = part_classes[t]
            rows[left + t] = part_rows[t]
        waiting[left_over] = left
        left_over += 1
    return starts[:pieces]
