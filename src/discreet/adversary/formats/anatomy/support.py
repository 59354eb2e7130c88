"""Check that the original supports an anatomy release without a trace.

Three tables of counts are known: the original's rows by combination of quasi-identifiers and sensitive value; the
published rows by combination and group; and the counted values by group and value. The withheld rows are one more
group. A true release fills a cube with whole numbers whose three margins are these tables. Finding such a cube is hard
in general. But rows whose combination is in one group only, or has one value only, leave no choice. If few other cells
remain, integer programming decides about them; if many remain, every group is checked for enough rows of each of its
values among its combinations. This is a necessary condition, so a true release never fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import ComparedRows, rows_compared, usable_rows
from discreet.adversary.check import Check
from discreet.adversary.checks.counted import CELLS, AlignedCounts, claims, whole_numbers_exist
from discreet.principles.counts import Counts
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.table.combinations import looked_up
from discreet.table.table import Table


@dataclass(frozen=True, eq=False)
class AlignedAnatomy(AlignedCounts[AnatomyRelease]):
    """An anatomy release aligned with its original, both in the codes of the original."""

    rows: ComparedRows


def align(release: AnatomyRelease, original: Table) -> AlignedAnatomy:
    """Align a release with its original; reject an original that was read differently than the release states.

    The counts are those of the first sensitive attribute; ``each_attribute`` has those of all.
    """
    counts = claims(release, original)
    return AlignedAnatomy(release, original, *counts, usable_rows(original), rows_compared(release, original))


def margins(aligned: AlignedAnatomy) -> Margins | None:
    """Return the counts that must fit together: by combination and value, combination and group, group and value.

    The withheld rows are one more group, the last one, with all usable rows that are not published. None if more is
    published than the original has, which other checks report.
    """
    column = aligned.secret
    width, groups, rows = len(column.values), aligned.release.groups, aligned.rows
    if aligned.strange or bool((rows.shown >= rows.kinds).any()):
        return None
    had, classes = rows.had[aligned.usable], column.codes[aligned.usable].astype(np.int64)
    spare = np.bincount(had, minlength=rows.kinds) - np.bincount(rows.shown, minlength=rows.kinds)
    unseen = np.bincount(classes, minlength=width) - aligned.published
    if bool((spare < 0).any() or (unseen < 0).any()):
        return None
    in_group = Counts.of_rows(rows.shown, aligned.release.group_of, rows.kinds, groups + 1)
    points = np.concatenate([in_group.groups, np.flatnonzero(spare)])
    of_group = np.concatenate([in_group.values, np.full(int((spare > 0).sum()), groups)])
    amounts = np.concatenate([in_group.amounts, spare[spare > 0]])
    order = np.lexsort((of_group, points))
    demand = np.concatenate([aligned.counts.groups, np.full(int((unseen > 0).sum()), groups)])
    return Margins(
        Counts.of_rows(had, classes, rows.kinds, width),
        Counts(
            np.searchsorted(points[order], np.arange(rows.kinds + 1)),
            of_group[order].astype(np.int32),
            amounts[order],
            groups + 1,
        ),
        Counts(
            np.searchsorted(demand, np.arange(groups + 2)),
            np.concatenate([aligned.counts.values, np.flatnonzero(unseen)]).astype(np.int32),
            np.concatenate([aligned.counts.amounts, unseen[unseen > 0]]),
            width,
        ),
    )


CHUNK = 1 << 22
"""How many cells are processed together where there are too many to search."""


class Margins(NamedTuple):
    """Three tables of counts that describe the same rows; the last group consists of the withheld rows."""

    values: Counts
    """Per combination of quasi-identifiers: how many original rows have which value."""
    groups: Counts
    """Per combination of quasi-identifiers: how many rows are in which group."""
    claims: Counts
    """Per group: how many rows have which value."""


class ClaimCells(NamedTuple):
    """Cells of the cube that may be nonzero, with their upper bounds."""

    points: NDArray[np.int64]
    groups: NDArray[np.int64]
    values: NDArray[np.int64]
    room: NDArray[np.int64]


def without_trace(margins: Margins | None, ids: NDArray[np.int64]) -> tuple[Check, str]:
    """Check that original rows could be behind the groups; also return the method (``assignment`` or ``necessary``)."""
    if margins is None:
        return _refuted(
            "The release has quasi-identifiers or values that the original does not have, or has less often."
        ), ("necessary")
    left, group = _forced(margins)
    if left is None:
        return _refuted(f"The rows that {_named(group, ids)} must hold do not have the values it is published with."), (
            "necessary"
        )
    if not len(left.groups.amounts):
        if len(left.claims.amounts):
            group = int(left.claims.groups[0])
            return _refuted(f"There are no rows for all of the values of {_named(group, ids)}."), "assignment"
        return _explained(), "assignment"
    if _number(left) <= CELLS:
        possible = _assignment(left)
        if possible is not None:
            if possible:
                return _explained(), "assignment"
            return _refuted(
                "However its rows are assigned to groups, some group does not have the values it is published with."
            ), "assignment"
    group = _lacking(left)
    if group >= 0:
        return _refuted(f"The rows that {_named(group, ids)} may hold have too few of one of its values."), "necessary"
    sentence = (
        "Without the trace: the rows of every group can have each of its sensitive values as often as it is counted; "
        "this is necessary but not sufficient, and only the trace can tell more."
    )
    return Check("support", True, sentence), "necessary"


def _refuted(reason: str) -> Check:
    return Check("support", False, f"The original does not support the release. {reason}")


def _explained() -> Check:
    return Check(
        "support",
        True,
        "Without the trace: an assignment of original rows to groups exists in which every group has exactly the "
        "quasi-identifiers and the sensitive values it is published with.",
    )


def _named(group: int, ids: NDArray[np.int64]) -> str:
    return f"group {ids[group]}" if group < len(ids) else "the withheld rows"


def _forced(margins: Margins) -> tuple[Margins | None, int]:
    """Place all rows without a choice and return what remains; None, and a group, if these rows do not fit."""
    values, groups, claims = margins
    width = claims.width
    if not len(values.amounts):
        return margins, -1
    one_value = np.diff(values.starts) == 1
    one_group = (np.diff(groups.starts) == 1) & ~one_value
    # a combination with one value: all its rows have it, in each group; with one group: all its values are there
    by_group = one_value[groups.groups]
    first = values.values[np.minimum(values.starts[:-1], max(0, len(values.values) - 1))].astype(np.int64)
    cells = [groups.values[by_group].astype(np.int64) * width + first[groups.groups[by_group]]]
    amounts = [groups.amounts[by_group]]
    by_value = one_group[values.groups]
    home = groups.values[np.minimum(groups.starts[:-1], max(0, len(groups.values) - 1))].astype(np.int64)
    cells.append(home[values.groups[by_value]] * width + values.values[by_value])
    amounts.append(values.amounts[by_value])
    placed, at = np.unique(np.concatenate(cells), return_inverse=True)
    sums = np.zeros(len(placed), np.int64)
    np.add.at(sums, at, np.concatenate(amounts))
    claimed = claims.groups * width + claims.values
    order = np.argsort(claimed)
    claimed, rest = claimed[order], claims.amounts[order].copy()
    places, fits = looked_up(claimed, placed)
    rest[places[fits]] -= sums[fits]
    if not bool(fits.all()):
        return None, int(placed[~fits][0]) // width
    if bool((rest < 0).any()):
        return None, int(claimed[rest < 0][0]) // width
    free = ~(one_value | one_group)
    keep = rest > 0
    return Margins(
        _only(values, free),
        _only(groups, free),
        Counts(
            np.searchsorted(claimed[keep] // width, np.arange(len(claims) + 1)),
            (claimed[keep] % width).astype(np.int32),
            rest[keep],
            width,
        ),
    ), -1


def _only(counts: Counts, lines: NDArray[np.bool_]) -> Counts:
    """Return the counts with all lines emptied but the given ones."""
    kept = lines[counts.groups]
    starts = np.concatenate([[0], np.cumsum(np.where(lines, np.diff(counts.starts), 0))])
    return Counts(starts, counts.values[kept], counts.amounts[kept], counts.width)


def _number(margins: Margins) -> int:
    """Count the cells if every value of a combination is possible in each of its groups."""
    return int((np.diff(margins.groups.starts) * np.diff(margins.values.starts)).sum())


def _cells(margins: Margins, start: int, end: int) -> ClaimCells:
    """Return the cells of the pairs of a combination and a group from ``start`` to ``end``."""
    values, groups, _ = margins
    points = groups.groups[start:end]
    many = np.diff(values.starts)[points]
    pair = np.repeat(np.arange(start, end), many)
    offset = np.arange(len(pair)) - np.repeat(np.cumsum(many) - many, many)
    at = values.starts[groups.groups[pair]] + offset
    room = np.minimum(groups.amounts[pair], values.amounts[at])
    return ClaimCells(
        groups.groups[pair], groups.values[pair].astype(np.int64), values.values[at].astype(np.int64), room
    )


def _lacking(margins: Margins) -> int:
    """Return a group whose combinations have too few rows of a value that it claims; -1 if there is none."""
    claims = margins.claims
    claimed = claims.groups * claims.width + claims.values
    available = np.zeros(len(claimed), np.int64)
    ends = np.cumsum(np.diff(margins.values.starts)[margins.groups.groups])
    start = 0
    while start < len(ends):
        before = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + CHUNK, side="right")))
        cells = _cells(margins, start, end)
        keys = cells.groups * claims.width + cells.values
        places, hit = looked_up(claimed, keys)
        np.add.at(available, places[hit], cells.room[hit])
        start = end
    short = np.flatnonzero(available < claims.amounts)
    return int(claims.groups[short[0]]) if len(short) else -1


def _assignment(margins: Margins) -> bool | None:
    """Whether whole numbers fill the cube; None if time ran out."""
    from scipy.sparse import csr_array

    cells = _cells(margins, 0, len(margins.groups.amounts))
    sides = []
    wanted = []
    pairs = (
        (margins.groups, cells.points, cells.groups),
        (margins.values, cells.points, cells.values),
        (margins.claims, cells.groups, cells.values),
    )
    room = cells.room.astype(np.float64)
    for side, lines, columns in pairs:
        keys = side.groups * side.width + side.values
        places, hit = looked_up(keys, lines * side.width + columns)
        room[~hit] = 0.0
        ones = np.ones(int(hit.sum()))
        sides.append(csr_array((ones, (places[hit], np.flatnonzero(hit))), shape=(len(keys), len(lines))))
        wanted.append(side.amounts)
    demand = np.concatenate(wanted).astype(np.float64)
    return whole_numbers_exist(room, sides, demand, demand)
