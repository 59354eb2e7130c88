"""The audit of a nested release: rows under nodes of a tree of persons.

Promises are judged by the beliefs about the persons of every leaf, held by an adversary who knows the tree. The beliefs
of adversaries who only match descriptions or count rows are reported as well; the promise is not about them.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from discreet.adversary.alignment import Aligned, align
from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.checks import soundness
from discreet.adversary.checks.domains import domains, ends_of
from discreet.adversary.checks.manifest import entries, stated_scheme
from discreet.adversary.checks.matching import by_counting, had_by, people_of
from discreet.adversary.checks.totals import totals
from discreet.adversary.formats.nested.blind import blind
from discreet.adversary.formats.nested.matching import by_descriptions
from discreet.adversary.formats.nested.support import by_trace, nesting, without_trace
from discreet.adversary.verdict import PromiseVerdict, Subjects, counts_of, judged
from discreet.analyst.loss import losses
from discreet.principles import Principle, Prior
from discreet.releases.nested.beliefs import expected
from discreet.releases.nested.release import NestedRelease

CONSISTENT = (
    "The nodes form trees, and each has rows and one description; there are as many persons as rows; no node has "
    "more rows than persons in it without a row further down, and roots have exactly as many; the manifest gives "
    "the right numbers of rows and nodes."
)


def audit_nested(case: Case[NestedRelease]) -> FormatFindings:
    """Audit a nested release against its original; see ``audit``."""
    release, original = case.release, case.original
    aligned = align(release, original)
    checks = [entries(case, groups=case.manifest["groups"]), soundness.consistency(release, CONSISTENT)]
    checks += [domains(release, original, ends_of(release), case.from_release), totals(aligned, original)]
    checks.append(nesting(release, aligned))
    check, how = case.support(partial(by_trace, release, aligned), partial(without_trace, release, aligned))
    checks.append(check)
    prior = Prior.of(original)
    left = np.maximum(prior.counts - aligned.published, 0)
    if release.sound:
        scheme = stated_scheme(case.manifest.get("scheme"))
        if scheme is not None and scheme.options.get("lift") == "blind":
            checks.append(blind(release))
        subjects = leaves_of(release, aligned, prior)
        kept = [judged(part, subjects, prior, left) for part in case.parts]
        clear = [part for part, one in zip(case.parts, kept, strict=True) if math.isfinite(one.strain)]
        if clear:
            people = people_of(aligned)
            had = had_by(people, original.classes[aligned.usable], len(prior.values))
            checks.append(by_descriptions(clear, release, aligned, people, had, prior, left))
            checks.append(by_counting(clear, aligned, people, had, prior))
    else:
        kept = [_unjudged(part) for part in case.parts]
    given, warnings = soundness.taken(case.parts, prior, case.from_release)
    checks += warnings
    return FormatFindings(checks, kept, losses(release), how, given, release.groups)


def leaves_of(release: NestedRelease, aligned: Aligned, prior: Prior) -> Subjects:
    """Return the persons by leaf, with their expected sensitive values."""
    beliefs = expected(release.tree, counts_of(aligned, len(prior.values)))
    chosen = np.flatnonzero(release.persons)
    return Subjects(
        beliefs.only(chosen), release.leaves.ids, release.leaves.text, "leaf", "leaves of the tree", _persons
    )


def _persons(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} persons"


def _unjudged(part: Principle) -> PromiseVerdict:
    sentence = f"{part} cannot be judged: the tree of the release is faulty."
    return PromiseVerdict(str(part), False, math.inf, None, 0, None, 0, {}, sentence)
