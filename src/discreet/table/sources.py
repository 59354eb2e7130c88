"""Where tables come from: text files, Parquet and Arrow files, Arrow tables, and every eager frame narwhals knows."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from discreet.errors import DiscreetError
from discreet.table.csv_files import check_names, header, read_csv
from discreet.table.encoded import Encoded, encode, encode_objects, unmarked

GZIP = b"\x1f\x8b"
CONTINUED = b"\xff\xff\xff\xff"
"""How every message of Arrow's stream format begins."""
HEADER_BYTES = 1 << 20
"""How many bytes of a file are looked at for its header."""


def fetch(
    source: Any,
    needed: Sequence[str],
    coded: Sequence[str],
    *,
    delimiter: str | None,
    encoding: str | None,
    marks: Collection[str] = (),
) -> tuple[int, dict[str, Encoded]]:
    """The number of rows, and the columns ``coded``; all those ``needed`` must exist. ``marks`` stand for no value."""
    rows, columns = _fetched(source, needed, coded, delimiter, encoding, marks)
    return rows, {name: unmarked(column, marks) for name, column in columns.items()}


def _fetched(
    source: Any,
    needed: Sequence[str],
    coded: Sequence[str],
    delimiter: str | None,
    encoding: str | None,
    marks: Collection[str],
) -> tuple[int, dict[str, Encoded]]:
    if isinstance(source, (str, PathLike)):
        return _from_file(Path(source), needed, coded, delimiter, encoding)
    if isinstance(source, (pa.Table, pa.RecordBatch)):
        table = pa.Table.from_batches([source]) if isinstance(source, pa.RecordBatch) else source
        return _from_arrow(table, needed, coded, "the table")
    return _from_frame(source, needed, coded, marks)


def column_names(
    path: str | PathLike[str], delimiter: str | None, encoding: str | None, hints: Sequence[str] = ()
) -> list[str]:
    """The column names of a CSV, Parquet or Arrow file; ``hints`` are names that may be among them."""
    path, what = Path(path), f"'{path}'"
    with _opened(path) as file:
        start = file.read(4)
        if start == b"PAR1":
            import pyarrow.parquet as pq

            return [str(name) for name in pq.read_schema(path).names]
        file.seek(0)
        if is_arrow(file.read(8)):
            return [str(name) for name in _arrow_table(path.read_bytes(), what).column_names]
        file.seek(0)
        try:
            data = (gzip.GzipFile(fileobj=file) if start[:2] == GZIP else file).read(HEADER_BYTES)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise _damaged(what) from None
    # A file cut after so many bytes may end within a character; a whole last line is enough to see the header.
    end = data.rfind(b"\n")
    return header(data[: end + 1] if end >= 0 and len(data) == HEADER_BYTES else data, hints, delimiter, encoding, what)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """A file opened for reading, whatever prevents that told in a sentence."""
    what = f"'{path}'"
    if path.is_dir():
        raise DiscreetError(f"{what} is a folder; name a file in it")
    if path.exists() and not path.is_file():
        # it may be looked at more than once: for its columns, for its rows, and later by an audit
        raise DiscreetError(f"{what} is a pipe or a device, which can be read only once; save it as a file first")
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise DiscreetError(f"there is no file {what}; check the path") from None
    except (OSError, ValueError) as fault:
        raise DiscreetError(f"{what} cannot be read: {fault}; check the path and its permissions") from None


def _damaged(what: str) -> DiscreetError:
    return DiscreetError(f"{what} is a damaged gzip file; fetch or compress it again")


def _check_rows(rows: int, what: str) -> None:
    if rows == 0:
        raise DiscreetError(f"{what} has no rows; give one row per person")


def _from_file(
    path: Path, needed: Sequence[str], coded: Sequence[str], delimiter: str | None, encoding: str | None
) -> tuple[int, dict[str, Encoded]]:
    what = f"'{path}'"
    with _opened(path) as file:
        start = file.read(4)
        if start == b"PAR1":
            return _from_parquet(path, needed, coded)
        data = start + file.read()
    if is_arrow(data):
        return _from_arrow(_arrow_table(data, what), needed, coded, what)
    if path.suffix.lower() in (".parquet", ".pq"):
        raise DiscreetError(f"{what} is {'no Parquet file' if data else 'empty'}; write it again as Parquet or CSV")
    if start == b"PK\x03\x04":
        raise DiscreetError(f"{what} is a spreadsheet or zip archive; export the table as CSV or Parquet")
    if data[:2] == GZIP:
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            raise _damaged(what) from None
    table = read_csv(data, needed, delimiter=delimiter, encoding=encoding, what=what)
    return table.num_rows, {name: encode(name, table.column(name), untyped=True) for name in coded}


