"""The audit of an anatomy release, which publishes exact quasi-identifiers and counts sensitive values per group.

It checks that the files are those the manifest names, that the two tables agree, that the published quasi-identifiers
and the counted values are the original's, that the original supports the groups, and that every promise is kept: by
every group, by the withheld rows taken as one group, and by the belief of an adversary who only finds rows by their
quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check
from discreet.adversary.checks import soundness
from discreet.adversary.checks.counted import (
    all_totals,
    counted_apart,
    each_attribute,
    group_losses,
    judged_each,
    supported,
    wrongly_counted,
)
from discreet.adversary.checks.domains import domains, numbers_of
from discreet.adversary.checks.manifest import entries
from discreet.adversary.checks.totals import rows_of_original
from discreet.adversary.checks.trace import place_rows, trace_check
from discreet.adversary.formats.anatomy.support import AlignedAnatomy, align, margins, without_trace
from discreet.adversary.verdict import PromiseVerdict, averages
from discreet.principles import Principle
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.table.combinations import first_difference, numbered

CONSISTENT = (
    "All tables have the same groups, every group has as many rows as values, and the manifest gives the right "
    "numbers of rows and groups."
)


def audit_anatomy(case: Case[AnatomyRelease]) -> FormatFindings:
    """Audit an anatomy release against its original; see ``audit``."""
    release, original, parts = case.release, case.original, case.parts
    aligned = align(release, original)
    views = each_attribute(aligned)
    checks = [entries(case, groups=case.manifest["groups"]), soundness.consistency(release, CONSISTENT)]
    checks.append(domains(release, original, numbers_of(release.quasi, release.exact), case.from_release))
    checks += [all_totals(views), rows_of_original(release, aligned.rows, aligned.usable)]
    check, how = case.support(partial(_by_trace, views), partial(_without_trace, views))
    checks.append(check)
    judged = judged_each(case, views, partial(_crowd, release))
    checks += [*judged.checks, averages(parts), *counted_apart(views)]
    # quasi-identifiers are exact, so only withheld rows lose information about them
    lost = case.withheld / original.rows if original.rows else 0.0
    losses = {"ail": lost, "gcp": lost, **group_losses(release.rows, release.sizes, case.withheld)}
    return FormatFindings(checks, judged.kept, losses, how, judged.given, release.groups)


# ------------------------------------------------------------------------------------------------------------ checks


def _by_trace(views: Sequence[AlignedAnatomy], trace: NDArray[Any], faults: list[str]) -> Check:
    """Check that every group has exactly the rows that the trace puts into it, in all tables."""
    aligned, faults = views[0], list(faults)
    release = aligned.release
    explained = "every group has exactly the quasi-identifiers and the sensitive values of its rows"
    placed = place_rows(release, len(aligned.rows.had), aligned.usable, trace, faults)
    if placed is None:
        return trace_check(faults, explained)
    kept, places = placed
    wide = max(aligned.rows.kinds, int(aligned.rows.shown.max(initial=0))) + 1
    differing = first_difference(
        release.group_of.astype(np.int64) * wide + aligned.rows.shown, places * wide + aligned.rows.had[kept]
    )
    if differing is not None:
        faults.append(f"group {release.ids[differing // wide]} is not published with the quasi-identifiers of its rows")
    faults += wrongly_counted(views, kept, places)
    return trace_check(faults, explained)


def _without_trace(views: Sequence[AlignedAnatomy]) -> tuple[Check, str]:
    """Check that the original supports the tables of each sensitive attribute.

    That is necessary only where there are several, as the rows of a group must be the same for all of them.
    """
    return supported(views, [without_trace(margins(view), view.release.ids) for view in views])


# ----------------------------------------------------------------------------------------------------------- promises


def _crowd(release: AnatomyRelease, part: Principle, left: NDArray[np.int64]) -> PromiseVerdict:
    """Judge k-anonymity, which is about indistinguishable rows: here, rows with the same quasi-identifiers."""
    columns = release.exact
    keys = numbered([column.codes for column in columns], [len(column.values) for column in columns], release.rows)
    _, sizes = np.unique(keys, return_counts=True)
    alike = np.append(sizes, left.sum()) if left.sum() else sizes
    smallest = int(alike.min(initial=release.rows)) if len(alike) else 0
    broken = int((alike < part.least_rows).sum())
    if broken:
        sentence = (
            f"{part} is broken: quasi-identifiers are published as they are, and {broken:,} of {len(alike):,} "
            f"combinations of them occur in fewer than {part.least_rows:,} rows, the rarest in {smallest:,}."
        )
    else:
        sentence = f"{part} is kept: every combination of quasi-identifiers occurs in {smallest:,} rows or more."
    strain = part.least_rows / smallest if smallest else 0.0
    return PromiseVerdict(str(part), not broken, strain, float(smallest), broken, None, smallest, {}, sentence)
