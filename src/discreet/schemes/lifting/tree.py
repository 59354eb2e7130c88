"""The tree of plain cuts: its nodes, everyone's leaf, and the node that every row is published under."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.costs import Axes
from discreet.kernels.lifting.balance import scales_of
from discreet.kernels.lifting.growth import grow
from discreet.kernels.lifting.survey import survey_of
from discreet.kernels.lifting.terms import Persons, Recipe, Terms
from discreet.schemes.cuts.top_down import Progress, threads


@dataclass(frozen=True, eq=False)
class Tree:
    """Persons in a tree of nodes, and the node that each one's row is published under."""

    parents: NDArray[np.int64]
    """Per node: the node above, -1 for a root."""
    leaf_of: NDArray[np.int64]
    """Per row: the leaf of its person."""
    node_of: NDArray[np.int64]
    """Per row: the node that it is published under, its person's leaf or one above."""


@dataclass(frozen=True, eq=False)
class Orchard:
    """Persons to be put into trees: points on axes, a sensitive value each, and what every leaf must keep."""

    points: NDArray[np.int32]
    classes: NDArray[np.int32]
    axes: Axes
    terms: Terms

    def grow(
        self,
        recipe: Recipe,
        order: NDArray[np.int64],
        groups: NDArray[np.int32] | None = None,
        progress: Progress | None = None,
    ) -> Tree:
        """One tree of all persons, or one for each group; which rows are lifted is decided by the random ``order``."""
        n = len(self.classes)
        if groups is not None:
            order = order[np.argsort(groups[order], kind="stable")]
        starts = np.flatnonzero(np.diff(groups[order], prepend=-1)) if groups is not None else np.zeros(1, np.int64)
        nobody = np.full((2, n), -1, np.int32)
        persons = Persons(
            self.points[order],
            self.classes[order],
            order.astype(np.int32),
            nobody[0],
            nobody[1],
            np.full(2 * n, -1, np.int32),
        )
        ends = np.append(starts[1:], n)
        nothing = np.zeros(len(self.terms.caps))
        waiting = [(int(a), int(b), 2 * int(a), nothing) for a, b in zip(starts, ends, strict=True)]
        self._run(persons, waiting, recipe, max(1000, n // (4 * threads())), progress)
        return _numbered(persons)

    def _run(
        self, persons: Persons, waiting: list[Any], recipe: Recipe, stop: int, progress: Progress | None
    ) -> None:
        """Grow all nodes on all processors: they touch disjoint runs of rows, so the result does not depend on which
        thread takes which, or when."""
        n, d = persons.points.shape
        shape = d, int(self.axes.cards.max()), recipe.positions, int(self.axes.levels.max())

        def work(lot: list[Any]) -> tuple[int, list[Any]]:
            size = max(end - start for start, end, _, _ in lot)
            slots = min(len(self.terms.caps), size) + 1
            space = survey_of(size, shape[0], slots, *shape[1:]), scales_of(slots)
            left: list[Any] = []
            for task in lot:
                left += grow(persons, *task, stop, self.axes, self.terms, recipe, *space)
            return sum(end - start for start, end, _, _ in lot) - sum(end - start for start, end, _, _ in left), left

        done = 0
        with ThreadPoolExecutor(threads()) as pool:
            running: set[Future[tuple[int, list[Any]]]] = {pool.submit(work, lot) for lot in _lots(waiting, stop)}
            while running:
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    settled, left = future.result()
                    done += settled
                    running |= {pool.submit(work, lot) for lot in _lots(left, stop)}
                if progress:
                    progress("lifting", done / n)


def _lots(tasks: Iterable[Any], stop: int) -> Iterable[list[Any]]:
    """Tasks in lots of about ``stop`` persons."""
    lot: list[Any] = []
    size = 0
    for task in tasks:
        lot.append(task)
        size += task[1] - task[0]
        if size >= stop:
            yield lot
            lot, size = [], 0
    if lot:
        yield lot


def _numbered(persons: Persons) -> Tree:
    """The tree with its nodes numbered one after the other, and rows in the order of the input."""
    used = persons.parents >= 0
    used[persons.parents[used]] = True
    used[persons.leaves] = True
    number = np.cumsum(used) - 1
    parents = persons.parents[used].astype(np.int64)
    leaf_of, node_of = np.empty((2, len(persons.rows)), np.int64)
    leaf_of[persons.rows] = number[persons.leaves]
    node_of[persons.rows] = number[np.where(persons.homes < 0, persons.leaves, persons.homes)]
    return Tree(np.where(parents < 0, -1, number[parents]), leaf_of, node_of)
