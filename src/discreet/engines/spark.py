"""Spark as an engine: a table wherever a Spark Connect server reads it, and the work on its workers.

Workers need discreet, and the folder of the release: what a task is to do, and what it has made of it, are files there.
A task may run twice, or be lost: files have names of their own for each attempt, and only those count that the result
of a task names, of which Spark hands over one.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
import pyarrow as pa

from discreet.engines.engine import Dictionary, Rows, Seen, changed
from discreet.engines.source import check_layout
from discreet.engines.tasks import UNKNOWN, Merger, Over, OverRows, Places, Sorter, merged
from discreet.errors import DiscreetError
from discreet.table.foreign import library
from discreet.table.layout import Layout
from discreet.table.paths import located

T = TypeVar("T")
U = TypeVar("U")
TABLE = "table:"
"""What the name of a table in a catalogue begins with."""
CALLED = "to be read by the engine spark"
MOST = 128
"""How many files are merged at once."""


class SparkTable:
    """A table at a server."""

    def __init__(self, given: str, remote: str | None) -> None:
        """Open ``table:NAME`` of a catalogue, or a path of Parquet files; ``remote`` is the address of the server."""
        self.what = f"'{given}'"
        if not given.startswith(TABLE) and "://" not in given:
            given = str(located(given).absolute())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of a version of pandas, which is not used here
            sql = library("pyspark.sql", CALLED, self.what)
            self.functions = library("pyspark.sql.functions", CALLED, self.what)
            with self.asking():
                builder = sql.SparkSession.builder
                self.session = (builder if remote is None else builder.remote(remote)).getOrCreate()
                read = self.session.table if given.startswith(TABLE) else self.session.read.parquet
                self.frame = read(given.removeprefix(TABLE))
                self.schema: pa.Schema = self.frame.limit(0).toArrow().schema
        if not self.schema.names:
            raise DiscreetError(f"{self.what} has no columns, where Spark looks for it; check the path")

    def names(self, layout: Layout, hints: Sequence[str] = ()) -> list[str]:
        """Return the names of columns."""
        return list(self.schema.names)

    def check_layout(self, layout: Layout) -> None:
        """Refuse what is said about other kinds of tables."""
        check_layout(layout, ("na", "header"), self.what)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Turn what Spark says, or does not answer, into a sentence."""
        try:
            yield
        except DiscreetError:
            raise
        except Exception as fault:
            said = [line.strip() for line in str(fault).splitlines() if line.strip()]
            if UNKNOWN in str(fault):
                raise changed(self.what) from None
            reason = said[-1] if "Traceback" in str(fault) else said[0] if said else type(fault).__name__
            raise DiscreetError(f"Spark could not work through {self.what}: {reason[:300]}") from None


class SparkEngine:
    """A table of Spark, read in several passes."""

    name = "spark"
    numbers_rows = False
    untyped = False

    def __init__(self, table: SparkTable, folder: Path) -> None:
        """Take a table, and a folder that workers have, too."""
        self.what, self.schema, self._folder = table.what, table.schema, folder
        self._session, self._frame, self._functions = table.session, table.frame, table.functions
        self._asking = table.asking
        self._values: dict[str, pa.Array] = {}

    def count(self, name: str) -> Dictionary:
        """Return the dictionary of a column."""
        with self._asking():
            grouped = self._frame.groupBy(self._column(name).alias("value")).count()
            found = grouped.toArrow().combine_chunks()
        values = found.column("value").combine_chunks()
        self._values[name] = values
        return Dictionary(values, found.column("count").to_numpy().astype(np.int64))

    def repeats(self, name: str) -> bool:
        """Return whether two rows have the same value in a column."""
        column = self._column(name)
        with self._asking():
            counted = self._frame.where(column.isNotNull()).groupBy(column.alias("value")).count()
            return bool(counted.where(self._functions.col("count") > 1).limit(1).toArrow().num_rows)

    def sample(self, names: Sequence[str], salt: int, share: float) -> Iterator[Rows]:
        """Yield about a share of the rows, drawn by workers from what their systems have of chance."""
        places, schema = Places(tuple(self._values[name] for name in names), share), "lot double"
        schema = ", ".join([schema, *(f"c{at} int" for at in range(len(names)))])
        with self._asking():
            found = self._chosen(names).mapInArrow(places.drawn, schema).toArrow()
        yield Rows([found.column(at + 1).to_numpy() for at in range(len(names))], found.column(0).to_numpy())

    def over_rows(self, names: Sequence[str], salt: int, do: Callable[[Iterator[Rows]], T], seen: Seen) -> Iterator[T]:
        """Yield what a function returns for the rows of each partition."""
        task = OverRows(Places(tuple(self._values[name] for name in names)), self._put(do))
        with self._asking():
            found = self._chosen(names).mapInArrow(task, "result binary").toArrow()
        return map(pickle.loads, found.column(0).to_pylist())

    def over(self, items: Iterable[T], do: Callable[[T], U]) -> Iterator[U]:
        """Yield what a function returns for each item, in a task of its own."""
        paths = [self._put(item) for item in items]
        if not paths:
            return
        task = Over(paths[0].parent, [path.name for path in paths], self._put(do))
        with self._asking():
            tasks = self._session.range(0, len(paths), 1, len(paths))
            found = tasks.mapInArrow(task, "id long, result binary").toArrow().sort_by("id")
        if found.column("id").to_pylist() != list(range(len(paths))):
            raise DiscreetError(f"Spark gave the results of other tasks than it was asked for, about {self.what}")
        for result, path in zip(found.column("result"), paths, strict=True):
            path.unlink()
            yield pickle.loads(result.as_py())

    def in_order(
        self, files: Sequence[Path], names: Sequence[str], beside: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """Yield the lines of Parquet files, each of which workers sort, merged here."""
        every = (*names, *beside)
        ready = list(self.over(files, Sorter(every, len(names))))
        while len(ready) > MOST:  # more would take much memory here, and may not be open at once
            several = [ready[at : at + MOST] for at in range(0, len(ready), MOST)]
            ready = list(self.over(several, Merger(every)))
        yield from merged(ready, every)

    def check_unchanged(self) -> None:
        """Do nothing: that rows are those that were counted shows in their sums."""

    def check_shared(self) -> None:
        """Raise an error unless workers have discreet, and read and write in the folder."""
        mark = self._folder / f"seen-{uuid4().hex}"
        try:
            list(self.over([mark], Path.touch))
            if mark.exists():
                return
            fault = "it holds nothing that a worker wrote"
        except DiscreetError as refusal:
            fault = str(refusal)
        raise DiscreetError(
            f"the workers of Spark cannot work in the folder of the release ({fault}); choose an output on a disk that "
            "all share, and install discreet where they run"
        )

    def _column(self, name: str) -> Any:
        """Return a column, in which there is one zero."""
        column, kind = self._functions.col(_quoted(name)), self.schema.field(name).type
        if not pa.types.is_floating(kind):
            return column
        return column + self._functions.lit(0.0).cast("float" if pa.types.is_float32(kind) else "double")

    def _chosen(self, names: Sequence[str]) -> Any:
        return self._frame.select(*(self._column(name).alias(f"c{at}") for at, name in enumerate(names)))

    def _put(self, thing: object) -> Path:
        """Put something into a file that workers read."""
        path = self._folder / f"task-{uuid4().hex}"
        path.write_bytes(pickle.dumps(thing))
        return path


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
