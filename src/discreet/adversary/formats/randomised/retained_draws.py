"""Check that the published numbers are plausible for the original ones under coin flips and fresh draws.

Single numbers may be too rare to detect anything, so intervals of numbers are tested as well. An interval is retained,
or drawn anew, with the probabilities of its values.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.adversary.checks import draws
from discreet.adversary.formats.randomised.align import Matched
from discreet.principles.counts import Counts
from discreet.releases.randomised.coin import Coin

INTERVALS = 32
"""The number of intervals, of about equally many rows, that values are merged into."""


def plausible(matched: Matched, coin: Coin) -> Check:
    """Check that the published numbers are plausible for the original ones under the coin and the draws."""
    texts, had = matched.release.texts, matched.in_places
    if had is None:
        return Check("draws", False, "The prior does not list every value of the original.")
    single = np.arange(len(texts), dtype=np.int32)
    running = np.cumsum(matched.release.prior) - 1
    together = np.unique(running * INTERVALS // max(1, int(running[-1]) + 1), return_inverse=True)[1].astype(np.int32)
    looks = []
    for nodes, where in ((single, "in its own place"), (together, "in place of one of the same interval")):
        ends = np.flatnonzero(np.diff(nodes, append=nodes[-1] + 1))
        starts = np.append(0, ends[:-1] + 1)
        names = [
            repr(texts[first]) if first == last else f"a number from {texts[first]} to {texts[last]}"
            for first, last in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        expect = partial(_expected, kept=coin.probability, drawn=np.bincount(nodes, coin.share))
        looks.append(draws.Look(had.under(nodes), matched.after.under(nodes), expect, names, "some number", where))
    return draws.plausible(
        matched,
        looks,
        "The published numbers were not kept and drawn as the manifest says",
        "The published numbers are consistent with keeping and drawing as the manifest says",
    )


def _expected(had: Counts, kept: float, drawn: NDArray[Any]) -> draws.Expected:
    """Return the means and variances of the statistics; ``drawn`` is each value's probability of being drawn anew."""
    own = kept + drawn
    held = np.bincount(had.values, had.amounts, minlength=had.width)
    rows = held.sum()
    spread = held * own * (1.0 - own) + (rows - held) * drawn * (1.0 - drawn)
    at, size, share, q = had.values, had.sizes[had.groups], had.shares, drawn[had.values]
    place = had.amounts * own[at] * (1.0 - own[at]) + (size - had.amounts) * q * (1.0 - q)
    # the variance of a row's contribution: mean of the square minus square of the mean
    groups = len(had)
    mean = kept * share + np.bincount(had.groups, q * share, minlength=groups)[had.groups]
    square = kept * share**2 + np.bincount(had.groups, q * share**2, minlength=groups)[had.groups]
    total = float((had.amounts * (square - mean**2)).sum())
    return draws.Expected(kept * held + drawn * rows, spread, kept * had.amounts + q * size, place, total)
