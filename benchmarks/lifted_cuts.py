"""Single cuts of lifting under attack: a node as the adversary knows it, cut again in other worlds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.reruns import Posterior, rejected
from discreet.families.lifting.cut_tree import LiftedTree, Nursery, in_order
from discreet.families.lifting.kernels.growth import LiftRecipe
from discreet.families.lifting.tree import Tree, believed
from discreet.principles.counts import Counts


@dataclass(frozen=True, eq=False)
class Node:
    """A node that was cut in two: its persons, and what is expected of those whose rows are above it.

    The adversary knows the tree, the rows of either child and those lifted to the node, and everything else; not which
    person has which row, nor who of the node has a row above. A row above is one more value, numbered after all others.
    """

    nursery: Nursery
    """The persons of the node, with their own values."""
    child: NDArray[np.int64]
    """Per person: 0 or 1."""
    here: NDArray[np.bool_]
    """Per person: whether the row was lifted to the node."""
    away: NDArray[np.bool_]
    """Per person: whether the row is above the node."""
    mix: NDArray[np.float64]
    """The shares of values expected among rows above."""
    everyone: int
    """How many persons the whole tree has."""

    @property
    def held(self) -> NDArray[np.int32]:
        """Per person: the value, or that the row is above."""
        return np.where(self.away, len(self.mix), self.nursery.sensitive_codes).astype(np.int32)

    def posterior(self, recipe: LiftRecipe, number: int, rng: np.random.Generator) -> Posterior | None:
        """What is believed of each person by whoever cuts the node again in so many worlds; None if no cut agrees."""
        width, size = len(self.mix), len(self.child)
        above = self.mix * self.away.sum()
        weight = recipe.weight * (np.log(size) / np.log(self.everyone)) ** recipe.fading
        alike = recipe._replace(weight=weight, fading=0.0)  # as in the tree, though the node now stands alone

        def produce(world: NDArray[np.int32]) -> object:
            again = replace(self.nursery, sensitive_codes=np.minimum(world, width - 1))
            return self._seen(world, *cut(again, world == width, above, alike, rng.permutation(size)))

        posterior = rejected(
            self._worlds(number, rng), produce, self._seen(self.held, self.child, self.here), width + 1
        )
        if posterior is None:
            return None
        chances = posterior.chances[:, :width] + posterior.chances[:, width:] * self.mix
        errors = np.hypot(posterior.errors[:, :width], posterior.errors[:, width:] * self.mix)
        return replace(posterior, chances=chances, errors=errors)

    def by_child(self, posterior: Posterior) -> Posterior:
        """The same about a person of either child, whoever it is; errors as if those of all its persons were one."""
        chances, errors = (
            np.array([of[self.child == side].mean(axis=0) for side in (0, 1)])
            for of in (posterior.chances, posterior.errors)
        )
        return replace(posterior, chances=chances, errors=errors)

    def _worlds(self, number: int, rng: np.random.Generator) -> Iterator[NDArray[np.int32]]:
        """Worlds in which the rows of either child belong to its persons, and all other rows to the other persons."""
        held, leaving = self.held, self.here | self.away
        for _ in range(number):
            world, rest = np.empty_like(held), []
            for side in (0, 1):
                persons = rng.permutation(np.flatnonzero(self.child == side))
                own = held[(self.child == side) & ~leaving]
                world[persons[: len(own)]] = own
                rest.append(persons[len(own) :])
            world[np.concatenate(rest)] = rng.permutation(held[leaving])
            yield world

    def _seen(self, world: NDArray[np.int32], child: NDArray[np.int64], lifted: NDArray[np.bool_]) -> object:
        """What is published of a cut: who is in which child, the rows of each, and the lifted ones."""
        kept = ~lifted & (world < len(self.mix))
        sides = [
            (tuple(np.flatnonzero(child == side)), tuple(sorted(world[kept & (child == side)]))) for side in (0, 1)
        ]
        return frozenset(sides), tuple(sorted(world[lifted]))


def cut(
    nursery: Nursery, away: NDArray[np.bool_], above: NDArray[np.float64], recipe: LiftRecipe, order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Cut all persons once, as a node below others: per person the child, 0 or 1, and whether the row is lifted.

    The rows of persons who are ``away`` are above the node, where ``above`` of them are expected to have each value. -1
    is everybody's child if no cut pays.
    """
    n = len(nursery.sensitive_codes)
    persons = in_order(nursery.points, nursery.sensitive_codes, order)
    persons.homes[:] = np.where(away[order], n, -1)
    _, children = nursery.grow_here(persons, [(0, n, 0, above)], recipe, 0, 0)
    child = np.full(n, -1)
    for side, (start, end, *_) in enumerate(children):
        child[persons.rows[start:end]] = side
    lifted = np.zeros(n, np.bool_)
    lifted[persons.rows] = persons.homes == 0
    return child, lifted


def small_nodes(
    grown: LiftedTree, nursery: Nursery, smallest: int, largest: int, rng: np.random.Generator
) -> list[Node]:
    """The nodes of so many persons that were cut, in random order."""
    tree = Tree.of_rows(grown.parents, grown.leaf_of, grown.node_of)
    width = len(nursery.terms.caps)
    counts = Counts.of_rows(grown.node_of, nursery.sensitive_codes, len(grown.parents), width)
    beliefs = believed(tree, counts.matrix())
    inside = tree.persons.copy()
    for level in reversed(tree.levels[1:]):
        np.add.at(inside, tree.parents[level], inside[level])
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(grown.parents.tolist()):
        children.setdefault(parent, []).append(node)
    found = []
    for node in rng.permutation(np.flatnonzero((inside >= smallest) & (inside <= largest))).tolist():
        if node not in children:
            continue
        sides = [_below(child, children) for child in children[node]]
        members = np.flatnonzero(np.isin(grown.leaf_of, np.concatenate(sides)))
        homes = grown.node_of[members]
        above = grown.parents[node]
        found.append(
            Node(
                replace(nursery, points=nursery.points[members], sensitive_codes=nursery.sensitive_codes[members]),
                np.isin(grown.leaf_of[members], sides[1]).astype(np.int64),
                homes == node,
                ~np.isin(homes, [node, *np.concatenate(sides)]),
                beliefs[above] if above >= 0 else np.zeros(width),
                len(grown.leaf_of),
            )
        )
    return found


def _below(node: int, children: dict[int, list[int]]) -> list[int]:
    return [node, *(one for child in children.get(node, ()) for one in _below(child, children))]
