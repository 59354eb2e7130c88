"""Dealing the rows of pieces to groups, so that none contains more rows near each other than is allowed.

`nearness` defines what is near, and the order of rows.
"""

import numpy as np

from discreet.families.proximity.kernels.nearness import crowd_of, keeps_as_one, near, turns
from discreet.kernels.boxes.boxes import NO_HIGH, NO_LOW
from discreet.kernels.compiling import kernel, part, part_in_place
from discreet.kernels.costs import bound_box, box_cost, interval_cost
from discreet.kernels.hilbert import hilbert_keys

CANDIDATES = 64
"""How many groups a row is compared with before it joins one; bounds the work where there are very many groups."""
EXCHANGE_UP_TO = 512
"""In pieces of up to this many rows, rows are exchanged between all groups, which takes quadratic time."""
PARTNERS = 32
"""How many other groups a group of a larger piece exchanges rows with."""


@kernel
def cost_of(points, start, end, groups, how_many, axes):
    """Return the cost of a piece whose rows are dealt to the given groups."""
    d = points.shape[1]
    low = np.empty((how_many, d), points.dtype)
    high = np.empty((how_many, d), points.dtype)
    sizes = np.zeros(how_many, np.int64)
    for q in range(how_many):
        for i in range(d):
            low[q, i] = NO_LOW
            high[q, i] = NO_HIGH
    for r in range(start, end):
        q = groups[r - start]
        sizes[q] += 1
        for i in range(d):
            low[q, i] = min(low[q, i], points[r, i])
            high[q, i] = max(high[q, i], points[r, i])
    total = 0.0
    for q in range(how_many):
        total += sizes[q] * box_cost(axes, low[q], high[q], sizes[q])
    return total


@part
def _match(points, sensitive_codes, start, end, g, axes, first, last, groups):
    """Deal blocks of ``g`` rows, one row to every group, each to the group whose cost it raises least.

    A row may join a group if it is not near the group's last row; then it is near none of its rows. The k-th row of a
    block is not near the last rows that were the first to the k-th of the block before, as these are g or more places
    away. So it has at least k groups to choose from, all of which the rows after it could choose too, as they are
    further up. At most k - 1 of these are taken: whatever earlier rows of the block chose, one is left.
    """
    d = points.shape[1]
    low, high = np.empty((g, d), points.dtype), np.empty((g, d), points.dtype)
    costs = np.zeros(g)
    free = np.empty(g, np.int64)
    for t in range(g):
        for i in range(d):
            low[t, i] = points[start + t, i]
            high[t, i] = points[start + t, i]
        groups[t] = t
    for block in range(start + g, end, g):
        size = (block - start) // g
        partial = block + g > end  # only then do the groups differ in size
        left = 0
        upcoming = block - g  # the last rows of the groups, in ascending order, are the block before
        for r in range(block, min(block + g, end)):
            while upcoming < block and not near(sensitive_codes[upcoming], sensitive_codes[r], first, last):
                free[left] = groups[upcoming - start]
                left += 1
                upcoming += 1
            best, place = np.inf, -1
            for f in range(max(0, left - CANDIDATES), left):
                q = free[f]
                cost = 0.0
                for i in range(d):
                    bottom, top = min(low[q, i], points[r, i]), max(high[q, i], points[r, i])
                    cost += axes.weights[i] * interval_cost(axes, i, bottom, top)
                added = (size + 1) * cost - size * costs[q] if partial else cost - costs[q]
                if added < best:
                    best, place = added, f
            q = free[place]
            left -= 1
            free[place] = free[left]
            groups[r - start] = q
            for i in range(d):
                low[q, i] = min(low[q, i], points[r, i])
                high[q, i] = max(high[q, i], points[r, i])
            costs[q] = box_cost(axes, low[q], high[q], size + 1)


@part_in_place
def cost_with(points, members, size, without, row, axes, low, high):
    """Return the cost of a group with ``row`` in place of the member at position ``without`` (-1: nobody leaves)."""
    d = points.shape[1]
    count = 1
    for i in range(d):
        low[i] = points[row, i]
        high[i] = points[row, i]
    for b in range(size):
        if b != without:
            count += 1
            for i in range(d):
                low[i] = min(low[i], points[members[b], i])
                high[i] = max(high[i], points[members[b], i])
    return count * box_cost(axes, low, high, count)


@part_in_place
def _fits(sensitive_codes, members, size, at, other, first, last):
    """Whether ``other`` can take position ``at`` of a group, whose members are in ascending order."""
    if at > 0 and near(sensitive_codes[members[at - 1]], sensitive_codes[other], first, last):
        return False
    return at + 1 >= size or not near(sensitive_codes[other], sensitive_codes[members[at + 1]], first, last)


