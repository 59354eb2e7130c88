"""Cuts that may be tested: found by quasi-identifiers, and by what became of earlier tests along the same axes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel, part
from discreet.kernels.costs import bound_box, interval_cost
from discreet.kernels.cuts.layout import lay_out

POSITIONS = 3
"""This many positions are tried along each axis: where it falls into equal parts."""


class Candidates(NamedTuple):
    """Cuts of a part: rows whose code on the axis is below ``code`` go to the left half."""

    axis: NDArray[np.int64]
    code: NDArray[np.int32]
    left: NDArray[np.int64]
    """The rows of the left half."""
    merit: NDArray[np.float64]
    """What the cut would save; less if the halves are uneven, or cuts along the axis were mostly rejected of late."""


@kernel
def no_candidates(most):
    """Room for this many candidates."""
    return Candidates(np.empty(most, np.int64), np.empty(most, np.int32), np.empty(most, np.int64), np.empty(most))


@kernel
def candidates(points, axes, least, layout, learnt, cuts):
    """Write the cuts of a part, given as its points, into ``cuts``, and return how many there are.

    Only quasi-identifiers decide, and what became of earlier tests along the same axes.
    """
    n, d = points.shape
    low, high = np.empty(d, np.int32), np.empty(d, np.int32)
    bound_box(points, 0, n, low, high)
    number = 0
    for j in range(d):
        if low[j] == high[j]:
            continue
        steps, before, codes = lay_out(points, j, low[j], high[j], layout), layout.tally, layout.block
        for c in range(steps):  # steps are all codes, or only those that rows have, which stand where their order would
            codes[c] = low[j] + c if steps == high[j] - low[j] + 1 else layout.order[c]
        whole = n * interval_cost(axes, j, low[j], high[j])
        at, last = 1, 0
        for position in range(1, POSITIONS + 1):
            goal = n * position / (POSITIONS + 1.0)
            while at + 1 < steps and abs(before[at + 1] - goal) <= abs(before[at] - goal):
                at += 1
            left = before[at]
            if left == last or left < least or n - left < least:
                continue
            last = left
            below, above = at - 1, at  # the nearest steps that have rows
            while before[below] == left:
                below -= 1
            while before[above + 1] == left:
                above += 1
            saved = _saved(axes, j, whole, left, n - left, low[j], codes[below], codes[above], high[j])
            if saved > 0.0:
                cuts.axis[number] = j
                cuts.code[number] = codes[above]
                cuts.left[number] = left
                cuts.merit[number] = saved * (min(left, n - left) / n) ** 0.2 * likely(learnt, j)
                number += 1
    return number


@part
def _saved(axes, j, whole, left, right, low, below, above, high):
    """What a cut between two codes of an axis saves, of what the whole costs."""
    halves = left * interval_cost(axes, j, low, below) + right * interval_cost(axes, j, above, high)
    return axes.weights[j] * (whole - halves)


@kernel
def likely(learnt, axis):
    """How many of the latest tests along an axis were passed, taking one more for passed."""
    return (learnt[axis, 1] + 1.0) / (learnt[axis, 0] + 1.0)


@kernel
def learn(learnt, axis, rejected):
    """Note the result of a test: it is public, and what fails in one part mostly fails in others. Old ones fade."""
    learnt[axis, 0] = 0.9 * learnt[axis, 0] + 1.0
    learnt[axis, 1] = 0.9 * learnt[axis, 1] + (0.0 if rejected else 1.0)


@kernel
def drop_tested(points, cuts, number, tested):
    """Take the merit from a candidate that was tested, and from all others that divide the rows in the same way."""
    axis, code, left = cuts.axis[tested], cuts.code[tested], cuts.left[tested]
    for i in range(number):
        same = cuts.left[i] == left
        crossed = cuts.left[i] == points.shape[0] - left
        r = 0
        while (same or crossed) and r < points.shape[0]:
            agree = (points[r, axis] < code) == (points[r, cuts.axis[i]] < cuts.code[i])
            same, crossed = same and agree, crossed and not agree
            r += 1
        if same or crossed:
            cuts.merit[i] = 0.0


@kernel
def best_cut(points, axes, least, layout):
    """The cut of a part that saves most and leaves at least this many rows on both sides: its axis, -1 for none,
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
                saved = _saved(axes, j, whole, left, n - left, low[j], last, first, high[j])
                if saved > most:
                    axis, code, most = j, first, saved
            below = at
    return axis, code, most
