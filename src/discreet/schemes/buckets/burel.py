"""BUREL (Cao and Karras, PVLDB 2012): bucketise the sensitive values, then reallocate rows from buckets to groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.cuts.terms import PLAIN, Recipe
from discreet.kernels.drawing import split_evenly
from discreet.principles.buckets import fewest_buckets
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress
from discreet.releases.generalized.describe import Values
from discreet.schemes.axes import axes_of
from discreet.schemes.buckets.drawing import Retrieval, draw_groups
from discreet.schemes.cuts.top_down import Problem, limits_of, partition_groups
from discreet.schemes.grouping import GroupingScheme
from discreet.schemes.keepers import way_out
from discreet.table.table import Table

Room = Literal["enough", "any"]
STEEPNESS = 5
"""More buckets are taken when they make more groups by at least this power of what they are more. On census tables and
on Adult they paid from a power of 1.2 to one of 4 on, so that with 5 nothing loses more than with the fewest."""


@dataclass(frozen=True, kw_only=True)
class Burel(GroupingScheme):
    """Rows are put into buckets of sensitive values; groups draw from every bucket in proportion to its size.

    How many rows of which bucket a group draws is decided by the sensitive values alone, which rows these are by the
    quasi-identifiers alone.

    Why the promise is kept: a group draws from a bucket at most the smallest cap of the bucket's values, as a share of
    the group (``split_evenly``). Even if all of these rows held the same value, it would not exceed its cap. The root,
    which draws everything, satisfies this by the choice of buckets (``fewest_buckets``). With ``refine`` every group is
    cut further while both halves keep the promise on their actual counts, as the authors' program does and the paper
    does not say; contents are then no longer decided by quasi-identifiers alone, so it is off by default.

    The paper takes the fewest buckets. Halves are whole numbers of rows, so of a bucket they may draw a row more than
    their share, and a bucket that just keeps its cap leaves no room for that: then a larger beta, which lets buckets
    be filled to the brim, may make fewer groups than a smaller one, or a single one. So by default buckets that have
    room are looked for, and more of them are taken where they make many more groups (``most_groups``).

    >>> from discreet.datasets import patients
    >>> from discreet.principles import BetaLikeness
    >>> Burel(random_state=1).publish(patients(), BetaLikeness(2)).withheld
    0
    """

    name: ClassVar[str] = "burel"

    retrieval: Retrieval = "hilbert"
    """How a group finds rows near each other: along a Hilbert curve, or by exact distance (slow on large tables)."""
    room: Room = "enough"
    """How full buckets may be: such that there are many groups, or ``any``, as published."""
    refine: bool = False
    """Whether groups are cut further while both halves keep the promise."""
    values: Values = "interval"
    """How quasi-identifiers are published: ``interval``, ``label`` or ``set``."""
    random_state: int | None = None
    """A seed, for experiments only; without one, chance comes from the operating system."""

    def __post_init__(self) -> None:
        """Refuse what is no parameter of this scheme."""
        self._choose(retrieval=get_args(Retrieval), room=get_args(Room), values=get_args(Values))

    @property
    def options(self) -> dict[str, Any]:
        """The parameters, as the manifest shows them."""
        return {"retrieval": self.retrieval, "room": self.room, "refine": self.refine, "values": self.values}

    def refusal(self, principle: Principle, prior: Prior) -> str | None:
        """Promises that bound every value from above, with k-anonymity or without; no others."""
        rest = [part for part in principle.parts if part.caps(prior) is None]
        only_sizes = len(rest) < len(principle.parts) and not any(part.about_values for part in rest)
        if only_sizes and principle.floors(prior) is None:
            return super().refusal(principle, prior)
        return (
            f"scheme {self.name!r} needs a promise that bounds every value from above and none from below, such as "
            f"beta-likeness or l-diversity; {way_out(principle)}"
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
        """The group of each of these rows."""
        caps = principle.caps(prior)
        assert caps is not None, "a promise without caps is refused"
        rules = principle.rules(prior)
        bounds = limits_of(principle, prior, rules)
        held = np.bincount(table.classes[rows], minlength=len(caps))
        bucket_of, wanted = most_groups(prior.counts, caps, held, bounds.smallest, self.room)
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


def most_groups(
    counts: NDArray[np.int64], caps: NDArray[np.float64], held: NDArray[np.int64], smallest: int, room: Room = "enough"
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The bucket of each value, and how many rows of each bucket every group draws.

    Values have ``counts`` in the whole table, ``held`` among the rows to be divided. Of buckets with room for 0, 1, 2,
    4, ... rows more, those are taken that make the most groups for their number. Only the sensitive values decide.

    >>> counts, caps = np.array([21, 22, 57]), np.array([0.43, 0.44, 1.0])
    >>> for room in get_args(Room):
    ...     buckets, groups = most_groups(counts, caps, counts, 1, room)
    ...     print(buckets.tolist(), len(groups))
    [0, 1, 2] 56
    [0, 0, 1] 1
    """
    rooms = [0, *(2**power for power in range(int(counts.sum()).bit_length()))] if room == "enough" else [0]
    best, found = -1.0, None
    buckets: NDArray[np.int32] | None = None
    for spare in rooms:
        before, buckets = buckets, fewest_buckets(counts, caps, spare)
        if before is not None and np.array_equal(before, buckets):
            continue
        number = int(buckets.max()) + 1
        price = number**STEEPNESS
        if held.sum() / number / price <= best:  # so many groups would have fewer rows than there are buckets
            break
        limits = np.full(number, np.inf)
        np.minimum.at(limits, buckets[counts > 0], caps[counts > 0])
        sizes = np.bincount(buckets, weights=held, minlength=number).astype(np.int64)
        wanted = split_evenly(sizes, limits, smallest)
        if len(wanted) / price > best:
            best, found = len(wanted) / price, (buckets, wanted)
    assert found is not None, "there is at least one group"
    return found
