"""Halves that could be exchanged: what a test of them tells is the same about everyone, and so tells nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.families.sealed.cutting import Cutting
from discreet.families.sealed.halving import Halving
from discreet.families.sealed.limits import CountLimits
from discreet.families.sealed.release import MirroredRelease
from discreet.families.sealed.scheme import OneRunScheme
from discreet.kernels.cuts.layout import layout_of
from discreet.principles.joint import jointly
from discreet.principles.per_attribute import by_attribute, stated
from discreet.principles.principle import Principle
from discreet.progress import Progress
from discreet.schemes.axes import axes_of
from discreet.schemes.scheme import feasible
from discreet.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Mirrored(OneRunScheme):
    """All rows are cut into equal halves along one quasi-identifier, and these again, while both keep the promise.

    Why the promise holds against an adversary who knows this algorithm and nobody's value. Known are everybody's
    quasi-identifiers, how often each sensitive value occurs, and the algorithm; all ways to give the values to the
    persons (*worlds*) are equally likely. Which halves are tested is decided by quasi-identifiers, by chance and by the
    results of earlier tests in the part; all that follows is said for given results. A cut that is made is published,
    and tells nothing more; what may tell something is a rejected one.

    A rejection divides a part into two *cells*, and every later cut in it, tested or made, cuts each cell into equal
    halves; so in every part all cells have the same number of persons. Take a group that was published, and a rejection
    on the way to it. Exchange, in all groups of that part, the persons of each cell with those of the cell that lies on
    the other side of this rejection and on the same side of all others. Published counts stay as they are; the two
    halves of the rejected cut exchange their counts, which are judged alike; the halves of every other one keep theirs.
    So a world and its image are equally likely to lead to these results. Exchanges of this kind, and any among the
    persons of a group and a cell, lead from each person of a group to each other one. Hence all of them are equally
    likely to have a value, and the belief is its share in the group, which keeps the promise. With several sensitive
    attributes this is so for the combinations of their values.

    So that parts can be halved, and often, some rows of a part in and around which nothing was rejected stay behind, as
    a group of their own; how many of each value is decided by the promise and by how often the values occur in the
    part, with a lot among values that occur equally often, and which ones by lot. So anyone who sees which rows stay
    learns the counts of both, which are published, and nothing else: all ways to give these values to the persons of
    either are equally likely, and an exchange of persons as above leaves the probability of the choice as it is. Nor
    does a cut tell anything whose halves would keep the promise however the part's values are distributed: it needs no
    test, and no equal halves. What is published of the part decides that it was made.

    A cell of an odd number of persons cannot be halved, and then nothing more is tested: with an odd row given to one
    side, as has been proposed, a later cut that is made may give the row away, and with it the reason of an earlier
    rejection (``test_mirrored.py`` has six persons of whom one becomes certain). Only where nothing was
    rejected yet may an odd number be halved: a row is drawn uniformly, a coin decides about its side, and a rejection
    is final. Nobody then knows the row, and every person is equally likely to be the one.

    Equal halves leave one of them mixed where more than half of all persons are at one place, of two sexes for example.
    If such halves of a part in and around which nothing was rejected keep the promise, and one consists of persons at
    that place, those who are at it in the other half may join them. Whether they do is decided by a test with a coin,
    if they could be too many (`Sealed`). Who of the place was in which half was drawn. So how likely all this is, up to
    their joining, is decided by how many persons at the place have each value, and how many of all others; both are
    published, and the cut tells nothing more. If the coin forbids it, the halves are made as they were. About the one
    at a single place nothing leaks, as no exchange within it changes anything. In the mixed one, an exchange of two
    persons changes the slack of the test by at most 1: it is a rejected cut as in a sealed release, and the mixed half
    is cut under a seal from then on (`Sealed`). What is left of it and lies on one side of all rejected cuts can be
    halved again, because no exchange within it changes any of them. So in every group the odds are at most those of the
    value's share times exp(leakage), which the release states; it is 0 in all groups but those cut under a seal.

    *Exact quasi-identifiers* (``descriptions=exact``) change nothing in this. Everybody's quasi-identifiers were known
    from the start; what is published of them, those of the members of every group, follows from who is in which group,
    given which all of this is said. Persons at one place may be in several groups, and who of them is in which is not
    published. Nothing but their values tells them apart, so that the belief about each is the mean over these groups,
    each counted as often as it has members at the place, and is within what the promise allows as each of them is.

    >>> from discreet.datasets import patients
    >>> from discreet.principles import LDiversity
    >>> Mirrored(random_state=1).publish(patients(), LDiversity(2)).groups > 1
    True
    """

    name: ClassVar[str] = "mirrored"
    format: ClassVar[type[MirroredRelease]] = MirroredRelease
    exact_format: ClassVar[str] = "mirrored-exact"

    def _groups(
        self, table: Table, principle: Principle, seeded: np.random.Generator | None, progress: Progress
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        parts = self._halving(table, principle, seeded).groups(progress)
        groups = np.empty(table.rows, np.int32)
        for number, part in enumerate(parts):
            groups[part.rows] = number
        return groups, np.array([part.leakage for part in parts])

    def impossible(
        self, table: Table, principle: Principle, groups: NDArray[np.int32], sizes: NDArray[np.int64]
    ) -> str | None:
        """Say why the scheme cannot have divided a table into groups of these sizes, by what no lot and no coin
        decides; None if it may have. Of rows of group -1 it is not known which one they are in.

        >>> import pyarrow as pa, discreet as dc
        >>> table = dc.read(pa.table({"x": range(8), "s": list("abababab")}), quasi="x", sensitive="s")
        >>> groups = np.array([[0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 0, 0, 0, 1, 1]])
        >>> [Mirrored().impossible(table, dc.LDiversity(2), line, np.bincount(line)) for line in groups]
        [None, 'a group has rows on both sides of a cut that every run makes']
        """
        feasible(self, table, principle)
        halving = self._halving(table, stated(principle, table), None)
        parts = halving.certain()
        seen = np.concatenate([np.unique(groups[part.rows]) for part in parts])
        if bool((np.bincount(seen[seen >= 0], minlength=1) > 1).any()):
            return "a group has rows on both sides of a cut that every run makes"
        for part in parts:
            if not halving.may_become(part, groups[part.rows], sizes):
                return f"a part of {len(part.rows):,} rows is not cut into equal halves"
        return None

    def _halving(self, table: Table, principle: Principle, seeded: np.random.Generator | None) -> Halving:
        view, promise, prior = jointly(principle, table)
        limits = CountLimits(view.sensitive_codes, promise, prior, self._cutting(table, principle), seeded)
        points, axes = axes_of(table, self.loss, self.values)
        return Halving(points, axes, layout_of(table.rows, int(axes.cards.max(initial=1)), 0), limits)

    def _cutting(self, table: Table, principle: Principle) -> Cutting | None:
        """Return the table as cuts under a seal see it; None if the promise does not only bound shares and sizes."""
        each = by_attribute(principle, table) if table.sensitive else ()
        if not each or not all(promise.only_caps(prior) for prior, promise in each):
            return None
        return Cutting.of(table, each, self.loss, self.values)
