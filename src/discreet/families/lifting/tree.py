"""A tree of sets of persons, with the rows published under its nodes.

Every person is in one leaf, and thereby in all its ancestors; an inner node may be somebody's leaf, too. There may be
several roots. A row is under its person's leaf or one of the ancestors, so a row of a node may belong to anybody in the
node.

*The beliefs* are those of an adversary who knows the tree, and a person's leaf in it. All assignments of one row to
every person in which a row of a node belongs to someone in that node are equally likely. In each of them the rows of a
node go to persons who arrive there from below without a row, and these persons are exchangeable: nothing distinguishes
them any more. So, with arriving_N persons at a node of rows_N rows, a person who
arrives gets a row of value v there with probability rows_N(v) / arriving_N, and goes on to the parent with probability
1 - rows_N / arriving_N. From the leaf up, starting with reach = 1:

    belief(v) += reach x rows_N(v) / arriving_N;   reach x= 1 - rows_N / arriving_N

This depends on counts only, so the belief of an adversary who is in doubt about a person's leaf is a mixture of such
beliefs, and what bounds each of them bounds the mixture. If all rows are under leaves, it is the share of v in the
group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.principles.counts import Counts
from discreet.releases.canonical import Lines, content_ranks


@dataclass(frozen=True, eq=False)
class Tree:
    """The nodes, identified by their indices.

    >>> tree = Tree(np.array([-1, 0, 0]), persons=np.array([0, 2, 2]), rows=np.array([2, 1, 1]))
    >>> [level.tolist() for level in tree.levels], tree.arriving.tolist()
    ([[0], [1, 2]], [2, 2, 2])
    """

    parents: NDArray[np.int32]
    """The parent of each node, -1 for a root."""
    persons: NDArray[np.int64]
    """How many persons have each node as their leaf."""
    rows: NDArray[np.int64]
    """How many rows are published under each node."""

    @classmethod
    def of_rows(cls, parents: NDArray[Any], leaf_of: NDArray[Any], node_of: NDArray[Any]) -> Tree:
        """Return the tree of rows with these leaves of their persons and these nodes; -1 is withheld."""
        persons, rows = (np.bincount(places[places >= 0], minlength=len(parents)) for places in (leaf_of, node_of))
        return cls(parents.astype(np.int32), persons, rows)

    @cached_property
    def levels(self) -> list[NDArray[np.intp]]:
        """The nodes connected to a root, by their distance from it; the roots come first."""
        return levels_of(self.parents)

    @cached_property
    def depths(self) -> NDArray[np.int64]:
        """The distance of each node from its root."""
        depths = np.zeros(len(self.parents), np.int64)
        for depth, level in enumerate(self.levels):
            depths[level] = depth
        return depths

    @cached_property
    def arriving(self) -> NDArray[np.int64]:
        """How many persons arrive at each node without a row: those with this leaf, and those left by its children.

        Of the persons who arrive at a node as many get one of its rows as it has, regardless of who they are.
        """
        arriving = self.persons.astype(np.int64)
        for level in reversed(self.levels[1:]):
            np.add.at(arriving, self.parents[level], (arriving - self.rows)[level])
        return arriving

    def faults(self, names: Sequence[Any]) -> list[str]:
        """Return why this tree cannot have been published, in sentences; ``names`` are the names of the nodes."""
        lost = len(self.parents) - sum(map(len, self.levels))
        if lost:
            inside = np.ones(len(self.parents), np.bool_)
            inside[np.concatenate([np.zeros(0, np.intp), *self.levels])] = False
            some = names[int(inside.argmax())]
            return [f"The parents of {lost:,} nodes form a circle, for example at node {some}."]
        everyone, rows = int(self.persons.sum()), int(self.rows.sum())
        if everyone != rows:
            return [f"The nodes have {everyone:,} persons together, but there are {rows:,} rows."]
        short = np.flatnonzero(self.arriving < self.rows)
        # if there are none, nobody is left over at a root either, because there are as many persons as rows
        fault = "has more rows than persons in it without a row further down"
        return [f"Node {names[int(short[0])]} {fault}."] if len(short) else []


def levels_of(parents: NDArray[Any]) -> list[NDArray[np.intp]]:
    """Return the nodes by their distance from a root; nodes in a circle, which have no root, are left out.

    >>> [level.tolist() for level in levels_of(np.array([1, -1, 0, 4, 3]))]
    [[1], [0], [2]]
    """
    order = np.argsort(parents, kind="stable")
    starts = np.searchsorted(parents[order], np.arange(-1, len(parents) + 1))
    level = order[starts[0] : starts[1]]
    levels = []
    while len(level):
        levels.append(level)
        first, after = starts[level + 1], starts[level + 2]
        numbers = after - first
        within = np.arange(int(numbers.sum())) - np.repeat(np.cumsum(numbers) - numbers, numbers)
        level = order[np.repeat(first, numbers) + within]
    return levels


def numbered_in_order(tree: Tree, content: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of the nodes in canonical order, given the ranks of what each publishes by itself.

    Nodes are numbered from the roots down, one level after the other: within a level by the numbers of their parents,
    and the children of one parent, or the roots, by what their subtrees publish: a node's own content, and then the
    sorted list of its children's subtrees. Children of one parent with equal subtrees are interchangeable: exchanging
    them, with all that is below them, changes no file. So it does not matter that they are numbered as they stand.

    >>> tree = Tree(np.array([-1, 0, 0, 2]), np.array([0, 1, 1, 1]), np.array([1, 1, 1, 1]))
    >>> [numbered_in_order(tree, np.array([0, 3, second, 1])).tolist() for second in (3, 2)]
    [[0, 1, 2, 3], [0, 2, 1, 3]]
    """
    subtrees, numbers = np.zeros(len(content), np.int64), np.empty(len(content), np.int64)
    place = np.empty(len(content), np.int64)
    below = np.zeros(0, np.intp)
    for level in reversed(tree.levels):
        place[level] = np.arange(len(level))
        children = Lines(place[tree.parents[below]], subtrees[below])
        subtrees[level] = content_ranks(len(level), [content[level], children])
        below = level
    start = 0
    for level in tree.levels:
        parents = tree.parents[level]
        above = np.where(parents < 0, -1, numbers[parents])
        numbers[level[np.lexsort((subtrees[level], above))]] = np.arange(start, start + len(level))
        start += len(level)
    return numbers


