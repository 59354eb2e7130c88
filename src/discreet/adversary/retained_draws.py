"""Whether published numbers are such as a coin and fresh draws make of the original ones.

What is looked at for every value of a perturbed release (see ``perturbed_draws``), how often it is published and how
often in its own place, is looked at here as well, and, as single values may be too rare to tell anything, for intervals
of values together. An interval too is kept, or drawn anew, with the probabilities of its values. Besides, how often
numbers are published in their own place, all values together, tells whether the coin was tossed as the manifest says.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.adversary.perturbed_draws import LEVEL, surprises
from discreet.adversary.perturbed_rows import Matched
from discreet.principles.counts import Counts
from discreet.releases.retained_posteriors import Coin

INTERVALS = 32
"""Into how many intervals of about as many rows values are put together."""
Floats = NDArray[np.float64]


def plausible(matched: Matched, coin: Coin) -> Check:
    """Whether the published numbers are such as the coin and the draws make of the original ones."""
    before, texts = matched.before, matched.release.texts
    place = np.full(before.width + 1, -1, np.int32)
    place[matched.class_of] = np.arange(len(texts))
    if before.width != len(place) - 1 or bool((place[before.values] < 0).any()):
        return Check("draws", False, "The prior does not list every value of the original.")
    single = np.arange(len(texts), dtype=np.int32)
    running = np.cumsum(matched.release.prior) - 1
    together = np.unique(running * INTERVALS // max(1, int(running[-1]) + 1), return_inverse=True)[1].astype(np.int32)
    figures, names = [], []
    for nodes, where in ((single, "in its own place"), (together, "in place of one of the same interval")):
        figures.append(_figures(before.under(nodes[place]), matched.after.under(nodes), nodes, coin))
        ends = np.flatnonzero(np.diff(nodes, append=nodes[-1] + 1))
        starts = np.append(0, ends[:-1] + 1)
        shown = [
            repr(texts[first]) if first == last else f"a number from {texts[first]} to {texts[last]}"
            for first, last in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        names += [f"{name} is published" for name in shown]
        names += [f"{name} is published {where}" for name in shown]
        names.append(f"some number is published {where}")
    observed, means, variances = np.concatenate(figures, axis=1)
    surprise = surprises(observed, means, variances)
    worst = int(np.argmax(surprise))
    if surprise[worst] > math.log(len(surprise) / LEVEL):
        return Check(
            "draws",
            False,
            f"The published numbers were not kept and drawn as the manifest says: {names[worst]} about "
            f"{observed[worst]:,.0f} times where {means[worst]:,.0f} are expected, give or take "
            f"{math.sqrt(max(0.0, variances[worst])):,.0f}.",
        )
    return Check(
        "draws",
        True,
        "The published numbers are such as keeping and drawing them as the manifest says makes of the original ones, "
        "as far as chance lets one tell: a release drawn in this way is found at fault less than once in a million "
        "times.",
    )


def _figures(had: Counts, got: Counts, nodes: NDArray[np.int32], coin: Coin) -> Floats:
    """Observed figures, their means and their variances: per node published, per node in its own place, and all so."""
    width = int(nodes[-1]) + 1
    kept, drawn = coin.probability, np.bincount(nodes, coin.share, minlength=width)
    own = kept + drawn
    held = np.bincount(had.values, had.amounts, minlength=width)
    rows = held.sum()
    published = np.bincount(got.values, got.amounts, minlength=width)
    spread = held * own * (1.0 - own) + (rows - held) * drawn * (1.0 - drawn)
    first = np.stack([published, kept * held + drawn * rows, spread])
    # a published value counts by its share among the original rows of its combination
    at, size, share, q = had.values, had.sizes[had.groups], had.shares, drawn[had.values]
    keys, seen = (of.groups * width + of.values for of in (had, got))
    found = np.searchsorted(seen, keys)
    hit = np.append(seen, -1)[found] == keys
    times = np.where(hit, np.append(got.amounts, 0)[found], 0)
    terms = (
        share * times,
        share * (kept * had.amounts + q * size),
        share**2 * (had.amounts * own[at] * (1.0 - own[at]) + (size - had.amounts) * q * (1.0 - q)),
    )
    second = np.stack([np.bincount(at, term, minlength=width) for term in terms])
    # all together: per row, the mean of its term and of the square of it
    groups = len(had)
    mean = kept * share + np.bincount(had.groups, q * share, minlength=groups)[had.groups]
    square = kept * share**2 + np.bincount(had.groups, q * share**2, minlength=groups)[had.groups]
    total = np.array([second[0].sum(), second[1].sum(), (had.amounts * (square - mean**2)).sum()])
    return np.concatenate([first, second, total[:, None]], axis=1)
