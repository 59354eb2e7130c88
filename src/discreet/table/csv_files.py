"""Reads CSV files into dictionary-coded Arrow columns, detects the delimiter, and reports every fault with its line.

Blanks around names and cells are removed: many files are written as ``age, sex, city``.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv as pc

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table.layout import Layout
from discreet.table.paths import opened
from discreet.table.texts import is_number

DELIMITERS = ",;\t|"
MARKS = ("decimal", "thousands")
"""What a layout says of how numbers are written."""
BLANKS = " \t"
SAMPLE_BYTES = 1 << 16
SAMPLE_ROWS = 50
BLOCK_BYTES = 1 << 22
"""Each block has its own dictionary, which must be merged: blocks of a few megabytes are few, yet occupy all cores."""


def read_csv(
    data: bytes,
    needed: Sequence[str],
    layout: Layout,
    what: str,
    beside: Callable[[list[str]], list[str]] = lambda names: [],
) -> pa.Table:
    """Read the needed columns of a CSV file in UTF-8 as coded text, and those ``beside`` them; empty cells are null.

    >>> table = read_csv(b"age;sex\\n17;f\\n;m\\n", ["age"], Layout(), "'people.csv'")
    >>> table.column("age").to_pylist()
    ['17', None]
    """
    plan = _Plan.of(data, needed, layout, what)
    names = list(dict.fromkeys((*needed, *beside(plan.header))))
    block = max(BLOCK_BYTES, min(len(data), 1 << 30) // 64)
    try:
        table = pc.read_csv(pa.BufferReader(data), **plan.options(names, block, pa.dictionary(pa.int32(), pa.string())))
    except (pa.ArrowInvalid, pa.ArrowKeyError) as fault:
        raise DiscreetError(_explain(_lines(data), plan, what, fault)) from None
    _check_rows(table.num_rows, what)
    if b'"' in data:
        plan.check_quotes(data.count(b"\n") or data.count(b"\r"), table.num_rows, lambda: _lines(data), what)
    return _finished(table, names, layout, what)


def csv_pieces(path: Path, needed: Sequence[str], layout: Layout, what: str) -> Iterator[pa.Table]:
    """Yield the needed columns of a CSV file that is too large for memory, some rows at a time, as ``read_csv`` does.

    It must be in UTF-8.
    """
    quotes, breaks = _surveyed(path, layout, what)
    plan, rows, lines = _Plan.of(_beginning(path, what), needed, layout, what), 0, partial(_text_of, path)
    try:
        with opened(path, what) as file:
            for batch in pc.open_csv(file, **plan.options(needed, 2 * BLOCK_BYTES, pa.string())):
                rows += batch.num_rows
                columns = [pa.chunked_array([column.dictionary_encode()]) for column in batch.columns]
                yield _finished(pa.table(columns, names=list(needed)), needed, layout, what)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as fault:
        with lines() as text:
            raise DiscreetError(_explain(text, plan, what, fault)) from None
    _check_rows(rows, what)
    if quotes:
        plan.check_quotes(breaks, rows, lines, what)


def _check_rows(rows: int, what: str) -> None:
    if rows == 0:
        raise DiscreetError(f"{what} has a header but no rows; give one line per person below it")


def csv_names(path: Path, needed: Sequence[str], layout: Layout, what: str) -> list[str]:
    """Return the column names of a CSV file that is too large for memory."""
    return header(_beginning(path, what), needed, layout, what)


class _Plan(NamedTuple):
    """How a file is parsed."""

    mark: str
    written: list[str]
    """The names of its columns, as they are written."""
    unnamed: bool
    """Whether the first line is a row."""

    @classmethod
    def of(cls, data: bytes, needed: Sequence[str], layout: Layout, what: str) -> _Plan:
        """Return the plan for a file that begins so, and has the needed columns."""
        plan = cls(*_opened(data, needed, layout, what), layout.header == "none")
        layout.check_names(plan.header, needed, what)
        return plan

    @property
    def header(self) -> list[str]:
        """The names of its columns."""
        return [name.strip(BLANKS) for name in self.written]

    def options(self, names: Sequence[str], block: int, kind: pa.DataType) -> dict[str, Any]:
        """Return what Arrow needs to know to read columns as texts, of this type."""
        columns = [self.written[self.header.index(name)] for name in names]
        named = self.written if self.unnamed else None
        return {
            "read_options": pc.ReadOptions(block_size=block, column_names=named),
            "parse_options": pc.ParseOptions(
                delimiter=self.mark,
                newlines_in_values=True,
                # In a file with one column an empty line is a missing value; in others it is not a row.
                ignore_empty_lines=len(self.written) > 1,
            ),
            "convert_options": pc.ConvertOptions(
                include_columns=columns,
                column_types=dict.fromkeys(columns, kind),
                null_values=[""],
                strings_can_be_null=True,
            ),
        }

    def check_quotes(self, breaks: int, rows: int, lines: Callable[[], TextIO], what: str) -> None:
        """Look for stray quotation marks in a file with so many ends of lines, if these are more than its rows."""
        if breaks > rows + (not self.unnamed):
            with lines() as text:
                _check_quotes(text, self.mark, self.header, what)


def _finished(table: pa.Table, names: Sequence[str], layout: Layout, what: str) -> pa.Table:
    """Return a table of coded texts without blanks around them, and with numbers that have a decimal point."""
    trimmed = pa.table([_trimmed(column) for column in table.columns], list(names))
    if layout.decimal is None and layout.thousands is None:
        return trimmed
    return pa.table([_with_points(name, trimmed.column(name), layout, what) for name in names], list(names))


def _lines(data: bytes) -> TextIO:
    return io.StringIO(data.decode(errors="replace"), newline="")


def _text_of(path: Path) -> TextIO:
    return path.open(encoding="utf-8-sig", errors="replace", newline="")


def _beginning(path: Path, what: str) -> bytes:
    """Return the beginning of a file, with its whole header unless that is longer than a block."""
    with opened(path, what) as file:
        return file.read(BLOCK_BYTES).removeprefix(codecs.BOM_UTF8)


def _surveyed(path: Path, layout: Layout, what: str) -> tuple[bool, int]:
    """Return whether a file has quotation marks, and how many ends of lines; refuse one that is not in UTF-8."""
    marks = feeds = returns = 0
    decoder = codecs.getincrementaldecoder("utf-8")()
    way = "convert it, or read it into memory"
    if layout.encoding not in (None, "utf-8"):
        raise DiscreetError(f"{what} is read here in UTF-8, and not in {layout.encoding}; {way}")
    with opened(path, what) as file:
        while block := file.read(BLOCK_BYTES):
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                raise DiscreetError(f"{what} is not in UTF-8, in which large files are read; {way}") from None
            if b"\0" in block:
                raise DiscreetError(f"{what} holds a zero byte, which no text has; remove it")
            marks += block.count(b'"')
            feeds += block.count(b"\n")
            returns += block.count(b"\r")
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise DiscreetError(f"{what} ends within a character of UTF-8; write it again") from None
    return marks > 0, feeds or returns


def _opened(data: bytes, needed: Sequence[str], layout: Layout, what: str) -> tuple[str, list[str]]:
    """Return the delimiter of a file, and the names of its columns as they are written."""
    if not data.strip():
        raise DiscreetError(f"{what} is empty; give a file with a header line and one line per person")
    sample = _sample(data)
    mark = layout.delimiter or _find_delimiter(sample, needed)
    first = next(iter(_rows(sample, mark, 1)), [])
    if layout.header != "none":
        return mark, first
    if len(first) != len(layout.columns):
        raise DiscreetError(
            f"{what} has {len(first)} cells in line 1, and {argument('columns')} names {len(layout.columns)}; name "
            "every column once, in the order of the file"
        )
    return mark, list(layout.columns)


def _trimmed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Strip the blanks around coded texts."""
    pieces = []
    for piece in column.chunks:
        trimmed = compute.utf8_trim(piece.dictionary, characters=BLANKS)
        if trimmed.equals(piece.dictionary):
            pieces.append(piece)
            continue
        distinct = trimmed.dictionary_encode()  # two values may have become equal
        places = compute.take(distinct.indices, piece.indices)
        pieces.append(pa.DictionaryArray.from_arrays(places, distinct.dictionary))
    return pa.chunked_array(pieces, column.type)


