"""Merging groups along a line until each has few rows for the combinations of values that its box admits."""

import numpy as np

from discreet.kernels.compiling import kernel, part
from discreet.kernels.costs import interval_cost
from discreet.kernels.judging import SLACK


@part
def _combinations(axes, known, low, high):
    """Return how many combinations of known values a box admits; ``axes`` price an interval by its known values."""
    product = 1.0
    for j in range(low.shape[0]):
        product *= 1.0 + interval_cost(axes, j, low[j], high[j]) * (known[j] - 1)
    return product


@part
def _widen(low, high, other_low, other_high):
    for j in range(low.shape[0]):
        low[j] = min(low[j], other_low[j])
        high[j] = max(high[j], other_high[j])


@kernel
def merge_in_order(order, low, high, sizes, alone, axes, known, alpha):
    """Return, per group, the number of its merged group; none of these has more than ``alpha`` rows per combination.

    Groups come in an order in which neighbours lie near each other. A group that may be ``alone`` and keeps alpha stays
    so, unless groups before it are waiting: then it joins them, and they are done as soon as they keep alpha together.
    Groups that wait at the end join the last ones that are done, and further ones if necessary; at worst all groups are
    merged.
    """
    number, d = low.shape
    home = np.empty(number, np.int64)
    lows, highs = np.empty((number, d), low.dtype), np.empty((number, d), low.dtype)
    rows = np.zeros(number, np.int64)
    done = 0
    waiting = False
    for g in order:
        if waiting:
            _widen(lows[done], highs[done], low[g], high[g])
            rows[done] += sizes[g]
        else:
            lows[done] = low[g]
            highs[done] = high[g]
            rows[done] = sizes[g]
        home[g] = done
        single = not waiting and not alone[g]
        waiting = single or rows[done] > alpha * _combinations(axes, known, lows[done], highs[done]) + SLACK
        if not waiting:
            done += 1
    last = done
    while waiting and done > 0:
        done -= 1
        _widen(lows[done], highs[done], lows[last], highs[last])
        rows[done] += rows[last]
        last = done
        waiting = rows[done] > alpha * _combinations(axes, known, lows[done], highs[done]) + SLACK
    for g in range(number):
        home[g] = min(home[g], done)
    return home
