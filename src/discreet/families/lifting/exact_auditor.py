"""The audit of a nested release with exact quasi-identifiers.

Promises are judged by the beliefs about the persons of every leaf, as in the audit of a nested release with boxes.

The leaf of every person is known from the private trace, or from the table of rows where no combination of
quasi-identifiers is in two leaves. Otherwise one necessary condition is checked: that in every node and its descendants
no value is counted more often than original rows with combinations of these leaves have it.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check
from discreet.adversary.checks import soundness
from discreet.adversary.checks.certain import certain
from discreet.adversary.checks.counted import all_totals, group_losses, refuted
from discreet.adversary.checks.domains import numbers_of
from discreet.adversary.checks.totals import rows_of_original
from discreet.adversary.formats.anatomy import AlignedAnatomy, align, crowd, other_rows
from discreet.adversary.verdict import PromiseVerdict, averages, judged
from discreet.families.lifting.auditor import AT_FAULT, leaves_of, lifted_blindly, not_of_persons
from discreet.families.lifting.exact import NestedExactRelease
from discreet.principles import Prior

CONSISTENT = (
    "The nodes form trees; there are as many persons as values, and every leaf has the stated number of persons in the "
    "table; no node has more values than persons in it without one further down, and roots have exactly as many; the "
    "manifest gives the right numbers of rows and nodes."
)
EXPLAINED = (
    "every leaf has exactly the quasi-identifiers of its persons, and the values of every node belong to persons in it "
    "without one further down"
)


def audit_nested_exact(case: Case[NestedExactRelease]) -> FormatFindings:
    """Audit a nested release with exact quasi-identifiers against its original; see ``audit``."""
    release, original = case.release, case.original
    aligned = align(release, original)
    numbers = numbers_of(release.quasi, release.exact)
    checks = soundness.opening(case, CONSISTENT, numbers, groups=case.manifest["groups"])
    checks += [all_totals([aligned]), rows_of_original(release, aligned.rows, aligned.usable)]
    check, how = case.support(EXPLAINED, partial(_unexplained, aligned), partial(without_trace, aligned))
    checks.append(check)
    prior = Prior.of(original)
    left = np.maximum(prior.counts - aligned.published, 0)
    if release.sound:
        checks += lifted_blindly(case)
        persons = leaves_of(release, aligned.counts)
        known = certain(original.sensitive_attribute, persons.counts, left)
        kept = [
            judged(part, persons, prior, left) if part.about_values else crowd(release, part, left)
            for part in case.parts
        ]
    else:
        known = []
        kept = [PromiseVerdict.unjudged(part, ": the tree of the release is faulty") for part in case.parts]
    given, warnings = soundness.taken(case.parts, prior, case.from_release)
    lost = case.withheld / original.rows if original.rows else 0.0
    sizes = release.sizes[release.sizes > 0]
    losses = {"ail": lost, "gcp": lost, **group_losses(release.rows, sizes, case.withheld)}
    checks += [*warnings, averages(case.parts)]
    return FormatFindings(checks, kept, losses, how, given, release.groups, known)


def _unexplained(aligned: AlignedAnatomy, kept: NDArray[np.intp], places: NDArray[np.intp]) -> list[str]:
    """Return why the original rows ``kept``, with their leaves at ``places``, do not explain the release, if so."""
    release, counts = aligned.release, aligned.counts
    assert isinstance(release, NestedExactRelease)
    if not release.sound:
        return [AT_FAULT]
    had = places.astype(np.int64) * counts.width + aligned.original.sensitive_codes[kept]
    shown = np.repeat(counts.groups * counts.width + counts.values, counts.amounts)
    return [*other_rows(aligned, kept, places, "leaf"), *not_of_persons(release, had, shown, counts.width)]


def without_trace(aligned: AlignedAnatomy) -> tuple[Check, str]:
    """Check that original rows could be behind the tree; also return the method (``assignment`` or ``necessary``)."""
    from scipy.sparse import csr_array

    release, rows, counts = aligned.release, aligned.rows, aligned.counts
    assert isinstance(release, NestedExactRelease)
    if not release.sound:
        return refuted(f"{AT_FAULT[0].upper()}{AT_FAULT[1:]}.")
    had = rows.had[aligned.usable]
    if aligned.strange or bool((rows.shown >= rows.kinds).any()):
        return refuted("Its quasi-identifiers or values are not the original's.")
    spare = np.bincount(had, minlength=rows.kinds) - np.bincount(rows.shown, minlength=rows.kinds)
    if bool((spare < 0).any()):
        return refuted("A combination of quasi-identifiers is published more often than the original has it.")
    ones = np.ones(len(rows.shown), np.int64)
    leaves = csr_array((ones, (rows.shown, release.group_of)), shape=(rows.kinds, release.groups))
    published = np.diff(leaves.indptr) > 0
    if int(np.diff(leaves.indptr).max(initial=0)) <= 1 and not spare[published].any():
        kept = aligned.usable[published[had]]
        places = leaves.indices[leaves.indptr[:-1][rows.had[kept]]].astype(np.intp)
        known = "no combination of quasi-identifiers is in two leaves, so everyone's leaf is known"
        if faults := _unexplained(aligned, kept, places):
            return refuted(f"{known.capitalize()}: {'; '.join(faults)}.", "assignment")
        return Check("support", True, f"Without the trace: {known}; {EXPLAINED}."), "assignment"
    above = leaves.T.astype(bool).astype(np.int64).tocsr()
    claimed = csr_array((counts.amounts, counts.values, counts.starts), shape=(release.groups, counts.width))
    nodes = release.groups
    for level in reversed(release.tree.levels[1:]):
        up = csr_array((np.ones(len(level), np.int64), (release.parents[level], level)), shape=(nodes, nodes))
        above, claimed = above + up @ above, claimed + up @ claimed
    codes = aligned.original.sensitive_codes[aligned.usable]
    values = csr_array((np.ones(len(had), np.int64), (had, codes)), shape=(rows.kinds, counts.width))
    short = (above.astype(bool).astype(np.int64) @ values - claimed).tocoo()
    missing = np.flatnonzero(short.data < 0)
    if len(missing):
        node = release.ids[short.row[missing[0]]]
        return refuted(f"Persons in node {node} have too few of one of the values in it and below it.")
    sentence = (
        "Without the trace: no node, with those below it, has more of a value than original rows with the "
        "quasi-identifiers of its persons; this is necessary but not sufficient, and only the trace can tell more."
    )
    return Check("support", True, sentence), "necessary"