def is_arrow(start: bytes) -> bool:
    """Whether a file begins like one of Arrow's: the file format (also called Feather), or the stream format.

    >>> is_arrow(b"ARROW1"), is_arrow(b"age,sex")
    (True, False)
    """
    return start[:6] == b"ARROW1" or start[:4] == CONTINUED


def _arrow_table(data: bytes, what: str) -> pa.Table:
    try:
        if data[:6] == b"ARROW1":
            return pa.ipc.open_file(data).read_all()
        return pa.ipc.open_stream(data).read_all()
    except (pa.ArrowException, OSError) as fault:
        raise DiscreetError(
            f"{what} cannot be read as Arrow: {str(fault).splitlines()[0]}; write it again as Arrow, Parquet or CSV"
        ) from None


def _from_arrow(
    table: pa.Table, needed: Sequence[str], coded: Sequence[str], what: str
) -> tuple[int, dict[str, Encoded]]:
    check_names(table.column_names, needed, what)
    _check_rows(table.num_rows, what)
    return table.num_rows, {name: encode(name, table.column(name)) for name in coded}


def _from_parquet(path: Path, needed: Sequence[str], coded: Sequence[str]) -> tuple[int, dict[str, Encoded]]:
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
        check_names(schema.names, needed, f"'{path}'")
        words = [field.name for field in schema if field.type in (pa.string(), pa.large_string())]
        table = pq.ParquetFile(path, read_dictionary=words).read(columns=list(coded))
    except (pa.ArrowException, OSError) as fault:
        raise DiscreetError(
            f"'{path}' cannot be read as Parquet: {str(fault).splitlines()[0]}; write it again as Parquet or CSV"
        ) from None
    _check_rows(table.num_rows, f"'{path}'")
    return table.num_rows, {name: encode(name, table.column(name)) for name in coded}


def _from_frame(
    source: Any, needed: Sequence[str], coded: Sequence[str], marks: Collection[str]
) -> tuple[int, dict[str, Encoded]]:
    import narwhals as nw

    try:
        frame = nw.from_native(source, eager_only=True)
        columns = list(frame.columns)
    except TypeError:
        kind = f"{type(source).__module__.split('.')[0]}.{type(source).__name__}"
        raise DiscreetError(
            f"a {kind} cannot be read as a table; "
            + (
                "collect it first"
                if hasattr(source, "collect")
                else "give a path, an Arrow table, or a pandas or polars frame"
            )
        ) from None
    except nw.exceptions.DuplicateError:
        columns = list(source.columns)
    # pandas lets names be numbers; here they are known by their text.
    names = [str(name) for name in columns]
    check_names(names, needed, "the table")
    _check_rows(len(frame), "the table")
    own = dict(zip(names, columns, strict=True))
    done = {}
    for name in coded:
        series = frame.get_column(own[name])
        if series.dtype == nw.Object:
            done[name] = encode_objects(name, series.to_list(), marks)
            continue
        try:
            arrow = series.to_arrow()
        except (pa.ArrowException, NotImplementedError, TypeError):
            done[name] = encode_objects(name, series.to_list(), marks)
            continue
        column = arrow if isinstance(arrow, pa.ChunkedArray) else pa.chunked_array([arrow])
        if series.dtype == nw.Enum and not column.type.ordered:
            # polars does not mark the order of an Enum in Arrow; its categories are in order all the same.
            ordered = pa.dictionary(column.type.index_type, column.type.value_type, ordered=True)
            column = pa.chunked_array([_ordered(chunk, ordered) for chunk in column.chunks], ordered)
        done[name] = encode(name, column)
    return len(frame), done


def _ordered(chunk: pa.DictionaryArray, kind: pa.DictionaryType) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(chunk.indices.cast(kind.index_type), chunk.dictionary, ordered=True)
