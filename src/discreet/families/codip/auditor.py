"""The audit of a projected release: every table by itself, and what all of them tell together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.case import Case, FormatFindings, auditor_of
from discreet.adversary.check import Check
from discreet.adversary.checks.manifest import entries, stated_scheme
from discreet.adversary.checks.soundness import unpromised
from discreet.adversary.verdict import PromiseVerdict
from discreet.errors import DiscreetError
from discreet.families.codip.across import across
from discreet.families.codip.load import part_manifest
from discreet.families.codip.plans import plan_given
from discreet.families.codip.release import ProjectedRelease, assumed_of, part_entry
from discreet.principles import Principle, Prior, wording
from discreet.principles.per_attribute import concerned
from discreet.progress import part_of
from discreet.releases.partition import GROUP
from discreet.releases.release import Release
from discreet.table.dependency import dependency, harmless_values
from discreet.table.table import Column


def audit_projected(case: Case[ProjectedRelease]) -> FormatFindings:
    """Audit a projected release against its original: each table by the auditor of its own format; see ``audit``."""
    release = case.release
    cases = [_part_case(case, number) for number in range(1, len(release.parts) + 1)]
    findings = [auditor_of(part.release)(part) for part in cases]
    whole = [entries(case, parts=[part_entry(part) for part in release.parts], assumptions=assumed_of(release.parts))]
    more: list[Check] = []
    planned, ratios = _planned(case)
    whole += planned
    if len(findings) > 1:
        for part in cases:
            if len(part.release.sensitive) == 1:
                whole += unpromised(part.release.sensitive_attribute.name, part.parts)
        whole += _aligned(case) + _withheld_apart(case.trace)
        sound = all(check.holds for table in findings for check in table.checks)
        more = across(release, case.original, case.trace) if sound else []
        findings = [_of_table(number, *of) for number, of in enumerate(zip(cases, findings, strict=True), 1)]
    checks = _merged([whole, *(table.checks for table in findings)]) + more
    support = {table.support for table in findings}
    losses = findings[0].losses
    if len(findings) > 1:  # the mean of each loss over the tables
        names = [name for name in losses if all(name in table.losses for table in findings)]
        losses = {name: sum(table.losses[name] for table in findings) / len(findings) for name in names}
    how = "necessary" if "necessary" in support else support.pop()
    given = next((table.given for table in findings if table.given is not None), None)
    kept = [verdict for table in findings for verdict in table.promises]
    known = [one for table in findings for one in table.certain]
    return FormatFindings(checks, kept, losses | ratios, how, given, sum(table.groups for table in findings), known)


def _of_table(number: int, case: Case[Any], findings: FormatFindings) -> FormatFindings:
    """Return findings on one of several tables, whose verdicts name it, and its attribute if the table has one only.

    A promise about presence cannot be confirmed for several tables.
    """
    only = case.release.sensitive[0].name if len(case.release.sensitive) == 1 else None
    present = {str(promise) for promise in case.parts if promise.most_presence < 1.0}
    kept = []
    for verdict in findings.promises:
        attribute = only or verdict.attribute
        if verdict.promise in present:
            reason = ", since several tables together may tell more about who is in them than each by itself"
            verdict = PromiseVerdict.unjudged(verdict.promise, reason)
        else:
            verdict = replace(verdict, sentence=f"Table {number}: {verdict.sentence}")
        kept.append(replace(verdict, attribute=attribute))
    return replace(findings, promises=kept)


def _planned(case: Case[ProjectedRelease]) -> tuple[list[Check], dict[str, float]]:
    """Check that the tables are those of the plan that the manifest states, if it states one; measure their ratios.

    Values that the manifest says are harmless expose nothing, provided that the original has them.
    """
    if len(case.original.sensitive) < 2:
        return [], {}
    names = [column.name for column in case.original.sensitive]
    plan = tuple(sorted(tuple(names.index(each.name) for each in part.sensitive) for part in case.release.parts))
    scheme = stated_scheme(case.manifest.get("scheme"))
    options = {} if scheme is None else scheme.options
    checks = []
    try:
        if options.get("plan"):
            same = plan == plan_given(options["plan"], names)
            said = "The tables are those of the plan that the manifest states."
            checks = [Check("plan", same, said if same else "The manifest states a plan of other tables.")]
        found = dependency(case.original.sensitive, harmless_values(options.get("harmless", "")))
    except DiscreetError:  # words about columns and values that the original does not have: see the check of entries
        return [], {}
    return checks, {"exposure": found.exposure(plan), "association_loss": found.association_loss(plan)}


def _aligned(case: Case[ProjectedRelease]) -> list[Check]:
    """Check that all tables have the same groups, if the manifest states so."""
    scheme = stated_scheme(case.manifest.get("scheme"))
    if scheme is None or not scheme.options.get("aligned") or any(part.faults for part in case.release.parts):
        return []
    same = len({_groups(part) for part in case.release.parts}) == 1
    if case.trace is not None and case.trace.ndim == 2:  # the same rows, and not only rows that look the same
        first, *others = (np.unique(case.trace[:, [0, at]], axis=0) for at in range(case.trace.shape[1]))
        same &= all(len(first) == len(pairs) == len(np.unique(pairs[:, 1])) for pairs in others)
    if same:
        return [Check("aligned", True, "All tables have the same groups, as the manifest states.")]
    return [Check("aligned", False, "The manifest states that all tables have the same groups, and they do not.")]


def _groups(part: Release) -> frozenset[tuple[tuple[tuple[str, ...], ...], int]]:
    """Return how often a table has each group, as the quasi-identifiers of its rows."""
    table = part.tables(numbers=False)["table"]
    columns = [table[name].to_pylist() for name in (GROUP, *(attribute.name for attribute in part.quasi))]
    groups: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for group, *quasi in zip(*columns, strict=True):
        groups[group].append(tuple(map(str, quasi)))
    return frozenset(Counter(tuple(sorted(rows)) for rows in groups.values()).items())


def _part_case(case: Case[ProjectedRelease], number: int) -> Case[Any]:
    """Return the case of one table."""
    part = case.release.parts[number - 1]
    names = [attribute.name for attribute in part.sensitive]
    columns = tuple(column for column in case.original.sensitive if column.name in names)
    original = replace(case.original, sensitive=columns, other=case.original.other if number == 1 else ())
    share, trace = len(case.release.parts), case.trace
    if trace is not None:  # what is no trace of this many tables gets a shape that is found at fault
        trace = trace[:, number - 1] if trace.ndim == 2 and trace.shape[1] == share else trace.reshape(1, -1)
    promised = _about(case.parts, columns, case.original.sensitive)
    tell = part_of(case.tell, (number - 1) / share, number / share)
    manifest = part_manifest(case.manifest, number)
    return Case(manifest, part, original, promised, trace, case.trace_faults, case.from_release, tell)


def _about(
    parts: Sequence[Principle], columns: Sequence[Column], everywhere: Sequence[Column]
) -> tuple[Principle, ...]:
    """Return the promises about the attributes of a table, naming the attribute if it is the only one of several.

    The first table also judges promises about none of the attributes of all tables, which cannot hold.
    """
    priors, others = ([Prior.of_column(column) for column in some] for some in (columns, everywhere))
    first = bool(columns) and columns[0] is everywhere[0]
    about = [part for part in parts if any(concerned(part, priors)) or (first and not any(concerned(part, others)))]
    alone = len(columns) == 1 < len(everywhere)
    return tuple(part.naming(columns[0].name) if alone and part.about is None else part for part in about)


def _withheld_apart(trace: NDArray[Any] | None) -> list[Check]:
    """Return a fault if, by the trace, a row is withheld from one table and published in another."""
    if trace is None or trace.ndim != 2:
        return []
    apart = np.flatnonzero((trace < 0).any(axis=1) & (trace >= 0).any(axis=1))
    if not len(apart):
        return []
    sentence = f"By the private trace, input row {apart[0]:,} is published in one table and withheld from another."
    return [Check("trace", False, sentence)]


def _merged(parts: Sequence[Sequence[Check]]) -> list[Check]:
    """Return one check of each name: it holds if all do, and tells what is the same for several tables once.

    The first of the parts are the checks of the release as a whole, which are about no table.
    """
    named: dict[str, list[tuple[int, Check]]] = {}
    for number, checks in enumerate(parts):
        for check in checks:
            named.setdefault(check.name, []).append((number, check))
    result = []
    for name, alike in named.items():
        if len(alike) == 1:
            result.append(alike[0][1])
            continue
        failed = [(number, check) for number, check in alike if not check.holds]
        said = _tables((number, check.sentence) for number, check in failed or alike)
        sentence = " ".join(
            f"Table{'s' if len(tables) > 1 else ''} {wording.listed(tables)}: {text}" if tables else text
            for text, tables in said.items()
        )
        caveats = _tables((number, check.caveat) for number, check in alike if check.caveat)
        caveat = "; ".join(
            f"{text} (table {wording.listed(tables)})" if tables and len(caveats) > 1 else text
            for text, tables in caveats.items()
        )
        premise = next((check.premise for _, check in alike if check.premise), "")
        result.append(Check(name, not failed, sentence, caveat=caveat, premise=premise))
    return result


def _tables(texts: Iterable[tuple[int, str]]) -> dict[str, list[str]]:
    """Return, per text, the numbers of the tables that it is about."""
    tables: dict[str, list[str]] = {}
    for number, text in texts:
        tables.setdefault(text, []).extend([str(number)] if number else [])
    return tables
