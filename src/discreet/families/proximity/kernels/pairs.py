"""Halving rows so that both halves inherit the spread of several attributes at once.

``orders[a]`` lists the rows of a piece in ascending order of attribute ``a``, whose codes are ``classes[a]``. A side is
0 or 1 per row.

Pair neighbours in the order of one attribute, and neighbours in the order of another. Every row has at most one partner
in each, so rows and pairs form paths and cycles; the pairs along a cycle alternate between the two attributes, so it
has an even number of rows, and two colours suffice to separate every pair. Then of any run of c rows in either order,
at most c / 2 + 1 are on one side: one row of each pair that lies wholly in the run, and at most two pairs lie in it
partly. The colours of each path and cycle can be exchanged freely; this is used to send the lower rows of an axis left.
With three attributes or more there is no such colouring: pairs of two attributes are separated, and the others are
judged afterwards.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.families.proximity.kernels.deals import cost_of
from discreet.families.proximity.kernels.nearness import crowd_of, fullest
from discreet.families.proximity.kernels.splits import list_cuts
from discreet.kernels.compiling import kernel, part_in_place
from discreet.kernels.costs import bound_box
from discreet.kernels.judging import Rules, rules_about, strain

SHIFTED_UP_TO = 512
"""In pieces of up to this many rows, pairs that begin with the second row are tried, too."""

MOVED = 64
"""How many rows are tried when one must be moved."""

BROKEN, HOPEFUL, KEPT = 0, 1, 2


class PairTerms(NamedTuple):
    """What every group must keep, on every attribute."""

    least: int
    """How many rows a group must have."""
    attributes: NDArray[np.int64]
    """Per proximity promise: its attribute."""
    m: NDArray[np.int64]
    first: NDArray[np.int64]
    """Per proximity promise and code of its attribute: where the neighbourhood begins."""
    last: NDArray[np.int64]
    widths: NDArray[np.int64]
    """Per attribute: how many codes there are."""
    rules: Rules
    """The other rules about all attributes."""
    starts: NDArray[np.int64]
    """Per attribute: where the rules about it begin; one more for the end."""
    heights: NDArray[np.int64]
    """Per attribute: where the lines of its tree begin; one more for the end."""


@kernel
def grade(sensitive_codes, orders, side, which, judge, counts, ordered):
    """Return whether one side's rows as one group keep every promise, may be divisible into such groups, or not."""
    n = orders.shape[1]
    size = 0
    for r in range(n):
        if side[r] == which:
            size += 1
    if size < judge.least:
        return BROKEN
    verdict = KEPT
    for p in range(judge.m.shape[0]):
        a = judge.attributes[p]
        at = 0
        for t in range(n):
            r = orders[a, t]
            if side[r] == which:
                ordered[at] = sensitive_codes[a, r]
                at += 1
        if fullest(ordered, 0, size, judge.first[p], judge.last[p]) * judge.m[p] > size:
            verdict = HOPEFUL
            if crowd_of(ordered, 0, size, judge.first[p], judge.last[p]) * judge.m[p] > size:
                return BROKEN
    for a in range(judge.widths.shape[0]):
        if judge.starts[a] == judge.starts[a + 1]:
            continue
        held = 0
        for t in range(n):
            r = orders[a, t]
            if side[r] == which:
                value = sensitive_codes[a, r]
                if counts[value] == 0:
                    ordered[held] = value
                    held += 1
                counts[value] += 1
        present = ordered[:held]
        worst = strain(counts[: judge.widths[a]], size, rules_about(judge.rules, judge, a), present)
        for value in present:
            counts[value] = 0
        if worst > 1.0:
            return BROKEN
    return verdict


@part_in_place
def _both(sensitive_codes, orders, side, judge, counts, ordered):
    """Return the worse grade of the two sides."""
    worse = KEPT
    for which in range(2):
        if worse != BROKEN:
            worse = min(worse, grade(sensitive_codes, orders, side, which, judge, counts, ordered))
    return worse


@part_in_place
def _excess(sensitive_codes, orders, side, judge, ordered, over):
    """Write the excess rows of each side's fullest neighbourhoods, times m, into ``over``; return their sum."""
    n = orders.shape[1]
    over[:] = 0
    for which in range(2):
        for p in range(judge.m.shape[0]):
            a = judge.attributes[p]
            size = 0
            for t in range(n):
                r = orders[a, t]
                if side[r] == which:
                    ordered[size] = sensitive_codes[a, r]
                    size += 1
            over[which] += max(0, fullest(ordered, 0, size, judge.first[p], judge.last[p]) * judge.m[p] - size)
            over[which] += max(0, judge.least - size)
    return over[0] + over[1]


