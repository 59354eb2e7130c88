"""A nested release: persons in a tree of sets, and every row under its person's leaf or under an ancestor of it.

Each node with rows is a group of a generalized release: its rows are under one description that fits all persons in the
node, and a row may belong to any of them. A second table publishes the tree: the parent of every node, and how many
persons have it as their leaf. So anybody can compute the beliefs (see `releases.nested.tree`), and rows of rare
values may be high in the tree while the others go down to small leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.families.lifting.nodes import AT_FAULT, BY_LEAVES, BY_TREE, CHOSEN_TREE, Nested, Nodes
from discreet.families.lifting.tree import believed, drawn_leaves
from discreet.options import checked
from discreet.releases.assumptions import ONE_RELEASE, TRUE_VALUES
from discreet.releases.box_estimate import Cells
from discreet.releases.descriptions import Descriptions, Texts
from discreet.releases.generalization import Values, generalize
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.partition import PublishedRows
from discreet.releases.statement import Stated, Statement
from discreet.table.combinations import distinct
from discreet.table.table import Column, Table

ASSUMPTIONS = (
    TRUE_VALUES,
    "Persons are arranged in a tree: each belongs to one node, the person's leaf, and to all its ancestors. The "
    "description of a node admits everyone in it. A row is published under its person's leaf or under an ancestor of "
    "the leaf; which row is whose is not published.",
    "The order of the rows and the numbers of the nodes carry no information.",
    BY_LEAVES,
    BY_TREE,
    "The promise does not cover an adversary who ignores the tree and only matches descriptions, where descriptions "
    "admit persons who are not in their nodes. An adversary who takes all rows whose descriptions admit a person as "
    "equally likely to be the person's is wrong: a row of a large node is less likely to be the person's than a row "
    "of a small one.",
    CHOSEN_TREE,
    ONE_RELEASE,
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NestedRelease(Nested, GeneralizedRelease):
    """The published release, as made by a scheme (``from_tree``) or as found in a folder (``load``).

    ``counts``, ``sizes`` and ``descriptions`` are about nodes and the rows under them. Every person of every leaf that
    admits a point is equally likely to be the one at that point. The private ``trace`` contains the leaf of every input
    row's person, not the node of the row.
    """

    format: ClassVar[str] = "nested"
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS

    @classmethod
    def from_tree(
        cls,
        table: Table,
        parents: ArrayLike,
        leaf_of: ArrayLike,
        node_of: ArrayLike,
        *,
        values: Values = "interval",
        **stated: Unpack[Stated],
    ) -> Self:
        """Publish rows under the nodes of a tree of persons with one row each.

        ``parents`` is the parent of every node, -1 for a root, in any order. ``leaf_of[row]`` is the leaf of the person
        of an input row (a node that may have children, too), and ``node_of[row]`` the node under which the row is
        published: that leaf or an ancestor; both are -1 for a withheld row. Nodes without rows are removed (``tidied``
        proves that this changes no belief).

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> table = patients()
        >>> halves = 1 + (table.quasi[0].codes > 20)
        >>> nodes = np.where(np.arange(table.rows) % 3 == 0, 0, halves)  # every third row stays at the root
        >>> dc.NestedRelease.from_tree(table, [-1, 0, 0], halves, nodes, promise=dc.LDiversity(2), scheme="halves")
        <nested release of 48 rows, 0 withheld: l-diversity(l=2)>
        """
        checked("values", values, Values)
        nodes = Nodes.of(table, cls.format, parents, leaf_of, node_of)
        number = len(nodes.parents)

        def described(column: Column) -> Texts:
            within, codes = _everyone(column, nodes.parents, nodes.leaf_of)
            return generalize(replace(column, codes=codes), within, number, values)

        rows = PublishedRows(table, nodes.node_of, labels=values == "label")
        release = cls._of_rows(rows, described, Statement(**stated))
        return replace(release, parents=nodes.parents, persons=nodes.persons, trace=nodes.leaf_of).in_order()

    @classmethod
    def _of_groups(cls, table: Table, groups: NDArray[np.int32], values: Values, statement: Statement) -> Self:
        """Return a release of a partition: a tree of roots only, with every row under its person's root."""
        rows = PublishedRows.of_groups(table, groups)
        return cls.from_tree(
            table, np.full(rows.groups, -1), rows.places, rows.places, values=values, **vars(statement)
        )

    @cached_property
    def leaves(self) -> Descriptions:
        """The leaves as cells: whom they admit, and how many persons they have.

        None if the files do not describe a tree.
        """
        chosen = np.flatnonzero(self.persons) if self.sound else np.zeros(0, np.intp)
        return self.descriptions.only(chosen, self.persons[chosen])

    @cached_property
    def cells(self) -> Cells:
        """The nodes as estimates use them: persons under their leaves, with their expected values."""
        texts = np.array([of_node for _, of_node in self.texts], np.int32).reshape(len(self.texts), self.groups)
        return Cells(texts, self.group_of, self.expected, lambda rows: believed(self.tree, rows) * self.persons)

    def drawn_groups(self, random: np.random.Generator) -> NDArray[np.integer]:
        """The leaf of the person of each row, drawn from all ways to give every person a row."""
        return drawn_leaves(self.tree, self.group_of, random)

    def presence(self, points: Mapping[str, ArrayLike], *, combined: bool = False) -> NDArray[np.float64]:
        """Return the belief that a person is in the table at all, from the leaves."""
        if not self.sound:
            raise DiscreetError(AT_FAULT)
        return super().presence(points, combined=combined)


def _everyone(
    column: Column, parents: NDArray[np.int32], leaf_of: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return distinct pairs of a node and a code of the column that somebody in the node has."""
    card = max(1, len(column.values))
    kept = leaf_of >= 0
    pairs = distinct(leaf_of[kept].astype(np.int64) * card + column.codes[kept])
    pairs_above = [pairs]
    while len(pairs):
        above = parents[pairs // card].astype(np.int64)
        pairs = distinct((above * card + pairs % card)[above >= 0])
        pairs_above.append(pairs)
    everyone = distinct(np.concatenate(pairs_above))
    return (everyone // card).astype(np.int32), (everyone % card).astype(np.int32)
