"""Check the support of a release row by row with the private trace."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned
from discreet.adversary.check import Check, described
from discreet.errors import DiscreetError
from discreet.kernels.boxes.boxes import admitted
from discreet.principles import wording
from discreet.releases.grouped import GroupedRelease
from discreet.releases.partition import GROUP
from discreet.table.combinations import first_difference, looked_up
from discreet.table.paths import content, located

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
                column_types={
                    **{name: pa.int64() for name in ("row", GROUP, *several)},
                    "candidates": pa.string(),
                }
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


def by_trace(aligned: Aligned, trace: NDArray[Any], faults: list[str]) -> Check:
    """Check that every row that the trace puts into a group belongs there, and that the group has no other rows."""
    release = aligned.release
    faults = list(faults)
    placed = place_rows(release, len(aligned.had), aligned.usable, trace, faults)
    if placed is None:
        return trace_check(faults, EXPLAINED)
    kept, places = placed
    faults += outside(aligned, kept, places)
    width = aligned.kinds + 1
    differing = first_difference(
        release.group_of.astype(np.int64) * width + aligned.shown, places * width + aligned.had[kept]
    )
    if differing is not None:
        group = differing // width
        faults.append(
            f"group {release.ids[group]} ({described(release, group)}) is not published with the sensitive values of "
            "its rows"
        )
    return trace_check(faults, EXPLAINED)


def outside(aligned: Aligned, kept: NDArray[np.intp], places: NDArray[np.intp]) -> list[str]:
    """Report rows outside the description of their group, if there are any."""
    out = np.zeros(len(kept), np.bool_)
    for axis, column in enumerate(aligned.columns):
        out |= ~admitted(aligned.boxes, places, axis, column.codes[kept])
    if not bool(out.any()):
        return []
    release, group = aligned.release, int(places[np.argmax(out)])
    lie = "lies" if out.sum() == 1 else "lie"
    return [
        f"{wording.rows(int(out.sum()))} {lie} outside the description of their group, for example in group "
        f"{release.ids[group]} ({described(release, group)})"
    ]


def place_rows(
    release: GroupedRelease,
    rows: int,
    usable: NDArray[np.intp],
    trace: NDArray[Any],
    faults: list[str],
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the original rows that a trace publishes, and the position of each one's group; None if it is not a trace.

    Faults of the trace are appended to ``faults``.
    """
    if trace.shape != (rows,) or trace.dtype.kind not in "iu":
        faults.append(f"the trace must have one whole number for each of the {wording.rows(rows)} of the original")
        return None
    kept = np.flatnonzero(trace >= 0)
    named = trace[kept].astype(np.int64)
    places, known = looked_up(release.ids, named)
    if not bool(known.all()):
        faults.append(f"the trace names group {int(named[~known][0])}, which the release does not have")
        kept, places = kept[known], places[known]
    if (left := rows - len(kept)) != release.withheld:
        faults.append(f"the trace withholds {wording.rows(left)}, but the manifest says {release.withheld:,}")
    may_be = np.zeros(rows, np.bool_)
    may_be[usable] = True
    if not bool(may_be[kept].all()):
        faults.append("the trace publishes rows that had to be withheld for their missing values")
    return kept, places


def trace_check(faults: list[str], explained: str) -> Check:
    """Return the check that the trace explains the release; ``explained`` is what it then confirms."""
    if faults:
        return Check("support", False, "The trace does not explain the release: " + "; ".join(faults) + ".")
    sentence = f"By the private trace, every input row is published once or withheld, and {explained}."
    return Check("support", True, sentence)
