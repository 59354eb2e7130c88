"""Scratch memory for cutting groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.cuts.best import BestCuts, no_cuts
from discreet.kernels.judging import Joint


class Work(NamedTuple):
    """Scratch memory for one thread.

    Counts per value are 0 between groups, and within a group only those of the values in ``present`` are touched: a
    group costs by its rows, however many values the table has.

    Where several attributes are judged, a "value" is a combination of theirs. Only what decides which rows go where is
    counted by combinations; all that is judged is counted by the values of each attribute, which are fewer.
    """

    present: NDArray[np.int32]
    """The values that rows of the group have."""
    order: NDArray[np.int32]
    """Rows, counted from the first of the group, in the order of the axis."""
    steps: NDArray[np.int32]
    """Per row: its step along the axis."""
    tally: NDArray[np.int32]
    """Per step: how many rows lie before it."""
    block: NDArray[np.int32]
    """Per step: the block it lies in."""
    edges: NDArray[np.int32]
    """Per block: how many rows lie in it and before it."""
    points: NDArray[np.int32]
    """The rows of a group while its halves are put in their places, with ``classes`` and ``rows``."""
    classes: NDArray[np.int32]
    rows: NDArray[np.int32]
    left: NDArray[np.int64]
    """Per value, or per value of each attribute: how many rows the left half has; ``right``: the right one."""
    right: NDArray[np.int64]
    counts: NDArray[np.int64]
    """Per value: how many rows the group has."""
    totals: NDArray[np.int64]
    """The same per value of each attribute, where there are several."""
    held: NDArray[np.int32]
    """From where the values of an attribute begin: those that rows of the group have; ``numbers``: how many."""
    numbers: NDArray[np.int64]
    x: NDArray[np.int64]
    """Per stratum: how many rows go left, from ``least`` to ``most``; ``taken``: how many of these have been."""
    least: NDArray[np.int64]
    most: NDArray[np.int64]
    taken: NDArray[np.int64]
    block_counts: NDArray[np.int64]
    """Per block and value, or value of each attribute: how many rows lie in it and before it."""
    block_low: NDArray[np.int32]
    block_high: NDArray[np.int32]
    low: NDArray[np.int32]
    """Per axis: the smallest code of the group; ``high``: the largest."""
    high: NDArray[np.int32]
    half_low: NDArray[np.int32]
    half_high: NDArray[np.int32]
    waiting: NDArray[np.int32]
    """Where the parts of a run of rows end that are still to be cut, the first of them last."""
    cuts: BestCuts


def workspace(size: int, d: int, m: int, card: int, positions: int, many: int = 1, joint: Joint | None = None) -> Work:
    """Scratch memory for groups of up to ``size`` rows with ``m`` values, and room for their ``many`` best cuts.

    ``joint`` tells the attributes whose values together are the ``m`` values, if there are several.
    """
    each = 0 if joint is None else int(joint.offsets[-1])
    judged = m if joint is None else each
    return Work(
        np.empty(min(m, size), np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(min(card, 4 * size + 64) + 2, np.int32),
        np.empty(min(card, 4 * size + 64) + 2, np.int32),
        np.empty(positions + 2, np.int32),
        np.empty((size, d), np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.zeros(judged, np.int64),
        np.zeros(judged, np.int64),
        np.zeros(m, np.int64),
        np.zeros(each, np.int64),
        np.empty(each, np.int32),
        np.zeros(0 if joint is None else len(joint.widths), np.int64),
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.empty((positions + 1, judged), np.int64),
        np.empty((positions + 1, d), np.int32),
        np.empty((positions + 1, d), np.int32),
        np.empty(d, np.int32),
        np.empty(d, np.int32),
        np.empty((2, d), np.int32),
        np.empty((2, d), np.int32),
        np.empty(size, np.int32),
        no_cuts(many, m),
    )
