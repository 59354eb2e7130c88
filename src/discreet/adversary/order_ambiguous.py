"""Whether the orders of the tables of an ambiguous release tell anything: each by itself, and two by two.

Every table has an order of its own, so that nobody can tell which lines of two tables are of one row. Were they lined
up, the first line of a group in one table would belong to its first line in another. So lines that have the same place
in a group are taken together, and it is counted how many such pairs some row holds, of the group where the trace tells
its rows. Given the lines of the one table, those of the other are in a random order within every group.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.ambiguous_laying import AmbiguousLaid
from discreet.adversary.arrangement import MOST, Ints, exceeding
from discreet.adversary.check import Check
from discreet.adversary.laying import places_in
from discreet.adversary.order import Finding, Lines, order
from discreet.adversary.order_formats import AT_FAULT, traced_rows
from discreet.releases.ambiguous import SENSITIVE
from discreet.releases.payload import Payload
from discreet.table.combinations import distinct, numbered


class Listed(NamedTuple):
    """The lines of one table in the order of its file."""

    table: str
    groups: Ints
    values: Ints
    """What each line says besides its group."""
    of_row: Ints
    """What each row of the original would have it say; -1 where no line does."""


def order_of_ambiguous(laid: AmbiguousLaid, trace: NDArray[Any] | None) -> Check:
    """Whether the orders of the tables, and the numbers of the groups, tell nothing."""
    if laid.release.faults or laid.strange:
        return AT_FAULT
    traced = traced_rows(laid.release, laid.original.rows, laid.usable, trace)
    kept, places = (laid.usable, None) if traced is None else traced
    tables = [one._replace(of_row=one.of_row[kept]) for one in _tables(laid)]
    secrets = laid.classes[kept].astype(np.int64)
    lines = []
    for one in tables:
        says, rows, known = one.values, one.of_row, np.flatnonzero(one.of_row >= 0)
        if places is not None:
            wide = int(max(one.values.max(initial=0), one.of_row.max(initial=0))) + 1
            says, rows = one.groups * wide + says, places * wide + rows
        sensitive = one.table == SENSITIVE
        held = (None, one.values) if sensitive else (secrets[known], None)
        lines.append(Lines(f"the table {one.table}", says, one.groups, rows[known], kept[known], *held))
    return order(lines, [_lined_up(one, other, places) for one, other in combinations(tables, 2)])


def _tables(laid: AmbiguousLaid) -> list[Listed]:
    release, located = laid.release, laid.located
    found = []
    stems = [entry["table"] for entry in release.manifest["auxiliaries"]]
    for at, (stem, auxiliary, lines) in enumerate(zip(stems, release.auxiliaries, release.orders[:-1], strict=True)):
        columns = auxiliary.columns
        keys = numbered([one.codes for one in columns], [len(one.values) for one in columns], len(auxiliary.groups))
        values = np.searchsorted(distinct(keys), keys)  # as they are numbered where rows are looked up
        of_row = located.lines[:, at][located.of_point]
        of_row = np.where(of_row < 0, -1, of_row - located.firsts[at])
        found.append(Listed(stem, auxiliary.groups[lines].astype(np.int64), values[lines], of_row))
    assert laid.original.sensitive is not None, "a release without it was refused"
    place = places_in(Payload(release.values, np.zeros(0, np.int32)), laid.original.sensitive)
    lines, counts = release.orders[-1], release.counts
    groups, values = counts.groups[lines].astype(np.int64), place[counts.values[lines]]
    return [*found, Listed(SENSITIVE, groups, values, laid.classes.astype(np.int64))]


def _lined_up(one: Listed, other: Listed, places: NDArray[np.intp] | None) -> Finding:
    """How many lines of two tables that have the same place in their group are held together by some row."""
    number = int(max(one.groups.max(initial=0), other.groups.max(initial=0))) + 1
    sizes = np.bincount(one.groups, minlength=number), np.bincount(other.groups, minlength=number)
    last = int(np.searchsorted(np.cumsum(sizes[0] * sizes[1]), MOST, side="right"))
    firsts, seconds = (_first_groups(table, last) for table in (one, other))
    starts = [np.concatenate([[0], np.cumsum(size[:last])]) for size in sizes]
    # every line of the other table that has a partner in its place, with all lines of its group in the one
    at = np.arange(starts[1][-1])
    group = seconds.groups
    place = at - starts[1][group]
    paired = np.flatnonzero(place < sizes[0][group])
    repeats = sizes[0][group[paired]]
    second = np.repeat(paired, repeats)
    within = np.arange(len(second)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    first = starts[0][group[second]] + within
    held = _held(firsts.values[first], seconds.values[second], group[second], one, other, places, last)
    beside = within == place[second]
    mean = float((held / np.repeat(repeats, repeats)).sum())
    what = f"the lines of {one.table} and {other.table} that have the same place in their group belong together"
    return Finding(what, exceeding(float(held[beside].sum()), mean))


def _first_groups(table: Listed, last: int) -> Listed:
    """The lines of the first groups, by group."""
    chosen = np.flatnonzero(table.groups < last)
    chosen = chosen[np.argsort(table.groups[chosen], kind="stable")]
    return table._replace(groups=table.groups[chosen], values=table.values[chosen])


def _held(
    first: Ints, second: Ints, groups: Ints, one: Listed, other: Listed, places: NDArray[np.intp] | None, last: int
) -> NDArray[np.bool_]:
    """Which pairs of values some row holds, one of the group where it is known."""
    rows = (one.of_row >= 0) & (other.of_row >= 0)
    if places is not None:
        rows &= places < last
    kept = np.flatnonzero(rows)
    known = np.zeros(len(kept), np.int64) if places is None else places[kept]
    wide = [int(max(table.values.max(initial=0), table.of_row.max(initial=0))) + 1 for table in (one, other)]
    if places is None:
        groups = np.zeros(len(groups), np.int64)
        if wide[0] * wide[1] <= 1 << 24:  # a table is quicker than a search
            seen = np.zeros(wide[0] * wide[1], np.bool_)
            seen[one.of_row[kept] * wide[1] + other.of_row[kept]] = True
            return np.asarray(seen[first * wide[1] + second])
    columns = [(known, groups), (one.of_row[kept], first), (other.of_row[kept], second)]
    keys = numbered([np.concatenate(pair) for pair in columns], [max(1, last), *wide], len(kept) + len(first))
    return np.isin(keys[len(kept) :], keys[: len(kept)])
