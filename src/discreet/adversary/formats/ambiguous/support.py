"""Check that the original supports an ambiguous release, with its private trace or without.

With the trace, every group must list exactly the values of its rows and count exactly their sensitive values. Without
it, there must be an assignment of rows to groups: every group gets as many rows of each sensitive value as it counts,
it lists all their values, and each of its entries has at least one row; rows left over are withheld. Where there are
few possibilities, integer programming decides whether an assignment exists. Where there are many, every entry, every
count and every row is checked by itself; this is a necessary condition, so a true release never fails. Several
sensitive attributes are looked at one by one, which is necessary only, as they must have the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import quasi_column, usable_rows
from discreet.adversary.check import Check
from discreet.adversary.checks.counted import (
    CELLS,
    AlignedCounts,
    claims,
    supported,
    whole_numbers_exist,
    wrongly_counted,
)
from discreet.adversary.checks.trace import place_rows, trace_check
from discreet.kernels.presence import coverage
from discreet.principles import wording
from discreet.randomness import generator
from discreet.releases.ambiguous.lookup import Located
from discreet.releases.ambiguous.release import AmbiguousRelease
from discreet.releases.columns import value_name
from discreet.table.combinations import first_unshared, looked_up, numbered
from discreet.table.table import Column, Table


@dataclass(frozen=True, eq=False)
class AlignedAmbiguous(AlignedCounts[AmbiguousRelease]):
    """An ambiguous release aligned with its original."""

    columns: tuple[Column, ...]
    """The original's quasi-identifiers, in the order of the release."""
    located: Located
    """The original's rows, looked up in the auxiliary tables."""


def align(release: AmbiguousRelease, original: Table) -> AlignedAmbiguous:
    """Align a release with its original; reject an original that was read differently than the release states.

    The counts are those of the first sensitive attribute; ``each_attribute`` has those of all.
    """
    columns = tuple(quasi_column(attribute, original) for attribute in release.quasi)
    located = release.lists.located(columns)
    return AlignedAmbiguous(release, original, *claims(release, original), usable_rows(original), columns, located)


def value_named(aligned: AlignedAmbiguous, value: int) -> str:
    """Return a listed value, or a combination of values published together, in words."""
    firsts = aligned.located.firsts
    block = int(np.searchsorted(firsts, value, side="right")) - 1
    columns = aligned.release.auxiliaries[block].columns
    keys = numbered(
        [column.codes for column in columns], [len(column.values) for column in columns], len(columns[0].codes)
    )
    # values are numbered in the order of their keys
    entry = int(np.argmax(keys == np.unique(keys)[value - firsts[block]]))
    words: list[str] = []
    for name, column in zip(aligned.release.blocks[block], columns, strict=True):
        held: Any = column.values[column.codes[entry]]
        words.append(f"{name} {value_name(held, column.notation)}")
    return ", ".join(words)


kernels = cast(Any, coverage)


class PublishedRows(NamedTuple):
    """The usable rows of the original by what a group publishes: their listed values, and their sensitive value."""

    lines: NDArray[np.int64]
    starts: NDArray[np.int64]
    """Line i has the entries of ``classes`` and ``amounts`` from ``starts[i]`` to ``starts[i + 1]``."""
    classes: NDArray[np.int32]
    amounts: NDArray[np.int64]

    @property
    def line_of(self) -> NDArray[np.int64]:
        """The line of each entry."""
        return np.repeat(np.arange(len(self.lines)), np.diff(self.starts))


# --------------------------------------------------------------------------------------------------------- by a trace


def by_trace(views: Sequence[AlignedAmbiguous], trace: NDArray[Any], faults: list[str]) -> Check:
    """Check that every group lists and counts exactly the values of the rows that the trace puts into it."""
    aligned, faults = views[0], list(faults)
    release = aligned.release
    explained = "every group lists exactly the quasi-identifiers and counts exactly the sensitive values of its rows"
    placed = place_rows(release, aligned.original.rows, aligned.usable, trace, faults)
    if placed is None:
        return trace_check(faults, explained)
    kept, places = placed
    located = aligned.located
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
    faults += wrongly_counted(views, kept, places)
    return trace_check(faults, explained)


# ------------------------------------------------------------------------------------------------------ without trace


def without_trace(views: Sequence[AlignedAmbiguous]) -> tuple[Check, str]:
    """Check that original rows could be behind the groups; also return the method (``assignment`` or ``necessary``)."""
    return supported(views, [_supported(view) for view in views])


