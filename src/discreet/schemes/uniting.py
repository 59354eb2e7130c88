"""Merging groups that break a promise with their neighbours until every group keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.principles.counts import Counts
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior


class Attribute(NamedTuple):
    """The sensitive values of rows, and what is promised about them."""

    classes: NDArray[np.int32]
    promise: Principle
    prior: Prior

    def broken(self, groups: NDArray[np.int32], number: int) -> NDArray[np.bool_]:
        """Return which groups break the promise."""
        counts = Counts.of_rows(groups, self.classes, number, len(self.prior.counts))
        return ~self.promise.holds(counts, self.prior)


def united(groups: NDArray[np.int32], curve: NDArray[np.float64], attributes: Sequence[Attribute]) -> NDArray[np.int32]:
    """Merge groups that break a promise with their neighbours along the curve until every group keeps all of them.

    All rows as one group must keep the promises about each attribute.

    >>> from discreet.principles import parse
    >>> ill = Attribute(np.array([0, 1, 0, 1], np.int32), parse("t-closeness(t=0.1)"), Prior([2, 2], ("flu", "cold")))
    >>> united(np.array([0, 1, 2, 2], np.int32), np.arange(4.0), [ill]).tolist()
    [0, 0, 1, 1]
    """
    while True:
        number = int(groups.max()) + 1
        broken = np.any([one.broken(groups, number) for one in attributes], axis=0)
        if not broken.any():
            return groups
        sizes = np.bincount(groups, minlength=number)
        along = np.argsort(np.bincount(groups, weights=curve, minlength=number) / sizes, kind="stable")
        joins = np.zeros(number, np.bool_)  # whether a group is merged with the one before it
        for at in np.flatnonzero(broken[along]).tolist():
            if not joins[at] and not (at + 1 < number and joins[at + 1]):
                joins[at + 1 if at + 1 < number else at] = True
        place = np.empty(number, np.int32)
        place[along] = np.cumsum(~joins) - 1
        groups = place[groups]
