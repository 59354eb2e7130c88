"""More effort on a partition: many recipes, look-ahead, partitioning neighbours anew, moving and exchanging rows.

Every step starts from the best partition so far and replaces it, or a part of it, only by a cheaper one. The first step
tries every family of cuts by itself and the recipe of ``effort=fast``, so the result is never worse than any of these.
Then groups are merged and cut again with other settings (``regroup``), and rows leave a group at the end of its box,
which shrinks, for one that keeps the promise with them (``settle_rows``). Why it is kept by all: see ``Cuts``.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.costs import box_cost
from discreet.kernels.cuts.growth import grow_ahead, join_costs, workspace
from discreet.kernels.cuts.terms import BUCKETED, PLAIN, REPAIRED, STRATIFIED, Recipe
from discreet.kernels.row_moves import exchange, move_rows
from discreet.processors import threads
from discreet.progress import Progress, no_progress
from discreet.schemes.cuts.top_down import Partition, Problem, fast_recipe, partition, partition_ahead

STAGES = 6
"""How often rows are settled while groups are regrouped: groups that are settled are cut again in other ways."""
EVERYWHERE = 2**62
"""A ``plain_above`` larger than any group."""
MERGED = 8
"""The most groups merged with the one that was picked."""
LARGEST_POOL = 10_000
"""The most rows of groups that are merged."""
ROUNDS = 5
"""Later rounds exchange few rows."""
LARGEST_NUMBER = 20_000
"""The most groups between which rows move, because every row at an end of a box is compared with every group."""
LARGEST_COUNTS = 10_000_000
"""A limit on the memory for the counts of all values in all groups."""


def recipes(families: int) -> list[Recipe]:
    """Return the recipes tried first: every family by itself, and all of them together with other settings."""
    alone = [fast_recipe(family) for family in (PLAIN, STRATIFIED, BUCKETED, REPAIRED) if families & family]
    mixed = [
        Recipe(families, 15, 1, caution, plain_above, False)
        for caution in (0.0, 0.2, 0.5)
        for plain_above in (0, 10_000, EVERYWHERE)
    ]
    return alone + mixed


def partition_thoroughly(
    problem: Problem, families: int, fast: Recipe, rng: np.random.Generator, *, progress: Progress = no_progress
) -> Partition:
    """Return the cheapest partition found by many attempts, never worse than that of the recipe ``fast``.

    The time is that of about a hundred passes, and bounded: on large tables look-ahead is limited to groups of at most
    30,000 rows, and regrouping to ten million rows in total.
    """
    candidates = [fast, *recipes(families)]
    best, temper = partition(problem, fast), fast
    tried = best
    for done, recipe in enumerate(candidates[1:], start=1):
        progress("trying recipes", done / len(candidates))
        result = partition(problem, recipe)
        tried = min(tried, result, key=problem.published_cost)
        if result.cost < best.cost:
            best, temper = result, recipe
    progress("looking ahead", 0.0)

    def ahead(caution: float) -> Partition:
        recipe = Recipe(families, 15, 3, caution, temper.plain_above, False)
        quick = Recipe(families, 5, 1, caution, temper.plain_above, False)
        return partition_ahead(problem, recipe, quick, many=6, below=30_000)

    with ThreadPoolExecutor(threads()) as pool:
        best = min([best, *pool.map(ahead, (0.2, 0.5))], key=lambda result: result.cost)
    budget = min(90 * len(problem.sensitive_codes), 10_000_000)
    for stage in range(STAGES):

        def share(name: str, done: float, stage: int = stage) -> None:
            progress(name, (stage + done) / STAGES)

        best = regroup(problem, best, families, rng, budget=budget // STAGES, progress=share)
        best = settle_rows(problem, best, 10 * budget)
    # the search overestimates the cost of sets, so the published cost decides
    return min(tried, best, key=problem.published_cost)


class _Groups:
    """Groups that are added and removed, with their boxes, sizes and costs in parallel arrays.

    The last group takes the place of a removed one, so that the arrays have no holes.
    """

    def __init__(self, problem: Problem, partition: Partition) -> None:
        self.problem = problem
        self.rows: list[NDArray[np.int32]] = []
        n, d = problem.points.shape
        self._lows, self._highs = np.empty((n, d), np.int32), np.empty((n, d), np.int32)
        self._sizes, self._costs = np.empty(n, np.int64), np.empty(n)
        for rows in np.split(partition.rows, partition.starts[1:]):
            self.add(rows)

    def add(self, rows: NDArray[np.int32]) -> None:
        g = len(self.rows)
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
    progress: Progress = no_progress,
) -> Partition:
    """Merge neighbouring groups and cut them again, until ``budget`` rows have been cut.

    Costly groups are picked more often. The cost never rises.
    """
    groups = _Groups(problem, partition)
    n, d = problem.points.shape
    m, card = len(problem.limits.caps), int(problem.axes.cards.max())
    largest = min(n, LARGEST_POOL)
    joint = problem.rules.joint
    works = {many: workspace(largest, d, m, card, 15, many, joint) for many in (1, 3, 6)}
    spare = workspace(largest, d, m, card, 15, joint=joint)
    spent = 0
    while spent < budget and len(groups.rows) > 1 and (total := groups.costs.sum()) > 0:
        progress("regrouping", spent / budget)
        g = int(np.searchsorted(np.cumsum(groups.costs), rng.random() * total))
        pool = groups.near(min(g, len(groups.rows) - 1), int(rng.integers(1, MERGED + 1)), largest, rng)
        rows = np.concatenate([groups.rows[h] for h in pool])
        spent += max(len(rows), len(groups.rows) // 20)  # the effort to find neighbours grows with the number of groups
        if len(pool) == 1:  # too large to be merged with others
            continue
        rng.shuffle(rows)  # break ties along an axis differently each time
        caution, many = float(rng.choice((0.0, 0.1, 0.2, 0.5))), int(rng.choice((1, 3, 6)))
        recipe = Recipe(families, 15, int(rng.choice((1, 3))), caution, EVERYWHERE, False)
        quick = Recipe(families, int(rng.choice((3, 7))), 1, caution, EVERYWHERE, False)
        first = np.zeros(len(rows), np.bool_)
        order = np.arange(len(rows), dtype=np.int32)
        cost = grow_ahead(
            problem.points[rows], problem.sensitive_codes[rows], order, 0, len(rows),
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


def settle_rows(problem: Problem, partition: Partition, effort: int) -> Partition:
    """Return a partition that costs at most as much: rows moved to other groups, and exchanged between groups.

    ``effort`` bounds how often a row that might move is compared with a group.
    """
    width, moved = len(problem.limits.caps), 1
    while effort > 0 and moved:
        number, moved = len(partition.starts), 0
        if problem.axes.by_size or number > LARGEST_NUMBER:
            break
        if number * width <= LARGEST_COUNTS:
            groups = partition.groups
            moved, saved, tried = move_rows(
                problem.points, problem.sensitive_codes, groups, number, problem.axes, problem.rules, width, effort
            )
            partition, effort = Partition.of(groups, partition.cost - saved), effort - tried
        partition = exchange_rows(problem, partition)
    return partition


def exchange_rows(problem: Problem, partition: Partition) -> Partition:
    """Return a partition into groups with the same counts that costs at most as much."""
    rows, cost = partition.rows.copy(), partition.cost
    ends = np.append(partition.starts[1:], len(rows))
    for _ in range(ROUNDS):
        exchanged, saved = exchange(problem.points, problem.sensitive_codes, rows, partition.starts, ends, problem.axes)
        cost -= saved
        if not exchanged:
            break
    return Partition(rows, partition.starts, cost)
