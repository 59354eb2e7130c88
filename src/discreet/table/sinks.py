"""Databases that tables are written to, PostgreSQL, SQLite or DuckDB: in one transaction, or nothing is.

Rows are inserted in their order, so that the order in which a database keeps them tells no more than the table does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import pyarrow as pa

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table.addresses import Address
from discreet.table.detect import kind_of
from discreet.table.foreign import CALLED, arrow_of, library, quoted
from discreet.table.paths import opened
from discreet.table.postgres import connected

ENDINGS: dict[str, Literal["SQLite", "DuckDB"]] = {
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), "SQLite"),
    **dict.fromkeys((".duckdb", ".ddb"), "DuckDB"),
}
"""The kinds of new files, by how their names end."""
PATIENCE = 5.0
"""How many seconds to wait for another program that holds a file of SQLite."""
LONGEST_NAME = 63
"""The bytes of a name beyond which PostgreSQL cuts it off."""


class TableName(NamedTuple):
    """The name of a table, and of its schema."""

    schema: str
    name: str

    @property
    def sql(self) -> str:
        """Both as SQL."""
        return f"{quoted(self.schema)}.{quoted(self.name)}"


class Sink(ABC):
    """A database in a transaction, which is rolled back unless it is committed."""

    listed: ClassVar[str]
    """Selects the schemas and names of all tables, and of what else has names like tables."""
    standard: ClassVar[str] = "SELECT current_schema()"
    """Selects the schema of tables that are named without one."""
    folds: ClassVar[bool] = True
    """Whether names are the same that differ only in upper and lower case."""

    def __init__(self, connection: Any, what: str) -> None:
        self._base, self.what = connection, what
        self.committed = False

    def named(self, text: str) -> TableName:
        """Return the table that a text names: before its first dot is the schema."""
        schema, dot, name = text.partition(".")
        if not text or (dot and not (schema and name)):
            said = argument("output_table", text)
            raise DiscreetError(f"{said} names no table; write for example {argument('output_table', 'people')}")
        if dot:
            return TableName(schema, name)
        return TableName(self._rows(self.standard)[0][0] or "public", text)

    def has(self, table: TableName) -> bool:
        """Whether there is a table of this name."""
        return self._folded(table) in {self._folded(TableName(*row)) for row in self._rows(self.listed)}

    def text(self, table: TableName) -> str:
        """Return the one cell of a table."""
        ((cell,),) = self._rows(f"SELECT * FROM {table.sql}")
        return str(cell)

    def create(self, table: TableName, content: pa.Table) -> None:
        """Create a table, and insert its rows in their order."""
        fields = ", ".join(f"{quoted(field.name)} {_type(field.type)}" for field in content.schema)
        self._execute(f"CREATE TABLE {table.sql} ({fields})")
        self._fill(table, content)

    def drop(self, table: TableName) -> None:
        """Drop a table."""
        self._execute(f"DROP TABLE {table.sql}")

    @abstractmethod
    def read(self, table: TableName, schema: pa.Schema) -> pa.Table:
        """Return a table as the database holds it, with the types of a schema."""

    def commit(self) -> None:
        """Make everything last."""
        self._commit()
        self.committed = True

    def _commit(self) -> None:
        self._execute("COMMIT")

    def _folded(self, table: TableName) -> tuple[str, ...]:
        return tuple(part.lower() for part in table) if self.folds else table

    @abstractmethod
    def _fill(self, table: TableName, content: pa.Table) -> None: ...

    def _execute(self, statement: str) -> None:
        self._base.execute(statement)

    def _rows(self, query: str) -> list[Any]:
        return list(self._base.execute(query).fetchall())


class _Postgres(Sink):
    listed = (
        "SELECT n.nspname::text, c.relname::text FROM pg_catalog.pg_class c "
        "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
    )
    folds = False

    def create(self, table: TableName, content: pa.Table) -> None:
        for name in (*table, *content.column_names):
            if len(name.encode()) > LONGEST_NAME:
                raise DiscreetError(
                    f"the name {name!r} has more than the {LONGEST_NAME} bytes that PostgreSQL keeps of a name; give "
                    f"a shorter {argument('output_table')}, or rename the column"
                )
        super().create(table, content)

    def _fill(self, table: TableName, content: pa.Table) -> None:
        with closing(self._base.cursor()) as cursor:
            cursor.adbc_ingest(table.name, content, mode="append", db_schema_name=table.schema)

    def read(self, table: TableName, schema: pa.Schema) -> pa.Table:
        with closing(self._base.cursor()) as cursor:
            cursor.execute("SET LOCAL max_parallel_workers_per_gather = 0")  # rows come as they lie
            cursor.execute(f"SELECT * FROM {table.sql}")
            return cursor.fetch_arrow_table().cast(schema)

    def _commit(self) -> None:
        try:
            self._base.commit()
        except Exception as fault:
            if getattr(fault, "sqlstate", None):
                raise
            raise DiscreetError(
                f"the connection to {self.what} broke off in the last step; see whether the tables are there, and run "
                "this again if not"
            ) from None

    def _execute(self, statement: str) -> None:
        with closing(self._base.cursor()) as cursor:
            cursor.execute(statement)

    def _rows(self, query: str) -> list[Any]:
        with closing(self._base.cursor()) as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())


class _SQLite(Sink):
    listed, standard = "SELECT 'main', name FROM main.sqlite_master", "SELECT 'main'"

    def named(self, text: str) -> TableName:
        if "." in text:
            said = argument("output_table", text)
            raise DiscreetError(f"{said} has a dot, and SQLite has no schemas to stand before it; give one name")
        return super().named(text)

    def _fill(self, table: TableName, content: pa.Table) -> None:
        marks = ", ".join("?" * content.num_columns)
        for batch in content.to_batches():
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            self._base.executemany(f"INSERT INTO {table.sql} VALUES ({marks})", rows)

    def read(self, table: TableName, schema: pa.Schema) -> pa.Table:
        columns = zip(*self._rows(f"SELECT * FROM {table.sql} ORDER BY rowid"), strict=True)
        found = [pa.array(cells, field.type) for cells, field in zip(columns, schema, strict=False)]
        return pa.table(found, schema=schema) if found else schema.empty_table()


class _DuckDB(Sink):
    listed = "SELECT table_schema, table_name FROM information_schema.tables"

    def _fill(self, table: TableName, content: pa.Table) -> None:
        self._base.register("content to insert", content)
        self._execute(f'INSERT INTO {table.sql} SELECT * FROM "content to insert"')
        self._base.unregister("content to insert")

    def read(self, table: TableName, schema: pa.Schema) -> pa.Table:
        return arrow_of(self._base.sql(f"SELECT * FROM {table.sql}")).cast(schema)


def _type(kind: pa.DataType) -> str:
    """Return the type of a column, which all databases know by this name."""
    if pa.types.is_integer(kind):
        return "BIGINT"
    return "DOUBLE PRECISION" if pa.types.is_floating(kind) else "TEXT"


# ------------------------------------------------------------------------------------------------------------- opening


@contextmanager
def open_sink(where: Address | Path, kind: Literal["SQLite", "DuckDB"], what: str) -> Iterator[Sink]:
    """Connect to a database, in a transaction that is rolled back unless it is committed; faults become sentences.

    ``what`` names a file, which is made if there is none.
    """
    if isinstance(where, Address):
        with connected(where) as connection:
            yield _Postgres(connection, where.what)
        return
    package = library("sqlite3" if kind == "SQLite" else "duckdb", CALLED[kind], what)
    try:
        with closing(_sqlite(package, where) if kind == "SQLite" else package.connect(str(where))) as connection:
            connection.execute("BEGIN IMMEDIATE" if kind == "SQLite" else "BEGIN")
            yield (_SQLite if kind == "SQLite" else _DuckDB)(connection, what)
    except package.Error as fault:
        reason = (str(fault).splitlines() or [type(fault).__name__])[0][:200].rstrip(".").replace(str(where), "it")
        raise DiscreetError(
            f"{what} cannot be written ({reason}), and nothing was; see that it is {CALLED[kind]} which may be written "
            "and no other program holds"
        ) from None


def _sqlite(package: Any, where: Path) -> Any:
    """Connect to a file in which what is dropped is overwritten as well."""
    connection = package.connect(str(where), timeout=PATIENCE, isolation_level=None)
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def kind_of_sink(path: Path, what: str) -> Literal["SQLite", "DuckDB"]:
    """Return the kind of database that a file is, or is going to be by its name."""
    if path.exists():
        with opened(path, what) as file:
            found = kind_of(file)
        if found in ("SQLite", "DuckDB"):
            return found
        raise DiscreetError(f"{what} is no database of SQLite or DuckDB; name another file")
    kind = ENDINGS.get(path.suffix.lower())
    if kind is None:
        raise DiscreetError(
            f"{what} is no database, in which {argument('output_table')} could name a table; end the name of a new one "
            "with .sqlite or .duckdb, or give postgresql://user@host/database"
        )
    return kind
