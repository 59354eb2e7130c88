"""Groups without one of their rows: which row to withhold, and which to exchange with another group."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiling import kernel, part_in_place
from discreet.kernels.costs import box_cost
from discreet.kernels.judging import strain


@part_in_place
def _ends(points, rows, start, end, low, high):
    """Write the smallest two codes of a group on every axis into ``low``, the largest two into ``high``.

    Equal codes count separately, so that an end shared by two rows remains when one of them leaves.
    """
    for j in range(points.shape[1]):
        low[0, j] = low[1, j] = 2147483647
        high[0, j] = high[1, j] = -1
    for t in range(start, end):
        for j in range(points.shape[1]):
            code = points[rows[t], j]
            if code < low[0, j]:
                low[1, j] = low[0, j]
                low[0, j] = code
            else:
                low[1, j] = min(low[1, j], code)
            if code > high[0, j]:
                high[1, j] = high[0, j]
                high[0, j] = code
            else:
                high[1, j] = max(high[1, j], code)


@part_in_place
def _rest(point, low, high, rest_low, rest_high):
    """Write the box of a group without one of its rows; return whether it is smaller."""
    smaller = False
    for j in range(point.shape[0]):
        rest_low[j] = low[1, j] if point[j] == low[0, j] else low[0, j]
        rest_high[j] = high[1, j] if point[j] == high[0, j] else high[0, j]
        smaller = smaller or rest_low[j] != low[0, j] or rest_high[j] != high[0, j]
    return smaller


@kernel
def best_removals(points, classes, rows, starts, ends, axes, rules, m, price):
    """Return, per group, the position of the row whose removal saves most, and what it saves; -1 if none does.

    A group is the run ``starts`` to ``ends`` of ``rows``; the removed row itself costs ``price``, and the rest must
    keep the rules. Only rows whose removal shrinks the box are considered: others save little more than their own loss.
    """
    d = points.shape[1]
    place = np.full(starts.shape[0], -1, np.int64)
    saving = np.zeros(starts.shape[0])
    low, high = np.empty((2, d), np.int32), np.empty((2, d), np.int32)
    rest_low, rest_high = np.empty(d, np.int32), np.empty(d, np.int32)
    counts = np.zeros(m, np.int64)
    seen = np.empty(min(m, rows.shape[0]), np.int32)
    for g in range(starts.shape[0]):
        size = ends[g] - starts[g]
        if size < 2:
            continue
        number = 0
        for t in range(starts[g], ends[g]):
            i = classes[rows[t]]
            if counts[i] == 0:
                seen[number] = i
                number += 1
            counts[i] += 1
        _ends(points, rows, starts[g], ends[g], low, high)
        whole = size * box_cost(axes, low[0], high[0], size)
        for t in range(starts[g], ends[g]):
            if not _rest(points[rows[t]], low, high, rest_low, rest_high):
                continue
            saved = whole - (size - 1) * box_cost(axes, rest_low, rest_high, size - 1) - price
            if saved > saving[g]:
                counts[classes[rows[t]]] -= 1
                if strain(counts, size - 1, rules, seen[:number]) <= 1.0:
                    place[g] = t
                    saving[g] = saved
                counts[classes[rows[t]]] += 1
        for i in seen[:number]:
            counts[i] = 0
    return place, saving


@kernel
def exchange(points, classes, rows, starts, ends, axes):
    """Exchange rows between groups, in place, where that makes one group's box cheaper and the other's no larger.

    A row at an end of its group's box goes to a group whose box contains it anyway, and a row of that group with the
    same sensitive value comes in return. So every group keeps its size and its counts, and with them every promise.
    Returns how many rows were exchanged and what that saved.
    """
    number, d = starts.shape[0], points.shape[1]
    lows, highs = np.empty((number, d), np.int32), np.empty((number, d), np.int32)
    low, high = np.empty((2, d), np.int32), np.empty((2, d), np.int32)
    rest_low, rest_high = np.empty(d, np.int32), np.empty(d, np.int32)
    new_low, new_high = np.empty(d, np.int32), np.empty(d, np.int32)
    for g in range(number):
        _ends(points, rows, starts[g], ends[g], low, high)
        lows[g], highs[g] = low[0], high[0]
    exchanged = 0
    saved = 0.0
    for g in range(number):
        size = ends[g] - starts[g]
        _ends(points, rows, starts[g], ends[g], low, high)
        cost = box_cost(axes, low[0], high[0], size)
        for t in range(starts[g], ends[g]):
            point = points[rows[t]]
            if size < 2 or not _rest(point, low, high, rest_low, rest_high):
                continue
            cheapest = cost - 1e-12
            least = box_cost(axes, rest_low, rest_high, size)
            partner = -1
            for h in range(number):
                holds = h != g and least < cheapest
                for j in range(d):
                    if not holds or point[j] < lows[h, j] or point[j] > highs[h, j]:
                        holds = False
                        break
                if not holds:
                    continue
                for u in range(starts[h], ends[h]):
                    if classes[rows[u]] == classes[rows[t]]:
                        for j in range(d):
                            new_low[j] = min(rest_low[j], points[rows[u], j])
                            new_high[j] = max(rest_high[j], points[rows[u], j])
                        there = box_cost(axes, new_low, new_high, size)
                        if there < cheapest:
                            cheapest = there
                            partner = u
                            other = h
            if partner >= 0:
                rows[t], rows[partner] = rows[partner], rows[t]
                _ends(points, rows, starts[other], ends[other], low, high)
                lows[other], highs[other] = low[0], high[0]
                _ends(points, rows, starts[g], ends[g], low, high)
                lows[g], highs[g] = low[0], high[0]
                saved += size * (cost - cheapest)
                cost = cheapest
                exchanged += 1
    return exchanged, saved
