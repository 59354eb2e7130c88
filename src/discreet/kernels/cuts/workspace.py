"""Scratch memory for cutting groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.cuts.best import BestCuts, no_cuts
from discreet.kernels.cuts.choices import Takings
from discreet.kernels.cuts.halves import Halves
from discreet.kernels.cuts.layout import Blocks, Layout, layout_of


class Work(NamedTuple):
    """Scratch memory for one thread; few arrays, since every one takes long to compile.

    Counts per value are 0 between groups, and within a group only those of the values in ``present`` are touched: a
    group costs by its rows, however many values the table has.
    """

    present: NDArray[np.int32]
    """The values that rows of the group have."""
    layout: Layout
    blocks: Blocks
    halves: Halves
    takings: Takings
    moved: NDArray[np.int32]
    """The rows of a group while its halves are put in their places: their codes, then their class and number."""
    waiting: NDArray[np.int32]
    """Where the parts of a run of rows end that are still to be cut, the first of them last."""
    cuts: BestCuts


def workspace(size: int, d: int, m: int, card: int, positions: int, many: int = 1) -> Work:
    """Scratch memory for groups of up to ``size`` rows, and room for their ``many`` best cuts."""
    return Work(
        np.empty(min(m, size), np.int32),
        layout_of(size, card, positions),
        Blocks(np.empty((positions + 1, m), np.int64), np.empty((positions + 1, 2, d), np.int32)),
        Halves(np.zeros((3, m), np.int64), np.empty((3, 2, d), np.int32)),
        Takings(np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros((2, m), np.int64)),
        np.empty((size, d + 2), np.int32),
        np.empty(size, np.int32),
        no_cuts(many, m),
    )
