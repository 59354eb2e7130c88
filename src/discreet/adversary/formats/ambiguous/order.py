"""Check that the orders of the tables of an ambiguous release carry no information: each table alone, and every pair.

Every table has an order of its own, so that nobody can link the lines of two tables that describe one row. If the
orders were aligned, the first line of a group in one table would belong to its first line in another. So lines at the
same place in their group are paired, and the check counts how many pairs occur in some row (of the group, where the
trace identifies its rows). Given one table's lines, those of the other are in random order within every group.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import places_in
from discreet.adversary.check import Check
from discreet.adversary.checks.coincidences import exceeding
from discreet.adversary.checks.order import Finding, Lines, order
from discreet.adversary.checks.permutations import MOST, Ints
from discreet.adversary.formats.ambiguous.align import AlignedAmbiguous
from discreet.adversary.formats.orders import AT_FAULT, traced_rows
from discreet.releases.columns import ExactColumn
from discreet.releases.counted import sensitive_names
from discreet.table.combinations import distinct, numbered

LARGEST = 1 << 24
"""Up to this many combinations of a group and two values, the ones that rows have are marked in a dense table."""


class Listed(NamedTuple):
    """The lines of one table in the order of its file."""

    table: str
    groups: Ints
    values: Ints
    """The value of each line, besides its group."""
    of_row: Ints
    """The value that each row of the original would have in this table; -1 where no line has it."""


def order_of_ambiguous(views: Sequence[AlignedAmbiguous], trace: NDArray[Any] | None) -> Check:
    """Check that neither the orders of the tables nor the numbers of the groups carry information.

    There is a view for each sensitive attribute, as the lines of no table may follow the values of any of them.
    """
    aligned = views[0]
    if aligned.release.faults or any(view.strange for view in views):
        return AT_FAULT
    traced = traced_rows(aligned.release, aligned.original.rows, trace)
    kept, places = (aligned.usable, None) if traced is None else traced
    begun = _Beginnings.of(views, len(kept), places)

    def lines() -> Iterator[Lines]:
        """Make the lines of one table at a time, which of all tables would need most of the memory of an audit."""
        for at, one in enumerate(_tables(views, kept)):
            begun.add(one)
            says, rows, known = one.values, one.of_row, np.flatnonzero(one.of_row >= 0)
            if places is not None:
                wide = int(max(one.values.max(initial=0), one.of_row.max(initial=0))) + 1
                says, rows = one.groups * wide + says, places * wide + rows
            for other, view in enumerate(views, len(aligned.release.auxiliaries)):
                held = (None, one.values) if other == at else (view.classes[kept[known]].astype(np.int64), None)
                yield Lines(f"the table {one.table}", says, one.groups, rows[known], kept[known], *held)

    return order(lines(), begun.pairs())


class _Beginnings(NamedTuple):
    """The lines of the first groups of all tables, and at most as many rows as keep tests of all pairs quick."""

    last: int
    """The first group that is left out."""
    rows: Ints
    groups: Ints
    """Per row: its group, if the trace tells."""
    traced: bool
    tables: list[Listed]

    @classmethod
    def of(cls, views: Sequence[AlignedAmbiguous], rows: int, places: Ints | None) -> _Beginnings:
        """Choose the groups and the rows of a release whose rows have these places, if they are known."""
        release = views[0].release
        listed = [one.groups for one in release.auxiliaries] + [view.release.counts.groups for view in views]
        longest = np.max([np.bincount(groups, minlength=release.groups) for groups in listed], axis=0)
        last = int(np.searchsorted(np.cumsum(longest**2), MOST, side="right"))
        kept = np.arange(0, rows, -(-rows // (MOST << 4)) or 1) if places is None else np.flatnonzero(places < last)
        groups = np.zeros(len(kept), np.int64) if places is None else places[kept]
        return cls(last, kept, groups, places is not None, [])

    def add(self, one: Listed) -> None:
        """Remember the beginning of a table, sorted by group."""
        chosen = np.flatnonzero(one.groups < self.last)
        chosen = chosen[np.argsort(one.groups[chosen], kind="stable")]
        self.tables.append(Listed(one.table, one.groups[chosen], one.values[chosen], one.of_row[self.rows]))

    def pairs(self) -> Iterator[Finding]:
        """Test all pairs of tables."""
        for one, other in combinations(self.tables, 2):
            yield _lined_up(one, other, self.groups, self.traced, self.last)


def _tables(views: Sequence[AlignedAmbiguous], kept: Ints) -> Iterator[Listed]:
    """Yield the auxiliary tables, and then that of every sensitive attribute, each with the rows kept."""
    release, located = views[0].release, views[0].located
    stems = [entry["table"] for entry in release.manifest["auxiliaries"]]
    for at, (stem, auxiliary, lines) in enumerate(zip(stems, release.auxiliaries, release.orders, strict=False)):
        columns = auxiliary.columns
        keys = numbered([one.codes for one in columns], [len(one.values) for one in columns], len(auxiliary.groups))
        values = _ranked(keys)  # the numbering used for looking up rows
        place = np.where(located.lines[:, at] < 0, -1, located.lines[:, at] - located.firsts[at])
        of_row = place[located.of_point[kept]]
        yield Listed(stem, auxiliary.groups[lines].astype(np.int64), values[lines], of_row)
    for stem, view in zip(sensitive_names(len(views)), views, strict=True):
        place = places_in(ExactColumn(view.release.values, np.zeros(0, np.int32)), view.secret)
        lines, counts = view.release.orders[-1], view.release.counts
        groups, values = counts.groups[lines].astype(np.int64), place[counts.values[lines]]
        yield Listed(stem, groups, values, view.classes[kept].astype(np.int64))


def _ranked(keys: Ints) -> Ints:
    """Return the rank of each key among the distinct keys."""
    if int(keys.max(initial=0)) >= LARGEST:
        return np.searchsorted(distinct(keys), keys)
    used = np.zeros(int(keys.max(initial=0)) + 1, np.int64)
    used[keys] = 1
    return (np.cumsum(used) - 1)[keys]


def _lined_up(one: Listed, other: Listed, of_rows: Ints, traced: bool, last: int) -> Finding:
    """Test how many lines of two tables at the same place in their group occur together in some row.

    Both tables are sorted by group; there are ``last`` groups; ``of_rows`` are the groups of the rows.
    """
    sizes = np.bincount(one.groups, minlength=last), np.bincount(other.groups, minlength=last)
    starts = [np.cumsum(size) - size for size in sizes]
    # pair every line of ``other`` that has a partner at its place with all lines of its group in ``one``
    place = np.arange(len(other.groups)) - starts[1][other.groups]
    paired = np.flatnonzero(place < sizes[0][other.groups])
    repeats = sizes[0][other.groups[paired]]
    second = np.repeat(paired, repeats)
    within = np.arange(len(second)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    groups = other.groups[second]
    pairs = groups if traced else np.zeros_like(groups), one.values[starts[0][groups] + within], other.values[second]
    held = _held(pairs, (of_rows, one.of_row, other.of_row))
    mean = float((held / np.repeat(repeats, repeats)).sum())
    what = f"the lines of {one.table} and {other.table} that have the same place in their group belong together"
    return Finding(what, exceeding(float(held[within == place[second]].sum()), mean))


def _held(pairs: tuple[Ints, Ints, Ints], rows: tuple[Ints, Ints, Ints]) -> NDArray[np.bool_]:
    """Return which combinations of a group and two values some row has."""
    known = np.flatnonzero((rows[1] >= 0) & (rows[2] >= 0))
    columns = [np.concatenate([row[known], pair]) for row, pair in zip(rows, pairs, strict=True)]
    widths = [int(column.max(initial=0)) + 1 for column in columns]
    keys = numbered(columns, widths, len(columns[0]))
    if math.prod(widths) > LARGEST:
        return np.isin(keys[len(known) :], keys[: len(known)])
    seen = np.zeros(math.prod(widths), np.bool_)  # a dense table is quicker than a search
    seen[keys[: len(known)]] = True
    return np.asarray(seen[keys[len(known) :]])
