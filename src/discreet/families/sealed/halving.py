"""Parts that are cut into equal halves: what is tested, in which order, what needs no test, and which rows move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.families.sealed.kernels.candidates import best_cut
from discreet.families.sealed.limits import ONE_IN, CountLimits, Rows
from discreet.families.sealed.ways import RejectedCut
from discreet.kernels.costs import Axes, interval_cost
from discreet.kernels.cuts.layout import AxisLayout
from discreet.progress import Progress, no_progress
from discreet.randomness import numbers_below, words

Merits = dict[int, float]
"""Per axis: what equal halves along it would save."""
UNCERTAIN = 0.6
"""What would be saved if rows of one place moved together counts by so much: a coin may forbid it."""
SUMMED = 40
"""Sizes of more groups can nearly always be divided into equal sums."""


class Piece(NamedTuple):
    """A part of the persons, who are still together, and which cells of rejected cuts they are in."""

    rows: Rows
    cells: NDArray[np.int64]
    number: int
    """How many cells there are, all of one size."""

    @property
    def odd(self) -> bool:
        """Whether its cells cannot be halved."""
        return len(self.rows) % (2 * self.number) != 0

    def some(self, chosen: NDArray[np.bool_]) -> Piece:
        """The chosen persons, in their cells."""
        return Piece(self.rows[chosen], self.cells[chosen], self.number)

    def without(self, staying: Rows) -> Piece:
        """The persons who do not stay behind."""
        return self.some(~np.isin(self.rows, staying)) if len(staying) else self


class UncutGroup(NamedTuple):
    """Persons that are not cut apart any more."""

    rows: Rows
    leakage: float = 0.0
    """What tests with a coin may reveal about them, as the logarithm of odds."""


@dataclass(frozen=True, eq=False)
class Halving:
    """Persons as points, and what groups of them may hold."""

    points: NDArray[np.int32]
    axes: Axes
    layout: AxisLayout
    limits: CountLimits

    def groups(self, progress: Progress = no_progress) -> list[UncutGroup]:
        """Return the groups that all persons are cut into; most have no leakage."""
        n, done = len(self.points), 0
        finished: list[UncutGroup] = []
        waiting: list[Piece | UncutGroup] = [Piece(np.arange(n), np.zeros(n, np.int64), 1)]
        while waiting:
            part = waiting.pop()
            halves, groups = ([], [part]) if isinstance(part, UncutGroup) else self._cut(part)
            finished += groups
            waiting += halves
            done += sum(len(group.rows) for group in groups)
            progress("halving", done / n)
        return finished

    def certain(self) -> list[Piece]:
        """Return parts that all persons are cut into whatever is drawn: lots, coins, and who of one place is in which
        half decide only what becomes of them. Those in cells are cut into equal halves of all cells, if at all."""
        n = len(self.points)
        certain: list[Piece] = []
        waiting = [Piece(np.arange(n), np.zeros(n, np.int64), 1)]
        while waiting:
            part = waiting.pop()
            merits = self._merits(part)
            halves = self._sure_halves(part, merits)
            if not halves and (part.number > 1 or not merits or self.limits.all_go_on(part.rows)):
                part, halves = self._certain_halves(part, merits)
            waiting += halves
            certain += [] if halves else [part]
        return certain

    def may_become(self, part: Piece, groups: NDArray[np.int32], sizes: NDArray[np.int64]) -> bool:
        """Whether a part that is not cut for certain may become groups, given by row, as far as their sizes tell.

        In cells everything is halved, again and again. Otherwise some may stay behind as a group, and the others are
        one group, or have equal halves, or some at one place are apart.
        """
        n, inside = len(groups), sizes[np.unique(groups[groups >= 0])]
        if part.number > 1:
            shares = n // inside
            return bool((shares * inside == n).all() and (shares & (shares - 1) == 0).all())
        if (groups < 0).any() or len(inside) > SUMMED or not self.limits.none_apart(part.rows):
            return True
        behind = [0, *(size for size in inside.tolist() if size <= n // ONE_IN)]
        if any(len(inside) == 1 + (size > 0) or _halvable(inside.tolist(), size) for size in behind):
            return True
        return any(self._apart(self.points[part.rows, axis], groups) for axis in range(self.points.shape[1]))

    def _apart(self, places: NDArray[np.int32], groups: NDArray[np.int32]) -> bool:
        """Whether at least half of some persons are at one place, and some groups have nobody else."""
        at = places == np.bincount(places).argmax()
        mixed = np.intersect1d(groups[at], groups[~at])
        return bool(2 * np.count_nonzero(at) >= len(places) * (1.0 - 1.0 / ONE_IN)) and len(mixed) <= 1

    def _certain_halves(self, part: Piece, merits: Merits) -> tuple[Piece, list[Piece]]:
        """Return a part in the cells of tests that must have been rejected, and the halves of the first one that must
        have been passed, if nothing is drawn before; none if there is no such test."""
        for axis in sorted(merits, key=lambda axis: -merits[axis]):
            places = self.points[part.rows, axis]
            lower, upper = _middles(_keys(places, part), part.number)
            if part.odd or (lower == upper).any():
                break
            left = lower_half(places, part, self.limits.seeded)
            if self.limits.keep(part.rows[left], part.rows[~left]):
                return part, [part.some(left), part.some(~left)]
            part = Piece(part.rows, 2 * part.cells + left, 2 * part.number)
        return part, []

    def _cut(self, part: Piece) -> tuple[Sequence[Piece | UncutGroup], list[UncutGroup]]:
        """Return what a part is cut into, and which of its rows are groups already."""
        merits = self._merits(part)
        halves = self._sure_halves(part, merits)
        if halves:
            return halves, []
        whole = part.number == 1 and len(merits) > 0
        apart = self.limits.apart(part.rows) if whole else part.rows[:0]
        if len(apart):  # the others may need no test now, or have such values themselves
            return [part.without(apart)], [UncutGroup(apart)]
        behind = self.limits.behind(part.rows) if whole else part.rows[:0]
        part = part.without(behind)
        tested = self._tested_halves(part, self._merits(part) if len(behind) else merits)
        groups = [behind] if tested else [behind, part.rows]
        return tested, [UncutGroup(rows) for rows in groups if len(rows)]

    def _sure_halves(self, part: Piece, merits: Merits) -> list[Piece]:
        """Return the halves of the best cut that needs no test, if it saves more than equal halves would.

        They need not be equal, so there must be no cells.
        """
        least = self.limits.sure(part.rows) if part.number == 1 else None
        if least is None or 2 * least > len(part.rows):
            return []
        points = self.points[part.rows]
        axis, code, saved = best_cut(points, self.axes, max(1, least), self.layout)
        if saved <= max(merits.values(), default=0.0):
            return []
        left = points[:, axis] < code
        return [part.some(left), part.some(~left)]

    def _tested_halves(self, part: Piece, merits: Merits) -> Sequence[Piece | UncutGroup]:
        """Return the first halves of a part that keep the promise; none if there are none."""
        for axis in sorted(merits, key=lambda axis: -merits[axis]):
            odd = part.odd
            if odd and part.number > 1:
                return []
            left = lower_half(self.points[part.rows, axis], part, self.limits.seeded)
            if self.limits.keep(part.rows[left], part.rows[~left]):
                parted = [] if odd or part.number > 1 else self._parted_by_coin(part, left, axis)
                return parted or [part.some(left), part.some(~left)]
            if odd:
                return []
            part = Piece(part.rows, 2 * part.cells + left, 2 * part.number)
        return []

    def _parted_by_coin(self, part: Piece, left: NDArray[np.bool_], axis: int) -> Sequence[Piece | UncutGroup]:
        """Return the persons at one place and all others, if one of two halves that keep the promise consists of
        persons at this place, and a coin allows the others at it to join them; if it forbids it, the halves; and
        nothing if that is not tested."""
        places = self.points[part.rows, axis]
        for pure in (left, ~left):
            place = places[pure][0]
            at = places == place
            if (places[pure] == place).all() and not at.all() and (at & ~pure).any():
                price = self.limits.sample_move(*(part.rows[some] for some in (pure, at & ~pure, ~at)))
                if price == 0.0:
                    return [part.some(at), part.some(~at)]
                if price is not None:
                    code = int(max(place, places[~at].min()))
                    return [part.some(pure), *self._sealed(part.rows[~pure], RejectedCut(axis, code, price))]
        return []

    def _sealed(self, rows: Rows, rejected: RejectedCut) -> Iterator[Piece | UncutGroup]:
        """Yield what cuts under a seal make of a mixed half; parts without leakage can be halved."""
        cutting = self.limits.cutting
        assert cutting is not None, "a coin was tossed about bounds"
        groups, leakage = cutting.groups(rows, self.limits.seeded, rejected=rejected)
        order = np.argsort(groups, kind="stable")
        for some, amount in zip(np.split(order, np.flatnonzero(np.diff(groups[order])) + 1), leakage, strict=True):
            whole = Piece(rows[some], np.zeros(len(some), np.int64), 1)
            yield UncutGroup(whole.rows, float(amount)) if amount > 0.0 else whole

    def _merits(self, part: Piece) -> Merits:
        """Return what equal halves of a part would save along each axis along which they would save something."""
        points, axes = self.points[part.rows], self.axes
        n, merits = len(points), Merits()
        for axis in range(points.shape[1] if n > 1 else 0):
            places = points[:, axis]
            low, high = places.min(), places.max()
            if low == high:
                continue
            lower, upper = _middles(_keys(places, part), part.number)
            below, above = (lower % (high + 1)).max(), (upper % (high + 1)).min()
            saved = self._saved(axis, n, low, below, above, high, n / 2.0)
            if part.number == 1 and below == above and below in (low, high):
                at, others = int(np.count_nonzero(places == below)), places[places != below]
                if self.limits.likely_to_toss(part.rows, n - at):
                    ends = (low, others.min()) if below == low else (others.max(), high)
                    saved = UNCERTAIN * self._saved(axis, n, low, *ends, high, at if below == low else n - at)
            if saved > 0.0 or axes.by_size:
                merits[axis] = saved
        return merits

    def _saved(self, axis: int, n: int, low: int, below: int, above: int, high: int, left: float) -> float:
        """What a cut of this many persons along an axis saves, if the lower side ends and the upper begins there."""
        halves = left * interval_cost(self.axes, axis, low, below)
        halves += (n - left) * interval_cost(self.axes, axis, above, high)
        return float(self.axes.weights[axis] * (n * interval_cost(self.axes, axis, low, high) - halves))


def _halvable(sizes: list[int], behind: int) -> bool:
    """Whether groups of these sizes, but one of a size that stays behind, if it is not 0, make two equal halves.

    >>> _halvable([4, 3, 1], 0), _halvable([4, 3, 2], 0), _halvable([5, 3, 1], 1), _halvable([4, 3, 1], 1)
    (True, True, False, True)
    """
    left = list(sizes)
    if behind:
        left.remove(behind)
    sums = 1  # bit s: some groups have s rows together
    for size in left:
        sums |= sums << size
    return bool(sums >> (sum(left) // 2) & 1)


def _keys(places: NDArray[np.int32], part: Piece) -> NDArray[np.int64] | NDArray[np.int32]:
    """Return numbers in the order of cells, and of places in each cell."""
    return places if part.number == 1 else part.cells * (int(places.max()) + 1) + places


def _middles(keys: NDArray[Any], number: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return, for each of this many cells of one size, the last key of its lower half and the first of its upper."""
    middle = len(keys) // number // 2
    if number == 1:
        parted = np.partition(keys, (middle - 1, middle))
        return parted[middle - 1 : middle], parted[middle : middle + 1]
    ranked = np.sort(keys).reshape(number, -1)
    return ranked[:, middle - 1], ranked[:, middle]


