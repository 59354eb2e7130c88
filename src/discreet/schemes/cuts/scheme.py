"""Top-down partitioning: Mondrian, and our own scheme with more kinds of cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.kernels.cuts.terms import BUCKETED, PLAIN, REPAIRED, STRATIFIED, Recipe
from discreet.kernels.row_moves import best_removals
from discreet.options import Interval, words
from discreet.principles.counts import Counts
from discreet.releases.generalization import Values
from discreet.schemes.axes import Loss, axes_of
from discreet.schemes.cuts.top_down import Partition, Problem, fast_recipe, limits_of, partition
from discreet.schemes.described import Beside, Exactness, Overlap, Snap
from discreet.schemes.grouping import GroupingScheme, GroupingTask
from discreet.schemes.withholding import Withheld

Rows = NDArray[np.int64]
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
    descriptions: Exactness = "boxes"
    marginals: Beside = "auto"
    cells: Annotated[int, Interval(1)] = 10
    snap: Snap = "auto"
    overlap: Overlap = "any"

    def __post_init__(self) -> None:
        """Raise an error for invalid parameters."""
        super().__post_init__()
        names = words(self.cuts) if isinstance(self.cuts, str) else self.cuts
        if not names or not set(names) <= set(FAMILIES):
            told = self.cuts if isinstance(self.cuts, str) else "+".join(names)
            raise DiscreetError(f"cuts={told!r} is not known; choose from {', '.join(FAMILIES)}, joined by +")
        if self.overlap == "none":
            if self.withhold > 0.0:
                raise DiscreetError(
                    f"{self.name}: people whose rows are withheld fit groups of others; leave out withhold, or say "
                    "overlap=any"
                )
            if self.effort != "fast":
                raise DiscreetError(
                    f"{self.name}: effort={self.effort} moves rows from group to group, after which groups overlap; "
                    "leave it out, or say overlap=any"
                )
            if set(names) not in ({"plain"}, set(FAMILIES)):
                kinds = "+".join(names)
                raise DiscreetError(
                    f"{self.name}: only plain cuts set groups apart; leave out cuts={kinds}, or say overlap=any"
                )
            names = ("plain",)
        object.__setattr__(self, "cuts", names)

    def groups(self, task: GroupingTask) -> NDArray[np.int32]:
        """Return the group of each of the task's rows; -1 for rows withheld because that lowers the loss."""
        table, principle, prior = task.table, task.principle, task.prior
        points, axes = axes_of(table, self.loss, self.values)
        rules = principle.rules(prior)
        by_size = [j for j, column in enumerate(table.quasi) if column.kind == "categorical"]
        sets = tuple(by_size) if self.loss == "gcp" and self.values == "set" else ()
        problem = Problem(points, table.sensitive_codes, axes, rules, limits_of(principle, prior, rules), sets)
        if len(task.rows) < table.rows:
            problem = problem.take(task.rows)
        kept, partition = self._partition(problem, task)
        groups = np.full(len(task.rows), -1, np.int32)
        groups[kept] = partition.groups
        return groups

    def _partition(self, problem: Problem, task: GroupingTask) -> tuple[NDArray[np.int64], Partition]:
        """Return the published rows and their partition, with costly rows withheld where that is cheaper."""
        families = self._families(problem, task)
        rows = np.arange(len(problem.sensitive_codes))
        whole = self._cut(problem, families, task)
        costly = costly_rows(problem, whole, task, int(self.withhold * task.prior.rows))
        if len(costly):
            kept = np.setdiff1d(rows, costly, assume_unique=True)
            rest = problem.take(kept)
            counts = np.bincount(rest.sensitive_codes, minlength=len(task.prior.counts))
            if task.principle.holds(counts[None, :], task.prior)[0]:
                smaller = self._cut(rest, families, task)
                if rest.published_cost(smaller) + len(costly) < problem.published_cost(whole):
                    return kept, smaller
        return rows, whole

    def _families(self, problem: Problem, task: GroupingTask) -> int:
        """Return the families of cuts that compete: those asked for, without any that the promise makes pointless."""
        families = sum(FAMILIES[name] for name in set(self.cuts))
        if task.principle.caps(task.prior) is None and task.principle.floors(task.prior) is None:
            # without bounds per value there is nothing to repair, and a bucket may be a single value
            joint = problem.rules.joint
            if joint is None or (joint.caps.min() >= 1.0 and joint.floors.max() <= 0.0):
                families &= ~REPAIRED
            if len(np.unique(problem.limits.buckets)) == len(task.prior.counts):
                families &= ~BUCKETED
        if not families:
            raise DiscreetError(
                f"cuts={'+'.join(self.cuts)!r} needs a promise that bounds every value, and {task.principle} does not; "
                "add plain or stratified cuts"
            )
        return families

    def _cut(self, problem: Problem, families: int, task: GroupingTask) -> Partition:
        if self.effort == "thorough":
            from discreet.schemes.cuts.thorough import partition_thoroughly  # imported late: seldom asked for

            return partition_thoroughly(problem, families, self._recipe(families), task.rng, progress=task.progress)
        return partition(problem, self._recipe(families), progress=task.progress)

    def _recipe(self, families: int) -> Recipe:
        return fast_recipe(families)


