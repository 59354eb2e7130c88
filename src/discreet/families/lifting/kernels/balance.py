"""Which rows to lift so that both children of a cut keep their bounds.

Of the persons of a node, ``above[v]`` are expected to have the value v among those whose rows are already lifted above
it. A cut gives child c ``persons[c]`` persons, ``away[c]`` of them with their rows above, and ``local[c, v]`` rows. If
``lifts[c, v]`` of these are lifted to the node, then ``leaving[c] = away[c] + sum of lifts[c]`` persons of child c have
their rows in the node or above, and of everyone who leaves, child c has the share ``leaving[c] / sum of leaving``.
A person of child c then has the value v with the expected number (as a sum over the child's persons)

    local[c, v] - lifts[c, v] + share[c] * (lifts[0, v] + lifts[1, v] + above[v]),

which must not exceed ``caps[v] * persons[c]``. Lifting a row of v from child c lowers it there; lifting a *companion*,
a row of some other value, from the other child lowers it too, because then more of those who leave are not from c. If
nobody left the other child, whoever knows the tree would know where every lifted row belongs, and nothing were hidden.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import part, part_in_place

SLACK, DOUBT = 5e-10, 4e-15
"""By how much a number may exceed its bound, half of what judging allows; less, by what rounding may add per person."""
STRIDE = 0.25
"""Rows are lifted one by one, or so large a part of an excess at once."""


class Scales(NamedTuple):
    """A cut that is weighed: two children, and the values that local rows of the node have (slots), with one more slot
    for the values that only rows above have, of which one comes closest to its bound."""

    caps: NDArray[np.float64]
    above: NDArray[np.float64]
    local: NDArray[np.int64]
    lifts: NDArray[np.int64]
    best: NDArray[np.int64]
    """The lifts of the best cut so far."""
    all_of: NDArray[np.bool_]
    """Per slot: whether all rows are lifted (blind)."""
    persons: NDArray[np.int64]
    away: NDArray[np.int64]
    leaving: NDArray[np.int64]
    prices: NDArray[np.float64]
    """Per child: what lifting a row costs."""


def scales_of(slots: int) -> Scales:
    """Room for weighing cuts of nodes with this many slots."""
    caps, above = np.empty((2, slots))
    local, lifts, best = np.empty((3, 2, slots), np.int64)
    persons, away, leaving = np.empty((3, 2), np.int64)
    return Scales(caps, above, local, lifts, best, np.empty(slots, np.bool_), persons, away, leaving, np.empty(2))


@part_in_place
def _begin(number, scales):
    """Nothing lifted yet."""
    for c in range(2):
        scales.leaving[c] = scales.away[c]
        for i in range(number):
            scales.lifts[c, i] = 0


@part_in_place
def excess(c, i, scales):
    """By how much the expected number of a value exceeds its bound in a child."""
    leaving = scales.leaving[0] + scales.leaving[1]
    up = 0.0
    if leaving > 0:
        up = scales.leaving[c] / leaving * (scales.lifts[0, i] + scales.lifts[1, i] + scales.above[i])
    return scales.local[c, i] - scales.lifts[c, i] + up - scales.caps[i] * scales.persons[c]


@part_in_place
def _worst(number, scales):
    """The child and the slot whose expected number exceeds its bound most, and by how much."""
    at_c, at_i, worst = 0, 0, -np.inf
    for i in range(number):
        for c in range(2):
            here = excess(c, i, scales)
            if here > worst:
                at_c, at_i, worst = c, i, here
    return at_c, at_i, worst


@part_in_place
def _allowed(scales):
    """How much excess is none."""
    return SLACK - DOUBT * max(scales.persons[0], scales.persons[1])


@part_in_place
def _cost(scales):
    lifted0 = scales.leaving[0] - scales.away[0]
    lifted1 = scales.leaving[1] - scales.away[1]
    return lifted0 * scales.prices[0] + lifted1 * scales.prices[1]


@part_in_place
def companions(number, most, scales):
    """Lift rows until no expected number exceeds its bound, into ``scales.lifts``: always what lowers the largest
    excess most for its price, rows of that value or companions from the other child.

    Returns the cost; infinite from ``most`` on, or when no rows help.
    """
    _begin(number, scales)
    while True:
        cost = _cost(scales)
        if cost >= most:
            return np.inf
        c, i, worst = _worst(number, scales)
        if worst <= _allowed(scales):
            return cost
        other = 1 - c
        u, room = _companion(c, i, number, scales)
        own = min(max(1, int(STRIDE * worst)), scales.local[c, i] - scales.lifts[c, i])
        others = min(max(1, int(STRIDE * min(worst, room))), scales.local[other, u] - scales.lifts[other, u])
        if scales.leaving[other] == 0:
            if own == 0 or others == 0:
                return np.inf
            _lift(other, u, others, scales)
            _lift(c, i, own, scales)
            continue
        own_gain = _gain(c, i, c, i, own, worst, scales)
        other_gain = _gain(c, i, other, u, others, worst, scales)
        if own_gain <= 0.0 and other_gain <= 0.0:
            return np.inf
        if own_gain >= other_gain:
            _lift(c, i, own, scales)
        else:
            _lift(other, u, others, scales)


@part_in_place
def _gain(c, i, lifted_c, lifted_i, by, worst, scales):
    """By how much an excess falls for its price when this many rows of some child and slot are lifted."""
    if by == 0:
        return 0.0
    _lift(lifted_c, lifted_i, by, scales)
    fallen = worst - excess(c, i, scales)
    _lift(lifted_c, lifted_i, -by, scales)
    return fallen / (by * scales.prices[lifted_c] + SLACK)


@part_in_place
def _lift(c, i, by, scales):
    scales.lifts[c, i] += by
    scales.leaving[c] += by


@part_in_place
def _companion(c, i, number, scales):
    """The slot, other than ``i``, with rows to lift in the other child that has most room in this one, and how much."""
    found, room = i, -np.inf
    other = 1 - c
    for u in range(number):
        if u != i and scales.lifts[other, u] < scales.local[other, u]:
            here = -excess(c, u, scales)
            if here > room:
                found, room = u, here
    if room == -np.inf:  # none: the last slot has no rows
        return number - 1, 0.0
    return found, room


@part
def blindly(number, most, scales):
    """Lift all rows of any value that exceeds its bound in either child, then rows of all other values alike until
    both children have lifted the same share; returns the cost, infinite from ``most`` on or when it cannot be done."""
    local, all_of = scales.local, scales.all_of
    for i in range(number):
        all_of[i] = False
    more = np.zeros(2, np.int64)
    while True:
        rest = np.zeros(2, np.int64)
        _begin(number, scales)
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
        tightest, _, worst = _worst(number, scales)
        if worst <= _allowed(scales):
            return cost
        new = False
        for i in range(number):
            for c in range(2):
                if not all_of[i] and local[0, i] + local[1, i] > 0 and excess(c, i, scales) > _allowed(scales):
                    all_of[i] = True
                    new = True
        if not new:  # what exceeds now is what rounding added
            more[1 - tightest] += 1


@part_in_place
def _sample(c, due, rest, number, scales):
    """Lift ``due`` of the ``rest`` rows of a child whose value is not lifted as a whole, of each value its share."""
    passed = given = 0
    for i in range(number):
        if not scales.all_of[i] and scales.local[c, i] > 0:
            passed += scales.local[c, i]
            upto = int(passed / rest * due + 0.5)
            _lift(c, i, upto - given, scales)
            given = upto
