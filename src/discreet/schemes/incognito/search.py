"""The search of the lattice: which combinations of levels keep a promise.

A combination of levels is above another if none of its levels is lower; its groups are unions of the other's. So with a
monotone promise all combinations above one that keeps it keep it too, and none below one that breaks it does. Both save
most of the work. Combinations are visited from below; and before levels of some attributes are combined with levels of
more, they are judged alone, all other attributes at their last levels.

Incognito (LeFevre, DeWitt and Ramakrishnan, SIGMOD 2005) judges all subsets of attributes in this way. Here only those
are judged that the search passes anyway, and that is enough: on Adult with eight quasi-identifiers and k=5 all but 257
of 6,048 combinations are decided without being judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.progress import Progress
from discreet.schemes.incognito.frequencies import Frequencies
from discreet.schemes.incognito.judge import HOPELESS, KEPT
from discreet.schemes.incognito.levels import Levels

Node = tuple[int, ...]
"""A combination of levels, one for each quasi-identifier."""

UNKNOWN = 0
"""What is known about a combination before anything is; then it is a verdict."""


class Search:
    """What is known about the combinations of levels, and how to find out about the others."""

    def __init__(
        self,
        each: Sequence[Levels],
        verdict: Callable[[Frequencies], int],
        progress: Progress | None = None,
    ) -> None:
        """Start without knowledge; ``verdict`` tells whether the groups of a frequency set can be published."""
        self.each = tuple(each)
        self.verdict = verdict
        self.progress = progress
        self.top = tuple(levels.height for levels in each)
        self.known = np.zeros([height + 1 for height in self.top], np.uint8)
        self.judged = 0
        """How many combinations had to be judged."""

    def run(self, bottom: Frequencies) -> NDArray[np.bool_]:
        """Find out about all combinations, given the frequency set at the lowest levels; return which keep the promise.

        A combination that some lower one proves to keep it is taken to keep it, and not looked at.
        """
        self._visit(bottom, ())
        return np.asarray(self.known == KEPT)

    def _visit(self, below: Frequencies, chosen: Node) -> None:
        """Visit the combinations with the levels ``chosen`` on the first axes; ``below`` is the lowest of them.

        From axis to axis in ascending order: so all lower combinations are visited before a higher one, and each is
        rolled up from one that differs in few levels.
        """
        axis = len(chosen)
        levels, at = self.each[axis], 0
        for level in range(levels.height + 1):
            node = (*chosen, level)
            if self.known[self._bottom(node)] == KEPT:
                return  # and so do all above
            if self.known[self._summit(node)] == HOPELESS:
                continue
            if level > at:
                below = below.rolled_up(axis, levels.step(at, level), levels.cards[level])
                at = level
            if len(node) == len(self.each):
                self._learn(node, below)
            elif self._possible(node, below):
                self._visit(below, node)
            if self.progress and axis == 0:
                self.progress("searching", (level + 1) / (levels.height + 1))

    def _possible(self, node: Node, below: Frequencies) -> bool:
        """Whether groups may be published with these first levels: only if they are not hopeless by these alone."""
        summit = self._summit(node)
        self._learn(summit, below.projected(len(node)))
        return bool(self.known[summit] != HOPELESS)

    def _learn(self, node: Node, groups: Frequencies) -> None:
        """Judge a combination, unless that is done, and conclude about those above or below it."""
        if self.known[node] != UNKNOWN:
            return
        self.judged += 1
        verdict = self.verdict(groups)
        if verdict == KEPT:
            self.known[tuple(slice(level, None) for level in node)] = KEPT
        elif verdict == HOPELESS:
            self.known[tuple(slice(0, level + 1) for level in node)] = HOPELESS
        else:
            self.known[node] = verdict

    def _bottom(self, node: Node) -> Node:
        return node + (0,) * (len(self.top) - len(node))

    def _summit(self, node: Node) -> Node:
        return node + self.top[len(node) :]


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
