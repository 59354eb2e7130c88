"""Scratch memory for cutting groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.cuts.choices import Takings
from discreet.kernels.cuts.halves import WHOLE, Halves
from discreet.kernels.cuts.layout import Blocks, Held, Layout, layout_of
from discreet.kernels.cuts.terms import BestCuts, no_cuts
from discreet.kernels.judging import Joint


class Work(NamedTuple):
    """Scratch memory for one thread; few arrays, since every one takes long to compile.

    Counts per value are 0 between groups, and within a group only those of the values in ``present`` are touched: a
    group costs by its rows, however many values the table has.

    Where several attributes are judged, a "value" is a combination of theirs. Only what decides which rows go where is
    counted by combinations; all that is judged is counted by the values of each attribute, which are fewer.
    """

    present: NDArray[np.int32]
    """The values that rows of the group have."""
    layout: Layout
    blocks: Blocks
    halves: Halves
    takings: Takings
    held: Held | None
    """None where one attribute is judged: what is only for several is then left out of what is compiled."""
    moved: NDArray[np.int32]
    """The rows of a group while its halves are put in their places: their codes, then their class and number."""
    waiting: NDArray[np.int32]
    """Where the parts of a run of rows end that are still to be cut, the first of them last."""
    cuts: BestCuts


def workspace(size: int, d: int, m: int, card: int, positions: int, many: int = 1, joint: Joint | None = None) -> Work:
    """Scratch memory for groups of up to ``size`` rows with ``m`` values, and room for their ``many`` best cuts.

    ``joint`` tells the attributes whose values together are the ``m`` values, if there are several.
    """
    judged = m if joint is None else int(joint.offsets[-1])
    halves = Halves(np.zeros((3, judged), np.int64), np.empty((3, 2, d), np.int32))
    counts, held = halves.counts[WHOLE], None
    if joint is not None:
        counts = np.zeros(m, np.int64)
        held = Held(np.empty(judged, np.int32), np.zeros(len(joint.widths), np.int64))
    return Work(
        np.empty(min(m, size), np.int32),
        layout_of(size, card, positions),
        Blocks(np.empty((positions + 1, judged), np.int64), np.empty((positions + 1, 2, d), np.int32)),
        halves,
        Takings(counts, np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros((2, m), np.int64)),
        held,
        np.empty((size, d + 2), np.int32),
        np.empty(size, np.int32),
        no_cuts(many, m),
    )
