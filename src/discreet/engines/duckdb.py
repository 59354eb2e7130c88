"""DuckDB as an engine: a Parquet file on this machine, with bounded memory.

What does not fit into the memory that it may take, it keeps in a private folder. It reads one file, loads no extension
and opens no connection.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.engines.engine import Dictionary, Rows
from discreet.errors import DiscreetError
from discreet.processors import threads
from discreet.table.detect import kind_of
from discreet.table.foreign import library, quoted
from discreet.table.paths import opened

BATCH = 1 << 18
"""The rows that are fetched at once."""
FEW = 1 << 11
"""The lines that are fetched at once where a line may be long."""
CALLED = "to be published by the engine duckdb"
CHANGED = "changed while it was read; publish it when nobody writes to it"


class DuckdbEngine:
    """A Parquet file, read by DuckDB in several passes."""

    def __init__(self, path: Path, folder: Path, memory: int) -> None:
        """Open a file; what DuckDB has to write meanwhile goes to ``folder``."""
        import pyarrow.parquet as pq

        self.what = f"'{path}'"
        package = library("duckdb", CALLED, self.what)
        with opened(path, self.what) as file:
            if kind_of(file) != "parquet":
                raise DiscreetError(f"the engine duckdb reads Parquet, and {self.what} is another kind of file")
            self.schema: pa.Schema = pq.ParquetFile(file).schema_arrow
        self._path, self._state = path, _state(path)
        source = str(path.absolute())
        self._source = f"read_parquet({_text(glob.escape(source))}, file_row_number = true, hive_partitioning = false)"
        self._numbers: dict[str, int] = {}
        """The number of the table with the dictionary of each column that was counted."""
        folder.mkdir(mode=0o700)
        self._base = package.connect(
            config={
                "memory_limit": f"{memory // 10**6}MB",
                "threads": threads(),
                "temp_directory": str(folder),
                "preserve_insertion_order": False,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self._base.close()

    def count(self, name: str) -> Dictionary:
        """Return the dictionary of a column, with values of the type that the file states."""
        column, table = quoted(name), self._numbers.setdefault(name, len(self._numbers))
        with self._reading():
            self._base.execute(
                f"CREATE TABLE d{table} AS SELECT value, row_number() OVER () - 1 AS place, amount FROM "
                f"(SELECT {column} AS value, count(*) AS amount FROM {self._source} GROUP BY ALL)"
            )
            found = self._arrow(f"SELECT value, amount FROM d{table} ORDER BY place").read_all()
        kind = self.schema.field(name).type
        values = found.column("value").combine_chunks()
        if pa.types.is_dictionary(kind):
            values = values.cast(kind.value_type).dictionary_encode()
        elif values.type != kind:
            values = values.cast(kind)
        return Dictionary(values, found.column("amount").to_numpy())

    def repeats(self, name: str) -> bool:
        """Return whether two rows have the same value in a column."""
        column = quoted(name)
        query = f"SELECT 1 FROM {self._source} WHERE {column} IS NOT NULL GROUP BY {column} HAVING count(*) > 1 LIMIT 1"
        with self._reading():
            return len(self._base.execute(query).fetchall()) > 0

    def rows(self, names: Sequence[str], salt: int, share: float = 1.0) -> Iterator[Rows]:
        """Yield the rows of columns that were counted, or about a share of them; a salted hash decides about lots."""
        tables = [self._numbers[name] for name in names]
        places = [f"coalesce(d{table}.place, -1)::INTEGER AS c{at}" for at, table in enumerate(tables)]
        joins = [
            f"LEFT JOIN d{table} ON s.{quoted(name)} IS NOT DISTINCT FROM d{table}.value"
            for name, table in zip(names, tables, strict=True)
        ]
        lot = f"hash(s.file_row_number, {salt}::UBIGINT)"
        among = "" if share >= 1.0 else f"WHERE hash({lot}, {salt}::UBIGINT) < {int(share * 2**64)}::UBIGINT"
        query = f"SELECT {', '.join(places)}, {lot} AS lot FROM {self._source} s {' '.join(joins)} {among}"
        with self._reading():
            for batch in self._arrow(query):
                codes = [batch.column(at).to_numpy() for at in range(len(names))]
                if any(len(each) and each.min() < 0 for each in codes):
                    raise DiscreetError(f"{self.what} {CHANGED}")
                yield Rows(codes, _between_0_and_1(batch.column(len(names)).to_numpy()))

    def in_order(self, files: Sequence[Path], names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the lines of Parquet files, sorted by these columns."""
        listed = ", ".join(_text(glob.escape(str(file))) for file in files)
        columns = ", ".join(map(quoted, names))
        with self._reading():
            yield from self._arrow(
                f"SELECT {columns} FROM read_parquet([{listed}], hive_partitioning = false) ORDER BY {columns}",
                FEW,
            )

    def check_unchanged(self) -> None:
        """Raise an error if the file is not the one that was opened."""
        if _state(self._path) != self._state:
            raise DiscreetError(f"{self.what} {CHANGED}")

    def _arrow(self, query: str, batch: int = BATCH) -> pa.RecordBatchReader:
        result = self._base.sql(query)
        if hasattr(result, "to_arrow_reader"):  # since version 2 of DuckDB
            return result.to_arrow_reader(batch)
        return result.fetch_arrow_reader(batch)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn what DuckDB and Arrow say against a file into a sentence."""
        package: Any = library("duckdb", CALLED, self.what)
        try:
            yield
        except (package.Error, pa.ArrowException) as fault:
            self.check_unchanged()
            said = (str(fault).splitlines() or ["it stopped"])[0]
            raise DiscreetError(f"DuckDB could not work through {self.what}: {said}") from None


def _between_0_and_1(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _state(path: Path) -> tuple[int, ...]:
    """What changes when somebody writes to a file."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_size, status.st_mtime_ns, status.st_ino


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
