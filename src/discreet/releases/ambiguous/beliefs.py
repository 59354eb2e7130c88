"""What the tables of an ambiguous release say about a person: whether in the table, and with which sensitive value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.kernels.presence import value_index as appearing
from discreet.kernels.presence.value_index import Shown
from discreet.releases.anatomy.beliefs import codes_found
from discreet.releases.attributes import points_given
from discreet.releases.boxes import shares
from discreet.table.combinations import distinct, numbered

if TYPE_CHECKING:
    from discreet.releases.ambiguous.release import AmbiguousRelease, Auxiliary
    from discreet.releases.attributes import Attribute
    from discreet.releases.columns import ExactColumn

kernels = cast(Any, appearing)


def presence_at(release: AmbiguousRelease, points: Mapping[str, ArrayLike], combined: bool) -> NDArray[np.float64]:
    """Per point: the largest belief in presence by a covering group, or the one by all of them together."""
    lines, of_point, shown, _ = _located(release, points)
    times, largest, logs = kernels.cover(lines, shown, release.groups, release.presences)
    result: NDArray[np.float64] = 0.0 - np.expm1(logs) if combined else largest
    if release.withheld:
        result[times == 0] = np.nan
    return result[of_point]


def beliefs_at(
    release: AmbiguousRelease, points: Mapping[str, ArrayLike], withheld: ArrayLike | None
) -> NDArray[np.float64]:
    """Per point: the distributions of the covering groups, weighed by the belief that each holds the person."""
    lines, of_point, shown, _ = _located(release, points)
    counts = release.counts
    mixed = kernels.mix(
        lines, shown, release.groups, release.presences, counts.starts, counts.values, counts.shares, counts.width
    )
    return shares(mixed[of_point], withheld)


class Located(NamedTuple):
    """Points found in the auxiliary tables."""

    lines: NDArray[np.int64]
    """Distinct points as lines of values, one per block; -1 where no group shows one."""
    of_point: NDArray[np.int64]
    """The line of each point."""
    shown: Shown
    firsts: NDArray[np.int64]
    """The first value of each block, and the number of all values."""


def _located(release: AmbiguousRelease, points: Mapping[str, ArrayLike]) -> Located:
    """Points given as original values."""
    names = [attribute.name for attribute in release.quasi]
    given = dict(zip(names, points_given(release.quasi, points), strict=True))
    return located(release, lambda attribute, column: codes_found(attribute, column, given[attribute.name]))


def located(release: AmbiguousRelease, codes_of: Callable[[Attribute, ExactColumn], NDArray[np.int64]]) -> Located:
    """Points given by the code that they have in each published column, -1 for a value that it does not have."""
    kinds = {attribute.name: attribute for attribute in release.quasi}
    if not kinds:
        raise DiscreetError("a release without quasi-identifiers cannot be matched with anyone")
    shown, firsts = release.listed
    columns = []
    for first, block, auxiliary in zip(firsts.tolist(), release.blocks, release.auxiliaries, strict=False):
        codes = [codes_of(kinds[name], column) for name, column in zip(block, auxiliary.columns, strict=True)]
        of_point = _matched(auxiliary, codes)
        columns.append(np.where(of_point < 0, -1, of_point + first))
    stacked = np.stack(columns, axis=1).astype(np.int64)
    keys = numbered([column + 1 for column in columns], [int(firsts[-1]) + 1] * len(columns), len(stacked))
    _, at, of_point = np.unique(keys, return_index=True, return_inverse=True)
    return Located(np.ascontiguousarray(stacked[at]), of_point, shown, firsts)


def listed(release: AmbiguousRelease) -> tuple[Shown, NDArray[np.int64]]:
    """Which groups list which values, those of all blocks numbered through, and the first value of each block."""
    entries, firsts = [], [0]
    for auxiliary in release.auxiliaries:
        found, of_entry = _entries(auxiliary)
        entries.append(of_entry + firsts[-1])
        firsts.append(firsts[-1] + found)
    groups = np.concatenate([auxiliary.groups for auxiliary in release.auxiliaries])
    return kernels.index_groups(np.concatenate(entries), groups, release.groups, firsts[-1]), np.array(firsts)


def _entries(auxiliary: Auxiliary) -> tuple[int, NDArray[np.int64]]:
    """How many combinations of a block are shown, in ascending order, and the one of every entry."""
    if len(auxiliary.columns) == 1:
        (column,) = auxiliary.columns
        place = _places(column)
        return int(place.max(initial=-1)) + 1, place[column.codes]
    sizes = [len(column.values) for column in auxiliary.columns]
    keys = numbered([column.codes for column in auxiliary.columns], sizes, len(auxiliary.groups))
    found, of_entry = np.unique(keys, return_inverse=True)
    return len(found), of_entry


def _places(column: ExactColumn) -> NDArray[np.int64]:
    """Per value of a column: its place among those that entries hold, -1 for one that none does."""
    held = np.bincount(column.codes, minlength=len(column.values)) > 0
    return np.where(held, np.cumsum(held) - 1, -1)


def _matched(auxiliary: Auxiliary, codes: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The combination of every point among those of ``_entries``, -1 for none."""
    if len(codes) == 1:
        return np.append(_places(auxiliary.columns[0]), -1)[codes[0]]
    sizes = [len(column.values) for column in auxiliary.columns]
    known = np.all([column >= 0 for column in codes], axis=0)
    both = [np.concatenate([entry.codes, code[known]]) for entry, code in zip(auxiliary.columns, codes, strict=True)]
    # where columns are many, numbers mean the same only within one call, but their order is the same in all
    keys = numbered(both, sizes, len(both[0]))
    lines = len(auxiliary.groups)
    found = distinct(keys[:lines])
    places = np.minimum(np.searchsorted(found, keys[lines:]), max(0, len(found) - 1))
    of_point = np.full(len(known), -1, np.int64)
    if len(found):
        of_point[known] = np.where(found[places] == keys[lines:], places, -1)
    return of_point
