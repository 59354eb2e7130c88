"""delta-disclosure-privacy (Brickell and Shmatikov, KDD 2008)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError, MissingParameterError
from discreet.options import Interval
from discreet.principles.bounds import Bounds
from discreet.principles.counts import Counts
from discreet.principles.families import BoundingPrinciple
from discreet.principles.principle import AttributeName, Reach
from discreet.principles.prior import Prior
from discreet.principles.wording import rows
from discreet.table.texts import number_text


@dataclass(frozen=True)
class DeltaDisclosure(BoundingPrinciple):
    """Every value's share q in every group is within a factor of its share p in the whole table: |ln(q / p)| < delta.

    That is exp(-delta) p < q < exp(delta) p, strictly, for every value in the table. So every group must contain every
    value, which makes groups large, and the belief in a frequent value may come close to certainty. Monotone: the share
    in a union lies between the shares in its parts.

    >>> prior = Prior(np.array([1, 99]), ("HIV", "flu"))
    >>> print(DeltaDisclosure(1).explain([0, 20], prior))  # doctest: +NORMALIZE_WHITESPACE
    'HIV' makes up 0.0 % of this group of 20 rows (0 rows); more than 0.37 % (at least 1 row) is required,
    because it is 1.0 % of the whole table.
    """

    name: ClassVar[str] = "delta-disclosure"
    example: ClassVar[str] = "'delta-disclosure(delta=1)'"

    delta: Annotated[float, Interval(0, closed="neither")] | None = None
    """The largest absolute logarithm of the ratio of shares in a group and in the whole table; not reached."""
    beta: Annotated[float, Interval(0, closed="neither")] | None = None
    """In place of delta: delta is the largest that implies beta-likeness with this beta, which is
    ln(1 + min(beta, -ln p)) for the share p of the most frequent value."""
    attribute: AttributeName | None = None
    """The sensitive attribute that the promise is about; ``None`` for every one that it fits."""

    def __post_init__(self) -> None:
        """Check each parameter, and that one of them is given."""
        super().__post_init__()
        if self.delta is None and self.beta is None:
            raise MissingParameterError(self.name, "delta", f"write for example {self.example}")
        if self.delta is not None and self.beta is not None:
            raise DiscreetError(f"{self.name}: delta follows from beta; give only one of them", "beta")

    @property
    def stated_by_attribute(self) -> bool:
        """Whether delta follows from the distribution of the attribute."""
        return self.beta is not None

    def stated(self, prior: Prior) -> DeltaDisclosure:
        """Return the promise with its delta.

        >>> print(DeltaDisclosure(beta=1).stated(Prior(np.array([50, 50]), ("a", "b"))))
        delta-disclosure(delta=0.5265890341390445)
        """
        return replace(self, delta=self._delta(prior), beta=None)

    def misfit(self, prior: Prior) -> str | None:
        """If delta follows from beta, the table needs two values: of one, no delta above 0 keeps the rest."""
        if self.beta is None or self._delta(prior) > 0:
            return None
        return f"{self} follows from the share of the most frequent value, and all rows have the same; give delta"

    def _delta(self, prior: Prior) -> float:
        if self.delta is not None:
            return self.delta
        assert self.beta is not None, "one of them is given"
        return math.log1p(min(self.beta, -math.log(float(prior.frequencies.max()))))

    def _bounds(self, prior: Prior) -> Bounds:
        self.require(prior)
        p = prior.frequencies
        factor = np.exp(min(self._delta(prior), 700.0))
        # a strict cap above 1 never binds, whereas a cap of exactly 1 would forbid a share of 1
        return Bounds(prior.values, p, np.minimum(factor * p, 2.0), p / factor, strict=True)

    def reachable(self, prior: Prior) -> Reach:
        """Feasible for any delta above 0 that the slack in comparing counts leaves distinguishable from 0."""
        if not self.holds(prior.counts[None], prior)[0]:
            sentence = (
                f"delta={number_text(self._delta(prior))} is too small to be told apart from 0; ask for delta=0.000001."
            )
            return Reach(False, 0.0, sentence)
        rarest = prior.rarest
        count = int(prior.counts[rarest])
        room = "there can be only one group" if count == 1 else f"there can be at most {count:,} groups"
        sentence = (
            f"{self} can be kept, like any delta above 0, but every group must hold every value: {room}, "
            f"because '{prior.values[rarest]}' has {rows(count)}."
        )
        return Reach(True, 0.0, sentence)

    def achieved_by(self, beliefs: NDArray[np.float64], shares: NDArray[np.float64]) -> float:
        """The largest |ln(belief / share)|."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.nanmax(np.abs(np.log(beliefs / shares)), initial=0.0))

    def _achieved_each(self, counts: Counts, prior: Prior) -> NDArray[np.float64]:
        """The largest |ln(q / p)|: the promise holds for every delta above it; infinite when a value is absent."""
        with np.errstate(divide="ignore"):
            changes = np.abs(np.log(counts.shares / prior.frequencies[counts.values]))
        largest = np.maximum.reduceat(changes, counts.starts[:-1])
        return np.where(np.diff(counts.starts) < (prior.counts > 0).sum(), np.inf, largest)
