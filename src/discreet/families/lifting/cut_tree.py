"""Trees of plain cuts: their nodes, everyone's leaf, and the node that every row is published under."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.families.lifting.kernels.balance import scales_of
from discreet.families.lifting.kernels.growth import LeafTerms, LiftRecipe, Persons, grow
from discreet.families.lifting.kernels.survey import survey_of
from discreet.kernels.costs import Axes
from discreet.processors import threads
from discreet.progress import Progress, no_progress
from discreet.schemes.cuts.top_down import spread

Node = tuple[int, int, int, NDArray[np.float64]]
"""A node to be cut: its persons from here to there, its number, and what is expected above it (see ``grow``)."""
FAST = LiftRecipe(31, 1.0, 1.0, False)
"""Chosen on Adult and on a census of 10,000 rows; no recipe is best everywhere, which is what the others are for."""
RECIPES = [
    FAST,
    *(
        LiftRecipe(31, weight, fading, False)
        for weight, fading in ((0.5, 1.0), (2.0, 1.0), (2.0, 2.0), (4.0, 3.0), (8.0, 3.0))
    ),
    *(LiftRecipe(15, weight, weight, False) for weight in (1.0, 2.0)),
]
FINER, LEVELS, SMALL = 4, 3, 500
"""How many times smaller the nodes are for which recipes are compared anew, how often, and up to how many persons they
are not."""


@dataclass(frozen=True, eq=False)
class LiftedTree:
    """Persons in trees, and the node that each one's row is published under."""

    parents: NDArray[np.int64]
    """Per node: the node above, -1 for a root."""
    leaf_of: NDArray[np.int64]
    """Per row: the leaf of its person."""
    node_of: NDArray[np.int64]
    """Per row: the node that it is published under, its person's leaf or one above."""
    cost: float
    """The loss summed over the rows."""


