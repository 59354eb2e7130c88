"""How surprising an order of lines is, if it was drawn so that any order is as likely as any other.

Each line has a key that follows from what it says and from the original, never from where it stands; lines that say the
same have the same key. A surprise is -log of a bound on the probability that a random order is so much, or more, in
line with the keys. All bounds hold for any number of lines; none is an approximation for many.

*Trend*: the number of pairs that stand against the order of their keys (Kendall). Over all arrangements of lines with
ties, the mean of q to the power of that number is the q-multinomial coefficient divided by its value at q = 1, so
Chernoff's bound is at hand, and for sorted lines it is how probable they are. Within groups the means are multiplied.
*Stretches*: the sum of the ranks of lines that stand in one stretch. Hoeffding showed that sums of draws without
replacement keep the bounds of draws with replacement (1963); Serfling sharpened one of them (1974).
*Neighbours*: how many pairs of lines with next keys stand together, or two lines apart, among lines whose keys nobody
shares. Given where one of a pair stands, and up to 2 j - 1 lines in all, the other stands in one of two places with
probability 2 / (n - 2 j + 1) at most; so k or more pairs do with at most the product of that for j = 1 to k, times the
number of ways to choose k pairs.
*Matches*: how many lines stand where the input has a row that says the same. Of k given places, all match with a
probability that follows from how many lines and rows say what; added up over all choices of k places, it is a
coefficient of a product of polynomials, one for each thing said, and bounds how often k places match. For lines in the
order of the input it is how probable that order is. *Shifts* are matches with the input moved, reversed, or dealt into
two heaps, and *runs* lines that are like the one before: the same polynomials with one row less for each thing said.
*Fits*: how many lines stand where the input has a row that they admit. Of k given lines all do with at most the
product, over them, of r!^(1/r) / n!^(1/n), r the number of rows that a line admits (Bregman 1973).
*Near matches*: a sum over places of numbers from 0 to 1 that depend on the line which stands there, with mean m,
exceeds it by d with probability exp(-d^2 / (4 m + 2 d)) at most (Chatterjee 2007); so does a sum of independent ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST = 1 << 16
"""How many lines are looked at; of more, those of the first groups, or of places at equal distances."""
LIKELY = 3.0
"""Up to so many standard deviations nothing is surprising enough to be worth a bound."""
TRIED = (0.7, 1.0, 1.4, 2.0, 3.0, 6.0, 16.0, 64.0, 512.0)
"""What t of Chernoff's bound is tried, as multiples of the one that leads to the bound of the normal distribution."""
SHORTEST = 16
"""The fewest lines of a stretch."""
APART = (1, 2)
"""How many lines apart next keys are looked for."""
NEAR = (8, 64)
"""In how many places around its own a row of the input is looked for, if not in its own."""
PAIRS = 1 << 18
"""So many pairs of a line and a row that say the same are looked at to find how far the input was moved."""
SLOPES = ((1, 1), (1, -1), (2, 1), (2, -1), (1, 2), (1, -2))
"""How many lines and rows a moved input goes on by: as it was, reversed, dealt into two heaps, and put together."""


class Trend(NamedTuple):
    """How surprising it is that lines stand so much in the order of their keys, or against it."""

    surprise: float
    sorted: float
    """How surprising it would be if all did."""


def dense(keys: NDArray[Any]) -> Ints:
    """Keys numbered 0, 1, 2, ... in their order.

    >>> dense(np.array([0.5, 9.0, 0.5])).tolist()
    [0, 1, 0]
    """
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def inversions(keys: Ints) -> int:
    """How many pairs of lines stand against the order of their dense keys.

    By the bits of the keys from the highest on: lines are kept in the order of the bits seen, and among those with the
    same, every one that has the next bit set stands against the order with those after it that have not.

    >>> inversions(np.array([2, 0, 1, 1]))
    3
    """
    total, held = 0, keys.astype(np.int64)
    for bit in range(int(held.max(initial=0)).bit_length() - 1, -1, -1):
        part, one = held >> (bit + 1), (held >> bit) & 1
        first = np.searchsorted(part, np.arange(int(part[-1]) + 1))[part]
        ones = np.cumsum(one) - one
        ones -= ones[first]
        unset = 1 - one
        total += int((unset * ones).sum())
        zeros = np.bincount(part, unset).astype(np.int64)[part]
        ordered = np.empty_like(held)
        ordered[np.where(one == 1, first + zeros + ones, np.arange(len(held)) - ones)] = held
        held = ordered
    return total


