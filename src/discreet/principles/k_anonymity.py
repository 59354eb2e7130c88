"""k-anonymity: everyone hides among at least k rows (Samarati and Sweeney, 1998)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import SIZE, Rules
from discreet.options import Interval
from discreet.principles.counts import Counts
from discreet.principles.principle import Principle, Reach
from discreet.principles.prior import Prior
from discreet.principles.rules import rule
from discreet.principles.wording import rows


@dataclass(frozen=True)
class KAnonymity(Principle):
    """Every group has at least ``k`` rows.

    This does not protect sensitive values: a group of any size may have a single one. Monotone: a union is at least as
    large as its parts.

    >>> prior = Prior(np.array([6, 4]), ("flu", "cold"))
    >>> KAnonymity(5).explain([2, 1], prior)
    'This group has 3 rows; at least 5 are required.'
    """

    name: ClassVar[str] = "k-anonymity"
    example: ClassVar[str] = "'k-anonymity(k=5)'"
    larger_is_stronger: ClassVar[bool] = True
    about_values = False
    bounds_each_value = True  # no value is concerned, so persons may have any number of them

    k: Annotated[int, Interval(1)]
    """The fewest rows of a group, or persons if these may have several rows."""

    @property
    def least_rows(self) -> int:
        """k."""
        return math.ceil(self.k)

    def require(self, prior: Prior) -> None:
        """Require nothing: the promise suits tables without a sensitive attribute too."""

    def rules(self, prior: Prior) -> Rules:
        """One rule on the size of a group."""
        return rule(SIZE, self.k, width=len(prior.values))

    def reachable(self, prior: Prior) -> Reach:
        """Feasible if the table has at least ``k`` rows."""
        has = f"the table has {rows(prior.rows)}"
        if self.k <= prior.rows:
            groups = prior.rows // self.k
            room = "one group" if groups == 1 else f"at most {groups:,} groups"
            return Reach(True, prior.rows, f"{self} can be kept: {has}, enough for {room}.")
        sentence = f"{has.capitalize()}, so k can be at most {prior.rows}; ask for k={prior.rows} or less."
        return Reach(False, prior.rows, sentence)

    def plainly(self, prior: Prior) -> str | None:
        """Say among how many rows, or persons, a person hides.

        >>> print(KAnonymity(5).plainly(Prior([9], ("flu",))))
        Every group has at least 5 rows: whoever finds a person's group cannot tell which of them is that person's.
        """
        whom = rows(self.k) if prior.persons is None else f"{self.k:,} persons"
        whose = "is that person's" if prior.persons is None else "is the one"
        return f"Every group has at least {whom}: whoever finds a person's group cannot tell which of them {whose}."

    def _violation(self, counts: NDArray[np.int64], prior: Prior, subject: str) -> str:
        return f"{subject.capitalize()} has {rows(int(counts.sum()))}; at least {self.k:,} are required."

    def _achieved_each(self, counts: Counts, prior: Prior) -> NDArray[np.int64]:
        return counts.sizes
