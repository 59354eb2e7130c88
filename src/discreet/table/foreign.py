"""Files of other programs: spreadsheets, statistics packages and databases, each read by a library made for it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table.detect import FileKind
from discreet.table.layout import Layout
from discreet.table.raw_column import RawColumn, encode, encode_objects
from discreet.table.texts import near, value_text

DATABASES = ("SQLite", "DuckDB")
"""The kinds of files that hold tables by name, and answer queries."""
EXTRAS = {
    "fastexcel": "excel",
    "pyreadstat": "stats",
    "duckdb": "duckdb",
    "adbc_driver_postgresql.dbapi": "postgres",
    "pyspark.sql": "spark",
    "pyspark.sql.functions": "spark",
}
"""The extra that brings each library."""
STATISTICS = {"Stata": ("read_dta",), "SPSS": ("read_sav", "read_por"), "SAS": ("read_sas7bdat", "read_xport")}
"""The functions of pyreadstat for the files of each program, in the order in which they are tried."""
PIECE_ROWS = 1 << 18
"""The rows of a large table that are fetched at once."""


Coding = dict[str, Callable[[], RawColumn]]
"""Per column what codes it."""


class Columns(NamedTuple):
    """The columns of a file that is open: their names, and what fetches the cells of some of them."""

    names: list[str]
    fetch: Callable[[Sequence[str]], tuple[int, Coding]]
    """Returns the number of rows, and per column what codes it."""

    def read(self, needed: Sequence[str], others: Sequence[str]) -> tuple[int, dict[str, RawColumn]]:
        """Return the number of rows and some columns coded; of the ``others`` those that can be."""
        rows, coding = self.fetch([*needed, *others])
        found = {name: coding[name]() for name in needed}
        for name in others:
            with suppress(DiscreetError):
                found[name] = coding[name]()
        return rows, found


def open_foreign(path: Path, kind: FileKind, layout: Layout, what: str) -> Columns:
    """Open a file of another program; ``what`` names it in messages."""
    layout.check_named(what)
    for key in ("sheet", "table", "query"):
        if getattr(layout, key) is not None and not suits(key, kind):
            said = argument(key, getattr(layout, key))
            raise DiscreetError(f"{what} is {CALLED[kind]}, of which {said} says nothing; leave it out")
    with _read_as(kind, what, layout.query):
        return OPENED[kind](path, kind, layout, what)


def suits(key: str, kind: FileKind) -> bool:
    """Whether a field of a layout says something of this kind of file."""
    return kind == "spreadsheet" if key == "sheet" else kind in DATABASES


@contextmanager
def _read_as(kind: FileKind, what: str, query: str | None = None) -> Iterator[None]:
    """Turn whatever the library of a kind raises into a sentence."""
    try:
        yield
    except DiscreetError:
        raise
    except BaseException as fault:
        # Libraries in Rust and C raise errors of their own, which need not even be an Exception.
        if not isinstance(fault, Exception) and type(fault).__name__ != "PanicException":
            raise
        said = str(fault).strip().splitlines()[:1]
        reason = said[0][:200].rstrip(".") if said else type(fault).__name__
        if query is not None:
            raise DiscreetError(f"{what} does not answer {argument('query')} ({reason}); correct it") from None
        raise DiscreetError(
            f"{what} cannot be read as {CALLED[kind]} ({reason}); write it again, or export the table as CSV or Parquet"
        ) from None


def library(name: str, called: str, what: str) -> Any:
    """Import what reads a source, or writes to it; ``called`` says what that is, and ``what`` names it."""
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0].replace("_", "-")
        raise DiscreetError(
            f"{what} is {called}, which needs the package {package}, and that is not installed: "
            f"pip install 'discreet[{EXTRAS[name]}]'"
        ) from None


def the_one(given: str | None, names: Sequence[str], key: str, what: str) -> str:
    """Return the sheet or table that is read: the only one, or the one that is named."""
    if given is None and len(names) == 1:
        return names[0]
    if given is None:
        shown = ", ".join(map(repr, names[:12])) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
        raise DiscreetError(
            f"{what} has {len(names)} {key}s ({shown}); name one, as in {argument(key, names[0])}"
            if names
            else f"{what} has no {key}; check the file"
        )
    if given not in names:
        raise DiscreetError(f"{what} has no {key} {given!r}; {near(given, names)}")
    return given


# --------------------------------------------------------------------------------------------------------- spreadsheets


def _spreadsheet(path: Path, kind: FileKind, layout: Layout, what: str) -> Columns:
    package = library("fastexcel", CALLED[kind], what)
    logging.getLogger("fastexcel.types.dtype").setLevel(logging.ERROR)  # it warns of every empty column
    book = package.read_excel(path)
    chosen = the_one(layout.sheet, book.sheet_names, "sheet", what)
    sheet = book.load_sheet(chosen, dtypes="string")
    names = [column.name for column in sheet.available_columns()]

    def fetch(columns: Sequence[str]) -> tuple[int, Coding]:
        with _read_as(kind, what):
            wanted = [names.index(name) for name in columns]
            batch, faults = book.load_sheet(chosen, use_columns=wanted, schema_sample_rows=None).to_arrow_with_errors()
            typed = pa.Table.from_batches([batch])
            # As one type, cells of another would be missing without a word: such columns are read as texts.
            texts = typed if faults is None else pa.table(sheet.to_arrow())
        coding: Coding = {name: partial(_cells, name, texts.column(name), typed.column(name)) for name in columns}
        return typed.num_rows, coding

    return Columns(names, fetch)


def _cells(name: str, texts: pa.ChunkedArray, typed: pa.ChunkedArray) -> RawColumn:
    """Code a column of a spreadsheet: as texts if its cells are of several types."""
    mixed = texts.null_count != typed.null_count
    return encode(name, texts if mixed else _as_days(typed), untyped=mixed)


def _as_days(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return points in time as days if all are midnights: spreadsheets know no other days."""
    if not pa.types.is_timestamp(column.type):
        return column
    days = column.cast(pa.date32(), safe=False)
    same = pc.all(pc.equal(days.cast(column.type), column)).as_py()
    return days if same is not False else column