@part
def _exchange(points, sensitive_codes, start, end, g, axes, first, last, groups, partners):
    """Exchange rows of the same block between groups while that lowers the cost.

    Both groups must stay without rows that are near each other; the members before and after the exchanged one decide
    this. Every group is compared with the next ``partners`` groups.
    """
    n = end - start
    d = points.shape[1]
    blocks = (n + g - 1) // g
    members = np.empty((g, blocks), np.int64)
    sizes = np.zeros(g, np.int64)
    for t in range(n):
        q = groups[t]
        members[q, sizes[q]] = start + t
        sizes[q] += 1
    low, high = np.empty(d, points.dtype), np.empty(d, points.dtype)
    costs = np.empty(g)
    for q in range(g):
        costs[q] = cost_with(points, members[q], sizes[q], np.int64(0), members[q, 0], axes, low, high)
    for _ in range(2):
        changed = False
        for p in range(g):
            for q in range(p + 1, min(g, p + 1 + partners)):
                for at in range(min(sizes[p], sizes[q])):
                    a, b = members[p, at], members[q, at]
                    if not _fits(sensitive_codes, members[p], sizes[p], at, b, first, last):
                        continue
                    if not _fits(sensitive_codes, members[q], sizes[q], at, a, first, last):
                        continue
                    cost_p = cost_with(points, members[p], sizes[p], at, b, axes, low, high)
                    if cost_p >= costs[p] + costs[q]:
                        continue
                    cost_q = cost_with(points, members[q], sizes[q], at, a, axes, low, high)
                    if cost_p + cost_q < costs[p] + costs[q] - 1e-12:
                        members[p, at], members[q, at] = b, a
                        groups[a - start], groups[b - start] = q, p
                        costs[p], costs[q] = cost_p, cost_q
                        changed = True
        if not changed:
            break


@part
def _number_by_place(points, start, end, g, groups):
    """Renumber the groups along a curve through their centres, so that near groups have near numbers."""
    d = points.shape[1]
    centres, sizes = np.zeros((g, d)), np.zeros(g)
    low, high = np.empty(d, points.dtype), np.empty(d, points.dtype)
    bound_box(points, start, end, low, high)
    for r in range(start, end):
        q = groups[r - start]
        sizes[q] += 1
        for i in range(d):
            centres[q, i] += points[r, i] - low[i]
    cells = np.empty((g, d), np.int64)
    for q in range(g):
        for i in range(d):
            cells[q, i] = int(centres[q, i] / sizes[q] * 31.0 / max(1, high[i] - low[i]))
    order = np.argsort(hilbert_keys(cells, 5)[:, 0])
    number = np.empty(g, np.int64)
    for t in range(g):
        number[order[t]] = t
    for t in range(end - start):
        groups[t] = number[groups[t]]


@kernel
def all_keep(sensitive_codes, start, groups, g, first, last, m, least):
    """Whether each of ``g`` groups, with rows dealt like this, keeps the promise."""
    n = groups.shape[0]
    ends = np.zeros(g + 1, np.int64)
    for t in range(n):
        ends[groups[t] + 1] += 1
    ends = np.cumsum(ends)
    held = np.empty(n, sensitive_codes.dtype)
    place = ends[:-1].copy()
    for t in range(n):
        held[place[groups[t]]] = sensitive_codes[start + t]
        place[groups[t]] += 1
    kept = True
    for q in range(g):
        kept = kept and keeps_as_one(held, ends[q], ends[q + 1], first, last, m, least)
    return kept


@kernel
def deal(points, sensitive_codes, starts, axes, first, last, m, least, matched):
    """Deal the rows of every piece to groups of at least ``least`` rows that keep the promise; return each row's group.

    Round-robin: a piece that keeps the promise is a group; of any other the i-th row goes to hand i modulo h, and hands
    are joined where they are too small for groups, as in ``turns``; else h is the crowd. ``matched``: see ``_match``
    and ``_exchange``; where that costs more, round-robin is used. If there are fewer hands than the crowd, hands do
    contain rows near each other, so rows may join any hand; then the groups are judged, and round-robin is used where
    they do not keep the promise. Joined hands break it more often, so hands that are groups by themselves are tried,
    too.
    """
    n = points.shape[0]
    result = np.empty(n, np.int64)
    nowhere, never = np.full(first.shape[0], first.shape[0], first.dtype), np.full(last.shape[0], -1, last.dtype)
    total = 0
    for piece in range(starts.shape[0]):
        start = starts[piece]
        end = starts[piece + 1] if piece + 1 < starts.shape[0] else n
        hands, g = turns(sensitive_codes, start, end, first, last, m, least, True)
        groups = result[start:end]
        if g <= 1 or (not matched and keeps_as_one(sensitive_codes, start, end, first, last, m, least)):
            groups[:] = total
            total += 1
            continue
        for t in range(end - start):
            groups[t] = t % hands % g
        if matched:
            mixed = g < hands or hands < crowd_of(sensitive_codes, start, end, first, last)
            begins, ends = (nowhere, never) if mixed else (first, last)
            choice = np.empty(end - start, np.int64)
            cost = cost_of(points, start, end, groups, g, axes)
            for attempt in range(2 if g < hands else 1):
                if attempt > 0:
                    hands, g = turns(sensitive_codes, start, end, first, last, m, least, False)
                    if g == 0:
                        break
                _match(points, sensitive_codes, start, end, hands, axes, begins, ends, choice)
                if mixed:
                    _number_by_place(points, start, end, hands, choice)
                if mixed or end - start <= EXCHANGE_UP_TO:  # mixed pieces are often large
                    partners = hands if end - start <= EXCHANGE_UP_TO else PARTNERS
                    _exchange(points, sensitive_codes, start, end, hands, axes, begins, ends, choice, partners)
                for t in range(end - start):
                    choice[t] = choice[t] * g // hands
                found = cost_of(points, start, end, choice, g, axes)
                if found < cost and (not mixed or all_keep(sensitive_codes, start, choice, g, first, last, m, least)):
                    groups[:] = choice
                    cost = found
            g = groups.max() + 1
        groups += total
        total += g
    return result
