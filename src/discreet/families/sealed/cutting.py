"""A table as cuts under a seal see it: run with coins, or followed through all of them for exact probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.families.sealed.kernels.candidates import POSITIONS, candidates, no_candidates
from discreet.families.sealed.kernels.cuts import Course, Rejected, cut_sealed, no_rejections
from discreet.families.sealed.kernels.rounds import ROUNDS, Sealing
from discreet.families.sealed.ways import RejectedCut, Ways
from discreet.kernels.cuts.layout import AxisLayout, layout_of
from discreet.principles.bounds import bounded_shares
from discreet.principles.per_attribute import Promised
from discreet.progress import Progress, no_progress
from discreet.randomness import words
from discreet.releases.generalization import Values
from discreet.schemes.axes import Loss, axes_of
from discreet.table.table import Table

_WORDS = 1 << 16
"""This many words of chance are drawn at a time."""
PATIENCE = 100
"""This many cuts are tried for each group to find out whether a table may have been divided into groups."""


class _TooLongError(Exception):
    """Too many cuts were tried."""


@dataclass(frozen=True, eq=False)
class Cutting:
    """Persons as points, their values of every sensitive attribute, and what is public."""

    points: NDArray[np.int32]
    sensitive_codes: NDArray[np.int32]
    sealing: Sealing

    @classmethod
    def of(cls, table: Table, each: Sequence[Promised], loss: Loss, values: Values) -> Cutting:
        """Return a table under promises that bound every value, or node, of each sensitive attribute from above.

        Where nodes are bounded, these stand in place of the values: the same cuts are tested, in the same way, as if
        they had been published.
        """
        odds, shares, sensitive_codes, before = [], [], [], 0
        for (prior, promise), column in zip(each, table.sensitive, strict=True):
            bounds = bounded_shares(promise.rules(prior))
            assert bounds is not None, "a promise without caps is refused"
            caps, nodes = bounds.caps, bounds.nodes
            bound = caps < 1.0
            odds.append(np.where(bound, caps / np.where(bound, 1.0 - caps, 1.0), np.inf))
            sensitive_codes.append(nodes[column.codes].astype(np.int32) + np.int32(before))
            shares.append(np.bincount(nodes, prior.counts, len(caps)) / prior.rows)
            before += len(caps)
        points, axes = axes_of(table, loss, values)
        least = max(part.least_rows for _, promise in each for part in promise.parts)
        sealing = Sealing(axes, np.concatenate(odds), np.concatenate(shares), least)
        return cls(points, np.column_stack(sensitive_codes), sealing)

    def groups(
        self,
        some: NDArray[np.int64],
        seeded: np.random.Generator | None,
        progress: Progress = no_progress,
        rejected: RejectedCut | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the group of each of some rows, and the leakage of each group, also by a cut of them that was rejected
        before; coins are the operating system's, unless a ``seeded`` generator is given."""
        n, d = len(some), self.points.shape[1]
        points, sensitive_codes, rows = self.points[some], self.sensitive_codes[some], np.arange(n, dtype=np.int32)
        number = max(_WORDS, d * POSITIONS * ROUNDS)
        course = Course(
            starts=np.zeros(2 * n, np.int64),
            ends=np.full(2 * n, n),
            latest=np.full(2 * n, -1),
            rejected=no_rejections(0),
            before=np.zeros(0, np.int64),
            first=np.zeros(n, np.bool_),
            leakage=np.zeros(n),
            learnt=np.zeros((d, 2)),
        )
        layout, at, waiting, failed = self._layout(n), 0, 1, 0
        if rejected is not None:
            course, failed = _with_room(course, 1), 1
            course.rejected.axis[0], course.rejected.code[0], course.rejected.price[0] = rejected
            course.before[0], course.latest[0] = -1, 0
        while at < waiting:
            course = _with_room(course, failed + number)
            at, waiting, failed = cut_sealed(
                points, sensitive_codes, rows, self.sealing, layout, words(number, seeded), course, at, waiting, failed
            )
            progress("cutting", at / waiting)
        groups = np.empty(n, np.int32)
        groups[rows] = np.cumsum(course.first, dtype=np.int32) - 1
        return groups, course.leakage[course.first]

    def may_divide(self, groups: NDArray[np.int32]) -> bool | None:
        """Return whether cuts that may be tested divide the rows into these groups; None if that takes too long.

        Which cuts of a part may be tested is decided by quasi-identifiers alone, and a part by its groups.
        """
        d, layout, left = self.points.shape[1], self._layout(len(self.points)), PATIENCE * (int(groups.max()) + 2)
        cuts, nothing = no_candidates(d * POSITIONS), np.zeros((d, 2))
        failed: set[bytes] = set()

        def divides(rows: NDArray[np.intp]) -> bool:
            nonlocal left
            of = groups[rows]
            if (of == of[0]).all():
                return True
            key = np.unique(of).tobytes()
            if key in failed:
                return False
            points, sizes = self.points[rows], np.bincount(of)
            number = candidates(points, self.sealing.axes, self.sealing.least, layout, nothing, cuts)
            tried = sorted(range(number), key=lambda at: -cuts.merit[at])
            for axis, code in [(int(cuts.axis[at]), int(cuts.code[at])) for at in tried]:
                left -= 1
                if left < 0:
                    raise _TooLongError
                below = points[:, axis] < code
                lower = np.bincount(of[below], minlength=len(sizes))
                if bool(((lower == 0) | (lower == sizes)).all()) and divides(rows[below]) and divides(rows[~below]):
                    return True
            failed.add(key)
            return False

        try:
            return divides(np.arange(len(self.points)))
        except (_TooLongError, RecursionError):
            return None

    def _layout(self, size: int) -> AxisLayout:
        """Return room to lay out this many rows along any axis."""
        return layout_of(size, int(self.sealing.axes.cards.max()), 0)

    def likelihood(self, groups: NDArray[np.int32], leakage: NDArray[np.float64] | None = None) -> Fraction | None:
        """Return the exact probability that the rows are divided into these groups, with this leakage of each group if
        it is given; None if the ways that lead there are too many to follow."""
        layout = self._layout(len(self.points))
        return Ways(self.points, self.sensitive_codes, self.sealing, layout, np.asarray(groups), leakage).chance()


def _with_room(course: Course, most: int) -> Course:
    """Return the course with room for this many rejected cuts."""
    more = most - len(course.before)
    old, new = course.rejected, no_rejections(more)
    return course._replace(
        rejected=Rejected(*(np.concatenate([old[at], new[at]]) for at in range(len(old)))),
        before=np.concatenate([course.before, np.zeros(more, np.int64)]),
    )
