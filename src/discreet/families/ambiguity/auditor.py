"""The audit of an ambiguous release, which lists quasi-identifier values and counts sensitive values per group.

Promises are judged on every group, on the withheld rows taken as one group, and, those about presence, on the belief
about everyone in the original, per group and for all groups together (see ``presence``).

With the trace, every group must list exactly the values of its rows and count exactly their sensitive values. Without
it, there must be an assignment of rows to groups: every group gets as many rows of each sensitive value as it counts,
it lists all their values, and each of its entries has at least one row; rows left over are withheld. Where there are
few possibilities, integer programming decides whether an assignment exists. Where there are many, every entry, every
count and every row is checked by itself; this is a necessary condition, so a true release never fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import check_sensitive, quasi_column
from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check
from discreet.adversary.checks.counted import (
    CELLS,
    AlignedCounts,
    all_totals,
    assigned,
    each_attribute,
    findings,
    group_losses,
    refuted,
    supported,
    whole_numbers_exist,
    wrongly_counted,
)
from discreet.adversary.checks.domains import domains, numbers_of
from discreet.adversary.checks.manifest import entries
from discreet.adversary.checks.soundness import consistency
from discreet.families.ambiguity.blocks import as_blocks, parse_pairs, table_names
from discreet.families.ambiguity.lookup import Located
from discreet.families.ambiguity.release import AmbiguousRelease
from discreet.kernels.presence import coverage
from discreet.principles import wording
from discreet.principles.counts import Counts
from discreet.randomness import generator
from discreet.releases.canonical import line_keys
from discreet.releases.columns import value_name
from discreet.table.combinations import distinct, first_unshared, looked_up

kernels = cast(Any, coverage)

CONSISTENT = (
    "All tables have the same groups, none lists a value of a group twice, no group lists more values than it "
    "has rows, and the manifest gives the right numbers of rows and groups."
)
EXPLAINED = "every group lists exactly the quasi-identifiers and counts exactly the sensitive values of its rows"


@dataclass(frozen=True, eq=False)
class AlignedAmbiguous(AlignedCounts[AmbiguousRelease]):
    """An ambiguous release aligned with its original."""

    located: Located
    """The original's rows, looked up in the auxiliary tables."""


def value_named(aligned: AlignedAmbiguous, value: int) -> str:
    """Return a listed value, or a combination of values published together, in words."""
    firsts = aligned.located.firsts
    block = int(np.searchsorted(firsts, value, side="right")) - 1
    columns = aligned.release.auxiliaries[block].columns
    keys = line_keys(columns, len(columns[0].codes))
    # values are numbered in the order of their keys
    entry = int(np.argmax(keys == np.unique(keys)[value - firsts[block]]))
    words: list[str] = []
    for name, column in zip(aligned.release.blocks[block], columns, strict=True):
        held: Any = column.values[column.codes[entry]]
        words.append(f"{name} {value_name(held, column.notation)}")
    return ", ".join(words)


def audit_ambiguous(case: Case[AmbiguousRelease]) -> FormatFindings:
    """Audit an ambiguous release against its original; see ``audit``."""
    release = case.release
    quasi = tuple(quasi_column(attribute, case.original) for attribute in release.quasi)
    check_sensitive(release, case.original)
    aligned = AlignedAmbiguous(release, case.original, release.lists.located(quasi))
    views = each_attribute(aligned)
    columns = {
        name: column
        for block, auxiliary in zip(release.blocks, release.auxiliaries, strict=True)
        for name, column in zip(block, auxiliary.columns, strict=True)
    }
    numbers = numbers_of(release.quasi, [columns[attribute.name] for attribute in release.quasi])
    checks = [_entries(case), consistency(release, CONSISTENT)]
    checks += [domains(release, case.original, numbers, case.from_release), _values(aligned), all_totals(views)]
    check, how = case.support(EXPLAINED, partial(_misplaced, views), partial(supported, views, without_trace))
    # losses of single values do not apply: only the link between values is lost
    losses = group_losses(release.rows, release.sizes, case.withheld)
    return findings(case, views, [*checks, check], how, losses)


