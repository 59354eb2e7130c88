"""The audit of a synthetic release: what can be seen of drawn rows, and what is an assumption.

The files show whether they are well-formed, whether all values are among those that the manifest lists and all numbers
among those that its scheme draws, whether the stated ends of numbers are those of the auditor, and whether there are
as many rows as in the original. They show which epsilon the release says was spent, and a promise of less is broken by
that. That the noise was really added no file can show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import check_sensitive, quasi_column
from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check, one_sentence
from discreet.adversary.checks import soundness
from discreet.adversary.checks.domains import domains, numbers_of
from discreet.adversary.checks.manifest import entries, stated_promise, stated_scheme
from discreet.adversary.verdict import PromiseVerdict
from discreet.families.privbayes.release import Privacy, SyntheticRelease
from discreet.principles import Principle, wording
from discreet.principles.differential_privacy import DifferentialPrivacy
from discreet.releases.columns import ExactColumn, value_name
from discreet.table.date_numbers import written
from discreet.table.table import Column
from discreet.table.texts import MISSING, number_text

CONSISTENT = "The table agrees with the manifest."
NOISE = "that its rows were drawn from counts with the stated noise, which nobody can repeat, is an assumption"
SEEDED = "it was made with a seed, and an attacker who knows it can remove the noise: nothing is protected"
DECLARED = "and so is that the listed values and ends of numbers were not taken from the table"
OBSERVED = "and it reveals for certain which values occur, and which numbers are the smallest and the largest"


def audit_synthetic(case: Case[Any]) -> FormatFindings:
    """Audit a synthetic release against its original; see ``audit``."""
    release, original = case.release, case.original
    check_sensitive(release, original)
    attributes, exact_columns = release.attributes, (*release.exact, *release.sensitive_columns)
    columns = [*(quasi_column(attribute, original) for attribute in release.quasi), *original.sensitive]
    scheme = stated_scheme(case.manifest.get("scheme"))
    privacy = _said(case, scheme)
    numbers = numbers_of(attributes, exact_columns)
    rows = f"There are as many rows as in the original, {original.rows:,}; all of them are synthetic."
    if release.rows != original.rows:  # their number is taken as public
        rows = f"The release has {wording.rows(release.rows)} and the original {original.rows:,}"
        rows = f"{rows}, and as many must be drawn."
    checks = [
        entries(case, privacy=privacy._asdict()),
        soundness.consistency(release, CONSISTENT),
        _nothing_missing(columns, exact_columns)
        or domains(release, original, numbers, case.from_release, declared=privacy.domains == "declared"),
        _drawable(release, columns, numbers, scheme),
        Check("rows", release.rows == original.rows, rows),
    ]
    # what no file can show
    said = f"{NOISE}, {DECLARED if release.privacy.domains == 'declared' else OBSERVED}"
    sentence = f"The release says how it was drawn; {said}."
    if "experimental_seed" in case.manifest:
        said, sentence = SEEDED, f"What is stated of the noise cannot be relied on: {SEEDED}."
    checks.append(Check("noise", True, sentence, caveat=said))
    if case.trace is not None:
        sentence = "A trace was given, but synthetic rows lead back to nobody: this release has none."
        checks.append(Check("trace", False, sentence))
    return FormatFindings(checks, [_judged(part, release) for part in case.parts])


def _said(case: Case[SyntheticRelease], scheme: Any) -> Privacy:
    """Return what the release must say of how it was drawn, by the scheme and the promise that the manifest states."""
    said, promise = case.release.privacy, stated_promise(case.manifest.get("promise"))
    if not hasattr(scheme, "may_draw"):
        return said
    said = said._replace(domains=scheme.options["domains"])
    return said._replace(epsilon=scheme.spent(promise)) if promise and promise.of(DifferentialPrivacy) else said


def _drawable(
    release: SyntheticRelease, columns: Sequence[Column], numbers: Mapping[str, NDArray[np.float64]], scheme: Any
) -> Check:
    """Check that the stated scheme can draw all published numbers, given the domains that the release states.

    Numbers beyond a domain are reported by another check.
    """
    if not hasattr(scheme, "may_draw"):
        sentence = "Whether all numbers can have been drawn was not checked, because the manifest names no scheme that"
        return Check("grid", True, f"{sentence} says which ones it draws.")
    faults = []
    for attribute, column in zip(release.attributes, columns, strict=True):
        if attribute.kind != "numeric" or attribute.domain is None:
            continue
        bottom, top = attribute.domain
        inside = numbers[attribute.name]
        inside = inside[(inside >= bottom) & (inside <= top)]
        stated = replace(column, domain=attribute.domain, declared_domain=True, hierarchy=attribute.hierarchy)
        if attribute.hierarchy is not None:
            leaves = np.array([float(leaf) for leaf in attribute.hierarchy.leaves if leaf != MISSING])
            stated = replace(stated, values=leaves, codes=np.zeros(0, np.int32), missing=None)
        strange = inside[~scheme.may_draw(stated, inside)]
        if len(strange):
            others = f" and {len(strange) - 1:,} others" if len(strange) > 1 else ""
            faults.append(
                f"{attribute.name!r} has {written(float(strange[0]), attribute.notation)}{others}, which scheme "
                f"{scheme.name!r} cannot draw from what the manifest states"
            )
    if faults:
        return Check("grid", False, one_sentence(faults))
    return Check("grid", True, f"All numbers are ones that scheme {scheme.name!r} draws from what the manifest states.")


def _nothing_missing(columns: Sequence[Column], exact_columns: Sequence[ExactColumn]) -> Check | None:
    """Return a fault if values are missing in a column in which none may be; None if there is none."""
    for column, exact_column in zip(columns, exact_columns, strict=True):
        names = {value_name(exact_column.values[code]) for code in np.unique(exact_column.codes).tolist()}
        held = {column.texts[code] for code in np.unique(column.codes).tolist()}
        if MISSING in names - held - (set(column.texts) if column.declared_values else set()):
            sentence = f"Values of {column.name!r} are missing in the release, and none is in the original."
            return Check("domains", False, sentence)
    return None


def _judged(part: Principle, release: SyntheticRelease) -> PromiseVerdict:
    """Compare a promise of differential privacy with what the release says was spent; no other can be judged."""
    spent = release.privacy.epsilon
    for promise in part.of(DifferentialPrivacy):
        holds, strain = spent <= promise.epsilon, spent / promise.epsilon
        says = f"by what the release says of itself: {number_text(spent)} was spent"
        sentence = f"{part} is {'kept' if holds else 'broken'}, {says}."
        return PromiseVerdict(str(part), holds, strain, spent, int(not holds), None, 0, {}, sentence)
    return PromiseVerdict.unjudged(part, ", since synthetic rows keep differential privacy and nothing else")
