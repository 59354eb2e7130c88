"""The audit of a generalized release, whose groups of rows share one description each."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned, align, each_sensitive
from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.checks import soundness
from discreet.adversary.checks.certain import Certain, certain
from discreet.adversary.checks.domains import ends_of
from discreet.adversary.checks.overlap import overlap
from discreet.adversary.checks.persons import by_persons, judged_by_persons
from discreet.adversary.checks.support import without_trace
from discreet.adversary.checks.totals import totals
from discreet.adversary.checks.trace import EXPLAINED, misplaced, wider
from discreet.adversary.checks.unions import unions
from discreet.adversary.verdict import PromiseVerdict, Subjects, counts_of, judged, naming
from discreet.analyst.loss import losses
from discreet.principles import Prior
from discreet.releases.generalized.release import GeneralizedRelease


def audit_generalized(case: Case[GeneralizedRelease], aligned: Aligned | None = None) -> FormatFindings:
    """Audit a generalized release against its original, to which it may have been aligned before; see ``audit``."""
    release, original = case.release, case.original
    aligned = aligned or align(release, original)
    checks = soundness.opening(case, soundness.ONE_DESCRIPTION, ends_of(release), groups=case.manifest["groups"])
    checks.append(totals(aligned, original))
    check, how = case.support(EXPLAINED, partial(_unexplained, aligned), partial(without_trace, aligned))
    checks += [check, *overlap(case)]
    if not release.sensitive:
        original = replace(original, sensitive=())
    kept: list[PromiseVerdict] = []
    known: list[Certain] = []
    given = None
    for (view, table), (column, promised) in zip(
        each_sensitive(aligned, original), soundness.each_promised(case.parts, original), strict=True
    ):
        if column is not None:
            checks += soundness.unpromised(column, promised)
        prior = Prior.of(table)
        left = np.maximum(prior.counts - view.published, 0)
        groups = counts_of(view, len(prior.values))
        verdicts = [judged(part, Subjects.groups(release, groups), prior, left) for part in promised]
        persons = by_persons(case, table)
        if persons is not None:
            known += certain(table.sensitive_attribute, *persons)
        else:
            known += certain(table.sensitive_attribute, groups, left, "person" if table.person is None else "row")
        if table.person is not None:
            of_persons, verdicts = judged_by_persons(case, promised, table, left, groups, verdicts)
            checks += [check for check in of_persons if check not in checks]
        verdicts = verdicts if column is None else naming(column, promised, verdicts)
        kept += verdicts
        faced = unions(promised, verdicts, view, groups, prior, table, case.tell)
        checks.append(faced if column is None else replace(faced, sentence=f"About {column!r}: {faced.sentence}"))
        taken, warnings = soundness.taken(promised, prior, case.from_release)
        given = given or taken
        checks += warnings
    if len(original.sensitive) > 1:
        checks.append(soundness.side_by_side(original))
    return FormatFindings(checks, kept, losses(release), how, given, release.groups, known)


def _unexplained(aligned: Aligned, kept: NDArray[np.intp], places: NDArray[np.intp]) -> list[str]:
    """Report what contradicts a trace: rows in other groups than their own, and descriptions wider than their rows."""
    return misplaced(aligned, kept, places) or wider(aligned, kept, places)