def _entries(case: Case[AmbiguousRelease]) -> Check:
    """Check the manifest's entries, including which attributes each auxiliary table publishes together."""
    release = case.release
    names = [attribute.name for attribute in release.quasi]
    blocks = as_blocks(names, release.blocks)
    auxiliaries = [
        {"table": stem, "attributes": list(block)} for stem, block in zip(table_names(blocks), blocks, strict=True)
    ]
    check = entries(case, groups=case.manifest["groups"], auxiliaries=auxiliaries)
    scheme: dict[str, Any] = case.manifest["scheme"] if check.holds else {"name": None}
    pairs = scheme["options"].get("pairs", "auto") if scheme["name"] == "ambiguity" else "auto"
    if pairs != "auto" and as_blocks(names, parse_pairs(pairs)) != blocks:
        sentence = f"The manifest has {pairs!r} as 'pairs', which is not what is published together."
        return Check(check.name, False, sentence)
    return check


def _values(aligned: AlignedAmbiguous) -> Check:
    """Check that original rows have all listed values, and all combinations of values published together."""
    located = aligned.located
    seen = np.zeros(int(located.firsts[-1]) + 1, np.bool_)
    seen[located.lines[distinct(located.of_point[aligned.usable])]] = True
    unknown = np.flatnonzero(~seen[:-1])
    if len(unknown):
        more = f", and {len(unknown) - 1:,} other such values" if len(unknown) > 1 else ""
        listed = f"The release lists {value_named(aligned, int(unknown[0]))}"
        return Check("values", False, f"{listed}, which no original row that may be published has{more}.")
    return Check("values", True, "All values that the auxiliary tables list occur in the original.")


def _misplaced(views: Sequence[AlignedAmbiguous], kept: NDArray[np.intp], places: NDArray[np.intp]) -> list[str]:
    """Report groups that do not list and count exactly the values of the rows that the trace puts into them."""
    release, located, faults = views[0].release, views[0].located, []
    shown, line_of = located.shown, located.of_point[kept]
    for block, names in enumerate(release.blocks):
        first, last = (int(located.firsts[at]) for at in (block, block + 1))
        width = last - first + 1
        starts = shown.starts[first : last + 1]
        claimed = shown.groups[starts[0] : starts[-1]] * np.int64(width) + np.repeat(
            np.arange(width - 1), np.diff(starts)
        )
        # values that no group lists share the last number
        held = np.where(located.lines[:, block] < 0, last, located.lines[:, block]) - first
        differing = first_unshared(claimed, places * width + held[line_of])
        if differing is not None:
            faults.append(
                f"group {release.ids[differing // width]} does not list the {' and '.join(names)} of its rows"
            )
    return faults + wrongly_counted(views, kept, places)


# ------------------------------------------------------------------------------------------------------ without trace


def without_trace(aligned: AlignedAmbiguous) -> tuple[Check, str]:
    """Check that original rows could be behind the groups; also return the method (``assignment`` or ``necessary``)."""
    lines, held = _rows(aligned)
    fault = _unsupported(aligned, lines, held)
    if fault is not None:
        return refuted(fault)
    dealt = _dealt(aligned, lines, held)
    if dealt is not None:
        return assigned(dealt)
    sentence = (
        "Without the trace: for every value that a group lists or counts, the original has rows that could be the "
        "group's, and every row that is not withheld has a group; this is necessary but not sufficient, and only the "
        "trace can tell more."
    )
    return Check("support", True, sentence), "necessary"


def _rows(aligned: AlignedAmbiguous) -> tuple[NDArray[np.int64], Counts]:
    """Return the usable rows by what a group publishes: lines of listed values, and the sensitive values of each.

    Lines are in random order: this finds witnesses early, whichever values a group lists. The order decides how long
    the search takes, not what it finds.
    """
    located, number = aligned.located, len(aligned.located.lines)
    order = generator().permutation(number)
    place = np.empty(number, np.int64)
    place[order] = np.arange(number)
    lines = place[located.of_point[aligned.usable]]
    held = Counts.of_rows(lines, aligned.original.sensitive_codes[aligned.usable], number, aligned.counts.width)
    return located.lines[order], held