def trend(keys: NDArray[Any], groups: Ints | None = None) -> Trend:
    """How surprising it is that lines, or the lines of each group, stand so much in the order of their keys.

    >>> [round(trend(np.array(keys)).surprise, 1) for keys in ([1, 2, 3, 4, 5, 6, 7, 8], [3, 6, 1, 8, 5, 2, 4, 7])]
    [9.9, 0.0]
    """
    keys, sizes = dense(keys), np.array([len(keys)])
    if groups is not None:
        groups = dense(groups)
        order = np.argsort(groups, kind="stable")
        keys = dense(groups * (int(keys.max(initial=0)) + 1) + keys)[order]
        sizes = np.bincount(groups)
    ties = np.bincount(keys) if len(keys) else sizes
    blocks = np.concatenate([sizes, ties])
    signs = np.concatenate([np.ones(len(sizes)), -np.ones(len(ties))])
    lengths, of = np.unique(blocks, return_inverse=True)
    weights = np.bincount(of, signs)
    pairs = float(weights @ (lengths * (lengths - 1) / 2.0))
    variance = float(weights @ (lengths * (lengths - 1.0) * (2.0 * lengths + 5.0))) / 72.0
    if variance <= 0.0:
        return Trend(0.0, 0.0)
    likely = LIKELY * math.sqrt(variance)
    largest = float(weights @ np.array([math.lgamma(length + 1.0) for length in lengths.tolist()])) - math.log(2.0)
    largest = largest if pairs / 2.0 > likely else 0.0
    against = inversions(keys)
    fewer = min(float(against), pairs - against)
    off = pairs / 2.0 - fewer
    if off <= likely:
        return Trend(0.0, largest)
    surprise = 0.0
    places = np.arange(1, int(lengths.max()) + 1, dtype=np.float64)
    for t in (*(min(multiple * off / variance, 40.0) for multiple in TRIED), 40.0):
        logs = np.concatenate([[0.0], np.cumsum(np.log(-np.expm1(-t * places) / places))])
        mean = float(weights @ (logs[lengths] - lengths * math.log(-math.expm1(-t))))
        surprise = max(surprise, -mean - t * fewer)
    return Trend(min(surprise - math.log(2.0), largest), largest)


def stretches(keys: NDArray[Any]) -> float:
    """How surprising it is that the keys of lines that stand together are so large or so small.

    >>> round(stretches((np.arange(1000) + 500) % 1000)), stretches(np.arange(1000) * 617 % 1000) > 0
    (118, False)
    """
    number = len(keys)
    places = dense(keys)
    ties = np.bincount(places)
    ranks = (((np.cumsum(ties) - (ties + 1) / 2.0) + 0.5) / number)[places] - 0.5
    spread, widest = float(ranks.var()), float(np.abs(ranks).max(initial=0.0))
    if widest == 0.0:
        return 0.0
    found, levels, pieces = 0.0, 0, 4
    while number // pieces >= SHORTEST:
        length = number // pieces
        off = float(np.abs(ranks[: pieces * length].reshape(pieces, length).sum(axis=1)).max())
        serfling = off**2 / (2.0 * length * widest**2 * (1.0 - (length - 1) / number))
        bernstein = off**2 / (2.0 * (length * spread + off * widest / 3.0))
        found = max(found, max(serfling, bernstein) - math.log(2.0 * pieces))
        levels, pieces = levels + 1, pieces * 4
    return found - math.log(levels) if levels else 0.0


