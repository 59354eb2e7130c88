"""Judging groups by the counts of their sensitive values: the one place where a promise is decided.

Schemes and audits alike come here, so that a group that passes in one passes in the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel, part

SLACK = 1e-9
"""Counts are compared with bound x size up to this much."""
EXACT = 2.0**53
"""Whole numbers up to this are exact, and so are their sums."""
ROUNDED = 2.0**-49
"""What rounding may take from a sum of squares, as a share."""

SIZE, CAPS, FLOORS, DISTINCT, ENTROPY, RECURSIVE, EQUAL, ORDERED, HIERARCHICAL, WINDOWS, RANGE, VARIANCE = range(12)


class Rules(NamedTuple):
    """What every group must keep, as arrays: one line per rule, all of which must hold."""

    kinds: NDArray[np.int64]
    """Which rule: ``SIZE``, ``CAPS``, ..."""
    parameters: NDArray[np.float64]
    """Two numbers per rule; what they mean depends on its kind."""
    bounds: NDArray[np.float64]
    """One number per rule and value (or node, for rules over nodes): a cap, a floor, a prior; for ``WINDOWS`` the
    first value in the value's window; for ``RANGE`` and ``VARIANCE`` the number that the value is, NaN when missing."""
    nodes: NDArray[np.int32]
    """Per rule and value: the node it is counted under; -1 when values are counted as they are. For ``WINDOWS`` the
    last value in the value's window; neither end of a window may fall from one value to the next."""
    tree: NDArray[np.int32]
    """``tree[level, value]``: the ancestors of a value, for the hierarchical distance; no lines when there is none."""


@kernel
def strain(counts, size, rules, present):
    """How close a group of ``size`` rows with these ``counts`` is to its rules: they hold when this is at most 1.

    ``present`` lists the values that may have a count above 0: where there are many values and few rows, most rules
    are judged by these alone.
    """
    worst = 0.0
    m = counts.shape[0]
    if size == 0:
        return worst
    for r in range(rules.kinds.shape[0]):
        kind = rules.kinds[r]
        first = rules.parameters[r, 0]
        second = rules.parameters[r, 1]
        here = 0.0
        if kind == SIZE:
            here = first / size
        elif kind in (CAPS, FLOORS):
            tally = counts
            if rules.nodes[r, 0] >= 0:
                tally = np.zeros(m, dtype=counts.dtype)
                for i in present:
                    tally[rules.nodes[r, i]] += counts[i]
            if kind == CAPS:
                for value in present:
                    i = value if rules.nodes[r, 0] < 0 else rules.nodes[r, value]
                    if tally[i] > 0:
                        allowed = rules.bounds[r, i] * size + first
                        here = max(here, tally[i] / allowed if allowed > 0.0 else np.inf)
            else:
                for i in range(m):
                    needed = rules.bounds[r, i] * size
                    if needed > 0.0:
                        has = tally[i] + first
                        here = max(here, needed / has if has > 1e-8 else np.inf)
        elif kind == DISTINCT:
            distinct = 0
            for i in present:
                if counts[i] > 0:
                    distinct += 1
            here = first / distinct
        elif kind == ENTROPY:
            entropy = 0.0
            for i in present:
                if counts[i] > 0:
                    q = counts[i] / size
                    entropy -= q * np.log(q)
            here = first / (entropy + SLACK)
        elif kind == RECURSIVE:
            # parameters: c, l; the most frequent value must stay below c times all from the l-th most frequent on
            ranked = np.sort(counts[present])
            tail = 0
            for i in range(ranked.shape[0] - int(second) + 1):
                tail += ranked[i]
            allowed = first * tail - SLACK
            here = ranked[-1] / allowed if allowed > 0.0 else np.inf
        elif kind == EQUAL:
            moved = 0.0
            for i in present:
                moved += max(0.0, counts[i] / size - rules.bounds[r, i])
            here = moved / (first + SLACK)
        elif kind == ORDERED:
            # steps between the values that the table holds: values that are only declared would water the distance down
            moved = 0.0
            carried = 0.0
            steps = -1
            for i in range(m):
                if rules.bounds[r, i] > 0.0:
                    if steps >= 0:
                        moved += abs(carried)
                    steps += 1
                carried += counts[i] / size - rules.bounds[r, i]
            here = moved / max(1, steps) / (first + SLACK)
        elif kind == HIERARCHICAL:
            here = _tree_distance(counts, size, rules.bounds[r], rules.tree) / (first + SLACK)
        elif kind == WINDOWS:
            # parameters: m; no window around a value that is present may hold more than 1 / m of the rows
            here = _fullest_window(counts, rules.bounds[r], rules.nodes[r], present) / (size / first + SLACK)
        elif kind == RANGE:
            # parameters: the range, and what share of itself a number may be off by; the same for the variance
            here = _short_of_range(first, second, counts, rules.bounds[r], present)
        elif kind == VARIANCE:
            here = _short_of_variance(first, second, counts, rules.bounds[r], present)
        worst = max(worst, here)
    return worst


