"""Families of promises: those that bound the shares of values, and those about numbers."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import Rules
from discreet.principles.bounds import Bounds
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior


class NumericPrinciple(Principle):
    """A promise about the numbers of groups."""

    def misfit(self, prior: Prior) -> str | None:
        """The attribute must be numeric."""
        return prior.without_numbers(str(self))

    def require(self, prior: Prior) -> None:
        """Require a numeric sensitive attribute without infinite numbers."""
        super().require(prior)
        prior.require_numbers(str(self))


class BoundingPrinciple(Principle):
    """A promise that bounds the share of each value, or of each node of a hierarchy."""

    @property
    def bounds_each_value(self) -> bool:
        """True."""
        return True

    @abstractmethod
    def _bounds(self, prior: Prior) -> Bounds:
        """The bounds for this prior."""

    def labels(self, prior: Prior) -> tuple[str, ...]:
        """The names of the values, or of the nodes, whose shares are bounded."""
        return self._bounds(prior).labels

    def rules(self, prior: Prior) -> Rules:
        """A cap for each value (or node), and a floor where there are any."""
        return self._bounds(prior).rules(len(prior.values))

    def caps(self, prior: Prior) -> NDArray[np.float64] | None:
        """The largest allowed shares; ``None`` for a promise about nodes."""
        return self._bounds(prior).leaf_caps()

    def floors(self, prior: Prior) -> NDArray[np.float64] | None:
        """The smallest allowed shares; ``None`` if there are none, or for a promise about nodes."""
        return self._bounds(prior).leaf_floors()

    def _violation(self, counts: NDArray[np.int64], prior: Prior, subject: str) -> str:
        return self._bounds(prior).explain(counts, subject)
