"""Reads Parquet, Arrow and JSON lines, whose columns have types, and checks all of their content before anyone uses it.

Arrow trusts the offsets and lengths inside a file, so that to use a damaged one could end the process.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from discreet.errors import DiscreetError
from discreet.table.detect import FileKind
from discreet.table.paths import opened
from discreet.table.texts import LARGEST_WHOLE

FAULTS = (pa.ArrowException, OSError, ValueError, OverflowError)
"""What Arrow raises for damaged files."""


class TypedFile:
    """An open Parquet, Arrow or JSON lines file; ``what`` names it in errors.

    Texts of Parquet are coded, except ``uncoded``.
    """

    def __init__(self, file: BinaryIO, kind: FileKind, what: str, uncoded: str | None = None) -> None:
        self.name = {"parquet": "Parquet", "JSON lines": kind, "JSON": kind}.get(kind, "Arrow")
        self.what = what
        """What messages call the file."""
        try:
            if kind == "parquet":
                import pyarrow.parquet as pq

                self.schema = pq.read_schema(file)
                file.seek(0)
                texts = [field.name for field in self.schema if field.type in (pa.string(), pa.large_string())]
                words = [name for name in texts if name != uncoded]
                self._reader: Any = pq.ParquetFile(file, read_dictionary=words, page_checksum_verification=True)
            elif kind in ("JSON lines", "JSON"):
                data = file.read()
                self._table = _from_json(data if kind == "JSON lines" else _as_lines(data))
                self.schema = self._table.schema
            else:
                data = file.read()  # in memory, because a file on disk may change after it was checked
                reader = pa.ipc.open_file(data) if kind == "arrow" else pa.ipc.open_stream(data)
                self.schema, self._table = reader.schema, reader.read_all()
            self.names: list[str] = self.schema.names
            """The names of the columns."""
        except FAULTS as fault:
            raise self._damaged(fault) from None

    def read(self, columns: Iterable[str] | None = None) -> pa.Table:
        """Return some of the columns, or all, checked.

        >>> import io
        >>> sink = pa.BufferOutputStream()
        >>> with pa.ipc.new_stream(sink, pa.schema({"age": pa.int8()})) as stream:
        ...     stream.write_batch(pa.record_batch({"age": pa.array([17], pa.int8())}))
        >>> TypedFile(io.BytesIO(sink.getvalue().to_pybytes()), "arrow stream", "'people.arrow'").read().to_pylist()
        [{'age': 17}]
        """
        wanted = None if columns is None else list(columns)
        try:
            if self.name == "Parquet":
                table = self._reader.read(columns=wanted)
            else:
                table = self._table if wanted is None else self._table.select(wanted)
            table.validate(full=True)
            if self.name == "Parquet":
                _check_ends(self._reader.metadata, table)
        except FAULTS as fault:
            raise self._damaged(fault) from None
        return table

    @property
    def rows(self) -> int:
        """How many rows a Parquet file says that it has; 0 of the other kinds, which are in memory."""
        return int(self._reader.metadata.num_rows) if self.name == "Parquet" else 0

    def _damaged(self, fault: Exception) -> DiscreetError:
        said = str(fault).splitlines()[0] if str(fault) else type(fault).__name__
        if self.name.startswith("JSON"):
            return DiscreetError(
                f"{self.what} cannot be read as {self.name} ({said.removeprefix('JSON parse error: ').rstrip('.')}); "
                "write one object per line with values of one type for each name, or export the table as CSV or Parquet"
            )
        return DiscreetError(
            f"{self.what} cannot be read as {self.name}: it seems to be damaged ({said.rstrip('.')}); write it again "
            "as Parquet or CSV"
        )


def stated_rows(path: Path) -> int:
    """Return how many rows a Parquet file says that it has, without reading them; 0 if it cannot be read."""
    what = f"'{path}'"
    try:
        with opened(path, what) as file:
            return int(TypedFile(file, "parquet", what).rows)
    except DiscreetError:  # the reader of the file says what is wrong with it
        return 0


def _as_lines(data: bytes) -> bytes:
    """Return a JSON document as lines: a list of objects.

    >>> _as_lines(b'[{"age": 17}, {"age": 18}]')
    b'{"age": 17}\\n{"age": 18}\\n'
    """
    rows = json.loads(data)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("a document must be a list of objects, one for each row")
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def _from_json(data: bytes) -> pa.Table:
    """Return a table of JSON lines; numbers that Arrow would round to others are refused."""
    import pyarrow.json as pj

    # The first block settles the types: one block for the whole file, as long as Arrow can count its bytes.
    blocks = pj.ReadOptions(block_size=min(max(len(data) + 1, 1 << 16), (1 << 31) - 1))
    table = pj.read_json(pa.BufferReader(data), blocks)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_floating(column.type):
            largest = max((abs(number) for number in column.unique().to_pylist() if number is not None), default=0)
            if largest > LARGEST_WHOLE:
                raise ValueError(f"column {name!r} holds numbers beyond 2^53, which must be texts to stay distinct")
    return table


def _check_ends(metadata: Any, table: pa.Table) -> None:
    """Check that integers lie within the file's own statistics: in most files nothing else reveals damage."""
    import pyarrow.compute as pc

    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    for at in range(metadata.num_columns):
        name = metadata.schema.column(at).path
        if name not in table.column_names or not pa.types.is_integer(table.schema.field(name).type):
            continue
        stated = [group.column(at).statistics for group in groups]
        if not all(figures is not None and figures.has_min_max for figures in stated):
            continue
        ends = pc.min_max(table.column(name)).as_py()
        low, high = min(figures.min for figures in stated), max(figures.max for figures in stated)
        if ends["min"] is not None and (ends["min"] < low or ends["max"] > high):
            raise ValueError(f"column {name!r} holds numbers beyond those that the file states")