def neighbours(keys: NDArray[Any]) -> float:
    """How surprising it is that so many lines with next keys stand together, or two lines apart.

    >>> round(neighbours((np.arange(100) + 50) % 100)), neighbours(np.arange(100) * 37 % 100)
    (53, 0.0)
    """
    keys = dense(keys)
    alone = dense(keys[np.bincount(keys)[keys] == 1]) if len(keys) else keys
    number = len(alone)
    most = max(int((np.abs(alone[apart:] - alone[:-apart]) == 1).sum()) for apart in APART)
    k = np.arange(1, min(most, number // 3) + 1)
    if len(k) == 0:
        return 0.0
    logs = np.cumsum(np.log((number - k) / k) + np.log(2.0 / (number - 2 * k + 1)))
    return max(0.0, -float(logs.min()) - math.log(len(APART)))


def matches(lines: Ints, rows: Ints) -> float:
    """How surprising it is that so many lines say the same as the row of the input in their place, or near to it.

    Both are numbered by what they say, and are as many. The input is also looked at in some other ``arrangements``.

    >>> says = np.arange(900) * 7 % 11
    >>> round(matches(says, says)), matches(np.sort(says), says) > 0
    (2126, False)
    """
    number, found = len(lines), 0.0
    if number == 0:
        return 0.0
    width = int(max(lines.max(), rows.max())) + 1
    often = np.bincount(lines, minlength=width)
    inputs = arrangements(rows)
    for arranged in inputs:
        hits = int((lines[:MOST] == arranged[:MOST]).sum())
        found = max(found, agreeing(hits, often, np.bincount(arranged[:MOST], minlength=width), number))
    for near in NEAR:
        size = min(number, MOST) // near * near
        if size == 0:
            continue
        part = np.arange(size) // near * width
        for input_rows in (rows, rows[::-1]):
            there = np.sort(part + input_rows[:size])
            here = np.sort(part + lines[:size])
            together = np.searchsorted(there, here, side="right") - np.searchsorted(there, here)
            mean = float(often[input_rows[:size]].sum()) / number
            found = max(found, exceeding(float(together.sum()) / near, mean))
    return found - math.log(len(inputs) + 2.0 * len(NEAR))


def arrangements(rows: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """The rows of the input as they are, reversed, dealt into two heaps, and put together from two halves in turn.

    >>> [one.tolist() for one in arrangements(np.arange(5))]
    [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [0, 2, 4, 1, 3], [0, 3, 1, 4, 2]]
    """
    dealt, together = np.concatenate([rows[::2], rows[1::2]]), np.empty_like(rows)
    half = len(rows[::2])
    together[::2], together[1::2] = rows[:half], rows[half:]
    return rows, rows[::-1], dealt, together


def shifts(lines: Ints, rows: Ints) -> float:
    """How surprising it is that so many lines say the same as the rows of the input in some other place of their own.

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
        # moved by one line for each row, the last rows come first; else that would put two rows in one place
        moved = np.sort(moved % number if abs(step * other) == 1 else moved)
        ends = np.flatnonzero(np.diff(moved, append=moved[-1:] + 1)) if len(moved) else moved
        most = max(most, int(np.diff(ends, prepend=-1).max(initial=0)))
    return agreeing(most, says, said, number) - math.log(3.0 * len(SLOPES) * number)


def _rare(pairs: Ints) -> NDArray[np.bool_]:
    """The things said that have the fewest pairs of a line and a row, and at most ``PAIRS`` of them in all."""
    cost = np.minimum(pairs, PAIRS + 1)
    often = np.bincount(cost)
    below = int(np.searchsorted(np.cumsum(often * np.arange(len(often))), PAIRS, side="right"))
    chosen = (cost > 0) & (cost < below)
    left = PAIRS - int(cost[chosen].sum())
    chosen[np.flatnonzero(cost == below)[: left // max(1, below)]] = True
    return chosen


def runs(keys: NDArray[Any]) -> float:
    """How surprising it is that so many lines have the same key as the line before.

    >>> round(runs(np.repeat([3, 1, 2, 5], 5))), runs(np.tile([3, 1, 2, 5], 5))
    (20, 0.0)
    """
    often = np.bincount(dense(keys))
    return agreeing(int((keys[1:] == keys[:-1]).sum()), often, np.maximum(often - 1, 0), len(keys))


def agreeing(hits: int, says: Ints, said: Ints, number: int) -> float:
    """How surprising it is that so many lines, of a number of them, have a place where a row says the same.

    So many lines and so many rows say each thing.

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

    def product(log_x: float) -> float:
        """The logarithm of the product of all polynomials."""
        values = terms + powers * log_x
        largest = np.maximum.reduceat(values, starts)
        sums = np.add.reduceat(np.exp(values - np.repeat(largest, lengths)), starts)
        return float(times @ (largest + np.log(sums)))

    return _rarity(hits, number, product, lambda k: math.lgamma(number + 1.0) - math.lgamma(number - k + 1.0))


def fitting(hits: int, admitted: Ints) -> float:
    """How surprising it is that so many lines admit the row in their place, if each admits so many rows at most.

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

    def product(log_x: float) -> float:
        return float(often[some] @ np.logaddexp(0.0, log_x + logs))

    return _rarity(hits, number, product, lambda _: 0.0)


def _rarity(hits: int, number: int, product: Callable[[float], float], ways: Callable[[int], float]) -> float:
    """Minus the logarithm of the least bound on how often so many places, or more, are hit.

    Whatever k is, the mean number of choices of k places that are all hit, divided by how many choices so many hits
    allow, is a bound. That mean is the coefficient of x^k in a product, at most the product at any x divided by x^k,
    and divided by some number of ways.
    """
    ks = np.unique(np.linspace(1, hits, 64).astype(np.int64))
    offs = np.array([_log_choices(hits, k) + ways(k) for k in ks.tolist()])

    def at(log_x: float) -> float:
        return float((offs + ks * log_x).max()) - product(log_x)

    low, high = -2.0 * math.log(number + 1.0), 2.0 * math.log(number + 1.0) + 25.0
    found = 0.0
    for _ in range(3):  # ever more closely around the best
        tried = np.linspace(low, high, 13)
        values = [at(log_x) for log_x in tried.tolist()]
        best, apart = int(np.argmax(values)), tried[1] - tried[0]
        found = max(found, values[best])
        low, high = tried[best] - apart, tried[best] + apart
    return found


def _log_choices(number: int, chosen: int) -> float:
    return math.lgamma(number + 1.0) - math.lgamma(chosen + 1.0) - math.lgamma(number - chosen + 1.0)


def exceeding(total: float, mean: float) -> float:
    """How surprising it is that a sum over places exceeds its mean so much.

    >>> exceeding(40.0, 10.0), exceeding(9.0, 10.0)
    (9.0, 0.0)
    """
    off = total - mean
    return off**2 / (4.0 * mean + 2.0 * off) if off > 0.0 else 0.0