@dataclass(frozen=True, eq=False)
class Nursery:
    """Persons to be put into trees: points on axes, a sensitive value each, and what every leaf must keep."""

    points: NDArray[np.int32]
    sensitive_codes: NDArray[np.int32]
    axes: Axes
    terms: LeafTerms

    def tree(
        self,
        recipes: Sequence[LiftRecipe],
        order: NDArray[np.int64],
        groups: NDArray[np.int32] | None = None,
        progress: Progress = no_progress,
    ) -> LiftedTree:
        """A tree of all persons, or one for each group; which rows of a value are lifted depends on the random order.

        Of several recipes the cheapest is taken: for the table, then for each node of at most a quarter of its persons,
        then of a sixteenth, and so on. A cut changes nothing outside its node, so each is chosen by itself, and the
        tree is never worse than by any one recipe.
        """
        n = len(self.sensitive_codes)
        if groups is None:
            starts = np.zeros(1, np.int64)
        else:
            order = order[np.argsort(groups[order], kind="stable")]
            starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
        persons = in_order(self.points, self.sensitive_codes, order)
        nothing = np.zeros(len(self.terms.caps))
        ends = np.append(starts[1:], n).tolist()
        nodes: list[Node] = [(start, end, 2 * start, nothing) for start, end in zip(starts.tolist(), ends, strict=True)]
        if len(recipes) == 1:
            cost, _ = self._grow(persons, nodes, recipes[0], 0, progress)
            return _numbered(persons, cost)
        trial = in_order(self.points, self.sensitive_codes, order)
        cost = 0.0
        if groups is None:
            tried = []
            for recipe in recipes:
                _restore(trial, persons, 0, n)
                tried.append(self._grow(trial, nodes, recipe, 0, progress)[0])
            cost, nodes = self._grow(persons, nodes, recipes[int(np.argmin(tried))], n // FINER, progress)
        with ThreadPoolExecutor(threads()) as pool:
            improve = partial(self._improve, persons, trial, recipes, max(SMALL, n // FINER**LEVELS))
            return _numbered(persons, cost + sum(pool.map(improve, nodes)))

    def _improve(
        self, persons: Persons, trial: Persons, recipes: Sequence[LiftRecipe], small: int, node: Node
    ) -> float:
        """Grow a node by the recipe that is cheapest for it, and within it, unless it is small, nodes of at most a
        quarter of its persons by theirs; returns the cost."""
        start, end = node[:2]
        tried = []
        for recipe in recipes:
            _restore(trial, persons, start, end)
            tried.append(self.grow_here(trial, [node], recipe, 0, end - start)[0])
        finer = (end - start) // FINER if end - start > small else 0
        cost, left = self.grow_here(persons, [node], recipes[int(np.argmin(tried))], finer, end - start)
        return cost + sum(self._improve(persons, trial, recipes, small, child) for child in left)

    def _grow(
        self, persons: Persons, nodes: list[Node], recipe: LiftRecipe, smallest: int, progress: Progress
    ) -> tuple[float, list[Node]]:
        """Grow nodes on all processors; returns the cost, and the nodes of at most ``smallest`` persons.

        They touch disjoint runs of rows, so the result does not depend on which thread takes which, or when.
        """
        n = len(persons.sensitive_codes)
        largest = max(1000, n // (4 * threads()), smallest)
        cost, small, done = 0.0, list[Node](), 0

        def work(lot: list[Node]) -> tuple[float, list[list[Node]]]:
            added, left = self.grow_here(persons, lot, recipe, smallest, largest)
            small.extend(node for node in left if node[1] - node[0] <= smallest)
            return added, list(_lots([node for node in left if node[1] - node[0] > smallest], largest))

        for lot, added, lots in spread(work, _lots(nodes, largest)):
            cost += added
            done += _size(lot) - sum(map(_size, lots))
            progress("lifting", done / n)
        return cost, small

    def grow_here(
        self, persons: Persons, nodes: list[Node], recipe: LiftRecipe, smallest: int, largest: int
    ) -> tuple[float, list[Node]]:
        """The same in this thread; nodes of more than ``largest`` persons are cut once and returned too."""
        size = max(end - start for start, end, *_ in nodes)
        slots = min(len(self.terms.caps), size) + 1
        in_sets = int(self.axes.cards[self.terms.sets].max(initial=0))
        shape = int(self.axes.cards.max()), recipe.positions, int(self.axes.levels.max()), in_sets
        survey, scales = survey_of(size, persons.points.shape[1], slots, *shape), scales_of(slots)
        cost, left = 0.0, []
        for node in nodes:
            added, more = grow(persons, *node, smallest, largest, self.axes, self.terms, recipe, survey, scales)
            cost += added
            left += more
        return cost, left


def in_order(points: NDArray[np.int32], sensitive_codes: NDArray[np.int32], order: NDArray[np.int64]) -> Persons:
    """Return the persons in an order, none of them in a tree yet."""
    n = len(order)
    nowhere = np.full((2, n), -1, np.int32)
    parents = np.full(2 * n, -1, np.int32)
    return Persons(points[order], sensitive_codes[order], order.astype(np.int32), nowhere[0], nowhere[1], parents)


def _restore(trial: Persons, persons: Persons, start: int, end: int) -> None:
    """Forget what was tried on some of the persons."""
    for mine, theirs in zip(trial[:5], persons[:5], strict=True):
        mine[start:end] = theirs[start:end]


def _lots(nodes: Sequence[Node], size: int) -> Iterator[list[Node]]:
    """Nodes in lots of about this many persons."""
    lot: list[Node] = []
    persons = 0
    for node in nodes:
        lot.append(node)
        persons += node[1] - node[0]
        if persons >= size:
            yield lot
            lot, persons = [], 0
    if lot:
        yield lot


def _size(nodes: Sequence[Node]) -> int:
    return sum(end - start for start, end, *_ in nodes)


def _numbered(persons: Persons, cost: float) -> LiftedTree:
    """The tree with its nodes numbered one after the other, and rows in the order of the input."""
    used = persons.parents >= 0
    used[persons.leaves] = True
    used[persons.parents[persons.parents >= 0]] = True
    number = np.cumsum(used) - 1
    parents = persons.parents[used].astype(np.int64)
    leaf_of, node_of = np.empty((2, len(persons.rows)), np.int64)
    leaf_of[persons.rows] = number[persons.leaves]
    node_of[persons.rows] = number[np.where(persons.homes < 0, persons.leaves, persons.homes)]
    return LiftedTree(np.where(parents < 0, -1, number[parents]), leaf_of, node_of, cost)
