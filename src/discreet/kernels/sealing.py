"""Cuts under a seal: what is tested comes from quasi-identifiers and published counts, and a coin hides why one failed.

A test asks whether a cut leaves both halves within their limits. The slack is how many more rows of any value both
could have: it changes by at most 1 when two persons exchange their values. A cut without slack is rejected for sure,
and any other one with a probability that falls by the same factor with every row of slack (``rejection``). Whoever sees
that a cut was rejected learns at most that factor, in odds; whoever sees that a cut was made learns nothing, because
the halves are published.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel
from discreet.kernels.costs import Axes, bound_box, interval_cost
from discreet.kernels.cuts.layout import lay_out
from discreet.kernels.judging import SLACK

POSITIONS = 3
"""So many positions are tried along each axis: where it falls into equal parts."""
ROUNDED = 2.0**-29
"""What rounding a probability to a multiple of 2**-64 that is at least 2**-33 may add to a test's price."""
_TURNS = 18446744073709551616.0
"""2**64: a word of chance is a whole number below it."""
_RAREST = np.uint64(2**31)


class Sealing(NamedTuple):
    """What is public about a table and its promise, and what is needed to cut it."""

    axes: Axes
    odds: NDArray[np.float64]
    """Per value: the largest odds that the promise allows; infinite where it sets no limit."""
    prior: NDArray[np.float64]
    """Per value: its share in the whole table."""
    least: int
    """The fewest rows of a group."""


class Course(NamedTuple):
    """Where the cutting stands: the parts that wait, and what was told about them."""

    starts: NDArray[np.int64]
    """Per part, in the order in which they are cut: where it begins."""
    ends: NDArray[np.int64]
    factors: NDArray[np.float64]
    """Per part: the factor that tests have left of its odds."""
    first: NDArray[np.bool_]
    """Per row: whether a group begins there."""
    left: NDArray[np.float64]
    """Per row where a group begins: the factor that tests have left of its odds."""
    learnt: NDArray[np.float64]
    """Per axis: how many cuts were tested lately, and how many of them were made."""


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
    """Room for so many candidates."""
    return Candidates(np.empty(most, np.int64), np.empty(most, np.int32), np.empty(most, np.int64), np.empty(most))


@kernel
def rejection(price, slack):
    """The probability of rejecting a cut, in units of 2**-64; a cut with negative slack is rejected for sure.

    Between neighbouring slacks it differs by a factor of at most exp(price + ROUNDED).
    """
    return max(_RAREST, np.uint64(_TURNS * np.exp(-price * (slack + 1.0))))


@kernel
def limit(odds, factor):
    """The largest share that a value may have when tests have left this factor of its odds."""
    return odds * factor / (1.0 + odds * factor) if odds < np.inf else 1.0


