"""The common audit of formats that publish quasi-identifiers unchanged and randomise every sensitive value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check
from discreet.adversary.checks import soundness
from discreet.adversary.checks.domains import domains, numbers_of
from discreet.adversary.checks.manifest import entries
from discreet.adversary.formats.randomised.align import Matched, match
from discreet.adversary.formats.randomised.withheld import undecided, with_withheld
from discreet.adversary.verdict import PromiseVerdict
from discreet.principles import Principle, Prior
from discreet.releases.randomised.base import RandomisedRelease

R = TypeVar("R", bound=RandomisedRelease)


CONSISTENT = "The tables agree with each other and with the manifest."


def audit_randomised(
    case: Case[R],
    more: Mapping[str, Any],
    chance: Callable[[Matched, bool], list[Check]],
    judged: Callable[[Principle, R, Matched, Prior], PromiseVerdict],
) -> FormatFindings:
    """Audit a release; ``chance`` checks the random draws, and ``judged`` judges a promise on them.

    ``chance`` is also told whether the prior is the original's, and so may be relied on. The withheld rows are judged
    here, as one more group. ``more`` are the manifest entries specific to the format.
    """
    release, original = case.release, case.original
    matched = match(release, original, case.trace, list(case.trace_faults))
    prior = Prior.of(original)
    checks = [entries(case, **more), soundness.consistency(release, CONSISTENT)]
    checks.append(domains(release, original, numbers_of(release.quasi, release.exact), case.from_release))
    same = _same_prior(matched, prior)
    checks += [same, matched.check, *chance(matched, same.holds)]
    found = [with_withheld(judged(part, release, matched, prior), part, matched, prior) for part in case.parts]
    if not all(decided for _, decided in found):
        checks.append(undecided(matched))
    given, warnings = soundness.taken(case.parts, prior, case.from_release)
    lost = case.withheld / original.rows if original.rows else 0.0
    losses = {"ail": lost, "gcp": lost, "retention": release.retention}
    return FormatFindings([*checks, *warnings], [kept for kept, _ in found], losses, matched.how, given)


def _same_prior(matched: Matched, prior: Prior) -> Check:
    """Check that the prior of the release is the original's."""
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
