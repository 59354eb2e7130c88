"""BUREL (Cao and Karras, PVLDB 2012): bucketise the sensitive values, then reallocate rows from buckets to groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.kernels.cutting import PLAIN, Recipe
from discreet.kernels.drawing import draw_along, draw_nearest, split_evenly
from discreet.kernels.hilbert import hilbert_keys
from discreet.principles.k_anonymity import KAnonymity
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.randomness import generator
from discreet.releases.generalized import GeneralizedRelease
from discreet.releases.generalizing import Values
from discreet.schemes.axes import axes_of
from discreet.schemes.scheme import Scheme, confirm, feasible
from discreet.schemes.top_down import Problem, Progress, limits_of, partition_groups
from discreet.schemes.withholding import unusable_rows
from discreet.table.table import Column, Table


@dataclass(frozen=True, kw_only=True)
class Burel(Scheme):
    """Rows are put into buckets of sensitive values; groups draw from every bucket in proportion to its size.

    How many rows of which bucket a group draws is decided by the sensitive values alone, which rows these are by the
    quasi-identifiers alone.

    Why the promise is kept: a group draws from a bucket at most the smallest cap of the bucket's values, as a share of
    the group (``split_evenly``). Even if all of these rows held the same value, it would not exceed its cap. The root,
    which draws everything, satisfies this by the choice of buckets (``fewest_buckets``). With ``refine`` every group is
    cut further while both halves keep the promise on their actual counts, as the authors' program does and the paper
    does not say; contents are then no longer decided by quasi-identifiers alone, so it is off by default.
    """

    name: ClassVar[str] = "burel"

    retrieval: Literal["hilbert", "nearest"] = "hilbert"
    """How a group finds rows near each other: along a Hilbert curve, or by exact distance (slow on large tables)."""
    refine: bool = False
    """Whether groups are cut further while both halves keep the promise."""
    values: Values = "interval"
    """How quasi-identifiers are published: ``interval``, ``label`` or ``set``."""
    random_state: int | None = None
    """A seed, for experiments only; without one, chance comes from the operating system."""

    def __post_init__(self) -> None:
        """Refuse what is no parameter of this scheme."""
        for name, allowed in (("retrieval", ("hilbert", "nearest")), ("values", ("interval", "label", "set"))):
            if getattr(self, name) not in allowed:
                raise DiscreetError(f"{name}={getattr(self, name)!r} is not known; choose {', '.join(allowed)}")

    @property
    def options(self) -> dict[str, Any]:
        """The parameters, as the manifest shows them."""
        return {"retrieval": self.retrieval, "refine": self.refine, "values": self.values}

    def refusal(self, principle: Principle, prior: Prior) -> str | None:
        """Promises that bound every value from above, with k-anonymity or without; no others."""
        rest = [part for part in principle.parts if part.caps(prior) is None]
        only_sizes = len(rest) < len(principle.parts) and all(isinstance(part, KAnonymity) for part in rest)
        if only_sizes and principle.floors(prior) is None:
            return None
        return (
            f"scheme {self.name!r} needs a promise that bounds every value from above and none from below, such as "
            f"beta-likeness or l-diversity; for {principle} choose scheme 'cuts'"
        )

    def publish(self, table: Table, principle: Principle, progress: Progress | None = None) -> GeneralizedRelease:
        """A generalized release of the table, every group of which keeps the promise.

        >>> from discreet.datasets import patients
        >>> from discreet.principles import BetaLikeness
        >>> Burel(random_state=1).publish(patients(), BetaLikeness(2)).withheld
        0
        """
        prior = feasible(self, table, principle)
        rng = generator(self.random_state)
        rows = np.setdiff1d(np.arange(table.rows), unusable_rows(table, principle, prior, rng), assume_unique=True)
        groups = np.full(table.rows, -1, np.int32)
        groups[rows] = self._groups(table, principle, prior, rows, rng)
        confirm(groups, table.classes, principle, prior)
        return GeneralizedRelease.from_groups(
            table,
            groups,
            promise=principle,
            scheme=self.name,
            options=self.options,
            values=self.values,
            seeded=None if self.random_state is None else rng,
        )

    def _groups(
        self,
        table: Table,
        principle: Principle,
        prior: Prior,
        rows: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> NDArray[np.int32]:
        caps = principle.caps(prior)
        assert caps is not None, "a promise without caps is refused"
        bucket_of = principle.buckets(prior)
        limits = np.full(int(bucket_of.max()) + 1, np.inf)
        np.minimum.at(limits, bucket_of[prior.counts > 0], caps[prior.counts > 0])
        rules = principle.rules(prior)
        bounds = limits_of(principle, prior, rules)
        buckets = bucket_of[table.classes[rows]]
        places = places_of(table.quasi, rows)
        order, starts, keys = bucket_order(places, buckets, len(limits))
        wanted = split_evenly(np.diff(starts), limits, bounds.smallest)
        seeds = rng.permutation(len(rows))
        if self.retrieval == "hilbert":
            drawn = draw_along(keys, starts, wanted, seeds)
        else:
            drawn = draw_nearest(places[order], starts, wanted, seeds)
        groups = np.empty(len(rows), np.int32)
        groups[order] = drawn
        if self.refine:
            points, axes = axes_of(table, "ail", self.values)
            problem = Problem(points, table.classes, axes, rules, bounds).take(rows)
            groups = partition_groups(problem, groups, Recipe(PLAIN, 1, 1, 0.0, 0, True))
        return groups


def places_of(columns: tuple[Column, ...], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Rows as points of the unit cube: numbers by their size, ordered values and leaves by their rank."""
    places = np.empty((len(rows), len(columns)))
    for j, column in enumerate(columns):
        scale = np.arange(len(column.values), dtype=np.float64)
        if column.kind == "numeric":
            scale = np.asarray(column.values, np.float64)
        if column.missing is not None:  # one step before the smallest
            known = np.delete(scale, column.missing)
            scale = scale.copy()
            scale[column.missing] = known[0] - (known[-1] - known[0]) / max(1, len(known) - 1) if len(known) else 0.0
        low, high = scale.min(), scale.max()
        scale = (scale / 2 - low / 2) / (high / 2 - low / 2) if high > low else np.zeros(len(scale))
        places[:, j] = scale[column.codes[rows]]
    return places


def bucket_order(
    places: NDArray[np.float64], buckets: NDArray[np.int32], number: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Rows by bucket, and within a bucket along a Hilbert curve; where each bucket starts; and the rows' keys.

    Only the distance of keys is asked for later, so keys are handed on as floating point numbers.
    """
    d = places.shape[1]
    bits = max(1, min(10, 62 // d)) if d <= 31 else 2
    cells = np.rint(places * (2**bits - 1)).astype(np.int64)
    words = hilbert_keys(cells, bits)
    starts = np.concatenate([[0], np.cumsum(np.bincount(buckets, minlength=number))])
    if words.shape[1] == 1 and d * bits + int(number).bit_length() <= 64:
        packed = (buckets.astype(np.uint64) << np.uint64(d * bits)) | words[:, 0]
        order = np.argsort(packed)
    else:
        order = np.lexsort((*words.T[::-1], buckets))
    keys = np.zeros(len(places))
    for word in words.T:
        keys = keys * 2.0**64 + word
    return order, starts, keys[order]
