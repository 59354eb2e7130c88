"""Splitting and dealing rows so that no group holds two numbers that are near to each other.

Rows come in ascending order of their sensitive value (its code), in every piece. ``first[c]`` and ``last[c]`` are the
codes where the neighbourhood of the value ``c`` begins and ends; neither falls when ``c`` grows. Two rows are *near*
when the number of one lies in the neighbourhood of the other.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiling import kernel
from discreet.kernels.costs import bound_box, box_cost, interval_cost
from discreet.kernels.hilbert import hilbert_keys

CANDIDATES = 64
"""How many groups a row is compared with before it joins one: bounds the work where very many groups are dealt to."""
EXCHANGE_UP_TO = 512
"""Rows are exchanged between all groups of pieces of up to so many rows: that takes time like their square."""
PARTNERS = 32
"""So many other groups a group of a larger piece exchanges rows with."""


@kernel
def near(low, high, first, last):
    """Whether two values, the lower code first, are near to each other."""
    return low >= first[high] or high <= last[low]


@kernel
def crowd_of(classes, start, end, first, last):
    """The least number g such that no two rows g or more places apart are near: the paper's maximum covering-set size.

    It is the largest number of rows on one side of a neighbourhood, its owner included.
    """
    most = 0
    i = start
    for j in range(start, end):
        while not near(classes[i], classes[j], first, last):
            i += 1
        most = max(most, j - i + 1)
    return most


@kernel
def fullest(classes, start, end, first, last):
    """The largest number of rows in the whole neighbourhood of any row."""
    most = 0
    i = start
    j = start
    for x in range(start, end):
        while classes[i] < first[classes[x]]:
            i += 1
        while j < end and classes[j] <= last[classes[x]]:
            j += 1
        most = max(most, j - i)
    return most


@kernel
def keeps_as_one(classes, start, end, first, last, m, least):
    """Whether these rows as one group keep the promise."""
    size = end - start
    return size >= least and fullest(classes, start, end, first, last) * m <= size


@kernel
def turns(classes, start, end, first, last, m, least, joining):
    """To how many hands these rows can be dealt in turn, and into how many groups of at least ``least`` rows the hands
    can be joined, so that all groups keep the promise; (0, 0) when there is no way.

    As many hands as the crowd, each of them a group: then no two rows of a group are near to each other. Where groups
    have to be larger than that allows, other numbers will do too: the rows of a neighbourhood are consecutive, so of f
    rows each of h hands gets at most f / h, rounded up. If m times that is at most the size of every hand, then at most
    1 / m of the rows of any hand lie in any neighbourhood, and so it is with hands that are joined. Without ``joining``
    every hand has to be a group.
    """
    size = end - start
    if size < max(m, least):
        return 0, 0
    crowd = crowd_of(classes, start, end, first, last)
    if crowd * max(m, least) <= size:
        return crowd, crowd
    if least <= m:
        return 0, 0
    most = fullest(classes, start, end, first, last)
    best, groups = 0, 0
    smallest = m if joining else least
    while smallest <= size:
        hands = size // smallest
        if (most + hands - 1) // hands * m <= size // hands:
            joined = (least + size // hands - 1) // (size // hands)
            if hands // joined > groups:
                best, groups = hands, hands // joined
            if smallest >= least:
                break
        # next, hands with room for one more row of a neighbourhood, or just as large as is asked for
        larger = (smallest // m + 1) * m
        smallest = least if smallest < least < larger else larger
    return best, groups


@kernel
def divisible(classes, start, end, first, last, m, least):
    """Whether these rows can be put into groups of at least ``least`` rows that keep the promise, by dealing them."""
    return turns(classes, start, end, first, last, m, least, True)[1] > 0


@kernel
def cut_codes(points, start, end, j, low, high, positions, tally, codes):
    """Codes of axis ``j`` up to which rows could go left: those around equal shares. Returns how many."""
    n = end - start
    span = high - low + 1
    found = 0
    counted = span <= 4 * n + 64
    ordered = tally[:0]
    if counted:
        tally[:span] = 0
        for r in range(start, end):
            tally[points[r, j] - low] += 1
    else:  # few rows on a long axis
        ordered = np.sort(points[start:end, j].astype(np.int64))
    c = 0
    below = 0  # rows before code low + c
    held = low - 1  # the last code with rows before that
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
            before = np.searchsorted(ordered, code)
            held = ordered[before - 1] if before > 0 else low - 1
        if held >= low and (found == 0 or held > codes[found - 1]):
            codes[found] = held
            found += 1
        if code < high and (found == 0 or code > codes[found - 1]):
            codes[found] = code
            found += 1
    return found


@kernel
def cut_costs(points, start, end, j, codes, axes, low, high, sizes, costs, lefts):
    """What the rows up to each of these ascending codes of axis ``j`` and the others cost, and how many go left.

    Every row is counted once, between two codes; what lies left and right of a code is put together from these.
    """
    d = points.shape[1]
    found = codes.shape[0]
    low[: found + 1] = 2147483647
    high[: found + 1] = -1
    sizes[: found + 1] = 0
    for r in range(start, end):
        code = points[r, j]
        k, top = 0, found
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
        bottom[:] = 2147483647
        peak[:] = -1
        size = 0
        for step in range(found):
            k = step if way == 0 else found - step
            size += sizes[k]
            for i in range(d):
                bottom[i] = min(bottom[i], low[k, i])
                peak[i] = max(peak[i], high[k, i])
            if way == 0:
                lefts[k] = size
                costs[k] = size * box_cost(axes, bottom, peak, size)
            else:
                costs[k - 1] += size * box_cost(axes, bottom, peak, size)


@kernel
def split(points, classes, rows, axes, first, last, m, least, positions):
    """Split all rows at values of the quasi-identifiers while both parts stay divisible; reorders the three arrays.

    Of the splits that are allowed, the one whose parts cost least is made, as in the paper; ``positions`` is how many
    shares are tried on every axis, 1 is the median alone. Every part keeps the order of its rows. Returns where the
    pieces begin, ascending.
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


