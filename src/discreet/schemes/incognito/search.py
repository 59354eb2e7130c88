"""The search of the lattice: which combinations of levels keep a promise.

A combination of levels is above another if none of its levels is lower; its groups are unions of the other's. So with a
monotone promise all combinations above one that keeps it keep it too, and none below one that breaks it does. Both save
most of the work. Combinations are visited from below; and before levels of some attributes are combined with levels of
more, they are judged alone, all other attributes at their last levels.

Incognito (LeFevre, DeWitt and Ramakrishnan, SIGMOD 2005) judges all subsets of attributes in this way. Here only those
are judged that the search passes anyway, and that is enough: on Adult with eight quasi-identifiers and k=5 all but 257
of 6,048 combinations are decided without being judged.

The rows are counted once, at the finest levels. The frequency sets of all other combinations are rolled up from finer
ones, which takes a time in proportion to their combinations, however many rows these stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import Rules
from discreet.kernels.rollup import merged_counts
from discreet.principles.counts import Counts
from discreet.progress import Progress
from discreet.schemes.incognito.levels import Levels
from discreet.table.combinations import numbered, ranked_combinations

KEPT, BROKEN, HOPELESS = 1, 2, 3
"""Groups can be published; they cannot; neither they nor any parts of them can."""
CELLS = 1 << 22
"""The most counts that are held in memory to find out how many more groups have to be withheld."""
Node = tuple[int, ...]
"""A combination of levels, one for each quasi-identifier."""
UNKNOWN = 0
"""What is known about a combination before anything is; then it is a verdict."""


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Groups of rows by their quasi-identifiers, in ascending order of these, and the sensitive counts of each."""

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
        sensitive_codes: NDArray[np.integer],
        width: int,
    ) -> tuple[Frequencies, NDArray[np.int64]]:
        """Return the frequency set of rows, given their nodes and sensitive values; and the group of each row."""
        keys, first, group_of = ranked_combinations(columns, cards, len(sensitive_codes))
        codes = np.array([column[first] for column in columns], np.int32)
        return cls(codes, tuple(cards), Counts.of_rows(group_of, sensitive_codes, len(keys), width)), group_of

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

    def under(self, codes: NDArray[np.int32], cards: tuple[int, ...]) -> tuple[Frequencies, NDArray[np.int64]]:
        """Return the set of these groups under other nodes, of ``cards`` on each axis; and the new group of each."""
        keys = numbered(list(codes), cards, codes.shape[1])
        order = np.arange(len(keys))
        if bool((keys[1:] < keys[:-1]).any()):  # only the last axis keeps its order when it is rolled up
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
        first = np.ones(len(keys), np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=first[1:])
        home = np.empty(len(keys), np.int64)
        home[order] = np.cumsum(first) - 1
        old = self.counts
        starts, values, amounts = merged_counts(order, first, old.starts, old.values, old.amounts, old.width)
        return Frequencies(codes[:, order[first]], cards, Counts(starts, values, amounts, old.width)), home


