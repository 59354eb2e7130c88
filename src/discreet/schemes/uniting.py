"""Merging groups that break a promise with their neighbours until every group keeps it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.principles.counts import Counts
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior


def united(
    groups: NDArray[np.int32],
    classes: NDArray[np.int32],
    curve: NDArray[np.float64],
    principle: Principle,
    prior: Prior,
) -> NDArray[np.int32]:
    """Merge groups that break the promise with their neighbours along the curve until every group keeps it.

    All rows as one group must keep the promise.

    >>> from discreet.principles import parse
    >>> prior = Prior(np.array([2, 2]), ("flu", "cold"))
    >>> groups, classes = np.array([0, 1, 2, 2], np.int32), np.array([0, 1, 0, 1], np.int32)
    >>> united(groups, classes, np.arange(4.0), parse("t-closeness(t=0.1)"), prior).tolist()
    [0, 0, 1, 1]
    """
    while True:
        number = int(groups.max()) + 1
        broken = ~principle.holds(Counts.of_rows(groups, classes, number, len(prior.counts)), prior)
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