def lower_half(places: NDArray[np.int32], part: Piece, seeded: np.random.Generator | None) -> NDArray[np.bool_]:
    """Return who is in the lower half of each cell; of an odd number in one cell, a row that is drawn goes anywhere.

    >>> lower_half(np.array([5, 1, 7, 3]), Piece(np.arange(4), np.array([0, 0, 1, 1]), 2), None).tolist()
    [False, True, False, True]
    """
    n, cells = len(places), part.cells
    if n % 2:
        drawn = int(numbers_below(n, 1, seeded)[0])
        others = np.arange(n) != drawn
        left = np.full(n, bool(numbers_below(2, 1, seeded)[0]))
        left[others] = lower_half(places[others], part.some(others), seeded)
        return left
    if not n:
        return np.zeros(0, np.bool_)
    keys = _keys(places, part)
    last = _middles(keys, part.number)[0][cells]
    left = keys < last
    missing = n // part.number // 2 - np.bincount(cells[left], minlength=part.number)
    tied = np.flatnonzero(keys == last)
    tied = tied[np.lexsort((words(len(tied), seeded), cells[tied]))]  # who is at one place is in a random order
    before = np.searchsorted(cells[tied], cells[tied])
    left[tied[np.arange(len(tied)) - before < missing[cells[tied]]]] = True
    return left
