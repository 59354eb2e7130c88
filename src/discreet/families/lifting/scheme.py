"""Lifting: rows that protect each other although their boxes differ, in a tree of plain cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.families.lifting.cut_tree import FAST, RECIPES, LiftedTree, Nursery
from discreet.families.lifting.exact import NestedExactRelease
from discreet.families.lifting.kernels.growth import LeafTerms, LiftRecipe
from discreet.families.lifting.release import NestedRelease
from discreet.families.lifting.tree import Tree, expected
from discreet.options import Interval
from discreet.principles.bounds import bounded_shares
from discreet.principles.counts import Counts
from discreet.principles.per_attribute import stated
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress, no_progress
from discreet.randomness import permutation
from discreet.releases.generalization import Values
from discreet.schemes.axes import axes_of
from discreet.schemes.cuts.scheme import Cuts
from discreet.schemes.described import Beside, DescribedScheme, Exactness, Snap
from discreet.schemes.grouping import GroupingTask, confirm, published_rows
from discreet.schemes.refusal import Refusal, hides_nobody, not_only_caps
from discreet.schemes.scheme import feasible
from discreet.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Lifting(DescribedScheme):
    """Persons are in a tree of plain cuts, and every row is published under its person's leaf or an ancestor of it.

    A node is cut at a value of one quasi-identifier, or by setting one category, or the categories under one node of
    their hierarchy, apart from the others. Of sensitive values that a child has too many of, some rows are *lifted*:
    they stay with the node, under its larger box, and with them companions from the other child, so that nobody knows
    from which child a row was lifted. All others go down. So a few rows of rare values no longer hold up a whole
    region, as they do where all rows of a group have one box.

    Why the promise is kept: it bounds the share of each value, here what is believed of a person by someone who knows
    the tree and the person's leaf (`discreet.families.lifting.tree`). A person of a child has a row there or, with
    the chance that one of the child's persons leaves it, one of the node or above; all who leave either child are
    alike. So what is believed in a child is (local rows + share of those who leave x (rows lifted + what is expected
    above)) / persons, which is what the kernel bounds when it makes a cut, for every value. It depends on numbers
    only, and a cut changes them for nobody outside its node. The root, where nothing is lifted, keeps the promise as
    one group, or the scheme refuses. Before anything is published, the beliefs at all leaves are computed anew from
    the tree by the functions that audits use, and withheld rows are judged as one group. Promises about the nodes of
    one level of a hierarchy are kept in the same way: what is believed in a node is the sum over its values. Which rows
    of a value or node are lifted is chance. How many is not: the cuts look at sensitive values, so an adversary who
    knows the algorithm may learn something from the tree; that is not bounded by the promise. ``lift="blind"`` tells
    less: it lifts all rows of a value or none, but for a sample of all that makes the shares of the children equal.

    With ``descriptions="exact"`` every row is published with its quasi-identifiers and its person's leaf, and the
    sensitive values are counted per node. The adversary of the promise knows everybody's quasi-identifiers and leaf
    already, and the rows under each node have the same values. So the beliefs, which depend on these numbers only, are
    the same.

    >>> from discreet.datasets import patients
    >>> from discreet.principles import BetaLikeness
    >>> release = Lifting(random_state=1).publish(patients(), BetaLikeness(2))
    >>> release, bool((release.parents >= 0).any())
    (<nested release of 48 rows, 0 withheld: beta-likeness(beta=2)>, True)
    """

    name: ClassVar[str] = "lifting"
    format: ClassVar[type[NestedRelease]] = NestedRelease
    exact_format: ClassVar[str] = "nested-exact"

    lift: Literal["companions", "blind"] = "companions"
    """Which rows are lifted: the fewest that will do, or (``blind``) all of a value or none."""
    effort: Literal["fast", "thorough"] = "fast"
    """``fast``: one pass. ``thorough``: the time of about forty, trying several recipes at large nodes."""
    loss: Literal["ail", "gcp"] = "ail"
    """What is minimised: ``ail`` or ``gcp``. Of sets ``gcp`` counts the values and not the rows that have them, which
    count queries with many conditions do not forgive; so the search goes by both there, and ``ail`` is the default."""
    base: Literal["none", "cuts"] = "none"
    """``cuts``: also cut with scheme ``cuts`` of this effort and lift within its groups, and take what loses less: it
    is never more than what ``cuts`` loses. Small l are better served so; then leaves may overlap."""
    values: Values = "set"
    """How quasi-identifiers are published: ``set``, ``label`` or ``interval``. Sets of categories, like intervals of
    numbers, are disjoint where cuts divided them. Labels of a hierarchy may overlap: then an adversary who ignores the
    tree and only matches descriptions may believe more than is promised, and the audit says how much."""
    descriptions: Exactness = "boxes"
    marginals: Beside = "auto"
    cells: Annotated[int, Interval(1)] = 10
    snap: Snap = False
    """``true``: intervals end on a public grid. Leaves then overlap, so that who only matches descriptions may believe
    more than is promised, and with reason; so it is not the default here."""

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Promises that bound the belief in each value, or node of one level, from above and say nothing else.

        l-diversity of the kind distinct follows from the kind frequency, which can be promised instead.
        """
        if not_only_caps(self.name, principle, prior) or not all(part.about_values for part in principle.parts):
            return Refusal(
                f"scheme {self.name!r} needs promises that bound the share of every value, or of every node at one "
                f"level of a hierarchy, from above and say nothing else, such as beta-likeness or l-diversity of the "
                f"kind frequency",
                principle,
            )
        return hides_nobody(self.name, principle) or self.broken_exactly(principle)

    def release_of(
        self, table: Table, principle: Principle, progress: Progress | None = None
    ) -> NestedRelease | NestedExactRelease:
        """A nested release of the table that keeps the promise at every leaf."""
        prior = feasible(self, table, principle)
        principle = stated(principle, table)
        rng, seeded = self.draws()
        rows = published_rows(table, principle, prior, rng)
        leaf_of, node_of = np.full((2, table.rows), -1, np.int64)
        parents = np.zeros(0, np.int64)
        if len(rows):
            tree = self._tree(GroupingTask(table, principle, prior, rows, rng, progress or no_progress), seeded)
            parents, leaf_of[rows], node_of[rows] = tree.parents, tree.leaf_of, tree.node_of
        confirm_tree(parents, leaf_of, node_of, table.sensitive_codes, principle, prior)
        nodes, statement = (parents, leaf_of, node_of), self.statement(principle)
        if self.exact:
            return NestedExactRelease.from_tree(table, *nodes, **statement)
        return self.format.from_tree(table, *nodes, values=self.values, **statement)

    @property
    def recipes(self) -> list[LiftRecipe]:
        """How cuts are chosen: of several recipes the cheapest is taken."""
        recipes = RECIPES if self.effort == "thorough" else [FAST]
        return [recipe._replace(blind=self.lift == "blind") for recipe in recipes]

    def nursery(self, table: Table, principle: Principle, prior: Prior, rows: NDArray[np.int64]) -> Nursery:
        """The persons of these rows, to be put into a tree whose leaves keep the promise."""
        bounds = bounded_shares(principle.rules(prior))
        assert bounds is not None, "a promise without caps is refused"
        # sets are counted by the kernel, and need their hierarchies too
        points, axes = axes_of(table, "ail" if self.values == "set" else self.loss, self.values)
        categories = [column.kind == "categorical" for column in table.quasi]
        by_label = [self.values == "label" and column.hierarchy is not None for column in table.quasi]
        by_set = np.array(categories) & (self.loss == "gcp") & (self.values == "set")
        terms = LeafTerms(bounds.caps, np.array(categories) | np.array(by_label), by_set)
        return Nursery(points[rows], bounds.nodes[table.sensitive_codes[rows]], axes, terms)

    def _tree(self, task: GroupingTask, seeded: np.random.Generator | None) -> LiftedTree:
        """The cheapest tree of the persons."""
        nursery, recipes = self.nursery(task.table, task.principle, task.prior, task.rows), self.recipes
        tree = nursery.tree(recipes, permutation(len(task.rows), seeded), progress=task.progress)
        if self.base == "none":
            return tree
        cuts = Cuts(effort=self.effort, loss=self.loss, values=self.values, random_state=self.random_state)
        groups = cuts.groups(task)
        within = nursery.tree(recipes, permutation(len(task.rows), seeded), groups, task.progress)
        return min(within, tree, key=lambda tree: tree.cost)


def confirm_tree(
    parents: NDArray[np.int64],
    leaf_of: NDArray[np.int64],
    node_of: NDArray[np.int64],
    sensitive_codes: NDArray[np.int32],
    principle: Principle,
    prior: Prior,
) -> None:
    """Compute once more what is believed at every leaf: a fault in a scheme must not become a broken promise."""
    number, width = len(parents), len(prior.counts)
    confirm(
        np.where(leaf_of < 0, -1, 0).astype(np.int32), sensitive_codes, principle, prior
    )  # withheld rows, and all others
    kept = leaf_of >= 0
    counts = Counts.of_rows(node_of[kept], sensitive_codes[kept], number, width)
    tree = Tree.of_rows(parents, leaf_of, node_of)
    if tree.faults(range(number)) or not principle.holds(expected(tree, counts), prior).all():
        raise AssertionError(f"the tree breaks {principle}; nothing was published")
