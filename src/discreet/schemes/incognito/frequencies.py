"""Frequency sets: the combinations of quasi-identifiers at some levels, and how often each has each sensitive value.

The rows are counted once, at the finest levels. All other frequency sets are rolled up from finer ones, which takes a
time in proportion to their combinations, however many rows these stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import rollup
from discreet.principles.counts import Counts
from discreet.table.combinations import numbered, ranked

kernels = cast(Any, rollup)


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Groups of rows by their quasi-identifiers, in ascending order of these, and the sensitive counts of each group.

    >>> rows = [np.array([0, 1, 1]), np.array([2, 0, 2])]
    >>> found, group_of = Frequencies.of_rows(rows, [2, 3], np.array([0, 1, 1]), 2)
    >>> found.codes.tolist(), found.counts.matrix().tolist(), group_of.tolist()
    ([[0, 1, 1], [2, 0, 2]], [[1, 0], [0, 1], [0, 1]], [0, 1, 2])
    >>> found.rolled_up(1, np.array([0, 0, 0]), 1).counts.matrix().tolist()
    [[1, 0], [0, 2]]
    """

    codes: NDArray[np.int32]
    """``codes[axis, group]``: the node of a group on each axis."""
    cards: tuple[int, ...]
    """How many nodes each axis has."""
    counts: Counts

    @classmethod
    def of_rows(
        cls,
        columns: Sequence[NDArray[np.integer]],
        cards: Sequence[int],
        classes: NDArray[np.integer],
        width: int,
    ) -> tuple[Frequencies, NDArray[np.int64]]:
        """Return the frequency set of rows, given their nodes and sensitive values; and the group of each row."""
        found, first, group_of = ranked(numbered(columns, cards, len(classes)))
        codes = np.array([column[first] for column in columns], np.int32)
        return cls(codes, tuple(cards), Counts.of_rows(group_of, classes, len(found), width)), group_of

    def rolled_up(self, axis: int, above: NDArray[np.int32], card: int) -> Frequencies:
        """Return the set in which every node of one axis is replaced by the one of ``card`` nodes ``above`` it."""
        codes = self.codes.copy()
        codes[axis] = above[codes[axis]]
        return self.under(codes, (*self.cards[:axis], card, *self.cards[axis + 1 :]))[0]

    def projected(self, axes: int) -> Frequencies:
        """Return the set of the first ``axes`` alone: all others are at their last levels."""
        codes = self.codes.copy()
        codes[axes:] = 0
        return self.under(codes, (*self.cards[:axes], *(1 for _ in self.cards[axes:])))[0]

    def under(self, codes: NDArray[np.int32], cards: tuple[int, ...]) -> tuple[Frequencies, Merging]:
        """Return the set of these groups under other nodes, of ``cards`` on each axis; and how the groups merge."""
        merging = Merging.of(codes, cards)
        order, first = merging
        old = self.counts
        starts, values, amounts = kernels.merged_counts(order, first, old.starts, old.values, old.amounts, old.width)
        return Frequencies(codes[:, order[first]], cards, Counts(starts, values, amounts, old.width)), merging


class Merging(NamedTuple):
    """Which groups become one."""

    order: NDArray[np.int64]
    """The groups, those that become one next to each other."""
    first: NDArray[np.bool_]
    """Which of them, in that order, begin a new group."""

    @classmethod
    def of(cls, codes: NDArray[np.int32], cards: Sequence[int]) -> Merging:
        """Return how groups with the same nodes on all axes merge.

        >>> Merging.of(np.array([[1, 0, 1]]), [2])
        Merging(order=array([1, 0, 2]), first=array([ True,  True, False]))
        """
        keys = numbered(list(codes), cards, codes.shape[1])
        order = np.arange(len(keys))
        if bool((keys[1:] < keys[:-1]).any()):  # only the last axis keeps its order when it is rolled up
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
        first = np.ones(len(keys), np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=first[1:])
        return cls(order, first)

    @property
    def home(self) -> NDArray[np.int64]:
        """The new group of each old one.

        >>> Merging.of(np.array([[1, 0, 1]]), [2]).home.tolist()
        [1, 0, 1]
        """
        home = np.empty(len(self.order), np.int64)
        home[self.order] = np.cumsum(self.first) - 1
        return home