@part
def _tree_distance(counts, size, prior, tree):
    """Earth mover's distance when moving between two values costs the height of their lowest common ancestor, as a
    share of the tree's height: what a node has too much or too little of crosses the edge above it."""
    height = tree.shape[0] - 1
    m = counts.shape[0]
    crossing = 0.0
    for level in range(height):
        surplus = 0.0
        for i in range(m):  # values are in pre-order: those under one node are neighbours
            surplus += counts[i] / size - prior[i]
            if i == m - 1 or tree[level, i] != tree[level, i + 1]:
                crossing += abs(surplus)
                surplus = 0.0
    return crossing / (2.0 * height)


@part
def _fullest_window(counts, lows, highs, present):
    """The largest number of rows in the window around any value that is present: both ends only ever move up."""
    if 16 * present.shape[0] > counts.shape[0]:  # so many that sums over all values are found sooner than the ends
        return _fullest_of_sums(counts, lows, highs, present)
    ordered = present
    for i in range(1, present.shape[0]):
        if present[i] < present[i - 1]:
            ordered = np.sort(present.astype(np.int64)).astype(present.dtype)
            break
    fullest = 0
    inside = 0
    start = 0
    end = 0
    for value in ordered:
        if counts[value] == 0:
            continue
        while end < ordered.shape[0] and ordered[end] <= highs[value]:
            inside += counts[ordered[end]]
            end += 1
        while ordered[start] < lows[value]:
            inside -= counts[ordered[start]]
            start += 1
        fullest = max(fullest, inside)
    return fullest


@part
def _fullest_of_sums(counts, lows, highs, present):
    """The same by the sums of the counts up to each value."""
    up_to = np.empty(counts.shape[0] + 1, np.int64)
    up_to[0] = 0
    for value in range(counts.shape[0]):
        up_to[value + 1] = up_to[value] + counts[value]
    fullest = 0
    for value in present:
        if counts[value] > 0:
            fullest = max(fullest, up_to[int(highs[value]) + 1] - up_to[int(lows[value])])
    return fullest


@part
def _short_of_range(needed, rounding, counts, numbers, present):
    """How many times larger the range is that is needed than that of a group's numbers; missing ones do not count.

    ``rounding``: each number may be off by this share of itself. Whole numbers are exact, and so are their ranges.
    """
    if needed == 0.0:
        return 0.0
    low = np.inf
    high = -np.inf
    for i in present:
        if counts[i] > 0 and not np.isnan(numbers[i]):
            low = min(low, numbers[i])
            high = max(high, numbers[i])
    if not high > low:
        return np.inf
    has = high - low  # may be infinite, which is enough for any range
    return needed / (has + rounding * (abs(low) + abs(high) + needed + has))


@part
def _short_of_variance(needed, rounding, counts, numbers, present):
    """How many times larger the variance is that is needed than that of a group's numbers (the mean squared distance
    from their mean); missing ones do not count, and ``rounding`` is as for the range.

    Numbers are told from one of them on and in units of a power of two that is about their largest distance: so neither
    sums nor squares can overflow, nor can all squares vanish.
    """
    if needed == 0.0:
        return 0.0
    origin = np.nan
    largest = 0.0
    farthest = 0.0
    for i in present:
        if counts[i] > 0 and not np.isnan(numbers[i]):
            if np.isnan(origin):
                origin = numbers[i]
            farthest = max(farthest, abs(numbers[i] - origin))
            largest = max(largest, abs(numbers[i]))
    if farthest == 0.0:
        return np.inf
    if farthest == np.inf:  # no group is so large that its variance could then be a number
        return 0.0
    # halved, as the power itself may be too large to be told
    half = 2.0 ** max(-1022.0, np.floor(np.log2(farthest)) - 1.0)
    known = 0
    total = 0.0
    squares = 0.0
    for i in present:
        if counts[i] > 0 and not np.isnan(numbers[i]):
            away = (numbers[i] - origin) / half
            known += counts[i]
            total += counts[i] * away
            squares += counts[i] * away * away
    if rounding == 0.0 and known * squares * half * half <= EXACT:  # all of this is in whole numbers, but for the unit
        return needed / ((known * squares - total * total) * half * half / (float(known) * known))
    mean = total / known
    squares = 0.0
    for i in present:
        if counts[i] > 0 and not np.isnan(numbers[i]):
            squares += counts[i] * ((numbers[i] - origin) / half - mean) ** 2
    deviation = half * np.sqrt(squares / known) * (1.0 + ROUNDED) + 2.0 * rounding * largest
    return (np.sqrt(needed) / deviation) ** 2 if deviation > 0.0 else np.inf


@kernel
def strains(starts, values, amounts, width, rules):
    """The strain of every group: ``g`` holds ``values[starts[g]:starts[g + 1]]``, as often as ``amounts`` says."""
    result = np.empty(starts.shape[0] - 1)
    counts = np.zeros(width, np.int64)
    for g in range(result.shape[0]):
        size = np.int64(0)
        for at in range(starts[g], starts[g + 1]):
            counts[values[at]] = amounts[at]
            size += amounts[at]
        present = values[starts[g] : starts[g + 1]]
        result[g] = strain(counts, size, rules, present)
        for i in present:
            counts[i] = 0
    return result
