"""The top-down partitioner: all rows start as one group, cut in two as long as both halves keep the promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.costs import Axes
from discreet.kernels.cuts.growth import Work, grow, grow_ahead, workspace
from discreet.kernels.cuts.terms import Limits, Recipe
from discreet.kernels.judging import CAPS, SIZE, SLACK, Rules
from discreet.principles.joint import unshared
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.processors import threads
from discreet.progress import Progress, no_progress
from discreet.table.combinations import distinct

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to partition: points on axes, a sensitive value each, and the rules that every group must keep."""

    points: NDArray[np.int32]
    sensitive_codes: NDArray[np.int32]
    axes: Axes
    rules: Rules
    limits: Limits
    sets: tuple[int, ...] = ()
    """Axes whose values are published as sets; the search treats a set as the span of its codes, which costs more."""

    def take(self, rows: NDArray[np.int64]) -> Problem:
        """Return the same problem for some of the rows."""
        return replace(self, points=self.points[rows], sensitive_codes=self.sensitive_codes[rows])

    def published_cost(self, partition: Partition) -> float:
        """Return the cost of a partition as it will be published, where a set costs by the values it contains."""
        cost, sizes = partition.cost, np.diff(np.append(partition.starts, len(partition.rows)))
        for j in self.sets:
            codes, card = self.points[partition.rows, j].astype(np.int64), int(self.axes.cards[j])
            low, high = (end.reduceat(codes, partition.starts) for end in (np.minimum, np.maximum))
            cells = distinct(np.repeat(np.arange(len(sizes)), sizes) * card + codes)
            held = np.bincount(cells // card, minlength=len(sizes))
            saved = (high - low + 1 - held) / max(1, card - 1)
            cost -= float(self.axes.weights[j] * (sizes * saved).sum())
        return cost


@dataclass(frozen=True, eq=False)
class Partition:
    """Rows in groups: ``rows`` lists them group by group, ``starts`` where each group begins."""

    rows: NDArray[np.int32]
    starts: NDArray[np.int64]
    cost: float
    """The loss summed over the rows."""

    @classmethod
    def of(cls, groups: NDArray[np.int32], cost: float) -> Partition:
        """Return the partition with these groups."""
        rows = np.argsort(groups, kind="stable").astype(np.int32)
        return cls(rows, np.flatnonzero(np.diff(groups[rows], prepend=-1)), cost)

    @property
    def groups(self) -> NDArray[np.int32]:
        """The group of every row."""
        sizes = np.diff(np.append(self.starts, len(self.rows)))
        result = np.empty(len(self.rows), np.int32)
        result[self.rows] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        return result


def limits_of(principle: Principle, prior: Prior, rules: Rules) -> Limits:
    """Return the linear part of a promise, which repaired and bucketed cuts rely on."""
    m = len(prior.counts)
    caps = principle.caps(prior)
    floors = principle.floors(prior)
    return Limits(
        np.ones(m) if caps is None else np.minimum(caps, 1.0),
        np.zeros(m) if floors is None else floors,
        np.arange(m, dtype=np.int32),
        principle.buckets(prior),
        _smallest_group(rules),
    )


def _smallest_group(rules: Rules, patience: int = 5000) -> int:
    """Return a size below which no group can keep the rules, derived from minimum sizes and caps."""
    least = 1
    for kind, parameters, bounds, nodes in zip(rules.kinds, rules.parameters, rules.bounds, rules.nodes, strict=True):
        if kind == SIZE:
            least = max(least, int(np.ceil(parameters[0] - SLACK)))
        elif kind == CAPS and nodes[0] < 0:
            size = least
            while size < patience and np.floor(bounds * size + SLACK).sum() < size:
                size += 1
            least = size
    return least


def partition(problem: Problem, recipe: Recipe, *, progress: Progress = no_progress) -> Partition:
    """Cut all rows by one recipe, on all processors."""

    def finish(task: _Task) -> float:
        return task.grow(recipe, task.end - task.start)[0]

    return _run(
        problem, recipe, finish, stop=max(1000, len(problem.sensitive_codes) // (4 * threads())), progress=progress
    )


def partition_ahead(problem: Problem, recipe: Recipe, quick: Recipe, *, many: int, below: int) -> Partition:
    """Cut by one recipe, with look-ahead (see ``grow_ahead``) in groups of at most ``below`` rows."""

    def finish(task: _Task) -> float:
        works = task.workspace(recipe, many), task.workspace(quick)
        return float(grow_ahead(*task.arrays, task.start, task.end, *task.rest, recipe, quick, *works, task.first))

    return _run(problem, recipe, finish, stop=below)


def partition_groups(problem: Problem, groups: NDArray[np.int32], recipe: Recipe) -> NDArray[np.int32]:
    """Cut every group of a partition further by one recipe; return the group of every row."""
    whole = Partition.of(groups, 0.0)
    order, starts = whole.rows, whole.starts
    arrays = problem.points[order], problem.sensitive_codes[order], order
    first = np.zeros(len(order), np.bool_)
    largest = int(np.diff(np.append(starts, len(order))).max(initial=1))
    task = _Task(problem, arrays, first, 0, largest)
    space, rest = task.workspace(recipe), task.rest
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
        grow(*arrays, start, end, *rest, recipe, space, first, end - start)
    return Partition(order, np.flatnonzero(first), 0.0).groups


@dataclass(frozen=True, eq=False)
class _Task:
    """A run of rows that one thread works on, in arrays shared by all threads."""

    problem: Problem
    arrays: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
    first: NDArray[np.bool_]
    start: int
    end: int

    @property
    def rest(self) -> tuple[Axes, Rules, Limits]:
        return self.problem.axes, unshared(self.problem.rules), self.problem.limits

    def workspace(self, recipe: Recipe, many: int = 1) -> Work:
        d, m = self.arrays[0].shape[1], len(self.problem.limits.caps)
        card, joint = int(self.problem.axes.cards.max()), self.problem.rules.joint
        return workspace(self.end - self.start, d, m, card, recipe.positions, many, joint)

    def grow(self, recipe: Recipe, most: int) -> tuple[float, list[_Task]]:
        """Cut the run at most so often: what the groups cost that are done, and the runs that are not."""
        space = self.workspace(recipe)
        cost, left = grow(*self.arrays, self.start, self.end, *self.rest, recipe, space, self.first, most)
        ends = space.waiting[:left][::-1].tolist()
        starts = [self.start, *ends[:-1]]
        return cost, [replace(self, start=a, end=b) for a, b in zip(starts, ends, strict=False)]


def _run(
    problem: Problem, recipe: Recipe, finish: Callable[[_Task], float], *, stop: int, progress: Progress = no_progress
) -> Partition:
    """Cut groups of more than ``stop`` rows once and queue their halves; leave smaller ones to ``finish``.

    Tasks touch disjoint runs of rows, so the result does not depend on the scheduling of threads.
    """
    n = len(problem.sensitive_codes)
    arrays = problem.points.copy(), problem.sensitive_codes.copy(), np.arange(n, dtype=np.int32)
    first = np.zeros(n, np.bool_)

    def work(task: _Task) -> tuple[float, list[_Task]]:
        return task.grow(recipe, 1) if task.end - task.start > stop else (finish(task), [])

    cost, done = 0.0, 0
    for task, added, halves in spread(work, [_Task(problem, arrays, first, 0, n)]):
        cost += added
        if not halves:
            done += task.end - task.start
            progress("cutting", done / n)
    return Partition(arrays[2], np.flatnonzero(first), cost)


def spread(work: Callable[[T], tuple[float, list[T]]], tasks: Iterable[T]) -> Iterator[tuple[T, float, list[T]]]:
    """Do tasks on all processors, and those that they leave; yield each of them with its cost and what it left."""
    with ThreadPoolExecutor(threads()) as pool:
        running = {pool.submit(work, task): task for task in tasks}
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(future)
                cost, left = future.result()
                running.update({pool.submit(work, more): more for more in left})
                yield task, cost, left


def fast_recipe(families: int) -> Recipe:
    """Return the recipe of ``effort=fast``: in large groups plain cuts as long as there are any, below all families.

    Positions, caution and the size from which plain cuts come first were tuned on Adult and on a census of 300,000
    rows; no single choice is best everywhere, which is why ``effort=thorough`` exists.
    """
    return Recipe(families, 7, 1, 0.3, 10_000, False)
