"""A release that is larger than memory, some groups at a time: each slice is a release that is loaded as all are."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.errors import DiscreetError
from discreet.releases.attributes import Attribute
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.partition import GROUP
from discreet.releases.reading import check_names, coded_columns
from discreet.table.write import TableFormat, coded, read_pieces

SLICE_ROWS = 1 << 18
"""The rows of a slice, unless a group has more."""


class DisorderedError(Exception):
    """The lines of a table are not in the order of their groups, so that it has no slices."""


def check_columns(path: Path, names: list[str], format: TableFormat) -> None:
    """Raise an error if a table is no file, or has not the columns that it must have."""
    if path.is_symlink() or not path.is_file():
        raise DiscreetError(f"the release is incomplete: {path.name!r} is not a file in it; publish it again")
    try:
        if format == "parquet":
            found = list(pq.read_schema(path).names)
        else:
            with path.open(encoding="utf-8", newline="") as file:
                found = next(csv.reader(file), [])
    except (UnicodeDecodeError, csv.Error, pa.ArrowException) as fault:
        raise _unreadable(path, fault) from None
    check_names(path, found, names)


def slices(path: Path, names: list[str], format: TableFormat) -> Iterator[pa.Table]:
    """Yield the lines of a table, whole groups at a time, which must be in ascending order."""
    waiting: pa.Table | None = None
    try:
        for batch in read_pieces(path, names, format):
            numbered = _numbered(pa.Table.from_batches([batch]), path)
            waiting = numbered if waiting is None else pa.concat_tables([waiting, numbered])
            if waiting.num_rows < SLICE_ROWS:
                continue
            numbers = waiting.column(0).to_numpy()
            if (np.diff(numbers) < 0).any():
                raise DisorderedError
            end = int(np.searchsorted(numbers, numbers[-1]))
            if end:
                yield from _split(waiting.slice(0, end))
                waiting = waiting.slice(end)
    except (UnicodeDecodeError, pa.ArrowException) as fault:
        raise _unreadable(path, fault) from None
    if waiting is not None and waiting.num_rows:
        if (np.diff(waiting.column(0).to_numpy()) < 0).any():
            raise DisorderedError
        yield from _split(waiting)


def _split(table: pa.Table) -> Iterator[pa.Table]:
    """Yield the lines of whole groups, about as many as a slice has."""
    numbers, start = table.column(0).to_numpy(), 0
    while start < len(numbers):
        last = numbers[min(start + SLICE_ROWS, len(numbers)) - 1]
        end = int(np.searchsorted(numbers, last, side="right"))
        yield table.slice(start, end - start)
        start = end


def _numbered(table: pa.Table, path: Path) -> pa.Table:
    """Return a table with numbers of groups in its first column."""
    try:
        numbers = table.column(0).cast(pa.int64())
    except pa.ArrowInvalid:
        numbers = None
    if numbers is None or numbers.null_count:
        raise DiscreetError(
            f"the column {GROUP!r} of {path.name!r} does not hold a whole number in every row; publish it again"
        )
    return table.set_column(0, GROUP, numbers)


def release_of(
    table: pa.Table, name: str, manifest: dict[str, Any], attributes: tuple[Attribute, ...]
) -> GeneralizedRelease:
    """Return a slice as a release."""
    columns = [column if at == 0 else coded(column) for at, column in enumerate(table.columns)]
    return GeneralizedRelease.of_columns(
        coded_columns(pa.table(columns, names=table.column_names), name), manifest, attributes
    )


def _unreadable(path: Path, fault: Exception) -> DiscreetError:
    return DiscreetError(f"'{path}' cannot be read as a table: {str(fault).splitlines()[0]}; write it again")
