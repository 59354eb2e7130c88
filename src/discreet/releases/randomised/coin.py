"""What a retained or redrawn number tells about the original one, decided exactly.

A number is kept with probability p; otherwise one is drawn anew, the value y with probability w_y / W. Let c be the
counts of the original values, N their total, and C(I) the number of rows whose value lies in I. Whoever sees y believes
by Bayes that the original value lies in I with probability

    (p c_y [y in I] + (1 - p) w_y / W C(I)) / (p c_y + (1 - p) w_y / W N).

Where y is not in I, this is at most the share C(I) / N that was believed before; where it is, at least that. So of all
neighbourhoods those that y lies in are the ones to bound, and of these the most crowded one. Schemes before they write
and audits after they have read decide here, in whole numbers, whether that belief exceeds 1 / m.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.releases.randomised.matrix import DIGITS, TOLERANCE
from discreet.table.combinations import numbered

Noise = Literal["uniform", "prior"]
"""How a number is drawn anew: every value that occurs alike, or each as often as it occurs."""
Whole = NDArray[np.int64]
HAIR = 1e-9
"""Beliefs that come so close to their bound, relative to it, are compared with it in whole numbers."""


class Crowds(NamedTuple):
    """The neighbourhoods of the values that occur, by how many rows they hold."""

    first: Whole
    """Where the neighbourhood of each value begins."""
    last: Whole
    """Where it ends."""
    rows: Whole
    """How many rows have a value in it; 0 where the value itself does not occur."""
    around: Whole
    """Per value: the most rows of any neighbourhood that it lies in."""

    def centre(self, value: int) -> int:
        """A value whose neighbourhood, of all that ``value`` lies in, holds the most rows."""
        inside = np.flatnonzero((self.first <= value) & (value <= self.last))
        return int(inside[np.argmax(self.rows[inside])])


def crowds(counts: Whole, first: Whole, last: Whole) -> Crowds:
    """How crowded neighbourhoods are whose ends, ``first`` and ``last``, never fall when the value grows.

    >>> crowds(np.array([5, 1, 2, 4]), np.array([0, 0, 1, 3]), np.array([1, 2, 2, 3])).around.tolist()
    [8, 8, 8, 4]
    """
    up_to = np.concatenate([[0], np.cumsum(counts)])
    rows = np.where(counts > 0, up_to[last + 1] - up_to[first], 0)
    own = np.arange(len(counts))
    start = np.searchsorted(last, own, "left")
    stop = np.searchsorted(first, own, "right")
    # the largest of rows[start:stop], from the largest ones of 1, 2, 4, ... in a row
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
    """The distinct combinations of whole numbers, none below 0, each with how often it occurs.

    >>> distinct(np.array([3, 1, 3]), np.array([7, 7, 7]))
    [[1, 7, 1], [3, 7, 2]]
    """
    keys = numbered(facts, [int(fact.max(initial=0)) + 1 for fact in facts], len(facts[0]))
    _, at, times = np.unique(keys, return_index=True, return_counts=True)
    return [list(line) for line in zip(*(fact[at].tolist() for fact in facts), times.tolist(), strict=True)]


class Nearest(NamedTuple):
    """The published value whose belief comes closest to the bound, or exceeds it most."""

    belief: float
    """The belief, after seeing it, in the most crowded neighbourhood that it lies in."""
    published: int
    broken: int
    """How many published values lead to beliefs beyond the bound."""


@dataclass(frozen=True, eq=False)
class Coin:
    """With which probability numbers are kept, and by which weights they are drawn anew otherwise.

    >>> Coin(3 * 10**14, np.ones(2, np.int64)).believed(np.array([[1, 0]]), np.array([4, 4])).round(3).tolist()
    [[0.65, 0.35]]
    """

    units: int
    """The probability in units of 1 / ``scale``."""
    weights: Whole
    """Per value that may be drawn; none is 0."""
    scale: int = 10**DIGITS

    @property
    def probability(self) -> float:
        """How probably a number is kept, rather than drawn anew."""
        return self.units / self.scale

    @property
    def share(self) -> NDArray[np.float64]:
        """How probably each value is published in place of any other."""
        return np.asarray((1.0 - self.probability) * (self.weights / self.weights.sum()), np.float64)

    def believed(self, published: Whole, counts: Whole) -> NDArray[np.float64]:
        """Per line of published counts: the beliefs that the published values lead to, added up."""
        kept, drawn, total = self.probability * counts, self.share, max(1, int(counts.sum()))
        seen = kept + drawn * total
        with np.errstate(invalid="ignore", divide="ignore"):
            own, rest = np.nan_to_num(kept / seen), np.nan_to_num(drawn / seen)
        return np.asarray(published * own + np.outer(published @ rest, counts))

    def beliefs(self, counts: Whole, around: Whole, total: int) -> NDArray[np.float64]:
        """Per published value: the belief in a neighbourhood of ``around`` rows that it lies in, out of ``total``."""
        kept, drawn = self.probability * counts, self.share
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nan_to_num((kept + drawn * around) / (kept + drawn * total))

    def nearest(self, counts: Whole, around: Whole, total: int, m: int, tolerance: Fraction = TOLERANCE) -> Nearest:
        """The belief that comes closest to the bound of 1 / m, whether it is broken being decided exactly."""
        beliefs = self.beliefs(counts, around, total)
        close = np.flatnonzero(beliefs * m > 1.0 - HAIR)
        weight, limit, broken = int(self.weights.sum()), 1 + tolerance, 0
        for count, rows, own, often in distinct(counts[close], around[close], self.weights[close]):
            kept, drawn = self.units * weight * count, (self.scale - self.units) * own
            over = m * (kept + drawn * rows) * limit.denominator > (kept + drawn * total) * limit.numerator
            broken += often * over
        worst = int(np.argmax(beliefs))
        return Nearest(float(beliefs[worst]), worst, broken)
