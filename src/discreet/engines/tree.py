"""Cuts of a sample, and where they send the rows of the table.

Along an axis every row has a place: that of its value and, so that rows of one value can be divided, a number from 0 to
1 by lot, added to it. A cut is a place for each sensitive value, below which rows go left. A plain cut has the same
place for all; a stratified one has for each value the middle of its rows, so that both halves inherit the distribution.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.engines.vocabulary import Coded, Vocabulary
from discreet.kernels.costs import Axes
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.schemes.axes import Loss, axis_of, side_by_side

MARGIN, CAUTION, EASY = 0.95, 0.3, 0.8
"""The most strain on a half of a sample that a plain cut may leave; what strain costs, and from where on."""
POSITIONS, CELLS = 256, 4_000_000
"""At most so many positions of an axis are tried, or as many as have so many counts."""
Index = NDArray[np.int64]


class Cut(NamedTuple):
    """Which rows go left: those whose place along the axis is below that of their sensitive value."""

    axis: int
    below: NDArray[np.float64]

    def left(self, rows: Coded) -> NDArray[np.bool_]:
        """Return which rows go left; their quasi-identifiers are places along axes."""
        return rows.quasi[:, self.axis] + rows.lots < self.below[rows.sensitive]


@dataclass
class Node:
    """A part of the table, which may be cut in two."""

    cut: Cut | None = None
    halves: tuple[Node, ...] = ()
    number: int = -1
    """The number of a part that is not cut."""

    def leaves(self) -> Iterator[Node]:
        """Yield the parts that are not cut, the left ones first."""
        if not self.halves:
            yield self
        for half in self.halves:
            yield from half.leaves()


class Places(NamedTuple):
    """Quasi-identifiers as axes: the place of every code, and what intervals of places cost."""

    of_code: list[NDArray[np.int64] | None]
    axes: Axes

    @classmethod
    def of(cls, vocabulary: Vocabulary, loss: Loss, values: str) -> Places:
        """Return the axes of a table, in the order that its exact counts decide."""
        columns = zip(vocabulary.table.quasi, vocabulary.counts, strict=False)
        both = [axis_of(column, counts, loss, values) for column, counts in columns]  # type: ignore[arg-type]
        return cls([place for place, _ in both], side_by_side([axis for _, axis in both]))

    def along(self, rows: Coded) -> Coded:
        """Return rows with the places of their quasi-identifiers along the axes."""
        places = [
            rows.quasi[:, at] if place is None else place[rows.quasi[:, at]] for at, place in enumerate(self.of_code)
        ]
        return rows._replace(quasi=np.column_stack(places).astype(np.int32))

    def cost(self, axis: int, low: Index, high: Index) -> NDArray[np.float64]:
        """Return what rows cost along an axis that are published with these intervals of places."""
        of, start = self.axes, int(self.axes.offsets[axis])
        card = int(of.cards[axis])
        if of.levels[axis] == 0:
            costs = np.minimum(1.0, of.costs[start + high] - of.costs[start + low])
        else:
            costs = np.ones(len(low))
            for level in reversed(range(int(of.levels[axis]))):
                at = start + level * card
                same = of.ancestors[at + low] == of.ancestors[at + high]
                costs[same] = of.costs[at + low[same]]
        return np.asarray(of.weights[axis] * np.where(low == high, 0.0, costs))


@dataclass(frozen=True, eq=False)
class Grower:
    """Cuts a sample until its parts stand for few enough rows of the table."""

    places: Places
    principle: Principle
    prior: Prior
    factor: float
    """How many rows of the table a row of the sample stands for."""
    most: int
    """The most rows of the table that a part should have."""
    plain: bool = True
    """Whether plain cuts are tried before stratified ones."""
    stratified: bool = True
    """Whether there may be stratified cuts, whose halves overlap."""
    tell: Callable[[int], object] = field(default=lambda number: None)

    def tree(self, sample: Coded) -> Node:
        """Return the tree of a sample, whose quasi-identifiers are places; the largest part is always cut first."""
        root, turn = Node(), 0
        waiting = [(-len(sample.lots), turn, root, np.arange(len(sample.lots)))]
        while waiting and -waiting[0][0] * self.factor > self.most:
            self.tell(len(waiting))
            _, _, node, rows = heapq.heappop(waiting)
            own = sample.take(rows)
            cut = self._plain(own) if self.plain else None
            cut = self._stratified(own) if cut is None and self.stratified else cut
            if cut is None:
                continue
            left = cut.left(own)
            node.cut, node.halves = cut, (Node(), Node())
            for half, chosen in zip(node.halves, (left, ~left), strict=True):
                turn += 1
                heapq.heappush(waiting, (-int(chosen.sum()), turn, half, rows[chosen]))
        for number, leaf in enumerate(root.leaves()):
            leaf.number = number
        return root

    def _strain(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the strain on groups of the table that have as many rows as the sample lets expect."""
        return self.principle.strain(np.rint(counts * self.factor).astype(np.int64), self.prior)

    def _plain(self, rows: Coded) -> Cut | None:
        """Return the plain cut that saves most, strain considered, of those that leave a margin."""
        best, found, n, width = -np.inf, None, len(rows.lots), len(self.prior.counts)
        for axis in range(rows.quasi.shape[1]):
            codes = rows.quasi[:, axis].astype(np.int64)
            held = np.unique(codes)
            if len(held) < 2:
                continue
            starts = _positions(codes, held, max(8, min(POSITIONS, CELLS // width)))
            blocks = np.searchsorted(starts, codes, side="right")
            cells = np.bincount(blocks * width + rows.sensitive, minlength=(len(starts) + 1) * width)
            counts = cells.reshape(-1, width).cumsum(axis=0)
            left, right = counts[:-1], counts[-1] - counts[:-1]
            sizes = left.sum(axis=1)
            ends = held[np.searchsorted(held, starts) - 1], starts
            low, high = np.full(len(starts), held[0]), np.full(len(starts), held[-1])
            saved = n * self.places.cost(axis, low[:1], high[:1]) - (
                sizes * self.places.cost(axis, low, ends[0]) + (n - sizes) * self.places.cost(axis, ends[1], high)
            )
            strains = self._strain(left), self._strain(right)
            worry = [
                size * np.maximum(0.0, strain - EASY) for size, strain in zip((sizes, n - sizes), strains, strict=True)
            ]
            score = saved - CAUTION * sum(worry) + 1e-9 * np.minimum(sizes, n - sizes)
            score[np.maximum(*strains) > MARGIN] = -np.inf
            at = int(score.argmax())
            if score[at] > best:
                best, found = score[at], Cut(axis, np.full(width, float(starts[at])))
        return found

    def _stratified(self, rows: Coded) -> Cut | None:
        """Return the cut that saves most of those that halve the rows of every sensitive value along one axis."""
        best, found, n, width = -np.inf, None, len(rows.lots), len(self.prior.counts)
        counts = np.bincount(rows.sensitive, minlength=width)
        middle = np.cumsum(counts) - counts + counts // 2
        for axis in range(rows.quasi.shape[1]):
            codes = rows.quasi[:, axis]
            places = codes + rows.lots
            order = np.lexsort((places, rows.sensitive))
            below = np.full(width, float(np.median(places)))
            below[counts > 0] = places[order[middle[counts > 0]]]
            cut = Cut(axis, below)
            left = cut.left(rows)
            if left.all() or not left.any():
                continue
            halves = [(codes[side].min(), codes[side].max(), int(side.sum())) for side in (left, ~left)]
            low, high, sizes = (np.array(each, np.int64) for each in zip(*halves, strict=True))
            whole = self.places.cost(
                axis, codes.min(keepdims=True).astype(np.int64), codes.max(keepdims=True).astype(np.int64)
            )
            saved = float((n * whole)[0] - (sizes * self.places.cost(axis, low, high)).sum())
            own = np.array([np.bincount(rows.sensitive[side], minlength=width) for side in (left, ~left)])
            if saved > best and bool((self._strain(own) <= 1.0).all()):
                best, found = saved, cut
        return found


def _positions(codes: Index, held: Index, most: int) -> Index:
    """Return the places at which right halves may begin: all that are held but the first, or some at equal shares."""
    if len(held) <= most + 1:
        return held[1:]
    ordered = np.sort(codes)
    shares = ordered[np.linspace(0, len(ordered) - 1, most + 2).astype(np.int64)[1:-1]]
    return np.unique(shares[shares > held[0]])


def assign(
    node: Node, rows: Coded, among: Index | None = None, numbers: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """Return the number of the part that each row goes to; its quasi-identifiers are places."""
    among = np.arange(len(rows.lots)) if among is None else among
    numbers = np.empty(len(rows.lots), np.int32) if numbers is None else numbers
    if node.cut is None:
        numbers[among] = node.number
        return numbers
    left = node.cut.left(rows.take(among))
    for half, chosen in zip(node.halves, (left, ~left), strict=True):
        assign(half, rows, among[chosen], numbers)
    return numbers
