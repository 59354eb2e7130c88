"""The audit of a retained release: exact quasi-identifiers, sensitive numbers retained by a coin or drawn anew.

The stated probability must be the one that the scheme finds for the stated promise. Promises are judged on the belief
in the neighbourhood of any occurring number given each published one, computed exactly from the published probability,
and on the withheld rows taken as one group.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check
from discreet.adversary.checks.manifest import version_hint
from discreet.adversary.verdict import PromiseVerdict
from discreet.errors import DiscreetError
from discreet.families.randomised.auditor import draws
from discreet.families.randomised.auditor.align import AlignedRandomised
from discreet.families.randomised.auditor.audit import audit_randomised, judged_by_beliefs, recompute
from discreet.families.randomised.release.coin import Coin, crowds
from discreet.families.randomised.release.retained import RetainedRelease
from discreet.principles import Principle, Prior, wording
from discreet.principles.counts import Counts


def audit_retained(case: Case[RetainedRelease]) -> FormatFindings:
    """Audit a retained release against its original; see ``audit``."""
    more = {"retention": case.manifest["retention"]}  # loading has validated this entry
    return audit_randomised(
        case, more, lambda aligned, same: [_probability(case, same), plausible(aligned, case.release.coin)], _judged
    )


def _probability(case: Case[RetainedRelease], same_prior: bool) -> Check:
    """Check that numbers are kept with the probability that the scheme finds, and drawn as it draws them."""
    coin, subject = case.release.coin, "The probability that a number is kept"
    again = recompute(case, Prior.of(case.original) if same_prior else None, "probability", subject)
    if isinstance(again, Check):
        return again
    solution = again.probabilities
    if not np.array_equal(np.sort(coin.weights), np.sort(solution.weights)):
        sentence = "Numbers that are not kept are said to be drawn in another way than the options of the scheme state."
        return Check("probability", False, sentence)
    if coin.units * solution.scale != solution.units * coin.scale:
        sentence = f"The stated probability that a number is kept, {coin.probability!r}, is not that which {again.how}"
        return Check("probability", False, f"{sentence}, {solution.probability!r}.{version_hint(case.manifest)}")
    return Check("probability", True, f"{subject} is the one that {again.how}.")


def _judged(part: Principle, release: RetainedRelease, aligned: AlignedRandomised, prior: Prior) -> PromiseVerdict:
    """Judge one promise on the beliefs given every published number."""
    near = part.nearness
    if near is None:
        reason = "a retained release bounds the belief that a number lies near to another and nothing else"
        return PromiseVerdict.unjudged(part, f", since {reason}")
    try:
        crowd = crowds(prior.counts, *near.windows(prior))
    except DiscreetError as error:
        return PromiseVerdict.unjudged(part, f": {error}")
    counts = aligned.in_prior(prior.counts)
    worst = release.coin.nearest(counts, aligned.in_prior(crowd.around), prior.rows, near.m)
    code = int(aligned.class_of[worst.published])
    centre = crowd.centre(code) if code < len(prior.counts) else 0
    first, last = crowd.first[centre], crowd.last[centre]
    what = (
        f"it was {prior.values[first]!r}"
        if first == last
        else f"it was a number from {prior.values[first]} to {prior.values[last]}, near to {prior.values[centre]}"
    )
    said = (
        f"an attacker who sees {release.texts[worst.published]} published believes with "
        f"{wording.percent(worst.belief)} that {what}, where {wording.percent(crowd.rows[centre] / prior.rows)} of the "
        "whole table lie"
    )
    strain, broken = worst.belief * near.m, worst.broken
    # rounding must not contradict the exact count of broken values
    strain = max(strain, float(np.nextafter(1.0, 2.0))) if broken else min(strain, 1.0)
    achieved = math.floor(1.0 / worst.belief + 1e-9) if worst.belief > 0.0 else prior.rows
    return judged_by_beliefs(part, strain, achieved, broken, f"{len(counts):,} published values", said)


INTERVALS = 32
"""The number of intervals, of about equally many rows, that values are merged into."""


def plausible(aligned: AlignedRandomised, coin: Coin) -> Check:
    """Check that the published numbers are plausible for the original ones under the coin and the draws."""
    texts, had = aligned.release.texts, aligned.in_places
    if had is None:
        return Check("draws", False, "The prior does not list every value of the original.")
    single = np.arange(len(texts), dtype=np.int32)
    running = np.cumsum(aligned.release.prior) - 1
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
        looks.append(draws.Look(had.under(nodes), aligned.after.under(nodes), expect, names, "some number", where))
    return draws.plausible(
        aligned,
        looks,
        "The published numbers were not kept and drawn as the manifest says",
        "The published numbers are consistent with keeping and drawing as the manifest says",
    )


def _expected(had: Counts, kept: float, drawn: NDArray[Any]) -> draws.Expected:
    """Return the means and variances of the statistics; ``drawn`` is each value's probability of being drawn anew."""
    unchanged = kept + drawn
    held = np.bincount(had.values, had.amounts, minlength=had.width)
    rows = held.sum()
    spread = held * unchanged * (1.0 - unchanged) + (rows - held) * drawn * (1.0 - drawn)
    at, size, share, q = had.values, had.sizes[had.groups], had.shares, drawn[had.values]
    place = had.amounts * unchanged[at] * (1.0 - unchanged[at]) + (size - had.amounts) * q * (1.0 - q)
    # the variance of a row's contribution: mean of the square minus square of the mean
    groups = len(had)
    mean = kept * share + np.bincount(had.groups, q * share, minlength=groups)[had.groups]
    square = kept * share**2 + np.bincount(had.groups, q * share**2, minlength=groups)[had.groups]
    total = float((had.amounts * (square - mean**2)).sum())
    return draws.Expected(kept * held + drawn * rows, spread, kept * had.amounts + q * size, place, total)
