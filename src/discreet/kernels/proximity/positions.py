"""Where a piece may be cut along a quasi-identifier, and the cost of the two sides."""

from __future__ import annotations

import numpy as np

from discreet.kernels.boxes.boxes import NO_HIGH, NO_LOW
from discreet.kernels.compiling import part, part_in_place
from discreet.kernels.costs import box_cost
from discreet.kernels.shell_sort import sort


@part_in_place
def cut_codes(points, start, end, j, low, high, positions, tally, codes):
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
def cut_costs(points, start, end, j, codes, axes, low, high, sizes, costs, lefts):
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
