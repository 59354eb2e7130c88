"""Cuts under a seal: what is tested comes from quasi-identifiers and published counts, and a coin hides why one failed.

A test asks whether a cut leaves both halves within their limits. The slack is how many more rows of any value both
could have: it changes by at most 1 when two persons exchange their values, and not at all if both are in one half.

A test has rounds. The last one asks about all values that may be too many: with negative slack the cut is rejected for
sure, and else with a probability that falls by the same factor with every row of slack (``rejection``). The rarest of
these values decides how near to 1 that factor can be, though most cuts fail because of common values, and by far. So
rounds before it ask about the commoner values alone, the commonest first, each with a factor nearer to 1 than the next.
They may err on either side (``erring_rejection``): what one of them passes by mistake, a later one rejects.

Whoever sees that a cut was rejected in some round learns at most the product of the factors up to that round, in odds,
about a group on both sides of the cut, and nothing about one that lies on one side of it; whoever sees that a cut was
made learns nothing, because the halves are published.

A person has a value of every sensitive attribute; the values of all of them are numbered together.
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
ROUNDS = 6
"""A test has at most so many rounds."""
TIER = 8.0
"""The price of a round is at least so many times that of the round before it."""
EARLY = 6.0
"""The price of a round before the last, times the least slack that the values it asks about are expected to leave."""
ENOUGH = 1.2
"""The price of the last round, times the least expected slack: no less is worth a test."""
ROUNDED = 2.0**-29
"""What rounding a probability to a multiple of 2**-64 that is at least 2**-33 may add to a round's price."""
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


class Rejected(NamedTuple):
    """Cuts that were tested and rejected."""

    axis: NDArray[np.int64]
    code: NDArray[np.int32]
    price: NDArray[np.float64]
    """What the rejection may tell about those on both sides, as the logarithm of odds; with what rounding may add."""


class Rounds(NamedTuple):
    """The rounds of a test, numbered from the last to the first."""

    expected: NDArray[np.float64]
    """Per value: the slack that it leaves if the cut is no better or worse than chance; infinite if it cannot be too
    many in a half."""
    least: NDArray[np.float64]
    """Per round: the least expected slack among the values that it asks about."""
    price: NDArray[np.float64]
    """Per round: what its result may tell, as the logarithm of odds; without what rounding may add."""


class Course(NamedTuple):
    """Where the cutting stands: the parts that wait, and what was told about them."""

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
    told: NDArray[np.float64]
    """Per row where a group begins: what tests may have told about it."""
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
def no_rounds(values):
    """Room for the rounds of a test about so many values."""
    return Rounds(np.empty(values), np.empty(ROUNDS), np.empty(ROUNDS))


@kernel
def rejection(price, slack):
    """The probability of rejecting a cut in the last round, in units of 2**-64; with negative slack it is rejected for
    sure.

    Between neighbouring slacks it differs by a factor of at most exp(price + ROUNDED).
    """
    return max(_RAREST, np.uint64(_TURNS * np.exp(-price * (slack + 1.0))))


@kernel
def erring_rejection(price, slack):
    """The probability of rejecting a cut in a round before the last, in units of 2**-64; or, if the slack is negative,
    of passing it.

    Both probabilities, of rejecting and of passing, differ by a factor of at most exp(price + ROUNDED) between
    neighbouring slacks.
    """
    return max(_RAREST, np.uint64(0.5 * _TURNS * np.exp(-price * abs(slack))))


@kernel
def rejects(rounds, at, slack, word):
    """Whether a round of a test rejects a cut of some slack, given a word of chance."""
    if at == 0:
        return slack < 0.0 or word < rejection(rounds.price[at], slack)
    return (word < erring_rejection(rounds.price[at], slack)) != (slack < 0.0)


@kernel
def told_by(rounds, number, at):
    """What a test of so many rounds tells if the round ``at`` rejects the cut, after those before it passed it."""
    told = 0.0
    for i in range(at, number):
        told += rounds.price[i] + ROUNDED
    return told


@kernel
def limit(odds, told):
    """The largest share that a value of bounded odds may have when so much was told."""
    left = odds * np.exp(-told)
    return left / (1.0 + left)


@kernel
def no_rejections(most):
    """Room for so many rejected cuts."""
    return Rejected(np.empty(most, np.int64), np.empty(most, np.int32), np.empty(most))


