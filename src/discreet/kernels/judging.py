"""Judging groups by the counts of their sensitive values: the one place where a promise is decided.

Schemes and audits alike come here, so that a group that passes in one passes in the other.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import inlined, kernel_in_place, part, part_in_place
from discreet.kernels.double_double import added, multiplied, product_of, sum_of
from discreet.kernels.shell_sort import sort

SLACK = 1e-9
"""Counts are compared with bound x size up to this much."""
EXACT = 2.0**53
"""Whole numbers up to this are exact, and so are their sums."""
DOUBLE_DOUBLE_EXACT = 2.0**100
"""Double-double whole numbers up to this are exact, and so are their sums."""
ROUNDING = 2.0**-80
"""What rounding may take from sums of double-double numbers, as a share, generously."""
ABOVE_ONE = 1.0 + 2.0**-52

SIZE, CAPS, FLOORS, DISTINCT, ENTROPY, RECURSIVE, EQUAL, ORDERED, HIERARCHICAL, WINDOWS, RANGE, VARIANCE = range(12)
SPREAD = (ENTROPY, RECURSIVE, EQUAL, ORDERED, HIERARCHICAL)
NUMERIC = (WINDOWS, RANGE, VARIANCE)


class Joint(NamedTuple):
    """How counts of combinations of values tell the counts of each of several attributes.

    Anyone who judges by it writes into its scratch memory, so threads must not share it.
    """

    codes: NDArray[np.int32]
    """Per attribute and combination: the value of the attribute."""
    widths: NDArray[np.int64]
    """Per attribute: how many values it has."""
    offsets: NDArray[np.int64]
    """Per attribute: where its values begin if those of all attributes stand in one line; one more for the end."""
    starts: NDArray[np.int64]
    """Per attribute: where the rules about it begin; one more for the end."""
    heights: NDArray[np.int64]
    """Per attribute: where the lines of its tree begin; one more for the end."""
    caps: NDArray[np.float64]
    """Per attribute and value: the largest share of a group it may have (1 when unbounded)."""
    floors: NDArray[np.float64]
    """Per attribute and value: the smallest share of a group it must have."""
    bounded: NDArray[np.int64]
    """The attributes with any such bound."""
    by_width: NDArray[np.int64]
    """The attributes, those with the fewest values first: most cuts that break a rule are then found out sooner."""
    counts: NDArray[np.int64]
    """Scratch: per value of one attribute its count, 0 between uses."""
    present: NDArray[np.int32]
    """Scratch: the values of one attribute that occur."""
    sides: NDArray[np.int64]
    """Scratch: three numbers per attribute and value, while a cut is repaired."""


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
    numeric: bool | None = True
    """None where no rule is about numbers (``NUMERIC``): what judges these is then left out of what is compiled."""
    spread: bool | None = True
    """None where no rule is about all values together (``SPREAD``): likewise."""
    layered: bool | None = True
    """None where no cap or floor is on nodes: likewise."""
    joint: Joint | None = None
    """Where the counts are of combinations of several attributes' values, and each rule is about one attribute."""


@inlined
def strain(counts, size, rules, present):
    """How close a group of ``size`` rows with these ``counts`` is to its rules: they hold when this is at most 1.

    ``present`` lists the values that may have a count above 0: where there are many values and few rows, most rules
    are judged by these alone.
    """
    return _strain_of_each(counts, size, rules, present, rules.joint)


@part_in_place
def _strain_of_each(counts, size, rules, present, joint):
    """The strain on the attribute where it is largest, or on the first where it exceeds 1; there may be but one."""
    if joint is None:  # known from its type: the compiler drops what follows
        return strain_on_attribute(counts, size, rules, present)
    worst = 0.0
    for a in range(joint.widths.shape[0]):
        number = 0
        for i in present:
            if counts[i] > 0:
                value = joint.codes[a, i]
                if joint.counts[value] == 0:
                    joint.present[number] = value
                    number += 1
                joint.counts[value] += counts[i]
        held = joint.present[:number]
        attribute_rules = rules_about(rules, joint, a)
        worst = max(worst, strain_on_attribute(joint.counts[: joint.widths[a]], size, attribute_rules, held))
        for value in held:
            joint.counts[value] = 0
        if worst > 1.0:
            break
    return worst


