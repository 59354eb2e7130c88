"""Splitting and partitioning for (epsilon, m)-anonymity (Li, Tao and Xiao, SIGMOD 2008), and a better partitioning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.families.proximity.halving import HalvingProblem, halved, judge_of
from discreet.families.proximity.kernels.deals import cost_of, deal
from discreet.families.proximity.kernels.nearness import crowd_of, divisible
from discreet.families.proximity.kernels.splits import split
from discreet.families.proximity.near_withholding import fits, refusal_to_withhold, sets_around
from discreet.kernels.costs import Axes
from discreet.options import Interval
from discreet.principles import wording
from discreet.principles.counts import Counts
from discreet.principles.per_attribute import Promised, by_attribute
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.principles.proximity import Proximity
from discreet.progress import Progress
from discreet.releases.generalization import Values
from discreet.schemes.axes import axes_of
from discreet.schemes.described import Beside, Snap
from discreet.schemes.grouping import GroupingScheme, GroupingTask, View
from discreet.schemes.refusal import Refusal
from discreet.schemes.withholding import sets_to_withhold
from discreet.table.table import Table

MOST_POSITIONS = 1000
MOST_TRIES = 5
"""How many sets of rows to withhold are tried if the others cannot be divided into groups."""


@dataclass(frozen=True, kw_only=True)
class SplitAndPartition(GroupingScheme):
    """The table is split by quasi-identifiers into pieces that divide well, and each piece is dealt to groups.

    *Splitting.* With its rows in ascending order of their numbers, the crowd g of a piece is the smallest number such
    that no two rows g or more places apart are near each other (neither number lies in the neighbourhood of the other).
    The piece can be divided into groups that keep the promise if and only if m g is at most its size (Theorem 1), so
    pieces are split as long as both parts satisfy this.

    *Partitioning.* ``round-robin``, as in the paper: a piece that keeps the promise is one group; of any other, the
    i-th row goes to group i modulo g. Why the promise is kept: rows of one group are g or more places apart, so no
    number lies in the neighbourhood of another, and each neighbourhood contains one row of the group, its own. Every
    group gets one row in each complete round, and there are at least m of these, as m g is at most the size; an
    incomplete last round only makes some groups larger. So no neighbourhood contains more than 1 / m of a group's rows.

    ``matched``, our own: in every round, too, each group gets one row, but among the groups whose last row is not near
    it a row chooses the one whose description it widens least; then groups exchange rows of the same round while that
    lowers the loss. Rows two rounds apart are more than g places apart, so only neighbouring rounds need checking.
    Pieces that keep the promise are dealt as well. Where this costs more than round-robin, round-robin is used, so for
    the same pieces the loss is never higher.

    *With k-anonymity.* Groups of k rows, if k exceeds m, may contain rows that are near each other: up to 1 / m of
    their rows. The rows of a neighbourhood are consecutive; so when rows are dealt in turn to h hands, each hand gets
    at most f / h, rounded up, of f such rows. Where m times that is at most the size of the hands, at most 1 / m of the
    rows of each hand lie in any neighbourhood, and so for several hands together: hands are joined into groups of at
    least k rows, although h is less than the crowd. ``matched`` then lets rows join any hand, judges the groups, and
    falls back to round-robin where they do not keep the promise.

    *Several promises.* Several proximity promises about one attribute are dealt by neighbourhoods that contain those of
    all, with the largest m. Where there are other promises too, the dealt groups are judged by them. If these are not
    kept, or several attributes are sensitive, rows are halved instead.

    *Halving.* Starting from the whole table, pieces are cut in two as long as both halves, as one group each, keep
    every promise about every attribute: at values of the quasi-identifiers, or by pairs (``kernels.pairs``),
    which lets both halves inherit the spread of two attributes at once. Small pieces are also gathered into groups
    without two rows that are near each other on any attribute (``kernels.conflict_free``). Why the promises
    are kept: each half and each group is judged before it is accepted, so everything published was judged. If the whole
    table as one group does not keep the promises, it is halved by pairs until the halves do; if that fails it is
    refused, although other groups might keep them.

    Unions of groups, which an adversary who only matches descriptions faces, need not keep the promise, but exceed it
    at most twice. Of a group's rows in the neighbourhood of any x, those up to x all lie in the neighbourhood of the
    largest of them, whose lower end is no higher; if the group keeps the promise, they are at most 1 / m of its rows.
    The same holds for those from x on. So in any union at most 2 / m of the rows are near x: against such an adversary,
    ask for twice the m.

    Both ways choose a group's rows by their sensitive values, so an adversary who knows the program may learn from the
    choice itself.

    >>> from discreet.datasets import census
    >>> table = census(300, quasi=("age", "education"), sensitive="income")
    >>> SplitAndPartition().publish(table, Proximity(0, 3)).withheld
    0
    """

    name: ClassVar[str] = "proximity"
    published: ClassVar[Mapping[str, str]] = {"partition": "round-robin", "positions": "1", "snap": "false"}

    partition: Literal["matched", "round-robin"] = "matched"
    """How the rows of a piece are put into groups: ``matched`` is ours; the paper's is ``round-robin``."""
    positions: Annotated[int, Interval(1, MOST_POSITIONS)] = 9
    """How many positions of a quasi-identifier are tried to split a piece; 9 is ours, the paper's is 1, the median."""
    effort: Literal["fast", "thorough"] = "fast"
    """``thorough``: also try halving where splitting and partitioning succeed, and take the cheaper result."""
    values: Values = "interval"
    marginals: Beside = "auto"
    cells: Annotated[int, Interval(1)] = 10
    snap: Snap = "auto"

    def __post_init__(self) -> None:
        """Refuse what the published algorithm does not do."""
        super().__post_init__()
        if self.effort == "thorough" and self.partition == "round-robin":
            raise DiscreetError(
                "partition=round-robin is the published algorithm, and effort=thorough is not; give only one of them"
            )

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Accept proximity promises, alone or with others; other schemes keep the others alone better."""
        if any(part.hides_presence for part in principle.parts):
            return Refusal(f"scheme {self.name!r} does not hide who is in the table", principle)
        if principle.of(Proximity):
            return None
        return Refusal(f"scheme {self.name!r} keeps promises of proximity, alone or with others", principle)

    def withheld(
        self, table: Table, principle: Principle, prior: Prior, rng: np.random.Generator
    ) -> Iterator[NDArray[np.int64]]:
        """Yield the unusable rows, with further rows if they or the remaining rows would break the promises."""
        if table.unusable is None or len(table.unusable) == 0:
            yield np.zeros(0, np.int64)
            return
        unusable, each = np.asarray(table.unusable, np.int64), by_attribute(principle, table)
        sets = self._sets_to_withhold(GroupingTask(table, principle, each[0].prior, unusable, rng))
        tries = 0
        for rows in islice(filter(partial(fits, table, each, unusable), sets), MOST_TRIES):
            yield rows
            tries += 1
        if tries == 0:
            raise refusal_to_withhold(table, each, unusable)

    def _sets_to_withhold(self, task: GroupingTask) -> Iterator[NDArray[np.int64]]:
        """Yield sets of rows that include those of the task, which are unusable, as candidates."""
        table, unusable = task.table, task.rows
        yield from sets_to_withhold(table, task.prior, task.rng)
        if len(table.sensitive) == 1:
            first, last, _, _ = _hull(Promised(task.prior, task.principle))
            order = task.rng.permutation(table.rows)
            order = order[np.argsort(table.sensitive_codes[order], kind="stable")]
            needed = np.flatnonzero(np.isin(order, unusable))
            for places in sets_around(table.sensitive_codes[order], first, last, needed):
                yield np.sort(order[places])
        # last candidate: group all rows, the unusable ones with equal quasi-identifiers, and withhold their groups
        usable = np.delete(np.arange(table.rows), unusable)
        if len(usable):
            alike = [replace(column, codes=column.codes.copy()) for column in table.quasi]
            for column in alike:
                column.codes[unusable] = column.codes[usable[0]]
            everyone = replace(task, table=replace(table, quasi=tuple(alike)), rows=np.arange(table.rows))
            try:
                groups = self.groups(everyone)
            except DiscreetError:
                return
            yield np.flatnonzero(np.isin(groups, groups[unusable]))

    def view(self, table: Table, principle: Principle) -> View:
        """Return the table with its sensitive attributes apart, as rows are paired and dealt by each."""
        return table, principle, Prior.of(table)

    def check_whole(self, view: View, rows: NDArray[np.int64]) -> None:
        """Admit all rows: dealing them needs no group that holds everyone."""

    def groups(self, task: GroupingTask) -> NDArray[np.int32]:
        """Return the group of each of the task's rows."""
        table, rows = task.table, task.rows
        each = by_attribute(task.principle, table)
        # equal numbers come in random order: groups must not disclose the order of the input
        order = task.rng.permutation(len(rows))
        points, axes = axes_of(table, "ail", self.values)
        points = points[rows[order]]
        sensitive_codes = np.stack([column.codes[rows[order]] for column in table.sensitive])
        best = None
        if len(each) == 1:
            best = self._dealt(each[0], points, sensitive_codes[0], axes, task.progress)
        if best is None or self.effort == "thorough":
            judge = judge_of([promise.parts for _, promise in each], [prior for prior, _ in each])
            other = halved(HalvingProblem(points, sensitive_codes, axes, judge, self.positions), task.progress)
            if other is not None and (best is None or _cost(points, other, axes) < _cost(points, best, axes)):
                best = other
        if best is None:
            raise DiscreetError(_why_not(each, sensitive_codes, table))
        groups = np.empty(len(rows), np.int32)
        groups[order] = best
        return groups

    def _dealt(
        self,
        promised: Promised,
        points: NDArray[np.int32],
        sensitive_codes: NDArray[np.int32],
        axes: Axes,
        progress: Progress,
    ) -> NDArray[np.int32] | None:
        """Return the group of each row after splitting and partitioning; None if that does not keep every promise."""
        prior, promise = promised
        first, last, m, least = _hull(promised)
        order = np.argsort(sensitive_codes, kind="stable")
        points, ordered = points[order], sensitive_codes[order]
        if not divisible(ordered, 0, len(order), first, last, m, least):
            return None
        progress("splitting", 0.0)
        starts = split(points, ordered, order, axes, first, last, m, least, self.positions)
        progress("dealing", 0.5)
        result = np.empty(len(order), np.int32)
        result[order] = deal(points, ordered, starts, axes, first, last, m, least, self.partition == "matched")
        if all(part.nearness or not part.about_values for part in promise.parts):
            return result
        counts = Counts.of_rows(result, sensitive_codes, int(result.max()) + 1, len(prior.values))
        return result if promise.holds(counts, prior).all() else None


