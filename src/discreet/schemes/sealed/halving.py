"""Parts that are cut into equal halves: what is tested, and in which order, and what needs no test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.clean_cuts import best_cut
from discreet.kernels.costs import Axes, interval_cost
from discreet.kernels.cuts.layout import Layout
from discreet.progress import Progress
from discreet.randomness import numbers_below, words

Rows = NDArray[np.int64]
Merits = dict[int, float]
"""Per axis: what equal halves along it would save."""


class Part(NamedTuple):
    """Persons that are still together, and which cells of rejected cuts they are in."""

    rows: Rows
    cells: NDArray[np.int64]
    number: int
    """How many cells there are."""

    @property
    def odd(self) -> bool:
        """Whether its cells, all of one size, cannot be halved."""
        return len(self.rows) % (2 * self.number) != 0

    def some(self, chosen: NDArray[np.bool_]) -> Part:
        """The chosen persons, in their cells."""
        return Part(self.rows[chosen], self.cells[chosen], self.number)


@dataclass(frozen=True, eq=False)
class Halving:
    """Persons as points, and what is asked about some of them."""

    points: NDArray[np.int32]
    axes: Axes
    layout: Layout
    keep: Callable[[Rows, Rows], bool]
    """Whether two halves keep the promise."""
    sure: Callable[[Rows], int | None]
    """How many rows of a part suffice to keep the promise, whichever these are; None if that cannot be said."""
    behind: Callable[[Rows], Rows]
    """Rows of a part that stay behind as a group of their own, so that the others can be halved."""
    seeded: np.random.Generator | None

    def groups(self, progress: Progress | None = None) -> NDArray[np.int32]:
        """Return the group of every person."""
        n = len(self.points)
        groups, number, done = np.zeros(n, np.int32), 0, 0
        waiting = [Part(np.arange(n), np.zeros(n, np.int64), 1)]
        while waiting:
            part = waiting.pop()
            merits = self._merits(part)
            halves = self._sure_halves(part, merits)
            if not halves:
                staying = self.behind(part.rows) if part.number == 1 and merits else part.rows[:0]
                if len(staying):
                    part = part.some(~np.isin(part.rows, staying))
                    merits = self._merits(part)
                halves = self._tested_halves(part, merits)
                for group in (staying, part.rows[:0] if halves else part.rows):
                    groups[group] = number
                    number += len(group) > 0
                    done += len(group)
            waiting += halves
            if progress:
                progress("halving", done / n)
        return groups

    def _sure_halves(self, part: Part, merits: Merits) -> list[Part]:
        """Return the halves of the best cut that needs no test, if it saves more than equal halves would.

        They need not be equal, so there must be no cells.
        """
        least = self.sure(part.rows) if part.number == 1 else None
        if least is None or 2 * least > len(part.rows):
            return []
        points = self.points[part.rows]
        axis, code, saved = best_cut(points, self.axes, max(1, least), self.layout)
        if saved <= max(merits.values(), default=0.0):
            return []
        left = points[:, axis] < code
        return [part.some(left), part.some(~left)]

    def _tested_halves(self, part: Part, merits: Merits) -> list[Part]:
        """Return the first halves of a part that keep the promise; none if there are none."""
        for axis in sorted(merits, key=lambda axis: -merits[axis]):
            odd = part.odd
            if odd and part.number > 1:
                return []
            left = lower_half(self.points[part.rows, axis], part.cells, part.number, self.seeded)
            if self.keep(part.rows[left], part.rows[~left]):
                return [part.some(left), part.some(~left)]
            if odd:
                return []
            part = Part(part.rows, 2 * part.cells + left, 2 * part.number)
        return []

    def _merits(self, part: Part) -> Merits:
        """Return what equal halves of a part would save along each axis along which they would save something."""
        points, axes = self.points[part.rows], self.axes
        n, size = points.shape[0], max(1, points.shape[0] // part.number)
        merits: Merits = {}
        for axis in range(points.shape[1]):
            places = points[:, axis]
            low, high = places.min(), places.max()
            ranked = places[np.lexsort((places, part.cells))]
            lower = np.arange(n) % size < size // 2
            below, above = ranked[lower].max(initial=low), ranked[~lower].min(initial=high)
            halves = interval_cost(axes, axis, low, below) + interval_cost(axes, axis, above, high)
            saved = axes.weights[axis] * (2.0 * interval_cost(axes, axis, low, high) - halves)
            if low < high and (saved > 0.0 or axes.by_size):
                merits[axis] = saved * n / 2.0
        return merits


def lower_half(
    places: NDArray[np.int32], cells: NDArray[np.int64], number: int, seeded: np.random.Generator | None
) -> NDArray[np.bool_]:
    """Return who is in the lower half of each cell; of an odd number in one cell, a row that is drawn goes anywhere.

    >>> lower_half(np.array([5, 1, 7, 3]), np.array([0, 0, 1, 1]), 2, None).tolist()
    [False, True, False, True]
    """
    n = len(places)
    left = np.zeros(n, np.bool_)
    order = np.lexsort((words(n, seeded), places, cells))  # who is at the same place is in a random order
    if n % 2:
        drawn = int(numbers_below(n, 1, seeded)[0])
        left[order[drawn]] = bool(numbers_below(2, 1, seeded)[0])
        order = np.delete(order, drawn)
    size = len(order) // number
    left[order[np.arange(len(order)) % size < size // 2]] = True
    return left


def sure_rows(codes: NDArray[np.int32], caps: NDArray[np.float64]) -> int:
    """Return how many of some rows, given their values, suffice to keep caps on shares, whichever these are.

    >>> sure_rows(np.array([0, 0, 0, 1]), np.array([0.5, 0.25])), sure_rows(np.array([0, 0]), np.array([1.0]))
    (6, 0)
    """
    counts = np.bincount(codes, minlength=len(caps))
    bound = (counts > 0) & (caps < 1.0)
    if not bound.any():
        return 0
    rows = int(np.ceil((counts[bound] / caps[bound]).max()))
    while (counts[bound] > caps[bound] * rows).any():  # what is rounded away by the division
        rows += 1
    return rows
