"""The audit of an anatomy release, which publishes exact quasi-identifiers and counts sensitive values per group.

It checks that the files are those the manifest names, that the two tables agree, that the published quasi-identifiers
and the counted values are the original's, that the original supports the groups, and that every promise is kept: by
every group, by the withheld rows taken as one group, and by the belief of an adversary who only finds rows by their
quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check
from discreet.adversary.checks import soundness
from discreet.adversary.checks.domains import domains, numbers_of
from discreet.adversary.checks.manifest import entries
from discreet.adversary.checks.totals import as_many
from discreet.adversary.checks.trace import place_rows, trace_check
from discreet.adversary.formats.anatomy.align import AlignedAnatomy, align, each_attribute, margins
from discreet.adversary.formats.anatomy.support import without_trace
from discreet.adversary.formats.orders import order_of_anatomy
from discreet.adversary.subjects import Subjects
from discreet.adversary.verdict import PromiseVerdict, averages, judged, naming
from discreet.principles import Principle, Prior, wording
from discreet.principles.counts import Counts
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.table.combinations import first_difference, numbered

if TYPE_CHECKING:
    from discreet.adversary.formats.ambiguous.align import AlignedAmbiguous


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
    checks += [next((check for view in views if not (check := totals(view)).holds), totals(views[0])), _rows(aligned)]
    check, how = case.support(partial(_by_trace, views), partial(_without_trace, views))
    checks += [check, order_of_anatomy(views, case.trace)]
    kept: list[PromiseVerdict] = []
    given = None
    for view, (name, promised) in zip(views, soundness.each_promised(parts, original), strict=True):
        if name is not None:
            checks += soundness.unpromised(name, promised)
        prior = Prior.of(view.original)
        left = np.maximum(prior.counts - view.published, 0)
        subjects = Subjects.groups(release, view.counts)
        own = [
            judged(part, subjects, prior, left) if part.about_values else _crowd(part, release, left)
            for part in promised
        ]
        kept += own if name is None else naming(name, promised, own)
        taken, warnings = soundness.taken(promised, prior, case.from_release)
        given = given or taken
        checks += warnings
    checks.append(averages(parts))
    if len(views) > 1:
        names = wording.listed(repr(view.release.secret.name) for view in views)
        told = f"The promises were judged about {names} each by itself; which of their values go together is not told."
        checks.append(Check("each attribute", True, told))
    return FormatFindings(checks, kept, _losses(release, case.withheld), how, given, release.groups)


# ------------------------------------------------------------------------------------------------------------ checks


def totals(aligned: AlignedAnatomy | AlignedAmbiguous) -> Check:
    """Check that counted and withheld values together make up the original's."""
    release, original = aligned.release, aligned.original
    column = original.secret
    assert column is not None
    had = np.bincount(column.codes, minlength=len(column.values))
    if aligned.strange:
        verb = "has" if aligned.strange == 1 else "have"
        sentence = f"{wording.rows(aligned.strange)} of the release {verb} a sensitive value that no original row has."
    elif (over := np.flatnonzero(aligned.published > had)).size:
        worst = int(over[np.argmax((aligned.published - had)[over])])
        sentence = (
            f"The release counts {wording.rows(int(aligned.published[worst]))} with {column.name} "
            f"{column.texts[worst]!r}, but the original only has {had[worst]:,}."
        )
    else:
        return as_many(release, original, "counted")
    return Check("totals", False, sentence)


