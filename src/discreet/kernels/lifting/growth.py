"""Growing the tree: a node is cut, some of its rows stay with it, and the children are cut in their turn."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiling import kernel, part
from discreet.kernels.lifting.balance import blindly, companions
from discreet.kernels.lifting.survey import box_loss, find_box, find_cuts


GAIN = 0.05
"""A cut must pay even if rows that are lifted cost so much more than the loss of their box."""


@kernel
def grow(arrays, start, end, number, above, smallest, largest, axes, terms, recipe, survey, scales):
    """Cut the persons ``start`` to ``end`` of node ``number`` for as long as that pays; of the nodes that come of it,
    those of at most ``smallest`` or of more than ``largest`` persons are left to others.

    Rows are reordered in place so that every node is a run of rows, ties as they stand: where they stand in random
    order, those that are lifted, the first of their value, are a random sample. ``above[v]`` is how many of the node's
    persons are expected to have the value v among those whose rows are above it.

    A root has the number ``2 * start``, the children of a cut at ``middle`` have ``2 * middle - 1`` and ``2 * middle``,
    which no other cut gives: so threads number nodes without asking each other.

    Returns the cost of all rows that are not in nodes left to others, and these nodes: start, end, number and above.
    """
    classes, homes = arrays.classes, arrays.homes
    slot_of = np.full(terms.caps.shape[0], -1, np.int32)
    values = np.empty(terms.caps.shape[0], np.int32)
    waiting = [(start, end, number, above)]
    left_over = [(start, end, number, above)]
    left_over.pop()
    total = 0.0
    while len(waiting) > 0:
        start, end, number, above = waiting.pop()
        slots = _take_stock(classes, homes, start, end, above, terms, slot_of, values, survey, scales)
        points = arrays.points[start:end]
        find_box(points, terms.sets, survey)
        loss = box_loss(axes, terms.sets, survey.box)
        weight = recipe.weight * (np.log(end - start) / np.log(max(2, classes.shape[0]))) ** recipe.fading
        best = _best_cut(points, slots, loss, weight, axes, terms, recipe, survey, scales)
        for i in range(slots):
            slot_of[values[i]] = -1
        if best < 0:
            arrays.leaves[start:end] = number
            total += loss * survey.totals[:slots].sum()
            continue
        middle = _apply(arrays, start, end, number, best, survey, scales)
        arrays.parents[2 * middle - 1] = number
        arrays.parents[2 * middle] = number
        total += loss * scales.best[:, :slots].sum()
        leaving = np.zeros(2, np.int64)
        together = above.copy()
        for c in range(2):
            for r in range(start if c == 0 else middle, middle if c == 0 else end):
                if homes[r] >= 0:
                    leaving[c] += 1
            for i in range(slots):
                together[values[i]] += scales.best[c, i]
        for c in range(2):
            first, last = (start, middle) if c == 0 else (middle, end)
            child = (first, last, 2 * middle - 1 + c, together * (leaving[c] / max(1, leaving[0] + leaving[1])))
            if smallest < last - first <= largest:
                waiting.append(child)
            else:
                left_over.append(child)
    return total, left_over


@part
def _take_stock(classes, homes, start, end, above, terms, slot_of, values, survey, scales):
    """Number the values of the node's local rows, and take down their bounds and what is expected above; returns how
    many there are, without the slot for values that only rows above have."""
    slots = 0
    for r in range(start, end):
        survey.slots[r - start] = -1
        if homes[r] < 0:
            v = classes[r]
            if slot_of[v] < 0:
                slot_of[v] = slots
                values[slots] = v
                scales.caps[slots] = terms.caps[v]
                scales.above[slots] = above[v]
                survey.totals[slots] = 0
                slots += 1
            survey.totals[slot_of[v]] += 1
            survey.slots[r - start] = slot_of[v]
    tightest = 0.0
    scales.caps[slots] = 1.0
    scales.above[slots] = 0.0
    for v in range(above.shape[0]):
        if slot_of[v] < 0 and above[v] > tightest * terms.caps[v]:
            tightest = above[v] / terms.caps[v]
            scales.caps[slots] = terms.caps[v]
            scales.above[slots] = above[v]
    return slots


@part
def _best_cut(points, slots, loss, weight, axes, terms, recipe, survey, scales):
    """The cheapest cut that pays, its lifts into ``scales.best``; -1 if there is none."""
    rows = survey.totals[:slots].sum()
    none = rows * loss - 1e-9
    if none <= 0.0:
        return -1
    found = find_cuts(points, slots, axes, terms, recipe.positions, survey)
    lowest = np.inf
    best = -1
    for k in np.argsort(survey.least[:found]):
        if survey.least[k] >= min(lowest, none):
            break
        _load(k, slots, points.shape[0], rows, survey, scales)
        for c in range(2):
            scales.prices[c] = loss * (1.0 + weight) - survey.losses[k, c]
        most = lowest - survey.least[k]
        cost = blindly(slots + 1, most, scales) if recipe.blind else companions(slots + 1, most, scales)
        lifted = scales.leaving.sum() - scales.away.sum()
        if cost < most and survey.least[k] + cost - max(0.0, weight - GAIN) * loss * lifted < none:
            lowest = survey.least[k] + cost
            best = k
            for c in range(2):
                for i in range(slots):
                    scales.best[c, i] = scales.lifts[c, i]
    return best


@part
def _load(k, slots, persons, rows, survey, scales):
    """Put the children of a cut on the scales."""
    j, first, last = survey.axis[k], survey.first[k], survey.last[k]
    total = 0
    scales.persons[0] = survey.persons[j, last]
    total = survey.rows[j, last]
    if first > 0:
        scales.persons[0] -= survey.persons[j, first - 1]
        total -= survey.rows[j, first - 1]
    scales.persons[1] = persons - scales.persons[0]
    scales.away[0] = scales.persons[0] - total
    scales.away[1] = scales.persons[1] - (rows - total)
    for c in range(2):
        scales.local[c, slots] = 0
    for i in range(slots):
        scales.local[0, i] = survey.counts[j, last, i]
        if first > 0:
            scales.local[0, i] -= survey.counts[j, first - 1, i]
        scales.local[1, i] = survey.totals[i] - scales.local[0, i]


@part
def _apply(arrays, start, end, number, k, survey, scales):
    """Lift the first rows of every value to node ``number``, and put the left child before the right one; returns where
    the right one starts."""
    points = arrays.points
    n = end - start
    j, low, high = survey.axis[k], survey.low[k], survey.high[k]
    lifts = scales.best.copy()
    order = np.empty(n, np.int32)
    left = 0
    for t in range(n):
        if low <= points[start + t, j] <= high:
            left += 1
    at = np.array([0, left])
    for t in range(n):
        c = 0 if low <= points[start + t, j] <= high else 1
        order[at[c]] = start + t
        at[c] += 1
        i = survey.slots[t]
        if i >= 0 and lifts[c, i] > 0:
            lifts[c, i] -= 1
            arrays.homes[start + t] = number
    points[start:end] = points[order]
    arrays.classes[start:end] = arrays.classes[order]
    arrays.rows[start:end] = arrays.rows[order]
    arrays.homes[start:end] = arrays.homes[order]
    return start + left
