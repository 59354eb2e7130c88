"""Draws many rows at once: from conditional distributions by the alias method, and by exact quotas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Conditional:
    """Distributions over the same values, one per condition, from which a row is drawn in constant time.

    Walker's alias method: every value has a slot of equal width; the fraction ``keep`` of the slot is its own, the rest
    belongs to the value ``other``.

    >>> coin = Conditional.of([[1, 3], [1, 0]])
    >>> draws = coin.draw(np.random.default_rng(0), np.repeat([0, 1], 1000))
    >>> bool(0.7 < draws[:1000].mean() < 0.8), int(draws[1000:].max())
    (True, 0)
    """

    keep: NDArray[np.float64]
    other: Codes

    @classmethod
    def of(cls, weights: ArrayLike) -> Conditional:
        """Build the slots from weights, one row per condition; rows need not sum to one."""
        share = np.array(weights, dtype=np.float64, ndmin=2)
        conditions, values = share.shape
        share *= values / share.sum(axis=1, keepdims=True)
        keep = np.ones_like(share)
        other = np.zeros(share.shape, dtype=np.int32)
        full = np.zeros(share.shape, dtype=np.bool_)
        row = np.arange(conditions)
        for _ in range(values):
            # The shares of open slots average to one slot: the smallest fits into its slot, the largest fills the rest.
            poorest = np.where(full, np.inf, share).argmin(axis=1)
            richest = np.where(full, -np.inf, share).argmax(axis=1)
            keep[row, poorest] = share[row, poorest]
            other[row, poorest] = richest
            share[row, richest] -= 1 - share[row, poorest]
            full[row, poorest] = True
        return cls(keep, other)

    def draw(self, rng: np.random.Generator, condition: NDArray[np.integer]) -> Codes:
        """Draw one value per row from the distribution of the row's condition."""
        values = self.keep.shape[1]
        place = rng.random(len(condition))
        place *= values
        slot = place.astype(np.int32)
        place -= slot
        index = condition.astype(np.int64)
        index *= values
        index += slot
        return np.where(place < self.keep.ravel()[index], slot, self.other.ravel()[index])


def quotas(rows: int, shares: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Split ``rows`` in proportion to integer ``shares``, each part less than one row from its exact size.

    Rounds cumulative sizes from a random start: the result is exact if the exact sizes are whole numbers, and unbiased
    even with fewer rows than parts.

    >>> quotas(10, np.array([1, 3, 1]), np.random.default_rng(0)).tolist()
    [2, 6, 2]
    """
    total = int(shares.sum())
    ends = (rows * np.cumsum(shares) + int(rng.integers(total))) // total
    return np.diff(ends, prepend=0)


def deal(score: NDArray[np.float32], counts: NDArray[np.int64]) -> Codes:
    """Assign value 0 to the rows with the lowest ``score``, value 1 to the next ones, and so on, by exact counts.

    >>> deal(np.array([0.5, 0.1, 0.9], dtype=np.float32), np.array([2, 1])).tolist()
    [0, 0, 1]
    """
    dealt = np.empty(len(score), dtype=np.int32)
    dealt[np.argsort(score, kind="stable")] = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return dealt
