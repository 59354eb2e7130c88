"""All ways in which coins can lead a table to given groups, with their exact probabilities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.families.sealed.kernels.candidates import POSITIONS, candidates, drop_tested, learn, no_candidates
from discreet.families.sealed.kernels.cuts import Rejected, half_leakages, next_test, no_rejections, part_leakage
from discreet.families.sealed.kernels.rounds import (
    Sealing,
    erring_rejection,
    last_rejection,
    no_rounds,
    rejection_leakage,
    slack_of,
)
from discreet.kernels.cuts.layout import AxisLayout

MOST_TESTS = 20_000
"""This many tests are followed, on all ways together."""
Groups = tuple[int, ...]
Learnt = tuple[tuple[float, ...], ...]


class RejectedCut(NamedTuple):
    """A cut between those below a code on an axis and all others."""

    axis: int
    code: int
    price: float
    """What its rejection may reveal about those on both sides, as the logarithm of odds."""


Waiting = tuple[Groups, tuple[RejectedCut, ...]]
"""A part that waits to be cut, as the groups that it is to be divided into, and the cuts rejected around it."""


class GroupRows(NamedTuple):
    """The rows of some groups."""

    points: NDArray[np.int32]
    sensitive_codes: NDArray[np.int32]
    groups: NDArray[np.int32]
    """Per row: its group."""
    counts: NDArray[np.int64]
    """Per value: its rows."""
    present: NDArray[np.int32]
    """The values that rows have."""


class Cut(NamedTuple):
    """A part in halves."""

    left: int
    """The rows of the left half."""
    counts: NDArray[np.int64]
    """Per value: its rows in the left half."""
    halves: tuple[Groups, Groups] | None
    """The groups of either half; None if one is in both."""


@dataclass(frozen=True, eq=False)
class Ways:
    """Persons as points, their values, what is public, and the groups that they are to be divided into.

    Tables in which every group has the same numbers of values have the same ways, only with other probabilities.
    """

    points: NDArray[np.int32]
    sensitive_codes: NDArray[np.int32]
    sealing: Sealing
    layout: AxisLayout
    groups: NDArray[np.int32]
    leakage: NDArray[np.float64] | None
    """Per group: the leakage that it has in the end, if only ways that lead to it are asked for."""
    _members: dict[Groups, GroupRows] = field(default_factory=dict)
    _cuts: dict[tuple[Groups, int, int], Cut] = field(default_factory=dict)

    def chance(self) -> Fraction | None:
        """Return the probability of all ways together; None if they are too many to follow."""
        numbers = _numbers(self.groups)
        nothing: Learnt = ((0.0, 0.0),) * self.points.shape[1]
        ways: dict[tuple[tuple[Waiting, ...], Learnt], Fraction] = {(((numbers, ()),), nothing): Fraction(1)}
        left = MOST_TESTS
        for _ in range(2 * len(numbers) - 1):  # this many parts are cut, or left as groups, on every way
            onward: dict[tuple[tuple[Waiting, ...], Learnt], Fraction] = defaultdict(Fraction)
            for (queue, learnt), chance in ways.items():
                for result in self._tests(*queue[0], learnt):
                    left -= 1
                    if left < 0:
                        return None
                    if result is not None:
                        halves, wiser, share = result
                        onward[queue[1:] + halves, wiser] += chance * share
            ways = onward
        return sum(ways.values(), Fraction(0))

    def _tests(
        self, numbers: Groups, around: tuple[RejectedCut, ...], learnt: Learnt
    ) -> Iterator[tuple[tuple[Waiting, ...], Learnt, Fraction] | None]:
        """Follow every way through the tests of a part, and yield after each test: None, or what may lead to the
        groups, that is the halves of the part, or none if it is a group; what was learnt; and how likely that is."""
        part, sealing = self._part(numbers), self.sealing
        n, d = part.points.shape
        rounds, cuts = no_rounds(len(sealing.odds)), no_candidates(d * POSITIONS)
        number = candidates(part.points, sealing.axes, sealing.least, self.layout, np.array(learnt), cuts)
        ways = [(around, learnt, cuts.merit.copy(), Fraction(1))]
        while ways:
            around, learnt, cuts.merit[:], reached = ways.pop()
            rejected = _as_arrays(around)
            test = next_test(cuts, number, part.present, part.counts, n, rejected, len(around), sealing, rounds)
            if test[0] < 0:
                ends = len(numbers) == 1 and self._leaks(numbers[0], part_leakage(rejected, len(around)))
                yield ((), learnt, reached) if ends else None
                continue
            best, asked = test
            axis, code = int(cuts.axis[best]), int(cuts.code[best])
            cut = self._cut(numbers, axis, code)
            both = half_leakages(rejected, len(around), axis, code)
            drop_tested(part.points, cuts, number, best)
            for turn in reversed(range(asked)):
                slack = slack_of(rounds, turn, part.present, part.counts, cut.counts, cut.left, n, *both, sealing)
                fails = rejection(float(rounds.price[turn]), float(slack), last=turn == 0)
                more = (*around, RejectedCut(axis, code, float(rejection_leakage(rounds, asked, turn))))
                if self._may_leak(numbers, more):
                    ways.append((more, _wiser(learnt, axis, True), cuts.merit.copy(), reached * fails))
                reached *= 1 - fails
            if cut.halves is None or not reached:
                yield None
            else:
                halves = tuple((half, self._crossed(half, around)) for half in cut.halves)
                yield halves, _wiser(learnt, axis, False), reached

    def _part(self, numbers: Groups) -> GroupRows:
        """Return the rows of some groups."""
        if numbers not in self._members:
            rows = np.flatnonzero(np.isin(self.groups, numbers))
            points, sensitive_codes, counts = (
                self.points[rows],
                self.sensitive_codes[rows],
                self._counts(self.sensitive_codes[rows]),
            )
            present = np.flatnonzero(counts).astype(np.int32)
            self._members[numbers] = GroupRows(points, sensitive_codes, self.groups[rows], counts, present)
        return self._members[numbers]

    def _cut(self, numbers: Groups, axis: int, code: int) -> Cut:
        """Return a part in halves."""
        if (numbers, axis, code) not in self._cuts:
            part = self._part(numbers)
            left = part.points[:, axis] < code
            halves = _numbers(part.groups[left]), _numbers(part.groups[~left])
            apart = set(halves[0]).isdisjoint(halves[1])
            self._cuts[numbers, axis, code] = Cut(
                int(left.sum()), self._counts(part.sensitive_codes[left]), halves if apart else None
            )
        return self._cuts[numbers, axis, code]

    def _counts(self, sensitive_codes: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.bincount(sensitive_codes.ravel(), minlength=len(self.sealing.odds))

    def _crossed(self, numbers: Groups, around: tuple[RejectedCut, ...]) -> tuple[RejectedCut, ...]:
        """Return the cuts that some groups together are on both sides of."""
        rows = len(self._part(numbers).groups)
        return tuple(cut for cut in around if 0 < self._cut(numbers, cut.axis, cut.code).left < rows)

    def _leaks(self, group: int, amount: float) -> bool:
        """Whether this is the leakage asked for of a group, up to the order in which amounts were added."""
        return self.leakage is None or bool(np.isclose(self.leakage[group], amount, rtol=1e-9, atol=1e-12))

    def _may_leak(self, numbers: Groups, around: tuple[RejectedCut, ...]) -> bool:
        """Whether no group's leakage is beyond the one asked for."""
        if self.leakage is None:
            return True
        amounts = ((group, sum(cut.price for cut in self._crossed((group,), around))) for group in numbers)
        return all(amount <= self.leakage[group] or self._leaks(group, amount) for group, amount in amounts)


def rejection(price: float, slack: float, last: bool) -> Fraction:
    """Return the probability that a round rejects a cut, ``last`` or before."""
    if last:
        return Fraction(1) if slack < 0 else Fraction(int(last_rejection(price, slack)), 1 << 64)
    erring = Fraction(int(erring_rejection(price, slack)), 1 << 64)
    return 1 - erring if slack < 0 else erring


def _numbers(groups: NDArray[np.int32]) -> Groups:
    """Return the groups that rows are of."""
    return tuple(np.unique(groups).tolist())


def _wiser(learnt: Learnt, axis: int, rejected: bool) -> Learnt:
    """Return what is learnt from one more test along an axis."""
    result = np.array(learnt)
    learn(result, axis, rejected)
    return tuple(map(tuple, result.tolist()))


def _as_arrays(around: tuple[RejectedCut, ...]) -> Rejected:
    """Return rejected cuts as kernels see them."""
    result: Rejected = no_rejections(len(around))
    for place, cut in enumerate(around):
        result.axis[place], result.code[place], result.price[place] = cut
    return result
