"""Reads columns from CSV, Parquet and Arrow files, Arrow tables, and every eager frame that narwhals supports."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.errors import DiscreetError
from discreet.table.compressed import unpacked
from discreet.table.csv_files import check_names, header, read_csv
from discreet.table.detect import kind_of
from discreet.table.encoded import Encoded, encode, encode_objects, unmarked
from discreet.table.paths import located, opened
from discreet.table.typed_files import TypedFile

TYPED = ("parquet", "arrow", "arrow stream")
"""The kinds of files whose columns have types."""
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
) -> tuple[int, dict[str, Encoded]]:
    """Return the number of rows and the ``coded`` columns; all ``needed`` columns must exist, ``marks`` are missing."""
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
        return _from_file(located(source), needed, coded, delimiter, encoding)
    if isinstance(source, (pa.Table, pa.RecordBatch)):
        table = pa.Table.from_batches([source]) if isinstance(source, pa.RecordBatch) else source
        return _from_arrow(table, needed, coded, "the table")
    return _from_frame(source, needed, coded, marks)


def names_in(source: Any, delimiter: str | None, encoding: str | None, hints: Sequence[str] = ()) -> list[str]:
    """Return the column names of any source; see ``column_names`` and ``fetch``.

    >>> names_in(pa.table({"age": [17], "sex": ["f"]}), None, None)
    ['age', 'sex']
    """
    if isinstance(source, (str, PathLike)):
        return column_names(source, delimiter, encoding, hints)
    of = source.schema.names if isinstance(source, (pa.Table, pa.RecordBatch)) else getattr(source, "columns", ())
    return [str(name) for name in of]


def column_names(
    path: str | PathLike[str], delimiter: str | None, encoding: str | None, hints: Sequence[str] = ()
) -> list[str]:
    """Return the column names of a CSV, Parquet or Arrow file; expected names in ``hints`` help to split CSV."""
    path, what = located(path), f"'{path}'"
    with opened(path, what) as file:
        kind = kind_of(file)
        if kind in TYPED:
            return TypedFile(file, kind, what).names
        data = unpacked(file, kind, what, HEADER_BYTES)
    # Truncated data may end within a character: only its complete lines are used.
    end = data.rfind(b"\n")
    return header(data[: end + 1] if end >= 0 and len(data) == HEADER_BYTES else data, hints, delimiter, encoding, what)


def declared_type(path: str | PathLike[str], name: str) -> pa.DataType | None:
    """Return the type that a file declares for a column; None if it is text, which declares nothing."""
    what = f"'{path}'"
    with opened(located(path), what) as file:
        kind = kind_of(file)
        return TypedFile(file, kind, what).schema.field(name).type if kind in TYPED else None


def _check_rows(rows: int, what: str) -> None:
    if rows == 0:
        raise DiscreetError(f"{what} has no rows; give one row per person")


def _from_file(
    path: Path, needed: Sequence[str], coded: Sequence[str], delimiter: str | None, encoding: str | None
) -> tuple[int, dict[str, Encoded]]:
    what = f"'{path}'"
    with opened(path, what) as file:
        kind = kind_of(file)
        if kind in TYPED:
            typed = TypedFile(file, kind, what)
            check_names(typed.names, needed, what)
            return _from_arrow(typed.read(coded), needed, coded, what)
        data = unpacked(file, kind, what)
    if path.suffix.lower() in (".parquet", ".pq"):
        raise DiscreetError(f"{what} is {'no Parquet file' if data else 'empty'}; write it again as Parquet or CSV")
    table = read_csv(data, needed, delimiter=delimiter, encoding=encoding, what=what)
    return table.num_rows, {name: encode(name, table.column(name), untyped=True) for name in coded}


def _from_arrow(
    table: pa.Table, needed: Sequence[str], coded: Sequence[str], what: str
) -> tuple[int, dict[str, Encoded]]:
    check_names(table.column_names, needed, what)
    _check_rows(table.num_rows, what)
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
    # pandas allows column names other than text; here columns are identified by their text.
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
        except (pa.ArrowException, NotImplementedError, TypeError, UnicodeEncodeError):
            done[name] = encode_objects(name, series.to_list(), marks)
            continue
        column = arrow if isinstance(arrow, pa.ChunkedArray) else pa.chunked_array([arrow])
        if series.dtype == nw.Enum and not column.type.ordered:
            # polars does not mark an Enum as ordered in Arrow, although its categories are.
            ordered = pa.dictionary(column.type.index_type, column.type.value_type, ordered=True)
            column = pa.chunked_array([_ordered(chunk, ordered) for chunk in column.chunks], ordered)
        done[name] = encode(name, column)
    return len(frame), done


def _ordered(chunk: pa.DictionaryArray, kind: pa.DictionaryType) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(chunk.indices.cast(kind.index_type), chunk.dictionary, ordered=True)
