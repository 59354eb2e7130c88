"""The audit of an anatomy release, which publishes exact quasi-identifiers and counts sensitive values per group.

Promises are judged on every group, on the withheld rows taken as one group, and on the belief of an adversary who only
finds rows by their quasi-identifiers.

Without a trace, three tables of counts are known: the original's rows by combination of quasi-identifiers and sensitive
value; the published rows by combination and group; and the counted values by group and value. The withheld rows are one
more group. A true release fills a cube with whole numbers whose three margins are these tables. Finding such a cube is
hard in general. But rows whose combination is in one group only, or has one value only, leave no choice. If few other
cells remain, integer programming decides about them; if many remain, every group is checked for enough rows of each of
its values among its combinations. This is a necessary condition, so a true release never fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import ComparedRows, check_sensitive, rows_compared
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
from discreet.adversary.checks.domains import numbers_of
from discreet.adversary.checks.overlap import overlap
from discreet.adversary.checks.soundness import opening
from discreet.adversary.checks.totals import rows_of_original
from discreet.adversary.verdict import PromiseVerdict
from discreet.principles import Principle
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.releases.canonical import line_keys
from discreet.table.combinations import first_difference, looked_up
from discreet.table.table import Table

CONSISTENT = (
    "All tables have the same groups, every group has as many rows as values, and the manifest gives the right "
    "numbers of rows and groups."
)
EXPLAINED = "every group has exactly the quasi-identifiers and the sensitive values of its rows"
CHUNK = 1 << 22
"""How many cells are processed together where there are too many to search."""


@dataclass(frozen=True, eq=False)
class AlignedAnatomy(AlignedCounts[AnatomyRelease]):
    """An anatomy release aligned with its original, both in the codes of the original."""

    rows: ComparedRows


def align(release: AnatomyRelease, original: Table) -> AlignedAnatomy:
    """Align a release with its original; reject an original that was read differently than the release states."""
    check_sensitive(release, original)
    return AlignedAnatomy(release, original, rows_compared(release, original))


def audit_anatomy(case: Case[AnatomyRelease]) -> FormatFindings:
    """Audit an anatomy release against its original; see ``audit``."""
    release, original = case.release, case.original
    aligned = align(release, original)
    views = each_attribute(aligned)
    numbers = numbers_of(release.quasi, release.exact)
    checks = opening(case, CONSISTENT, numbers, groups=case.manifest["groups"])
    checks += [all_totals(views), rows_of_original(release, aligned.rows, aligned.usable)]
    check, how = case.support(EXPLAINED, partial(_misplaced, views), partial(supported, views, without_trace))
    # quasi-identifiers are exact, so only withheld rows lose information about them
    lost = case.withheld / original.rows if original.rows else 0.0
    losses = {"ail": lost, "gcp": lost, **group_losses(release.rows, release.sizes, case.withheld)}
    return findings(case, views, [*checks, check, *overlap(case)], how, losses, partial(crowd, release))


def _misplaced(views: Sequence[AlignedAnatomy], kept: NDArray[np.intp], places: NDArray[np.intp]) -> list[str]:
    """Report a group that does not have exactly the rows that the trace puts into it, in any of the tables."""
    return [*other_rows(views[0], kept, places), *wrongly_counted(views, kept, places)]


def other_rows(
    aligned: AlignedAnatomy, kept: NDArray[np.intp], places: NDArray[np.intp], noun: str = "group"
) -> list[str]:
    """Report a group that is not published with the rows that the trace puts into it."""
    release, rows = aligned.release, aligned.rows
    wide = max(rows.kinds, int(rows.shown.max(initial=0))) + 1
    differing = first_difference(release.group_of.astype(np.int64) * wide + rows.shown, places * wide + rows.had[kept])
    if differing is None:
        return []
    return [f"{noun} {release.ids[differing // wide]} is not published with the quasi-identifiers of its rows"]


def crowd(release: AnatomyRelease, part: Principle, left: NDArray[np.int64]) -> PromiseVerdict:
    """Judge k-anonymity, which is about indistinguishable rows: here, rows with the same quasi-identifiers."""
    _, sizes = np.unique(line_keys(release.exact, release.rows), return_counts=True)
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


# ------------------------------------------------------------------------------------------------------ without a trace


class Margins(NamedTuple):
    """Three sparse tables of counts that describe the same rows; the last group consists of the withheld rows."""

    values: Any
    """Per combination of quasi-identifiers: how many original rows have which value."""
    groups: Any
    """Per combination of quasi-identifiers: how many rows are in which group."""
    claims: Any
    """Per group: how many rows have which value."""

    @classmethod
    def of(cls, aligned: AlignedAnatomy) -> Margins | None:
        """Return the counts that must fit together; None if more is published than the original has."""
        from scipy.sparse import csr_array, hstack, vstack

        rows, release, counts, had = aligned.rows, aligned.release, aligned.counts, aligned.rows.had[aligned.usable]
        if aligned.strange or bool((rows.shown >= rows.kinds).any()):
            return None

        def counted(places: NDArray[Any], codes: NDArray[Any], width: int) -> Any:
            return csr_array((np.ones(len(places), np.int64), (places, codes)), shape=(rows.kinds, width))

        values = counted(had, aligned.original.sensitive_codes[aligned.usable], counts.width)
        groups = counted(rows.shown, release.group_of, release.groups)
        spare, unseen = values.sum(axis=1) - groups.sum(axis=1), values.sum(axis=0) - aligned.published
        if bool((spare < 0).any() or (unseen < 0).any()):
            return None
        claimed = csr_array((counts.amounts, counts.values, counts.starts), shape=(release.groups, counts.width))
        groups = hstack([groups, csr_array(spare[:, None])], "csr")
        return cls(values, groups, vstack([claimed, csr_array(unseen[None])], "csr"))

    @property
    def pairs(self) -> NDArray[np.int64]:
        """How many values every pair of a combination and a group may have."""
        return np.repeat(np.diff(self.values.indptr), np.diff(self.groups.indptr)).astype(np.int64)


def without_trace(aligned: AlignedAnatomy) -> tuple[Check, str]:
    """Check that original rows could be behind the groups; also return the method (``assignment`` or ``necessary``)."""
    margins = Margins.of(aligned)
    if margins is None:
        return refuted("Its quasi-identifiers or values are not the original's, or there are more of them.")

    def named(group: np.integer[Any]) -> str:
        return f"group {aligned.release.ids[group]}" if group < aligned.release.groups else "the withheld rows"

    margins = _choices(margins)
    groups, _ = margins.claims.nonzero()
    if bool((margins.claims.data < 0).any()):
        worst = named(groups[np.argmax(margins.claims.data < 0)])
        return refuted(f"The rows that {worst} must hold do not have the values it is published with.")
    if not margins.groups.nnz:
        if len(groups):
            return refuted(f"There are no rows for all of the values of {named(groups[0])}.", "assignment")
        return assigned(True)
    possible = _assignment(margins) if margins.pairs.sum() <= CELLS else None
    if possible is not None:
        return assigned(possible)
    short = np.flatnonzero(_available(margins) < margins.claims.data)
    if len(short):
        return refuted(f"The rows that {named(groups[short[0]])} may hold have too few of one of its values.")
    sentence = (
        "Without the trace: the rows of every group can have each of its sensitive values as often as it is counted; "
        "this is necessary but not sufficient, and only the trace can tell more."
    )
    return Check("support", True, sentence), "necessary"


def _choices(margins: Margins) -> Margins:
    """Place all rows without a choice and return what remains; claims are below 0 where these rows do not fit."""
    values, groups, claims = margins
    one_value = np.diff(values.indptr) == 1
    one_group = (np.diff(groups.indptr) == 1) & ~one_value
    # a combination with one value: all its rows have it, in each group; with one group: all its values are there
    placed = groups[one_value].T @ (values[one_value] > 0) + (groups[one_group] > 0).T @ values[one_group]
    left = claims - placed
    left.eliminate_zeros()
    left.sort_indices()
    free = ~(one_value | one_group)
    return Margins(values[free], groups[free], left)


def _cells(margins: Margins, start: int, end: int) -> tuple[NDArray[np.int64], ...]:
    """Return the cells that may be nonzero, of the pairs of a combination and a group from ``start`` to ``end``.

    These are the combination, the group, the value, and how many rows there may be at most.
    """
    values, groups, _ = margins
    many = margins.pairs[start:end]
    pair = np.repeat(np.arange(start, end), many)
    points = np.repeat(np.arange(groups.shape[0]), np.diff(groups.indptr))[pair]
    at = values.indptr[points] + np.arange(len(pair)) - np.repeat(np.cumsum(many) - many, many)
    room = np.minimum(groups.data[pair], values.data[at])
    return points, groups.indices[pair].astype(np.int64), values.indices[at].astype(np.int64), room


def _keys(table: Any) -> NDArray[np.int64]:
    """Number the cells of a sparse table."""
    lines = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    return np.asarray(lines * table.shape[1] + table.indices, np.int64)


def _available(margins: Margins) -> NDArray[np.int64]:
    """Return, per claim, how many rows of the value there are among the combinations of the group."""
    claimed, width = _keys(margins.claims), margins.claims.shape[1]
    available = np.zeros(len(claimed), np.int64)
    ends = np.cumsum(margins.pairs)
    start = 0
    while start < len(ends):
        before = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + CHUNK, side="right")))
        _, groups, values, room = _cells(margins, start, end)
        places, hit = looked_up(claimed, groups * width + values)
        np.add.at(available, places[hit], room[hit])
        start = end
    return available


def _assignment(margins: Margins) -> bool | None:
    """Whether whole numbers fill the cube; None if time ran out."""
    from scipy.sparse import csr_array

    points, groups, values, most = _cells(margins, 0, margins.groups.nnz)
    room = most.astype(np.float64)
    sides = []
    tables = (margins.groups, points, groups), (margins.values, points, values), (margins.claims, groups, values)
    for table, lines, columns in tables:
        places, hit = looked_up(_keys(table), lines * table.shape[1] + columns)
        room[~hit] = 0.0
        where = places[hit], np.flatnonzero(hit)
        sides.append(csr_array((np.ones(len(where[0])), where), shape=(table.nnz, len(lines))))
    demand = np.concatenate([table.data for table, _, _ in tables])
    return whole_numbers_exist(room, sides, demand, demand)