@kernel
def told_about(rejected, number):
    """What was told about a part that is on both sides of so many rejected cuts."""
    told = 0.0
    for i in range(number):
        told += rejected.price[i]
    return told


@kernel
def told_about_halves(rejected, number, axis, code):
    """What was told about the halves of a cut: less than about the whole, where they end before a rejected one."""
    left, right = 0.0, 0.0
    for i in range(number):
        if rejected.axis[i] != axis or rejected.code[i] < code:
            left += rejected.price[i]
        if rejected.axis[i] != axis or rejected.code[i] > code:
            right += rejected.price[i]
    return left, right


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
                found.merit[number] = saved * (min(left, n - left) / n) ** 0.2 * likely(learnt, j)
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
def most_rows(odds, told, size):
    """How many rows of a value may be among so many when so much was told; infinitely many if it has no limit."""
    return np.floor(limit(odds, told) * size + SLACK) if odds < np.inf else np.inf


@kernel
def room_of(present, counts, n, told, sealing):
    """How much may still be told about a part, as the logarithm of odds, before a share of it exceeds its limit."""
    room = np.inf
    for v in present:
        if sealing.odds[v] < np.inf:
            rest = n - counts[v]
            room = min(room, np.log(sealing.odds[v] * rest / counts[v]) if rest > 0 else -np.inf)
    return room - told


@kernel
def plan(left, right, present, counts, told_left, told_right, room, sealing, rounds):
    """Write the rounds of a test of a cut into ``rounds``, and return their number.

    It is 0 if nothing has to be asked, and -1 if the test is not allowed, because there is too little slack or room.

    The slack that each value may be expected to leave decides, among the values ``present`` that may be too many in a
    half; large halves leave much, and so a test of them tells little. If there is less room than for all prices
    together, that of the last round may be lowered to what there is. The numbers were found by trying others.
    """
    for v in present:
        odds = sealing.odds[v]
        rounds.expected[v] = np.inf
        if counts[v] > most_rows(odds, told_left, left) or counts[v] > most_rows(odds, told_right, right):
            in_left = (limit(odds, told_left) - sealing.prior[v]) * left
            in_right = (limit(odds, told_right) - sealing.prior[v]) * right
            rounds.expected[v] = min(in_left, in_right)
    slack = least_expected(present, rounds.expected, -np.inf)
    if slack == np.inf:
        return 0
    if slack < 0.6:
        return -1
    whole = min(max(5.0, 0.04 * min(300.0, slack)) / slack, room - ROUNDED)
    if whole * slack < ENOUGH:
        return -1
    rounds.least[0], rounds.price[0], number, price = slack, 0.0, 1, whole
    while number < ROUNDS:
        least = least_expected(present, rounds.expected, TIER * EARLY / price)
        if least == np.inf:
            break
        price = EARLY / least
        rounds.least[number], rounds.price[number] = least, price
        number += 1
    rounds.price[0] = min(whole, room - told_by(rounds, number, 0))
    if rounds.price[0] * slack < ENOUGH:  # alone, the last round has enough
        rounds.price[0], number = whole, 1
    return number


@kernel
def least_expected(present, expected, above):
    """The least expected slack among values of which it is at least ``above``; infinite if there are none."""
    least = np.inf
    for v in present:
        if above <= expected[v] < least:
            least = expected[v]
    return least


@kernel
def slack_of(rounds, at, present, counts, left_counts, left, n, told_left, told_right, sealing):
    """How many more rows of any value that a round asks about both halves of a cut could have; negative if one has too
    many."""
    slack = np.inf
    for v in present:
        if rounds.least[at] <= rounds.expected[v] < np.inf:
            in_left = most_rows(sealing.odds[v], told_left, left)
            in_right = most_rows(sealing.odds[v], told_right, n - left)
            slack = min(slack, in_left - left_counts[v], in_right - (counts[v] - left_counts[v]))
    return slack


