"""Generalizations of a table: the groups of its rows at each combination of levels, and what they lose."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.rollup import interval_costs
from discreet.progress import Progress, no_progress
from discreet.releases.generalization import Values
from discreet.schemes.axes import Loss, axes_of
from discreet.schemes.incognito.levels import Levels, levels_of
from discreet.schemes.incognito.search import KEPT, Frequencies, Judge, LevelSearch, Node, minimal
from discreet.table.table import Table


class Generalization(NamedTuple):
    """One combination of levels that keeps a promise, and what it loses."""

    loss: float
    """The chosen loss, as measured from a release."""
    withheld: int
    """How many rows are withheld, those included that cannot be published at all."""
    levels: Node
    """The level of each quasi-identifier: 0 are its values, the last is all of them as one."""
    discernibility: int
    """For each row the number of rows indistinguishable from it, summed over all rows."""


class Measured(NamedTuple):
    """What a combination of levels loses if nothing were withheld, which none above it falls below."""

    least: float
    levels: Node
    least_discernibility: int
    published: Generalization | None
    """What it loses as it is published; None if its groups do not keep the promise."""


@dataclass(frozen=True, eq=False)
class Generalizations:
    """The rows to publish, counted once by their quasi-identifiers."""

    each: tuple[Levels, ...]
    """The levels of the quasi-identifiers."""
    order: tuple[int, ...]
    """The quasi-identifiers in the order of the axes of ``bottom``: with the most values first."""
    bottom: Frequencies
    """The frequency set at the lowest levels."""
    group_of: NDArray[np.int64]
    """The group of each row there."""
    prices: tuple[tuple[NDArray[np.float64], ...], ...] | None
    """What a row loses by each node of each level of each quasi-identifier, in all at most 1; None if a row loses as
    much as its group has rows."""
    rows: int
    """The rows of the whole table."""

    @classmethod
    def of(cls, table: Table, rows: NDArray[np.int64], width: int, loss: Loss, values: Values) -> Generalizations:
        """Count these rows of a table, with this many sensitive values."""
        each = levels_of(table)
        order = tuple(sorted(range(len(each)), key=lambda j: -each[j].cards[0]))
        columns = [table.quasi[j].codes[rows] for j in order]
        bottom, group_of = Frequencies.of_rows(
            columns, [each[j].cards[0] for j in order], table.sensitive_codes[rows], width
        )
        prices = None if loss == "discernibility" else prices_of(table, rows, each, loss, values)
        return cls(each, order, bottom, group_of, prices, table.rows)

    def kept(self, judge: Judge, progress: Progress = no_progress) -> tuple[NDArray[np.bool_], int]:
        """Return which combinations of levels keep the promise, and how many of them had to be judged to find out."""
        search = LevelSearch([self.each[j] for j in self.order], judge, progress)
        search.visit(self.bottom)
        return (search.known == KEPT).transpose(np.argsort(self.order)), search.judged

    def minimal(self, kept: NDArray[np.bool_], judge: Judge) -> list[Generalization]:
        """Return the combinations that keep the promise while none below them does, by ascending loss."""
        measured = (self._measured(levels, judge).published for levels in minimal(kept))
        return sorted(published for published in measured if published is not None)

    def best(self, kept: NDArray[np.bool_], judge: Judge, most: float = math.inf) -> Generalization | None:
        """Return the combination with the smallest loss of all whose discernibility is at most ``most``; None if none.

        Without withheld rows that is a minimal one. Otherwise fewer rows may have to be withheld at higher levels, so
        these are searched as long as their loss without withheld rows, a lower bound, is smaller than the best found.
        """
        waiting = [self._measured(levels, judge) for levels in minimal(kept)]
        heapify(waiting)
        seen = {measured.levels for measured in waiting}
        best: Generalization | None = None
        while waiting and (best is None or waiting[0].least < best.loss):
            measured = heappop(waiting)
            published = measured.published
            if measured.least_discernibility > most:
                continue
            if published is not None and published.discernibility <= most and (best is None or published < best):
                best = published
            if published is None or published.withheld > judge.missing.sum():
                above = set(self._above(measured.levels)) - seen
                seen |= above
                for levels in above:
                    heappush(waiting, self._measured(levels, judge))
        return best

    def _above(self, levels: Node) -> Iterator[Node]:
        """Yield the combinations with one level raised by one."""
        for j, attribute in enumerate(self.each):
            if levels[j] < attribute.height:
                yield (*levels[:j], levels[j] + 1, *levels[j + 1 :])

    def groups(self, levels: Node, judge: Judge) -> NDArray[np.int32]:
        """Return the group of each row at these levels, -1 if withheld."""
        frequencies, home = self._rolled_up(levels)
        gone = judge.withheld(frequencies.counts)
        assert gone is not None, "these levels do not keep the promise"
        return np.where(gone, np.int32(-1), np.arange(len(gone), dtype=np.int32))[home[self.group_of]]

    def _measured(self, levels: Node, judge: Judge) -> Measured:
        """Return what these levels lose."""
        groups, _ = self._rolled_up(levels)
        sizes, missing = groups.counts.sizes, int(judge.missing.sum())
        gone = judge.withheld(groups.counts)
        costs, of_withheld = self._costs(groups, levels)
        published = None
        if gone is not None:
            withheld = missing + int(sizes[gone].sum())
            loss = float((costs * sizes)[~gone].sum()) + withheld * of_withheld
            published = Generalization(loss, withheld, levels, int((sizes[~gone] ** 2).sum()) + withheld * self.rows)
        least = float((costs * sizes).sum()) + missing * of_withheld
        return Measured(least, levels, int((sizes**2).sum()) + missing * self.rows, published)

    def _rolled_up(self, levels: Node) -> tuple[Frequencies, NDArray[np.int64]]:
        """Return the frequency set at these levels, and the group there of each group of the bottom."""
        chosen = [(self.each[j], levels[j]) for j in self.order]
        codes = np.empty_like(self.bottom.codes)
        for line, below, (attribute, level) in zip(codes, self.bottom.codes, chosen, strict=True):
            line[:] = attribute.nodes[level][below]
        return self.bottom.under(codes, tuple(attribute.cards[level] for attribute, level in chosen))

    def _costs(self, groups: Frequencies, levels: Node) -> tuple[NDArray[Any], float]:
        """Return what a row of each group adds to the loss, and what a withheld row does."""
        if self.prices is None:
            return groups.counts.sizes, float(self.rows)
        costs = np.zeros(len(groups.counts))
        for j, line in zip(self.order, groups.codes, strict=True):
            costs += self.prices[j][levels[j]][line]
        return costs / self.rows, 1.0 / self.rows


def prices_of(
    table: Table, rows: NDArray[np.int64], each: tuple[Levels, ...], loss: Loss, values: Values
) -> tuple[tuple[NDArray[np.float64], ...], ...]:
    """Return what a row loses by each node of each level, published as the smallest description of its rows."""
    points, axes = axes_of(table, loss, values)
    prices = []
    for j, (column, levels) in enumerate(zip(table.quasi, each, strict=True)):
        codes, first = np.unique(column.codes[rows], return_index=True)
        places = points[rows[first], j]
        by_set = loss == "gcp" and values == "set" and column.kind == "categorical"
        of_level = []
        for nodes, card in zip(levels.nodes, levels.cards, strict=True):
            low, high = np.full(card, np.iinfo(np.int32).max, np.int32), np.full(card, -1, np.int32)
            np.minimum.at(low, nodes[codes], places)
            np.maximum.at(high, nodes[codes], places)
            if by_set:  # the values of a node, wherever they lie
                high, low = np.bincount(nodes[codes], minlength=card).astype(np.int32) - 1, np.zeros(card, np.int32)
            of_level.append(axes.weights[j] * interval_costs(axes, j, np.minimum(low, high), high))
        prices.append(tuple(of_level))
    return tuple(prices)
