"""Whether published sensitive values are such as chance makes of the original ones by the printed matrix."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.adversary.checks import draws
from discreet.adversary.formats.randomised.align import Matched
from discreet.principles.counts import Counts
from discreet.releases.randomised.matrix import Matrix

CELLS = 1 << 22
"""How many counts are held at a time."""


def plausible(matched: Matched, matrix: Matrix) -> Check:
    """Whether the published values are such as the matrix makes of the original ones."""
    had = matched.in_places
    if had is None:
        return Check("draws", False, "The matrix does not tell what becomes of every value of the original.")
    names = [repr(text) for text in matched.release.texts]
    expect = partial(_expected, cells=matrix.cells)
    look = draws.Look(had, matched.after, expect, names, "some value", "in its own place")
    return draws.plausible(
        matched,
        [look],
        "The published sensitive values were not drawn by the matrix",
        "The published sensitive values are such as the matrix makes of the original ones",
    )


def _expected(had: Counts, cells: NDArray[np.float64]) -> draws.Expected:
    """What the matrix makes of some original rows."""
    spreads = cells * (1.0 - cells)
    held = np.bincount(had.values, had.amounts, minlength=had.width)
    own, own_spread = np.empty((2, len(had.values)))
    total = 0.0
    step = max(1, CELLS // had.width)
    for start in range(0, len(had), step):
        stop = min(len(had), start + step)
        inside = slice(had.starts[start], had.starts[stop])
        at = had.groups[inside] - start, had.values[inside]
        dense, share = np.zeros((2, stop - start, had.width))
        dense[at], share[at] = had.amounts[inside], had.shares[inside]
        own[inside], own_spread[inside] = (dense @ cells.T)[at], (dense @ spreads.T)[at]
        # all together: per original value, the mean of what its row counts and of the square of it
        total += float((dense * (share**2 @ cells - (share @ cells) ** 2)).sum())
    return draws.Expected(cells @ held, spreads @ held, own, own_spread, total)
