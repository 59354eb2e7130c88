"""Generalization with a proof against an adversary who knows the algorithm: what the choice reveals is paid."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.families.sealed.cutting import Cutting
from discreet.families.sealed.release import SealedRelease
from discreet.families.sealed.seal import Seal
from discreet.options import Interval
from discreet.principles.per_attribute import apart, by_attribute, stated
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress, no_progress
from discreet.releases.generalization import Values
from discreet.schemes.axes import Loss
from discreet.schemes.described import Beside, DescribedScheme, Exactness, Overlap, Snap
from discreet.schemes.grouping import confirm
from discreet.schemes.refusal import Refusal, hides_nobody, not_only_caps
from discreet.schemes.scheme import Scheme, feasible
from discreet.schemes.withholding import check_complete
from discreet.table.table import Table

FOLLOWED = 50
"""Up to this many groups the exact probability of a partition is computed."""


@dataclass(frozen=True, kw_only=True)
class OneRunScheme(DescribedScheme):
    """A scheme whose promise holds against an adversary who knows the algorithm, and so covers one run of it."""

    format: ClassVar[type[SealedRelease]] = SealedRelease
    exact_format: ClassVar[str] = "sealed-exact"
    one_run: ClassVar[bool] = True
    several: ClassVar[bool] = True

    loss: Loss = "ail"
    """The loss by which cuts are put in order: ``ail``, ``gcp`` or ``discernibility``."""
    values: Values = "interval"
    descriptions: Exactness = "boxes"
    marginals: Beside = "auto"
    cells: Annotated[int, Interval(1)] = 10
    snap: Snap = "auto"
    random_state: int | None = None
    """A seed, for experiments only: anyone who knows it can repeat what was drawn, and nothing is sealed."""

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Accept every promise that unions of groups keep, but none about who is in the table."""
        refusal = hides_nobody(self.name, principle) or super().refusal(principle, prior)
        return refusal or self.broken_exactly(principle)

    def release_of(self, table: Table, principle: Principle, progress: Progress | None = None) -> Seal:
        """Return a release of the table in which every group keeps the promise, with the leakage of each group."""
        feasible(self, table, principle)
        check_complete(self.name, table, ", or choose scheme 'cuts'")
        principle = stated(principle, table)
        groups, leakage = self._groups(table, principle, self.draws()[1], progress or no_progress)
        for promise, view in apart(principle, table):
            confirm(groups, view.sensitive_codes, promise, Prior.of(view))
        statement = self.statement(principle)
        if self.exact:
            made: Seal = self.makes.from_seal(table, groups, leakage, **statement)
            return made
        return self.format.from_seal(table, groups, leakage, values=self.values, **statement)

    @abstractmethod
    def _groups(
        self, table: Table, principle: Principle, seeded: np.random.Generator | None, progress: Progress
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the group of every row, and the leakage of each group: what the choice of groups reveals about it, as
        the logarithm of odds."""


@dataclass(frozen=True, kw_only=True)
class Sealed(OneRunScheme):
    """All rows start as one group, which is cut at a value of one quasi-identifier; a coin hides why a cut is not made.

    Why the promise holds against an adversary who knows this algorithm. Known are everybody's quasi-identifiers, how
    often each sensitive value occurs in the whole table, and the algorithm; all ways to give the values to the persons
    (*worlds*) are equally likely. The promise allows each value some largest odds.

    *What leaks.* Which cuts of a part are tested, in which order, in which rounds and at which prices, is decided by
    quasi-identifiers, by how often each value occurs in the part, and by earlier results; a result says that a cut was
    made, or in which round it was rejected. Take all results together, and a group that they lead to; let two of its
    persons exchange their values. Cuts that were made have both persons on one side, so neither they nor any count of a
    part of which the group is a part changes, nor anything in parts without the group. What changes are cuts that were
    tested and rejected in parts around the group and have one person on either side: in every round their slack changes
    by at most 1, and so the probability of its result, that it passed the cut or rejected it, by a factor of at most
    exp(price) (``kernels.rounds``). The price of a rejection is the sum of the prices of the rounds up to the
    one that rejected the cut. So the exchange changes the probability of all results by a factor of at most
    exp(leakage), where the *leakage* of the group is the sum of these prices over the rejected cuts that have members
    of the group on both sides. A cut that was rejected and then made, or passed by, in a smaller part reveals nothing
    about the groups on either side.

    *What is believed.* Let the value v have f of the n rows of the group. Exchange the values of a person t who has v
    and another person of the group who has not: every world in which t has v is so paired with n - f worlds in which t
    has not, and each of these with f of the former. As the two worlds of a pair differ in probability by at most a
    factor of exp(leakage), the odds of t having v are at most exp(leakage) f / (n - f), given all results and all
    published counts; an adversary who sees only the groups believes a mean over such results. With several sensitive
    attributes persons exchange what they have of all of them, which changes every slack by at most 1 still; worlds are
    then all ways to give the combinations to the persons.

    *What is promised.* A part is tested only if the odds of each of its values, times exp(leakage) including all rounds
    of the test, are within what the promise allows; and halves are judged by what is left of these odds, given the
    leakage of each. So in every group the odds times exp(leakage) are within it, and the promise holds for everybody's
    beliefs, whatever was rejected on the way. Nobody has to choose a privacy budget: the promise is its own.

    If the adversary knows some persons' values, the same argument about the others of a group says that the algorithm
    reveals at most exp(leakage) more about them than the group alone would. It says nothing about an adversary to whom
    some worlds are likelier than others, because quasi-identifiers and values depend on each other.

    *Nodes.* A promise about the nodes of one level of a hierarchy is kept in the same way. Tests look at the nodes of
    the values alone, so an exchange of two persons' values changes every slack by at most 1; and the persons of a group
    who have a value of the node are f of n, whichever values of the node these are.

    *Exact quasi-identifiers* (``descriptions=exact``) change nothing in this. The groups are divided by the same tests
    and coins, of which quasi-identifiers decide all that values do not, and everybody's quasi-identifiers were known
    from the start. What is published then are the quasi-identifiers of the members of every group, the counts of its
    values and its leakage: all of it follows from the results and the published counts, given which the odds are as
    above. Cuts between values leave nobody's quasi-identifiers in two groups, so there is no average to take.

    *Intervals on a grid* (``snap=true``) follow from the groups and quasi-identifiers, so they tell this adversary less
    than the narrow ones: beliefs are means over the partitions that look alike, each within the promise. But they may
    overlap, so without the trace an audit knows the groups of fewer rows.

    What would undo it: coins that can be repeated (so a seed is for experiments only), several runs of which one is
    chosen, ties broken by the order of the input, and boxes that depend on sensitive values; there are none here.

    >>> from discreet.datasets import census
    >>> from discreet.principles import BetaLikeness
    >>> release = Sealed(random_state=1).publish(census(5000), BetaLikeness(4))
    >>> release.groups > 1, release.withheld
    (True, 0)
    """

    name: ClassVar[str] = "sealed"

    overlap: Overlap = "any"

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Accept promises that bound values, or nodes of one level, from above, with k-anonymity or without."""
        refusal = hides_nobody(self.name, principle) or not_only_caps(self.name, principle, prior)
        return refusal or self.broken_exactly(principle)

    refusal_of_several = Scheme.refusal_of_any

    def _groups(
        self, table: Table, principle: Principle, seeded: np.random.Generator | None, progress: Progress
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        return self._cutting(table, principle).groups(np.arange(table.rows), seeded, progress)

    def likelihood(
        self, table: Table, principle: Principle, groups: NDArray[np.int32], leakage: NDArray[np.float64] | None = None
    ) -> Fraction | None:
        """Return the exact probability that the scheme divides the table into these groups, with this leakage of each
        if it is given; None if the groups, or the ways that lead there, are too many to follow.

        >>> import pyarrow as pa, discreet as dc
        >>> table = dc.read(pa.table({"x": [0, 0, 1, 1] * 8, "s": list("abab") * 8}), quasi="x", sensitive="s")
        >>> promise = dc.BetaLikeness(0.5, "basic")
        >>> whole = Sealed().likelihood(table, promise, np.zeros(32, int))
        >>> whole + Sealed().likelihood(table, promise, table.quasi[0].codes) == 1
        True
        """
        feasible(self, table, principle)
        if int(np.max(groups, initial=0)) >= FOLLOWED:
            return None
        return self._cutting(table, stated(principle, table)).likelihood(groups, leakage)

    def impossible(
        self, table: Table, principle: Principle, groups: NDArray[np.int32], sizes: NDArray[np.int64]
    ) -> str | None:
        """Say why the scheme cannot have divided a table into groups of these sizes; None if it may have, or if there
        are rows of group -1, of which it is not known which one they are in.

        >>> import pyarrow as pa, discreet as dc
        >>> table = dc.read(pa.table({"x": range(8), "s": list("abababab")}), quasi="x", sensitive="s")
        >>> groups = np.array([[0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0, 1, 1]])
        >>> [Sealed().impossible(table, dc.LDiversity(2), line, np.bincount(line)) is None for line in groups]
        [True, False, False]
        """
        feasible(self, table, principle)
        if bool((groups < 0).any()) or self._cutting(table, stated(principle, table)).may_divide(groups) is not False:
            return None
        return "no cuts at the values nearest to the quarters of a part, one after the other, make these groups"

    def _cutting(self, table: Table, principle: Principle) -> Cutting:
        check_complete(self.name, table, ", or choose scheme 'cuts'")
        return Cutting.of(table, by_attribute(principle, table), self.loss, self.values)
