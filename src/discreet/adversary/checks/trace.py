"""Check the support of a release row by row with the private trace."""

from __future__ import annotations

import os
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned
from discreet.adversary.check import Check, named
from discreet.errors import DiscreetError
from discreet.kernels.boxes.boxes import NO_HIGH, NO_LOW, admitted, spans
from discreet.principles import wording
from discreet.releases.attributes import Attribute
from discreet.releases.grid import Grid, ranked_numbers
from discreet.releases.grouped import GroupedRelease
from discreet.releases.partition import GROUP
from discreet.releases.release import Release
from discreet.table.combinations import first_difference, looked_up
from discreet.table.paths import content, located
from discreet.table.table import Table

MOST_TABLES = 1000
"""The most tables in groups of their own that a trace can be about."""
EXPLAINED = "every group has exactly the sensitive values of its rows, all of which lie in its description"
"""What a trace confirms about a generalized release."""


def read_trace(path: str | os.PathLike[str], rows: int) -> tuple[NDArray[np.int64], list[str]]:
    """Read the private file with the group of every input row (empty when withheld); also return the file's faults.

    If the file lists candidates, these are returned: a matrix with a line for every input row, filled up with -1. The
    columns ``group_1``, ``group_2``, ... give a matrix with a column for each.
    """
    what = f"the trace {str(path)!r}"
    data = content(located(path), f"{str(path)!r} for the trace")
    # tables in groups of their own are few, and Arrow takes its time over every type that it is told beforehand
    several = [
        f"{GROUP}_{number}"
        for number in range(1, min(MOST_TABLES, data[: data.find(b"\n") + 1 or None].count(b",")) + 1)
    ]
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(data),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={**{name: pa.int64() for name in ("row", GROUP, *several)}, "candidates": pa.string()}
            ),
        )
        numbers = table.column("row")
        names = several[: table.num_columns - 1] if f"{GROUP}_1" in table.column_names else [GROUP]
        groups = [table.column(name).fill_null(-1).to_numpy() for name in names]
        lines = np.column_stack(groups) if len(names) > 1 or names[0] != GROUP else groups[0]
        if "candidates" in table.column_names:
            lines = _listed(lines, table.column("candidates"))
    except (pa.ArrowException, KeyError, UnicodeDecodeError) as error:
        raise DiscreetError(
            f"{what} cannot be read as a table with the columns row and group ({str(error).splitlines()[0]}); name the "
            "file that publishing wrote, or audit without it"
        ) from None
    at = numbers.fill_null(-1).to_numpy()
    trace = np.full((rows, *lines.shape[1:]), -1, np.int64)
    faults: list[str] = []
    outside = (at < 0) | (at >= rows)
    if bool(outside.any()):
        faults.append(f"the trace has {wording.rows(int(outside.sum()))} that the original does not have")
    seen = np.bincount(at[~outside], minlength=rows)
    if bool((seen > 1).any()):
        faults.append(f"the trace names input row {int(np.argmax(seen > 1)):,} more than once")
    if bool((seen == 0).any()):
        faults.append(f"the trace does not name input row {int(np.argmax(seen == 0)):,}")
    trace[at[~outside]] = lines[~outside]
    return trace, faults


