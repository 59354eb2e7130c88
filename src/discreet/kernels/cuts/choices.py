"""Which rows a cut takes to the left: a number of every stratum, chosen to keep the rules."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel_in_place, part_in_place
from discreet.kernels.cuts.halves import LEFT, WHOLE, count_left, left_of
from discreet.kernels.judging import SLACK
from discreet.kernels.shell_sort import sort

LOWER, UPPER = 0, 1


class Takings(NamedTuple):
    """How many rows of every stratum a cut takes to the left; scratch memory."""

    counts: NDArray[np.int64]
    """Per value: how many rows the group has; where one attribute is judged, the same memory as that of ``Halves``."""
    x: NDArray[np.int64]
    """Per stratum: how many rows go left."""
    taken: NDArray[np.int64]
    """Per stratum: how many of these have been taken."""
    bounds: NDArray[np.int64]
    """Per stratum: the ``LOWER`` and the ``UPPER`` that may go left."""


@kernel_in_place
def repair(sensitive_codes, order, at, limits, present, takings):
    """Turn ``takings.x``, the counts left of position ``at``, into the nearest ones that keep caps and floors on both
    sides with the sizes unchanged. Returns whether there are any."""
    n = sensitive_codes.shape[0]
    x, least, most = takings.x, takings.bounds[LOWER], takings.bounds[UPPER]
    total = 0
    total_least = 0
    total_most = 0
    for i in present:
        n_i = takings.counts[i]
        cap_left = math.floor(limits.caps[i] * at + SLACK)
        cap_right = math.floor(limits.caps[i] * (n - at) + SLACK)
        floor_left = math.ceil(limits.floors[i] * at - SLACK)
        floor_right = math.ceil(limits.floors[i] * (n - at) - SLACK)
        least[i] = max(0, n_i - cap_right, floor_left)
        most[i] = min(n_i, cap_left, n_i - floor_right)
        if least[i] > most[i]:
            return False
        x[i] = min(max(x[i], least[i]), most[i])
        total += x[i]
        total_least += least[i]
        total_most += most[i]
    if total_least > at or total_most < at:
        return False
    t = at
    while total < at:
        i = sensitive_codes[order[t]]
        if x[i] < most[i]:
            x[i] += 1
            total += 1
        t += 1
        if t == n:
            t = 0
    t = at - 1
    while total > at:
        i = sensitive_codes[order[t]]
        if x[i] > least[i]:
            x[i] -= 1
            total -= 1
        t -= 1
        if t < 0:
            t = n - 1
    return True


@part_in_place
def repair_each(sensitive_codes, at, block, joint, present, layout, blocks, halves, takings, held):
    """The same for several attributes, whose values together are the classes: a row that moves counts for all of them.
    Left of position ``at`` are the blocks up to ``block``.

    Nearest to the position first, rows of values in excess go right and rows of values in want go left, unless another
    attribute forbids it; then others follow until as many rows are left of the position as before. Both halves need not
    keep everything in the end, and are judged like all others.
    """
    if joint is None:  # known from its type: the compiler drops what follows
        return False
    n = sensitive_codes.shape[0]
    codes, sides = joint.codes, joint.sides
    counts, x = takings.counts, takings.x
    left, least, most = 0, 1, 2
    excess = want = 0
    for a in joint.bounded:
        left_of(a, sensitive_codes, block, joint, layout, blocks, halves, held)
        for v in held.values[joint.offsets[a] : joint.offsets[a] + held.numbers[a]]:
            has = halves.counts[WHOLE, joint.offsets[a] + v]
            sides[left, a, v] = halves.counts[LEFT, joint.offsets[a] + v]
            cap, floor = joint.caps[a, v], joint.floors[a, v]
            needed = math.ceil(floor * (n - at) - SLACK)
            sides[least, a, v] = max(0, has - math.floor(cap * (n - at) + SLACK), math.ceil(floor * at - SLACK))
            sides[most, a, v] = min(has, math.floor(cap * at + SLACK), has - needed)
            if sides[least, a, v] > sides[most, a, v]:
                return False
            excess += max(0, sides[left, a, v] - sides[most, a, v])
            want += max(0, sides[least, a, v] - sides[left, a, v])
    count_left(sensitive_codes, block, present, joint, layout, x)
    surplus = 0
    for turn in range(4):
        # excess goes right, want goes left, and then whatever evens out the sizes
        step = -1 if turn in (0, 3) else 1
        t = at - 1 if step < 0 else at
        while 0 <= t < n:
            if (excess if turn == 0 else want if turn == 1 else -surplus if turn == 2 else surplus) <= 0:
                break
            i = sensitive_codes[layout.order[t]]
            t += step
            if (x[i] == 0) if step < 0 else (x[i] == counts[i]):
                continue
            mended, allowed = 0, True
            for a in joint.bounded:
                v = codes[a, i]
                now = sides[left, a, v]
                mended += now > sides[most, a, v] if step < 0 else now < sides[least, a, v]
                allowed = allowed and (now > sides[least, a, v] if step < 0 else now < sides[most, a, v])
            if (mended or turn >= 2) and allowed:
                x[i] += step
                surplus += step
                if step < 0:
                    excess -= mended
                else:
                    want -= mended
                for a in joint.bounded:
                    sides[left, a, codes[a, i]] += step
    return True


@part_in_place
def in_order(present, counts, joint):
    """Sort the combinations of several attributes' values that occur: those with the same first values are neighbours.

    So shares of them add up to shares of these values, and the many passes over them touch memory in order.
    """
    if joint is None:
        return
    if 8 * present.shape[0] < counts.shape[0]:
        sort(present)
        return
    number = 0
    for i in range(counts.shape[0]):
        if counts[i] > 0:
            present[number] = i
            number += 1


@part_in_place
def share_out(sizes, strata, counts, present, share, x):
    """Take ``share`` of every stratum, rounding so that the error never adds up."""
    for i in present:
        sizes[strata[i]] = 0
    for i in present:
        sizes[strata[i]] += counts[i]
    due = 0.0
    given = 0
    for i in present:
        s = strata[i]
        if sizes[s] > 0:  # set to 0 once its share is given, so that a bucket is served with its first value
            due += share * sizes[s]
            x[s] = min(sizes[s], math.floor(due + 0.5) - given)
            given += x[s]
            sizes[s] = 0
