"""Gathering the rows of a small piece into groups without two rows that are near each other on any attribute.

In such a group the neighbourhood of a number contains one row, its own; so with at least m rows it keeps the promise.
"""

import numpy as np

from discreet.families.proximity.kernels.deals import EXCHANGE_UP_TO, cost_with
from discreet.families.proximity.kernels.nearness import near
from discreet.families.proximity.kernels.pairs import KEPT, grade
from discreet.kernels.compiling import kernel, part_in_place

ROUNDS = 3


@kernel
def conflicts_of(sensitive_codes, judge):
    """Return which rows are near each other on some attribute."""
    n = sensitive_codes.shape[1]
    conflicts = np.zeros((n, n), np.bool_)
    for p in range(judge.m.shape[0]):
        numbers = sensitive_codes[judge.attributes[p]]
        for a in range(n):
            for b in range(a):
                if near(min(numbers[a], numbers[b]), max(numbers[a], numbers[b]), judge.first[p], judge.last[p]):
                    conflicts[a, b] = True
                    conflicts[b, a] = True
    return conflicts


@part_in_place
def _welcome(conflicts, members, size, without, row):
    """Whether a row is near no member of a group, except possibly the one at position ``without``."""
    fits = True
    for b in range(size):
        fits = fits and (b == without or not conflicts[row, members[b]])
    return fits


@kernel
def gather(points, conflicts, order, axes, least, side):
    """Gather rows into groups of ``least`` rows, into ``side``; return their cost, infinite if a row fits nowhere.

    Each group begins with the first remaining row in ``order`` and adds the rows that cost least. Rows left at the end
    join the group where they cost least.
    """
    n, d = points.shape
    members = np.empty((n // least + 1, n), np.int64)
    sizes = np.zeros(n, np.int64)
    costs = np.zeros(n)
    low, high = np.empty(d, points.dtype), np.empty(d, points.dtype)
    free = np.ones(n, np.bool_)
    late = np.zeros(n, np.bool_)
    groups = 0
    for t in range(n):
        if not free[order[t]]:
            continue
        members[groups, 0] = order[t]
        size = 1
        while size < least:
            best, chosen = np.inf, -1
            for r in range(n):
                if free[r] and r != order[t] and _welcome(conflicts, members[groups], size, -1, r):
                    cost = cost_with(points, members[groups], size, -1, r, axes, low, high)
                    if cost < best:
                        best, chosen = cost, r
            if chosen < 0:
                break
            free[chosen] = False
            members[groups, size] = chosen
            size += 1
        free[order[t]] = False
        if size < least:
            for b in range(1, size):
                free[members[groups, b]] = True
            late[order[t]] = True
            continue
        sizes[groups] = size
        costs[groups] = cost_with(points, members[groups], size, 0, members[groups, 0], axes, low, high)
        groups += 1
    for t in range(n):
        r = order[t]
        if not late[r]:
            continue
        best, chosen = np.inf, -1
        for q in range(groups):
            if _welcome(conflicts, members[q], sizes[q], -1, r):
                cost = cost_with(points, members[q], sizes[q], -1, r, axes, low, high) - costs[q]
                if cost < best:
                    best, chosen = cost, q
        if chosen < 0:
            return np.inf
        members[chosen, sizes[chosen]] = r
        sizes[chosen] += 1
        costs[chosen] += best
    if n <= EXCHANGE_UP_TO:
        _exchange(points, conflicts, axes, members, sizes, costs, groups, low, high)
    for q in range(groups):
        for b in range(sizes[q]):
            side[members[q, b]] = q
    return costs[:groups].sum()


@part_in_place
def _exchange(points, conflicts, axes, members, sizes, costs, groups, low, high):
    """Exchange rows between groups while that lowers the cost and no two rows of a group are near each other."""
    for _ in range(ROUNDS):
        changed = False
        for p in range(groups):
            for q in range(p + 1, groups):
                for i in range(sizes[p]):
                    for k in range(sizes[q]):
                        a, b = members[p, i], members[q, k]
                        if not _welcome(conflicts, members[p], sizes[p], i, b):
                            continue
                        if not _welcome(conflicts, members[q], sizes[q], k, a):
                            continue
                        cost_p = cost_with(points, members[p], sizes[p], i, b, axes, low, high)
                        if cost_p >= costs[p] + costs[q]:
                            continue
                        cost_q = cost_with(points, members[q], sizes[q], k, a, axes, low, high)
                        if cost_p + cost_q < costs[p] + costs[q] - 1e-12:
                            members[p, i], members[q, k] = b, a
                            costs[p], costs[q] = cost_p, cost_q
                            changed = True
        if not changed:
            break


@kernel
def best_gathering(points, sensitive_codes, orders, axes, judge, side):
    """Write the cheapest gathering whose groups keep every promise into ``side``; return its cost, infinite if none.

    Orders along each axis are tried. If none succeeds, other orders are tried: rows that are near the most others
    first, and along each attribute.
    """
    n, d = points.shape
    attributes = orders.shape[0]
    conflicts = conflicts_of(sensitive_codes, judge)
    counts = np.zeros(max(1, judge.widths.max()), np.int64)
    ordered = np.empty(n, np.int32)
    trial = np.empty(n, np.int32)
    best = np.inf
    for way in range(2 * d + 1 + 2 * attributes):
        if way == 2 * d and best < np.inf:
            break
        if way < 2 * d:
            order = np.argsort(points[:, way // 2])
        elif way == 2 * d:
            order = np.argsort(-conflicts.sum(axis=1))
        else:
            order = orders[(way - 2 * d - 1) // 2].copy()
        if way != 2 * d and (way if way < 2 * d else way - 2 * d - 1) % 2 == 1:
            order = order[::-1].copy()
        cost = gather(points, conflicts, order, axes, judge.least, trial)
        if cost < best:
            kept = True
            for q in range(int(trial.max()) + 1):
                if grade(sensitive_codes, orders, trial, q, judge, counts, ordered) != KEPT:
                    kept = False
                    break
            if kept:
                best = cost
                side[:] = trial
    return best
