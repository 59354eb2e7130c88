"""Halves that could be exchanged: what a test of them tells is the same about everyone, and so tells nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.costs import Axes, interval_cost
from discreet.principles.joint import jointly
from discreet.principles.per_attribute import stated
from discreet.principles.principle import Principle
from discreet.progress import Progress
from discreet.randomness import generator, numbers_below, words
from discreet.releases.sealed.mirrored import MirroredRelease
from discreet.schemes.axes import axes_of
from discreet.schemes.scheme import feasible
from discreet.schemes.sealed.behind import Counts, rows_behind
from discreet.schemes.sealed.one_run import OneRunScheme
from discreet.table.table import Table

Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Mirrored(OneRunScheme):
    """All rows start as one group, which is cut into equal halves along one quasi-identifier, if both keep the promise.

    Why the promise holds against an adversary who knows this algorithm and nobody's value. Known are everybody's
    quasi-identifiers, how often each sensitive value occurs, and the algorithm; all ways to give the values to the
    persons (*worlds*) are equally likely. Which halves are tested is decided by quasi-identifiers, by chance and by the
    results of earlier tests in the part; all that follows is said for given results. A cut that is made is published,
    and tells nothing more; what may tell something is a rejected one.

    A rejection divides a part into two *cells*, and every later cut in it, tested or made, cuts each cell into equal
    halves; so in every part all cells have the same number of persons. Take a group that was published, and a rejection
    on the way to it. Exchange, in all groups of that part, the persons of each cell with those of the cell that lies on
    the other side of this rejection and on the same side of all others. Published counts stay as they are; the two
    halves of the rejected cut exchange their counts, which are judged alike; the halves of every other one keep theirs.
    So a world and its image are equally likely to lead to these results. Exchanges of this kind, and any among the
    persons of a group and a cell, lead from each person of a group to each other one. Hence all of them are equally
    likely to have a value, and the belief is its share in the group, which keeps the promise. With several sensitive
    attributes this is so for the combinations of their values.

    So that cells can be halved often, some rows stay behind at first, as a group of their own; how many of each value
    is decided by how often the values occur, and which ones by lot. Their choice tells nothing either
    (`rows_behind`), and an exchange of persons as above leaves its probability as it is.

    A cell of an odd number of persons cannot be halved, and then nothing more is tested: with an odd row given to one
    side, as has been proposed, a later cut that is made may give the row away, and with it the reason of an earlier
    rejection (``tests/schemes/test_mirrored.py`` has six persons of whom one becomes certain). Only where nothing was
    rejected yet may an odd number be halved: a row is drawn uniformly, a coin decides about its side, and a rejection
    is final. Nobody then knows the row, and every person is equally likely to be the one.

    >>> from discreet.datasets import patients
    >>> from discreet.principles import LDiversity
    >>> Mirrored(random_state=1).publish(patients(), LDiversity(2)).groups > 1
    True
    """

    name: ClassVar[str] = "mirrored"
    format: ClassVar[type[MirroredRelease]] = MirroredRelease

    def publish(self, table: Table, principle: Principle, progress: Progress | None = None) -> MirroredRelease:
        """Return a mirrored release of the table in which every group keeps the promise."""
        feasible(self, table, principle)
        principle = stated(principle, table)
        self._check_usable(table)
        one, promise, prior = jointly(principle, table)
        rng = generator(self.random_state)
        seeded = None if self.random_state is None else rng
        width, classes = len(prior.counts), one.classes

        def hold(*counts: Counts) -> bool:
            return bool(promise.holds(np.array(counts), prior).all())

        def keep(*halves: Rows) -> bool:
            return hold(*(np.bincount(classes[rows], minlength=width) for rows in halves))

        points, axes = axes_of(table, self.loss, self.values)
        behind = rows_behind(classes, width, hold, seeded)
        others = np.delete(np.arange(table.rows), behind)
        groups = np.zeros(table.rows, np.int32)
        groups[others] = halved(points, others, axes, keep, seeded, progress) + np.int32(len(behind) > 0)
        self._confirm(groups, table, principle)
        return MirroredRelease.from_groups(
            table,
            groups,
            promise=principle,
            scheme=self.name,
            options=self.options,
            values=self.values,
            seeded=seeded,
        )


class Part(NamedTuple):
    """Persons that are still together, and which cells of rejected cuts they are in."""

    rows: Rows
    cells: NDArray[np.int64]
    number: int
    """How many cells there are."""

    @property
    def odd(self) -> bool:
        """Whether its cells, all of one size, cannot be halved."""
        return len(self.rows) % (2 * self.number) != 0

    def some(self, chosen: NDArray[np.bool_]) -> Part:
        """The chosen persons, in their cells."""
        return Part(self.rows[chosen], self.cells[chosen], self.number)


def halved(
    points: NDArray[np.int32],
    rows: Rows,
    axes: Axes,
    keep: Callable[[Rows, Rows], bool],
    seeded: np.random.Generator | None,
    progress: Progress | None = None,
) -> NDArray[np.int32]:
    """Return the group of each of the rows; ``keep`` says whether two halves of some of them keep the promise."""
    n = len(rows)
    groups, number, done = np.zeros(len(points), np.int32), 0, 0
    waiting = [Part(rows, np.zeros(n, np.int64), 1)]
    while waiting:
        part = waiting.pop()
        halves = _halves(points, axes, part, keep, seeded)
        waiting += halves
        if not halves:
            groups[part.rows] = number
            number += 1
            done += len(part.rows)
            if progress:
                progress("halving", done / n)
    return groups[rows]


def _halves(
    points: NDArray[np.int32],
    axes: Axes,
    part: Part,
    keep: Callable[[Rows, Rows], bool],
    seeded: np.random.Generator | None,
) -> list[Part]:
    """Return the first halves of a part that keep the promise; none if there are none."""
    for axis in _by_merit(points[part.rows], axes, part):
        odd = part.odd
        if odd and part.number > 1:
            return []
        left = lower_half(points[part.rows, axis], part.cells, part.number, seeded)
        if keep(part.rows[left], part.rows[~left]):
            return [part.some(left), part.some(~left)]
        if odd:
            return []
        part = Part(part.rows, 2 * part.cells + left, 2 * part.number)
    return []


def lower_half(
    places: NDArray[np.int32], cells: NDArray[np.int64], number: int, seeded: np.random.Generator | None
) -> NDArray[np.bool_]:
    """Return who is in the lower half of each cell; of an odd number in one cell, a row that is drawn goes anywhere.

    >>> lower_half(np.array([5, 1, 7, 3]), np.array([0, 0, 1, 1]), 2, None).tolist()
    [False, True, False, True]
    """
    n = len(places)
    left = np.zeros(n, np.bool_)
    order = np.lexsort((words(n, seeded), places, cells))  # who is at the same place is in a random order
    if n % 2:
        drawn = int(numbers_below(n, 1, seeded)[0])
        left[order[drawn]] = bool(numbers_below(2, 1, seeded)[0])
        order = np.delete(order, drawn)
    size = len(order) // number
    left[order[np.arange(len(order)) % size < size // 2]] = True
    return left


def _by_merit(points: NDArray[np.int32], axes: Axes, part: Part) -> list[int]:
    """Return the axes along which halves of a part would save something, the one that would save most first."""
    n, size = points.shape[0], max(1, points.shape[0] // part.number)
    merits: dict[int, float] = {}
    for axis in range(points.shape[1]):
        places = points[:, axis]
        low, high = places.min(), places.max()
        ranked = places[np.lexsort((places, part.cells))]
        lower = np.arange(n) % size < size // 2
        below, above = ranked[lower].max(initial=low), ranked[~lower].min(initial=high)
        halves = interval_cost(axes, axis, low, below) + interval_cost(axes, axis, above, high)
        saved = axes.weights[axis] * (2.0 * interval_cost(axes, axis, low, high) - halves)
        if low < high and (saved > 0.0 or axes.by_size):
            merits[axis] = saved
    return sorted(merits, key=lambda axis: -merits[axis])
