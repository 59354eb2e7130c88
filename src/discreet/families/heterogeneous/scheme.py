"""Heterogeneous generalization (Gkountouna et al., "One-off Disclosure Control by Heterogeneous Generalization", USENIX
Security 2022), published as the best of the partitions that its graph is made of, or as the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.families.heterogeneous.buckets import Bucketing, Buckets, bucketize
from discreet.families.heterogeneous.graph import confirm_graph, matches_in_zones
from discreet.families.heterogeneous.matching import WIDEST, Grown, Matching, Space, grow_from
from discreet.families.heterogeneous.release import MatchedRelease
from discreet.options import Interval
from discreet.principles.bounds import bounded_shares
from discreet.principles.per_attribute import Promised, stated
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.processors import threads
from discreet.progress import Progress, no_progress, part_of
from discreet.releases.generalization import Values
from discreet.releases.release import Release
from discreet.schemes.axes import Loss, axes_of
from discreet.schemes.described import Beside, Exactness, Snap
from discreet.schemes.grouping import GroupingTask, published_rows
from discreet.schemes.leading import LeadingScheme
from discreet.schemes.refusal import Refusal, hides_nobody, not_of_shares
from discreet.schemes.scheme import feasible
from discreet.table.table import Table

_STARTS = 4
"""How many buckets groups are grown from with little effort."""


@dataclass(frozen=True, kw_only=True)
class Heterogeneous(LeadingScheme):
    """Rows are put into buckets of one width by their sensitive values; groups take one row from every bucket.

    How many buckets there are and which values share them is decided by the sensitive values alone
    (``heterogeneous/buckets.py``), which rows of different buckets meet by the quasi-identifiers alone
    (``heterogeneous/matching.py``), except that some rows of a value are told not to meet. What an adversary who knows
    the algorithm learns from those is not bounded by the promise; where buckets hold one value each there are none.

    Why the promise is kept: let a table of n rows make m buckets of w rows and one of fewer, so that groups have m or
    m + 1 rows. A value of k rows is in a group at most ceil(k / w) times: once for every bucket that it fills alone,
    and once for what is left of it, the rows of which are kept apart (``kept_apart`` shows that they can be). The width
    is chosen such that this is at most the value's cap times m. With ``buckets=published`` a value that is in a group
    more than once is in no more buckets than its cap allows, and the width is the c of the paper's Algorithm 3 wherever
    that keeps the promise without dummies. For l-diversity both are the paper's Algorithm 1. A value is in every group
    at least once for every whole bucket of it alone; where shares have floors (``negative``) the width is such that
    this is enough for groups of m + 1 rows. Promises about the nodes of one level of a hierarchy are kept in the same
    way, with nodes in place of values. Nothing invented is published: where the paper fills the last bucket with
    dummies, groups have a row less. Whatever was made is judged once more before it is published.

    Why groups are published, and not the paper's graph: in the paper a row i of bucket b is published in a box around
    the rows G(i) that it is matched with, one of every bucket. Matching b with another bucket is a bijection between
    their rows. So every row of the table is in G(i) for exactly one i of bucket b: the sets G(i) of bucket b partition
    the table. Published as groups they have the same boxes, and so the loss of this partition is the mean over the rows
    of bucket b of what the box of G(i) costs. Buckets have the same number of rows, so the loss of the graph is the
    mean of the losses of its m partitions, and the best of these loses no more than the graph. Its groups hold one row
    of every bucket, which is all that the promise needs, and rows keep their own values: nothing has to be drawn.

    With ``publishes="graph"`` the graph is published all the same, as a matched release:
    every row in the box around the rows that it is matched with, by one of the assignments that the graph was built of,
    drawn by chance of the operating system (``heterogeneous/graph.py`` shows why this keeps the promise, and what it
    takes). The promise then covers an adversary who knows who is matched with which rows. One who only has the files
    does not, and may believe more than is promised about many persons; where values depend on quasi-identifiers even
    rightly, as boxes that overlap tell more about a neighbourhood than any one person's candidates do. Audits say how
    much more. This is a reason to publish the groups, whose descriptions say all that there is to know.

    >>> from discreet.datasets import patients
    >>> from discreet.principles import BetaLikeness
    >>> release = Heterogeneous(random_state=1).publish(patients(), BetaLikeness(2))
    >>> release.withheld, release.groups > 1
    (0, True)
    """

    name: ClassVar[str] = "heterogeneous"
    published: ClassVar[Mapping[str, str]] = {"buckets": "published", "publishes": "graph", "snap": "false"}

    matching: Matching = "hungarian"
    """How rows are matched with groups: group by group (``greedy``), the cheapest pair first (``sort-greedy``), or at
    the least cost in all (``hungarian``): of a whole bucket, as in the paper, or of each block."""
    block: Annotated[int, Interval(1)] | None = None
    """The widest bucket that is matched as a whole: where nothing is said, 10,000 rows with ``greedy``, 5,000 with
    ``sort-greedy`` and 2,500 with ``hungarian``, as groups of ten then take ten seconds or less to grow from a bucket.
    Wider ones are divided into blocks of at most as many rows. On census data blocks of half a bucket lose 2 to 5 %
    more, and those of an eighth 6 to 14 %; with ``greedy`` 8 to 10 and 15 to 21 %. ``hungarian`` takes 8 bytes of
    memory times the square of the block, for each processor."""
    partition: Annotated[int, Interval(1)] | Literal["any"] = "any"
    """The paper's partition size p: how many rows are matched with each other at most, those of all buckets together,
    so that a block has p / number of buckets. Buckets are made of the whole table, whose shares the promise is about;
    the paper makes them anew in each partition. ``any``: only ``block`` counts."""
    buckets: Bucketing = "fewest"
    """Which values share a bucket: ``fewest`` fills whole buckets with a value and keeps apart what is left of it, so
    that buckets are few; ``published`` are those of the paper."""
    effort: Literal["fast", "thorough"] = "fast"
    """``fast``: groups grow from a few buckets. ``thorough``: from each, so never worse than the graph of all."""
    publishes: Literal["best-bucket", "graph"] = "best-bucket"
    """``best-bucket``: groups. ``graph``: every row in a box of its own, as in the paper."""
    loss: Loss = "ail"
    """What is minimised: ``ail``, ``gcp`` or ``discernibility``."""
    values: Values = "interval"
    descriptions: Exactness = "boxes"
    marginals: Beside = "auto"
    cells: Annotated[int, Interval(1)] = 10
    snap: Snap = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.block is None:
            object.__setattr__(self, "block", WIDEST[self.matching])
        if self.publishes == "graph" and (self.exact or self.counts_columns):
            other = "descriptions=exact" if self.exact else f"marginals={self.marginals}"
            raise DiscreetError(
                f"{self.name}: {other} publishes groups, and publishes=graph none; give only one of them"
            )

    @property
    def makes(self) -> type[Release]:
        """Matched releases if the graph is published, else groups."""
        return MatchedRelease if self.publishes == "graph" else super().makes

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Promises that bound shares of values, or of nodes of one level, with k-anonymity or without; no others."""
        hidden = hides_nobody(self.name, principle, " if it publishes the graph") if self.publishes == "graph" else None
        return hidden or super().refusal(principle, prior) or not_of_shares(self.name, principle, prior)

    def refusal_of_several(self, principle: Principle, each: Sequence[Promised]) -> Refusal | None:
        """Why several sensitive attributes are refused: the graph is matched by the values of one of them."""
        if self.publishes == "best-bucket":
            return super().refusal_of_several(principle, each)
        names = ", ".join(str(promised.prior.attribute) for promised in each)
        return Refusal(
            f"scheme {self.name!r} protects one sensitive attribute if it publishes the graph, and the table has "
            f"several ({names})",
            advice="publish the best bucket instead (publishes=best-bucket), or name one of them",
        )

    def release_of(self, table: Table, principle: Principle, progress: Progress | None = None) -> Release:
        """A release of the table in which every group, or everyone's candidates, keep the promise."""
        if self.publishes == "best-bucket":
            return super().release_of(table, principle, progress)
        if table.person is not None:
            raise DiscreetError(
                f"scheme {self.name!r} promises nothing about persons who have several rows if it publishes the graph; "
                "publish the best bucket instead (publishes=best-bucket), or give one row per person"
            )
        prior = feasible(self, table, principle)
        principle = stated(principle, table)
        rng, seeded = self.draws()
        rows = published_rows(table, principle, prior, rng)
        progress = progress or no_progress
        progress("matching rows", 0.0)
        space, buckets = self._prepared(GroupingTask(table, principle, prior, rows, rng))
        tell = part_of(partial(progress, "matching rows"), 0.0, 0.9)
        matches = matches_in_zones(space, buckets, self.matching, self._block(buckets), rng, seeded, tell)
        candidates = np.full((table.rows, matches.shape[1]), -1, np.int32)
        candidates[rows] = matches
        confirm_graph(candidates, table.sensitive_codes, principle, prior)
        release = MatchedRelease.from_candidates(table, candidates, values=self.values, **self.statement(principle))
        progress("matching rows", 1.0)
        return release

    def groups(self, task: GroupingTask) -> NDArray[np.int32]:
        """The group of each of the task's rows."""
        task.progress("matching rows", 0.0)
        space, buckets = self._prepared(task)
        starts = task.rng.permutation(buckets.full)[: _STARTS if self.effort == "fast" else None].tolist()
        block = self._block(buckets)
        best: Grown | None = None
        with ThreadPoolExecutor(threads()) as pool:
            tries = pool.map(lambda start: grow_from(space, buckets, start, self.matching, block), starts)
            for at, grown in enumerate(tries, 1):
                best = grown if best is None or grown.loss < best.loss else best
                task.progress("matching rows", at / len(starts))
        assert best is not None, "there is a full bucket"
        return best.groups

    def _block(self, buckets: Buckets) -> int:
        """The widest bucket that is matched as a whole, as partitions of p rows allow."""
        assert self.block is not None, "there is one for each matching"
        return self.block if self.partition == "any" else min(self.block, max(1, self.partition // len(buckets)))

    def _prepared(self, task: GroupingTask) -> tuple[Space, Buckets]:
        """Where the rows lie, and the buckets that they are in."""
        shares = bounded_shares(task.principle.rules(task.prior))
        assert shares is not None, "a promise about anything else is refused"
        least = max(part.least_rows for part in task.principle.parts)
        nodes = shares.nodes[task.sensitive_codes]
        buckets = bucketize(nodes, shares.caps, least, self.buckets, task.rng, shares.floors)
        return space_of(task.table, task.rows, self.loss, self.values), buckets


def space_of(table: Table, rows: NDArray[np.int64], loss: Loss, values: Values) -> Space:
    """Where these rows lie, and what boxes around them cost."""
    points, axes = axes_of(table, loss, values)
    counted = loss == "gcp" and values == "set"  # AIL looks at the node above a set
    return Space(points[rows], axes, np.array([counted and column.kind == "categorical" for column in table.quasi]))
