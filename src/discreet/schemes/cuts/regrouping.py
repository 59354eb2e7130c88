"""Partitioning neighbouring groups anew: a search that only improves.

The union of groups that keep a monotone promise keeps it too. So any few groups can be merged and cut again with other
settings; if the new groups cost less, they replace the old ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.costs import box_cost
from discreet.kernels.cuts.growth import grow_ahead, join_costs
from discreet.kernels.cuts.terms import Recipe
from discreet.kernels.cuts.workspace import workspace
from discreet.progress import Progress
from discreet.schemes.cuts.top_down import Partition, Problem

_AT_MOST = 8
"""The most groups merged with the one that was picked."""
_LARGEST_POOL = 10_000


class _Groups:
    """Groups that are added and removed, with their boxes, sizes and costs in parallel arrays.

    The last group takes the place of a removed one, so that the arrays have no holes.
    """

    def __init__(self, problem: Problem, partition: Partition) -> None:
        self.problem = problem
        self.rows: list[NDArray[np.int32]] = []
        room, d = 2 * len(partition.starts) + 64, problem.points.shape[1]
        self._lows, self._highs = np.empty((room, d), np.int32), np.empty((room, d), np.int32)
        self._sizes, self._costs = np.empty(room, np.int64), np.empty(room)
        for rows in np.split(partition.rows, partition.starts[1:]):
            self.add(rows)

    def add(self, rows: NDArray[np.int32]) -> None:
        g = len(self.rows)
        if g == len(self._sizes):
            for name in ("_lows", "_highs", "_sizes", "_costs"):
                setattr(self, name, np.concatenate([getattr(self, name)] * 2))
        points = self.problem.points[rows]
        self.rows.append(rows)
        self._lows[g], self._highs[g], self._sizes[g] = points.min(axis=0), points.max(axis=0), len(rows)
        self._costs[g] = len(rows) * box_cost(self.problem.axes, self._lows[g], self._highs[g], len(rows))

    def remove(self, g: int) -> None:
        last = len(self.rows) - 1
        self.rows[g] = self.rows[last]
        for array in (self._lows, self._highs, self._sizes, self._costs):
            array[g] = array[last]
        self.rows.pop()

    @property
    def costs(self) -> NDArray[np.float64]:
        return self._costs[: len(self.rows)]

    def near(self, g: int, how_many: int, largest: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return group ``g`` and up to ``how_many`` groups that are cheap to merge with it, with a little random noise.

        Fewer groups are returned where they would have more than ``largest`` rows in total.
        """
        k = len(self.rows)
        lows, highs, sizes, costs = self._lows[:k], self._highs[:k], self._sizes[:k], self._costs[:k]
        joined = np.empty(k)
        join_costs(self.problem.axes, lows, highs, sizes, g, joined)
        extra = (joined * (sizes + sizes[g]) - costs - costs[g]) / np.minimum(sizes, sizes[g])
        extra += 0.02 * rng.random(k)
        extra[g] = -np.inf
        nearest = np.argpartition(extra, min(how_many, k - 1))[: how_many + 1]
        nearest = nearest[np.argsort(extra[nearest])]
        return nearest[: max(1, int((np.cumsum(sizes[nearest]) <= largest).sum()))]


def regroup(
    problem: Problem,
    partition: Partition,
    families: int,
    rng: np.random.Generator,
    *,
    budget: int,
    progress: Progress | None = None,
) -> Partition:
    """Merge neighbouring groups and cut them again, until ``budget`` rows have been cut.

    Costly groups are picked more often. The cost never rises.
    """
    groups = _Groups(problem, partition)
    n, d = problem.points.shape
    m, card = len(problem.limits.caps), int(problem.axes.cards.max())
    largest = min(n, _LARGEST_POOL)
    joint = problem.rules.joint
    works = {many: workspace(largest, d, m, card, 15, many, joint) for many in (1, 3, 6)}
    spare = workspace(largest, d, m, card, 15, joint=joint)
    spent = 0
    while spent < budget and len(groups.rows) > 1 and (total := groups.costs.sum()) > 0:
        if progress:
            progress("regrouping", spent / budget)
        g = int(np.searchsorted(np.cumsum(groups.costs), rng.random() * total))
        pool = groups.near(min(g, len(groups.rows) - 1), int(rng.integers(1, _AT_MOST + 1)), largest, rng)
        rows = np.concatenate([groups.rows[h] for h in pool])
        spent += max(len(rows), len(groups.rows) // 20)  # the effort to find neighbours grows with the number of groups
        if len(pool) == 1:  # too large to be merged with others
            continue
        rng.shuffle(rows)  # break ties along an axis differently each time
        caution, many = float(rng.choice((0.0, 0.1, 0.2, 0.5))), int(rng.choice((1, 3, 6)))
        recipe = Recipe(families, 15, int(rng.choice((1, 3))), caution, 2**62, False)
        quick = Recipe(families, int(rng.choice((3, 7))), 1, caution, 2**62, False)
        first = np.zeros(len(rows), np.bool_)
        order = np.arange(len(rows), dtype=np.int32)
        cost = grow_ahead(
            problem.points[rows], problem.classes[rows], order, 0, len(rows),
            problem.axes, problem.rules, problem.limits, recipe, quick, works[many], spare, first,
        )  # fmt: skip
        if cost < groups.costs[pool].sum() - 1e-9:
            for h in np.sort(pool)[::-1]:
                groups.remove(int(h))
            for part in np.split(rows[order], np.flatnonzero(first)[1:]):
                groups.add(part)
    sizes = [len(rows) for rows in groups.rows]
    return Partition(
        np.concatenate(groups.rows), np.concatenate([[0], np.cumsum(sizes)[:-1]]), float(groups.costs.sum())
    )
