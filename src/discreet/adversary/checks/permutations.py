"""How surprising an order of lines is if all orders are equally likely.

Each line has a key that depends on what the line says and on the original, never on the line's place; lines that say
the same have the same key. A surprise is -log of a bound on the probability that a random order agrees at least as much
with the keys. All bounds hold for any number of lines; none is asymptotic.

*Trend*: the number of inversions, that is, of pairs in the opposite order of their keys (Kendall). Over all
arrangements of lines with ties, the mean of q to the power of that number is the q-multinomial coefficient divided by
its value at q = 1. This gives Chernoff's bound, which for sorted lines equals their probability. Within groups the
means are multiplied.
*Stretches*: the sum of the ranks of consecutive lines. Sums of draws without replacement satisfy the bounds of draws
with replacement (Hoeffding 1963); Serfling sharpened one of these (1974).
*Neighbours*: how many pairs of lines with consecutive keys are one line apart, or two, among lines with unique keys.
Given the place of one line of a pair, and of up to 2 j - 1 lines in all, the other line is in one of two places with
probability at most 2 / (n - 2 j + 1). So the probability of k or more such pairs is at most the product of this for j =
1 to k, times the number of ways to choose k pairs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.table.combinations import ranks

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST = 1 << 16
"""The most lines tested; of longer tables, the lines of the first groups, or lines at equal distances."""
LIKELY = 3.0
"""Deviations up to this many standard deviations count as no surprise, and no bound is computed."""
TRIED = (0.7, 1.0, 1.4, 2.0, 3.0, 6.0, 16.0, 64.0, 512.0)
"""Values of t tried in Chernoff's bound, as multiples of the t that yields the bound of the normal distribution."""
SHORTEST = 16
"""The fewest lines of a stretch."""
APART = (1, 2)
"""The distances, in lines, at which consecutive keys are looked for."""


class Trend(NamedTuple):
    """How surprising the agreement of the lines' order with their keys is, in either direction."""

    surprise: float
    sorted: float
    """The surprise if all lines were sorted."""


def dense(keys: NDArray[Any]) -> Ints:
    """Number the keys 0, 1, 2, ... in their order.

    >>> dense(np.array([0.5, 9.0, 0.5])).tolist()
    [0, 1, 0]
    """
    return ranks(keys)


def inversions(keys: Ints) -> int:
    """Count the pairs of lines that are in the opposite order of their dense keys.

    Works through the bits of the keys from the highest to the lowest, keeping the lines sorted by the bits already
    processed: among lines with equal higher bits, each line with the bit set forms an inversion with every later line
    without it.

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
    """Return how surprising the agreement of the lines' order with their keys is, overall or within each group.

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
    """Return how surprising it is that the keys of consecutive lines are so large or so small.

    >>> round(stretches((np.arange(1000) + 500) % 1000)), stretches(np.arange(1000) * 617 % 1000) > 0
    (118, False)
    """
    number = len(keys)
    if number == 0:
        return 0.0
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
    """Return how surprising it is that so many lines with consecutive keys are one line apart, or two.

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
