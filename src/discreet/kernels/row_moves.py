"""Rows that leave their groups, so that boxes shrink and every group keeps the rules: which to withhold, which to
exchange with another group, and which to move there."""

import numpy as np

from discreet.kernels.boxes.boxes import HIGH, LOW, NO_HIGH, NO_LOW
from discreet.kernels.compiling import kernel, part_in_place
from discreet.kernels.costs import box_cost, interval_cost
from discreet.kernels.judging import strain

FEW = 32
"""At most this many rows leave a group at once."""


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
def _move(sensitive_codes, row, g, h, group, first, after, before, sizes, counts):
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
    counts[g, sensitive_codes[row]] -= 1
    counts[h, sensitive_codes[row]] += 1


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
def move_rows(points, sensitive_codes, group, number, axes, rules, m, most):
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
        counts[g, sensitive_codes[r]] += 1
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
                        counts[h, sensitive_codes[row]] += 1
                        if strain(counts[h], sizes[h] + 1, rules, every) <= 1.0:
                            best, to = extra, h
                        counts[h, sensitive_codes[row]] -= 1
                if to < 0:
                    break
                _copy(boxes[to], kept[done])
                had[done] = costs[to]
                into[done] = to
                _move(sensitive_codes, row, g, to, group, first, after, before, sizes, counts)
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
                _move(sensitive_codes, leaving[done], to, g, group, first, after, before, sizes, counts)
                costs[to] = had[done]
                _copy(kept[done], boxes[to])
    return moved, saved, tried


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
def best_removals(points, sensitive_codes, rows, starts, ends, axes, rules, m, price):
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
            i = sensitive_codes[rows[t]]
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
                counts[sensitive_codes[rows[t]]] -= 1
                if strain(counts, size - 1, rules, seen[:number]) <= 1.0:
                    place[g] = t
                    saving[g] = saved
                counts[sensitive_codes[rows[t]]] += 1
        for i in seen[:number]:
            counts[i] = 0
    return place, saving


@kernel
def exchange(points, sensitive_codes, rows, starts, ends, axes):
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
                    if sensitive_codes[rows[u]] == sensitive_codes[rows[t]]:
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
