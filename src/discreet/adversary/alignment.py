"""A release aligned with its original, so that the two can be compared row by row and group by group.

Rows are compared by all their columns that are published unchanged: the sensitive values
and the columns that are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.kernels.boxes.boxes import Boxes
from discreet.releases.attributes import Attribute
from discreet.releases.boxes import boxes_in
from discreet.releases.columns import ExactColumn
from discreet.releases.described import DescribedRelease
from discreet.releases.exact_rows import ExactRowsRelease
from discreet.releases.release import Release
from discreet.table.combinations import looked_up, numbered
from discreet.table.table import Column, Table

Compared = tuple[Column, NDArray[np.int64], NDArray[np.int32]]
"""A column of the original, the code in it of each published value, and per published row the value."""


class Aligned(NamedTuple):
    """A release aligned with its original, both in the codes of the original."""

    release: DescribedRelease
    columns: tuple[Column, ...]
    """The original's quasi-identifiers, in the order of the release."""
    boxes: Boxes
    had: NDArray[np.int64]
    """Per original row: the number of its combination of values published unchanged."""
    shown: NDArray[np.int64]
    """Per published row: the number of its combination; ``kinds`` if no original row has it."""
    kinds: int
    published: NDArray[np.int64]
    """How often each sensitive value of the original is published."""
    class_of: NDArray[np.int64]
    """Per sensitive value of the release: its code in the original, or the number of codes if it has none."""
    usable: NDArray[np.intp]
    """The publishable original rows: those without a missing number that the reader was told to withhold."""


def align(release: DescribedRelease, original: Table) -> Aligned:
    """Align a release with its original; reject an original that was read differently than the release states."""
    columns = tuple(quasi_column(attribute, original) for attribute in release.quasi)
    published = np.array([release.rows], np.int64)
    class_of = np.zeros(1, np.int64)
    if release.sensitive:
        check_sensitive(release, original)
    parts = list(map(_compared, release.sensitive_columns, original.sensitive))
    if parts:
        column, class_of, _ = parts[0]
        published = _published(class_of, release.sensitive_columns[0], column)
    parts += _carried(release, original)
    had, shown, kinds = combined(original.rows, release.rows, parts)
    boxes = boxes_in(release.descriptions, columns)
    return Aligned(release, columns, boxes, had, shown, kinds, published, class_of, usable_rows(original))


class ComparedRows(NamedTuple):
    """The rows of a release and of its original by the columns that are published unchanged."""

    had: NDArray[np.int64]
    """Per original row: the number of its combination of quasi-identifiers and other columns published unchanged."""
    shown: NDArray[np.int64]
    """Per published row: the number of its combination; ``kinds`` or above if no original row has it."""
    kinds: int


def rows_compared(release: ExactRowsRelease, original: Table) -> ComparedRows:
    """Compare rows whose quasi-identifiers are published unchanged."""
    columns = [quasi_column(attribute, original) for attribute in release.quasi]
    parts = [*map(_compared, release.exact, columns), *_carried(release, original)]
    return ComparedRows(*combined(original.rows, release.rows, parts))


def _compared(exact_column: ExactColumn, column: Column) -> Compared:
    return column, places_in(exact_column, column), exact_column.codes


def _carried(release: DescribedRelease | ExactRowsRelease, original: Table) -> list[Compared]:
    """Return the columns that a release keeps along."""
    names = [attribute.name for attribute in release.attributes if attribute.role == "other"]
    columns = {column.name: column for column in original.columns}
    for name in names:
        if name not in columns:
            raise DiscreetError(
                f"the release carries the column {name!r}, which the original was read without; "
                f"read it with {argument('keep', [name])}"
            )
    return [_compared(exact_column, columns[name]) for name, exact_column in zip(names, release.others, strict=True)]


def check_sensitive(release: Release, original: Table) -> None:
    """Reject an original whose sensitive attributes differ from the release's in name or kind."""
    names, read = [attribute.name for attribute in release.sensitive], [column.name for column in original.sensitive]
    if names != read:
        what = "attribute of the release is" if len(names) == 1 else "attributes of the release are"
        raise DiscreetError(
            f"the sensitive {what} {', '.join(map(repr, names))}, but the original was read with "
            f"{', '.join(map(repr, read)) or 'none'}; read it with {argument('sensitive', names)}"
        )
    for attribute, column in zip(release.sensitive, original.sensitive, strict=True):
        same_kind(attribute, column)
        same_order(attribute, column)


def _published(class_of: NDArray[np.int64], exact_column: ExactColumn, column: Column) -> NDArray[np.int64]:
    """Count how often each value of a column of the original is published."""
    return np.bincount(class_of[exact_column.codes], minlength=len(column.values) + 1)[:-1].astype(np.int64)


