"""Which rows a cut takes to the left: so many of every stratum, chosen to keep the rules."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiling import kernel, part
from discreet.kernels.judging import SLACK


@kernel
def repair(classes, at, limits, present, work):
    """Turn ``work.x``, the counts left of position ``at``, into the nearest ones that keep caps and floors on both
    sides with the sizes unchanged. Returns whether there are any."""
    n = classes.shape[0]
    x, least, most = work.x, work.least, work.most
    total = 0
    total_least = 0
    total_most = 0
    for i in present:
        n_i = work.counts[i]
        cap_left = int(np.floor(limits.caps[i] * at + SLACK))
        cap_right = int(np.floor(limits.caps[i] * (n - at) + SLACK))
        floor_left = int(np.ceil(limits.floors[i] * at - SLACK))
        floor_right = int(np.ceil(limits.floors[i] * (n - at) - SLACK))
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
        i = classes[work.order[t]]
        if x[i] < most[i]:
            x[i] += 1
            total += 1
        t += 1
        if t == n:
            t = 0
    t = at - 1
    while total > at:
        i = classes[work.order[t]]
        if x[i] > least[i]:
            x[i] -= 1
            total -= 1
        t -= 1
        if t < 0:
            t = n - 1
    return True


@part
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
            x[s] = min(sizes[s], int(np.floor(due + 0.5)) - given)
            given += x[s]
            sizes[s] = 0
