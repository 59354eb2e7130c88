"""Rows matched with growing boxes, each with one row at most; cheapest is where the grown box costs least."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel, part
from discreet.kernels.costs import interval_cost

BIDS = 30
"""How often rows bid for boxes with one step, on average and at most."""


class Growing(NamedTuple):
    """Boxes that take in rows."""

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    cost: NDArray[np.float64]
    """What each box costs."""
    marks: NDArray[np.bool_]
    """``marks[box, mark]``: whether a box holds a row with this mark; it must not take in another."""
    words: NDArray[np.int64]
    """Per axis: where its words begin in ``held``, if a box is published as the set of codes that it holds; else -1."""
    held: NDArray[np.uint64]
    """``held[box, word]``: which codes a box holds, 64 in a word."""
    number: NDArray[np.int32]
    """``number[box, axis]``: how many codes a box holds, where that is counted."""


@part
def bit_of(growing, j, code):
    """The word and the bit of a code of an axis."""
    return growing.words[j] + (code >> 6), np.uint64(1) << np.uint64(code & 63)


@part
def grown_cost(axes, growing, box, point, enough):
    """What a box costs once it holds a point; infinity if that is ``enough`` or more."""
    total = 0.0
    if axes.by_size:
        return total
    for j in range(point.shape[0]):
        if growing.words[j] >= 0:
            word, bit = bit_of(growing, j, point[j])
            more = 0 if growing.held[box, word] & bit else 1
            extent = (growing.number[box, j] + more - 1) / max(1, axes.cards[j] - 1)
        else:
            low = min(growing.low[box, j], point[j])
            high = max(growing.high[box, j], point[j])
            extent = interval_cost(axes, j, low, high)
        total += axes.weights[j] * extent
        if total >= enough:
            return np.inf
    return total


@part
def cheapest_box(axes, growing, free, number, point, mark):
    """Which of the first ``number`` free boxes costs least with a point, and how much; -1 if none may have its mark."""
    best = -1
    least = np.inf
    for at in range(number):
        box = free[at]
        if mark >= 0 and growing.marks[box, mark]:
            continue
        cost = grown_cost(axes, growing, box, point, least)
        if cost < least:
            least = cost
            best = at
    return best, least


@kernel
def boxes_in_turn(axes, growing, points, boxes, taker):
    """Each box in turn takes the row that is cheapest for it, into ``taker``; there are as many rows as boxes."""
    free = np.arange(points.shape[0])
    number = free.shape[0]
    for box in boxes:
        best = 0
        least = np.inf
        for at in range(number):
            cost = grown_cost(axes, growing, box, points[free[at]], least)
            if cost < least:
                least = cost
                best = at
        taker[free[best]] = box
        number -= 1
        free[best] = free[number]


@kernel
def rows_in_turn(axes, growing, points, marks, boxes, taker):
    """Each row in turn takes the cheapest box of those left, into ``taker``; -1 if it may have none."""
    free = boxes.copy()
    number = free.shape[0]
    for row in range(points.shape[0]):
        at, _ = cheapest_box(axes, growing, free, number, points[row], marks[row])
        taker[row] = -1
        if at >= 0:
            taker[row] = free[at]
            number -= 1
            free[at] = free[number]


@kernel
def cheapest_first(axes, growing, points, marks, boxes, taker):
    """The cheapest pair of a row and a box is matched, then the cheapest of what is left, and so on.

    Every row remembers its cheapest box, and looks again when another row has taken it; -1 if it may have none.
    """
    free = boxes.copy()
    number = free.shape[0]
    waiting = np.arange(points.shape[0])
    left = waiting.shape[0]
    wish = np.empty(left, np.int64)
    cost = np.empty(left)
    taken = np.zeros(growing.cost.shape[0], np.bool_)
    for row in range(left):
        at, cost[row] = cheapest_box(axes, growing, free, number, points[row], marks[row])
        wish[row] = free[at] if at >= 0 else -1
        taker[row] = -1
    while left > 0:
        first = 0
        for at in range(1, left):
            if cost[waiting[at]] < cost[waiting[first]]:
                first = at
        row = waiting[first]
        if wish[row] >= 0 and taken[wish[row]]:
            kept = 0
            for at in range(number):
                if not taken[free[at]]:
                    free[kept] = free[at]
                    kept += 1
            number = kept
            at, cost[row] = cheapest_box(axes, growing, free, number, points[row], marks[row])
            wish[row] = free[at] if at >= 0 else -1
            continue
        if wish[row] >= 0:
            taker[row] = wish[row]
            taken[wish[row]] = True
        left -= 1
        waiting[first] = waiting[left]


@kernel
def growths(axes, growing, points, marks, boxes, forbidden, costs):
    """How much dearer a box gets by a row, into ``costs[row, box]``; ``forbidden`` where it may not have the row."""
    for row in range(points.shape[0]):
        for at in range(boxes.shape[0]):
            box = boxes[at]
            if marks[row] >= 0 and growing.marks[box, marks[row]]:
                costs[row, at] = forbidden
            else:
                costs[row, at] = grown_cost(axes, growing, box, points[row], np.inf) - growing.cost[box]


@kernel
def bid(costs, steps, prices):
    """Prices of boxes, into ``prices``, at which about every row prefers a box of its own: by an auction.

    A row bids for the box that is cheapest for it, price included, and raises the price until the second cheapest would
    do as well, plus a step, and anyone who had the box bids anew. Steps get smaller; each begins with the prices of the
    one before. There are as many rows as boxes. Where many rows want the same boxes it ends early: prices are a hint.
    """
    number = costs.shape[0]
    prices[:] = 0.0
    owner = np.empty(number, np.int64)
    waiting = np.empty(number, np.int64)
    for step in steps:
        owner[:] = -1
        left = number
        for row in range(number):
            waiting[row] = row
        for _ in range(BIDS * number):
            if left == 0:
                break
            row = waiting[left - 1]
            best = 0
            least = np.inf
            second = np.inf
            for box in range(number):
                cost = costs[row, box] + prices[box]
                if cost < second:
                    if cost < least:
                        second = least
                        least = cost
                        best = box
                    else:
                        second = cost
            prices[best] += min(second - least, 1.0) + step  # where only one box is allowed, a whole is enough
            if owner[best] >= 0:
                waiting[left - 1] = owner[best]
            else:
                left -= 1
            owner[best] = row


@kernel
def take_in(axes, growing, points, marks, boxes):
    """Every row into its box."""
    for row in range(points.shape[0]):
        box = boxes[row]
        if marks[row] >= 0:
            growing.marks[box, marks[row]] = True
        growing.cost[box] = grown_cost(axes, growing, box, points[row], np.inf)
        for j in range(points.shape[1]):
            growing.low[box, j] = min(growing.low[box, j], points[row, j])
            growing.high[box, j] = max(growing.high[box, j], points[row, j])
            if growing.words[j] >= 0:
                word, bit = bit_of(growing, j, points[row, j])
                if not growing.held[box, word] & bit:
                    growing.held[box, word] |= bit
                    growing.number[box, j] += 1
