"""PrivBayes (Zhang et al., SIGMOD 2014): synthetic rows from a noisy Bayesian network, under differential privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.families.privbayes.cells import cells_in, cells_of
from discreet.families.privbayes.network import Budget, drawn
from discreet.families.privbayes.release import Domains, Privacy, SyntheticRelease
from discreet.principles.differential_privacy import DifferentialPrivacy
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress, no_progress
from discreet.releases.release import Release
from discreet.schemes.refusal import Refusal
from discreet.schemes.scheme import Scheme, feasible
from discreet.schemes.withholding import check_complete
from discreet.table.table import Column, Table


@dataclass(frozen=True, kw_only=True)
class PrivBayes(Scheme):
    """Every attribute gets one or two others as parents; their counts are made noisy, and rows are drawn from them.

    Why the promise is kept. Compare two tables of n rows that differ in one row. With ``domains="declared"`` every
    value of either row is one that was declared; a table with any other, such as a number beyond its domain or a
    missing value, is refused, which the publisher alone sees. So the cells of all columns, their kinds, the number of
    attributes d, and n are the same for both, as they follow from declarations and n alone (``cells``), and so is every
    choice of how coarsely parents are taken. What the manifest states follows from these, too.

    *The network.* Each of d - 1 times an attribute and its parents are drawn with a probability proportional to
    exp(score x rate), where the score is their mutual information in units. It differs between the two tables by at
    most ``sensitivity``, which is UNITS units, and two more for rounding; so the probability of any choice differs by a
    factor of at most exp(2 (UNITS + 2) rate), twice because the sum of all weights changes as well as the score. The
    rate is such that all choices together spend 0.3 epsilon.

    *The counts.* In each of d tables of counts, two counts differ by 1. Noise k is added to every count with a
    probability proportional to exp(-|k| rate): a factor of at most exp(2 rate), and the rate is such that all tables
    together spend 0.7 epsilon.

    *The rows* are drawn from the noisy counts alone, and what is computed from them without the table spends nothing.
    Each step is private whatever the steps before it were, so the epsilons add up to what is promised. Rates are
    rounded down to multiples of 2^-32, and all draws compare whole numbers from the operating system's entropy, so that
    the probabilities are exactly these (``chance``). How long publishing takes is not covered.

    What would undo it: a seed that somebody knows, several runs (each spends epsilon again), and lists of values that
    were made by looking at the table; ``domains="observed"`` says that these are public.
    """

    name: ClassVar[str] = "privbayes"
    format: ClassVar[type[Release]] = SyntheticRelease
    several: ClassVar[bool] = True
    one_run: ClassVar[bool] = True

    domains: Domains = "declared"
    """``declared``: only values and ends of numbers that the publisher declared are used, and others refused, as are
    missing ones.
    ``observed``: those that occur are taken as public, and the release says so."""

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Accept differential privacy and nothing else."""
        if not any(part.about_groups for part in principle.parts):
            return None
        return Refusal(
            f"scheme {self.name!r} draws synthetic rows, so it can only promise differential-privacy",
            principle,
        )

    def release_of(self, table: Table, principle: Principle, progress: Progress | None = None) -> SyntheticRelease:
        """Return a synthetic release with as many rows as the table has.

        >>> from discreet.datasets import patients
        >>> PrivBayes(domains="observed", random_state=1).publish(patients(), DifferentialPrivacy(2))
        <synthetic release of 48 rows, 0 withheld: differential-privacy(epsilon=2)>
        """
        feasible(self, table, principle)
        if table.other:
            raise DiscreetError(
                f"scheme {self.name!r} draws synthetic rows, so it cannot keep {table.other[0].name!r} as it is; leave "
                "it out, or make it a quasi-identifier"
            )
        if self.domains == "observed":
            check_complete(self.name, table)
        epsilon = self.spent(principle)
        budget = Budget.of(epsilon, len(table.quasi) + len(table.sensitive), table.rows)
        if not budget.noise or not budget.choice:
            raise DiscreetError(f"epsilon={epsilon!r} is so small that nothing but noise would be left; ask for more")
        cells = cells_of(table, self.domains == "observed", int(budget.most))
        rng, seeded = self.draws()
        tell: Callable[[float], None] = no_progress if progress is None else partial(progress, "learning the network")
        tell(0.0)
        rows = drawn([of.codes for of in cells], [of.size for of in cells], budget, rng, seeded, tell)
        columns = [of.drawn(codes, rng) for of, codes in zip(cells, rows, strict=True)]
        number = len(table.quasi)
        tell(1.0)
        synthetic = replace(table, quasi=tuple(columns[:number]), sensitive=tuple(columns[number:]))
        return SyntheticRelease.of_rows(synthetic, Privacy(epsilon, self.domains), **self.statement(principle))

    def spent(self, principle: Principle) -> float:
        """Return the epsilon that is spent to keep a promise of differential privacy: all that it allows.

        >>> PrivBayes().spent(DifferentialPrivacy(2))
        2.0
        """
        return float(min(part.epsilon for part in principle.of(DifferentialPrivacy)))

    def may_draw(self, column: Column, numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which of these numbers may be drawn for a numeric column of a table.

        >>> from discreet.datasets import patients
        >>> age = patients().column("age")
        >>> PrivBayes(domains="observed").may_draw(age, age.values[:2] + np.array([0.0, 0.5])).tolist()
        [True, False]
        """
        return cells_in(column, self.domains == "observed").has(numbers)
