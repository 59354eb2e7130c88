"""The audit of a perturbed release: quasi-identifiers as they are, sensitive values randomised by a printed matrix.

It checks that the files are those the manifest names; that the matrix gives every original value probabilities that
add up to 1; that the prior is the original's; that the rows, but for their sensitive values, are the original's; that
the published sensitive values are such as the matrix makes of the original ones; and that every promise is kept by what
each published value says about each original one, exactly as printed, and by the withheld rows taken as one group.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary import soundness
from discreet.adversary.check import Check
from discreet.adversary.judging import Kept
from discreet.adversary.perturbed_draws import plausible
from discreet.adversary.perturbed_rows import Matched, match
from discreet.adversary.trace import read_trace
from discreet.kernels.judging import SLACK
from discreet.principles import AlphaBeta, BetaLikeness, Principle, Prior, wording
from discreet.releases.perturbed import PerturbedRelease
from discreet.releases.randomised import RandomisedRelease
from discreet.table.table import Table

if TYPE_CHECKING:
    from discreet.adversary.audit import Audit


def audit_perturbed(
    home: Path,
    manifest: dict[str, Any],
    release: PerturbedRelease,
    original: Table,
    trace: str | os.PathLike[str] | NDArray[Any] | None = None,
    promises: Principle | str | Iterable[Principle | str] | None = None,
    from_release: Collection[str] = (),
) -> Audit:
    """Audit a perturbed release, loaded from ``home``, against its original; see ``audit``."""
    from discreet.adversary.audit import Audit

    faults: list[str] = []
    if trace is not None and not isinstance(trace, np.ndarray):
        trace, faults = read_trace(trace, original.rows)
    matched = match(release, original, trace, faults)
    prior = Prior.of(original)
    checks = [soundness.files(home, manifest), soundness.entries(manifest, [])]
    checks += [consistency(release), _stochastic(release), same_prior(matched, prior), matched.check]
    checks.append(plausible(matched, release.matrix))
    parts, stated = soundness.promises(manifest, promises)
    checks.append(stated)
    kept = [_judged(part, release, matched, prior) for part in parts]
    given, warnings = soundness.taken(parts, prior, from_release)
    checks += [*warnings, *soundness.kept(release)]
    withheld = max(0, original.rows - release.rows)
    lost = withheld / original.rows if original.rows else 0.0
    losses = {"ail": lost, "gcp": lost, "retention": release.retention}
    return Audit(checks, kept, losses, release.rows, withheld, 0, matched.how, given)


def consistency(release: RandomisedRelease) -> Check:
    """Whether the files agree with each other."""
    if release.faults:
        return Check("consistency", False, " ".join(release.faults))
    return Check("consistency", True, "The tables agree with each other and with the manifest.")


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


def same_prior(matched: Matched, prior: Prior) -> Check:
    """Whether the prior of the release is that of the original."""
    told = np.zeros(len(prior.counts) + 1, np.int64)
    np.add.at(told, matched.class_of, matched.release.prior)
    if told[-1]:
        strange = matched.release.texts[int(np.argmax(matched.class_of == len(prior.counts)))]
        return Check("prior", False, f"The prior lists {strange!r}, a value that the original does not have.")
    differ = np.flatnonzero(told[:-1] != prior.counts)
    if len(differ):
        worst = int(differ[np.argmax(np.abs(told[differ] - prior.counts[differ]))])
        return Check(
            "prior",
            False,
            f"The prior is not the original's: it counts {prior.values[worst]!r} {told[worst]:,} times, but it occurs "
            f"{prior.counts[worst]:,} times.",
        )
    return Check("prior", True, "The prior is the distribution of the sensitive attribute in the whole original.")


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