def _with_points(name: str, column: pa.ChunkedArray, layout: Layout, what: str) -> pa.ChunkedArray:
    """Write the numbers among coded texts with a decimal point, and without marks of thousands."""
    point, mark = re.escape(layout.decimal or "."), layout.thousands
    whole = "[0-9]+" if mark is None else rf"([0-9]{{1,3}}({re.escape(mark)}[0-9]{{3}})+|[0-9]+)"
    pattern = rf"^[+-]?{whole}({point}[0-9]+)?([eE][+-]?[0-9]+)?$"
    pieces = []
    for piece in column.chunks:
        texts = piece.dictionary
        number = compute.match_substring_regex(texts, pattern)
        plain = texts if mark is None else compute.replace_substring(texts, mark, "")
        plain = plain if layout.decimal is None else compute.replace_substring(plain, layout.decimal, ".")
        changed = compute.and_(number, compute.not_equal(plain, texts))
        if compute.any(changed).as_py():
            odd = compute.filter(texts, compute.invert(number)).to_pylist()
            strange = next((text for text in odd if is_number(text)), None)
            if strange is not None:
                said = " and ".join(argument(key, getattr(layout, key)) for key in MARKS if getattr(layout, key))
                raise DiscreetError(
                    f"{what} has the value {strange!r} in column {name!r}, which is no number with {said}, beside "
                    "others that are; say how its numbers are written"
                )
        written = compute.if_else(number, plain, texts).dictionary_encode()  # two values may have become equal
        pieces.append(pa.DictionaryArray.from_arrays(compute.take(written.indices, piece.indices), written.dictionary))
    return pa.chunked_array(pieces, column.type)


