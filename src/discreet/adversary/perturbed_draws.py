"""Whether published sensitive values are such as chance makes of the original ones by the printed matrix.

Two numbers are looked at for every value v. How often v is published; and how often it is published where it occurred:
every published v counts by the share of v among the original rows with the same quasi-identifiers and other columns.
The second one tells values that were never randomised, or randomised too little, even where the first cannot. Given the
original, both are sums of independent terms between 0 and 1 whose means and variances follow from the matrix. By
Bernstein's inequality the probability that such a sum is off its mean by d is at most 2 exp(-d^2 / (2 (variance + d /
3))), whatever the number of rows; a test that only holds for many rows would raise false alarms on rare values.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.adversary.perturbed_rows import Matched
from discreet.principles.counts import Counts
from discreet.releases.posteriors import Matrix

LEVEL = 1e-6
"""How often a release that was drawn as it says is taken for one that was not."""
CELLS = 1 << 22
"""How many counts are held at a time."""


def plausible(matched: Matched, matrix: Matrix) -> Check:
    """Whether the published values are such as the matrix makes of the original ones."""
    release, before, after = matched.release, matched.before, matched.after
    width = matrix.width
    place = np.full(before.width + 1, -1, np.int64)
    place[matched.class_of] = np.arange(width)
    if before.width != len(place) - 1 or bool((place[before.values] < 0).any()):
        return Check("draws", False, "The matrix does not tell what becomes of every value of the original.")
    cells = matrix.cells
    observed, means, variances = (np.zeros((2, width)) for _ in range(3))
    step = max(1, CELLS // width)
    for start in range(0, len(before), step):
        stop = min(len(before), start + step)
        had = _dense(before, start, stop, width, place)
        got = _dense(after, start, stop, width, np.arange(width + 1))
        weight = had / np.maximum(1.0, had.sum(axis=1, keepdims=True))
        mean, variance = had @ cells.T, had @ (cells * (1.0 - cells)).T
        for at, (one, two) in enumerate(((1.0, 1.0), (weight, weight**2))):
            observed[at] += (got * one).sum(axis=0)
            means[at] += (mean * one).sum(axis=0)
            variances[at] += (variance * two).sum(axis=0)
    surprise = surprises(observed, means, variances)
    if float(surprise.max()) > math.log(surprise.size / LEVEL):
        kind, value = divmod(int(np.argmax(surprise)), width)
        what = ("is published", "is published in its own place")[kind]
        return Check(
            "draws",
            False,
            f"The published sensitive values were not drawn by the matrix: {release.texts[value]!r} {what} about "
            f"{observed[kind, value]:,.0f} times where {means[kind, value]:,.0f} are expected, give or take "
            f"{math.sqrt(variances[kind, value]):,.0f}.",
        )
    return Check(
        "draws",
        True,
        "The published sensitive values are such as the matrix makes of the original ones, as far as chance lets one "
        "tell: a release drawn in this way is found at fault less than once in a million times.",
    )


def surprises(
    observed: NDArray[np.float64], means: NDArray[np.float64], variances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How surprising sums of independent terms between 0 and 1 are: -log of a bound on how probable, by Bernstein.

    >>> surprises(np.array([5.0, 9.0, 3.0]), np.array([5.0, 5.0, 3.5]), np.array([2.5, 2.5, 0.0])).round(2).tolist()
    [-0.69, 1.39, inf]
    """
    off = np.abs(observed - means)
    exponent = off**2 / (2.0 * (variances + off / 3.0) + 1e-300) - math.log(2.0)
    return np.where((variances < 1e-12) & (off > 1e-6), math.inf, exponent)


def _dense(counts: Counts, start: int, stop: int, width: int, place: NDArray[np.int64]) -> NDArray[np.float64]:
    """The counts of some groups, zeros included, their values put in places."""
    inside = slice(counts.starts[start], counts.starts[stop])
    result = np.zeros((stop - start, width))
    result[counts.groups[inside] - start, place[counts.values[inside]]] = counts.amounts[inside]
    return result
