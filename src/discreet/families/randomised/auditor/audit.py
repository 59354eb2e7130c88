"""The common audit of formats that publish quasi-identifiers unchanged and randomise every sensitive value.

The probabilities with which values are randomised follow from the prior and the promise alone, so that an audit can
compute them again. If those of a release are others, then estimates of counts by them are misleading, or the release
was made for another promise than the manifest states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check
from discreet.adversary.checks import soundness
from discreet.adversary.checks.certain import Certain, shown
from discreet.adversary.checks.domains import numbers_of
from discreet.adversary.checks.manifest import stated_promise, stated_scheme, version_hint
from discreet.adversary.verdict import PromiseVerdict
from discreet.errors import DiscreetError
from discreet.families.randomised.auditor.align import AlignedRandomised, align
from discreet.families.randomised.auditor.withheld import undecided, with_withheld
from discreet.families.randomised.release.base import RandomisedRelease
from discreet.principles import Principle, Prior, wording
from discreet.table.table import Table
from discreet.table.texts import MISSING

R = TypeVar("R", bound=RandomisedRelease)


CONSISTENT = "The tables agree with each other and with the manifest."


def audit_randomised(
    case: Case[R],
    more: Mapping[str, Any],
    chance: Callable[[AlignedRandomised, bool], list[Check]],
    judged: Callable[[Principle, R, AlignedRandomised, Prior], PromiseVerdict],
) -> FormatFindings:
    """Audit a release; ``chance`` checks the random draws, and ``judged`` judges a promise on them.

    ``chance`` is also told whether the prior is the original's, and so may be relied on. The withheld rows are judged
    here, as one more group. ``more`` are the manifest entries specific to the format.
    """
    release, original = case.release, case.original
    aligned = align(release, original, case.trace, list(case.trace_faults))
    prior = Prior.of(original)
    more = {"randomised": case.manifest["randomised"], **more}  # loading has validated this entry
    checks = soundness.opening(case, CONSISTENT, numbers_of(release.quasi, release.exact), **more)
    same = _same_prior(aligned, prior)
    checks += [same, aligned.check, *chance(aligned, same.holds)]
    verdicts = [with_withheld(judged(part, release, aligned, prior), part, aligned, prior) for part in case.parts]
    if not all(decided for _, decided in verdicts):
        checks.append(undecided(aligned))
    given, warnings = soundness.taken(case.parts, prior, case.from_release)
    lost = case.withheld / original.rows if original.rows else 0.0
    losses = {"ail": lost, "gcp": lost, "retention": release.retention}
    kept = [verdict for verdict, _ in verdicts]
    return FormatFindings([*checks, *warnings], kept, losses, aligned.how, given, certain=_certain(aligned, original))


def _certain(aligned: AlignedRandomised, original: Table) -> list[Certain]:
    """Count those of whom all rows with their quasi-identifiers are known to stem from one and the same value."""
    release, column = aligned.release, original.sensitive[0]
    known = release.sources.astype(np.int64)
    if len(known) < 2 or bool((known < 0).all()):
        return []
    missing = np.array([text == MISSING for text in release.texts], np.bool_)
    known[(known >= 0) & missing[known]] = -1
    beyond = np.full(len(release.shown.values) - len(known), -1)
    of_row = np.concatenate([known, beyond])[release.shown.codes]
    return shown(column.name, of_row, release.keys(), "person")


def _same_prior(aligned: AlignedRandomised, prior: Prior) -> Check:
    """Check that the prior of the release is the original's."""
    stated = np.zeros(len(prior.counts) + 1, np.int64)
    np.add.at(stated, aligned.class_of, aligned.release.prior)
    if stated[-1]:
        strange = aligned.release.texts[int(np.argmax(aligned.class_of == len(prior.counts)))]
        return Check("prior", False, f"The prior lists {strange!r}, a value that the original does not have.")
    differ = np.flatnonzero(stated[:-1] != prior.counts)
    if len(differ):
        worst = int(differ[np.argmax(np.abs(stated[differ] - prior.counts[differ]))])
        counted = f"it counts {prior.values[worst]!r} {stated[worst]:,} times"
        occurs = f"but it occurs {prior.counts[worst]:,} times"
        return Check("prior", False, f"The prior is not the original's: {counted}, {occurs}.")
    return Check("prior", True, "The prior is the distribution of the sensitive attribute in the whole original.")


class Recomputed(NamedTuple):
    """What was computed again."""

    probabilities: Any
    """Those that the scheme finds."""
    how: str
    """The scheme, its options and the promise that they were found with."""
    as_good: Callable[[Any], bool] = lambda _: False
    """Whether other probabilities are as good, where there are several solutions."""


def recompute(case: Case[Any], prior: Prior | None, name: str, subject: str) -> Recomputed | Check:
    """Return what the stated scheme finds for the stated promise; ``prior`` is None if it is not the original's.

    If nothing is found, the result is the check of that name about the subject, which says why.
    """
    promise, scheme = stated_promise(case.manifest.get("promise")), stated_scheme(case.manifest.get("scheme"))
    unknown = f"{subject} was not computed again, because"
    if prior is None:
        return Check(name, True, f"{unknown} the prior is not the original's.")
    if promise is None:
        return Check(name, True, f"{unknown} the manifest states no promise.")
    if not hasattr(scheme, "find") or scheme.makes is not type(case.release):
        named = "the manifest names no scheme that finds it from the prior and the promise"
        return Check(name, True, f"{unknown} {named}.")
    try:
        refusal = scheme.refusal(promise, prior)
        probabilities = None if refusal else scheme.find(promise, prior)
    except DiscreetError as error:
        refusal, probabilities = str(error), None
    if probabilities is None:
        sentence = f"{subject} cannot be that of the stated scheme, which finds none for {promise} and this prior"
        return Check(name, False, f"{sentence}: {refusal}.{version_hint(case.manifest)}")
    chosen = ", ".join(f"{key}={value}" for key, value in scheme.options.items())
    found = Recomputed(probabilities, f"scheme {scheme.name!r} with {chosen} finds for {promise} and this prior")
    if hasattr(scheme, "may_find"):  # there may be several solutions, each as good as the others
        return found._replace(as_good=partial(scheme.may_find, principle=promise, prior=prior))
    return found


def judged_by_beliefs(
    part: Principle, strain: float, achieved: float, broken: int, among: str, said: str
) -> PromiseVerdict:
    """Return the verdict on a promise, broken by this many ``among`` all that is published; the worst is ``said``."""
    if broken:
        sentence = f"{part} is broken by {broken:,} of {among}: {said}."
    else:
        sentence = (
            f"{part} is kept by what every published value says, exactly as printed; closest to the bound, {said}, "
            f"{wording.percent(strain)} of what is allowed."
        )
    return PromiseVerdict(str(part), broken == 0, strain, achieved, broken, None, 0, {}, sentence)
