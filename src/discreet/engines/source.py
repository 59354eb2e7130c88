"""What an engine on this machine reads: Parquet files as they are, and other tables from a copy of their columns.

What is copied is read as it is in memory, by the same functions, so that its values are the same: CSV is parsed by
Arrow, and the table of a database is asked from DuckDB. The copy is in a private folder, and holds no other columns.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.arguments import argument
from discreet.engines.engine import changed
from discreet.errors import DiscreetError
from discreet.table.addresses import Address, addressed
from discreet.table.csv_files import csv_names, csv_pieces
from discreet.table.detect import FileKind, kind_of
from discreet.table.foreign import duckdb_names, duckdb_pieces
from discreet.table.layout import Layout
from discreet.table.paths import located, opened
from discreet.table.spec import TableSpec

ENDINGS = (".parquet", ".pq", ".csv", ".tsv", ".txt")
"""What the names of files end with that are read where a folder is named."""
ABOUT: dict[str, tuple[str, ...]] = {
    "parquet": ("na", "header"),
    "text": ("na", "header", "encoding", "delimiter", "columns", "decimal", "thousands"),
    "DuckDB": ("na", "header", "table", "query"),
}
"""Per kind of file what a layout may say of it."""


@dataclass(frozen=True)
class Files:
    """Files that hold one table together."""

    what: str
    paths: tuple[Path, ...]
    kind: FileKind
    states: tuple[tuple[int, ...], ...]
    """What is seen of each file when somebody writes to it."""

    @classmethod
    def of(cls, given: str) -> Files:
        """Return the files that a path, a folder or a pattern with ``*`` names."""
        if isinstance(addressed(given), Address):
            raise _refused("a database that answers at an address")
        path = located(given)
        what, paths = f"'{path}'", [path]
        if path.is_dir():
            paths = [each for each in sorted(path.rglob("*")) if _is_read(each.relative_to(path)) and each.is_file()]
        elif not path.exists() and glob.has_magic(str(path)):
            paths = sorted(each for each in map(Path, glob.glob(str(path), recursive=True)) if each.is_file())
        if not paths:
            raise DiscreetError(f"{what} names no file that ends with {', '.join(ENDINGS)}; check the path")
        kinds: dict[FileKind, Path] = {}
        for each in paths:
            with opened(each, f"'{each}'") as file:
                kinds.setdefault(kind_of(file), each)
        kind = next(iter(kinds))
        if len(kinds) > 1:
            names = " and ".join(f"'{each.name}'" for each in kinds.values())
            raise DiscreetError(f"{what} holds files of several kinds, such as {names}; name files of one kind")
        if kind not in ABOUT or (kind == "DuckDB" and len(paths) > 1):
            raise _refused(f"the file '{paths[0].name}', which is of another kind")
        return cls(what, tuple(paths), kind, tuple(map(_state, paths)))

    def check_layout(self, layout: Layout) -> None:
        """Refuse what is said about other kinds of files."""
        check_layout(layout, ABOUT[self.kind], self.what)

    def names(self, layout: Layout, hints: Sequence[str] = ()) -> list[str]:
        """Return the names of columns; expected names help to split CSV."""
        if self.kind == "text":
            return csv_names(self.paths[0], hints, layout, self.what)
        if self.kind == "DuckDB":
            return duckdb_names(self.paths[0], layout, self.what)
        return list(_known(self.paths[0])[0].names)

    def check_unchanged(self) -> None:
        """Raise an error if a file is not the one that was found."""
        if tuple(map(_state, self.paths)) != self.states:
            raise changed(self.what)


def check_layout(layout: Layout, known: Sequence[str], what: str) -> None:
    """Refuse what is said of a table beyond what may be known of it; ``what`` names it."""
    for key in fields(Layout):
        if key.name not in known and getattr(layout, key.name):
            raise DiscreetError(
                f"{argument(key.name)} is about other tables than {what}, for this engine; leave it out, or say "
                f"{argument('engine', 'memory')}"
            )


@dataclass(frozen=True)
class Readable:
    """Parquet files that DuckDB reads, and what is known of them."""

    files: Files
    """What the user named."""
    paths: tuple[Path, ...]
    schema: pa.Schema
    untyped: bool
    starts: tuple[int, ...]
    """Per file the number of its first row in the table."""

    @classmethod
    def of(cls, files: Files, spec: TableSpec, folder: Path) -> Readable:
        """Return files to read, after a copy into a folder unless they can be read as they are."""
        names, paths = list(dict.fromkeys((*spec.roles.published, *spec.roles.identifiers))), files.paths
        if files.kind != "parquet":
            paths = tuple(folder / f"copy-{at}.parquet" for at in range(len(files.paths)))
            for path, copy in zip(files.paths, paths, strict=True):
                _copy(_pieces(path, files, names, spec), copy)
        schemas, starts = [], [0]
        for path in paths:
            schema, rows = _known(path)
            schemas.append(schema)
            starts.append(starts[-1] + rows)
        for path, schema in zip(files.paths, schemas, strict=True):
            for name in names:
                here, there = (
                    str(each.field(name).type) if name in each.names else "" for each in (schema, schemas[0])
                )
                if here != there:
                    was, other = (f"of the type {kind}" if kind else "not there" for kind in (here, there))
                    raise DiscreetError(
                        f"column {name!r} is {was} in '{path.name}' and {other} in '{files.paths[0].name}'; write "
                        "the files alike"
                    )
        return cls(files, paths, schemas[0], files.kind == "text", tuple(starts[:-1]))


def _pieces(path: Path, files: Files, names: Sequence[str], layout: Layout) -> Iterator[pa.Table]:
    """Yield the columns of a file that is copied, some rows at a time."""
    if files.kind == "text":
        return csv_pieces(path, names, layout, f"'{path}'")
    found = duckdb_names(path, layout, files.what)
    layout.check_names(found, names, files.what)
    return duckdb_pieces(path, layout, files.what, names)


def _copy(pieces: Iterable[pa.Table], path: Path) -> None:
    with ExitStack() as stack:
        writer: Any = None
        for piece in pieces:
            writer = writer or stack.enter_context(pq.ParquetWriter(path, piece.schema, compression="lz4"))
            writer.write_table(piece)


def _known(path: Path) -> tuple[pa.Schema, int]:
    """Return the schema of a Parquet file, and how many rows it has."""
    try:
        with opened(path, f"'{path}'") as file, pq.ParquetFile(file) as parquet:
            return parquet.schema_arrow, parquet.metadata.num_rows
    except pa.ArrowException as fault:
        raise DiscreetError(
            f"'{path}' is a damaged Parquet file ({str(fault).splitlines()[0]}); write it again"
        ) from None


def _is_read(path: Path) -> bool:
    """Whether a file in a folder is part of its table: programs put others there that begin with these marks."""
    return path.name.lower().endswith(ENDINGS) and not any(part.startswith((".", "_")) for part in path.parts)


def _state(path: Path) -> tuple[int, ...]:
    """What changes when somebody writes to a file."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_size, status.st_mtime_ns, status.st_ino


def _refused(what: str) -> DiscreetError:
    return DiscreetError(
        f"the engine duckdb does not read {what}; it reads Parquet and CSV, and tables of DuckDB: export the table, or "
        f"say {argument('engine', 'memory')}"
    )