def _hull(promised: Promised) -> tuple[NDArray[np.int64], NDArray[np.int64], int, int]:
    """Return neighbourhoods that contain those of every promise, the largest m, and the smallest size of a group.

    A larger neighbourhood contains at least as many rows, and a larger m allows fewer, so groups that keep this keep
    each of the promises. The ends, the lowest and the highest of all, do not decrease either.
    """
    near = promised.promise.of(Proximity)
    windows = [part.windows(promised.prior) for part in near]
    first = np.min([window[0] for window in windows], axis=0)
    last = np.max([window[1] for window in windows], axis=0)
    least = [part.least_rows for part in promised.promise.parts if not part.about_values]
    return first, last, max(part.m for part in near), max([1, *least])


def _cost(points: NDArray[np.int32], groups: NDArray[np.int32], axes: Axes) -> float:
    return float(cost_of(points, 0, len(points), groups, int(groups.max()) + 1, axes))


def _why_not(each: Sequence[Promised], sensitive_codes: NDArray[np.int32], table: Table) -> str:
    """Return why no groups of these rows keep every promise, as far as is known, in a sentence."""
    rows = sensitive_codes.shape[1]
    needed = 0 if table.unusable is None else len(table.unusable)
    without = ""
    if rows < table.rows:
        without = f"without the {wording.rows(needed)} that {'has' if needed == 1 else 'have'} to be withheld"
        others = table.rows - rows - needed
        without += f" and {others:,} chosen so that all of them keep the promise, " if others else ", "
    counted = [
        (part, prior, np.bincount(codes, minlength=len(prior.counts)))
        for (prior, promise), codes in zip(each, sensitive_codes, strict=True)
        for part in promise.parts
    ]
    for part, prior, counts in counted:
        reach = part.reachable(replace(prior, counts=counts))
        if not reach.feasible:
            return (
                f"{without}the table cannot keep {part}: {reach.sentence} Treat missing as a value of its own instead "
                f"({argument('missing', 'value')}), or ask for less."
            )
    promise = each[0].promise
    near = promise.of(Proximity)
    if len(each) == 1 and len(near) == 1:
        first, last, m, least = _hull(each[0])
        crowd = int(crowd_of(np.sort(sensitive_codes[0]), 0, rows, first, last))
        reach_of = rows // crowd
        if least > reach_of >= m and all(part.nearness or not part.about_values for part in promise.parts):
            return (
                f"{without}k-anonymity(k={least}) and {near[0]} cannot be kept together by scheme 'proximity': "
                f"{crowd:,} of {rows:,} rows lie on one side of a neighbourhood, so groups of {reach_of:,} "
                f"rows are the largest that are sure to keep it; ask for k={reach_of} or less, or for a smaller epsilon"
            )
    broken = [
        f"{part} is broken by all rows as one group ({part.explain(counts, prior).rstrip('.')})"
        for part, prior, counts in counted
        if not part.holds(counts[None], prior)[0]
    ]
    everything = " & ".join(dict.fromkeys(str(part) for part, _, _ in counted))
    return (
        f"{without}each promise can be kept alone, but scheme 'proximity' found no groups that keep {everything} "
        f"together: {'; '.join(broken) or 'all rows as one group keep them'}; ask for a smaller m or epsilon"
    )
