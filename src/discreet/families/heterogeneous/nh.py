"""NH: non-homogeneous generalization by rings (Wong, Mamoulis and Cheung, "Non-homogeneous Generalization in Privacy
Preserving Data Publishing", SIGMOD 2010), the competitor in the paper on heterogeneous generalization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.families.heterogeneous.graph import confirm_graph
from discreet.families.heterogeneous.release import MatchedRelease
from discreet.families.heterogeneous.rings import matches_in_ring, ring_of
from discreet.principles.k_anonymity import KAnonymity
from discreet.principles.l_diversity import LDiversity
from discreet.principles.per_attribute import stated
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress, no_progress
from discreet.releases.generalization import Values
from discreet.schemes.anatomy import different_values
from discreet.schemes.buckets.drawing import along_curve, distinct_points
from discreet.schemes.cuts.scheme import Mondrian
from discreet.schemes.grouping import GroupingTask, published_rows
from discreet.schemes.merge_broken import JudgedAttribute, merge_broken
from discreet.schemes.refusal import Refusal, RefusalError, hides_nobody
from discreet.schemes.scheme import Scheme, feasible
from discreet.table.table import Table


@dataclass(frozen=True, kw_only=True)
class NH(Scheme):
    """Non-homogeneous generalization: rows are partitioned, partitions merged until they are diverse enough, and each
    is published as a ring in which every row has a box around itself and those that follow it.

    It was made for k-anonymity. The table is cut at medians into partitions of k rows or more by the quasi-identifiers
    alone, as Mondrian does. Then partitions in which a value has more than 1 in l of the rows are merged with their
    neighbours along a Hilbert curve. On real tables that makes few and large ones, which is why it loses more than
    ``heterogeneous``. It serves for comparison.

    Why the promise is kept, in a matched release: let a ring have boxes of m rows. The box of a row is around it and
    the m - 1 after it, so a person may have m rows: the own one and the m - 1 before it. A shift s, from 0 to m - 1, is
    drawn for each ring by chance of the operating system, and every row is published with the value of the person s
    places after it. So the values published with a person's candidates are those of m persons who follow each other in
    the ring, whichever shift it is. For k-anonymity m is k, and all m shifts are equally likely. For l-diversity the
    ring is such that any l that follow each other have different values (``rings``), and m is the smallest multiple of
    l that is at least k: no value is among m more often than m / l times. A partition of fewer rows than m is the whole
    table, in which nobody's candidates are fewer than all rows. Whatever was made is judged once more.

    As in ``heterogeneous(publishes=graph)``, the assignment is one of those that the ring is made of. The published
    method draws a random set of disjoint assignments; that does for k-anonymity, but a person would then find values
    repeated among the candidates. The promise covers an adversary who knows who is matched with which rows; audits say
    how much more one who only matches descriptions believes. What the merging tells an adversary who knows the
    algorithm is not bounded.

    >>> from discreet.datasets import patients
    >>> NH(random_state=1).publish(patients(), LDiversity(3))
    <matched release of 48 rows, 0 withheld: l-diversity(l=3)>
    """

    name: ClassVar[str] = "nh"
    format: ClassVar[type[MatchedRelease]] = MatchedRelease

    values: Values = "interval"

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Promises of l different values or of k rows, and of no presence."""
        if prior.attribute is None:
            return Refusal(f"scheme {self.name!r} needs a sensitive attribute", principle)
        kept = all(part.sufficient_share is not None or not part.about_values for part in principle.parts)
        if kept or not principle.about_groups:
            other = hides_nobody(self.name, principle) or super().refusal(principle, prior)
            return other or self._too_frequent(principle, prior, prior.counts)
        return Refusal(
            f"scheme {self.name!r} keeps k-anonymity and l-diversity of the kinds frequency and distinct, as its rings "
            "are of different values",
            principle,
        )

    def release_of(self, table: Table, principle: Principle, progress: Progress | None = None) -> MatchedRelease:
        """A release of the table in which everyone's candidates keep the promise."""
        prior = feasible(self, table, principle)
        principle = stated(principle, table)
        rng, seeded = self.draws()
        progress = progress or no_progress
        progress("building rings", 0.0)
        rows = published_rows(table, principle, prior, rng)
        apart = max(different_values(part.sufficient_share or 1.0) for part in principle.parts)
        least = max(part.least_rows for part in principle.parts)
        size = min(len(rows), apart * -(-least // apart))
        held = np.bincount(table.sensitive_codes[rows], minlength=len(prior.counts))
        if (refusal := self._too_frequent(principle, prior, held)) is not None:
            raise RefusalError(refusal)
        candidates = np.full((table.rows, size), -1, np.int32)
        candidates[rows] = self._in_rings(GroupingTask(table, KAnonymity(size), prior, rows, rng), apart, size, seeded)
        confirm_graph(candidates, table.sensitive_codes, principle, prior)
        release = MatchedRelease.from_candidates(table, candidates, values=self.values, **self.statement(principle))
        progress("building rings", 1.0)
        return release

    def _in_rings(
        self, task: GroupingTask, apart: int, size: int, seeded: np.random.Generator | None
    ) -> NDArray[np.int32]:
        """For each of the task's rows those that may be its person's, the own one first."""
        points, point_of = distinct_points(task.table.quasi, task.rows)
        place = along_curve(points)[1][point_of]
        cut = Mondrian(values=self.values).groups(task)
        whole = merge_broken(cut, place, [JudgedAttribute(task.sensitive_codes, LDiversity(apart), task.prior)])
        matches = np.empty((len(task.rows), size), np.int32)
        order = np.argsort(whole, kind="stable")
        for some in np.split(order, np.flatnonzero(np.diff(whole[order])) + 1):
            ring = ring_of(task.sensitive_codes[some], place[some], apart)
            matches[some[ring]] = some[matches_in_ring(ring, size, seeded)]
        return matches

    def _too_frequent(self, principle: Principle, prior: Prior, counts: NDArray[np.int64]) -> Refusal | None:
        """Return why rows with these counts of values make no rings; None if they do."""
        apart = max(different_values(part.sufficient_share or 1.0) for part in principle.parts)
        most = int(counts.argmax())
        if counts[most] * apart <= counts.sum():
            return None
        return Refusal(
            f"scheme {self.name!r} makes rings in which {apart} rows that follow each other have different values, and "
            f"{prior.values[most]!r} has more than one in {apart} of the rows",
            principle,
            f"ask for l={counts.sum() // counts[most]}",
        )
