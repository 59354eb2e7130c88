"""How surprising it is that so many lines of a random order match the input row in their place, or each other.

Under the null hypothesis all orders of the lines are equally likely. A surprise is -log of a bound on the probability
that at least as many lines coincide with what is in their place. All bounds hold for any number of lines. A *label* is
what a line, or a row of the input, says.

*Matches*: how many lines have the label of the input row in their place. The probability that k given places all match
follows from how many lines and rows have each label. Summed over all choices of k places, it is a coefficient of a
product of polynomials, one per label, and it bounds the probability that k places match. For lines in the order of the
input, the bound is the probability of that order. *Shifts* are matches with the input moved, reversed, or dealt into
two heaps. *Runs* are lines with the key of the line before them: the same polynomials with one row less per key.
*Fits*: how many lines admit the input row in their place. The probability that k given lines all do is at most the
product, over these lines, of r!^(1/r) / n!^(1/n), where r is the number of rows that a line admits (Bregman 1973).
*Near matches*: a sum over places of numbers from 0 to 1 that depend on the line in the place, with mean m, exceeds m by
d with probability at most exp(-d^2 / (4 m + 2 d)) (Chatterjee 2007); the same bound holds for sums of independent
terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.checks.permutations import LIKELY, MOST, Floats, Ints, dense

NEAR = (8, 64)
"""Sizes of the blocks of consecutive places within which a row of the input is looked for, besides its own place."""
PAIRS = 1 << 18
"""At most this many pairs of a line and a row with the same label are examined to find how far the input was moved."""
SLOPES = ((1, 1), (1, -1), (2, 1), (2, -1), (1, 2), (1, -2))
"""Steps in lines and in rows along a moved input: unchanged, reversed, dealt into two heaps, merged from two halves."""


def matches(lines: Ints, rows: Ints) -> float:
    """Return how surprising it is that so many lines have the label of the input row in their place, or near it.

    Lines and rows are given by the numbers of their labels and are equally many. Other ``arrangements`` of the input
    are tried as well.

    >>> says = np.arange(900) * 7 % 11
    >>> round(matches(says, says)), matches(np.sort(says), says) > 0
    (2126, False)
    """
    number, found = len(lines), 0.0
    if number == 0:
        return 0.0
    width = int(max(lines.max(), rows.max())) + 1
    often = np.bincount(lines, minlength=width)
    inputs = arrangements(rows, MOST)
    for arranged in inputs:
        hits = int((lines[:MOST] == arranged).sum())
        found = max(found, agreeing(hits, often, np.bincount(arranged, minlength=width), number))
    for near in NEAR:
        size = min(number, MOST) // near * near
        if size == 0:
            continue
        part = np.arange(size) // near * width
        for input_rows in (rows, rows[::-1]):
            together = _equal_pairs(part + input_rows[:size], part + lines[:size])
            mean = float(often[input_rows[:size]].sum()) / number
            found = max(found, exceeding(together / near, mean))
    return found - math.log(len(inputs) + 2.0 * len(NEAR))


def _equal_pairs(ones: Ints, others: Ints) -> int:
    """Count the pairs of equal numbers, one from ``ones`` and one from ``others``."""
    both = np.sort(np.concatenate([2 * ones, 2 * others + 1]))
    ends = np.flatnonzero(np.diff(both >> 1, append=-1))
    of_others = np.diff(np.cumsum(both & 1)[ends], prepend=0)
    return int(of_others @ (np.diff(ends, prepend=-1) - of_others))


def arrangements(rows: NDArray[Any], most: int | None = None) -> tuple[NDArray[Any], ...]:
    """Return the rows as they are, reversed, dealt into two heaps, and merged in turn from two halves.

    Of each arrangement only the first ``most`` rows are returned.

    >>> [one.tolist() for one in arrangements(np.arange(5))]
    [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [0, 2, 4, 1, 3], [0, 3, 1, 4, 2]]
    """
    number, half = len(rows) if most is None else min(most, len(rows)), len(rows[::2])
    dealt = np.concatenate([rows[::2][:number], rows[1::2][: max(0, number - half)]])
    together = np.empty_like(dealt)
    together[::2], together[1::2] = rows[: len(together[::2])], rows[half : half + len(together[1::2])]
    return rows[:number], rows[::-1][:number], dealt, together


def shifts(lines: Ints, rows: Ints) -> float:
    """Return how surprising it is that so many lines have the labels of the input rows after a common shift.

    >>> says = np.arange(90) * 7 % 11
    >>> round(shifts(np.roll(says, 30), says)), round(shifts(np.concatenate([says[::2], says[1::2]]), says))
    (190, 40)
    """
    number = len(lines)
    if number == 0:
        return 0.0
    width = int(max(lines.max(), rows.max())) + 1
    says, said = np.bincount(lines, minlength=width), np.bincount(rows, minlength=width)
    chosen = _rare(says * said)
    says, said = np.where(chosen, says, 0), np.where(chosen, said, 0)
    at, of = np.flatnonzero(chosen[lines]), np.flatnonzero(chosen[rows])
    of = of[np.argsort(rows[of], kind="stable")]
    starts, repeats = (np.cumsum(said) - said)[lines[at]], said[lines[at]]
    within = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    line, row = np.repeat(at, repeats), of[np.repeat(starts, repeats) + within]
    most = 0
    for step, other in SLOPES:
        moved = step * line - other * row
        # one line per row: the shift is cyclic; with other steps a cyclic shift would put two rows in one place
        moved = np.sort(moved % number if abs(step * other) == 1 else moved)
        ends = np.flatnonzero(np.diff(moved, append=moved[-1:] + 1)) if len(moved) else moved
        most = max(most, int(np.diff(ends, prepend=-1).max(initial=0)))
    return agreeing(most, says, said, number) - math.log(3.0 * len(SLOPES) * number)


def _rare(pairs: Ints) -> NDArray[np.bool_]:
    """Select the labels with the fewest pairs of a line and a row, with at most ``PAIRS`` pairs in total."""
    cost = np.minimum(pairs, PAIRS + 1)
    often = np.bincount(cost)
    below = int(np.searchsorted(np.cumsum(often * np.arange(len(often))), PAIRS, side="right"))
    chosen = (cost > 0) & (cost < below)
    left = PAIRS - int(cost[chosen].sum())
    chosen[np.flatnonzero(cost == below)[: left // max(1, below)]] = True
    return chosen


def runs(keys: NDArray[Any]) -> float:
    """Return how surprising it is that so many lines have the key of the line before them.

    >>> round(runs(np.repeat([3, 1, 2, 5], 5))), runs(np.tile([3, 1, 2, 5], 5))
    (20, 0.0)
    """
    often = np.bincount(dense(keys))
    return agreeing(int((keys[1:] == keys[:-1]).sum()), often, np.maximum(often - 1, 0), len(keys))


def agreeing(hits: int, says: Ints, said: Ints, number: int) -> float:
    """Return how surprising it is that ``hits`` of ``number`` lines are in a place where the row has the same label.

    ``says`` and ``said`` count the lines and the rows with each label.

    >>> round(math.exp(agreeing(12, np.array([6, 6]), np.array([6, 6]), 12))), math.comb(12, 6)
    (924, 924)
    """
    both = np.flatnonzero((says > 0) & (said > 0))
    says, said = says[both], said[both]
    pairs = says * said.astype(np.float64)
    mean = float(pairs.sum()) / max(1, number)
    variance = mean - float(pairs @ (says + said)) / max(1, number) ** 2 + mean**2 / max(1, number)
    if hits <= mean + LIKELY * math.sqrt(max(0.0, variance)):
        return 0.0
    wide = int(said.max()) + 1
    kinds, times = np.unique(says * wide + said, return_counts=True)
    says, said = kinds // wide, kinds % wide
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, int(max(says.max(), said.max())) + 1)))])
    lengths = np.minimum(says, said) + 1
    starts = np.cumsum(lengths) - lengths
    powers = np.arange(int(lengths.sum())) - np.repeat(starts, lengths)
    says, said = np.repeat(says, lengths), np.repeat(said, lengths)
    terms = logs[said] - logs[powers] - logs[said - powers] + logs[says] - logs[says - powers]

    def product(log_x: Floats) -> Floats:
        """Return the logarithm of the product of all polynomials at each x."""
        values = terms + np.multiply.outer(log_x, powers)
        largest = np.maximum.reduceat(values, starts, axis=1)
        sums = np.add.reduceat(np.exp(values - np.repeat(largest, lengths, axis=1)), starts, axis=1)
        return np.asarray((largest + np.log(sums)) @ times)

    return _rarity(hits, number, product, lambda k: math.lgamma(number + 1.0) - math.lgamma(number - k + 1.0))


def fitting(hits: int, admitted: Ints) -> float:
    """Return how surprising it is that ``hits`` lines admit the row in their place.

    ``admitted`` is, per line, the largest number of rows that it admits.

    >>> round(fitting(20, np.full(20, 5)), 1), fitting(5, np.full(20, 5))
    (23.2, 0.0)
    """
    number = len(admitted)
    often = np.bincount(admitted, minlength=1)
    mean = float(admitted.sum()) / max(1, number)
    if hits <= mean + LIKELY * math.sqrt(mean):
        return 0.0
    some = np.flatnonzero(often[1:]) + 1
    logs = np.array([math.lgamma(one + 1.0) / one for one in some.tolist()]) - math.lgamma(number + 1.0) / number

    def product(log_x: Floats) -> Floats:
        return np.asarray(np.logaddexp(0.0, np.add.outer(log_x, logs)) @ often[some])

    return _rarity(hits, number, product, lambda _: 0.0)


def _rarity(hits: int, number: int, product: Callable[[Floats], Floats], ways: Callable[[int], float]) -> float:
    """Return minus the logarithm of the smallest bound found on the probability of ``hits`` or more hits.

    For every k, Markov's inequality gives a bound: the mean number of choices of k places that are all hit, divided by
    the number of choices of k among ``hits`` places. That mean is the coefficient of x^k in ``product``, divided by
    ``ways(k)``; the coefficient is at most the product at any x divided by x^k.
    """
    ks = np.unique(np.linspace(1, hits, 64).astype(np.int64))
    offs = np.array([_log_choices(hits, k) + ways(k) for k in ks.tolist()])
    low, high = -2.0 * math.log(number + 1.0), 2.0 * math.log(number + 1.0) + 25.0
    found = 0.0
    for _ in range(3):  # a finer grid around the best point each time
        tried = np.linspace(low, high, 13)
        values = (offs + np.multiply.outer(tried, ks)).max(axis=1) - product(tried)
        best, apart = int(np.argmax(values)), tried[1] - tried[0]
        found = max(found, float(values[best]))
        low, high = tried[best] - apart, tried[best] + apart
    return found


def _log_choices(number: int, chosen: int) -> float:
    return math.lgamma(number + 1.0) - math.lgamma(chosen + 1.0) - math.lgamma(number - chosen + 1.0)


def exceeding(total: float, mean: float) -> float:
    """Return how surprising it is that a sum over places exceeds its mean by so much.

    >>> exceeding(40.0, 10.0), exceeding(9.0, 10.0)
    (9.0, 0.0)
    """
    off = total - mean
    return off**2 / (4.0 * mean + 2.0 * off) if off > 0.0 else 0.0
