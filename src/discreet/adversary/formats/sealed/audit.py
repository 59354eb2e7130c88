"""The audit of a sealed release: that of its groups, and whether they leave room for what the tests may have leaked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from discreet.adversary.alignment import Aligned, align, each_sensitive
from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check, described
from discreet.adversary.checks import soundness
from discreet.adversary.checks.manifest import is_installed
from discreet.adversary.formats.generalized import audit_generalized
from discreet.adversary.formats.sealed.groups import divided
from discreet.adversary.verdict import counts_of
from discreet.kernels.judging import SLACK
from discreet.principles import Prior
from discreet.principles.principle import Principle, together
from discreet.releases.sealed.release import SealedRelease
from discreet.table.table import Table

AMOUNTS = (
    "the amounts in the seal are those of the run, its coins were fair and cannot be repeated, and it was not chosen "
    "among several runs"
)
"""What no file can show."""
SEEDED = "it was made with a seed, and an attacker who knows it can repeat its coins: nothing is sealed"


def audit_sealed(case: Case[Any]) -> FormatFindings:
    """Audit a sealed release against its original; see ``audit``."""
    return _audited(case, _seal)


def audit_mirrored(case: Case[Any]) -> FormatFindings:
    """Audit a mirrored release against its original; see ``audit``."""
    return _audited(case, _seal, _mirror)


def _audited(case: Case[Any], *seals: Callable[[Case[Any], Aligned], Check]) -> FormatFindings:
    """Audit the groups, and add what is said about their choice; the last of that rests on what no file can show."""
    aligned = align(case.release, case.original)
    findings = audit_generalized(case, aligned)
    *others, last = (seal(case, aligned) for seal in seals)
    sound = all(check.holds for check in findings.checks)
    groups = [divided(case, aligned)] if sound else []  # what is at fault otherwise says nothing about the scheme
    return replace(findings, checks=[*findings.checks, *groups, *others, _on_trust(last, case)])


def _on_trust(check: Check, case: Case[Any]) -> Check:
    """Return a check that holds with what no file can show."""
    if not check.holds or case.release.faults:
        return check
    if "experimental_seed" in case.manifest:
        return replace(check, sentence=f"{check.sentence.removesuffix('.')}; {SEEDED}.", caveat=SEEDED)
    return replace(check, sentence=f"{check.sentence.removesuffix('.')}, provided that {AMOUNTS}.", premise=AMOUNTS)


def _mirror(case: Case[SealedRelease], _: Aligned) -> Check:
    """Say about which groups something was leaked."""
    if case.release.faults:
        return Check("mirror", True, "The choice of groups was not judged, because the tables are faulty.")
    leaking = case.release.leakage > 0.0
    rows = int(leaking[case.release.group_of].sum())
    but = f", except about {leaking.sum():,} groups with {rows:,} rows, where the seal says how much" if rows else ""
    sentence = f"The choice of groups reveals nothing to an attacker who knows the algorithm but nobody's value{but}."
    return Check("mirror", True, sentence)


def _seal(case: Case[SealedRelease], aligned: Aligned) -> Check:
    """Check that in every group the odds of each value, times what was leaked, are within what the promise allows."""
    if case.release.faults:
        return Check("seal", True, "The seal was not judged, because the tables are faulty.")
    if not is_installed(case.manifest.get("scheme")):
        sentence = "The seal was made by a scheme that is not installed here, so what its tests may leak is unknown; "
        return Check("seal", False, f"{sentence}install the plug-in that has it.")
    views = each_sensitive(aligned, case.original)
    promised = [promises for _, promises in soundness.each_promised(case.parts, case.original)]
    judged = [_broken(*view, promises) for view, promises in zip(views, promised, strict=True)]
    if None in judged and case.release.leakage.any():
        sentence = (
            "Tests with a coin leaked something about groups, and not everything that is promised is an upper bound."
        )
        return Check("seal", False, sentence)
    for sentence in filter(None, judged):
        return Check("seal", False, sentence)
    if not case.release.leakage.any():
        return Check("seal", True, "By the seal, the search for groups leaked nothing that would need room in them.")
    worst = float(np.exp(case.release.leakage.max()))
    sentence = (
        f"Every group leaves room for what the search for it may have leaked to an attacker who knows the algorithm "
        f"(odds up to {worst:.3g} times those of the group)."
    )
    return Check("seal", True, sentence)


def _broken(aligned: Aligned, original: Table, promised: Sequence[Principle]) -> str | None:
    """Say which group leaves too little room in a table of one sensitive attribute; "" if none does, and None if a
    promise does not only bound values from above, so that no room would be enough."""
    prior, release = Prior.of(original), cast(SealedRelease, aligned.release)
    caps = together(promised).caps(prior) if promised and together(promised).only_caps(prior) else None
    if caps is None:
        return None
    counts = counts_of(aligned, len(prior.values))
    cap, left = np.minimum(caps[counts.values], 1.0), np.exp(-release.leakage)[counts.groups]
    rest = 1.0 - cap + cap * left
    # the share whose odds are this factor of the cap's
    most = np.divide(cap * left, rest, out=np.ones_like(cap), where=rest > 0.0)
    sizes = counts.sizes[counts.groups]
    broken = np.flatnonzero(counts.amounts > most * sizes * (1.0 + SLACK) + SLACK)
    if not len(broken):
        return ""
    at = broken[0]
    group = int(counts.groups[at])
    return (
        f"Group {release.ids[group]} ({described(release, group)}) has {int(counts.amounts[at]):,} rows with "
        f"{prior.attribute}='{prior.values[counts.values[at]]}' among {int(sizes[at]):,}, more than the "
        f"{int(most[at] * sizes[at] + SLACK):,} "
        f"that tests which may leak {release.leakage[group]:.4g} leave it: an attacker who knows the algorithm may "
        "believe more than is promised."
    )
