"""Reads columns from files and databases, Arrow tables and streams, and every frame that narwhals supports."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO, Self, cast

import pyarrow as pa

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table.addresses import Address, addressed
from discreet.table.csv_files import header, read_csv
from discreet.table.detect import FOREIGN, FileKind, as_utf8, detect, kind_of
from discreet.table.layout import Layout
from discreet.table.paths import located, opened
from discreet.table.raw_column import RawColumn, encode, encode_objects, unmarked
from discreet.table.typed_files import TypedFile

if TYPE_CHECKING:
    from discreet.table.foreign import Columns

TYPED = ("parquet", "arrow", "arrow stream", "JSON lines", "JSON")
"""The kinds of files whose columns have types."""
OPENED: dict[str, Callable[[BinaryIO], Any]] = {
    "gzip": lambda file: gzip.GzipFile(fileobj=file),
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zstd": lambda file: pa.CompressedInputStream(pa.PythonFile(file), "zstd"),
}
"""How compressed files are opened, by their kind."""

Fetched = tuple[int, dict[str, RawColumn]]
"""The number of rows of a source, and some of its columns."""
Beside = Callable[[list[str]], list[str]]
"""Chooses among the names of columns that nobody asked for."""


class Source:
    """A file, a database, an Arrow table or a frame, opened once, when first asked for something; ``with`` closes it.

    >>> with Source(pa.table({"age": [17], "sex": ["f"]})) as source:
    ...     source.names(Layout()), source.fetch(["age"], ["age"], Layout())[0]
    (['age', 'sex'], 1)
    """

    def __init__(self, given: Any, untyped: bool = False) -> None:
        """Name a source; in one that is ``untyped`` texts may stand for numbers, as in CSV."""
        given, self._untyped = addressed(given), untyped
        self._address = given if isinstance(given, Address) else None
        path = None if self._address or not isinstance(given, (str, PathLike)) else located(given)
        self.what = self._address.what if self._address else "the table" if path is None else f"'{path}'"
        """What messages call it."""
        self._given, self._path, self._open = given, path, ExitStack()
        self._decoded: tuple[str | None, bytes] | None = None
        self._opened: tuple[Any, Columns] | None = None
        if isinstance(given, pa.RecordBatch):
            self._given = pa.Table.from_batches([given])
        elif isinstance(given, pa.RecordBatchReader):  # which can be read only once
            self._given = given.read_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: Any) -> None:
        self._open.__exit__(*fault)

    def names(self, layout: Layout, hints: Sequence[str] = ()) -> list[str]:
        """Return the names of its columns; expected names in ``hints`` help to split CSV."""
        if layout.header == "none":
            return list(layout.columns)
        if isinstance(self._given, pa.Table):
            return list(self._given.schema.names)
        if self._foreign is not None:
            return self._columns(layout).names
        if self._path is None:
            return [str(name) for name in self._frame[1]]
        return list(self._file.names) if self._typed else header(self._text(layout.encoding), hints, layout, self.what)

    def fetch(
        self, needed: Sequence[str], coded: Sequence[str], layout: Layout, beside: Beside | None = None
    ) -> Fetched:
        """Return the number of rows and the ``coded`` columns; all ``needed`` columns must exist.

        ``beside`` chooses from the names of all others; of these the columns follow that are of a kind that can be
        coded.
        """
        if self._path is not None or self._address is not None:
            rows, columns = self._from_file(needed, coded, layout, beside)
        elif isinstance(self._given, pa.Table):
            layout.check_named(self.what)
            others = _others(self._given.column_names, needed, beside)
            rows, columns = _from_arrow(self._given, needed, coded, layout, self.what, others, self._untyped)
            if self._untyped:
                layout.check_values(list(columns.values()), self.what)
        else:
            rows, columns = _from_frame(*self._frame, needed, coded, layout, beside)
        return rows, {name: unmarked(column, layout.marks) for name, column in columns.items()}

    @cached_property
    def _frame(self) -> tuple[Any, list[Any]]:
        """The table as a frame of narwhals, lazy if it is, and its columns; of a stream what it holds, read once."""
        import narwhals as nw

        given = self._given
        try:
            frame = nw.from_native(given)
            if not isinstance(frame, nw.LazyFrame):
                return frame, list(frame.columns)
            with _computing():
                return frame, frame.collect_schema().names()
        except nw.exceptions.DuplicateError:
            return None, list(given.columns)
        except TypeError:
            if hasattr(given, "__arrow_c_stream__"):
                table = pa.RecordBatchReader.from_stream(given).read_all()
                return nw.from_native(table), table.column_names
            kind = f"{type(given).__module__.split('.')[0]}.{type(given).__name__}"
            advice = "give a path, an Arrow table, or a pandas or polars frame"
            if isinstance(given, list | tuple):
                advice = "give one path; several files are one lazy frame, as in polars.scan_parquet(paths)"
            raise DiscreetError(f"a {kind} cannot be read as a table; {advice}") from None

    @property
    def stated_rows(self) -> int:
        """How many rows a Parquet file says that it has; 0 of anything else."""
        return self._file.rows if self._path is not None and self._typed else 0

    @property
    def _typed(self) -> bool:
        return isinstance(self._file, TypedFile)

    @property
    def _foreign(self) -> str | None:
        """The kind of a file of another program, or of a database that answers at an address."""
        if self._address is not None:
            return "PostgreSQL"
        return self._file if self._path is not None and isinstance(self._file, str) else None

    def _columns(self, layout: Layout) -> Columns:
        """The columns of a database or a file of another program, opened once for each way to read it."""
        way = layout.sheet, layout.table, layout.query, layout.encoding
        if self._opened is None or self._opened[0] != way:
            self._opened = way, self._opening(layout)
        return self._opened[1]

    def _opening(self, layout: Layout) -> Columns:
        # imported late: most tables are text
        if self._address is not None:
            from discreet.table.postgres import open_postgres

            return open_postgres(self._address, layout)
        from discreet.table.foreign import open_foreign

        assert self._path is not None
        return open_foreign(self._path, cast(FileKind, self._foreign), layout, self.what)

    @cached_property
    def _file(self) -> Any:
        """The file if its columns have types, else its content."""
        assert self._path is not None
        with ExitStack() as stack:
            file = stack.enter_context(opened(self._path, self.what))
            kind = kind_of(file)
            if kind in TYPED:
                self._open = stack.pop_all()
                return TypedFile(file, kind, self.what)
            if kind in FOREIGN:
                return kind
            data = _unpacked(file, kind, self.what)
        if detect(data).kind in ("JSON lines", "JSON"):
            return TypedFile(io.BytesIO(data), detect(data).kind, self.what)
        if self._path.suffix.lower() in (".parquet", ".pq"):
            lacking = "not a Parquet file" if data else "empty"
            raise DiscreetError(f"{self.what} is {lacking}; write it again as Parquet or CSV")
        return data

    def _text(self, encoding: str | None) -> bytes:
        """The content of a text file in UTF-8, decoded once."""
        if self._decoded is None or self._decoded[0] != encoding:
            self._decoded = encoding, as_utf8(self._file, encoding, self.what)
        return self._decoded[1]

    def _from_file(self, needed: Sequence[str], coded: Sequence[str], layout: Layout, beside: Beside | None) -> Fetched:
        what = self.what
        if self._foreign is not None:
            opened = self._columns(layout)
            layout.check_names(opened.names, needed, what)
            rows, found = opened.read(list(dict.fromkeys(coded)), _others(opened.names, needed, beside))
            _check_rows(rows, what)
            return rows, found
        for key in ("sheet", "table", "query"):
            if getattr(layout, key) is not None:
                said = argument(key, getattr(layout, key))
                raise DiscreetError(f"{what} has no sheets and no tables of which {said} could name one; leave it out")
        if self._typed:
            typed: TypedFile = self._file
            layout.check_named(what)
            layout.check_names(typed.names, needed, what)
            others = _others(typed.names, needed, beside)
            return _from_arrow(typed.read((*coded, *others)), coded, coded, layout, what, others)
        text = self._text(layout.encoding)
        table = read_csv(text, needed, layout, what, lambda names: _others(names, needed, beside))
        others = [name for name in table.column_names if name not in needed]
        columns = {name: encode(name, table.column(name), untyped=True) for name in (*coded, *others)}
        layout.check_values([columns[name] for name in dict.fromkeys(coded)], what)
        return table.num_rows, columns


def as_source(given: Any) -> AbstractContextManager[Source]:
    """Return a source to read from; one that is open already stays open."""
    return nullcontext(given) if isinstance(given, Source) else Source(given)


def _check_rows(rows: int, what: str) -> None:
    if rows == 0:
        raise DiscreetError(f"{what} has no rows; give one row per person")


def _others(names: Sequence[str], needed: Sequence[str], beside: Beside | None) -> list[str]:
    """Return the columns that are read beside those needed."""
    return [] if beside is None else beside([name for name in names if name not in needed])


def _from_arrow(
    table: pa.Table,
    needed: Sequence[str],
    coded: Sequence[str],
    layout: Layout,
    what: str,
    others: Sequence[str],
    untyped: bool = False,
) -> Fetched:
    layout.check_names(table.column_names, needed, what)
    _check_rows(table.num_rows, what)
    columns = {name: encode(name, table.column(name), untyped=untyped) for name in coded}
    for name in others:
        with suppress(DiscreetError):
            columns[name] = encode(name, table.column(name))
    return table.num_rows, columns


def _from_frame(
    frame: Any,
    columns: Sequence[Any],
    needed: Sequence[str],
    coded: Sequence[str],
    layout: Layout,
    beside: Beside | None,
) -> Fetched:
    import narwhals as nw

    layout.check_named("the table")
    # pandas allows column names other than text; here columns are identified by their text.
    names = [str(name) for name in columns]
    layout.check_names(names, needed, "the table", [name for name in columns if isinstance(name, str)])
    by_text, others = dict(zip(names, columns, strict=True)), _others(names, needed, beside)
    if isinstance(frame, nw.LazyFrame):
        with _computing():
            frame = frame.select(list(dict.fromkeys([*coded, *others]))).collect()
    _check_rows(len(frame), "the table")
    encoded = {}
    for name in coded:
        series = frame.get_column(by_text[name])
        column = None if series.dtype == nw.Object else _arrow_column(series, series.dtype == nw.Enum)
        encoded[name] = _from_objects(name, series.to_list(), layout) if column is None else encode(name, column)
    for name in others:
        series = frame.get_column(by_text[name])
        column = None if series.dtype == nw.Object else _arrow_column(series, False)
        with suppress(DiscreetError):
            encoded |= {} if column is None else {name: encode(name, column)}
    return len(frame), encoded


@contextmanager
def _computing() -> Iterator[None]:
    """Turn whatever a lazy table raises while it is computed into a sentence."""
    from narwhals.exceptions import DuplicateError

    try:
        yield
    except DuplicateError:
        raise
    except Exception as fault:
        said = str(fault).strip().splitlines()[:1] or [type(fault).__name__]
        reason = said[0][:200].rstrip(".")
        raise DiscreetError(f"the table cannot be computed ({reason}); correct the query that makes it") from None


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


def _unpacked(file: BinaryIO, kind: FileKind, what: str) -> bytes:
    """Return the content of a file, decompressed if it is of such a kind."""
    if kind not in OPENED:
        return file.read()
    try:
        data: bytes = OPENED[kind](file).read()
        return data
    except (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException):
        raise DiscreetError(f"{what} is a damaged {kind} file; fetch or compress it again") from None
