"""Noise and choices with exactly the probabilities that differential privacy reckons with.

Everything is drawn by comparing whole numbers from the operating system's entropy, as in Canonne, Kamath and Steinke,
"The Discrete Gaussian for Differential Privacy" (NeurIPS 2020), Section 5. Laplace noise made of floating-point numbers
has other probabilities than its formula, and which numbers can occur at all betrays the count that was hidden.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.randomness import numbers_below

Ints = NDArray[np.int64]
Seeded = np.random.Generator | None
PARTS = 1 << 32
"""Rates are multiples of 1 / PARTS."""
FASTEST = 1 << 20
"""Larger rates would leave no noise at all, and are taken as this one."""
TRIES = 256
"""This many candidates are drawn at once."""


def rate_below(rate: Fraction) -> int:
    """A rate as a multiple of 1 / PARTS, rounded down, so that there is no less noise; 0 if it is too small.

    >>> rate_below(Fraction(1, 2)) == PARTS // 2, rate_below(Fraction(1, 10**12))
    (True, 0)
    """
    return int(min(rate, Fraction(FASTEST)) * PARTS)


def survives(decay: Ints, seeded: Seeded = None) -> NDArray[np.bool_]:
    """For each number d, given in parts: true with probability exp(-d / PARTS), exactly."""
    whole, rest = np.divmod(decay, PARTS)
    alive = np.ones(len(decay), np.bool_)
    waiting = np.flatnonzero(whole > 0)
    while len(waiting):  # once for every whole unit, until one fails
        alive[waiting] = _once(np.full(len(waiting), PARTS), seeded)
        whole[waiting] -= 1
        waiting = waiting[alive[waiting] & (whole[waiting] > 0)]
    left = np.flatnonzero(alive)
    alive[left] = _once(rest[left], seeded)
    return alive


def _once(decay: Ints, seeded: Seeded) -> NDArray[np.bool_]:
    """``survives`` for decays of at most PARTS.

    The k-th of a row of coins shows heads with d / k; the first tails comes at an odd place with probability 1 - d +
    d^2 / 2 - d^3 / 6 ..., which is exp(-d).
    """
    result = np.zeros(len(decay), np.bool_)
    tossed, place = np.arange(len(decay)), 1
    while len(tossed):
        heads = numbers_below(place * PARTS, len(tossed), seeded) < decay[tossed]
        result[tossed[~heads]] = place % 2 == 1
        tossed, place = tossed[heads], place + 1
    return result


def noise(rate: int, number: int, seeded: Seeded = None) -> Ints:
    """This many whole numbers k, each with a probability proportional to exp(-|k| rate / PARTS), exactly."""
    result = np.zeros(number, np.int64)
    missing = np.arange(number)
    while len(missing):
        fine = numbers_below(PARTS, len(missing), seeded)
        kept = survives(fine, seeded)
        missing_now, fine = missing[kept], fine[kept]
        coarse = np.zeros(len(fine), np.int64)
        going = np.arange(len(fine))
        while len(going):
            going = going[_once(np.full(len(going), PARTS), seeded)]
            coarse[going] += 1
        size = (fine + coarse * PARTS) // rate
        negative = numbers_below(2, len(size), seeded) == 1
        good = ~(negative & (size == 0))  # or 0 would be twice as likely
        result[missing_now[good]] = np.where(negative, -size, size)[good]
        missing = np.concatenate([missing[~kept], missing_now[~good]])
    return result


def choice(scores: Ints, rate: int, seeded: Seeded = None) -> int:
    """The place of a score s, drawn with a probability proportional to exp(s rate / PARTS), exactly.

    This is the exponential mechanism: any place is tried, and taken with exp(-(best - s) rate / PARTS).
    """
    decay = np.minimum(int(scores.max()) - scores, (1 << 62) // max(1, rate)) * rate
    while True:
        tried = numbers_below(len(scores), TRIES, seeded)
        taken = np.flatnonzero(survives(decay[tried], seeded))
        if len(taken):
            return int(tried[taken[0]])