def _supported(aligned: AlignedAmbiguous) -> tuple[Check, str]:
    """Check that, by one sensitive attribute, original rows could be behind the groups."""
    rows = _rows(aligned)
    fault = _unsupported(aligned, rows)
    if fault is not None:
        return Check("support", False, f"The original does not support the release. {fault}"), "necessary"
    dealt = _dealt(aligned, rows)
    if dealt is False:
        return Check(
            "support",
            False,
            "The original does not support the release. However its rows are dealt to groups, some group does not have "
            "the values it is published with.",
        ), "assignment"
    if dealt:
        return Check(
            "support",
            True,
            "Without the trace: original rows can be dealt to groups so that every group has exactly the "
            "quasi-identifiers and the sensitive values it is published with.",
        ), "assignment"
    return Check(
        "support",
        True,
        "Without the trace: for every value that a group lists or counts, the original has rows that could be the "
        "group's, and every row that is not withheld has a group; this is necessary but not sufficient, and only the "
        "trace can tell more.",
    ), "necessary"


def _rows(aligned: AlignedAmbiguous) -> PublishedRows:
    """Return the usable rows, lines in random order: this finds witnesses early, whichever values a group lists.

    The order decides how long the search takes, not what it finds.
    """
    width, number = aligned.counts.width, len(aligned.located.lines)
    order = generator().permutation(number)
    place = np.empty(number, np.int64)
    place[order] = np.arange(number)
    keys = place[aligned.located.of_point[aligned.usable]] * width + aligned.classes[aligned.usable]
    cells, amounts = np.unique(keys, return_counts=True)
    starts = np.searchsorted(cells, np.arange(number + 1) * width)
    return PublishedRows(aligned.located.lines[order], starts, (cells % width).astype(np.int32), amounts)


def _unsupported(aligned: AlignedAmbiguous, rows: PublishedRows) -> str | None:
    """Describe an entry, a count or rows without an explanation; None if each has one by itself."""
    release, shown, counts = aligned.release, aligned.located.shown, aligned.counts
    borne, lacking, fits = kernels.witnesses(
        rows.lines,
        rows.starts,
        rows.classes,
        rows.amounts,
        shown,
        release.groups,
        counts.starts,
        counts.values,
        counts.amounts,
    )
    if not bool(borne.all()):
        at = int(np.argmin(borne))
        value = int(np.searchsorted(shown.starts, at, side="right")) - 1
        group = int(shown.groups[at])
        return (
            f"Group {release.ids[group]} lists {value_named(aligned, value)}, but no original row with it could be one "
            "of its rows."
        )
    if bool((short := np.flatnonzero(lacking)).size):
        group, value = int(counts.groups[short[0]]), int(counts.values[short[0]])
        return (
            f"Group {release.ids[group]} counts {wording.rows(int(counts.amounts[short[0]]))} with "
            f"{aligned.secret.name} {aligned.secret.texts[value]!r}, of which the original has "
            f"{int(lacking[short[0]]):,} too few with values that the group lists."
        )
    homeless = np.bincount(rows.classes[~fits], weights=rows.amounts[~fits], minlength=counts.width).astype(np.int64)
    usable = np.bincount(rows.classes, weights=rows.amounts, minlength=counts.width).astype(np.int64)
    over = np.flatnonzero(homeless > usable - aligned.published)
    if len(over):
        text = aligned.secret.texts[int(over[0])]
        left = int(usable[over[0]] - aligned.published[over[0]])
        return (
            f"{wording.rows(int(homeless[over[0]]))} with {aligned.secret.name} {text!r} fit into no "
            f"group, but only {max(0, left):,} can have been withheld."
        )
    return None


def _dealt(aligned: AlignedAmbiguous, rows: PublishedRows) -> bool | None:
    """Whether an assignment of rows to groups exists; None if there are too many possibilities or time ran out."""
    from scipy.sparse import csr_array

    release, shown, counts = aligned.release, aligned.located.shown, aligned.counts
    if release.groups * len(rows.amounts) > 1000 * CELLS:
        return None
    lines = rows.lines[rows.line_of]
    starts, groups = kernels.pairs(lines, shown, release.groups)
    of_row = np.repeat(np.arange(len(rows.amounts)), np.diff(starts))
    keys = counts.groups * counts.width + counts.values
    wanted = groups * counts.width + rows.classes[of_row]
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

    sides = [sums(of_row, len(rows.amounts)), sums(claim, len(keys)), sums(filled, len(entries))]
    low = np.concatenate([np.zeros(len(rows.amounts)), counts.amounts, np.ones(len(shown.groups))])
    high = np.concatenate([rows.amounts, counts.amounts, np.full(len(shown.groups), np.inf)])
    return whole_numbers_exist(rows.amounts[of_row].astype(np.float64), sides, low, high)
