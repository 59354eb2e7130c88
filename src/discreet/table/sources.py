"""Reads columns from CSV, Parquet and Arrow files, Arrow tables, and every eager frame that narwhals supports."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from discreet.errors import DiscreetError
from discreet.table.csv_files import header, read_csv
from discreet.table.detect import FileKind, detect, kind_of
from discreet.table.layout import Layout
from discreet.table.paths import located, opened
from discreet.table.raw_column import RawColumn, encode, encode_objects, unmarked
from discreet.table.typed_files import TypedFile

TYPED = ("parquet", "arrow", "arrow stream", "JSON lines")
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


Fetched = tuple[int, dict[str, RawColumn]]
"""The number of rows of a source, and some of its columns."""
Beside = Callable[[list[str]], list[str]]
"""Chooses among the names of columns that nobody asked for."""


def fetch(
    source: Any, needed: Sequence[str], coded: Sequence[str], layout: Layout, beside: Beside | None = None
) -> Fetched:
    """Return the number of rows and the ``coded`` columns; all ``needed`` columns must exist.

    ``beside`` chooses from the names of all others; of these the columns follow that are of a kind that can be coded.
    """
    what = "the table"
    if isinstance(source, (str, PathLike)):
        rows, columns = _from_file(located(source), needed, coded, layout, beside)
    elif isinstance(source, (pa.Table, pa.RecordBatch)):
        layout.check_named(what)
        table = pa.Table.from_batches([source]) if isinstance(source, pa.RecordBatch) else source
        rows, columns = _from_arrow(table, needed, coded, layout, what, _others(table.column_names, needed, beside))
    else:
        rows, columns = _from_frame(source, needed, coded, layout, beside)
    return rows, {name: unmarked(column, layout.marks) for name, column in columns.items()}


def names_in(source: Any, layout: Layout, hints: Sequence[str] = ()) -> list[str]:
    """Return the column names of any source; expected names in ``hints`` help to split CSV.

    >>> names_in(pa.table({"age": [17], "sex": ["f"]}), Layout())
    ['age', 'sex']
    """
    if layout.header == "none":
        return list(layout.columns)
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
        if detect(data).kind == "JSON lines":
            file.seek(0)
            return _typed(_unpacked(file, kind, what), what).names
    # Truncated data may end within a character: only its complete lines are used.
    end = data.rfind(b"\n")
    return header(data[: end + 1] if end >= 0 and len(data) == HEADER_BYTES else data, hints, layout, what)


def _check_rows(rows: int, what: str) -> None:
    if rows == 0:
        raise DiscreetError(f"{what} has no rows; give one row per person")


def _from_file(
    path: Path, needed: Sequence[str], coded: Sequence[str], layout: Layout, beside: Beside | None
) -> Fetched:
    what = f"'{path}'"
    with opened(path, what) as file:
        kind = kind_of(file)
        typed = TypedFile(file, kind, what) if kind in TYPED else None
        data = b"" if typed is not None else _unpacked(file, kind, what)
        if typed is None and detect(data).kind == "JSON lines":
            typed = _typed(data, what)
        if typed is not None:
            layout.check_named(what)
            layout.check_names(typed.names, needed, what)
            others = _others(typed.names, needed, beside)
            return _from_arrow(typed.read((*coded, *others)), coded, coded, layout, what, others)
    if path.suffix.lower() in (".parquet", ".pq"):
        raise DiscreetError(f"{what} is {'not a Parquet file' if data else 'empty'}; write it again as Parquet or CSV")
    table = read_csv(data, needed, layout, what, lambda names: _others(names, needed, beside))
    others = [name for name in table.column_names if name not in needed]
    columns = {name: encode(name, table.column(name), untyped=True) for name in (*coded, *others)}
    layout.check_values([columns[name] for name in dict.fromkeys(coded)], what)
    return table.num_rows, columns


def _others(names: Sequence[str], needed: Sequence[str], beside: Beside | None) -> list[str]:
    """Return the columns that are read beside those needed."""
    return [] if beside is None else beside([name for name in names if name not in needed])


def _typed(data: bytes, what: str) -> TypedFile:
    """Return a typed file that was compressed as a whole."""
    return TypedFile(io.BytesIO(data), detect(data).kind, what)


def _from_arrow(
    table: pa.Table, needed: Sequence[str], coded: Sequence[str], layout: Layout, what: str, others: Sequence[str]
) -> Fetched:
    layout.check_names(table.column_names, needed, what)
    _check_rows(table.num_rows, what)
    columns = {name: encode(name, table.column(name)) for name in coded}
    for name in others:
        with suppress(DiscreetError):
            columns[name] = encode(name, table.column(name))
    return table.num_rows, columns


def _from_frame(
    source: Any, needed: Sequence[str], coded: Sequence[str], layout: Layout, beside: Beside | None
) -> Fetched:
    import narwhals as nw

    layout.check_named("the table")

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
    layout.check_names(names, needed, "the table", [name for name in columns if isinstance(name, str)])
    _check_rows(len(frame), "the table")
    by_text = dict(zip(names, columns, strict=True))
    encoded = {}
    for name in coded:
        series = frame.get_column(by_text[name])
        column = None if series.dtype == nw.Object else _arrow_column(series, series.dtype == nw.Enum)
        encoded[name] = _from_objects(name, series.to_list(), layout) if column is None else encode(name, column)
    for name in _others(names, needed, beside):
        series = frame.get_column(by_text[name])
        column = None if series.dtype == nw.Object else _arrow_column(series, False)
        with suppress(DiscreetError):
            encoded |= {} if column is None else {name: encode(name, column)}
    return len(frame), encoded


def _from_objects(name: str, values: Sequence[Any], layout: Layout) -> RawColumn:
    """Return a column of Python objects, and which marks of missing values were in it."""
    found = layout.marks.intersection(value.strip() for value in values if isinstance(value, str))
    return replace(encode_objects(name, values, layout.marks), marked=found)


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


def _unpacked(file: BinaryIO, kind: FileKind, what: str, most: int = -1) -> bytes:
    """Return the content of a file, decompressed if it is of such a kind; at most ``most`` bytes unless negative."""
    if kind not in OPENED:
        return file.read(most)
    try:
        data: bytes = OPENED[kind](file).read(most if most >= 0 else None)
        return data
    except (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException):
        raise DiscreetError(f"{what} is a damaged {kind} file; fetch or compress it again") from None
