"""DuckDB as an engine: files on this machine, with bounded memory.

What does not fit into the memory that it may take, it keeps in a private folder. It loads no extension and opens no
connection.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.engines.engine import Dictionary, Rows, Seen, changed, watched
from discreet.engines.source import Readable
from discreet.errors import DiscreetError
from discreet.processors import threads
from discreet.table.foreign import arrow_of, batches_of, library, quoted

T = TypeVar("T")
U = TypeVar("U")
BATCH = 1 << 18
"""The rows that are fetched at once."""
FEW = 1 << 11
"""The lines that are fetched at once where a line may be long."""
ROW = '"the number of the row"'
CALLED = "to be published by the engine duckdb"


class DuckdbEngine:
    """Files, read by DuckDB in several passes."""

    name = "duckdb"
    numbers_rows = True

    def __init__(self, source: Readable, folder: Path, memory: int) -> None:
        """Open files; what DuckDB has to write meanwhile goes to ``folder``."""
        self.what, self.schema, self.untyped = source.files.what, source.schema, source.untyped
        self._files, starts = source.files, list(source.starts)
        package = library("duckdb", CALLED, self.what)
        self._source = (
            f"(SELECT *, file_row_number + list_extract({starts}, file_index::BIGINT + 1)::BIGINT AS {ROW} FROM "
            f"read_parquet({_listed(source.paths)}, file_row_number = true, hive_partitioning = false))"
        )
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
                f"CREATE OR REPLACE TABLE d{table} AS SELECT value, row_number() OVER () - 1 AS place, amount FROM "
                f"(SELECT {column} AS value, count(*) AS amount FROM {self._source} GROUP BY ALL)"
            )
            found = arrow_of(self._base.sql(f"SELECT value, amount FROM d{table} ORDER BY place"))
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

    def sample(self, names: Sequence[str], salt: int, share: float) -> Iterator[Rows]:
        """Yield about a share of the rows; a salted hash decides which, and about their lots."""
        return self._rows(names, salt, f"WHERE hash({_lot(salt)}, {salt}::UBIGINT) < {int(share * 2**64)}::UBIGINT")

    def over_rows(self, names: Sequence[str], salt: int, do: Callable[[Iterator[Rows]], T], seen: Seen) -> Iterator[T]:
        """Yield what a function returns for all rows."""
        yield do(watched(self._rows(names, salt), seen))

    def over(self, items: Iterable[T], do: Callable[[T], U]) -> Iterator[U]:
        """Yield what a function returns for each item, one after the other."""
        return map(do, items)

    def _rows(self, names: Sequence[str], salt: int, among: str = "") -> Iterator[Rows]:
        tables = [self._numbers[name] for name in names]
        places = [f"coalesce(d{table}.place, -1)::INTEGER" for table in tables]
        joins = [
            f"LEFT JOIN d{table} ON s.{quoted(name)} IS NOT DISTINCT FROM d{table}.value"
            for name, table in zip(names, tables, strict=True)
        ]
        cells = f"{', '.join(places)}, {_lot(salt)}, s.{ROW}"
        with self._reading():
            for batch in self._arrow(f"SELECT {cells} FROM {self._source} s {' '.join(joins)} {among}"):
                codes = [batch.column(at).to_numpy() for at in range(len(names))]
                if any(len(each) and each.min() < 0 for each in codes):
                    raise changed(self.what)
                lots, numbers = (batch.column(len(names) + at).to_numpy() for at in range(2))
                yield Rows(codes, _between_0_and_1(lots), numbers)

    def in_order(
        self, files: Sequence[Path], names: Sequence[str], beside: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """Yield the lines of Parquet files, sorted by these columns."""
        columns, every = (", ".join(map(quoted, some)) for some in (names, (*names, *beside)))
        with self._reading():
            yield from self._arrow(
                f"SELECT {every} FROM read_parquet({_listed(files)}, hive_partitioning = false) ORDER BY {columns}",
                FEW,
            )

    def check_unchanged(self) -> None:
        """Raise an error if a file is not the one that was opened."""
        self._files.check_unchanged()

    def _arrow(self, query: str, batch: int = BATCH) -> Iterator[pa.RecordBatch]:
        return batches_of(self._base.sql(query), batch)

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


def _lot(salt: int) -> str:
    return f"hash(s.{ROW}, {salt}::UBIGINT)"


def _listed(paths: Iterable[Path]) -> str:
    """Return paths as SQL, in which no name is a pattern."""
    names = (glob.escape(str(path.absolute())).replace("'", "''") for path in paths)
    return "[" + ", ".join(f"'{name}'" for name in names) + "]"