@dataclass(frozen=True, eq=False)
class Judge:
    """A promise, and how many rows may be withheld."""

    rules: Rules
    missing: NDArray[np.int64]
    """The sensitive counts of the rows that are withheld in any case."""
    room: int = 0
    """How many rows may be withheld besides."""
    least_rows: int = 1
    """The fewest rows of a group."""

    def verdict(self, counts: Counts) -> int:
        """Tell whether groups can be published, without those that have to be withheld.

        With a monotone promise, parts of a broken group do not all keep it: it has to lose a row, and if it is too
        small all of them, also where it is divided further. If these are too many, the groups are hopeless.
        """
        broken = counts.strains(self.rules) > 1.0
        sizes = counts.sizes[broken]
        if int(np.where(sizes < self.least_rows, sizes, 1).sum()) > self.room:
            return HOPELESS
        return KEPT if self.withheld(counts, broken) is not None else BROKEN

    def withheld(self, counts: Counts, broken: NDArray[np.bool_] | None = None) -> NDArray[np.bool_] | None:
        """Return which groups to withhold; None if that would be too many, or if they would break the promise.

        Groups that break the promise are withheld. If these rows as one group break it as well, the smallest other
        groups are withheld with them, as few as make them keep it.

        >>> from discreet.principles import KAnonymity, Prior
        >>> rules = KAnonymity(3).rules(Prior(np.array([9]), ("flu",)))
        >>> groups = Counts.of([[1], [4], [1], [3]], 1)
        >>> Judge(rules, np.zeros(1, int), 2).withheld(groups), Judge(rules, np.zeros(1, int), 5).withheld(groups)
        (None, array([ True, False,  True,  True]))
        """
        if broken is None:
            broken = counts.strains(self.rules) > 1.0
        if not broken.any():
            return broken
        sizes = counts.sizes
        room = self.room - int(sizes[broken].sum())
        if room < 0:
            return None
        some = counts.only(np.flatnonzero(broken))
        gone = self.missing + np.bincount(some.values, some.amounts, some.width).astype(np.int64)
        if self._kept(gone[None])[0]:
            return broken
        others = np.flatnonzero(~broken)
        others = others[np.argsort(sizes[others], kind="stable")][: max(1, CELLS // counts.width)]
        others = others[np.cumsum(sizes[others]) <= room]
        enough = np.flatnonzero(self._kept(gone + np.cumsum(counts.only(others).matrix(), axis=0)))
        if len(enough) == 0:
            return None
        broken[others[: enough[0] + 1]] = True
        return broken

    def _kept(self, lines: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether groups keep the promise, given one line of counts each."""
        return Counts.of(lines, lines.shape[1]).strains(self.rules) <= 1.0


class LevelSearch:
    """What is known about the combinations of levels, and how to find out about the others."""

    def __init__(self, each: Sequence[Levels], judge: Judge, progress: Progress) -> None:
        """Start without knowledge."""
        self.each = tuple(each)
        self.judge = judge
        self.progress = progress
        self.top = tuple(levels.height for levels in each)
        self.known = np.zeros([height + 1 for height in self.top], np.uint8)
        self.judged = 0
        """How many combinations had to be judged."""

    def visit(self, below: Frequencies, chosen: Node = ()) -> None:
        """Find out about the combinations with levels ``chosen`` on the first axes; ``below`` is the lowest of them.

        From axis to axis in ascending order: so all lower combinations are visited before a higher one, and each is
        rolled up from one that differs in few levels. A combination that some lower one proves to keep the promise is
        taken to keep it, and not looked at.
        """
        axis = len(chosen)
        levels, at = self.each[axis], 0
        for level in range(levels.height + 1):
            node = (*chosen, level)
            others = self.top[axis + 1 :]
            summit = node + others
            if self.known[node + (0,) * len(others)] == KEPT:
                return  # and so do all above
            if self.known[summit] == HOPELESS:
                continue
            if level > at:
                below = below.rolled_up(axis, levels.step(at, level), levels.cards[level])
                at = level
            self._learn(summit, below.projected(axis + 1) if others else below)
            if others and self.known[summit] != HOPELESS:  # else no groups can be published with these first levels
                self.visit(below, node)
            if axis == 0:
                self.progress("searching", (level + 1) / (levels.height + 1))

    def _learn(self, node: Node, groups: Frequencies) -> None:
        """Judge a combination, unless that is done, and conclude about those above or below it."""
        if self.known[node] != UNKNOWN:
            return
        self.judged += 1
        verdict = self.judge.verdict(groups.counts)
        if verdict == KEPT:
            self.known[tuple(slice(level, None) for level in node)] = KEPT
        elif verdict == HOPELESS:
            self.known[tuple(slice(0, level + 1) for level in node)] = HOPELESS
        else:
            self.known[node] = verdict


def minimal(kept: NDArray[np.bool_]) -> list[Node]:
    """Return the combinations that are kept while none below them is.

    >>> minimal(np.array([[False, False, True], [False, True, True]]))
    [(0, 2), (1, 1)]
    """
    lowest = kept.copy()
    for axis in range(kept.ndim):
        from_below = np.roll(kept, 1, axis)
        np.moveaxis(from_below, axis, 0)[0] = False
        lowest &= ~from_below
    return [tuple(node) for node in np.argwhere(lowest).tolist()]
