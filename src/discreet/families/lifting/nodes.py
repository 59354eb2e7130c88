"""The tree of a nested release, published beside its rows: the parent of every node, and how many persons have it as
their leaf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.families.lifting.tree import Tree, check_tree, expected, numbered_in_order, tidied
from discreet.principles.counts import Counts
from discreet.releases.canonical import Lines, by_number, content_ranks, renumbered
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.grouped import GroupedRowsRelease
from discreet.releases.partition import GROUP, PARENT, check_one_row_each, check_partition
from discreet.releases.reading import read_lines, whole_numbers
from discreet.table.combinations import looked_up
from discreet.table.table import Table

NODES = "nodes"
PERSONS = "persons"
AT_FAULT = "the tree of the release is faulty, so nothing can be computed from it; publish it again"
BY_LEAVES = (
    "The promise is kept against the distribution of the sensitive attribute in the whole original, withheld rows "
    "included, by the belief about the persons of every leaf, and by the withheld rows taken as one group."
)
BY_TREE = (
    "The belief is that of an adversary who knows the whole tree and a person's leaf, and takes all ways to give "
    "every person a row as equally likely, as long as every row of a node belongs to someone in that node. The "
    "promise covers this adversary, and one who is in doubt about the leaf."
)
CHOSEN_TREE = (
    "The promise bounds what the tree and its rows say; it does not bound what the choice of this tree, and of the "
    "rows that stand high in it, may tell an adversary who knows the algorithm."
)


class Nodes(NamedTuple):
    """The nodes of a tree that have rows, and where the rows of a table and their persons are."""

    parents: NDArray[np.int32]
    """The parent of each node, -1 for a root."""
    leaf_of: NDArray[np.int32]
    """Per row of the table: the leaf of its person; -1 if it is withheld."""
    node_of: NDArray[np.int32]
    """Per row of the table: the node that it is published under; -1 if it is withheld."""

    @classmethod
    def of(cls, table: Table, format: str, parents: ArrayLike, leaf_of: ArrayLike, node_of: ArrayLike) -> Nodes:
        """Return the nodes that have rows (``tidied`` proves that leaving out the others changes no belief).

        Raises an error for what is no tree of persons with one row each.
        """
        given = [np.asarray(numbers) for numbers in (parents, leaf_of, node_of)]
        check_one_row_each(table, format)
        check_tree(table.rows, *given)
        check_partition(table, given[2])
        return cls(*(numbers.astype(np.int32) for numbers in tidied(*(each.astype(np.int64) for each in given))))

    @property
    def persons(self) -> NDArray[np.int64]:
        """How many persons have each node as their leaf."""
        return np.bincount(self.leaf_of[self.leaf_of >= 0], minlength=len(self.parents)).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Nested(GroupedRowsRelease):
    """What a format of rows in groups has whose groups are the nodes of a tree; it comes before that format's class.

    ``counts`` are of the rows under each node. The private ``trace`` contains the leaf of every input row's person, not
    the node of the row.
    """

    about_persons: ClassVar[bool] = False
    contents: ClassVar[Mapping[str, str]] = {
        NODES: "the tree: the node above each, and of how many persons it is the leaf; a group is a node"
    }
    more_tables: ClassVar[tuple[str, ...]] = (NODES,)

    parents: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """Per node: the index of its parent, -1 for a root."""
    persons: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Per node: how many persons have it as their leaf."""
    sound: bool = True
    """Whether rows can have been published under this tree; if not, it justifies no beliefs."""

    @property
    def _contents(self) -> list[NDArray[Any] | Lines]:
        return [*cast(Any, super())._contents, self.persons]

    def _numbers(self) -> NDArray[np.int64]:
        return numbered_in_order(self.tree, content_ranks(self.groups, self._contents))

    def _rearranged(self, numbers: NDArray[np.int64], order: NDArray[np.int64] | None) -> Self:
        release: Self = cast(Any, super())._rearranged(numbers, order)
        parents = by_number(numbers, renumbered(numbers, self.parents))
        return replace(release, parents=parents, persons=by_number(numbers, self.persons))

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> Self:
        """Return the release in a folder whose manifest has been read, with the tree from its table of nodes."""
        release: Self = cast(Any, super()).load(home, manifest)
        if len(release.sensitive) != 1:
            raise DiscreetError(f"the manifest of a {cls.format} release must list one sensitive attribute; {DAMAGED}")
        parents, persons, faults = read_nodes(release.second_table(home, NODES), release.ids, release.counts.sizes)
        return replace(release, parents=parents, persons=persons, sound=not faults, faults=(*release.faults, *faults))

    def tables(self, numbers: bool = True) -> dict[str, pa.Table]:
        """Return the tables of the groups, and that of nodes in the order of their numbers."""
        roots = self.parents < 0
        above = pa.array(np.where(roots, 0, self.ids[self.parents]), mask=roots)
        nodes = pa.table({GROUP: self.ids, PARENT: above, PERSONS: self.persons})
        return {**cast(Any, super()).tables(numbers), NODES: nodes}

    @property
    def grouped(self) -> None:
        """Nothing: a row may be above its person's leaf."""
        return

    @cached_property
    def tree(self) -> Tree:
        """The nodes with their persons and rows; raises an error if the files do not describe a tree."""
        if not self.sound:
            raise DiscreetError(AT_FAULT)
        return Tree(self.parents, self.persons, self.counts.sizes)

    @cached_property
    def expected(self) -> Counts:
        """Per node: the expected sensitive values of the persons with this leaf."""
        return expected(self.tree, self.counts)


def read_nodes(
    path: Path, ids: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], Sequence[str]]:
    """Return the parents and persons of nodes, and what is at fault with them; ``rows`` are under each node."""
    names = [GROUP, PARENT, PERSONS]
    lines = read_lines(path, names)
    lines[1] = [text or "-1" for text in lines[1]]  # the empty parent of a root
    groups, parents, persons = (whole_numbers(*both, path.name) for both in zip(lines, names, strict=True))
    if len(groups) != len(ids) or bool((groups != ids).any()):
        fault = f"{path.name} must list every node that has rows in the table once, in order."
        return np.full(len(ids), -1, np.int32), np.zeros(len(ids), np.int64), [fault]
    roots, faults = parents == -1, []
    places, known = looked_up(groups, parents)
    strange = np.flatnonzero(~roots & ~known)
    if len(strange):
        faults.append(f"Node {groups[strange[0]]} has the parent {parents[strange[0]]}, which is no node.")
    if len(negative := np.flatnonzero(persons < 0)):
        faults.append(f"Node {groups[negative[0]]} has a negative number of persons.")
    above = np.where(roots, -1, places).astype(np.int32)
    if not faults:
        faults += Tree(above, persons, rows).faults(groups.tolist())
    return above, persons, faults