@part_in_place
def _repair(sensitive_codes, orders, side, judge, ordered, over):
    """Move single rows to a side that is too small for its fullest neighbourhood; return whether that succeeded.

    Halving divides an odd number of near rows unevenly: if they are as many as possible, the side with one more needs
    up to m more rows in total.
    """
    n = orders.shape[1]
    left = _excess(sensitive_codes, orders, side, judge, ordered, over)
    if left > 4 * judge.least:
        return False
    step = max(1, n // MOVED)
    while left > 0:
        poor = 0 if over[0] >= over[1] else 1
        helped = False
        for start in range(min(step, n)):
            for t in range(start, n, step):
                r = orders[0, t]
                if side[r] == poor:
                    continue
                side[r] = poor
                now = _excess(sensitive_codes, orders, side, judge, ordered, over)
                if now < left:
                    left = now
                    helped = True
                    break
                side[r] = 1 - poor
            if helped or n > SHIFTED_UP_TO:
                break
        if not helped:
            return False
    return True


@kernel
def components(orders, first, first_shift, other, other_shift, component, colour):
    """Write the two-coloured paths and cycles of the pairs of one or two attributes (``other`` -1: one); count them."""
    n = orders.shape[1]
    partner = np.full((2, n), -1, np.int64)
    for t in range(first_shift, n - 1, 2):
        partner[0, orders[first, t]] = orders[first, t + 1]
        partner[0, orders[first, t + 1]] = orders[first, t]
    if other >= 0:
        for t in range(other_shift, n - 1, 2):
            partner[1, orders[other, t]] = orders[other, t + 1]
            partner[1, orders[other, t + 1]] = orders[other, t]
    component[:n] = -1
    number = 0
    for start in range(n):
        if component[start] >= 0:
            continue
        component[start] = number
        colour[start] = 0
        for way in range(2):  # a path is followed from its middle in both directions, a cycle once
            r, by = start, way
            while True:
                r, before = partner[by, r], r
                if r < 0 or component[r] >= 0:
                    break
                component[r] = number
                colour[r] = 1 - colour[before]
                by = 1 - by
        number += 1
    return number


@kernel
def turn(points, j, component, colour, how_many, side):
    """Orient every component so that its lower rows on axis ``j`` go left; sides differ in size by at most one row."""
    n = points.shape[0]
    lean = np.zeros(how_many)
    size = np.zeros((how_many, 2), np.int64)
    for r in range(n):
        c = component[r]
        size[c, colour[r]] += 1
        lean[c] += points[r, j] if colour[r] == 0 else -points[r, j]
    surplus = 0
    flip = np.zeros(how_many, np.int32)
    for c in range(how_many):
        more = size[c, 0] - size[c, 1]
        if more == 0:
            flip[c] = 1 if lean[c] > 0 else 0
        else:  # an odd path: its larger colour goes where rows are missing
            flip[c] = 1 if (surplus > 0) == (more > 0) else 0
            surplus += -more if flip[c] else more
    for r in range(n):
        side[r] = colour[r] ^ flip[component[r]]


@kernel
def best_cut(points, sensitive_codes, orders, axes, judge, positions, side):
    """Write the cheapest cut found whose halves both keep every promise into ``side``; return whether there is one.

    Cuts at values of the quasi-identifiers are tried first, and halves by pairs only if none of these succeeds.
    """
    n, d = points.shape
    attributes = orders.shape[0]
    counts = np.zeros(max(1, judge.widths.max()), np.int64)
    ordered = np.empty(n, np.int32)
    over = np.zeros(2, np.int64)
    low, high = np.empty(d, points.dtype), np.empty(d, points.dtype)
    trial = np.empty(n, np.int32)
    best = np.inf
    if n < 2 * judge.least:
        return False
    bound_box(points, 0, n, low, high)
    cuts = list_cuts(points, np.int64(0), n, axes, positions)
    for _ in range(cuts.costs.shape[0]):  # the cheapest first
        k = np.argmin(cuts.costs)
        cuts.costs[k] = np.inf
        if min(cuts.lefts[k], n - cuts.lefts[k]) < judge.least:
            continue
        for r in range(n):
            side[r] = 0 if points[r, cuts.axis[k]] <= cuts.code[k] else 1
        if _both(sensitive_codes, orders, side, judge, counts, ordered) == KEPT:
            return True  # separating quasi-identifiers pays more in later cuts than halving by pairs can save now
    component = np.empty(n, np.int64)
    colour = np.empty(n, np.int32)
    shifts = 2 if n <= SHIFTED_UP_TO else 1
    for first in range(attributes):
        for other in range(first + 1 if attributes > 1 else -1, attributes if attributes > 1 else 0):
            for shift in range(shifts * shifts if other >= 0 else shifts):
                how_many = components(orders, first, shift % 2, other, shift // 2, component, colour)
                for j in range(d):
                    if low[j] == high[j]:
                        continue
                    turn(points, j, component, colour, how_many, trial)
                    if not _repair(sensitive_codes, orders, trial, judge, ordered, over):
                        continue
                    if _both(sensitive_codes, orders, trial, judge, counts, ordered) != KEPT:
                        continue
                    cost = cost_of(points, 0, n, trial, 2, axes)
                    if cost < best:
                        best = cost
                        side[:] = trial
    return best < np.inf


@kernel
def hopeful_half(points, sensitive_codes, orders, judge, choice, side):
    """Write the ``choice``-th halving by pairs whose halves keep every promise, or may yet, into ``side``.

    Returns the worse grade of the halves, or -1 if there is no such halving left.
    """
    n, d = points.shape
    attributes = orders.shape[0]
    counts = np.zeros(max(1, judge.widths.max()), np.int64)
    ordered = np.empty(n, np.int32)
    component = np.empty(n, np.int64)
    colour = np.empty(n, np.int32)
    met = 0
    for shift in range(4):
        for first in range(attributes):
            for other in range(first + 1 if attributes > 1 else -1, attributes if attributes > 1 else 0):
                if other < 0 and shift > 1:
                    continue
                how_many = components(orders, first, shift % 2, other, shift // 2, component, colour)
                for j in range(d):
                    turn(points, j, component, colour, how_many, side)
                    verdict = _both(sensitive_codes, orders, side, judge, counts, ordered)
                    if verdict != BROKEN:
                        if met == choice:
                            return verdict
                        met += 1
    return -1