@kernel
def cost_of(points, start, end, groups, how_many, axes):
    """What a piece costs when its rows are dealt like this."""
    d = points.shape[1]
    low = np.full((how_many, d), 2147483647, points.dtype)
    high = np.full((how_many, d), -1, points.dtype)
    sizes = np.zeros(how_many, np.int64)
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


@kernel
def _match(points, classes, start, end, g, axes, first, last, groups):
    """Deal blocks of ``g`` rows, one row to every group, each to the group that it makes the least more costly.

    A row may join a group when it is not near to the group's last row, and then it is near to none of its rows. The
    k-th row of a block is not near to the last rows that were the first to the k-th of the block before, as these are g
    or more places away. So it has at least k groups to choose from, all of which the rows after it could choose too, as
    they are further up; of these at most k - 1 are taken: whatever earlier rows of the block chose, one is left.
    """
    d = points.shape[1]
    low, high = np.empty((g, d), points.dtype), np.empty((g, d), points.dtype)
    costs = np.zeros(g)
    free = np.empty(g, np.int64)
    for t in range(g):
        low[t] = points[start + t]
        high[t] = points[start + t]
        groups[t] = t
    for block in range(start + g, end, g):
        size = (block - start) // g
        partial = block + g > end  # only then does it matter that a group grows by one row
        left = 0
        upcoming = block - g  # the last rows of the groups, in ascending order, are the block before
        for r in range(block, min(block + g, end)):
            while upcoming < block and not near(classes[upcoming], classes[r], first, last):
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


@kernel
def _member_cost(points, members, size, at, other, axes, low, high):
    """What a row costs in the group of these members, when the one at place ``at`` is exchanged for ``other``."""
    d = points.shape[1]
    for i in range(d):
        low[i] = points[other, i]
        high[i] = points[other, i]
    for b in range(size):
        if b != at:
            for i in range(d):
                low[i] = min(low[i], points[members[b], i])
                high[i] = max(high[i], points[members[b], i])
    return box_cost(axes, low, high, size)


@kernel
def _fits(classes, members, size, at, other, first, last):
    """Whether ``other`` can stand at place ``at`` of a group, whose members are in ascending order."""
    if at > 0 and near(classes[members[at - 1]], classes[other], first, last):
        return False
    return at + 1 >= size or not near(classes[other], classes[members[at + 1]], first, last)


@kernel
def _exchange(points, classes, start, end, g, axes, first, last, groups, partners):
    """Exchange rows of the same block between groups while that lowers the cost; both groups must stay without rows
    that are near to each other, which their members before and after decide. Every group is compared with so many
    ``partners`` that come after it."""
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
        costs[q] = sizes[q] * _member_cost(points, members[q], sizes[q], 0, members[q, 0], axes, low, high)
    for _ in range(2):
        changed = False
        for p in range(g):
            for q in range(p + 1, min(g, p + 1 + partners)):
                for at in range(min(sizes[p], sizes[q])):
                    a, b = members[p, at], members[q, at]
                    if not _fits(classes, members[p], sizes[p], at, b, first, last):
                        continue
                    if not _fits(classes, members[q], sizes[q], at, a, first, last):
                        continue
                    one = sizes[p] * _member_cost(points, members[p], sizes[p], at, b, axes, low, high)
                    if one >= costs[p] + costs[q]:
                        continue
                    two = sizes[q] * _member_cost(points, members[q], sizes[q], at, a, axes, low, high)
                    if one + two < costs[p] + costs[q] - 1e-12:
                        members[p, at], members[q, at] = b, a
                        groups[a - start], groups[b - start] = q, p
                        costs[p], costs[q] = one, two
                        changed = True
        if not changed:
            break


