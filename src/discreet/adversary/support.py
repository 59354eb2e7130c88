"""Whether the original supports a release: every group's description holds as many original rows as it claims.

Three ways, from strongest to weakest. With the private trace, every row is looked up. Without it, rows can be assigned
to groups in some way exactly when a maximum flow from groups to rows fills every group; this finds every release that
no original row assignment explains. Where that graph is too large, each group alone is asked whether its description
holds enough original rows of each of its sensitive values: necessary, so a true release never fails it.

Rows are compared with all that is published of them as it is: the sensitive value and other columns carried along.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.kernels import boxes as box_kernels
from discreet.kernels.boxes import Boxes, Forest
from discreet.releases.attributes import Attribute
from discreet.releases.generalized import GeneralizedRelease, Payload
from discreet.releases.matching import boxes_in, plant, points_of
from discreet.table.table import Column, Table

kernels = cast(Any, box_kernels)

EDGES = 2_000_000
"""The largest graph on which an assignment of rows to groups is looked for."""


@dataclass(frozen=True)
class Check:
    """One thing an audit looked at, and what it found."""

    name: str
    holds: bool
    sentence: str


class Laid(NamedTuple):
    """A release laid over its original: both in the codes of the original."""

    release: GeneralizedRelease
    columns: tuple[Column, ...]
    """The original's quasi-identifiers, in the order of the release."""
    boxes: Boxes
    had: NDArray[np.int64]
    """Per original row: the number of the combination of values published as they are."""
    shown: NDArray[np.int64]
    """Per published row the same; ``kinds`` for a combination that no original row has."""
    kinds: int
    published: NDArray[np.int64]
    """How often each sensitive value of the original is published."""
    strange: int
    """How many published rows hold a sensitive value that the original does not know."""
    class_of: NDArray[np.int64]
    """Per sensitive value of the release: its code in the original, or one too many when it has none."""
    usable: NDArray[np.intp]
    """The original rows that may be published: those without a missing number that the reader was told to withhold."""


def lay(release: GeneralizedRelease, original: Table) -> Laid:
    """Lay a release over its original, refusing an original that was read in another way than the release tells."""
    columns = tuple(_quasi(attribute, original) for attribute in release.quasi)
    parts: list[tuple[Column, NDArray[np.int64], NDArray[np.int32]]] = []
    published = np.array([release.rows], np.int64)
    class_of, strange = np.zeros(1, np.int64), 0
    rest = list(release.attributes[len(columns) :])
    if release.sensitive is not None:
        attribute = rest.pop(0)
        column = original.sensitive
        if column is None or column.name != attribute.name:
            raise DiscreetError(
                f"the sensitive attribute of the release is {attribute.name!r}, but the original was read with "
                f"{'none' if column is None else repr(column.name)}; read it with --sensitive {attribute.name}"
            )
        _same_kind(attribute, column)
        class_of = _places(release.sensitive, column)
        parts.append((column, class_of, release.sensitive.codes))
        counted = np.bincount(class_of[release.sensitive.codes], minlength=len(column.values) + 1)
        published, strange = counted[:-1].astype(np.int64), int(counted[-1])
    for attribute, payload in zip(rest, release.others, strict=True):
        column = next((one for one in original.columns if one.name == attribute.name), None)
        if column is None:
            raise DiscreetError(
                f"the release carries the column {attribute.name!r}, which the original was read without; "
                f"read it with --keep {attribute.name}"
            )
        parts.append((column, _places(payload, column), payload.codes))
    had, shown, kinds = _combined(original.rows, release.rows, parts)
    usable = np.arange(original.rows)
    if original.unusable is not None:
        usable = np.delete(usable, original.unusable)
    boxes = boxes_in(release, columns)
    return Laid(release, columns, boxes, had, shown, kinds, published, strange, class_of, usable)


def _quasi(attribute: Attribute, original: Table) -> Column:
    for column in original.quasi:
        if column.name == attribute.name:
            _same_kind(attribute, column)
            if attribute.kind == "ordinal":
                place = {str(value): code for code, value in enumerate(column.values.tolist())}
                codes = [place[value] for value in attribute.values if value in place]
                if codes != sorted(codes):
                    raise DiscreetError(
                        f"column {attribute.name!r} was published in another order of its values than the original was "
                        "read with; read it with the order that the manifest lists"
                    )
            return column
    raise DiscreetError(
        f"the release has the quasi-identifier {attribute.name!r}, which the original as it was read has not; "
        f"read it with --quasi {attribute.name}"
    )


def _same_kind(attribute: Attribute, column: Column) -> None:
    if attribute.kind != column.kind:
        raise DiscreetError(
            f"column {attribute.name!r} was published as {attribute.kind}, but the original was read with it as "
            f"{column.kind}; read it with --{attribute.kind} {attribute.name}"
        )


