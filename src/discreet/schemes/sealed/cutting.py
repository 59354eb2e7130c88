"""A table as cuts under a seal see it: run with coins, or followed through all of them for exact probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import sealing as kernels
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress
from discreet.randomness import words
from discreet.releases.generalized.describe import Values
from discreet.schemes.axes import Loss, axes_of
from discreet.table.table import Table

_WORDS = 1 << 16
"""So many words of chance are drawn at a time."""
Rows = NDArray[np.int64]


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
        n = len(self.classes)
        points, classes, rows = self.points.copy(), self.classes.copy(), np.arange(n, dtype=np.int32)
        course = kernels.Course(np.full(n + 1, n), np.ones(n + 1), np.zeros(n, np.bool_), np.ones(n))
        start, waiting = 0, 1
        number = max(_WORDS, self.points.shape[1] * kernels.POSITIONS)
        while waiting:
            chance = words(number, seeded)
            start, waiting = kernels.cut_sealed(points, classes, rows, self.sealing, chance, course, start, waiting)
            if progress:
                progress("cutting", start / n)
        groups = np.empty(n, np.int32)
        groups[rows] = np.cumsum(course.first, dtype=np.int32) - 1
        return groups, -np.log(course.left[course.first])

    def likelihood(self, groups: NDArray[np.int32]) -> Fraction:
        """Return the exact probability that the rows are divided into these groups."""
        return self._likelihood(np.arange(len(self.classes)), np.asarray(groups), 1.0)

    def _likelihood(self, part: Rows, groups: NDArray[np.int32], factor: float) -> Fraction:
        """Return the probability for the rows of a part, of whose odds tests have left a factor."""
        points, classes, sealing = self.points[part], self.classes[part], self.sealing
        n, one_group = len(part), bool((groups[part] == groups[part[0]]).all())
        counts = np.bincount(classes, minlength=len(sealing.odds))
        present = np.flatnonzero(counts).astype(np.int32)
        most = self.points.shape[1] * kernels.POSITIONS
        found = kernels.Candidates(
            np.empty(most, np.int64), np.empty(most, np.int32), np.empty(most, np.int64), np.empty(most)
        )
        layout = kernels.layout_for(n, sealing.axes)
        number = kernels.candidates(points, sealing.axes, sealing.least, layout, found)
        total, reached = Fraction(0), Fraction(1)
        while True:
            best, price = kernels.next_test(found, number, present, counts, n, factor, sealing)
            if best < 0:
                return total + (reached if one_group else 0)
            left = points[:, found.axis[best]] < found.code[best]
            counted = np.bincount(classes[left], minlength=len(sealing.odds))
            slack = kernels.slack_of(present, counts, counted, int(left.sum()), n, factor, sealing)
            rejected = Fraction(int(slack < 0))
            if 0 <= slack < np.inf:
                rejected = Fraction(int(kernels.rejection(price, slack)), 1 << 64)
            apart = not np.isin(groups[part[left]], groups[part[~left]]).any()
            if apart and rejected < 1:
                halves = (self._likelihood(half, groups, factor) for half in (part[left], part[~left]))
                total += reached * (1 - rejected) * next(halves) * next(halves)
            reached *= rejected
            kernels.drop_tested(points, found, number, best)
            factor *= np.exp(-price - kernels.ROUNDED)