@kernel
def deal(points, classes, starts, axes, first, last, m, matched):
    """Deal the rows of every piece to groups that keep the promise; returns the group of every row.

    Round-robin: a piece that keeps the promise is a group; of any other, whose crowd is g, the i-th row goes to group i
    modulo g. ``matched``: see ``_match`` and ``_exchange``; where that costs more, round-robin is taken.
    """
    n = points.shape[0]
    result = np.empty(n, np.int64)
    total = 0
    for piece in range(starts.shape[0]):
        start = starts[piece]
        end = starts[piece + 1] if piece + 1 < starts.shape[0] else n
        g = crowd_of(classes, start, end, first, last)
        groups = result[start:end]
        if not matched and keeps_as_one(classes, start, end, first, last, m, 1):
            groups[:] = total
            total += 1
            continue
        for t in range(end - start):
            groups[t] = t % g
        if matched and g > 1:
            choice = np.empty(end - start, np.int64)
            _match(points, classes, start, end, g, axes, first, last, choice)
            if end - start <= EXCHANGE_UP_TO:
                _exchange(points, classes, start, end, g, axes, first, last, choice, g)
            if cost_of(points, start, end, choice, g, axes) < cost_of(points, start, end, groups, g, axes):
                groups[:] = choice
        groups += total
        total += g
    return result


@kernel
def _number_by_place(points, start, end, g, groups):
    """Number the groups anew, along a curve through their centres: then those that lie together come together."""
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
def all_keep(classes, start, groups, g, first, last, m, least):
    """Whether rows that are dealt to ``g`` groups like this keep the promise in each."""
    n = groups.shape[0]
    ends = np.zeros(g + 1, np.int64)
    for t in range(n):
        ends[groups[t] + 1] += 1
    ends = np.cumsum(ends)
    held = np.empty(n, classes.dtype)
    place = ends[:-1].copy()
    for t in range(n):
        held[place[groups[t]]] = classes[start + t]
        place[groups[t]] += 1
    kept = True
    for q in range(g):
        kept = kept and keeps_as_one(held, ends[q], ends[q + 1], first, last, m, least)
    return kept


@kernel
def deal_hands(points, classes, starts, axes, first, last, m, least, matched):
    """The same where groups of ``least`` rows are asked for, which is more than m.

    Round-robin: a piece that keeps the promise is a group; of any other the i-th row goes to hand i modulo h, and hands
    are joined, as in ``turns``. ``matched``: see ``_match`` and ``_exchange``; where that costs more, round-robin is
    taken. If there are fewer hands than the crowd they do hold rows that are near to each other, so rows may join any;
    then the groups are judged, and round-robin is taken where they do not keep the promise. Joined hands are more prone
    to that, so hands that are groups are tried too.
    """
    n = points.shape[0]
    result = np.empty(n, np.int64)
    nowhere, never = np.full(first.shape[0], first.shape[0], first.dtype), np.full(last.shape[0], -1, last.dtype)
    total = 0
    for piece in range(starts.shape[0]):
        start = starts[piece]
        end = starts[piece + 1] if piece + 1 < starts.shape[0] else n
        hands, g = turns(classes, start, end, first, last, m, least, True)
        groups = result[start:end]
        if g <= 1 or (not matched and keeps_as_one(classes, start, end, first, last, m, least)):
            groups[:] = total
            total += 1
            continue
        for t in range(end - start):
            groups[t] = t % hands % g
        if matched:
            mixed = g < hands or hands < crowd_of(classes, start, end, first, last)
            begins, ends = (nowhere, never) if mixed else (first, last)
            choice = np.empty(end - start, np.int64)
            cost = cost_of(points, start, end, groups, g, axes)
            for attempt in range(2 if g < hands else 1):
                if attempt > 0:
                    hands, g = turns(classes, start, end, first, last, m, least, False)
                    if g == 0:
                        break
                _match(points, classes, start, end, hands, axes, begins, ends, choice)
                if mixed:
                    _number_by_place(points, start, end, hands, choice)
                if mixed or end - start <= EXCHANGE_UP_TO:  # pieces of the first kind are often large
                    partners = hands if end - start <= EXCHANGE_UP_TO else PARTNERS
                    _exchange(points, classes, start, end, hands, axes, begins, ends, choice, partners)
                for t in range(end - start):
                    choice[t] = choice[t] * g // hands
                found = cost_of(points, start, end, choice, g, axes)
                if found < cost and (not mixed or all_keep(classes, start, choice, g, first, last, m, least)):
                    groups[:] = choice
                    cost = found
            g = groups.max() + 1
        groups += total
        total += g
    return result
