"""What workers of Spark do: batches of Arrow in, batches of Arrow out, and files beside."""

from __future__ import annotations

import heapq
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from discreet.engines.engine import Rows

UNKNOWN = "a value that was not counted"
LINES = 1 << 10
"""How many groups of each file are in memory while files are merged."""


class Places:
    """Codes rows by the dictionaries of their columns, where the rows are."""

    def __init__(self, values: Sequence[pa.Array], share: float = 1.0) -> None:
        self.values, self.share = values, share

    def rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Rows]:
        """Yield rows as the places of their values."""
        rng = np.random.default_rng()
        for batch in batches:
            lots = rng.random(batch.num_rows)
            if self.share < 1.0:
                chosen = rng.random(batch.num_rows) < self.share
                batch, lots = batch.filter(pa.array(chosen)), lots[chosen]
            places = []
            for column, values in zip(batch.columns, self.values, strict=True):
                found = pc.index_in(column.cast(values.type), value_set=values)
                if found.null_count:
                    raise ValueError(UNKNOWN)
                places.append(found.to_numpy().astype(np.int32))
            yield Rows(places, lots)

    def drawn(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield some rows, for the driver."""
        for rows in self.rows(batches):
            names = ["lot", *(f"c{at}" for at in range(len(rows.places)))]
            yield pa.RecordBatch.from_arrays([pa.array(each) for each in (rows.lots, *rows.places)], names)


class OverRows:
    """A task over the rows of a partition."""

    def __init__(self, places: Places, do: Path) -> None:
        self.places, self.do = places, do

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return what a function makes of the rows of a partition."""
        result = pickle.loads(self.do.read_bytes())(self.places.rows(batches))
        yield pa.RecordBatch.from_arrays([pa.array([pickle.dumps(result)], pa.binary())], ["result"])


class Over:
    """A task for each item."""

    def __init__(self, folder: Path, items: Sequence[str], do: Path) -> None:
        self.folder, self.items, self.do = folder, items, do

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return what a function makes of each item."""
        for batch in batches:
            for number in batch.column(0).to_pylist():
                item = pickle.loads((self.folder / self.items[number]).read_bytes())
                result = pickle.dumps(pickle.loads(self.do.read_bytes())(item))
                columns = [pa.array([number], pa.int64()), pa.array([result], pa.binary())]
                yield pa.RecordBatch.from_arrays(columns, ["id", "result"])


class Sorter:
    """Sorts a Parquet file by the first of its columns."""

    def __init__(self, names: tuple[str, ...], keys: int) -> None:
        self.names, self.keys = names, keys

    def __call__(self, file: Path) -> Path:
        """Return the sorted file."""
        table = pq.read_table(file, columns=list(self.names))
        order = pc.sort_indices(table, [(name, "ascending") for name in self.names[: self.keys]])
        target = file.with_name(f"sorted-{uuid4().hex}.parquet")
        pq.write_table(table.take(order), target, store_schema=False)
        return target


class Merger:
    """Merges sorted Parquet files into one."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def __call__(self, files: Sequence[Path]) -> Path:
        """Return the merged file."""
        target = files[0].with_name(f"sorted-{uuid4().hex}.parquet")
        with pq.ParquetWriter(target, pq.read_schema(files[0])) as writer:
            for batch in merged(files, self.names):
                writer.write_batch(batch)
        return target


def merged(files: Sequence[Path], names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the lines of sorted files in order."""
    schema = pq.read_schema(files[0])
    plain, some = pa.schema([schema.field(name) for name in names]), list[tuple[Any, ...]]()
    for line in heapq.merge(*(_lines(file, names) for file in files)):
        some.append(line)
        if len(some) == LINES:
            yield _batch(some, plain)
            some = []
    if some:
        yield _batch(some, plain)


def _lines(file: Path, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the lines of a sorted file, texts as bytes: so they are compared as they are sorted."""
    with pq.ParquetFile(file) as opened:
        for batch in opened.iter_batches(LINES, columns=list(names)):
            columns = [batch.column(name) for name in names]
            texts = [column.cast(pa.binary()) if pa.types.is_string(column.type) else column for column in columns]
            yield from zip(*(column.to_pylist() for column in texts), strict=True)


def _batch(lines: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = []
    for cells, field in zip(zip(*lines, strict=True), schema, strict=True):
        binary = pa.types.is_string(field.type)
        made = pa.array(cells, pa.binary() if binary else field.type)
        columns.append(made.cast(pa.string()) if binary else made)
    return pa.RecordBatch.from_arrays(columns, schema=schema)
