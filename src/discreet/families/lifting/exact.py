"""A nested release with exact quasi-identifiers: the leaf of every row's person, and the values under every node.

``table`` contains the quasi-identifiers of every person and the person's leaf; ``sensitive`` counts the sensitive
values of the rows under every node, and ``nodes`` is the tree. The same tree with boxes says the same to an adversary
who knows everybody's quasi-identifiers and leaf: which values are under which node. So the beliefs are the same
(`discreet.families.lifting.tree`), and so is the promise. Presence is certain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.families.lifting.nodes import BY_LEAVES, BY_TREE, CHOSEN_TREE, Nested, Nodes
from discreet.families.lifting.tree import drawn_leaves
from discreet.principles.counts import Counts
from discreet.releases.anatomy.groups import Groups
from discreet.releases.anatomy.release import EXACT, AnatomyRelease
from discreet.releases.assumptions import FOR_RECIPIENTS, ONE_RELEASE
from discreet.releases.columns import ExactColumn
from discreet.releases.counted import Counted, check_countable
from discreet.releases.drawn import dealt
from discreet.releases.folder import Home
from discreet.releases.partition import PublishedRows
from discreet.releases.statement import Stated, Statement
from discreet.table.query import Query
from discreet.table.table import Table

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NestedExactRelease(Nested, AnatomyRelease):
    """The published release, as made by a scheme (``from_tree``) or as found in a folder (``load``).

    ``group_of`` is the leaf of each published row's person; ``counts`` are of the rows under each node.
    """

    format: ClassVar[str] = "nested-exact"
    assumptions: ClassVar[tuple[str, ...]] = (
        EXACT,
        FOR_RECIPIENTS,
        "Persons are arranged in a tree: each belongs to one node, the person's leaf, and to all its ancestors. A "
        "sensitive value is counted in its person's leaf or in an ancestor of the leaf; whose it is is not published.",
        "The order of the rows and the numbers of the nodes carry no information.",
        BY_LEAVES,
        BY_TREE,
        CHOSEN_TREE,
        ONE_RELEASE,
    )
    described_exactly: ClassVar[tuple[str, ...]] = ()
    counts_own_rows: ClassVar[bool] = False

    @classmethod
    def from_tree(
        cls,
        table: Table,
        parents: ArrayLike,
        leaf_of: ArrayLike,
        node_of: ArrayLike,
        **stated: Unpack[Stated],
    ) -> Self:
        """Publish rows with the leaves of their persons, and their values under nodes; see `NestedRelease.from_tree`.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> table = patients()
        >>> halves = 1 + (table.quasi[0].codes > 20)
        >>> nodes = np.where(np.arange(table.rows) % 3 == 0, 0, halves)  # every third row stays at the root
        >>> how = {"promise": dc.LDiversity(2), "scheme": "halves"}
        >>> NestedExactRelease.from_tree(table, [-1, 0, 0], halves, nodes, **how)
        <nested-exact release of 48 rows, 0 withheld: l-diversity(l=2)>
        """
        nodes = Nodes.of(table, cls.format, parents, leaf_of, node_of)
        check_countable(table, "a nested-exact release")
        rows, number = PublishedRows(table, nodes.leaf_of), len(nodes.parents)
        values, codes, _ = rows.sensitive_columns[0]
        counts = Counts.of_rows(nodes.node_of[rows.rows], codes, number, len(values))
        release = cls(
            manifest=rows.manifest(cls, Statement(**stated), groups=number),
            attributes=rows.attributes,
            exact=rows.exact,
            ids=np.arange(number),
            group_of=rows.group_of,
            others=rows.others,
            trace=nodes.leaf_of,
            counted=(Counted(values, counts),),
        )
        return replace(release, parents=nodes.parents, persons=nodes.persons).in_order()

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> Self:
        """Return the release in a folder whose manifest has been read."""
        release = super().load(home, manifest)
        differ = np.flatnonzero(release.persons != release.sizes) if release.sound else np.zeros(0, np.intp)
        if not len(differ):
            return release
        leaf = int(differ[0])
        fault = (
            f"Node {release.ids[leaf]} has {release.sizes[leaf]:,} persons in the table of rows, and "
            f"{release.persons[leaf]:,} in that of nodes."
        )
        return replace(release, sound=False, faults=(*release.faults, fault))

    @cached_property
    def expected_values(self) -> tuple[Counted, ...]:
        """What is believed of the persons of each leaf, by the tree."""
        return (Counted(self.values, self.expected),)

    def dealt_columns(self, group_of: NDArray[Any], random: np.random.Generator) -> tuple[ExactColumn, ...]:
        """Sensitive values for the persons of leaves, drawn from all ways to give every person a row."""
        counts = self.counts
        leaf_of = drawn_leaves(self.tree, np.repeat(counts.groups, counts.amounts), random)
        codes = np.repeat(counts.values, counts.amounts)
        of_leaves = Counts.of_rows(leaf_of, codes, self.groups, counts.width)
        notation = self.sensitive_attribute.notation
        return (ExactColumn(self.values, dealt(of_leaves, group_of, random), notation),)

    @cached_property
    def _in_groups(self) -> Groups:
        return RowsOfNodes(self)


class RowsOfNodes(Groups):
    """The rows under each node, which belong to persons who arrive there (`discreet.families.lifting.tree`)."""

    release: NestedExactRelease

    def bounds(self, query: Query) -> tuple[float, float]:
        """Return how many rows satisfy a query for certain, and how many may."""
        kept, having = self.asked(query)
        asked = self.rows(self.satisfying(kept))
        if not having:
            return float(asked.sum()), float(asked.sum())
        return float(asked.sum()) - self._most(asked, self.sizes - having[0]), self._most(asked, having[0])

    def _most(self, asked: Numbers, having: Numbers) -> float:
        """Return how many of the persons asked for may have the values asked for.

        ``asked`` are these persons per leaf, and ``having`` the rows with these values per node. From the leaves up,
        they get as many of these rows as there are, and the other persons as many of the other rows: a person who
        goes on without a row may get one of these values above, at best.
        """
        tree, total = self.release.tree, 0.0
        waiting = asked.copy()
        for level in reversed(tree.levels):
            mine, rows, wanted = waiting[level], tree.rows[level], having[level]
            others = tree.arriving[level] - mine
            given = np.minimum(mine, wanted)
            total += float(given.sum())
            others = others - (wanted - given)
            left = mine - given - np.maximum(0.0, rows - wanted - others)
            above = tree.parents[level]
            np.add.at(waiting, above[above >= 0], left[above >= 0])
        return total
