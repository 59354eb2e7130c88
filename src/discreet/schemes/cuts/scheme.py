"""Our own scheme: top-down partitioning with more kinds of cut than Mondrian's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.kernels.cuts.terms import BUCKETED, PLAIN, REPAIRED, STRATIFIED, Recipe
from discreet.options import words
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress
from discreet.releases.generalized.describe import Values
from discreet.schemes.axes import Loss, axes_of
from discreet.schemes.cuts.thorough import fast_recipe, partition_thoroughly
from discreet.schemes.cuts.top_down import Partition, Problem, limits_of, partition
from discreet.schemes.grouping import GroupingScheme
from discreet.schemes.withholding import Withheld, costly_rows
from discreet.table.table import Table

FAMILIES = {"plain": PLAIN, "stratified": STRATIFIED, "bucketed": BUCKETED, "repaired": REPAIRED}


@dataclass(frozen=True, kw_only=True)
class Cuts(GroupingScheme):
    """All rows start as one group, which is cut in two as long as both halves keep the promise.

    In every group all families of cuts compete, and the cheapest cut is made: *plain* cuts at a value of one
    quasi-identifier; *stratified* cuts, which give both halves the same share of every sensitive value, or (*bucketed*)
    of every bucket of values; *repaired* cuts, which are plain except for the fewest rows that must change sides.

    Why the promise is kept: the whole table keeps it, or the scheme refuses. A cut is made only if the kernel that
    audits use finds that both halves keep the promise, against the prior of the whole table. So every group keeps it.
    ``effort="thorough"`` adds more partitions made in this way, of the table or of the union of some groups, and takes
    the cheapest. (A union that is not cut again is never cheaper, so it does not matter whether it would keep a promise
    that is not monotone.) It also moves rows from group to group, where those that lose or gain rows are judged by the
    same kernel again, and exchanges rows of equal sensitive values, which changes no counts. With several sensitive
    attributes, both halves must keep what is promised about each (``principles.joint``). Withheld rows are judged as
    one group by the same kernel. The cuts depend on sensitive values, so an adversary who knows the algorithm may learn
    something from the choice of cuts; the promise does not bound this.

    >>> from discreet.datasets import patients
    >>> from discreet.principles import BetaLikeness
    >>> Cuts(random_state=1).publish(patients(), BetaLikeness(2)).withheld
    0
    """

    name: ClassVar[str] = "cuts"

    cuts: str | Sequence[str] = tuple(FAMILIES)
    """The families of cuts that compete: several, or one text as in ``plain+stratified``."""
    effort: Literal["fast", "thorough"] = "fast"
    """``fast``: one pass. ``thorough``: the time of about a hundred, never worse than ``fast`` or any single family."""
    loss: Loss = "ail"
    """The loss to minimise: ``ail``, ``gcp`` or ``discernibility``."""
    withhold: Withheld = 0.0
    """The largest share of rows that may be withheld where that lowers the loss; a withheld row has loss 1."""
    values: Values = "interval"
    """How quasi-identifiers are published: ``interval``, ``label`` or ``set``."""
    random_state: int | None = None
    """A seed, for experiments only; by default, randomness comes from the operating system."""

    def __post_init__(self) -> None:
        """Raise an error for invalid parameters."""
        super().__post_init__()
        names = words(self.cuts) if isinstance(self.cuts, str) else self.cuts
        if not names or not set(names) <= set(FAMILIES):
            told = self.cuts if isinstance(self.cuts, str) else "+".join(names)
            raise DiscreetError(f"cuts={told!r} is not known; choose from {', '.join(FAMILIES)}, joined by +")
        object.__setattr__(self, "cuts", names)

    def groups(
        self,
        table: Table,
        principle: Principle,
        prior: Prior,
        rows: NDArray[np.int64],
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> NDArray[np.int32]:
        """Return the group of each of the given rows; -1 for rows withheld because that lowers the loss."""
        points, axes = axes_of(table, self.loss, self.values)
        rules = principle.rules(prior)
        by_size = [j for j, column in enumerate(table.quasi) if column.kind == "categorical"]
        sets = tuple(by_size) if self.loss == "gcp" and self.values == "set" else ()
        problem = Problem(points, table.classes, axes, rules, limits_of(principle, prior, rules), sets)
        if len(rows) < table.rows:
            problem = problem.take(rows)
        kept, result = self._partition(problem, principle, prior, rng, progress)
        groups = np.full(len(rows), -1, np.int32)
        groups[kept] = result.groups
        return groups

    def _partition(
        self,
        problem: Problem,
        principle: Principle,
        prior: Prior,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> tuple[NDArray[np.int64], Partition]:
        """Return the published rows and their partition, with costly rows withheld where that is cheaper."""
        families = sum(FAMILIES[name] for name in set(self.cuts))
        if principle.caps(prior) is None and principle.floors(prior) is None:
            # without bounds per value there is nothing to repair, and a bucket may be a single value
            joint = problem.rules.joint
            if joint is None or (joint.caps.min() >= 1.0 and joint.floors.max() <= 0.0):
                families &= ~REPAIRED
            if len(np.unique(problem.limits.buckets)) == len(prior.counts):
                families &= ~BUCKETED
            if not families:
                raise DiscreetError(
                    f"cuts={'+'.join(self.cuts)!r} needs a promise that bounds every value, and {principle} does not; "
                    "add plain or stratified cuts"
                )
        everything = np.arange(len(problem.classes))
        best = everything, self._cut(problem, families, rng, progress)
        has = prior.counts - np.bincount(problem.classes, minlength=len(prior.counts))
        room = int(self.withhold * prior.rows) - int(has.sum())
        costly = costly_rows(problem, best[1], principle, prior, has, room)
        if len(costly):
            kept = np.setdiff1d(everything, costly, assume_unique=True)
            counts = np.bincount(problem.classes[kept], minlength=len(prior.counts))
            if principle.holds(counts[None, :], prior)[0]:
                again = self._cut(problem.take(kept), families, rng, progress)
                if problem.take(kept).published_cost(again) + len(costly) < problem.published_cost(best[1]):
                    best = kept, again
        return best

    def _cut(self, problem: Problem, families: int, rng: np.random.Generator, progress: Progress | None) -> Partition:
        if self.effort == "thorough":
            return partition_thoroughly(problem, families, self._recipe(families), rng, progress=progress)
        return partition(problem, self._recipe(families), progress=progress)

    def _recipe(self, families: int) -> Recipe:
        return fast_recipe(families)
