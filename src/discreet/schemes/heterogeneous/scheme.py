"""Heterogeneous generalization (Gkountouna et al., "One-off Disclosure Control by Heterogeneous Generalization", USENIX
Security 2022), published as the best of the partitions that its graph is made of."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress
from discreet.releases.generalized.describe import Values
from discreet.schemes.axes import Loss, axes_of
from discreet.schemes.cuts.top_down import threads
from discreet.schemes.grouping import GroupingScheme
from discreet.schemes.heterogeneous.buckets import Bucketing, bucketize
from discreet.schemes.heterogeneous.matching import Grown, Matching, Space, grow_from
from discreet.schemes.keepers import not_only_caps
from discreet.table.table import Table

_STARTS = 4
"""How many buckets groups are grown from with little effort."""


@dataclass(frozen=True, kw_only=True)
class Heterogeneous(GroupingScheme):
    """Rows are put into buckets of one width by their sensitive values; groups take one row from every bucket.

    How many buckets there are and which values share them is decided by the sensitive values alone
    (``heterogeneous/buckets.py``), which rows of different buckets meet by the quasi-identifiers alone
    (``heterogeneous/matching.py``), except that some rows of a value are told not to meet. What an adversary who knows
    the algorithm learns from those is not bounded by the promise; where buckets hold one value each there are none.

    Why the promise is kept: let a table of n rows make m buckets of w rows and one of fewer, so that groups have m or
    m + 1 rows. A value of k rows is in a group at most ceil(k / w) times: once for every bucket that it fills alone,
    and once for what is left of it, the rows of which are kept apart (``kept_apart`` shows that they can be). The width
    is chosen such that this is at most the value's cap times m. With ``buckets=published`` a value that is in a group
    more than once is in no more buckets than its cap allows, as in the paper. For l-diversity both are the paper's
    Algorithm 1. Nothing invented is published: where the paper fills the last bucket with dummies, groups have a row
    less. Whatever was made is judged once more before it is published.

    Why groups are published, and not the paper's graph: in the paper a row i of bucket b is published in a box around
    the rows G(i) that it is matched with, one of every bucket. Matching b with another bucket is a bijection between
    their rows. So every row of the table is in G(i) for exactly one i of bucket b: the sets G(i) of bucket b partition
    the table. Published as groups they have the same boxes, and so the loss of this partition is the mean over the rows
    of bucket b of what the box of G(i) costs. Buckets have the same number of rows, so the loss of the graph is the
    mean of the losses of its m partitions, and the best of these loses no more than the graph. Its groups hold one row
    of every bucket, which is all that the promise needs, and rows keep their own values: nothing has to be drawn.

    >>> from discreet.datasets import patients
    >>> from discreet.principles import BetaLikeness
    >>> release = Heterogeneous(random_state=1).publish(patients(), BetaLikeness(2))
    >>> release.withheld, release.groups > 1
    (0, True)
    """

    name: ClassVar[str] = "heterogeneous"
    leads: ClassVar[bool] = True

    matching: Matching = "hungarian"
    """How rows are matched with groups: group by group (``greedy``), the cheapest pair first (``sort-greedy``), or at
    the least cost in all (``hungarian``)."""
    buckets: Bucketing = "fewest"
    """Which values share a bucket: such that buckets are fewest, or as ``published``."""
    effort: Literal["fast", "thorough"] = "fast"
    """``fast``: groups grow from a few buckets. ``thorough``: from each, so never worse than the graph of all."""
    loss: Loss = "ail"
    """What is minimised: ``ail``, ``gcp`` or ``discernibility``."""
    values: Values = "interval"
    """How quasi-identifiers are published: ``interval``, ``label`` or ``set``."""
    random_state: int | None = None
    """A seed, for experiments only; without one, chance comes from the operating system."""

    def __post_init__(self) -> None:
        """Refuse what is no parameter of this scheme."""
        self._choose(
            matching=get_args(Matching),
            buckets=get_args(Bucketing),
            effort=("fast", "thorough"),
            loss=get_args(Loss),
            values=get_args(Values),
        )

    @property
    def options(self) -> dict[str, Any]:
        """The parameters, as the manifest shows them."""
        return {
            "matching": self.matching,
            "buckets": self.buckets,
            "effort": self.effort,
            "loss": self.loss,
            "values": self.values,
        }

    def refusal(self, principle: Principle, prior: Prior) -> str | None:
        """Promises that bound every value from above, with k-anonymity or without; no others."""
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
        """The group of each of these rows."""
        caps = principle.caps(prior)
        assert caps is not None, "a promise without caps is refused"
        tell = progress or (lambda stage, share: None)
        tell("matching rows", 0.0)
        least = max(part.least_rows for part in principle.parts)
        buckets = bucketize(table.classes[rows], caps, least, self.buckets, rng)
        space = space_of(table, rows, self.loss, self.values)
        starts = rng.permutation(buckets.full)[: _STARTS if self.effort == "fast" else None].tolist()
        best: Grown | None = None
        with ThreadPoolExecutor(threads()) as pool:
            tries = pool.map(lambda start: grow_from(space, buckets, start, self.matching), starts)
            for at, grown in enumerate(tries, 1):
                best = grown if best is None or grown.loss < best.loss else best
                tell("matching rows", at / len(starts))
        assert best is not None, "there is a full bucket"
        return best.groups


def space_of(table: Table, rows: NDArray[np.int64], loss: Loss, values: Values) -> Space:
    """Where these rows lie, and what boxes around them cost."""
    points, axes = axes_of(table, loss, values)
    return Space(points[rows], axes)
