"""A table as cuts under a seal see it: run with coins, or followed through all of them for exact probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import sealing as kernels
from discreet.kernels.cuts.layout import Layout, layout_of
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress
from discreet.randomness import words
from discreet.releases.generalized.describe import Values
from discreet.schemes.axes import Loss, axes_of
from discreet.table.table import Table

_WORDS = 1 << 16
"""So many words of chance are drawn at a time."""
Waiting = tuple[NDArray[np.int64], float]
"""The rows of a part that waits to be cut, and the factor that tests have left of its odds."""


@dataclass(frozen=True, eq=False)
class Cutting:
    """Persons as points, their values, and what is public."""

    points: NDArray[np.int32]
    classes: NDArray[np.int32]
    sealing: kernels.Sealing

    @classmethod
    def of(cls, table: Table, principle: Principle, prior: Prior, loss: Loss, values: Values) -> Cutting:
        """Return a table under a promise that bounds every value from above."""
        caps = principle.caps(prior)
        assert caps is not None, "a promise without caps is refused"
        bound = caps < 1.0
        odds = np.where(bound, caps / np.where(bound, 1.0 - caps, 1.0), np.inf)
        points, axes = axes_of(table, loss, values)
        least = max(part.least_rows for part in principle.parts)
        sealing = kernels.Sealing(axes, odds, prior.counts / prior.rows, least)
        return cls(points, table.classes.astype(np.int32), sealing)

    def groups(
        self, seeded: np.random.Generator | None, progress: Progress | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the group of every row, and what was told about each group; coins are the operating system's, unless
        a ``seeded`` generator is given."""
        n, d = self.points.shape
        points, classes, rows = self.points.copy(), self.classes.copy(), np.arange(n, dtype=np.int32)
        ends, learnt = np.full(2 * n, n), np.zeros((d, 2))
        course = kernels.Course(
            np.zeros(2 * n, np.int64), ends, np.ones(2 * n), np.zeros(n, np.bool_), np.ones(n), learnt
        )
        layout, at, waiting = self._layout(n), 0, 1
        number = max(_WORDS, d * kernels.POSITIONS)
        while at < waiting:
            chance = words(number, seeded)
            at, waiting = kernels.cut_sealed(points, classes, rows, self.sealing, layout, chance, course, at, waiting)
            if progress:
                progress("cutting", at / waiting)
        groups = np.empty(n, np.int32)
        groups[rows] = np.cumsum(course.first, dtype=np.int32) - 1
        return groups, 0.0 - np.log(course.left[course.first])  # not -0.0 where nothing was told

    def _layout(self, size: int) -> Layout:
        """Return room to lay out so many rows along any axis."""
        return layout_of(size, int(self.sealing.axes.cards.max()), 0)

    def likelihood(self, groups: NDArray[np.int32]) -> Fraction:
        """Return the exact probability that the rows are divided into these groups, along all ways that lead there."""
        learnt = np.zeros((self.points.shape[1], 2))
        return self._followed(np.asarray(groups), [(np.arange(len(self.classes)), 1.0)], learnt)

    def _followed(self, groups: NDArray[np.int32], queue: list[Waiting], learnt: NDArray[np.float64]) -> Fraction:
        """Return the probability that the parts of a queue are divided into these groups."""
        if not queue:
            return Fraction(1)
        (part, factor), queue = queue[0], queue[1:]
        points, classes, sealing, learnt = self.points[part], self.classes[part], self.sealing, learnt.copy()
        n, m = len(part), len(sealing.odds)
        counts = np.bincount(classes, minlength=m)
        present = np.flatnonzero(counts).astype(np.int32)
        found = kernels.no_candidates(points.shape[1] * kernels.POSITIONS)
        number = kernels.candidates(points, sealing.axes, sealing.least, self._layout(n), learnt, found)
        total, reached = Fraction(0), Fraction(1)
        while reached:
            best, price = kernels.next_test(found, number, present, counts, n, factor, sealing)
            if best < 0:
                one_group = bool((groups[part] == groups[part[0]]).all())
                return total + (reached * self._followed(groups, queue, learnt) if one_group else 0)
            left = points[:, found.axis[best]] < found.code[best]
            counted = np.bincount(classes[left], minlength=m)
            slack = kernels.slack_of(present, counts, counted, int(left.sum()), n, factor, sealing)
            rejected = Fraction(int(slack < 0))
            if 0 <= slack < np.inf:
                rejected = Fraction(int(kernels.rejection(price, slack)), 1 << 64)
            if rejected < 1 and not np.isin(groups[part[left]], groups[part[~left]]).any():
                halves = [(part[left], factor), (part[~left], factor)]
                wiser = learnt.copy()
                kernels.learn(wiser, found.axis[best], False)
                total += reached * (1 - rejected) * self._followed(groups, queue + halves, wiser)
            reached *= rejected
            kernels.learn(learnt, found.axis[best], True)
            kernels.drop_tested(points, found, number, best)
            factor *= np.exp(-price - kernels.ROUNDED)
        return total
