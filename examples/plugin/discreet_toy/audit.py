"""The auditor of separate releases: what their files, and the original, show of what they promise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.extend import (
    Case,
    Check,
    ComparedRows,
    Counts,
    ExactColumn,
    Format,
    FormatFindings,
    Principle,
    Prior,
    PromiseVerdict,
    Subjects,
    as_many,
    check_sensitive,
    consistency,
    domains,
    entries,
    judged,
    numbers_of,
    places_in,
    rows_compared,
    rows_of_original,
    taken,
    trace_check,
    usable_rows,
)
from discreet_toy.separate import SeparateRelease


def audit_separate(case: Case[SeparateRelease]) -> FormatFindings:
    """Audit a separate release against its original; the checks that all formats share are made by the caller."""
    release, original = case.release, case.original
    check_sensitive(release, original)
    prior, rows = Prior.of(original), rows_compared(release, original)
    places = places_in(ExactColumn(release.values, np.zeros(0, np.int32)), original.sensitive[0])
    counts = np.bincount(places, release.counts, len(prior.counts) + 1).astype(np.int64)
    support, how = _without_trace(case) if case.trace is None else _by_trace(case, case.trace, rows, counts)
    checks = [
        entries(case),
        consistency(release, "There are as many rows as values, and the manifest gives their number."),
        domains(release, original, numbers_of(release.quasi, release.exact), case.from_release),
        _values(case, counts, prior),
        rows_of_original(release, rows, usable_rows(original)),
        support,
    ]
    given, warnings = taken(case.parts, prior, case.from_release)
    verdicts = [_judged(part, release, counts[:-1], prior) for part in case.parts]
    lost = case.withheld / max(1, original.rows)
    return FormatFindings([*checks, *warnings], verdicts, {"ail": lost, "gcp": lost}, how, given)


def _values(case: Case[SeparateRelease], counts: NDArray[np.int64], prior: Prior) -> Check:
    """Check that no sensitive value is counted more often than the original has it, nor one that it does not have."""
    wrong = np.flatnonzero(counts > np.append(prior.counts, 0))
    if not len(wrong):
        return as_many(case.release, case.original, "counted")
    name = "a value that the original does not have" if wrong[0] == len(prior.values) else repr(prior.values[wrong[0]])
    return Check("totals", False, f"The release counts {name} {counts[wrong[0]]:,} times, more often than it occurs.")


def _by_trace(
    case: Case[SeparateRelease], trace: NDArray[np.int64], rows: ComparedRows, counts: NDArray[np.int64]
) -> tuple[Check, str]:
    """Check that the rows that the trace publishes have the quasi-identifiers and the values that are published."""
    sensitive_attribute, faults = case.original.sensitive[0], list(case.trace_faults)
    if trace.shape != rows.had.shape or not set(np.unique(trace)) <= {-1, 0}:
        faults.append("the trace must have 0 for every published row, and nothing for every withheld row")
    else:
        kept = np.flatnonzero(trace == 0)
        if not np.array_equal(np.sort(rows.had[kept]), np.sort(rows.shown)):
            faults.append("the rows that the trace publishes have other quasi-identifiers")
        if not np.array_equal(np.bincount(sensitive_attribute.codes[kept], minlength=len(counts)), counts):
            faults.append("the rows that the trace publishes have other sensitive values")
    explained = "the tables have exactly the quasi-identifiers and the values of the published rows"
    return trace_check(faults, explained), "trace"


def _without_trace(case: Case[SeparateRelease]) -> tuple[Check, str]:
    """Say what other checks have shown: all there is to know if all rows are published, and else what is necessary."""
    if not case.withheld:
        return Check(
            "support", True, "All rows of the original are published, so that nothing is left open."
        ), "assignment"
    told = "That the published values are those of the published rows was not checked without the trace."
    return Check("support", True, told), "necessary"


def _judged(part: Principle, release: SeparateRelease, counts: NDArray[np.int64], prior: Prior) -> PromiseVerdict:
    """Judge a promise on all published rows, which are one group, and on the withheld rows."""
    if not part.about_values:
        return PromiseVerdict.unjudged(part, ", since quasi-identifiers are published as they are")
    anything = {attribute.name: "*" for attribute in release.quasi}
    subjects = Subjects(Counts.of(counts[None], len(prior.values)), np.zeros(1, np.int64), lambda _: anything)
    return judged(part, subjects, prior, np.maximum(prior.counts - counts, 0))


SEPARATE = Format(SeparateRelease, audit_separate)
