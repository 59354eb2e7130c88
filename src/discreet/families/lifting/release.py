"""A nested release: persons in a tree of sets, and every row under its person's leaf or under an ancestor of it.

Each node with rows is a group of a generalized release: its rows are under one description that fits all persons in the
node, and a row may belong to any of them. A second table publishes the tree: the parent of every node, and how many
persons have it as their leaf. So anybody can compute the beliefs (see `releases.nested.tree`), and rows of rare
values may be high in the tree while the others go down to small leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.families.lifting.tree import Tree, believed, check_tree, drawn_leaves, expected, numbered_in_order, tidied
from discreet.options import checked
from discreet.principles.counts import Counts
from discreet.releases.assumptions import ONE_RELEASE, TRUE_VALUES
from discreet.releases.box_estimate import Cells
from discreet.releases.canonical import Lines, by_number, content_ranks, renumbered
from discreet.releases.descriptions import Descriptions, Texts
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.generalization import Values, generalize
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.partition import GROUP, PARENT, PublishedRows, check_one_row_each, check_partition
from discreet.releases.reading import read_lines, whole_numbers
from discreet.releases.statement import Stated, Statement
from discreet.table.combinations import distinct, looked_up
from discreet.table.table import Column, Table

NODES = "nodes"
PERSONS = "persons"
AT_FAULT = "the tree of the release is faulty, so nothing can be computed from it; publish it again"
ASSUMPTIONS = (
    TRUE_VALUES,
    "Persons are arranged in a tree: each belongs to one node, the person's leaf, and to all its ancestors. The "
    "description of a node admits everyone in it. A row is published under its person's leaf or under an ancestor of "
    "the leaf; which row is whose is not published.",
    "The order of the rows and the numbers of the nodes carry no information.",
    "The promise is kept against the distribution of the sensitive attribute in the whole original, withheld rows "
    "included, by the belief about the persons of every leaf, and by the withheld rows taken as one group.",
    "The belief is that of an adversary who knows the whole tree and a person's leaf, and takes all ways to give "
    "every person a row as equally likely, as long as every row of a node belongs to someone in that node. The "
    "promise covers this adversary, and one who is in doubt about the leaf.",
    "The promise does not cover an adversary who ignores the tree and only matches descriptions, where descriptions "
    "admit persons who are not in their nodes. An adversary who takes all rows whose descriptions admit a person as "
    "equally likely to be the person's is wrong: a row of a large node is less likely to be the person's than a row "
    "of a small one.",
    "The promise bounds what the tree and its rows say; it does not bound what the choice of this tree, and of the "
    "rows that stand high in it, may tell an adversary who knows the algorithm.",
    ONE_RELEASE,
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NestedRelease(GeneralizedRelease):
    """The published release, as made by a scheme (``from_tree``) or as found in a folder (``load``).

    ``counts``, ``sizes`` and ``descriptions`` are about nodes and the rows under them. Every person of every leaf that
    admits a point is equally likely to be the one at that point. The private ``trace`` contains the leaf of every input
    row's person, not the node of the row.
    """

    format: ClassVar[str] = "nested"
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS
    about_persons: ClassVar[bool] = False
    more_tables: ClassVar[tuple[str, ...]] = (NODES,)

    parents: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """Per node: the index of its parent, -1 for a root."""
    persons: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Per node: how many persons have it as their leaf."""
    sound: bool = True
    """Whether rows can have been published under this tree; if not, it justifies no beliefs."""

    # -------------------------------------------------------------------------------------------------------- making

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
        above, leaves, nodes = (np.asarray(numbers) for numbers in (parents, leaf_of, node_of))
        check_one_row_each(table, cls.format)
        check_tree(table.rows, above, leaves, nodes)
        checked("values", values, Values)
        check_partition(table, nodes)
        tree = tidied(*(numbers.astype(np.int64) for numbers in (above, leaves, nodes)))
        above, leaves, nodes = (numbers.astype(np.int32) for numbers in tree)
        number = len(above)

        def described(column: Column) -> Texts:
            within, codes = _everyone(column, above, leaves)
            return generalize(replace(column, codes=codes), within, number, values)

        rows = PublishedRows(table, nodes, labels=values == "label")
        release = cls._of_rows(rows, described, Statement(**stated))
        persons = np.bincount(leaves[leaves >= 0], minlength=number).astype(np.int64)
        return replace(release, parents=above, persons=persons, trace=leaves).in_order()

    @property
    def _contents(self) -> list[NDArray[Any] | Lines]:
        return [*super()._contents, self.persons]

    def _numbers(self) -> NDArray[np.int64]:
        return numbered_in_order(self.tree, content_ranks(self.groups, self._contents))

    def _rearranged(self, numbers: NDArray[np.int64], order: NDArray[np.int64] | None) -> Self:
        parents = by_number(numbers, renumbered(numbers, self.parents))
        persons = by_number(numbers, self.persons)
        return replace(super()._rearranged(numbers, order), parents=parents, persons=persons)

    @classmethod
    def _of_groups(cls, table: Table, groups: NDArray[np.int32], values: Values, statement: Statement) -> Self:
        """Return a release of a partition: a tree of roots only, with every row under its person's root."""
        rows = PublishedRows.of_groups(table, groups)
        return cls.from_tree(
            table, np.full(rows.groups, -1), rows.places, rows.places, values=values, **vars(statement)
        )

    # ------------------------------------------------------------------------------------------------ saving, loading

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> Self:
        """Return the release in a folder whose manifest has been read, with the tree from its table of nodes."""
        release = super().load(home, manifest)
        if len(release.sensitive_columns) != 1:
            raise DiscreetError(f"the manifest of a nested release must list one sensitive attribute; {DAMAGED}")
        path = release.second_table(home, NODES)
        names = [GROUP, PARENT, PERSONS]
        lines = read_lines(path, names)
        lines[1] = [text or "-1" for text in lines[1]]  # the empty parent of a root
        groups, parents, persons = (whole_numbers(*both, path.name) for both in zip(lines, names, strict=True))
        if len(groups) != release.groups or bool((groups != release.ids).any()):
            fault = f"{path.name} must list every node that has rows in the table once, in order."
            empty = np.zeros(release.groups, np.int64)
            release = replace(release, parents=empty.astype(np.int32) - 1, persons=empty, sound=False)
            return replace(release, faults=(*release.faults, fault))
        roots, faults = parents == -1, []
        places, known = looked_up(groups, parents)
        strange = np.flatnonzero(~roots & ~known)
        if len(strange):
            faults.append(f"Node {groups[strange[0]]} has the parent {parents[strange[0]]}, which is no node.")
        if len(negative := np.flatnonzero(persons < 0)):
            faults.append(f"Node {groups[negative[0]]} has a negative number of persons.")
        above = np.where(roots, -1, places).astype(np.int32)
        if not faults:
            faults += Tree(above, persons, release.sizes).faults(groups.tolist())
        return replace(release, parents=above, persons=persons, sound=not faults, faults=(*release.faults, *faults))

    def tables(self, numbers: bool = True) -> dict[str, pa.Table]:
        """Return the table of rows, and the table of nodes in the order of their numbers."""
        roots = self.parents < 0
        above = pa.array(np.where(roots, 0, self.ids[self.parents]), mask=roots)
        return {**super().tables(numbers), NODES: pa.table({GROUP: self.ids, PARENT: above, PERSONS: self.persons})}

    # ------------------------------------------------------------------------------------------------------- counting

    @property
    def grouped(self) -> None:
        """Nothing: a row may be above its person's leaf."""
        return

    @cached_property
    def tree(self) -> Tree:
        """The nodes with their persons and rows; raises an error if the files do not describe a tree."""
        if not self.sound:
            raise DiscreetError(AT_FAULT)
        return Tree(self.parents, self.persons, self.sizes)

    @cached_property
    def leaves(self) -> Descriptions:
        """The leaves as cells: whom they admit, and how many persons they have.

        None if the files do not describe a tree.
        """
        chosen = np.flatnonzero(self.persons) if self.sound else np.zeros(0, np.intp)
        return self.descriptions.only(chosen, self.persons[chosen])

    @cached_property
    def expected(self) -> Counts:
        """Per node: the expected sensitive values of the persons with this leaf."""
        return expected(self.tree, self.counts)

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
