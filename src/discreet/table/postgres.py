"""Reads a table or a query of a PostgreSQL database, in a transaction that cannot write, one batch after the other.

Of what the library says only the sentence of the server is passed on, and of a failed login nothing: messages name the
host and the database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table.addresses import Address
from discreet.table.foreign import Coding, Columns, as_relation, library, quoted, the_one
from discreet.table.layout import Layout
from discreet.table.raw_column import RawColumn, encode, unmarked

DRIVER = "adbc_driver_postgresql.dbapi"
CALLED = "a PostgreSQL database"
READ_ONLY = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
TABLES = """
SELECT n.nspname::text, c.relname::text, pg_catalog.pg_table_is_visible(c.oid),
       pg_catalog.has_any_column_privilege(c.oid, 'SELECT') AND NOT c.relispartition
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND n.nspname !~ '^pg_(toast|temp)' ORDER BY 1, 2
"""
"""Per table and view: its schema, its name, whether the name alone suffices, and whether it is offered."""
LOGINS = ("password authentication failed", "no password supplied", "authentication failed", '" does not exist')
"""What the server says of a login that it refuses; the last one is said of roles."""
BROKEN = re.compile(r"server closed the connection|terminating connection|connection (not open|to server was lost)|SSL")


def open_postgres(address: Address, layout: Layout) -> Columns:
    """Look at a table or a query of a database; every fetch has a transaction of its own."""
    what = address.what
    layout.check_named(what)
    if layout.sheet is not None:
        said = argument("sheet", layout.sheet)
        raise DiscreetError(f"{what} is {CALLED}, of which {said} says nothing; leave it out")
    with reading(address, layout.query) as cursor:
        relation = _relation(cursor, layout, what)
        schema = cursor.adbc_execute_schema(f"SELECT * FROM {relation}")

    def fetch(wanted: Sequence[str]) -> tuple[int, Coding]:
        fields = [schema.field(name) for name in wanted]
        chosen = ", ".join(map(_selected, fields)) or "1"
        with reading(address, layout.query) as cursor:
            cursor.execute(f"SELECT {chosen} FROM {relation}")
            rows, columns = _collected(cursor.fetch_record_batch())
        return rows, {
            field.name: partial(_coded, field.name, column, _type(field) in NUMBERS)
            for field, column in zip(fields, columns, strict=False)
        }

    return Columns(list(schema.names), fetch)


def _relation(cursor: Any, layout: Layout, what: str) -> str:
    """Return the table that is read, or the query in parentheses, as SQL."""
    if layout.query is not None:
        return as_relation(layout, "postgres")
    cursor.execute(TABLES)
    found = {}
    offered = []
    for schema, name, visible, readable in cursor.fetchall():
        found[f"{schema}.{name}"] = (schema, name)
        if visible:
            found[name] = (schema, name)
        if readable:
            offered.append(name if visible else f"{schema}.{name}")
    given = layout.table
    chosen = given if given in found else the_one(given, offered, "table", what)
    return ".".join(map(quoted, found[chosen]))


# ---------------------------------------------------------------------------------------------------------- connections


@contextmanager
def connected(address: Address, query: str | None = None) -> Iterator[Any]:
    """Connect to a database, in a transaction that is rolled back unless it is committed; faults become sentences."""
    driver = library(DRIVER, CALLED, address.what)
    try:
        connection = driver.connect(address.whole)
    except driver.Error as fault:
        raise _unreachable(address, str(fault)) from None
    try:
        with closing(connection):
            yield connection
    except (driver.Error, OSError, pa.ArrowException) as fault:
        raise _refused(address, fault, query) from None


@contextmanager
def reading(address: Address, query: str | None = None) -> Iterator[Any]:
    """Begin a transaction that sees one state of the database and cannot write."""
    with connected(address, query) as connection, closing(connection.cursor()) as cursor:
        cursor.execute(READ_ONLY)
        yield cursor


def _unreachable(address: Address, said: str) -> DiscreetError:
    what = address.what
    if 'database "' in said and "does not exist" in said:
        return DiscreetError(f"there is no database {what}; check its name")
    if any(words in said for words in LOGINS):
        return DiscreetError(
            f"{what} refuses the login; check the user and the password, which may stand in PGUSER and PGPASSWORD, or "
            "in the file ~/.pgpass"
        )
    if "pg_hba.conf" in said or "permission denied for database" in said:
        return DiscreetError(f"{what} does not admit this user from this machine; ask who administers it")
    reason = said.partition("failed: ")[2].strip().splitlines()[:1] or ["no connection"]
    return DiscreetError(
        f"{what} cannot be reached ({reason[0][:200].rstrip('.')}); check the address, and that its server is running"
    )


def _refused(address: Address, fault: Exception, query: str | None) -> DiscreetError:
    """Say what a server that was connected did not do, and why."""
    what, code, said = address.what, getattr(fault, "sqlstate", None) or "", str(fault)
    if code[:2] in ("08", "57") or (not code and BROKEN.search(said)):
        return DiscreetError(f"the connection to {what} broke off, and nothing was written; run this again")
    found = re.search(r"ERROR:\s+(.*)", said)
    reason = (found[1] if found else said.splitlines()[0] if said else type(fault).__name__)[:200].rstrip(". ")
    if code == "42501":
        return DiscreetError(f"{what} does not give this user the right to that ({reason}); ask for it")
    if query is not None:
        return DiscreetError(f"{what} does not answer {argument('query')} ({reason}); correct it")
    if code in ("42P01", "42703"):
        return DiscreetError(f"{what} was changed while it was read ({reason}); run this again")
    return DiscreetError(f"{what} reports a fault ({reason}); correct it there")


# -------------------------------------------------------------------------------------------------------------- columns

NUMBERS = ("numeric", "money")
"""Types of exact numbers, which come as texts: as numbers of CSV, they lose nothing."""
PLAIN = (
    *("bool", "int2", "int4", "int8", "oid", "float4", "float8", "text", "varchar", "name", "bytea"),
    *("date", "timestamp", "timestamptz", "_text", "_varchar", "_int2", "_int4", "_int8", "_float4", "_float8"),
)
"""Types that are read as they are; all others are read as the server writes them."""


def _type(field: pa.Field) -> str:
    """Return the server's name of a column's type."""
    known = field.metadata or {}
    return str((known.get(b"POSTGRESQL:type") or known.get(b"ADBC:postgresql:typname") or b"").decode())


def _selected(field: pa.Field) -> str:
    """Return a column as it is selected."""
    name, kind = quoted(field.name), _type(field)
    if kind in PLAIN or not kind:
        return name
    if pa.types.is_list(field.type):
        return f"CAST({name} AS text[]) AS {name}"
    exact = f"CAST({name} AS numeric)" if kind == "money" else name
    return f"CAST({exact} AS text) AS {name}"


def _collected(batches: pa.RecordBatchReader) -> tuple[int, list[pa.ChunkedArray]]:
    """Return the number of rows and the columns; texts are coded batch by batch, because they take most memory."""
    rows, parts = 0, [list[pa.Array]() for _ in batches.schema]
    for batch in batches:
        rows += batch.num_rows
        for part, column in zip(parts, batch.columns, strict=True):
            part.append(column.dictionary_encode() if pa.types.is_string(column.type) else column)
    kinds = [part[0].type if part else field.type for part, field in zip(parts, batches.schema, strict=True)]
    return rows, [pa.chunked_array(part, kind) for part, kind in zip(parts, kinds, strict=True)]


def _coded(name: str, column: pa.ChunkedArray, exact: bool) -> RawColumn:
    if pa.types.is_binary(column.type):
        raise DiscreetError(f"column {name!r} holds bytes, which are no values; leave it out")
    coded = encode(name, column)
    if coded.words is None or coded.lists is not None:
        return coded
    if exact:
        coded = unmarked(coded, ["NaN"])
    return replace(coded, categories=False, untyped=exact, marked=frozenset())  # no server declares categories
