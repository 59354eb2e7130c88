"""Cuts between two values of an axis, judged by quasi-identifiers alone."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiling import kernel
from discreet.kernels.costs import bound_box, interval_cost
from discreet.kernels.cuts.layout import lay_out


@kernel
def best_cut(points, axes, least, layout):
    """The cut of a part that saves most and leaves so many rows on either side at least: its axis, -1 if there is none,
    the code at which the upper side begins, and what is saved."""
    n, d = points.shape
    low, high = np.empty(d, np.int32), np.empty(d, np.int32)
    bound_box(points, 0, n, low, high)
    axis, code, most = -1, 0, 0.0
    for j in range(d):
        if low[j] == high[j]:
            continue
        steps, before = lay_out(points, j, low[j], high[j], layout), layout.tally
        dense = steps == high[j] - low[j] + 1  # steps are all codes, or only those that rows have
        whole = n * interval_cost(axes, j, low[j], high[j])
        below = 0
        for at in range(1, steps):
            if before[at + 1] == before[at]:  # nobody is at this step
                continue
            left = before[at]
            if left >= least and n - left >= least:
                last = low[j] + below if dense else layout.order[below]
                first = low[j] + at if dense else layout.order[at]
                halves = left * interval_cost(axes, j, low[j], last)
                halves += (n - left) * interval_cost(axes, j, first, high[j])
                saved = axes.weights[j] * (whole - halves)
                if saved > most:
                    axis, code, most = j, first, saved
            below = at
    return axis, code, most
