"""Which rows to lift so that both children of a cut keep their bounds.

Of the persons of a node, ``above[v]`` are expected to have the value v among those whose rows are already lifted above
it. A cut gives child c ``persons[c]`` persons, ``away[c]`` of them with their rows above, and ``local[c, v]`` rows. If
``lifts[c, v]`` of these are lifted to the node, then ``leaving[c] = away[c] + sum of lifts[c]`` persons of child c have
their rows in the node or above, and of everyone who leaves, child c has the share ``leaving[c] / sum of leaving``.
A person of child c then has the value v with the expected number (as a sum over the child's persons)

    local[c, v] - lifts[c, v] + share[c] * (lifts[0, v] + lifts[1, v] + above[v]),

which must not exceed ``caps[v] * persons[c]``. With the shares given, what a value needs is a single number between two
bounds, ``share[1] * lifts[0, v] - share[0] * lifts[1, v]``, and so the least lifts of each value are known at once. What
then remains is that the lifts add up to the shares, for which *companions* are lifted: rows of values that have room.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel, part

SLACK, DOUBT = 5e-10, 4e-15
"""By how much a number may exceed its bound, half of what judging allows; less, by what rounding may add per person."""
FIRST_SHARES, REFINEMENTS = 6, 4


class Scales(NamedTuple):
    """A cut that is weighed: two children, and the values that local rows of the node have (slots), with one more slot
    for the values that only rows above have, of which one comes closest to its bound."""

    caps: NDArray[np.float64]
    above: NDArray[np.float64]
    local: NDArray[np.int64]
    lifts: NDArray[np.int64]
    wanted: NDArray[np.float64]
    """Per child and slot: the lifts as real numbers; ``room``: how many more of them could be companions."""
    room: NDArray[np.float64]
    best: NDArray[np.int64]
    """The lifts of the best cut so far."""
    all_of: NDArray[np.bool_]
    """Per slot: whether all rows are lifted (blind)."""
    persons: NDArray[np.int64]
    away: NDArray[np.int64]
    leaving: NDArray[np.int64]
    prices: NDArray[np.float64]
    """Per child: what lifting a row costs."""


@kernel
def scales_of(slots):
    """Room for weighing cuts of nodes with so many slots."""
    return Scales(
        np.empty(slots),
        np.empty(slots),
        np.empty((2, slots), np.int64),
        np.empty((2, slots), np.int64),
        np.empty((2, slots)),
        np.empty((2, slots)),
        np.empty((2, slots), np.int64),
        np.empty(slots, np.bool_),
        np.empty(2, np.int64),
        np.empty(2, np.int64),
        np.empty(2, np.int64),
        np.empty(2),
    )


@part
def companions(number, most, scales):
    """Lift rows, and companions for them, at the least cost below ``most``, into ``scales.lifts``; returns the cost,
    infinite when there is none."""
    if not _begin(number, most, scales):
        return np.inf
    persons = scales.persons
    middle = persons[0] / (persons[0] + persons[1])
    best, cost = middle, _weigh(middle, number, scales)
    for k in range(FIRST_SHARES):
        share = (k + 0.5) / FIRST_SHARES
        here = _weigh(share, number, scales)
        if here < cost:
            best, cost = share, here
    if cost == np.inf:
        return np.inf
    step = 0.5 / FIRST_SHARES
    for _ in range(REFINEMENTS):
        for share in (best - step, best + step):
            if 0.0 < share < 1.0:
                here = _weigh(share, number, scales)
                if here < cost:
                    best, cost = share, here
        step /= 2
    if cost >= most:
        return np.inf
    _weigh(best, number, scales)
    _share_out(best, number, scales)
    return _settle(number, most, scales)


@part
def _begin(number, most, scales):
    """Nothing lifted yet."""
    for c in range(2):
        scales.leaving[c] = scales.away[c]
        for i in range(number):
            scales.lifts[c, i] = 0
    return most > 0.0


@part
def _weigh(share, number, scales):
    """What the least lifts cost when a ``share`` of those who leave comes from the left child, into ``wanted`` and
    ``room``; infinite when there are none."""
    other = 1.0 - share
    left, right = scales.persons
    local, wanted, room = scales.local, scales.wanted, scales.room
    leaving0, leaving1 = float(scales.away[0]), float(scales.away[1])
    room0 = room1 = 0.0
    for i in range(number):
        least = local[0, i] + share * scales.above[i] - scales.caps[i] * left
        most = scales.caps[i] * right - local[1, i] - other * scales.above[i]
        z0 = z1 = 0.0
        if least > 0.0:
            z0 = least / other
            if z0 > local[0, i] + SLACK:
                return np.inf
        elif most < 0.0:
            z1 = -most / share
            if z1 > local[1, i] + SLACK:
                return np.inf
        now = other * z0 - share * z1
        wanted[0, i], wanted[1, i] = z0, z1
        room[0, i] = max(0.0, min(local[0, i] - z0, (most - now) / other))
        room[1, i] = max(0.0, min(local[1, i] - z1, (now - least) / share))
        leaving0 += z0
        leaving1 += z1
        room0 += room[0, i]
        room1 += room[1, i]
    more = leaving1 * share / other - leaving0
    if more > room0 or -more * other / share > room1:
        return np.inf
    cost = (leaving0 - scales.away[0] + max(0.0, more)) * scales.prices[0]
    return cost + (leaving1 - scales.away[1] + max(0.0, -more * other / share)) * scales.prices[1]


@part
def _share_out(share, number, scales):
    """Whole numbers at or below the lifts that are wanted with their companions, each value's in proportion to its
    room."""
    leaving = np.empty(2)
    rooms = np.zeros(2)
    for c in range(2):
        leaving[c] = scales.away[c]
        for i in range(number):
            leaving[c] += scales.wanted[c, i]
            rooms[c] += scales.room[c, i]
    missing = np.empty(2)
    missing[0] = leaving[1] * share / (1.0 - share) - leaving[0]
    missing[1] = leaving[0] * (1.0 - share) / share - leaving[1]
    for c in range(2):
        part = missing[c] / rooms[c] if missing[c] > 0.0 and rooms[c] > 0.0 else 0.0
        for i in range(number):
            lifts = int(np.floor(scales.wanted[c, i] + part * scales.room[c, i] + SLACK))
            scales.lifts[c, i] = min(lifts, scales.local[c, i])
            scales.leaving[c] += scales.lifts[c, i]


@part
def excess(c, i, scales):
    """By how much the expected number of a value exceeds its bound in a child."""
    leaving = scales.leaving[0] + scales.leaving[1]
    up = 0.0
    if leaving > 0:
        up = scales.leaving[c] / leaving * (scales.lifts[0, i] + scales.lifts[1, i] + scales.above[i])
    return scales.local[c, i] - scales.lifts[c, i] + up - scales.caps[i] * scales.persons[c]


@part
def _worst(number, scales):
    """The child and the slot whose expected number exceeds its bound most, and by how much."""
    at_c, at_i, worst = 0, 0, -np.inf
    for i in range(number):
        for c in range(2):
            here = excess(c, i, scales)
            if here > worst:
                at_c, at_i, worst = c, i, here
    return at_c, at_i, worst


@part
def _allowed(c, scales):
    """How much excess in a child is none."""
    return SLACK - DOUBT * scales.persons[c]


@part
def _cost(scales):
    lifted0 = scales.leaving[0] - scales.away[0]
    lifted1 = scales.leaving[1] - scales.away[1]
    return lifted0 * scales.prices[0] + lifted1 * scales.prices[1]


@part
def _settle(number, most, scales):
    """Lift one row after the other until nothing exceeds its bound: whatever lowers the largest excess most for its
    price, a row of that value or a companion from the other child. Returns the cost, infinite from ``most`` on."""
    while True:
        cost = _cost(scales)
        if cost >= most:
            return np.inf
        c, i, worst = _worst(number, scales)
        if worst <= min(_allowed(0, scales), _allowed(1, scales)):
            return cost
        other = 1 - c
        companion = _companion(c, i, number, scales)
        own = scales.lifts[c, i] < scales.local[c, i]
        if scales.leaving[other] == 0:  # without a companion nothing is hidden
            if companion < 0 or not own:
                return np.inf
            _lift(other, companion, 1, scales)
            _lift(c, i, 1, scales)
            continue
        own_gain = other_gain = 0.0
        if own:
            _lift(c, i, 1, scales)
            own_gain = (worst - excess(c, i, scales)) / (scales.prices[c] + SLACK)
            _lift(c, i, -1, scales)
        if companion >= 0:
            _lift(other, companion, 1, scales)
            other_gain = (worst - excess(c, i, scales)) / (scales.prices[other] + SLACK)
            _lift(other, companion, -1, scales)
        if own_gain <= 0.0 and other_gain <= 0.0:
            return np.inf
        if own_gain >= other_gain:
            _lift(c, i, 1, scales)
        else:
            _lift(other, companion, 1, scales)


@part
def _lift(c, i, by, scales):
    scales.lifts[c, i] += by
    scales.leaving[c] += by


@part
def _companion(c, i, number, scales):
    """The slot, other than ``i``, with a row to lift in the other child that has most room in this one; -1 if none."""
    found, least = -1, np.inf
    other = 1 - c
    for u in range(number):
        if u != i and scales.lifts[other, u] < scales.local[other, u]:
            here = excess(c, u, scales)
            if here < least:
                found, least = u, here
    return found


@part
def blindly(number, most, scales):
    """Lift all rows of any value that exceeds its bound in either child, then rows of all other values alike until
    both children have lifted the same share; returns the cost, infinite from ``most`` on or when it cannot be done."""
    local, lifts, all_of = scales.local, scales.lifts, scales.all_of
    for i in range(number):
        all_of[i] = False
    more = np.zeros(2, np.int64)
    while True:
        rest = np.zeros(2, np.int64)
        if not _begin(number, most, scales):
            return np.inf
        for c in range(2):
            for i in range(number):
                if all_of[i]:
                    _lift(c, i, local[c, i], scales)
                else:
                    rest[c] += local[c, i]
        share = 0.0
        for c in range(2):
            share = max(share, scales.leaving[c] / scales.persons[c])
        for c in range(2):
            due = int(np.ceil(share * scales.persons[c] - SLACK)) - scales.leaving[c] + more[c]
            if due > rest[c]:
                return np.inf
            _sample(c, due, rest[c], number, scales)
        cost = _cost(scales)
        if cost >= most:
            return np.inf
        new = False
        at_c, at_i, worst = _worst(number, scales)
        if worst <= min(_allowed(0, scales), _allowed(1, scales)):
            return cost
        for i in range(number):
            for c in range(2):
                if not all_of[i] and local[0, i] + local[1, i] > 0 and excess(c, i, scales) > _allowed(c, scales):
                    all_of[i] = True
                    new = True
        if not new:  # what exceeds now is what rounding added
            more[1 - at_c] += 1


@part
def _sample(c, due, rest, number, scales):
    """Lift ``due`` of the ``rest`` rows of a child whose value is not lifted as a whole, of each value its share."""
    passed = given = 0
    for i in range(number):
        if not scales.all_of[i] and scales.local[c, i] > 0:
            passed += scales.local[c, i]
            upto = int(passed / rest * due + 0.5)
            _lift(c, i, upto - given, scales)
            given = upto
