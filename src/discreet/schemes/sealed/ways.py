"""All ways in which coins can lead a table to given groups, with their exact probabilities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import sealing as kernels
from discreet.kernels.cuts.layout import Layout

Cut = tuple[int, int, float]
"""A cut that was rejected: axis, code and price."""
Waiting = tuple[tuple[int, ...], tuple[Cut, ...]]
"""A part that waits to be cut, as the groups that it is to be divided into, and the cuts that were rejected around it."""
Learnt = tuple[tuple[float, ...], ...]


class Part(NamedTuple):
    """The rows of some groups."""

    points: NDArray[np.int32]
    classes: NDArray[np.int32]
    groups: NDArray[np.int32]
    """Per row: its group."""
    counts: NDArray[np.int64]
    """Per value: its rows."""
    present: NDArray[np.int32]
    """The values that rows have."""


@dataclass(frozen=True, eq=False)
class Ways:
    """Persons as points, their values, what is public, and the groups that they are to be divided into."""

    points: NDArray[np.int32]
    classes: NDArray[np.int32]
    sealing: kernels.Sealing
    layout: Layout
    groups: NDArray[np.int32]
    told: NDArray[np.float64] | None
    """Per group: what is to be told about it, if only ways that tell this are asked for."""

    def chance(self) -> Fraction:
        """Return the probability of all ways together."""
        numbers = tuple(np.unique(self.groups).tolist())
        nothing: Learnt = ((0.0, 0.0),) * self.points.shape[1]
        ways = {(((numbers, ()),), nothing): Fraction(1)}
        for _ in range(2 * len(numbers) - 1):  # so many parts are cut, or left as groups, on every way
            onward: dict[tuple[tuple[Waiting, ...], Learnt], Fraction] = defaultdict(Fraction)
            for (queue, learnt), chance in ways.items():
                for halves, wiser, share in self._tests(*queue[0], learnt):
                    onward[queue[1:] + halves, wiser] += chance * share
            ways = onward
        return sum(ways.values(), Fraction(0))

    def _tests(
        self, numbers: tuple[int, ...], around: tuple[Cut, ...], learnt: Learnt
    ) -> Iterator[tuple[tuple[Waiting, ...], Learnt, Fraction]]:
        """Yield every result of the tests of a part that may lead to the groups: its halves, or none if it is a group;
        what was learnt; and how likely that is."""
        part, sealing = self._part(numbers), self.sealing
        n, d = part.points.shape
        rounds, found = kernels.no_rounds(len(sealing.odds)), kernels.no_candidates(d * kernels.POSITIONS)
        number = kernels.candidates(part.points, sealing.axes, sealing.least, self.layout, np.array(learnt), found)
        open_ways = [(around, learnt, found.merit.copy(), Fraction(1))]
        while open_ways:
            around, learnt, merit, reached = open_ways.pop()
            found.merit[:] = merit
            rejected = _rejected(around)
            best, asked = kernels.next_test(
                found, number, part.present, part.counts, n, rejected, len(around), sealing, rounds
            )
            if best < 0:
                if len(numbers) == 1 and self._tells(numbers[0], kernels.told_about(rejected, len(around))):
                    yield (), learnt, reached
                continue
            axis, code = int(found.axis[best]), int(found.code[best])
            left = part.points[:, axis] < code
            counted = np.bincount(part.classes[left].ravel(), minlength=len(sealing.odds))
            both = kernels.told_about_halves(rejected, len(around), axis, code)
            kernels.drop_tested(part.points, found, number, best)
            failed = _wiser(learnt, axis, True)
            for turn in reversed(range(asked)):
                slack = kernels.slack_of(
                    rounds, turn, part.present, part.counts, counted, int(left.sum()), n, *both, sealing
                )
                fails = rejection(float(rounds.price[turn]), float(slack), last=turn == 0)
                told = (*around, (axis, code, float(kernels.told_by(rounds, asked, turn))))
                if self._may_tell(numbers, told):
                    open_ways.append((told, failed, found.merit.copy(), reached * fails))
                reached *= 1 - fails
            halves = [tuple(np.unique(part.groups[side]).tolist()) for side in (left, ~left)]
            if reached and set(halves[0]).isdisjoint(halves[1]):
                yield tuple((half, self._crossed(half, around)) for half in halves), _wiser(learnt, axis, False), reached

    @cached_property
    def _parts(self) -> dict[tuple[int, ...], Part]:
        return {}

    def _part(self, numbers: tuple[int, ...]) -> Part:
        """Return the rows of some groups."""
        if numbers not in self._parts:
            rows = np.flatnonzero(np.isin(self.groups, numbers))
            counts = np.bincount(self.classes[rows].ravel(), minlength=len(self.sealing.odds))
            self._parts[numbers] = Part(
                self.points[rows],
                self.classes[rows],
                self.groups[rows],
                counts,
                np.flatnonzero(counts).astype(np.int32),
            )
        return self._parts[numbers]

    def _crossed(self, numbers: tuple[int, ...], around: tuple[Cut, ...]) -> tuple[Cut, ...]:
        """Return the cuts that some groups together are on both sides of."""
        points = self._part(numbers).points
        low, high = points.min(axis=0), points.max(axis=0)
        return tuple(cut for cut in around if low[cut[0]] < cut[1] <= high[cut[0]])

    def _tells(self, group: int, amount: float) -> bool:
        """Whether this is to be told about a group, up to the order in which amounts were added."""
        return self.told is None or bool(np.isclose(self.told[group], amount, rtol=1e-9, atol=1e-12))

    def _may_tell(self, numbers: tuple[int, ...], around: tuple[Cut, ...]) -> bool:
        """Whether no more was told about any group than is to be told in the end."""
        if self.told is None:
            return True
        for group in numbers:
            amount = sum(price for _, _, price in self._crossed((group,), around))
            if amount > self.told[group] and not self._tells(group, amount):
                return False
        return True


def rejection(price: float, slack: float, last: bool) -> Fraction:
    """Return the probability that a round rejects a cut, ``last`` or before.

    >>> rejection(0.1, -1, last=True), rejection(0.1, 0, last=False)
    (Fraction(1, 1), Fraction(1, 2))
    """
    if last:
        return Fraction(1) if slack < 0 else Fraction(int(kernels.rejection(price, slack)), 1 << 64)
    erring = Fraction(int(kernels.erring_rejection(price, slack)), 1 << 64)
    return 1 - erring if slack < 0 else erring


def _wiser(learnt: Learnt, axis: int, rejected: bool) -> Learnt:
    """Return what is learnt from one more test along an axis."""
    result = np.array(learnt)
    kernels.learn(result, axis, rejected)
    return tuple(map(tuple, result.tolist()))


def _rejected(around: tuple[Cut, ...]) -> kernels.Rejected:
    """Return cuts as kernels see them."""
    result = kernels.no_rejections(len(around))
    for place, cut in enumerate(around):
        result.axis[place], result.code[place], result.price[place] = cut
    return result