@kernel
def next_test(found, number, present, counts, n, rejected, rejections, sealing, rounds):
    """The candidate with the most merit that may be tested now, and the number of its ``rounds``; -1 if there is none
    left.

    A test is allowed if its rejection would leave the part within its limits. Tested candidates have no merit.
    """
    best, merit = -1, 0.0
    room = room_of(present, counts, n, told_about(rejected, rejections), sealing)
    for i in range(number):
        if found.merit[i] > merit:
            left, right = told_about_halves(rejected, rejections, found.axis[i], found.code[i])
            if plan(found.left[i], n - found.left[i], present, counts, left, right, room, sealing, rounds) >= 0:
                best, merit = i, found.merit[i]
    if best < 0:
        return best, 0
    left, right = told_about_halves(rejected, rejections, found.axis[best], found.code[best])
    return best, plan(found.left[best], n - found.left[best], present, counts, left, right, room, sealing, rounds)


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
        for k in range(classes.shape[1]):
            classes[a, k], classes[b, k] = classes[b, k], classes[a, k]
        rows[a], rows[b] = rows[b], rows[a]
        b -= 1
    return a


@kernel
def crossed(points, course, latest, most):
    """Return the cuts rejected around a part, given as its points, that it is on both sides of, and their number.

    There is room for so many more.
    """
    chain, at = 0, latest
    while at >= 0:
        chain, at = chain + 1, course.before[at]
    found, number, at = no_rejections(chain + most), 0, latest
    low, high = np.empty(points.shape[1], np.int32), np.empty(points.shape[1], np.int32)
    bound_box(points, 0, points.shape[0], low, high)
    while at >= 0:
        axis, code = course.rejected.axis[at], course.rejected.code[at]
        if low[axis] < code <= high[axis]:
            found.axis[number], found.code[number], found.price[number] = axis, code, course.rejected.price[at]
            number += 1
        at = course.before[at]
    return found, number


@kernel
def cut_sealed(points, classes, rows, sealing, layout, words, course, at, waiting, failed):
    """Cut the parts that wait until none can be cut, or the words of chance might not suffice for another part.

    Every round of a test takes one word. Parts wait in a queue, ``at`` being the first of them; ``failed`` cuts were
    rejected so far, and there is room for one more per word. Returns how far it got, where the queue ends, and how many
    failed.
    """
    d, m = points.shape[1], sealing.odds.shape[0]
    most = d * POSITIONS
    found, rounds = no_candidates(most), no_rounds(m)
    counts, left_counts, values = np.zeros(m, np.int64), np.zeros(m, np.int64), np.empty(m, np.int32)
    used = 0
    while at < waiting and used + most * ROUNDS <= words.shape[0]:
        start, end, latest = course.starts[at], course.ends[at], course.latest[at]
        at += 1
        n = end - start
        held = 0
        for r in range(start, end):
            for v in classes[r]:
                if counts[v] == 0:
                    values[held] = v
                    held += 1
                counts[v] += 1
        present = values[:held]
        number = candidates(points[start:end], sealing.axes, sealing.least, layout, course.learnt, found)
        rejected, rejections = crossed(points[start:end], course, latest, most)
        middle = start
        while middle == start:
            best, asked = next_test(found, number, present, counts, n, rejected, rejections, sealing, rounds)
            if best < 0:
                break
            axis, code, left = found.axis[best], found.code[best], found.left[best]
            for v in present:
                left_counts[v] = 0
            for r in range(start, end):
                if points[r, axis] < code:
                    for v in classes[r]:
                        left_counts[v] += 1
            told_left, told_right = told_about_halves(rejected, rejections, axis, code)
            fails, turn = False, asked
            while turn > 0 and not fails:
                turn -= 1
                slack = slack_of(rounds, turn, present, counts, left_counts, left, n, told_left, told_right, sealing)
                fails = rejects(rounds, turn, slack, words[used])
                used += 1
            learn(course.learnt, axis, fails)
            if fails:
                drop_tested(points[start:end], found, number, best)
                price = told_by(rounds, asked, turn)
                for cuts, place in ((rejected, rejections), (course.rejected, failed)):
                    cuts.axis[place], cuts.code[place], cuts.price[place] = axis, code, price
                course.before[failed] = latest
                latest = failed
                rejections, failed = rejections + 1, failed + 1
            else:
                middle = divide(points, classes, rows, start, end, axis, code)
        for v in present:
            counts[v] = 0
        if middle == start:
            course.first[start] = True
            course.told[start] = told_about(rejected, rejections)
        else:
            for half in ((start, middle), (middle, end)):
                course.starts[waiting], course.ends[waiting] = half
                course.latest[waiting] = latest
                waiting += 1
    return at, waiting, failed
