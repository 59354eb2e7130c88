"""A principle: no sensitive value is in the majority."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.extend import Bounds, Counts, Interval, Principle, Prior, Reach


@dataclass(frozen=True)
class Majority(Principle):
    """No sensitive value has more than ``share`` of a group's rows.

    Monotone: a share in a union lies between the shares in its parts.
    """

    name: ClassVar[str] = "majority"
    example: ClassVar[str] = "'majority(share=0.5)'"

    share: Annotated[float, Interval(0, 1, closed="right")]
    """The largest share of a group's rows that a value may have."""

    def _bounds(self, prior: Prior) -> Bounds:
        self.require(prior)
        caps = np.full(len(prior.values), self.share)
        return Bounds(prior.values, prior.frequencies, caps, reason=f"because of share={self.share}")

    def rules(self, prior: Prior) -> Any:
        """A cap for every value."""
        return self._bounds(prior).rules(len(prior.values))

    def reachable(self, prior: Prior) -> Reach:
        """Feasible if the whole table keeps it."""
        most = float(prior.frequencies.max())
        return Reach(most <= self.share, most, f"The most frequent value has a share of {most:.3f}; ask for as much.")

    def _violation(self, counts: NDArray[np.int64], prior: Prior, subject: str) -> str:
        return self._bounds(prior).explain(counts, subject)

    def _achieved_each(self, counts: Counts, prior: Prior) -> Any:
        return np.maximum.reduceat(counts.shares, counts.starts[:-1])
