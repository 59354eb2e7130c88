"""The terms of cuts: which are tried, how one is chosen among them, and what the rules allow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PLAIN, STRATIFIED, BUCKETED, REPAIRED = 1, 2, 4, 8


class Recipe(NamedTuple):
    """How a partitioner chooses among the cuts that keep the rules."""

    families: int
    """A sum of ``PLAIN``, ``STRATIFIED``, ``BUCKETED``, ``REPAIRED``."""
    positions: int
    """How many positions of an axis are tried by plain and repaired cuts."""
    shares: int
    """How many shares are tried by stratified cuts: 1 is the half, 3 are the quarters."""
    caution: float
    """What a half costs that is close to its bounds: later cuts of it will be blocked."""
    plain_above: int
    """Groups of more rows than this take a plain cut whenever one is allowed: it leaves the others for later."""
    widest: bool
    """Whether the widest axis is cut, as Mondrian does, and not the one where the cut costs least."""


class Limits(NamedTuple):
    """The linear part of the rules, and what follows from them for cuts."""

    caps: NDArray[np.float64]
    """Per value: the largest share of a group it may have (1 when unbounded)."""
    floors: NDArray[np.float64]
    """Per value: the smallest share of a group it must have."""
    values: NDArray[np.int32]
    """Strata of one value each: 0, 1, 2, ..."""
    buckets: NDArray[np.int32]
    """Per value: its bucket. Taking the same share of every bucket keeps the caps, whichever values are taken."""
    smallest: int
    """No smaller group can keep the rules."""
