"""Halves that could be exchanged: what a test of them tells is the same about everyone, and so tells nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.kernels.cuts.layout import layout_of
from discreet.principles.joint import jointly
from discreet.principles.per_attribute import by_attribute, stated
from discreet.principles.principle import Principle
from discreet.progress import Progress
from discreet.randomness import generator
from discreet.releases.sealed.mirrored import MirroredRelease
from discreet.schemes.axes import axes_of
from discreet.schemes.keepers import not_only_caps
from discreet.schemes.scheme import feasible
from discreet.schemes.sealed.behind import Counts, rows_behind
from discreet.schemes.sealed.halving import Halving, Rows, sure_rows
from discreet.schemes.sealed.one_run import OneRunScheme
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

    So that cells can be halved often, some rows of a part in and around which nothing was rejected stay behind, as a
    group of their own; how many of each value is decided by the promise and by how often the values occur in the part,
    and which ones by lot. Their choice tells nothing either (`rows_behind`), and an exchange of persons as above leaves
    its probability as it is. Nor does a cut tell anything whose halves would keep the promise whoever has which of the
    part's values: it needs no test, and no equal halves. What is published of the part decides that it was made.

    A cell of an odd number of persons cannot be halved, and then nothing more is tested: with an odd row given to one
    side, as has been proposed, a later cut that is made may give the row away, and with it the reason of an earlier
    rejection (``tests/schemes/test_mirrored.py`` has six persons of whom one becomes certain). Only where nothing was
    rejected yet may an odd number be halved: a row is drawn uniformly, a coin decides about its side, and a rejection
    is final. Nobody then knows the row, and every person is equally likely to be the one.

    >>> from discreet.datasets import patients
    >>> from discreet.principles import LDiversity
    >>> Mirrored(random_state=1).publish(patients(), LDiversity(2)).groups > 1
    True
    """

    name: ClassVar[str] = "mirrored"
    format: ClassVar[type[MirroredRelease]] = MirroredRelease

    def publish(self, table: Table, principle: Principle, progress: Progress | None = None) -> MirroredRelease:
        """Return a mirrored release of the table in which every group keeps the promise."""
        feasible(self, table, principle)
        principle = stated(principle, table)
        self._check_usable(table)
        one, promise, prior = jointly(principle, table)
        rng = generator(self.random_state)
        seeded = None if self.random_state is None else rng
        width, classes = len(prior.counts), one.classes

        def hold(*counts: Counts) -> bool:
            return bool(promise.holds(np.array(counts), prior).all())

        def keep(*halves: Rows) -> bool:
            return hold(*(np.bincount(classes[rows], minlength=width) for rows in halves))

        def behind(rows: Rows) -> Rows:
            return rows[rows_behind(classes[rows], width, hold, seeded)]

        points, axes = axes_of(table, self.loss, self.values)
        layout = layout_of(table.rows, int(axes.cards.max(initial=1)), 0)
        groups = Halving(points, axes, layout, keep, self._sure(table, principle), behind, seeded).groups(progress)
        self._confirm(groups, table, principle)
        return MirroredRelease.from_groups(
            table,
            groups,
            promise=principle,
            scheme=self.name,
            options=self.options,
            values=self.values,
            seeded=seeded,
        )

    def _sure(self, table: Table, principle: Principle) -> Callable[[Rows], int | None]:
        """Return what tells how many rows of a part suffice to keep the promise, if it only bounds shares and sizes."""
        each = by_attribute(principle, table) if table.sensitive else ()
        bounds = [
            (column.codes, one.promise.caps(one.prior))
            for column, one in zip(table.sensitive, each, strict=True)
            if not_only_caps(self.name, one.promise, one.prior) is None
        ]
        least = max((part.least_rows for part in principle.parts), default=1)

        def sure(rows: Rows) -> int | None:
            if len(bounds) < len(table.sensitive):
                return None
            return max([least, *(sure_rows(codes[rows], caps) for codes, caps in bounds if caps is not None)])

        return sure
