"""The audit of an ambiguous release, which lists quasi-identifier values and counts sensitive values per group.

It checks that the files are those the manifest names, that the tables agree with each other and list nothing twice,
that all values are the original's, that the original supports the groups, and that every promise is kept: by every
group, by the withheld rows taken as one group, and, for promises about presence, by the belief about everyone in the
original, per group and for all groups together (see ``presence``).
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np

from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check
from discreet.adversary.checks import soundness
from discreet.adversary.checks.counted import (
    all_totals,
    counted_apart,
    each_attribute,
    group_losses,
    judged_each,
)
from discreet.adversary.checks.domains import domains, numbers_of
from discreet.adversary.checks.manifest import entries
from discreet.adversary.formats.ambiguous.support import AlignedAmbiguous, align, by_trace, value_named, without_trace
from discreet.adversary.verdict import averages
from discreet.releases.ambiguous.blocks import Blocks, as_blocks, table_names
from discreet.releases.ambiguous.release import AmbiguousRelease
from discreet.table.combinations import distinct

CONSISTENT = (
    "All tables have the same groups, none lists a value of a group twice, no group lists more values than it "
    "has rows, and the manifest gives the right numbers of rows and groups."
)


def audit_ambiguous(case: Case[AmbiguousRelease]) -> FormatFindings:
    """Audit an ambiguous release against its original; see ``audit``."""
    release, parts = case.release, case.parts
    aligned = align(release, case.original)
    views = each_attribute(aligned)
    checks = [_entries(case), soundness.consistency(release, CONSISTENT)]
    columns = {
        name: column
        for block, auxiliary in zip(release.blocks, release.auxiliaries, strict=True)
        for name, column in zip(block, auxiliary.columns, strict=True)
    }
    numbers = numbers_of(release.quasi, [columns[attribute.name] for attribute in release.quasi])
    checks.append(domains(release, case.original, numbers, case.from_release))
    checks += [_values(aligned), all_totals(views)]
    check, how = case.support(partial(by_trace, views), partial(without_trace, views))
    checks.append(check)
    judged = judged_each(case, views)
    checks += [*judged.checks, averages(parts), *counted_apart(views)]
    # losses of single values do not apply: only the link between values is lost
    losses = group_losses(release.rows, release.sizes, case.withheld)
    return FormatFindings(checks, judged.kept, losses, how, judged.given, release.groups)


# ------------------------------------------------------------------------------------------------------------ checks


def _entries(case: Case[AmbiguousRelease]) -> Check:
    """Check the manifest's entries, including which attributes each auxiliary table publishes together."""
    release = case.release
    blocks = as_blocks([attribute.name for attribute in release.quasi], release.blocks)
    auxiliaries = [
        {"table": stem, "attributes": list(block)} for stem, block in zip(table_names(blocks), blocks, strict=True)
    ]
    check = entries(case, groups=case.manifest["groups"], auxiliaries=auxiliaries)
    scheme: dict[str, Any] = case.manifest["scheme"] if check.holds else {"name": None}
    pairs = scheme["options"].get("pairs", "auto") if scheme["name"] == "ambiguity" else "auto"
    if not _published_so(pairs, blocks):
        sentence = f"The manifest has {pairs!r} as 'pairs', which is not what is published together."
        return Check(check.name, False, sentence)
    return check


def _published_so(pairs: str, blocks: Blocks) -> bool:
    """Whether the option names the attributes published together, in any order; names may contain the separators."""
    joined = ",".join("+".join(block) for block in blocks if len(block) > 1)

    def pieces(text: str) -> list[str]:
        return sorted(piece.strip() for piece in re.split(r"[+,]", text))

    return pairs == "auto" or pieces("" if pairs == "none" else pairs) == pieces(joined)


def _values(aligned: AlignedAmbiguous) -> Check:
    """Check that original rows have all listed values, and all combinations of values published together."""
    located = aligned.located
    seen = np.zeros(int(located.firsts[-1]) + 1, np.bool_)
    seen[located.lines[distinct(located.of_point[aligned.usable])]] = True
    unknown = np.flatnonzero(~seen[:-1])
    if len(unknown):
        more = f", and {len(unknown) - 1:,} other such values" if len(unknown) > 1 else ""
        return Check(
            "values",
            False,
            f"The release lists {value_named(aligned, int(unknown[0]))}, which no original row that may be published "
            f"has{more}.",
        )
    return Check("values", True, "All values that the auxiliary tables list occur in the original.")
