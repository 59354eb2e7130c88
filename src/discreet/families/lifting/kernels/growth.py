"""Growing the tree: a node is cut, some of its rows stay with it, and the children are cut in their turn."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.families.lifting.kernels.balance import blindly, companions
from discreet.families.lifting.kernels.survey import BY_NUMBER, box_loss, find_box, find_cuts
from discreet.kernels.compiling import kernel, part, part_in_place

GAIN = 0.05
"""A cut must pay even if rows that are lifted cost so much more than the loss of their box."""


class LiftRecipe(NamedTuple):
    """How a cut is chosen among those that can be made by lifting rows."""

    positions: int
    """How many positions of an axis are tried."""
    weight: float
    """What a lifted row costs in the whole table beyond the loss of its box, as a share of it: it will never go down
    again, as others will."""
    fading: float
    """With which power of the logarithm of a node's persons that falls: those in small nodes do not go down far."""
    blind: bool
    """Whether all rows of a value are lifted or, but for a random sample of them, none."""


class LeafTerms(NamedTuple):
    """What every leaf must keep, and how axes are cut."""

    caps: NDArray[np.float64]
    """Per value: the largest belief in it that is allowed."""
    unordered: NDArray[np.bool_]
    """Per axis: whether its codes are categories, of which any one can be cut off from the others."""
    sets: NDArray[np.bool_]
    """Per axis: whether a box costs by how many codes it holds, and not by the interval of codes around them."""


class Persons(NamedTuple):
    """Persons in the order of the tree, in which every node is a run of them; all threads share these arrays."""

    points: NDArray[np.int32]
    sensitive_codes: NDArray[np.int32]
    rows: NDArray[np.int32]
    """Per person: the row of the input."""
    homes: NDArray[np.int32]
    """Per person: the node that the row is lifted to; -1 while it is not."""
    leaves: NDArray[np.int32]
    """Per person: the leaf."""
    parents: NDArray[np.int32]
    """Per node: the node above it; -1 for a root, and where there is no such node."""


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
    sensitive_codes, homes = arrays.sensitive_codes, arrays.homes
    slot_of = np.full(terms.caps.shape[0], -1, np.int32)
    values = np.empty(terms.caps.shape[0], np.int32)
    waiting = [(start, end, number, above)]
    left_over = [(start, end, number, above)]
    left_over.pop()
    total = 0.0
    while len(waiting) > 0:
        start, end, number, above = waiting.pop()
        slots, rows = _take_stock(sensitive_codes, homes, start, end, above, terms, slot_of, values, survey, scales)
        points = arrays.points[start:end]
        find_box(points, terms.sets, survey)
        loss = box_loss(axes, terms.sets, survey.box, BY_NUMBER)
        published = box_loss(axes, terms.sets, survey.box, 1.0)
        weight = recipe.weight * (np.log(end - start) / np.log(max(2, sensitive_codes.shape[0]))) ** recipe.fading
        best = _best_cut(points, slots, rows, loss, weight, axes, terms, recipe, survey, scales)
        for i in range(slots):
            slot_of[values[i]] = -1
        if best < 0:
            for r in range(start, end):
                arrays.leaves[r] = number
            total += published * rows
            continue
        middle = _apply(arrays, slots, start, end, number, best, survey, scales)
        arrays.parents[2 * middle - 1] = number
        arrays.parents[2 * middle] = number
        together = above.copy()
        for c in range(2):
            for i in range(slots):
                together[values[i]] += scales.best[c, i]
                total += published * scales.best[c, i]
        leaving = 0
        for r in range(start, end):
            leaving += homes[r] >= 0
        for c in range(2):
            first, last = (start, middle) if c == 0 else (middle, end)
            own = 0
            for r in range(first, last):
                own += homes[r] >= 0
            expected = np.empty_like(above)
            for v in range(above.shape[0]):
                expected[v] = together[v] * own / max(1, leaving)
            child = (first, last, 2 * middle - 1 + c, expected)
            if smallest < last - first <= largest:
                waiting.append(child)
            else:
                left_over.append(child)
    return total, left_over


@part_in_place
def _take_stock(sensitive_codes, homes, start, end, above, terms, slot_of, values, survey, scales):
    """Number the values of the node's local rows, and take down their bounds and what is expected above; returns how
    many values there are, without the slot for those that only rows above have, and how many local rows."""
    slots = 0
    rows = 0
    for r in range(start, end):
        survey.slots[r - start] = -1
        if homes[r] < 0:
            rows += 1
            v = sensitive_codes[r]
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
    return slots, rows


@part
def _best_cut(points, slots, rows, loss, weight, axes, terms, recipe, survey, scales):
    """The cheapest cut that pays, its lifts into ``scales.best``; -1 if there is none."""
    none = rows * loss - 1e-9
    if none <= 0.0:
        return -1
    found = find_cuts(points, slots, axes, terms, recipe.positions, survey)
    lowest = np.inf
    best = -1
    while True:
        k = np.int64(0)
        for other in range(1, found):
            if survey.least[other] < survey.least[k]:
                k = other
        least = survey.least[k]
        if found == 0 or least >= min(lowest, none):
            return best
        survey.least[k] = np.inf
        _load(k, slots, points.shape[0], rows, survey, scales)
        for c in range(2):
            scales.prices[c] = loss * (1.0 + weight) - survey.losses[k, c]
        most = lowest - least
        cost = blindly(slots + 1, most, scales) if recipe.blind else companions(slots + 1, most, scales)
        lifted = scales.leaving[0] - scales.away[0] + scales.leaving[1] - scales.away[1]
        if cost < most and least + cost - max(0.0, weight - GAIN) * loss * lifted < none:
            lowest = least + cost
            best = k
            for c in range(2):
                for i in range(slots):
                    scales.best[c, i] = scales.lifts[c, i]


@part_in_place
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
def _apply(arrays, slots, start, end, number, k, survey, scales):
    """Lift the first rows of every value to node ``number``, and put the left child before the right one, each in the
    order in which it stood; returns where the right one starts."""
    points = arrays.points
    n = end - start
    j, low, high = survey.axis[k], survey.low[k], survey.high[k]
    for c in range(2):
        for i in range(slots):
            scales.lifts[c, i] = scales.best[c, i]
    order, moved = survey.layout.steps, np.empty(n, np.int32)
    left = right = 0
    for t in range(n):
        inside = low <= points[start + t, j] <= high
        c, i = 0 if inside else 1, survey.slots[t]
        if i >= 0 and scales.lifts[c, i] > 0:
            scales.lifts[c, i] -= 1
            arrays.homes[start + t] = number
        if inside:
            order[left] = t
            left += 1
        else:
            moved[right] = t
            right += 1
    for t in range(right):
        order[left + t] = moved[t]
    for a in range(points.shape[1]):
        for t in range(n):
            moved[t] = points[start + order[t], a]
        for t in range(n):
            points[start + t, a] = moved[t]
    for column in (arrays.sensitive_codes, arrays.rows, arrays.homes):
        for t in range(n):
            moved[t] = column[start + order[t]]
        for t in range(n):
            column[start + t] = moved[t]
    return start + left
