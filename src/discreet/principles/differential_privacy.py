"""Differential privacy: anyone's row hardly changes how likely a release is (Dwork et al., 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.kernels.judging import Rules
from discreet.options import Interval
from discreet.principles.counts import Counts
from discreet.principles.principle import Principle, Reach
from discreet.principles.prior import Prior

LARGEST = 700.0
"""The largest epsilon: e^709 is the largest factor that a number can hold, and promises nothing."""


@dataclass(frozen=True)
class DifferentialPrivacy(Principle):
    """If one row of the table is replaced by any other, no outcome becomes likelier by more than the factor e^epsilon.

    *A different kind of promise.* It is about how a release is drawn, and not about what is in it: no group of rows
    keeps or breaks it, and no file can show it. It bounds what is learnt *because* of a person's row, for any adversary
    and whatever else is known. To someone who knows all other rows, the odds of any two values that the person's row
    may have change by at most e^epsilon; so with epsilon = ln(1 + beta) a belief p grows to at most (1 + beta) p. It
    does not bound what is learnt about a person from the rows of others, so that beta-likeness does not follow: if all
    people alike have one disease, the release may say so. The number of rows is taken as known.

    Releases of the same people add up: those with epsilon a and b are together a release with epsilon a + b.

    >>> print(DifferentialPrivacy(0.5))
    differential-privacy(epsilon=0.5)
    >>> DifferentialPrivacy(0.5).holds([[1, 1]], Prior(np.array([1, 1]), ("flu", "cold")))
    Traceback (most recent call last):
    discreet.errors.DiscreetError: differential-privacy(epsilon=0.5) is about how rows were drawn, not about groups
    """

    name: ClassVar[str] = "differential-privacy"
    example: ClassVar[str] = "'differential-privacy(epsilon=1)'"
    about_groups = False
    monotone = False  # nothing is said about groups, and so nothing about their unions

    epsilon: Annotated[float, Interval(0, LARGEST, closed="right")]
    """The largest change of the logarithm of any release's odds that one row can make."""

    def reachable(self, prior: Prior) -> Reach:
        """Always feasible: with a small epsilon the rows are drawn from little but noise."""
        sentence = (
            f"{self} can be kept, like any epsilon above 0, by rows that are drawn from noisy counts; the smaller "
            "epsilon and the table are, the less is left in them but noise."
        )
        return Reach(True, 0.0, sentence)

    def rules(self, prior: Prior) -> Rules:
        """Raise an error: there are no rules for groups."""
        self._refuse()

    def _violation(self, counts: NDArray[np.int64], prior: Prior, subject: str) -> str:
        self._refuse()

    def _achieved_each(self, counts: Counts, prior: Prior) -> NDArray[np.float64]:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise DiscreetError(f"{self} is about how rows were drawn, not about groups")
