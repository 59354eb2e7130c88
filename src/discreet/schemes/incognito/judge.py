"""Which groups of a frequency set have to be withheld so that all others keep a promise, and the withheld rows too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import Rules
from discreet.principles.counts import Counts

KEPT, BROKEN, HOPELESS = 1, 2, 3
"""Groups can be published; they cannot; neither they nor any parts of them can."""

CELLS = 1 << 22
"""The most counts that are held in memory to find out how many more groups have to be withheld."""


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
        return KEPT if self._withheld(counts, broken) is not None else BROKEN

    def withheld(self, counts: Counts) -> NDArray[np.bool_] | None:
        """Return which groups to withhold; None if that would be too many, or if they would break the promise.

        Groups that break the promise are withheld. If these rows as one group break it as well, the smallest other
        groups are withheld with them, as few as make them keep it.

        >>> from discreet.principles import KAnonymity, Prior
        >>> rules = KAnonymity(3).rules(Prior(np.array([9]), ("flu",)))
        >>> groups = Counts.of([[1], [4], [1], [3]], 1)
        >>> Judge(rules, np.zeros(1, int), 2).withheld(groups), Judge(rules, np.zeros(1, int), 5).withheld(groups)
        (None, array([ True, False,  True,  True]))
        """
        return self._withheld(counts, counts.strains(self.rules) > 1.0)

    def _withheld(self, counts: Counts, broken: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        if not broken.any():
            return broken
        sizes = counts.sizes
        room = self.room - int(sizes[broken].sum())
        if room < 0:
            return None
        gone = self.missing + _summed(counts.only(np.flatnonzero(broken)))
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


def _summed(counts: Counts) -> NDArray[np.int64]:
    """Return the counts of all groups together."""
    return np.bincount(counts.values, counts.amounts, counts.width).astype(np.int64)