def _unsupported(aligned: AlignedAmbiguous, lines: NDArray[np.int64], held: Counts) -> str | None:
    """Describe an entry, a count or rows without an explanation; None if each has one by itself."""
    release, shown, counts, sensitive_attribute = (
        aligned.release,
        aligned.located.shown,
        aligned.counts,
        aligned.sensitive_attribute,
    )
    rows, claimed = ((of.starts, of.values, of.amounts) for of in (held, counts))
    borne, lacking = kernels.witnesses(lines, *rows, shown, release.groups, *claimed)
    if not bool(borne.all()):
        at = int(np.argmin(borne))
        value = int(np.searchsorted(shown.starts, at, side="right")) - 1
        return (
            f"Group {release.ids[shown.groups[at]]} lists {value_named(aligned, value)}, but no original row with it "
            "could be one of its rows."
        )
    if bool(lacking.any()):
        at = int(np.flatnonzero(lacking)[0])
        return (
            f"Group {release.ids[counts.groups[at]]} counts {wording.rows(int(counts.amounts[at]))} with "
            f"{sensitive_attribute.name} {sensitive_attribute.texts[int(counts.values[at])]!r}, of which the original "
            f"has {int(lacking[at]):,} too few with values that the group lists."
        )
    order = np.lexsort(lines.T[::-1])
    held = held.only(order)
    fits = kernels.homes(lines[order], held.starts, held.values, shown, counts.starts, counts.values)
    usable, fitting = (np.bincount(held.values, held.amounts * some, counts.width) for some in (1, fits))
    homeless, left = (usable - fitting).astype(np.int64), usable.astype(np.int64) - aligned.published
    over = np.flatnonzero(homeless > left)
    if len(over):
        value = int(over[0])
        return (
            f"{wording.rows(int(homeless[value]))} with {sensitive_attribute.name} "
            f"{sensitive_attribute.texts[value]!r} fit into no group, but only {max(0, left[value]):,} "
            "can have been withheld."
        )
    return None


def _dealt(aligned: AlignedAmbiguous, lines: NDArray[np.int64], held: Counts) -> bool | None:
    """Whether an assignment of rows to groups exists; None if there are too many possibilities or time ran out."""
    from scipy.sparse import csr_array

    release, shown, counts = aligned.release, aligned.located.shown, aligned.counts
    if release.groups * len(held.amounts) > 1000 * CELLS:
        return None
    lines = lines[held.groups]
    starts, groups = kernels.pairs(lines, shown, release.groups)
    of_row = np.repeat(np.arange(len(held.amounts)), np.diff(starts))
    keys = counts.groups * counts.width + counts.values
    wanted = groups * counts.width + held.values[of_row]
    claim, hit = looked_up(keys, wanted)
    of_row, groups, claim = of_row[hit], groups[hit], claim[hit]
    cells = len(of_row)
    if cells > CELLS or not cells:
        return None if cells else not len(keys)
    # the entries that a cell fills: in every list, the value of its row in its group
    entries = np.repeat(np.arange(len(shown.starts) - 1), np.diff(shown.starts)) * release.groups + shown.groups
    filled = np.searchsorted(entries, lines[of_row] * release.groups + groups[:, None])

    def sums(of_cell: NDArray[np.int64], number: int) -> csr_array:
        each = np.repeat(np.arange(cells), of_cell.size // cells)
        return csr_array((np.ones(of_cell.size), (of_cell.ravel(), each)), shape=(number, cells))

    sides = [sums(of_row, len(held.amounts)), sums(claim, len(keys)), sums(filled, len(entries))]
    low = np.concatenate([np.zeros(len(held.amounts)), counts.amounts, np.ones(len(shown.groups))])
    high = np.concatenate([held.amounts, counts.amounts, np.full(len(shown.groups), np.inf)])
    return whole_numbers_exist(held.amounts[of_row].astype(np.float64), sides, low, high)