def _rows(aligned: AlignedAnatomy) -> Check:
    """Check that every published combination of quasi-identifiers occurs in the original at least as often."""
    known = aligned.shown < aligned.kinds
    if not bool(known.all()):
        number = int((~known).sum())
        verb = "bears" if number == 1 else "bear"
        sentence = f"{wording.rows(number)} of the release {verb} quasi-identifiers that no original row has."
        return Check("rows", False, sentence)
    had = np.bincount(aligned.had[aligned.usable], minlength=aligned.kinds)
    shown = np.bincount(aligned.shown, minlength=aligned.kinds)
    over = np.flatnonzero(shown > had)
    if len(over):
        row = int(np.argmax(aligned.shown == over[0]))
        words = []
        for attribute, payload in zip(aligned.release.quasi, aligned.release.exact, strict=True):
            value = payload.values[payload.codes[row]]
            words.append(f"{attribute.name} {wording.exact(value) if isinstance(value, float) else value}")
        sentence = (
            f"The release has {wording.rows(int(shown[over[0]]))} with {', '.join(words)}, but the original only has "
            f"{had[over[0]]:,} that may be published."
        )
        return Check("rows", False, sentence)
    which = (
        "are exactly those of the original" if len(aligned.shown) == len(aligned.had) else "all belong to original rows"
    )
    return Check("rows", True, f"The published quasi-identifiers {which}, none more often than it occurs.")


def _by_trace(views: Sequence[AlignedAnatomy], trace: NDArray[Any], faults: list[str]) -> Check:
    """Check that every group has exactly the rows that the trace puts into it, in all tables."""
    aligned, faults = views[0], list(faults)
    release = aligned.release
    explained = "every group has exactly the quasi-identifiers and the sensitive values of its rows"
    placed = place_rows(release, len(aligned.had), aligned.usable, trace, faults)
    if placed is None:
        return trace_check(faults, explained)
    kept, places = placed
    wide = max(aligned.kinds, int(aligned.shown.max(initial=0))) + 1
    differing = first_difference(
        release.group_of.astype(np.int64) * wide + aligned.shown, places * wide + aligned.had[kept]
    )
    if differing is not None:
        faults.append(f"group {release.ids[differing // wide]} is not published with the quasi-identifiers of its rows")
    for view in views:
        (column,) = view.original.sensitive
        real = Counts.of_rows(places, column.codes[kept], release.groups, len(column.values))
        wrong = wrongly_counted(view.counts, real)
        if wrong is not None:
            of = "the sensitive values" if len(views) == 1 else f"the values of {column.name!r}"
            faults.append(f"group {release.ids[wrong]} is not published with {of} of its rows")
    return trace_check(faults, explained)


def _without_trace(views: Sequence[AlignedAnatomy]) -> tuple[Check, str]:
    """Check that the original supports the tables of each sensitive attribute.

    That is necessary only where there are several, as the rows of a group must be the same for all of them.
    """
    found = [without_trace(margins(view), view.release.ids) for view in views]
    if len(found) == 1:
        return found[0]
    for view, (check, how) in zip(views, found, strict=True):
        if not check.holds:
            return replace(check, sentence=f"About {view.release.secret.name!r}: {check.sentence}"), how
    told = (
        "For each sensitive attribute the groups can be made of the original's rows; whether by the same rows for all "
        "of them, only the trace can tell."
    )
    return Check(found[0][0].name, True, told), "necessary"


def wrongly_counted(told: Counts, real: Counts) -> int | None:
    """Return the first group whose counts differ from the real ones; None if there is none."""
    cells = np.repeat(told.groups * told.width + told.values, told.amounts)
    actual = np.repeat(real.groups * real.width + real.values, real.amounts)
    differing = first_difference(cells, actual)
    return None if differing is None else differing // told.width


# ----------------------------------------------------------------------------------------------------------- promises


def _crowd(part: Principle, release: AnatomyRelease, left: NDArray[np.int64]) -> PromiseVerdict:
    """Judge k-anonymity, which is about indistinguishable rows: here, rows with the same quasi-identifiers."""
    keys = numbered([one.codes for one in release.exact], [len(one.values) for one in release.exact], release.rows)
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


def _losses(release: AnatomyRelease, withheld: int) -> dict[str, float]:
    """Return the losses; quasi-identifiers are exact, so only withheld rows lose information about them."""
    rows = release.rows + withheld
    return {
        "ail": withheld / rows if rows else 0.0,
        "gcp": withheld / rows if rows else 0.0,
        "discernibility": int((release.sizes**2).sum()) + withheld * rows,
        "average_class_size": release.rows / release.groups if release.groups else 0.0,
    }