def _listed(groups: NDArray[np.int64], texts: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return the numbers that texts list, a line for each, with the person's own in the first place."""
    lists = pc.split_pattern(texts.combine_chunks(), " ")
    words = pc.list_flatten(lists)
    some = pc.not_equal(words, "")
    numbers = pc.list_parent_indices(lists).filter(some).to_numpy()
    values = words.filter(some).cast(pa.int64()).to_numpy()
    sizes = np.bincount(numbers, minlength=len(groups))
    result = np.full((len(groups), max(1, int(sizes.max(initial=0)))), -1, np.int64)
    result[numbers, np.arange(len(numbers)) - (np.cumsum(sizes) - sizes)[numbers]] = values
    if bool((result[:, 0] != groups).any()):
        raise pa.ArrowInvalid("a list of candidates does not begin with the number in the column group")
    return result


def misplaced(aligned: Aligned, kept: NDArray[np.intp], places: NDArray[np.intp]) -> list[str]:
    """Report rows that do not belong into the group where the trace puts them, and groups with other rows."""
    release, width = aligned.release, aligned.kinds + 1
    faults = outside(aligned, kept, places)
    differing = first_difference(
        release.group_of.astype(np.int64) * width + aligned.shown, places * width + aligned.had[kept]
    )
    if differing is not None:
        faults.append(f"{named(release, differing // width)} is not published with the sensitive values of its rows")
    return faults


def outside(aligned: Aligned, kept: NDArray[np.intp], places: NDArray[np.intp]) -> list[str]:
    """Report rows outside the description of their group, if there are any."""
    out = np.zeros(len(kept), np.bool_)
    for axis, column in enumerate(aligned.columns):
        out |= ~admitted(aligned.boxes, places, axis, column.codes[kept])
    if not bool(out.any()):
        return []
    lie = "lies" if out.sum() == 1 else "lie"
    return [
        f"{wording.rows(int(out.sum()))} {lie} outside the description of their group, for example in "
        f"{named(aligned.release, int(places[np.argmax(out)]))}"
    ]


def wider(aligned: Aligned, kept: NDArray[np.intp], places: NDArray[np.intp]) -> list[str]:
    """Report intervals with an end that no row has, in any of the groups that are described by the same interval; on a
    grid, those that are not what the rows of their group are widened to."""
    return [*too_wide(aligned, kept, places), *not_widened(aligned, kept, places)]


def too_wide(aligned: Aligned, kept: NDArray[np.intp], places: NDArray[np.intp]) -> list[str]:
    """Report intervals with an end that no row has, of attributes without a grid."""
    release, faults = aligned.release, []
    of_axes = zip(release.quasi, release.descriptions.texts, release.descriptions.regions, strict=True)
    for axis, (attribute, texts, regions) in enumerate(of_axes):
        if not of_intervals(attribute) or attribute.unit is not None:
            continue
        number = len(texts.texts)
        low, high = np.full(number, NO_LOW, np.int32), np.full(number, NO_HIGH, np.int32)
        codes = np.ascontiguousarray(aligned.columns[axis].codes[kept], np.int32)
        cast(Any, spans)(codes, texts.of_cell[places].astype(np.int32), low, high)
        narrow = (low != NO_LOW) & ~regions.whole & (regions.low < regions.high)
        boxes, of_cell = aligned.boxes, texts.of_cell
        wide = (boxes.low[:, axis] != low[of_cell]) | (boxes.high[:, axis] != high[of_cell])
        found = np.flatnonzero(wide & narrow[of_cell])
        if len(found):
            faults.append(
                f"no row has the ends of the interval of {attribute.name!r} in {named(release, int(found[0]))}"
            )
    return faults


def of_intervals(attribute: Attribute) -> bool:
    """Whether a quasi-identifier is published by intervals between values that rows have."""
    return attribute.kind != "categorical" and attribute.hierarchy is None


def not_widened(aligned: Aligned, kept: NDArray[np.intp], places: NDArray[np.intp]) -> list[str]:
    """Report a group whose interval on an axis that has a grid is not the one around the numbers of its rows."""
    quasi = aligned.release.quasi
    axes = [at for at, each in enumerate(quasi) if of_intervals(each) and each.unit is not None]
    return [fault for axis in axes for fault in _not_widened(aligned, kept, places, axis)]


def _not_widened(aligned: Aligned, kept: NDArray[np.intp], places: NDArray[np.intp], axis: int) -> list[str]:
    release, column = aligned.release, aligned.columns[axis]
    attribute, regions = release.quasi[axis], release.descriptions.regions[axis]
    low, high = np.full(release.groups, NO_LOW, np.int32), np.full(release.groups, NO_HIGH, np.int32)
    codes = np.ascontiguousarray(column.codes[kept], np.int32)
    cast(Any, spans)(codes, np.ascontiguousarray(places, np.int32), low, high)
    of_cell = release.descriptions.texts[axis].of_cell
    bounded = (regions.low <= regions.high) & ~regions.whole
    some = np.flatnonzero(bounded[of_cell] & (low <= high))
    numbers = ranked_numbers(attribute, column)
    ends = Grid.of(attribute).widened(numbers[low[some]], numbers[high[some]])
    differ = (ends[0] != regions.low[of_cell[some]]) | (ends[1] != regions.high[of_cell[some]])
    if not differ.any():
        return []
    group = named(release, int(some[np.argmax(differ)]))
    return [f"the interval of {attribute.name!r} in {group} is not the one on the grid around its rows"]


def place_rows(
    release: Release, ids: NDArray[np.int64], original: Table, trace: NDArray[Any], faults: list[str]
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the original rows that a trace publishes, and the position of each one's group; None if it is not a trace.

    ``ids`` are the numbers of the groups. Faults of the trace are appended to ``faults``.
    """
    rows = original.rows
    if trace.shape != (rows,) or trace.dtype.kind not in "iu":
        faults.append(f"the trace must have one whole number for each of the {wording.rows(rows)} of the original")
        return None
    kept = np.flatnonzero(trace >= 0)
    named = trace[kept].astype(np.int64)
    places, known = looked_up(ids, named)
    if not bool(known.all()):
        faults.append(f"the trace names group {int(named[~known][0])}, which the release does not have")
        kept, places = kept[known], places[known]
    if (left := rows - len(kept)) != release.withheld:
        faults.append(f"the trace withholds {wording.rows(left)}, but the manifest says {release.withheld:,}")
    if original.unusable is not None and bool(np.isin(original.unusable, kept).any()):
        faults.append("the trace publishes rows that had to be withheld for their missing values")
    return kept, places


def traced(release: GroupedRelease, rows: int, trace: NDArray[Any] | None) -> NDArray[np.int64] | None:
    """Return the position of every row's group by the trace, -1 for withheld rows; None without a trace that fits."""
    if trace is None or trace.shape != (rows,) or trace.dtype.kind not in "iu" or not release.groups:
        return None
    places, known = looked_up(release.ids, trace)
    return np.where(known, places, -1)


def trace_check(faults: list[str], explained: str) -> Check:
    """Return the check that the trace explains the release; ``explained`` is what it then confirms."""
    sentence = f"By the private trace, every input row is published once or withheld, and {explained}."
    return Check("support", not faults, unexplained(faults) if faults else sentence)


def unexplained(faults: list[str]) -> str:
    """Say why a trace does not explain a release."""
    return (
        f"The trace does not explain the release: {'; '.join(faults)}. If it is that of another publication, publish "
        "again to have the two together."
    )