@inlined
def rules_about(rules, joint, a):
    """The rules about one of several attributes."""
    begin, end, width = joint.starts[a], joint.starts[a + 1], joint.widths[a]
    return Rules(
        rules.kinds[begin:end],
        rules.parameters[begin:end],
        rules.bounds[begin:end, :width],
        rules.nodes[begin:end, :width],
        rules.tree[joint.heights[a] : joint.heights[a + 1], :width],
        rules.numeric,
        rules.spread,
        rules.layered,
        None,
    )


@part_in_place
def strain_on_attribute(counts, size, rules, present):
    """The strain of the rules about one attribute."""
    worst = 0.0
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
            if rules.nodes[r, 0] < 0:
                here = _strain_of_bounds(kind, first, counts, size, rules.bounds[r], present)
            else:
                here = _strain_of_nodes(
                    kind, first, counts, size, rules.bounds[r], rules.nodes[r], present, rules.layered
                )
        elif kind == DISTINCT:
            distinct = 0
            for i in present:
                if counts[i] > 0:
                    distinct += 1
            here = first / distinct
        elif kind in SPREAD:
            here = _strain_of_all(kind, first, second, counts, size, rules.bounds[r], rules.tree, present, rules.spread)
        elif kind in NUMERIC:
            here = _strain_of_numbers(
                kind, first, second, counts, size, rules.bounds[r], rules.nodes[r], present, rules.numeric
            )
        worst = max(worst, here)
    return worst


@inlined
def _strain_of_bounds(kind, first, counts, size, bounds, present):
    """The strain of caps or floors."""
    worst = 0.0
    if kind == CAPS:
        for i in present:
            if counts[i] > 0:
                allowed = bounds[i] * size + first
                worst = max(worst, counts[i] / allowed if allowed > 0.0 else np.inf)
    else:
        for i in range(counts.shape[0]):
            needed = bounds[i] * size
            if needed > 0.0:
                has = counts[i] + first
                worst = max(worst, needed / has if has > 1e-8 else np.inf)
    return worst


@part
def _strain_of_nodes(kind, first, counts, size, bounds, nodes, present, layered):
    """The strain of caps or floors on nodes: infinite where there were to be none, so that nothing passes unjudged."""
    if layered is None:  # known from its type: the compiler drops what follows
        return np.inf
    tally = np.zeros(counts.shape[0], counts.dtype)
    for i in present:
        tally[nodes[i]] += counts[i]
    return _strain_of_bounds(kind, first, tally, size, bounds, nodes)


@part
def _strain_of_all(kind, first, second, counts, size, bounds, tree, present, spread):
    """The strain of a rule about all values together: infinite where there were to be none, so that nothing passes
    unjudged."""
    if spread is None:  # known from its type: the compiler drops what follows
        return np.inf
    if kind == ENTROPY:
        entropy = 0.0
        for i in present:
            if counts[i] > 0:
                q = counts[i] / size
                entropy -= q * np.log(q)
        return first / (entropy + SLACK)
    if kind == RECURSIVE:
        # parameters: c, l; the most frequent value must stay below c times all from the l-th most frequent on
        ranked = np.empty(present.shape[0], counts.dtype)
        for i in range(present.shape[0]):
            ranked[i] = counts[present[i]]
        sort(ranked)
        tail = 0
        for i in range(ranked.shape[0] - int(second) + 1):
            tail += ranked[i]
        allowed = first * tail - SLACK
        return ranked[-1] / allowed if allowed > 0.0 else np.inf
    moved = 0.0
    if kind == EQUAL:
        for i in present:
            moved += max(0.0, counts[i] / size - bounds[i])
    elif kind == ORDERED:
        # steps between the values that the table holds: values that are only declared would water the distance down
        carried = 0.0
        steps = -1
        for i in range(counts.shape[0]):
            if bounds[i] > 0.0:
                if steps >= 0:
                    moved += abs(carried)
                steps += 1
            carried += counts[i] / size - bounds[i]
        moved /= max(1, steps)
    else:
        moved = _tree_distance(counts, size, bounds, tree)
    return moved / (first + SLACK)


@part_in_place
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


@part_in_place
def _strain_of_numbers(kind, first, second, counts, size, bounds, nodes, present, numeric):
    """The strain of a rule about numbers: infinite where there were to be none, so that nothing passes unjudged."""
    if numeric is None:  # known from its type: the compiler drops what follows
        return np.inf
    if kind == WINDOWS:
        # parameters: m; no window around a value that is present may hold more than 1 / m of the rows
        return _fullest_window(counts, bounds, nodes, present) / (size / first + SLACK)
    if kind == RANGE:
        return _short_of_range(first, counts, bounds, present)
    # parameters: the variance, as a double-double number
    return _short_of_variance(first, second, counts, bounds, present)