def tidied(
    parents: NDArray[np.int64], leaf_of: NDArray[np.int64], node_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Remove nodes without rows and number the others without gaps; return parents, leaves, and nodes of rows.

    The children of a removed node move to its nearest ancestor with rows, or become roots, and persons whose leaf it
    was get that ancestor as their leaf.

    The beliefs stay the same. If a node N has no rows, nobody who arrives there gets one: all of them go on to its
    parent P. So the same number arrives at P as when the children of N, and the persons whose leaf N was, come to P
    directly, and the same number as before at every other node. A person's belief is a sum over the nodes of the path,
    in which N adds reach x 0 / arriving and leaves reach unchanged; with the same numbers arriving at all other nodes
    of the path, the sum without N is the same. Everybody has such an ancestor: the node of the person's own row.

    >>> [part.tolist() for part in tidied(np.array([-1, 0, 1, 1]), np.array([2, 3, 3]), np.array([2, 0, 3]))]
    [[-1, 0, 0], [1, 2, 2], [1, 0, 2]]
    """
    number = len(parents)
    used = np.bincount(node_of[node_of >= 0], minlength=number) > 0
    nearest = np.where(used, np.arange(number), -1)
    for level in levels_of(parents)[1:]:
        bare = level[~used[level]]
        nearest[bare] = nearest[parents[bare]]
    # one more entry, for the -1 of a root's parent and of a withheld row
    place = np.append(np.cumsum(used) - 1, -1)
    nearest = np.append(nearest, -1)
    return place[nearest[parents[used]]], place[nearest[leaf_of]], place[node_of]


def check_tree(rows: int, parents: NDArray[Any], leaf_of: NDArray[Any], node_of: NDArray[Any]) -> None:
    """Raise an error if this is not a forest, or a row is published under a node that its person is not in."""
    number = len(parents)
    if parents.ndim != 1 or any(numbers.shape != (rows,) for numbers in (leaf_of, node_of)):
        raise DiscreetError(
            f"a tree needs one parent for each node, and a leaf and a node for each of the {rows:,} rows"
        )
    if any(numbers.dtype.kind not in "iu" for numbers in (parents, leaf_of, node_of)):
        raise DiscreetError("parents, leaves and nodes must be whole numbers")
    for what, numbers in (("parents", parents), ("leaf_of", leaf_of), ("node_of", node_of)):
        if bool(((numbers < -1) | (numbers >= number)).any()):
            raise DiscreetError(f"{what} names a node outside -1 to {number - 1:,}, and there are {number:,} nodes")
    if sum(map(len, levels_of(parents))) < number:
        raise DiscreetError("the parents of some nodes form a circle; a tree needs roots, whose parent is -1")
    if bool(((leaf_of < 0) != (node_of < 0)).any()):
        raise DiscreetError("a withheld row has -1 both as its leaf and as its node, and some row has only one of them")
    above, sought = np.append(parents, -1), leaf_of.copy()
    left = np.flatnonzero(sought != node_of)
    while len(left):
        sought[left] = above[sought[left]]
        lost = left[sought[left] < 0]
        if len(lost):
            row = int(lost[0])
            raise DiscreetError(
                f"row {row:,} is to be published under node {node_of[row]}, which is neither the leaf of its person, "
                f"{leaf_of[row]}, nor one of its ancestors"
            )
        left = left[sought[left] != node_of[left]]


def believed(tree: Tree, counted: NDArray[Any]) -> NDArray[np.float64]:
    """Return, per node, the probability that the row of a person with this leaf is one of the rows that ``own`` counts.

    A second axis of ``own`` distinguishes several kinds of rows. Works from the roots down: persons who go on from a
    node have the belief of its parent.

    >>> tree = Tree(np.array([-1, 0, 0]), persons=np.array([0, 2, 2]), rows=np.array([2, 1, 1]))
    >>> believed(tree, np.array([1, 1, 0])).tolist()  # a rare value: one row of it above, one under the first leaf
    [0.5, 0.75, 0.25]
    """
    wide = (-1,) + (1,) * (counted.ndim - 1)
    arriving = np.maximum(1, tree.arriving)
    result = np.asarray(counted / arriving.reshape(wide), np.float64)
    on = (tree.arriving - tree.rows) / arriving
    for level in tree.levels[1:]:
        result[level] += on[level].reshape(wide) * result[tree.parents[level]]
    return result


def drawn_leaves(tree: Tree, node_of: NDArray[Any], random: np.random.Generator) -> NDArray[np.int64]:
    """Return, per row, the leaf of its person in one of all ways to give every person a row, each equally likely.

    From the leaves up, the rows of a node go to random ones of the persons who arrive there.

    >>> tree = Tree(np.array([-1, 0, 0]), persons=np.array([0, 2, 2]), rows=np.array([2, 1, 1]))
    >>> drawn_leaves(tree, np.array([0, 1, 2, 0]), np.random.default_rng(1)).tolist()
    [1, 1, 2, 2]
    """
    rows, starts = np.argsort(node_of, kind="stable"), np.cumsum(tree.rows) - tree.rows
    leaves = np.repeat(np.arange(len(tree.persons)), tree.persons)  # of the persons who have no row yet
    at, found = leaves, np.empty(len(node_of), np.int64)
    for depth in reversed(range(len(tree.levels))):
        here = np.flatnonzero(tree.depths[at] == depth)
        here = here[np.lexsort((random.random(len(here)), at[here]))]
        place = np.arange(len(here)) - np.searchsorted(at[here], at[here])
        gets = place < tree.rows[at[here]]
        found[rows[starts[at[here[gets]]] + place[gets]]] = leaves[here[gets]]
        left = np.ones(len(at), np.bool_)
        left[here[gets]] = False
        at = np.where(tree.depths[at] == depth, tree.parents[at], at)[left]
        leaves = leaves[left]
    return found


def expected(tree: Tree, counts: Counts) -> Counts:
    """Return, per node, the expected sensitive values of the persons with this leaf; ``counts`` are those of its rows.

    A promise bounds their shares among these persons, which are the beliefs about each of them.
    """
    amounts = believed(tree, counts.matrix())
    amounts *= tree.persons[:, None]
    nodes, values = np.nonzero(amounts)
    starts = np.searchsorted(nodes, np.arange(len(tree.persons) + 1))
    return Counts(starts, values.astype(np.int32), amounts[nodes, values], counts.width, tree.persons)
