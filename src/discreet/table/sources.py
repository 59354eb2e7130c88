"""Reads columns from CSV, Parquet and Arrow files, Arrow tables, and every eager frame that narwhals supports."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Collection, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from discreet.errors import DiscreetError
from discreet.table.csv_files import check_names, header, read_csv
from discreet.table.detect import Kind, kind_of
from discreet.table.paths import located, opened
from discreet.table.raw_column import RawColumn, encode, encode_objects, unmarked
from discreet.table.typed_files import TypedFile

TYPED = ("parquet", "arrow", "arrow stream")
"""The kinds of files whose columns have types."""
OPENED: dict[str, Callable[[BinaryIO], Any]] = {
    "gzip": lambda file: gzip.GzipFile(fileobj=file),
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zstd": lambda file: pa.CompressedInputStream(pa.PythonFile(file), "zstd"),
}
"""How compressed files are opened, by their kind."""
HEADER_BYTES = 1 << 20
"""The number of bytes of a file that are searched for its header."""


def fetch(
    source: Any,
    needed: Sequence[str],
    coded: Sequence[str],
    *,
    delimiter: str | None,
    encoding: str | None,
    marks: Collection[str] = (),
) -> tuple[int, dict[str, RawColumn]]:
    """Return the number of rows and the ``coded`` columns; all ``needed`` columns must exist, ``marks`` are missing."""
    if isinstance(source, (str, PathLike)):
        rows, columns = _from_file(located(source), needed, coded, delimiter, encoding)
    elif isinstance(source, (pa.Table, pa.RecordBatch)):
        table = pa.Table.from_batches([source]) if isinstance(source, pa.RecordBatch) else source
        rows, columns = _from_arrow(table, needed, coded, "the table")
    else:
        rows, columns = _from_frame(source, needed, coded, marks)
    return rows, {name: unmarked(column, marks) for name, column in columns.items()}


def names_in(source: Any, delimiter: str | None, encoding: str | None, hints: Sequence[str] = ()) -> list[str]:
    """Return the column names of any source; expected names in ``hints`` help to split CSV.

    >>> names_in(pa.table({"age": [17], "sex": ["f"]}), None, None)
    ['age', 'sex']
    """
    if isinstance(source, (pa.Table, pa.RecordBatch)):
        return list(source.schema.names)
    if not isinstance(source, (str, PathLike)):
        return [str(name) for name in getattr(source, "columns", ())]
    what = f"'{source}'"
    with opened(located(source), what) as file:
        kind = kind_of(file)
        if kind in TYPED:
            return TypedFile(file, kind, what).names
        data = _unpacked(file, kind, what, HEADER_BYTES)
    # Truncated data may end within a character: only its complete lines are used.
    end = data.rfind(b"\n")
    return header(data[: end + 1] if end >= 0 and len(data) == HEADER_BYTES else data, hints, delimiter, encoding, what)


def _check_rows(rows: int, what: str) -> None:
    if rows == 0:
        raise DiscreetError(f"{what} has no rows; give one row per person")


def _from_file(
    path: Path, needed: Sequence[str], coded: Sequence[str], delimiter: str | None, encoding: str | None
) -> tuple[int, dict[str, RawColumn]]:
    what = f"'{path}'"
    with opened(path, what) as file:
        kind = kind_of(file)
        if kind in TYPED:
            typed = TypedFile(file, kind, what)
            check_names(typed.names, needed, what)
            return _from_arrow(typed.read(coded), needed, coded, what)
        data = _unpacked(file, kind, what)
    if path.suffix.lower() in (".parquet", ".pq"):
        raise DiscreetError(f"{what} is {'not a Parquet file' if data else 'empty'}; write it again as Parquet or CSV")
    table = read_csv(data, needed, delimiter=delimiter, encoding=encoding, what=what)
    return table.num_rows, {name: encode(name, table.column(name), untyped=True) for name in coded}


def _from_arrow(
    table: pa.Table, needed: Sequence[str], coded: Sequence[str], what: str
) -> tuple[int, dict[str, RawColumn]]:
    check_names(table.column_names, needed, what)
    _check_rows(table.num_rows, what)
    return table.num_rows, {name: encode(name, table.column(name)) for name in coded}


def _from_frame(
    source: Any, needed: Sequence[str], coded: Sequence[str], marks: Collection[str]
) -> tuple[int, dict[str, RawColumn]]:
    import narwhals as nw

    try:
        frame = nw.from_native(source, eager_only=True)
        columns = list(frame.columns)
    except TypeError:
        kind = f"{type(source).__module__.split('.')[0]}.{type(source).__name__}"
        lazy = hasattr(source, "collect")
        advice = "collect it first" if lazy else "give a path, an Arrow table, or a pandas or polars frame"
        raise DiscreetError(f"a {kind} cannot be read as a table; {advice}") from None
    except nw.exceptions.DuplicateError:
        columns = list(source.columns)
    # pandas allows column names other than text; here columns are identified by their text.
    names = [str(name) for name in columns]
    check_names(names, needed, "the table")
    _check_rows(len(frame), "the table")
    by_text = dict(zip(names, columns, strict=True))
    encoded = {}
    for name in coded:
        series = frame.get_column(by_text[name])
        column = None if series.dtype == nw.Object else _arrow_column(series, series.dtype == nw.Enum)
        encoded[name] = encode_objects(name, series.to_list(), marks) if column is None else encode(name, column)
    return len(frame), encoded


def _arrow_column(series: Any, ordered: bool) -> pa.ChunkedArray | None:
    """Return a series as Arrow; None if Arrow has no type for its values."""
    try:
        arrow = series.to_arrow()
    except (pa.ArrowException, NotImplementedError, TypeError, UnicodeEncodeError):
        return None
    column = arrow if isinstance(arrow, pa.ChunkedArray) else pa.chunked_array([arrow])
    if not ordered or column.type.ordered:
        return column
    # polars does not mark an Enum as ordered in Arrow, although its categories are.
    kind = pa.dictionary(column.type.index_type, column.type.value_type, ordered=True)
    chunks = [pa.DictionaryArray.from_arrays(each.indices, each.dictionary, ordered=True) for each in column.chunks]
    return pa.chunked_array(chunks, kind)


def _unpacked(file: BinaryIO, kind: Kind, what: str, most: int = -1) -> bytes:
    """Return the content of a file, decompressed if it is of such a kind; at most ``most`` bytes unless negative."""
    if kind not in OPENED:
        return file.read(most)
    try:
        data: bytes = OPENED[kind](file).read(most if most >= 0 else None)
        return data
    except (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException):
        raise DiscreetError(f"{what} is a damaged {kind} file; fetch or compress it again") from None