@dataclass(frozen=True, kw_only=True)
class Mondrian(Cuts):
    """Mondrian (LeFevre et al., ICDE 2006): plain cuts only, at the median, along the widest quasi-identifier that
    allows one, with any monotone promise.

    With beta-likeness this is LMondrian in the literature, with delta-disclosure DMondrian, with t-closeness tMondrian.
    It serves as the yardstick; ``Cuts`` loses less. Why the promise is kept: see ``Cuts``.
    """

    name: ClassVar[str] = "mondrian"

    cuts: str | Sequence[str] = ("plain",)

    def __post_init__(self) -> None:
        """Raise an error for other cuts than Mondrian's."""
        super().__post_init__()
        if self.cuts != ("plain",):
            raise DiscreetError(f"scheme {self.name!r} makes plain cuts only; for others choose scheme {Cuts.name!r}")

    def _recipe(self, families: int) -> Recipe:
        return Recipe(families, 1, 1, 0.0, 0, True)


def costly_rows(problem: Problem, partition: Partition, task: GroupingTask, most: int) -> Rows:
    """Return rows whose removal saves more than their own loss of 1 each, those that save most first.

    With the rows already withheld they are at most this many and keep the promise, and groups keep it without them;
    if no such rows are found, none are returned.
    """
    withheld = task.prior.counts - task.counts
    room = most - int(withheld.sum())
    if problem.axes.by_size or room <= 0:
        return np.zeros(0, np.int64)
    tempting, savings = _tempting(problem, partition, room)
    tempting = tempting[np.argsort(-savings, kind="stable")][: 4 * room]
    caps = problem.limits.caps
    size = min(room, len(tempting))
    while size > 0:
        chosen = _within_caps(problem.sensitive_codes[tempting], caps, withheld, size)
        rows = tempting[chosen][:size]
        rows = _without_broken_groups(problem, partition, task, rows)
        counts = withheld + np.bincount(problem.sensitive_codes[rows], minlength=len(caps))
        if len(rows) and task.principle.holds(counts[None, :], task.prior)[0]:
            return rows
        size = min(size - 1, int(0.9 * size))
    return np.zeros(0, np.int64)


def _tempting(problem: Problem, partition: Partition, room: int) -> tuple[Rows, NDArray[np.float64]]:
    """Return rows whose removal lowers their group's cost, and their savings; one row per group and round."""
    rows = partition.rows.copy()
    starts, ends = partition.starts.copy(), np.append(partition.starts[1:], len(rows))
    m = len(problem.limits.caps)
    removed: list[Rows] = [np.zeros(0, np.int64)]
    savings: list[NDArray[np.float64]] = [np.zeros(0)]
    total = 0
    while total < 4 * room:
        place, saving = best_removals(
            problem.points, problem.sensitive_codes, rows, starts, ends, problem.axes, problem.rules, m, 1.0
        )
        useful = np.flatnonzero(place >= 0)
        if len(useful) == 0:
            break
        gone = place[useful]
        removed.append(rows[gone].astype(np.int64))
        savings.append(saving[useful])
        rows[gone] = rows[ends[useful] - 1]
        starts, ends = starts[useful], ends[useful] - 1
        total += len(useful)
    return np.concatenate(removed), np.concatenate(savings)


def _within_caps(
    sensitive_codes: NDArray[np.int32], caps: NDArray[np.float64], withheld: Rows, size: int
) -> NDArray[np.bool_]:
    """Return which rows to keep so that no value exceeds its cap in a withheld set of ``size`` more rows."""
    allowed = np.floor(caps * (withheld.sum() + size) + 1e-9).astype(np.int64) - withheld
    order = np.argsort(sensitive_codes, kind="stable")
    counts = np.bincount(sensitive_codes, minlength=len(caps))
    rank = np.empty(len(sensitive_codes), np.int64)
    rank[order] = np.arange(len(sensitive_codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    fits: NDArray[np.bool_] = rank < allowed[sensitive_codes]
    return fits


def _without_broken_groups(problem: Problem, partition: Partition, task: GroupingTask, rows: Rows) -> Rows:
    """Return the rows that can all be removed without their groups breaking the promise."""
    groups, left = partition.groups, np.ones(len(problem.sensitive_codes), np.bool_)
    left[rows] = False
    counts = Counts.of_rows(
        groups[left], problem.sensitive_codes[left], len(partition.starts), len(problem.limits.caps)
    )
    return rows[task.principle.holds(counts, task.prior)[groups[rows]]]