# -------------------------------------------------------------------------------------------------- statistics packages


def _statistics(path: Path, kind: FileKind, layout: Layout, what: str) -> Columns:
    package = library("pyreadstat", CALLED[kind], what)
    data, meta = _first_that_reads([getattr(package, name) for name in STATISTICS[kind]], path, layout.encoding)
    labels: Mapping[str, Mapping[Any, str]] = meta.variable_value_labels

    def fetch(columns: Sequence[str]) -> tuple[int, Coding]:
        coding: Coding = {name: partial(_labelled, name, data[name], labels.get(name, {})) for name in columns}
        return len(next(iter(data.values()), ())), coding

    return Columns(list(meta.column_names), fetch)


def _first_that_reads(readers: Iterable[Any], path: Path, encoding: str | None) -> tuple[dict[str, list[Any]], Any]:
    faults: list[Exception] = []
    for read in readers:
        try:
            data, meta = read(str(path), output_format="dict", encoding=encoding)
            return data, meta
        except Exception as fault:
            faults.append(fault)
    raise faults[0]


def _labelled(name: str, cells: Sequence[Any], labels: Mapping[Any, str]) -> RawColumn:
    """Code a column of a statistics package: as labels if every value has a different one, else as it is."""
    column = _as_array(cells)
    if column is None:
        return encode_objects(name, cells)
    if labels:
        values = [value for value in column.unique().to_pylist() if value is not None and value == value]
        known = {value: labels[value].strip() for value in values if value in labels}
        if values and len(known) == len(values) == len(set(known.values())) and all(known.values()):
            named = pa.array([known.get(value) for value in cells])
            return encode(name, pa.chunked_array([named]))
    return encode(name, pa.chunked_array([column]))


def _as_array(cells: Sequence[Any]) -> pa.Array | None:
    """Return cells as Arrow; None if they are of several types."""
    try:
        return pa.array(cells, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return None


# ------------------------------------------------------------------------------------------------------------ databases


def _sqlite(path: Path, kind: FileKind, layout: Layout, what: str) -> Columns:
    with closing(_sqlite_connection(path)) as base:
        names = [name for (name,) in base.execute(SQLITE_TABLES)]
        relation = _relation(layout, kind, names, what)
        with closing(base.execute(f"SELECT * FROM {relation} LIMIT 0")) as none:
            columns = [each[0] for each in none.description]

    def fetch(wanted: Sequence[str]) -> tuple[int, Coding]:
        with _read_as(kind, what, layout.query), closing(_sqlite_connection(path)) as base:
            chosen = ", ".join(map(quoted, wanted)) or "1"
            rows = base.execute(f"SELECT {chosen} FROM {relation}").fetchall()
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(wanted)
        return len(rows), {name: partial(_plain, name, values) for name, values in zip(wanted, cells, strict=False)}

    return Columns(columns, fetch)


SQLITE_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY 1"
)
DUCKDB_TABLES = (
    "SELECT CASE table_schema WHEN 'main' THEN table_name ELSE table_schema || '.' || table_name END "
    "FROM information_schema.tables ORDER BY 1"
)


def _sqlite_connection(path: Path) -> Any:
    """Connect to a file that no statement can change."""
    import sqlite3

    base = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)
    base.execute("PRAGMA query_only = ON")
    return base


