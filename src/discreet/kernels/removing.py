"""Which row of a group, taken out, would make the rest cheapest."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiling import kernel
from discreet.kernels.costs import box_cost
from discreet.kernels.judging import strain


@kernel
def best_removals(points, classes, rows, starts, ends, axes, rules, m, price):
    """Per group (the run ``starts`` to ``ends`` of ``rows``): the place of the row whose removal saves most, at
    ``price`` for the row itself, and what it saves; -1 where nothing is saved or the rest would break the rules."""
    d = points.shape[1]
    place = np.full(starts.shape[0], -1, np.int64)
    saving = np.zeros(starts.shape[0])
    low = np.empty((2, d), np.int32)  # the smallest code and the next, equal ones counted apart
    high = np.empty((2, d), np.int32)
    rest_low = np.empty(d, np.int32)
    rest_high = np.empty(d, np.int32)
    counts = np.zeros(m, np.int64)
    seen = np.empty(min(m, rows.shape[0]), np.int32)
    for g in range(starts.shape[0]):
        size = ends[g] - starts[g]
        if size < 2:
            continue
        number = 0
        for j in range(d):
            low[0, j] = low[1, j] = 2147483647
            high[0, j] = high[1, j] = -1
        for t in range(starts[g], ends[g]):
            i = classes[rows[t]]
            if counts[i] == 0:
                seen[number] = i
                number += 1
            counts[i] += 1
            for j in range(d):
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
        whole = size * box_cost(axes, low[0], high[0], size)
        for t in range(starts[g], ends[g]):
            alone = False
            for j in range(d):
                code = points[rows[t], j]
                rest_low[j] = low[1, j] if code == low[0, j] else low[0, j]
                rest_high[j] = high[1, j] if code == high[0, j] else high[0, j]
                alone = alone or rest_low[j] != low[0, j] or rest_high[j] != high[0, j]
            if not alone:
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