def header(data: bytes, needed: Sequence[str], layout: Layout, what: str) -> list[str]:
    """Return the column names of a CSV file in UTF-8; the names in ``needed`` help to detect the delimiter.

    >>> header(b"age;sex\\n17;f\\n", [], Layout(), "'people.csv'")
    ['age', 'sex']
    """
    return [name.strip(BLANKS) for name in _opened(data, needed, layout, what)[1]]


def _find_delimiter(sample: str, needed: Sequence[str]) -> str:
    """Return the delimiter under which the header contains the needed columns and all lines have as many cells."""

    def merit(mark: str) -> tuple[int, bool, int]:
        rows = [row for row in _rows(sample, mark, SAMPLE_ROWS) if row]
        if not rows:
            return 0, False, 0
        even = len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)
        names = {name.strip(BLANKS) for name in rows[0]}
        return sum(name in names for name in needed), even, len(rows[0])

    return max(DELIMITERS, key=merit)


def _sample(data: bytes) -> str:
    if len(data) <= SAMPLE_BYTES:
        return data.decode(errors="replace")
    # A truncated last line would seem to have too few cells, but a header longer than the sample must be kept whole.
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


def _check_quotes(text: TextIO, mark: str, header: list[str], what: str) -> None:
    """Refuse a stray quotation mark that turns whole lines into one value: it would publish other people's rows."""
    reader = csv.reader(text, delimiter=mark)
    line = 0
    try:
        for row in reader:
            for name, cell in zip(header, row, strict=False):
                cell = cell.rstrip("\r\n")  # an unclosed cell includes the end of the last line
                breaks = cell.count("\n") or cell.count("\r")
                # every swallowed line contributes the delimiters of a whole row
                if breaks > 0 and len(header) > 1 and cell.count(mark) >= breaks * (len(header) - 1):
                    raise DiscreetError(
                        f"{what} has a value of {name!r}, beginning in line {line + 1}, that runs over {breaks + 1:,} "
                        "lines and looks like rows of other people; remove the quotation mark that opens it, or the "
                        "line breaks from the value"
                    )
            line = reader.line_num
    except csv.Error as wrong:
        raise DiscreetError(
            f"{what} cannot be read as CSV: what begins in line {line + 1} has {wrong}; look for a quotation mark "
            "there that is never closed"
        ) from None


def _explain(text: TextIO, plan: _Plan, what: str, fault: Exception) -> str:
    # Slow, line by line: only used to explain an error.
    reader, width = csv.reader(text, delimiter=plan.mark), len(plan.written)
    line = 0
    try:
        for row in reader:
            if row and len(row) != width:
                where = f"line {reader.line_num}"
                advice = "correct the line, or say which delimiter the file uses"
                if reader.line_num > line + 1:
                    where = f"lines {line + 1} to {reader.line_num}"
                    advice = "look for a quotation mark in the first of them that is never closed"
                first = "its first line" if plan.unnamed else "its header"
                return f"{what} has {len(row)} cells in {where} where {first} has {width}; {advice}"
            line = reader.line_num
    except csv.Error as wrong:
        return f"{what} cannot be read as CSV: line {reader.line_num} has {wrong}; correct the line"
    return f"{what} cannot be read as CSV: {str(fault).splitlines()[0]}; check its delimiter and quotes"
