"""Tests of cuts under a seal: their rounds, their prices, and the coins that hide why one failed.

A test asks whether a cut leaves both halves within their limits. The slack is how many more rows of any value both
could have: it changes by at most 1 when two persons exchange their values, and not at all if both are in one half.

A test has rounds. The last one asks about all values that may be too many: with negative slack the cut is rejected for
sure, and else with a probability that falls by the same factor with every row of slack (``last_rejection``). The
rarest of these values decides how near to 1 that factor can be, though most cuts fail because of common values, and by
far. So rounds before it ask about the commoner values alone, the commonest first, each with a factor nearer to 1 than
the next. They may err on either side (``erring_rejection``): what one of them passes by mistake, a later one rejects.

Whoever sees that a cut was rejected in some round learns at most the product of the factors up to that round, in odds,
about a group on both sides of the cut, and nothing about one that lies on one side of it; whoever sees that a cut was
made learns nothing, because the halves are published.

A person has a value of every sensitive attribute; the values of all of them are numbered together.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel
from discreet.kernels.costs import Axes
from discreet.kernels.judging import SLACK

ROUNDS = 6
"""A test has at most this many rounds."""
TIER = 8.0
"""The price of a round is at least this many times that of the round before it."""
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


@kernel
def limit(odds, leakage):
    """The largest share that a value of bounded odds may have after this leakage."""
    left = odds * np.exp(-leakage)
    return left / (1.0 + left)


@kernel
def most_rows(odds, leakage, size):
    """How many rows of a value may be among this many after this leakage; infinitely many if it has no limit."""
    return np.floor(limit(odds, leakage) * size + SLACK) if odds < np.inf else np.inf


@kernel
def room_of(present, counts, n, leakage, sealing):
    """How much may still leak about a part, as the logarithm of odds, before a share of it exceeds its limit."""
    room = np.inf
    for v in present:
        if sealing.odds[v] < np.inf:
            rest = n - counts[v]
            room = min(room, np.log(sealing.odds[v] * rest / counts[v]) if rest > 0 else -np.inf)
    return room - leakage


class Rounds(NamedTuple):
    """The rounds of a test, numbered from the last to the first."""

    expected: NDArray[np.float64]
    """Per value: the slack that it leaves if the cut is no better or worse than chance; infinite if it cannot be too
    many in a half."""
    least: NDArray[np.float64]
    """Per round: the least expected slack among the values that it asks about."""
    price: NDArray[np.float64]
    """Per round: what its result may tell, as the logarithm of odds; without what rounding may add."""


@kernel
def no_rounds(values):
    """Room for the rounds of a test about this many values."""
    return Rounds(np.empty(values), np.empty(ROUNDS), np.empty(ROUNDS))


@kernel
def last_rejection(price, slack):
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
        return slack < 0.0 or word < last_rejection(rounds.price[at], slack)
    return (word < erring_rejection(rounds.price[at], slack)) != (slack < 0.0)


@kernel
def rejection_leakage(rounds, number, at):
    """What a test of this many rounds tells if the round ``at`` rejects the cut, after those before it passed it."""
    leakage = 0.0
    for i in range(at, number):
        leakage += rounds.price[i] + ROUNDED
    return leakage


@kernel
def plan(left, right, present, counts, leakage_left, leakage_right, room, sealing, rounds):
    """Write the rounds of a test of a cut into ``rounds``, and return their number.

    It is 0 if nothing has to be asked, and -1 if the test is not allowed, because there is too little slack or room.

    The slack that each value may be expected to leave decides, among the values ``present`` that may be too many in a
    half; large halves leave much, and so a test of them tells little. If there is less room than for all prices
    together, that of the last round may be lowered to what there is. The numbers were found by trying others.
    """
    for v in present:
        odds = sealing.odds[v]
        rounds.expected[v] = np.inf
        if counts[v] > most_rows(odds, leakage_left, left) or counts[v] > most_rows(odds, leakage_right, right):
            in_left = (limit(odds, leakage_left) - sealing.prior[v]) * left
            in_right = (limit(odds, leakage_right) - sealing.prior[v]) * right
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
    rounds.price[0] = min(whole, room - rejection_leakage(rounds, number, 0))
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
def slack_of(rounds, at, present, counts, left_counts, left, n, leakage_left, leakage_right, sealing):
    """How many more rows of any value that a round asks about both halves of a cut could have; negative if one has too
    many."""
    slack = np.inf
    for v in present:
        if rounds.least[at] <= rounds.expected[v] < np.inf:
            in_left = most_rows(sealing.odds[v], leakage_left, left)
            in_right = most_rows(sealing.odds[v], leakage_right, n - left)
            slack = min(slack, in_left - left_counts[v], in_right - (counts[v] - left_counts[v]))
    return slack
