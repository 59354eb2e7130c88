"""Check that the published sensitive values are plausible for the original ones under the published matrix."""

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
"""How many counts are kept in memory at a time."""


def plausible(matched: Matched, matrix: Matrix) -> Check:
    """Check that the published values are plausible for the original ones under the matrix."""
    had = matched.in_places
    if had is None:
        return Check("draws", False, "The matrix does not cover every value of the original.")
    names = [repr(text) for text in matched.release.texts]
    expect = partial(_expected, cells=matrix.cells)
    look = draws.Look(had, matched.after, expect, names, "some value", "in its own place")
    return draws.plausible(
        matched,
        [look],
        "The published sensitive values were not drawn with the probabilities of the matrix",
        "The published sensitive values are consistent with the original ones and the matrix",
    )


def _expected(had: Counts, cells: NDArray[np.float64]) -> draws.Expected:
    """Return the means and variances of the statistics under the matrix."""
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
        # the variance of a row's contribution, by its original value: mean of the square minus square of the mean
        total += float((dense * (share**2 @ cells - (share @ cells) ** 2)).sum())
    return draws.Expected(cells @ held, spreads @ held, own, own_spread, total)
