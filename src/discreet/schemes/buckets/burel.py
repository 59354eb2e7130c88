"""BUREL (Cao and Karras, PVLDB 2012): bucketise the sensitive values, then reallocate rows from buckets to groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.cuts.terms import PLAIN, Recipe
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress
from discreet.releases.generalized.describe import Values
from discreet.schemes.axes import axes_of
from discreet.schemes.buckets.choice import Room, choose_buckets
from discreet.schemes.buckets.drawing import Retrieval, draw_groups
from discreet.schemes.cuts.top_down import Problem, limits_of, partition_groups
from discreet.schemes.grouping import GroupingScheme
from discreet.schemes.keepers import not_only_caps
from discreet.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Burel(GroupingScheme):
    """Rows are put into buckets of sensitive values; groups draw from every bucket in proportion to its size.

    How many rows a group draws from each bucket depends on the sensitive values alone; which rows these are depends on
    the quasi-identifiers alone.

    Why the promise is kept: the rows that a group draws from a bucket are, as a share of the group, at most the
    smallest cap of the bucket's values (``split_evenly``). Even if all of these rows had the same value, it would not
    exceed its cap. The root, which draws everything, satisfies this by the choice of buckets (``fewest_buckets``). With
    ``refine`` every group is cut further while both halves keep the promise on their actual counts, as in the authors'
    program but not in the paper; contents then no longer depend on quasi-identifiers alone, so it is off by default.

    The paper takes the fewest buckets, which may be filled to their caps and then make few groups. By default the
    buckets with the smallest expected loss are taken, estimated from the sensitive values alone (``choose_buckets``).

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
    """How full buckets may be: so that the expected loss is small, or ``any``, as in the paper."""
    refine: bool = False
    """Whether groups are cut further while both halves keep the promise."""
    values: Values = "interval"
    """How quasi-identifiers are published: ``interval``, ``label`` or ``set``."""
    random_state: int | None = None
    """A seed, for experiments only; by default, randomness comes from the operating system."""

    @property
    def options(self) -> dict[str, Any]:
        """The parameters, as written to the manifest."""
        return {"retrieval": self.retrieval, "room": self.room, "refine": self.refine, "values": self.values}

    def refusal(self, principle: Principle, prior: Prior) -> str | None:
        """Accept only promises that bound every value from above, with or without k-anonymity."""
        return not_only_caps(self.name, principle, prior) or super().refusal(principle, prior)

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
        caps = principle.caps(prior)
        assert caps is not None, "a promise without caps is refused"
        rules = principle.rules(prior)
        bounds = limits_of(principle, prior, rules)
        held = np.bincount(table.classes[rows], minlength=len(caps))
        bucket_of, wanted = choose_buckets(prior.counts, caps, held, bounds.smallest, self.room)
        buckets = bucket_of[table.classes[rows]]
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