@kernel
def candidates(points, axes, least, layout, learnt, found):
    """Write the cuts of a part, given as its points, into ``found``, and return how many there are.

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
        whole = interval_cost(axes, j, low[j], high[j])
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
            halves = left * interval_cost(axes, j, low[j], codes[below])
            halves += (n - left) * interval_cost(axes, j, codes[above], high[j])
            saved = axes.weights[j] * (n * whole - halves)
            if saved > 0.0:
                found.axis[number] = j
                found.code[number] = codes[above]
                found.left[number] = left
                found.merit[number] = saved * (min(left, n - left) / n) ** 0.3 * likely(learnt, j)
                number += 1
    return number


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
def at_risk(count, odds, most, smaller):
    """Whether a value may exceed its limit in a half: not if it has none, or the smaller half could have all rows."""
    return odds < np.inf and count > np.floor(most * smaller + SLACK)


@kernel
def price_of(smaller, present, counts, factor, sealing):
    """What a rejection of a cut may tell, as the logarithm of odds: little for large halves, whose slack is large.

    The slack of a cut that is no better or worse than chance decides, among the values that are ``present``: 0 if no
    value is at risk, so that nothing has to be asked, and infinite if there is next to no slack. The numbers were found
    by trying others.
    """
    slack = np.inf
    for v in present:
        most = limit(sealing.odds[v], factor)
        if at_risk(counts[v], sealing.odds[v], most, smaller):
            slack = min(slack, (most - sealing.prior[v]) * smaller)
    return (1.2 + 12.0 * min(1.0, slack / 300.0)) / slack if slack >= 0.6 else np.inf


@kernel
def room_of(present, counts, n, factor, sealing):
    """How much may still be told about a part, as the logarithm of odds, before a share of it exceeds its limit."""
    room = np.inf
    for v in present:
        if sealing.odds[v] < np.inf:
            rest = n - counts[v]
            room = min(room, np.log(sealing.odds[v] * factor * rest / counts[v]) if rest > 0 else -np.inf)
    return room


@kernel
def slack_of(present, counts, left_counts, left, n, factor, sealing):
    """How many more rows of any value at risk both halves of a cut could have; negative if one has too many."""
    slack = np.inf
    for v in present:
        most = limit(sealing.odds[v], factor)
        if at_risk(counts[v], sealing.odds[v], most, min(left, n - left)):
            slack = min(slack, np.floor(most * left + SLACK) - left_counts[v])
            slack = min(slack, np.floor(most * (n - left) + SLACK) - (counts[v] - left_counts[v]))
    return slack


@kernel
def next_test(found, number, present, counts, n, factor, sealing):
    """The candidate with the most merit that may be tested now, and its price; -1 if there is none left.

    A test is allowed if its rejection would leave the part within its limits. Tested candidates have no merit.
    """
    best, merit, price = -1, 0.0, np.inf
    room = room_of(present, counts, n, factor, sealing)
    for i in range(number):
        if found.merit[i] > merit:
            asked = price_of(min(found.left[i], n - found.left[i]), present, counts, factor, sealing)
            if asked < np.inf and asked + ROUNDED <= room:
                best, merit, price = i, found.merit[i], asked
    return best, price


@kernel
def drop_tested(points, found, number, tested):
    """Take the merit from a candidate that was tested, and from all others that divide the rows in the same way."""
    axis, code, left = found.axis[tested], found.code[tested], found.left[tested]
    for i in range(number):
        same = found.left[i] == left
        crossed = found.left[i] == points.shape[0] - left
        r = 0
        while (same or crossed) and r < points.shape[0]:
            agree = (points[r, axis] < code) == (points[r, found.axis[i]] < found.code[i])
            same, crossed = same and agree, crossed and not agree
            r += 1
        if same or crossed:
            found.merit[i] = 0.0


@kernel
def divide(points, classes, rows, start, end, axis, code):
    """Move the rows below a code to the front, in place, and return where the others begin."""
    a, b = start, end - 1
    while a <= b:
        if points[a, axis] < code:
            a += 1
            continue
        for j in range(points.shape[1]):
            points[a, j], points[b, j] = points[b, j], points[a, j]
        classes[a], classes[b] = classes[b], classes[a]
        rows[a], rows[b] = rows[b], rows[a]
        b -= 1
    return a


@kernel
def cut_sealed(points, classes, rows, sealing, layout, words, course, at, waiting):
    """Cut the parts that wait until none can be cut, or the words of chance might not suffice for another part.

    Every test takes one word. Parts wait in a queue, ``at`` being the first of them. Returns how far it got, and where
    the queue ends.
    """
    d, m = points.shape[1], sealing.odds.shape[0]
    most = d * POSITIONS
    found = no_candidates(most)
    counts, left_counts, values = np.zeros(m, np.int64), np.zeros(m, np.int64), np.empty(m, np.int32)
    used = 0
    while at < waiting and used + most <= words.shape[0]:
        start, end, factor = course.starts[at], course.ends[at], course.factors[at]
        at += 1
        n = end - start
        held = 0
        for r in range(start, end):
            if counts[classes[r]] == 0:
                values[held] = classes[r]
                held += 1
            counts[classes[r]] += 1
        present = values[:held]
        number = candidates(points[start:end], sealing.axes, sealing.least, layout, course.learnt, found)
        middle = start
        while middle == start:
            best, price = next_test(found, number, present, counts, n, factor, sealing)
            if best < 0:
                break
            axis, code = found.axis[best], found.code[best]
            for v in present:
                left_counts[v] = 0
            for r in range(start, end):
                if points[r, axis] < code:
                    left_counts[classes[r]] += 1
            slack = slack_of(present, counts, left_counts, found.left[best], n, factor, sealing)
            rejected = slack < 0.0 or (slack < np.inf and words[used] < rejection(price, slack))
            used += 1
            learn(course.learnt, axis, rejected)
            if rejected:
                drop_tested(points[start:end], found, number, best)
                factor *= np.exp(-price - ROUNDED)
            else:
                middle = divide(points, classes, rows, start, end, axis, code)
        for v in present:
            counts[v] = 0
        if middle == start:
            course.first[start] = True
            course.left[start] = factor
        else:
            course.starts[waiting], course.ends[waiting], course.factors[waiting] = start, middle, factor
            waiting += 1
            course.starts[waiting], course.ends[waiting], course.factors[waiting] = middle, end, factor
            waiting += 1
    return at, waiting
