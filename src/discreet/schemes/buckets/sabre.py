"""SABRE (Cao, Karras, Kalnis and Tan, VLDB Journal 2011): bucketise by earth mover's distance, then redistribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.options import Interval
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.principles.t_closeness import TCloseness
from discreet.progress import Progress
from discreet.releases.generalized.describe import Values
from discreet.schemes.buckets.drawing import Retrieval, draw_groups
from discreet.schemes.buckets.emd_buckets import bucketise, split_closely
from discreet.schemes.grouping import GroupingScheme
from discreet.schemes.keepers import way_out
from discreet.schemes.uniting import Attribute, united
from discreet.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Sabre(GroupingScheme):
    """Rows are put into buckets of sensitive values; groups draw from every bucket nearly in proportion to its size.

    The budget t is spent twice. *Bucketisation* starts with one bucket of all sensitive values and splits where that
    lowers most the cost of the worst choice of rows from the buckets, until a ``share`` of t covers this cost.
    *Redistribution* halves the whole table, bucket by bucket, and the halves again, as long as the rest of t covers
    their deviation from proportion. How many rows a group draws from each bucket depends on the sensitive values alone;
    which rows these are depends on the quasi-identifiers alone.

    Why the promise is kept: let Q be the distribution of a group, P the whole table's, and R the distribution with the
    group's share of every bucket, distributed within each bucket as in the whole table. The distance from Q to P is at
    most that from Q to R plus that from R to P. The second is known from the numbers of rows drawn. The first is at
    most the sum, over buckets, of the group's share times the largest cost of turning a single value of the bucket into
    the bucket's own distribution, since any mixture of values costs at most as much as the worst one. A half that could
    cost more than t is not made. Besides, every group is judged by its actual counts: a group that breaks the promise,
    which may include more than t-closeness, is merged with its neighbour along the curve until the promise is kept; at
    the latest the whole table as one group keeps it.

    From the paper: the bound by the worst values of buckets, the search for buckets along the hierarchy, the binary
    tree of groups, retrieval along a Hilbert curve. Our own: buckets that are runs of ordered values, cut where that
    gains most; for the equal distance, frequent values separated one by one, which needs the fewest buckets; the second
    distance computed exactly instead of bounded; the odd rows of a halving dealt to the halves in turn; and that
    buckets may use half of t by default instead of all of it, which would leave groups little room to deviate from
    proportion.
    """

    name: ClassVar[str] = "sabre"
    leads: ClassVar[bool] = True

    share: Annotated[float, Interval(0, 1)] = 0.5
    """The share of t that the worst choice of rows from buckets may cost; 0.5 is ours. At 1, which is the paper's,
    there are the fewest buckets, and groups must be large to be close to proportion; at 0 every value is a bucket."""
    retrieval: Retrieval = "hilbert"
    """How a group finds rows near each other: along a Hilbert curve, or by exact distance (slow on large tables)."""
    values: Values = "interval"
    """How quasi-identifiers are published: ``interval``, ``label`` or ``set``."""
    random_state: int | None = None
    """A seed, for experiments only; by default, randomness comes from the operating system."""

    def refusal(self, principle: Principle, prior: Prior) -> str | None:
        """Accept exactly one t-closeness promise, with or without other monotone promises."""
        if len(principle.of(TCloseness)) == 1:
            return super().refusal(principle, prior)
        return f"scheme {self.name!r} keeps a single promise of t-closeness; {way_out(principle)}"

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
        closeness = principle.of(TCloseness)[0]
        classes = table.classes[rows]
        counts = np.bincount(classes, minlength=len(prior.counts))
        buckets = bucketise(prior, closeness.distance, closeness.t)
        if buckets.number > 1:  # with one bucket any single row is within t, and t need not be shared
            buckets = bucketise(prior, closeness.distance, closeness.t * self.share)
        sizes = np.bincount(buckets.of_value, weights=counts, minlength=buckets.number).astype(np.int64)
        wanted = split_closely(buckets, sizes, closeness.t)
        if progress:
            progress("drawing groups", 0.0)
        groups, curve = draw_groups(table.quasi, rows, buckets.of_value[classes], wanted, self.retrieval, rng)
        if progress:
            progress("drawing groups", 1.0)
        return united(groups, curve, [Attribute(classes, principle, prior)])
