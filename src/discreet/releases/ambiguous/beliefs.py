"""Beliefs from an ambiguous release: whether a person is in the table, and with which sensitive value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.kernels.presence import value_index as appearing
from discreet.kernels.presence.value_index import Shown
from discreet.releases.attributes import points_given
from discreet.releases.boxes import shares
from discreet.releases.canonical import line_keys
from discreet.releases.exact_rows import codes_found
from discreet.table.combinations import distinct, numbered, ranked_combinations

if TYPE_CHECKING:
    from discreet.releases.ambiguous.release import AmbiguousRelease, Auxiliary
    from discreet.releases.attributes import Attribute
    from discreet.releases.columns import ExactColumn

kernels = cast(Any, appearing)

EACH = slice(None)
"""Takes the codes of points as they are."""


def presence_at(release: AmbiguousRelease, points: Mapping[str, ArrayLike], combined: bool) -> NDArray[np.float64]:
    """The belief in each point's presence: the largest by any one covering group, or the combined belief."""
    lines, of_point, shown, _ = _located(release, points)
    times, largest, logs = kernels.cover(lines, shown, release.groups, release.presences)
    result: NDArray[np.float64] = 0.0 - np.expm1(logs) if combined else largest
    if release.withheld:
        result[times == 0] = np.nan
    return result[of_point]


def beliefs_at(
    release: AmbiguousRelease, points: Mapping[str, ArrayLike], withheld: ArrayLike | None
) -> NDArray[np.float64]:
    """The distributions of the groups that cover each point, weighted by the belief that the group contains it."""
    lines, of_point, shown, _ = _located(release, points)
    counts = release.counts
    mixed = kernels.mix(
        lines, shown, release.groups, release.presences, counts.starts, counts.values, counts.shares, counts.width
    )
    return shares(mixed[of_point], withheld)


class Located(NamedTuple):
    """Points matched with the values of the auxiliary tables."""

    lines: NDArray[np.int64]
    """Distinct points, each as one value per block; -1 if no group lists the value."""
    of_point: NDArray[np.int64]
    """The index of each point's line."""
    shown: Shown
    firsts: NDArray[np.int64]
    """The first value of each block, followed by the number of all values."""


def _located(release: AmbiguousRelease, points: Mapping[str, ArrayLike]) -> Located:
    """Match points given as original values."""
    names = [attribute.name for attribute in release.quasi]
    given = dict(zip(names, points_given(release.quasi, points), strict=True))
    return located(release, lambda attribute, column: codes_found(attribute, column, given[attribute.name]), {})


def located(
    release: AmbiguousRelease,
    codes_of: Callable[[Attribute, ExactColumn], NDArray[np.int64]],
    places: Mapping[str, NDArray[np.int32]],
) -> Located:
    """Match points given by their code in each published column, -1 for a value that the column does not have.

    ``codes_of`` returns the codes of a column's points or, if ``places`` has the column, those of its distinct values;
    ``places`` is then the index of each point's value.
    """
    kinds = {attribute.name: attribute for attribute in release.quasi}
    if not kinds:
        raise DiscreetError("a release without quasi-identifiers cannot be matched with anyone")
    shown, firsts = release.listed
    columns = []
    for block, auxiliary in zip(release.blocks, release.auxiliaries, strict=True):
        codes = [codes_of(kinds[name], column) for name, column in zip(block, auxiliary.columns, strict=True)]
        of_points = [places.get(name, EACH) for name in block]
        # 0 stands for a value that is not listed, so that the columns can be numbered as they are
        if len(block) == 1:
            columns.append((_matched(auxiliary, codes) + 1).astype(np.int32)[of_points[0]])
        else:
            given = [code[of_point] for code, of_point in zip(codes, of_points, strict=True)]
            columns.append((_matched(auxiliary, given) + 1).astype(np.int32))
    _, at, of_line = ranked_combinations(columns, (np.diff(firsts) + 1).tolist(), len(columns[0]))
    lines = np.stack([column[at] for column in columns], axis=1).astype(np.int64)
    return Located(np.where(lines == 0, -1, lines - 1 + firsts[:-1]), of_line, shown, firsts)


def listed(release: AmbiguousRelease) -> tuple[Shown, NDArray[np.int64]]:
    """The groups that list each value (numbered across all blocks), and the first value of each block."""
    entries, firsts = [], [0]
    for auxiliary in release.auxiliaries:
        number, of_entry = _entries(auxiliary)
        entries.append(of_entry + firsts[-1])
        firsts.append(firsts[-1] + number)
    groups = np.concatenate([auxiliary.groups for auxiliary in release.auxiliaries])
    return kernels.index_groups(np.concatenate(entries), groups, release.groups, firsts[-1]), np.array(firsts)


def _entries(auxiliary: Auxiliary) -> tuple[int, NDArray[np.int64]]:
    """The number of distinct combinations in a block, and the rank of each entry's combination."""
    if len(auxiliary.columns) == 1:
        (column,) = auxiliary.columns
        place = _places(column)
        return int(place.max(initial=-1)) + 1, place[column.codes]
    keys = line_keys(auxiliary.columns, len(auxiliary.groups))
    combinations, of_entry = np.unique(keys, return_inverse=True)
    return len(combinations), of_entry


def _places(column: ExactColumn) -> NDArray[np.int64]:
    """The rank of each value of a column among those that occur in entries, -1 for one that does not."""
    held = np.bincount(column.codes, minlength=len(column.values)) > 0
    return np.where(held, np.cumsum(held) - 1, -1)


def _matched(auxiliary: Auxiliary, codes: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The rank of each point's combination among those of ``_entries``, -1 if it does not occur."""
    if len(codes) == 1:
        return np.append(_places(auxiliary.columns[0]), -1)[codes[0]]
    sizes = [len(column.values) for column in auxiliary.columns]
    known = np.all([column >= 0 for column in codes], axis=0)
    both = [np.concatenate([entry.codes, code[known]]) for entry, code in zip(auxiliary.columns, codes, strict=True)]
    # with many columns the keys are comparable only within one call, but their order is the same in every call
    keys = numbered(both, sizes, len(both[0]))
    lines = len(auxiliary.groups)
    combinations = distinct(keys[:lines])
    places = np.minimum(np.searchsorted(combinations, keys[lines:]), max(0, len(combinations) - 1))
    of_point = np.full(len(known), -1, np.int64)
    if len(combinations):
        of_point[known] = np.where(combinations[places] == keys[lines:], places, -1)
    return of_point
