"""The audit of a perturbed release: quasi-identifiers as they are, sensitive values randomised by a printed matrix.

It checks that the files are those the manifest names; that the matrix gives every original value probabilities that
add up to 1; that the prior is the original's; that the rows, but for their sensitive values, are the original's; that
the published sensitive values are such as the matrix makes of the original ones; and that every promise is kept by what
each published value says about each original one, exactly as printed, and by the withheld rows taken as one group.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.case import Case, Found
from discreet.adversary.check import Check
from discreet.adversary.judging import Kept
from discreet.adversary.perturbed_draws import plausible
from discreet.adversary.perturbed_rows import Matched
from discreet.adversary.randomised import audit_randomised
from discreet.kernels.judging import SLACK
from discreet.principles import AlphaBeta, BetaLikeness, Principle, Prior, wording
from discreet.releases.perturbed import PerturbedRelease


def audit_perturbed(case: Case[PerturbedRelease]) -> Found:
    """Audit a perturbed release against its original; see ``audit``."""
    matrix = case.release.matrix
    return audit_randomised(case, [], lambda matched: [_stochastic(case.release), plausible(matched, matrix)], _judged)


def _stochastic(release: PerturbedRelease) -> Check:
    if release.matrix.stochastic:
        return Check("matrix", True, "The matrix gives every original value probabilities that add up to 1 exactly.")
    sums = release.matrix.units.sum(axis=0)
    worst = int(np.argmax([abs(int(total) - release.matrix.scale) for total in sums]))
    return Check(
        "matrix",
        False,
        f"The probabilities that the matrix gives the original value {release.texts[worst]!r} add up to "
        f"{int(sums[worst]) / release.matrix.scale!r} instead of 1.",
    )


def _judged(part: Principle, release: PerturbedRelease, matched: Matched, prior: Prior) -> Kept:
    """One promise judged on what every published value says, and on the withheld rows."""
    if not (isinstance(part, AlphaBeta) or (isinstance(part, BetaLikeness) and part.level == 0)):
        reason = "a perturbed release bounds the belief in single sensitive values and nothing else"
        return Kept(str(part), False, math.inf, None, 0, None, 0, {}, f"{part} cannot be judged, since {reason}.")
    known = matched.class_of < len(prior.counts)
    where = np.where(known, matched.class_of, 0)
    counts = np.where(known, prior.counts[where], 0)
    caps, floors = part.caps(prior), part.floors(prior)
    assert caps is not None, "these promises bound every value"
    worst = release.matrix.worst(
        counts, np.where(known, caps[where], 0.0), None if floors is None else np.where(known, floors[where], 0.0)
    )
    posteriors = release.matrix.posteriors(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = posteriors * counts.sum() / counts - 1.0
    achieved = float(np.nanmax(gains, initial=0.0))
    seen, held = release.texts[worst.published], release.texts[worst.original]
    belief = wording.percent(float(np.nan_to_num(posteriors[worst.published, worst.original])))
    share = wording.percent(float(counts[worst.original] / max(1, counts.sum())))
    said = (
        f"whoever sees {seen!r} published believes with {belief} that it was {held!r}, "
        f"which is {share} of the whole table"
    )
    pairs = release.matrix.width**2
    if worst.broken:
        sentence = (
            f"{part} is broken by {worst.broken:,} of {pairs:,} pairs of a published and an original value: {said}."
        )
    else:
        sentence = (
            f"{part} is kept by what every published value says about every original one, exactly as printed; closest "
            f"to the bound, {said}, {wording.percent(worst.strain)} of what is allowed."
        )
    strain, broken = worst.strain, worst.broken
    if matched.left.sum():
        alone, reached, told = _withheld(part, matched, prior, caps)
        strain, broken = max(strain, alone), broken + (alone > 1.0)
        achieved = max(achieved, reached)
        sentence = f"{sentence} {told}"
    return Kept(str(part), broken == 0, strain, achieved, broken, None, 0, {}, sentence)


def _withheld(part: Principle, matched: Matched, prior: Prior, caps: NDArray[np.float64]) -> tuple[float, float, str]:
    """How close the withheld rows come to breaking a promise as one group, what they reach, and a sentence."""
    left, size = matched.left, int(matched.left.sum()) + matched.open
    if matched.open:
        # which rows of some are withheld is not known: each value is withheld at least so often
        with np.errstate(divide="ignore", invalid="ignore"):
            strain = float(np.nan_to_num(left / (caps * size + SLACK), posinf=math.inf).max())
        told = (
            f"Of the {size:,} withheld rows, the sensitive values of {matched.open:,} cannot be told without the "
            "trace; as far as the others show, they "
            + ("keep the promise as a group." if strain <= 1.0 else "cannot keep the promise as a group.")
        )
        return strain, 0.0, told
    strain = float(part.strain(left[None], prior)[0])
    told = f"The {size:,} withheld rows keep it as a group." if strain <= 1.0 else part.explain(left, prior)
    return strain, part.achieved(left[None], prior), told
