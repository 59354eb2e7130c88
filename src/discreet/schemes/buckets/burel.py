"""BUREL (Cao and Karras, PVLDB 2012): bucketise the sensitive values, then reallocate rows from buckets to groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.cuts.terms import PLAIN, Recipe
from discreet.principles.bounds import bounded_shares
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress
from discreet.releases.generalized.describe import Values
from discreet.schemes.axes import axes_of
from discreet.schemes.buckets.choice import Room, choose_buckets
from discreet.schemes.buckets.drawing import Retrieval, draw_groups
from discreet.schemes.cuts.top_down import Problem, limits_of, partition_groups
from discreet.schemes.grouping import GroupingScheme
from discreet.schemes.keepers import way_out
from discreet.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Burel(GroupingScheme):
    """Rows are put into buckets of sensitive values; groups draw from every bucket in proportion to its size.

    How many rows a group draws from each bucket depends on the sensitive values alone; which rows these are depends on
    the quasi-identifiers alone.

    Why the promise is kept: the rows that a group draws from a bucket are, as a share of the group, at most the
    smallest cap of the bucket's values (``split_evenly``). Even if all of these rows had the same value, it would not
    exceed its cap. The root, which draws everything, satisfies this by the choice of buckets (``fewest_buckets``).
    A promise about the nodes of a level of a hierarchy is kept in the same way, with buckets of nodes: all rows of a
    node are in one bucket, so a group draws at most as many of them as the bucket's smallest cap allows. Where shares
    have floors (``negative``), every value or node is a bucket of its own. A group's counts are then what it draws, and
    a bucket is halved only if these keep caps and floors on both sides; the root keeps them, or is refused. With
    ``refine`` every group is cut further while both halves keep the promise on their actual counts, as in the authors'
    program but not in the paper; contents then no longer depend on quasi-identifiers alone, so it is off by default.

    The paper takes the fewest buckets (``room=any``), which may be filled to their caps and then make few groups. The
    default is ours: the buckets with the smallest expected loss, estimated from the sensitive values alone
    (``choose_buckets``). The paper has caps on values only; floors and levels are ours.

    >>> from discreet.datasets import patients
    >>> from discreet.principles import BetaLikeness
    >>> Burel(random_state=1).publish(patients(), BetaLikeness(2)).withheld
    0
    """

    name: ClassVar[str] = "burel"
    leads: ClassVar[bool] = True

    retrieval: Retrieval = "hilbert"
    """How a group finds rows near each other: along a Hilbert curve, or by exact distance (slow on large tables)."""
    room: Room = "enough"
    """How full buckets may be: ``enough``, so that the expected loss is small, is ours; the paper's is ``any``."""
    refine: bool = False
    """Whether groups are cut further while both halves keep the promise."""
    values: Values = "interval"
    """How quasi-identifiers are published: ``interval``, ``label`` or ``set``."""
    random_state: int | None = None
    """A seed, for experiments only; by default, randomness comes from the operating system."""

    def refusal(self, principle: Principle, prior: Prior) -> str | None:
        """Accept only promises that bound shares of values, or of nodes of one level, with or without k-anonymity."""
        refused = super().refusal(principle, prior)
        if refused is not None or bounded_shares(principle.rules(prior)) is not None:
            return refused
        return (
            f"scheme {self.name!r} needs a promise that bounds the share of every value, or of every node at one level "
            f"of a hierarchy, such as beta-likeness or l-diversity; {way_out(principle)}"
        )

    def groups(
        self,
        table: Table,
        principle: Principle,
        prior: Prior,
        rows: NDArray[np.int64],
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> NDArray[np.int32]:
        """Return the group of each of the given rows."""
        rules = principle.rules(prior)
        shares = bounded_shares(rules)
        assert shares is not None, "a promise about anything else is refused"
        bounds = limits_of(principle, prior, rules)
        node = shares.nodes[table.classes]
        counts, held = (np.bincount(some, minlength=len(shares.caps)) for some in (node, node[rows]))
        bucket_of, wanted = choose_buckets(counts, shares.caps, held, bounds.smallest, self.room, shares.floors)
        buckets = bucket_of[node[rows]]
        tell = progress or (lambda stage, share: None)
        tell("drawing groups", 0.0)
        groups, _ = draw_groups(table.quasi, rows, buckets, wanted, self.retrieval, rng)
        tell("drawing groups", 1.0)
        if self.refine:
            tell("cutting groups", 0.0)
            points, axes = axes_of(table, "ail", self.values)
            problem = Problem(points, table.classes, axes, rules, bounds).take(rows)
            groups = partition_groups(problem, groups, Recipe(PLAIN, 1, 1, 0.0, 0, True))
            tell("cutting groups", 1.0)
        return groups