@part
def _fullest_window(counts, lows, highs, present):
    """The largest number of rows in the window around any value that is present: both ends only ever move up."""
    if 16 * present.shape[0] > counts.shape[0]:  # enough that sums over all values are found sooner than the ends
        return _fullest_of_sums(counts, lows, highs, present)
    ordered = present
    for i in range(1, present.shape[0]):
        if present[i] < present[i - 1]:
            ordered = present.copy()
            sort(ordered)
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


@part_in_place
def _short_of_range(needed, counts, numbers, present):
    """How many times larger the range is that is needed than that of a group's numbers; missing ones do not count."""
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
    has, off = sum_of(high, -low)
    if has == np.inf:  # enough for any range
        return 0.0
    return _decided(needed, has, has > needed or (has == needed and off >= 0.0))


@part_in_place
def _short_of_variance(needed, rest, counts, numbers, present):
    """How many times larger the variance is that is needed (``needed + rest``) than that of a group's numbers, their
    mean squared distance from their mean; missing ones do not count.

    Numbers are taken relative to one of them, in units of a power of two near their largest distance: so neither sums
    nor squares can overflow, nor can all squares vanish. Times the square of the number of rows, the variance of whole
    numbers is whole, and double-double numbers hold it up to 100 bits. Elsewhere, what is too close to decide counts as
    too little.
    """
    if needed == 0.0:
        return 0.0
    origin = np.nan
    farthest = 0.0
    for i in present:
        if counts[i] > 0 and not np.isnan(numbers[i]):
            if np.isnan(origin):
                origin = numbers[i]
            farthest = max(farthest, abs(numbers[i] - origin))
    if farthest == 0.0:
        return np.inf
    if farthest == np.inf:  # no group is so large that its variance could then be a number
        return 0.0
    # halved, as the power itself may be too large for a float
    half = 2.0 ** max(-1022.0, np.floor(np.log2(farthest)) - 1.0)
    known = 0.0
    whole = rest == np.floor(rest) and farthest <= EXACT
    total, total_rest = 0.0, 0.0
    squares, squares_rest = 0.0, 0.0
    for i in present:
        if counts[i] > 0 and not np.isnan(numbers[i]):
            whole = whole and numbers[i] == np.floor(numbers[i])
            away, off = sum_of(numbers[i], -origin)
            away, off = away / half, off / half
            known += counts[i]
            part, part_rest = multiplied(away, off, float(counts[i]), 0.0)
            total, total_rest = added(total, total_rest, part, part_rest)
            part, part_rest = multiplied(part, part_rest, away, off)
            squares, squares_rest = added(squares, squares_rest, part, part_rest)
    squares, squares_rest = multiplied(squares, squares_rest, known, 0.0)
    total, total_rest = multiplied(total, total_rest, total, total_rest)
    has, has_rest = added(squares, squares_rest, -total, -total_rest)
    pairs, pairs_rest = product_of(known, known)
    needed, rest = needed / half / half, rest / half / half
    if needed > 16.0:  # no distance is more than four halves: what is needed may be too large for double-double numbers
        return max(needed / (has / pairs), ABOVE_ONE)
    needed, rest = multiplied(needed, rest, pairs, pairs_rest)
    doubt = 0.0
    if not whole or pairs > EXACT or (squares + needed) * half * half > DOUBLE_DOUBLE_EXACT:
        doubt = ROUNDING * (squares + needed)
    more, _ = added(has, has_rest, -needed, -rest)
    return _decided(needed, has, more >= doubt)


@part_in_place
def _decided(needed, has, enough):
    """What is needed as a multiple of what there is, at most 1 if that is ``enough`` and above if not."""
    return min(needed / has, 1.0) if enough else max(needed / has, ABOVE_ONE)


@kernel_in_place
def strains(starts, values, amounts, sizes, rules, counts, result):
    """The strain of every group, into ``result``: ``g`` holds ``values[starts[g]:starts[g + 1]]``, as often as
    ``amounts`` says. ``counts``, one per value, are 0 before and after."""
    for g in range(result.shape[0]):
        for at in range(starts[g], starts[g + 1]):
            counts[values[at]] = amounts[at]
        present = values[starts[g] : starts[g + 1]]
        result[g] = strain(counts, sizes[g], rules, present)
        for i in present:
            counts[i] = 0