def _plain(name: str, cells: Sequence[Any]) -> RawColumn:
    """Code a column of SQLite, whose cells may have any type: as text that is numeric if all cells are numbers."""
    column = _as_array(cells)
    if column is not None and not pa.types.is_binary(column.type):
        return encode(name, pa.chunked_array([column]))
    if any(isinstance(cell, bytes) for cell in cells):
        raise DiscreetError(f"column {name!r} holds bytes, which are no values; leave it out")
    texts = pa.array([None if cell is None else value_text(cell) for cell in cells], pa.string())
    return encode(name, pa.chunked_array([texts]), untyped=True)


def _duckdb(path: Path, kind: FileKind, layout: Layout, what: str) -> Columns:
    relation, columns = _in_duckdb(path, layout, what)

    def fetch(wanted: Sequence[str]) -> tuple[int, Coding]:
        chosen = ", ".join(map(quoted, wanted)) or "1"
        with _read_as(kind, what, layout.query), _duckdb_connection(path, what) as base:
            table = arrow_of(base.sql(f"SELECT {chosen} FROM {relation}"))
        return table.num_rows, {name: partial(encode, name, table.column(name)) for name in wanted}

    return Columns(columns, fetch)


def _duckdb_connection(path: Path, what: str) -> Any:
    """Connect to a file that no statement can change."""
    package = library("duckdb", CALLED["DuckDB"], what)
    return package.connect(str(path), read_only=True, config={"enable_external_access": "false"})


def _in_duckdb(path: Path, layout: Layout, what: str) -> tuple[str, list[str]]:
    """Return what is read of a database, as SQL, and the names of its columns."""
    with _duckdb_connection(path, what) as base:
        names = [name for (name,) in base.execute(DUCKDB_TABLES).fetchall()]
        relation = _relation(layout, "DuckDB", names, what)
        return relation, [each[0] for each in base.execute(f"SELECT * FROM {relation} LIMIT 0").description]


def duckdb_names(path: Path, layout: Layout, what: str) -> list[str]:
    """Return the names of the columns of a database that is too large for memory."""
    with _read_as("DuckDB", what, layout.query):
        return _in_duckdb(path, layout, what)[1]


def duckdb_pieces(path: Path, layout: Layout, what: str, wanted: Sequence[str]) -> Iterator[pa.Table]:
    """Yield columns of a database that is too large for memory, some rows at a time."""
    with _read_as("DuckDB", what, layout.query):
        relation, _ = _in_duckdb(path, layout, what)
        with _duckdb_connection(path, what) as base:
            for batch in batches_of(base.sql(f"SELECT {', '.join(map(quoted, wanted))} FROM {relation}"), PIECE_ROWS):
                yield pa.Table.from_batches([batch])


def batches_of(result: Any, rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the result of a query of DuckDB, so many rows at a time."""
    new = hasattr(result, "to_arrow_reader")  # since its version 2
    yield from result.to_arrow_reader(rows) if new else result.fetch_arrow_reader(rows)


def arrow_of(result: Any) -> pa.Table:
    """Return the result of a query of DuckDB, which renamed this in its version 2."""
    return result.to_arrow_reader().read_all() if hasattr(result, "to_arrow_reader") else result.to_arrow_table()


def _relation(layout: Layout, kind: FileKind, names: Sequence[str], what: str) -> str:
    """Return the table that is read, or the query in parentheses, as SQL."""
    if layout.query is not None:
        return as_relation(layout, kind.lower())
    name = the_one(layout.table, names, "table", what)
    return ".".join(map(quoted, [name] if name in names and "." not in name else name.split(".", 1)))


def as_relation(layout: Layout, dialect: str) -> str:
    """Return the query of a layout, which must be one that reads, as what can be selected from."""
    from discreet.table.statements import reading_statement  # imported late: it takes sqlglot

    if layout.table is not None:
        raise DiscreetError(
            f"{argument('table', layout.table)} and {argument('query')} both say what is read; give only one of them"
        )
    return f"({reading_statement(layout.query or '', dialect)}) AS source"


def quoted(name: str) -> str:
    """Return a name as SQL.

    >>> quoted('age " or more')
    '"age "" or more"'
    """
    return '"' + name.replace('"', '""') + '"'


OPENED: dict[FileKind, Callable[[Path, FileKind, Layout, str], Columns]] = {
    "spreadsheet": _spreadsheet,
    **dict.fromkeys(("Stata", "SPSS", "SAS"), _statistics),
    "SQLite": _sqlite,
    "DuckDB": _duckdb,
}
"""How a file of each kind is opened."""
CALLED: dict[FileKind, str] = {
    "spreadsheet": "a spreadsheet",
    "Stata": "a Stata file",
    "SPSS": "an SPSS file",
    "SAS": "a SAS file",
    "SQLite": "an SQLite database",
    "DuckDB": "a DuckDB database",
}
"""What messages call a file of each kind."""