def each_sensitive(aligned: Aligned, original: Table) -> list[tuple[Aligned, Table]]:
    """Return the alignment once per sensitive attribute, as if it were the only one."""
    release = aligned.release
    if len(release.sensitive_columns) < 2:
        return [(aligned, original)]
    result = []
    for attribute, exact_column, column in zip(
        release.sensitive, release.sensitive_columns, original.sensitive, strict=True
    ):
        alone = release.about(attribute.name)
        class_of = places_in(exact_column, column)
        view = aligned._replace(release=alone, class_of=class_of, published=_published(class_of, exact_column, column))
        result.append((view, replace(original, sensitive=(column,), other=())))
    return result


def same_order(attribute: Attribute, column: Column) -> None:
    """Raise an error if an ordered attribute was published in another order of its values than it was read with."""
    if attribute.kind != "ordinal":
        return
    place = {str(value): code for code, value in enumerate(column.values.tolist())}
    codes = [place[value] for value in attribute.values if value in place]
    if codes != sorted(codes):
        raise DiscreetError(
            f"column {attribute.name!r} was published in another order of its values than the original was read with; "
            "read it with the order that the manifest lists"
        )


def quasi_column(attribute: Attribute, original: Table) -> Column:
    """Return the original's column of a published quasi-identifier; raise an error if it was read differently."""
    for column in original.quasi:
        if column.name == attribute.name:
            same_kind(attribute, column)
            same_order(attribute, column)
            return column
    raise DiscreetError(
        f"the release has the quasi-identifier {attribute.name!r}, which the original was read without; read it with "
        f"{argument('quasi', [attribute.name])}"
    )


def codes_in(boxes: Boxes, box: int, axis: int) -> NDArray[Any]:
    """Return the codes that a box admits on an axis."""
    which = boxes.set_at[box, axis]
    if which < 0:
        return np.arange(boxes.low[box, axis], boxes.high[box, axis] + 1)
    return boxes.members[boxes.starts[which] : boxes.starts[which + 1]]


def usable_rows(original: Table) -> NDArray[np.intp]:
    """Return the publishable original rows: those without a missing number that the reader was told to withhold."""
    usable = np.arange(original.rows)
    return usable if original.unusable is None else np.delete(usable, original.unusable)


def same_kind(attribute: Attribute, column: Column, table: str = "original") -> None:
    """Reject a column of the original, or of another table, that was read with another kind than published."""
    _same_fit(attribute, column, table)
    if attribute.meaning == column.meaning:
        if attribute.floor == column.floor:
            return
        said = [f"with the floor {floor}" if floor else "without a floor" for floor in (attribute.floor, column.floor)]
        advice = argument("floor", {attribute.name: attribute.floor}) if attribute.floor else "no floor of it"
        raise DiscreetError(
            f"column {attribute.name!r} was published {said[0]}, but the {table} was read {said[1]}; read it with "
            f"{advice}"
        )
    if attribute.notation == "number":
        how = f"with {argument(attribute.kind, [attribute.name])}"
    else:
        how = f"as dates, their format given by {argument('dates', {attribute.name: '%Y-%m-%d'})} if it is ambiguous"
    raise DiscreetError(
        f"column {attribute.name!r} was published as {attribute.meaning}, but the {table} was read with it as "
        f"{column.meaning}; read it {how}"
    )


def _same_fit(attribute: Attribute, column: Column, table: str) -> None:
    """Reject a column whose numbers were not fitted as the published ones were."""
    if attribute.fit != column.fit:
        said = [f"{fit}" if fit else "as it is" for fit in (attribute.fit, column.fit)]
        ways = [argument(key, {attribute.name: number}) for key, number in attribute.fitting.items()]
        raise DiscreetError(
            f"column {attribute.name!r} was published {said[0]}, but the {table} was read {said[1]}; read it with "
            f"{' and '.join(ways) or 'its numbers unchanged'}"
        )


def places_in(exact_column: ExactColumn, column: Column) -> NDArray[np.int64]:
    """Return, per value of a published column, its code in the original, or the number of codes if it has none."""
    size = len(column.values)
    if exact_column.values.dtype.kind == "f" and column.kind == "numeric":
        numbers = {float(value): code for code, value in enumerate(column.values.tolist()) if value == value}
        missing = size if column.missing is None else column.missing
        places = [numbers.get(value, size) if value == value else missing for value in exact_column.values.tolist()]
    else:
        texts = {str(value): code for code, value in enumerate(column.values.tolist())}
        places = [texts.get(str(value), size) for value in exact_column.values.tolist()]
    return np.array(places, np.int64)


def combined(rows: int, published: int, parts: Sequence[Compared]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Number the combinations of several columns, alike in the original and in the release."""
    codes = [np.concatenate([column.codes, places[shown]]) for column, places, shown in parts]
    sizes = [len(column.values) + 1 for column, _, _ in parts]
    keys = numbered(codes, sizes, rows + published)
    had, shown = keys[:rows], keys[rows:]
    if len(parts) <= 1:
        # no original row has the last code of a single column
        return had, shown, max([1, *(size - 1 for size in sizes)])
    numbers, had = np.unique(had, return_inverse=True)
    places, known = looked_up(numbers, shown)
    return had.astype(np.int64), np.where(known, places, len(numbers)), len(numbers)
