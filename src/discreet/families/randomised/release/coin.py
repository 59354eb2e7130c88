"""What a retained or redrawn number implies about the original one, decided exactly.

A number is kept with probability p; otherwise a new one is drawn, the value y with probability w_y / W. Let c be the
counts of the original values, N their total, and C(I) the number of rows whose value lies in I. By Bayes, an adversary
who sees y believes that the original value lies in I with probability

    (p c_y [y in I] + (1 - p) w_y / W C(I)) / (p c_y + (1 - p) w_y / W N).

If y is not in I, this is at most the prior belief C(I) / N; if y is in I, it is at least that. So only neighbourhoods
that contain y need a bound, and among these the one with the most rows. Schemes use this module before they write, and
audits after they have read, to decide in whole numbers whether that belief exceeds 1 / m.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.families.randomised.release.matrix import DIGITS, TOLERANCE

Noise = Literal["uniform", "prior"]
"""How a new number is drawn: every occurring value with equal probability, or in proportion to its count."""
Whole = NDArray[np.int64]
EPSILON = 1e-9
"""The relative distance from the bound within which beliefs are compared in whole numbers."""


class Crowds(NamedTuple):
    """The neighbourhoods of the values, with their numbers of rows."""

    first: Whole
    """The first value of each value's neighbourhood."""
    last: Whole
    """The last value of each value's neighbourhood."""
    rows: Whole
    """The number of rows in each neighbourhood; 0 if the value itself does not occur."""
    around: Whole
    """For each value, the most rows of any neighbourhood that contains it."""

    def centre(self, value: int) -> int:
        """The value whose neighbourhood has the most rows, among all neighbourhoods that contain ``value``."""
        inside = np.flatnonzero((self.first <= value) & (value <= self.last))
        return int(inside[np.argmax(self.rows[inside])])


def crowds(counts: Whole, first: Whole, last: Whole) -> Crowds:
    """Count the rows of neighbourhoods whose ends, ``first`` and ``last``, are nondecreasing in the value.

    >>> crowds(np.array([5, 1, 2, 4]), np.array([0, 0, 1, 3]), np.array([1, 2, 2, 3])).around.tolist()
    [8, 8, 8, 4]
    """
    up_to = np.concatenate([[0], np.cumsum(counts)])
    rows = np.where(counts > 0, up_to[last + 1] - up_to[first], 0)
    codes = np.arange(len(counts))
    start = np.searchsorted(last, codes, "left")
    stop = np.searchsorted(first, codes, "right")
    # a sparse table: the maximum of rows[start:stop] is the larger of two overlapping windows of 1, 2, 4, ... entries
    power = np.frexp((stop - start).astype(np.float64))[1] - 1
    around = np.zeros_like(rows)
    largest = rows
    for level in range(int(power.max(initial=0)) + 1):
        at = np.flatnonzero(power == level)
        around[at] = np.maximum(largest[start[at]], largest[stop[at] - (1 << level)])
        step = 1 << level
        largest = np.maximum(largest[:-step], largest[step:]) if len(largest) > step else largest
    return Crowds(first, last, rows, around)


def distinct(*facts: Whole) -> list[list[int]]:
    """The distinct combinations of nonnegative whole numbers, each followed by its frequency.

    >>> distinct(np.array([3, 1, 3]), np.array([7, 7, 7]))
    [[1, 7, 1], [3, 7, 2]]
    """
    lines, times = np.unique(np.column_stack(facts), axis=0, return_counts=True)
    combinations: list[list[int]] = np.column_stack([lines, times]).tolist()
    return combinations


class Nearest(NamedTuple):
    """The published value whose belief comes closest to the bound, or exceeds it most."""

    belief: float
    """The belief, given this value, in the neighbourhood with the most rows that contains it."""
    published: int
    broken: int
    """The number of published values that imply beliefs above the bound."""


@dataclass(frozen=True, eq=False)
class Coin:
    """The probability with which numbers are kept, and the weights by which they are drawn otherwise.

    >>> Coin(3 * 10**14, np.ones(2, np.int64)).believed(np.array([[1, 0]]), np.array([4, 4])).round(3).tolist()
    [[0.65, 0.35]]
    """

    units: int
    """The probability in units of 1 / ``scale``."""
    weights: Whole
    """The weight of each value that may be drawn; all are positive."""
    scale: int = 10**DIGITS

    @property
    def probability(self) -> float:
        """The probability that a number is kept rather than drawn anew."""
        return self.units / self.scale

    @property
    def share(self) -> NDArray[np.float64]:
        """The probability that each value is published in place of any given other value."""
        return np.asarray((1.0 - self.probability) * (self.weights / self.weights.sum()), np.float64)

    def believed(self, published: Whole, counts: Whole) -> NDArray[np.float64]:
        """For each line of published counts, the sum of the beliefs that its published values imply."""
        kept, drawn, total = self.probability * counts, self.share, max(1, int(counts.sum()))
        seen = kept + drawn * total
        with np.errstate(invalid="ignore", divide="ignore"):
            retained, rest = np.nan_to_num(kept / seen), np.nan_to_num(drawn / seen)
        return np.asarray(published * retained + np.outer(published @ rest, counts))

    def beliefs(self, counts: Whole, around: Whole, total: int) -> NDArray[np.float64]:
        """For each published value, the belief in a neighbourhood of ``around`` of ``total`` rows that contains it."""
        kept, drawn = self.probability * counts, self.share
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nan_to_num((kept + drawn * around) / (kept + drawn * total))

    def nearest(self, counts: Whole, around: Whole, total: int, m: int, tolerance: Fraction = TOLERANCE) -> Nearest:
        """The belief that comes closest to the bound of 1 / m; whether the bound is broken is decided exactly."""
        beliefs = self.beliefs(counts, around, total)
        close = np.flatnonzero(beliefs * m > 1.0 - EPSILON)
        weight, limit, broken = int(self.weights.sum()), 1 + tolerance, 0
        for count, rows, weighing, often in distinct(counts[close], around[close], self.weights[close]):
            kept, drawn = self.units * weight * count, (self.scale - self.units) * weighing
            over = m * (kept + drawn * rows) * limit.denominator > (kept + drawn * total) * limit.numerator
            broken += often * over
        worst = int(np.argmax(beliefs))
        return Nearest(float(beliefs[worst]), worst, broken)
