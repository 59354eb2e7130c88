"""CSV files into dictionary-coded Arrow columns, the delimiter detected, every fault named by its line."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.csv as pc

from discreet.errors import DiscreetError
from discreet.table.encodings import as_utf8
from discreet.table.texts import near

DELIMITERS = ",;\t|"
SAMPLE_BYTES = 1 << 16
SAMPLE_ROWS = 50
BLOCK_BYTES = 1 << 22
"""Every block has a dictionary of its own that must be merged: a few megabytes keep them few and both cores busy."""


def read_csv(data: bytes, needed: Sequence[str], *, delimiter: str | None, encoding: str | None, what: str) -> pa.Table:
    """The needed columns of a CSV file as coded text; empty cells are null.

    >>> table = read_csv(b"age;sex\\n17;f\\n;m\\n", ["age"], delimiter=None, encoding=None, what="'people.csv'")
    >>> table.column("age").to_pylist()
    ['17', None]
    """
    data = as_utf8(data, encoding, what)
    if not data.strip():
        raise DiscreetError(f"{what} is empty; give a file with a header line and one line per person")
    sample = _sample(data)
    mark = _delimiter(delimiter) or find_delimiter(sample, needed)
    header = next(iter(_rows(sample, mark, 1)), [])
    check_names(header, needed, what)
    columns = list(dict.fromkeys(needed))
    coded = pa.dictionary(pa.int32(), pa.string())
    try:
        table = pc.read_csv(
            pa.BufferReader(data),
            read_options=pc.ReadOptions(block_size=max(BLOCK_BYTES, min(len(data), 1 << 30) // 64)),
            parse_options=pc.ParseOptions(
                delimiter=mark,
                newlines_in_values=True,
                # In a file of one column a missing value is an empty line; elsewhere it is no row.
                ignore_empty_lines=len(header) > 1,
            ),
            convert_options=pc.ConvertOptions(
                include_columns=columns,
                column_types=dict.fromkeys(columns, coded),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError) as fault:
        raise DiscreetError(_explain(data, mark, len(header), what, fault)) from None
    if table.num_rows == 0:
        raise DiscreetError(f"{what} has a header but no rows; give one line per person below it")
    return table


def header(data: bytes, needed: Sequence[str], delimiter: str | None, encoding: str | None, what: str) -> list[str]:
    """The names in the first line of a CSV file, or of its beginning; ``needed`` are names that may be among them.

    >>> header(b"age;sex\\n17;f\\n", [], None, None, "'people.csv'")
    ['age', 'sex']
    """
    sample = _sample(as_utf8(data, encoding, what))
    return next(iter(_rows(sample, _delimiter(delimiter) or find_delimiter(sample, needed), 1)), [])


def find_delimiter(sample: str, needed: Sequence[str]) -> str:
    """The delimiter under which the header has the needed columns and the lines have equally many cells.

    >>> find_delimiter("name;dose\\nA, B;1,5\\n", ["dose"]) == ";"
    True
    """

    def merit(mark: str) -> tuple[int, bool, int]:
        rows = [row for row in _rows(sample, mark, SAMPLE_ROWS) if row]
        if not rows:
            return 0, False, 0
        even = len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)
        return sum(name in rows[0] for name in needed), even, len(rows[0])

    return max(DELIMITERS, key=merit)


def check_names(names: Sequence[str], needed: Sequence[str], what: str) -> None:
    """See that no column name occurs twice and that all needed ones are there."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DiscreetError(f"{what} has two columns named {name!r}; rename one of them")
        seen.add(name)
    for name in needed:
        if name not in seen:
            raise DiscreetError(f"{what} has no column {name!r}; {near(name, names)}")


def _delimiter(delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    mark = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n':
        raise DiscreetError(f"the delimiter {delimiter!r} cannot be used; give one character such as ',' or ';'")
    return mark


def _sample(data: bytes) -> str:
    if len(data) <= SAMPLE_BYTES:
        return data.decode(errors="replace")
    # A line cut short would look like one with too few cells, but a header longer than the sample must stay.
    start = data[:SAMPLE_BYTES]
    end = start.rfind(b"\n")
    return (start[: end + 1] if end >= 0 else data[: data.find(b"\n") + 1 or len(data)]).decode(errors="replace")


def _rows(text: str, mark: str, limit: int) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark):
            if row or rows:
                rows.append(row)
            if len(rows) == limit:
                break
    except csv.Error:
        pass
    return rows


def _explain(data: bytes, mark: str, width: int, what: str, fault: Exception) -> str:
    # Only now, on the way to an error, are the lines read one by one.
    reader = csv.reader(io.StringIO(data.decode(errors="replace"), newline=""), delimiter=mark)
    try:
        for row in reader:
            if row and len(row) != width:
                return (
                    f"{what} has {len(row)} cells in line {reader.line_num} where its header has {width}; "
                    "correct the line, or say which delimiter the file uses"
                )
    except csv.Error as wrong:
        return f"{what} cannot be read as CSV: line {reader.line_num} has {wrong}; correct the line"
    return f"{what} cannot be read as CSV: {str(fault).splitlines()[0]}; check its delimiter and quotes"
