"""Cutting under a seal: parts are tested and cut until the leakage of any further test would be too much."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.families.sealed.kernels.candidates import POSITIONS, candidates, drop_tested, learn, no_candidates
from discreet.families.sealed.kernels.rounds import (
    ROUNDS,
    no_rounds,
    plan,
    rejection_leakage,
    rejects,
    room_of,
    slack_of,
)
from discreet.kernels.compiling import kernel
from discreet.kernels.costs import bound_box


class Rejected(NamedTuple):
    """Cuts that were tested and rejected."""

    axis: NDArray[np.int64]
    code: NDArray[np.int32]
    price: NDArray[np.float64]
    """What the rejection may tell about those on both sides, as the logarithm of odds; with what rounding may add."""


class Course(NamedTuple):
    """Where the cutting stands: the parts that wait, and what tests leaked about them."""

    starts: NDArray[np.int64]
    """Per part, in the order in which they are cut: where it begins."""
    ends: NDArray[np.int64]
    latest: NDArray[np.int64]
    """Per part: the latest cut that was rejected in the parts around it, or -1."""
    rejected: Rejected
    before: NDArray[np.int64]
    """Per rejected cut: the one before it in the same part or around it, or -1."""
    first: NDArray[np.bool_]
    """Per row: whether a group begins there."""
    leakage: NDArray[np.float64]
    """Per row where a group begins: what tests may have leaked about it."""
    learnt: NDArray[np.float64]
    """Per axis: how many cuts were tested lately, and how many of them were made."""


@kernel
def no_rejections(most):
    """Room for this many rejected cuts."""
    return Rejected(np.empty(most, np.int64), np.empty(most, np.int32), np.empty(most))


@kernel
def part_leakage(rejected, number):
    """What has leaked about a part that is on both sides of this many rejected cuts."""
    leakage = 0.0
    for i in range(number):
        leakage += rejected.price[i]
    return leakage


@kernel
def half_leakages(rejected, number, axis, code):
    """What has leaked about the halves of a cut: less than about the whole, where they end before a rejected one."""
    left, right = 0.0, 0.0
    for i in range(number):
        if rejected.axis[i] != axis or rejected.code[i] < code:
            left += rejected.price[i]
        if rejected.axis[i] != axis or rejected.code[i] > code:
            right += rejected.price[i]
    return left, right


@kernel
def next_test(cuts, number, present, counts, n, rejected, rejections, sealing, rounds):
    """The candidate with the most merit that may be tested now, and the number of its ``rounds``; -1 if there is none
    left.

    A test is allowed if its rejection would leave the part within its limits. Tested candidates have no merit.
    """
    best, merit = -1, 0.0
    room = room_of(present, counts, n, part_leakage(rejected, rejections), sealing)
    for i in range(number):
        if cuts.merit[i] > merit:
            left, right = half_leakages(rejected, rejections, cuts.axis[i], cuts.code[i])
            if plan(cuts.left[i], n - cuts.left[i], present, counts, left, right, room, sealing, rounds) >= 0:
                best, merit = i, cuts.merit[i]
    if best < 0:
        return best, 0
    left, right = half_leakages(rejected, rejections, cuts.axis[best], cuts.code[best])
    return best, plan(cuts.left[best], n - cuts.left[best], present, counts, left, right, room, sealing, rounds)


@kernel
def divide(points, sensitive_codes, rows, start, end, axis, code):
    """Move the rows below a code to the front, in place, and return where the others begin."""
    a, b = start, end - 1
    while a <= b:
        if points[a, axis] < code:
            a += 1
            continue
        for j in range(points.shape[1]):
            points[a, j], points[b, j] = points[b, j], points[a, j]
        for k in range(sensitive_codes.shape[1]):
            sensitive_codes[a, k], sensitive_codes[b, k] = sensitive_codes[b, k], sensitive_codes[a, k]
        rows[a], rows[b] = rows[b], rows[a]
        b -= 1
    return a


@kernel
def crossed(points, course, latest, most):
    """Return the cuts rejected around a part, given as its points, that it is on both sides of, and their number.

    There is room for this many more.
    """
    chain, at = 0, latest
    while at >= 0:
        chain, at = chain + 1, course.before[at]
    around, number, at = no_rejections(chain + most), 0, latest
    low, high = np.empty(points.shape[1], np.int32), np.empty(points.shape[1], np.int32)
    bound_box(points, 0, points.shape[0], low, high)
    while at >= 0:
        axis, code = course.rejected.axis[at], course.rejected.code[at]
        if low[axis] < code <= high[axis]:
            around.axis[number], around.code[number], around.price[number] = axis, code, course.rejected.price[at]
            number += 1
        at = course.before[at]
    return around, number


@kernel
def cut_sealed(points, sensitive_codes, rows, sealing, layout, words, course, at, waiting, failed):
    """Cut the parts that wait until none can be cut, or the words of chance might not suffice for another part.

    Every round of a test takes one word. Parts wait in a queue, ``at`` being the first of them; ``failed`` cuts were
    rejected so far, and there is room for one more per word. Returns how far it got, where the queue ends, and how many
    failed.
    """
    d, m = points.shape[1], sealing.odds.shape[0]
    most = d * POSITIONS
    tests, rounds = no_candidates(most), no_rounds(m)
    counts, left_counts, values = np.zeros(m, np.int64), np.zeros(m, np.int64), np.empty(m, np.int32)
    used = 0
    while at < waiting and used + most * ROUNDS <= words.shape[0]:
        start, end, latest = course.starts[at], course.ends[at], course.latest[at]
        at += 1
        n = end - start
        held = 0
        for r in range(start, end):
            for v in sensitive_codes[r]:
                if counts[v] == 0:
                    values[held] = v
                    held += 1
                counts[v] += 1
        present = values[:held]
        number = candidates(points[start:end], sealing.axes, sealing.least, layout, course.learnt, tests)
        rejected, rejections = crossed(points[start:end], course, latest, most)
        middle = start
        while middle == start:
            best, asked = next_test(tests, number, present, counts, n, rejected, rejections, sealing, rounds)
            if best < 0:
                break
            axis, code, left = tests.axis[best], tests.code[best], tests.left[best]
            for v in present:
                left_counts[v] = 0
            for r in range(start, end):
                if points[r, axis] < code:
                    for v in sensitive_codes[r]:
                        left_counts[v] += 1
            leakage_left, leakage_right = half_leakages(rejected, rejections, axis, code)
            fails, turn = False, asked
            while turn > 0 and not fails:
                turn -= 1
                slack = slack_of(
                    rounds, turn, present, counts, left_counts, left, n, leakage_left, leakage_right, sealing
                )
                fails = rejects(rounds, turn, slack, words[used])
                used += 1
            learn(course.learnt, axis, fails)
            if fails:
                drop_tested(points[start:end], tests, number, best)
                price = rejection_leakage(rounds, asked, turn)
                for cuts, place in ((rejected, rejections), (course.rejected, failed)):
                    cuts.axis[place], cuts.code[place], cuts.price[place] = axis, code, price
                course.before[failed] = latest
                latest = failed
                rejections, failed = rejections + 1, failed + 1
            else:
                middle = divide(points, sensitive_codes, rows, start, end, axis, code)
        for v in present:
            counts[v] = 0
        if middle == start:
            course.first[start] = True
            course.leakage[start] = part_leakage(rejected, rejections)
        else:
            for half in ((start, middle), (middle, end)):
                course.starts[waiting], course.ends[waiting] = half
                course.latest[waiting] = latest
                waiting += 1
    return at, waiting, failed