def _places(payload: Payload, column: Column) -> NDArray[np.int64]:
    """Per value of a published column: its code in the original, or one too many when it has none."""
    known: dict[Any, int]
    if payload.values.dtype.kind == "f" and column.kind == "numeric":
        known = {float(value): code for code, value in enumerate(column.values.tolist()) if value == value}
        nothing = len(column.values) if column.missing is None else column.missing
        size = len(column.values)
        places = [known.get(value, size) if value == value else nothing for value in payload.values.tolist()]
    else:
        known = {str(value): code for code, value in enumerate(column.values.tolist())}
        places = [known.get(str(value), len(column.values)) for value in payload.values.tolist()]
    return np.array(places, np.int64)


def _combined(
    rows: int, published: int, parts: list[tuple[Column, NDArray[np.int64], NDArray[np.int32]]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """The combinations of several columns numbered, in the original and in the release."""
    had, shown, size = np.zeros(rows, np.int64), np.zeros(published, np.int64), 1
    for column, places, codes in parts:
        width = len(column.values) + 1
        if size > (1 << 62) // width:
            had, shown, size = _renumbered(had, shown)
        had = had * width + column.codes
        shown = shown * width + places[codes]
        size *= width
    if len(parts) <= 1:
        # the last code of a single column is that of no original row
        return had, shown, max(1, size - 1)
    return _renumbered(had, shown)


def _renumbered(had: NDArray[np.int64], shown: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    found, places = np.unique(had, return_inverse=True)
    at = np.minimum(np.searchsorted(found, shown), max(0, len(found) - 1))
    known = found[at] == shown if len(found) else np.zeros(len(shown), np.bool_)
    return places.astype(np.int64), np.where(known, at, len(found)), len(found)


# ------------------------------------------------------------------------------------------------------------- totals


def totals(laid: Laid, original: Table) -> Check:
    """Whether published and withheld rows together are the original's, value by value."""
    release = laid.release
    had = np.bincount(laid.had, minlength=laid.kinds)
    shown = np.bincount(laid.shown, minlength=laid.kinds + 1)
    left = original.rows - release.rows
    if shown[laid.kinds]:
        sentence = (
            f"{_rows(int(shown[laid.kinds]))} of the release {_have(int(shown[laid.kinds]))} a sensitive value, or a "
            "combination of the columns published as they are, that no original row has."
        )
    elif (over := np.flatnonzero(shown[:-1] > had)).size:
        worst = over[np.argmax(shown[over] - had[over])]
        sentence = (
            f"The release has {shown[worst]} rows with {_named(laid, original, int(worst))}, but the original only has "
            f"{had[worst]}."
        )
    elif left != release.withheld:
        sentence = (
            f"The original has {_rows(original.rows)} and the release {release.rows}, so {left} are withheld, but the "
            f"manifest says {release.withheld}."
        )
    else:
        return Check(
            "totals",
            True,
            f"The {_rows(release.rows)} published and the {release.withheld} withheld make up the original's "
            f"{_rows(original.rows)}, and no value is published more often than it occurs.",
        )
    return Check("totals", False, sentence)


def _named(laid: Laid, original: Table, kind: int) -> str:
    row = int(np.flatnonzero(laid.had == kind)[0]) if bool((laid.had == kind).any()) else -1
    if row < 0 or laid.release.sensitive is None or original.sensitive is None:
        return "the same values published as they are"
    column = original.sensitive
    return f"{column.name} {column.texts[int(column.codes[row])]!r}"


# ---------------------------------------------------------------------------------------------------------- the trace


def read_trace(path: str | os.PathLike[str], rows: int) -> tuple[NDArray[np.int64], list[str]]:
    """The private file that tells the group of every input row (empty when withheld), and what is wrong with it."""
    try:
        table = pyarrow.csv.read_csv(
            Path(path).expanduser(),
            convert_options=pyarrow.csv.ConvertOptions(column_types={"row": pa.int64(), "group": pa.int64()}),
        )
        numbers, groups = table.column("row"), table.column("group")
    except FileNotFoundError:
        raise DiscreetError(f"the trace {str(path)!r} does not exist") from None
    except (pa.ArrowException, OSError, KeyError) as error:
        raise DiscreetError(
            f"the trace {str(path)!r} cannot be read as a table with the columns row and group "
            f"({str(error).splitlines()[0]})"
        ) from None
    at = numbers.fill_null(-1).to_numpy()
    trace = np.full(rows, -1, np.int64)
    faults: list[str] = []
    outside = (at < 0) | (at >= rows)
    if bool(outside.any()):
        faults.append(f"the trace has {_rows(int(outside.sum()))} that the original has not")
    seen = np.bincount(at[~outside], minlength=rows)
    if bool((seen > 1).any()):
        faults.append(f"the trace names input row {int(np.argmax(seen > 1))} more than once")
    if bool((seen == 0).any()):
        faults.append(f"the trace does not name input row {int(np.argmax(seen == 0))}")
    trace[at[~outside]] = groups.fill_null(-1).to_numpy()[~outside]
    return trace, faults


def by_trace(laid: Laid, trace: NDArray[Any], faults: list[str]) -> Check:
    """Whether every row that the trace puts into a group belongs there, and the group has these rows and no others."""
    release = laid.release
    faults = list(faults)
    if trace.shape != laid.had.shape or trace.dtype.kind not in "iu":
        faults.append(f"the trace must have one whole number for each of the {_rows(len(laid.had))} of the original")
        return _trace_check(faults)
    kept = np.flatnonzero(trace >= 0)
    places = np.minimum(np.searchsorted(release.ids, trace[kept]), max(0, release.groups - 1))
    known = release.ids[places] == trace[kept] if release.groups else np.zeros(len(kept), np.bool_)
    if not bool(known.all()):
        faults.append(f"the trace names group {int(trace[kept][~known][0])}, which the release has not")
        kept, places = kept[known], places[known]
    if (left := len(laid.had) - len(kept)) != release.withheld:
        faults.append(f"the trace withholds {_rows(left)}, but the manifest says {release.withheld}")
    if len(np.setdiff1d(kept, laid.usable, assume_unique=True)):
        faults.append("the trace publishes rows that were to be withheld for their missing values")
    outside = np.zeros(len(kept), np.bool_)
    for axis, column in enumerate(laid.columns):
        codes = column.codes[kept]
        outside |= (codes < laid.boxes.low[places, axis]) | (codes > laid.boxes.high[places, axis])
        lines = laid.boxes.mask_at[places, axis]
        if bool((lines >= 0).any()):
            outside |= (lines >= 0) & ~laid.boxes.masks[np.maximum(lines, 0), codes]
    if bool(outside.any()):
        group = int(places[np.argmax(outside)])
        faults.append(
            f"{_rows(int(outside.sum()))} {'lies' if outside.sum() == 1 else 'lie'} outside the description of their "
            f"group, for example in group {release.ids[group]} ({described(release, group)})"
        )
    width = laid.kinds + 1
    claimed = np.sort(release.group_of.astype(np.int64) * width + laid.shown)
    real = np.sort(places * width + laid.had[kept])
    if len(claimed) != len(real) or bool((claimed != real).any()):
        group = int(_first_difference(claimed, real)) // width
        faults.append(
            f"group {release.ids[group]} ({described(release, group)}) is not published with the sensitive values of "
            "its rows"
        )
    return _trace_check(faults)


def _trace_check(faults: list[str]) -> Check:
    if faults:
        return Check("support", False, "The trace does not explain the release: " + "; ".join(faults) + ".")
    return Check(
        "support",
        True,
        "By the private trace, every input row is published once or withheld, every row lies in the description of its "
        "group, and every group has exactly the sensitive values of its rows.",
    )


def _first_difference(one: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    size = min(len(one), len(other))
    differ = np.flatnonzero(one[:size] != other[:size])
    if differ.size:
        return int(min(one[differ[0]], other[differ[0]]))
    return int((one if len(one) > size else other)[size])


# -------------------------------------------------------------------------------------------------- without the trace


def without_trace(laid: Laid, limit: int = EDGES) -> tuple[Check, str]:
    """Whether original rows could stand behind the groups, and by which check (``assignment`` or ``necessary``)."""
    release = laid.release
    width = laid.kinds + 1
    keys, needs = np.unique(release.group_of.astype(np.int64) * width + laid.shown, return_counts=True)
    groups, kinds, needs = keys // width, keys % width, needs.astype(np.int64)
    known = kinds < laid.kinds
    groups, kinds, needs = groups[known], kinds[known], needs[known]
    forest = _forest(laid)
    found = kernels.tally(forest, laid.boxes, groups, kinds, needs)
    short = np.flatnonzero(found < needs)
    if short.size or not bool(known.all()):
        worst = int(groups[short[np.argmax((needs - found)[short])]]) if short.size else int(release.group_of[0])
        return (
            Check(
                "support",
                False,
                f"The original does not hold the rows that {_groups(len(np.unique(groups[short])))} "
                f"{'claims' if len(np.unique(groups[short])) == 1 else 'claim'}: the description of group "
                f"{release.ids[worst]} ({described(release, worst)}) holds too few rows with one of its values."
                if short.size
                else "Rows of the release hold values that the original has not.",
            ),
            "necessary",
        )
    numbers = _candidates(forest, laid.boxes, groups, kinds, limit)
    if numbers is not None:
        lacking = _lacking(forest, laid.boxes, groups, kinds, needs, numbers)
        if not lacking.any():
            sentence = (
                "Without the trace: an assignment of original rows to groups exists in which every row lies in the "
                "description of its group and every group has exactly the sensitive values it is published with."
            )
            return Check("support", True, sentence), "assignment"
        group = int(groups[np.argmax(lacking)])
        sentence = (
            f"No assignment of original rows to groups explains the release: however rows are assigned, "
            f"{_rows(int(lacking.sum()))} published cannot be an original row that the description of the group "
            f"admits, for example in group {release.ids[group]} ({described(release, group)})."
        )
        return Check("support", False, sentence), "assignment"
    return (
        Check(
            "support",
            True,
            "Without the trace: the description of every group holds at least as many original rows of each of its "
            "sensitive values as the group claims; this is necessary but not sufficient; only the trace can tell more.",
        ),
        "necessary",
    )


def _forest(laid: Laid) -> Forest:
    """The distinct original points of every combination of values published as they are, one tree for each."""
    order, firsts = _collapsed(laid)
    points = points_of(laid.columns)[order[firsts[:-1]]]
    kinds = laid.had[order[firsts[:-1]]]
    return plant(points, np.diff(firsts), np.searchsorted(kinds, np.arange(laid.kinds + 1)))


def _collapsed(laid: Laid) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Rows in an order in which equal ones are together, those of one combination too, and where each lot begins."""
    sizes = [laid.kinds, *(len(column.values) for column in laid.columns)]
    codes: list[NDArray[Any]] = [laid.had, *(column.codes for column in laid.columns)]
    keys = [np.zeros(len(laid.usable), np.int64)]
    room = 1
    for size, code in zip(sizes, codes, strict=True):
        if room > (1 << 62) // max(1, size):
            keys.append(np.zeros(len(laid.usable), np.int64))
            room = 1
        keys[-1] = keys[-1] * size + code[laid.usable]
        room *= size
    order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])
    fresh = np.zeros(len(order), np.bool_)
    for key in keys:
        fresh[1:] |= np.diff(key[order]) != 0
    fresh[:1] = True
    return laid.usable[order], np.append(np.flatnonzero(fresh), len(order))


def _candidates(
    forest: Forest, boxes: Boxes, groups: NDArray[np.int64], kinds: NDArray[np.int64], limit: int
) -> NDArray[np.int64] | None:
    """How many distinct points could serve each claim, or None once they are more than ``limit`` together."""
    each = forest._replace(weights=np.ones_like(forest.weights), totals=forest.last - forest.first)
    numbers: list[NDArray[np.int64]] = []
    total, step = 0, 1 << 14
    for start in range(0, len(groups), step):
        part = slice(start, start + step)
        numbers.append(kernels.tally(each, boxes, groups[part], kinds[part], np.full(len(groups[part]), limit + 1)))
        total += int(numbers[-1].sum())
        if total > limit:
            return None
    return np.concatenate(numbers) if numbers else np.zeros(0, np.int64)


def _lacking(
    forest: Forest,
    boxes: Boxes,
    groups: NDArray[np.int64],
    kinds: NDArray[np.int64],
    needs: NDArray[np.int64],
    numbers: NDArray[np.int64],
) -> NDArray[np.int64]:
    """How many rows of each claim (a group and a value) find no original row of their own, in a best assignment.

    Source -> claim: as many as the group claims; -> original point inside: as many as it has rows; -> sink.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    positions: NDArray[np.int64] = kernels.incidences(forest, boxes, groups, kinds, numbers)
    claims, points = len(groups), len(forest.weights)
    size = 1 + claims + points + 1
    capacity: NDArray[np.int64] = np.concatenate(
        [needs, np.minimum(forest.weights[positions], np.repeat(needs, numbers)), forest.weights]
    )
    ends = [np.arange(1, claims + 1), positions + claims + 1, np.full(points, size - 1)]
    targets = np.concatenate(ends)
    degrees = np.concatenate([[claims], numbers, np.ones(points, np.int64), [0]])
    starts = np.concatenate([[0], np.cumsum(degrees)])
    graph = csr_array(
        (capacity.astype(np.int32), targets.astype(np.int32), starts.astype(np.int32)), shape=(size, size)
    )
    graph.sort_indices()
    result = maximum_flow(graph, 0, size - 1)
    if result.flow_value == int(needs.sum()):
        return np.zeros(claims, np.int64)
    sent: NDArray[np.int64] = result.flow[[0]].toarray().ravel()[1 : claims + 1]
    return (needs - sent).astype(np.int64)


# -------------------------------------------------------------------------------------------------------------- words


def described(release: GeneralizedRelease, group: int) -> str:
    """The description of a group in words."""
    return ", ".join(f"{name} {text}" for name, text in release.description(group).items())


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number} rows"


def _groups(number: int) -> str:
    return "1 group" if number == 1 else f"{number} groups"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"
