"""Writes tables so that the files reveal nothing but their cells, and reads them back."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import DiscreetError
from discreet.table.detect import kind_of
from discreet.table.paths import opened
from discreet.table.raw_column import one_dictionary
from discreet.table.typed_files import TypedFile

TableFormat = Literal["csv", "parquet"]

BATCH_ROWS = 1 << 18
PIECE_ROWS = 1 << 20
"""The rows that stand together in a Parquet file: what Arrow takes if it is told nothing."""
BLOCK_BYTES = 1 << 23
PARQUET: dict[str, Any] = {"compression": "zstd", "store_schema": False}


def write_table(table: pa.Table, path: str | PathLike[str], format: TableFormat = "csv") -> None:
    """Write an Arrow table as CSV or Parquet, without metadata or dictionaries, which might list unused values.

    In CSV only cells that need quotes have them; a missing cell is empty, and an empty text is ``""``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pa.table({"age": [17, 20], "city": ["Bath, UK", 'the "Hague"']}), folder + "/t.csv")
    ...     print(Path(folder, "t.csv").read_text(), end="")
    age,city
    17,"Bath, UK"
    20,"the ""Hague"\"\"
    """
    if format == "parquet":
        import pyarrow.parquet as pq

        with Path(path).open("wb") as file:  # Arrow accepts only paths in UTF-8
            pq.write_table(as_plain(table), file, **PARQUET)
    elif format == "csv":
        with Path(path).open("wb") as file:
            file.writelines(_csv_parts(table))
    else:
        raise DiscreetError(f"there is no table format {format!r}; choose 'csv' or 'parquet'")


def write_pieces(pieces: Iterable[pa.Table], path: str | PathLike[str], format: TableFormat) -> None:
    """Write one table that comes in pieces of ``PIECE_ROWS`` rows, the last of which may have fewer, as ``write_table``
    does.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_pieces([pa.table({"age": [17, 20]}), pa.table({"age": [31]})], folder + "/t.csv", "csv")
    ...     Path(folder, "t.csv").read_text()
    'age\\n17\\n20\\n31\\n'
    """
    with Path(path).open("wb") as file, ExitStack() as stack:
        writer: Any = None
        for number, piece in enumerate(pieces):
            if format == "csv":
                file.writelines(islice(_csv_parts(piece), min(number, 1), None))  # the first part is the header
                continue
            import pyarrow.parquet as pq

            plain = as_plain(piece)
            writer = writer or stack.enter_context(pq.ParquetWriter(file, plain.schema, **PARQUET))
            writer.write_table(plain, row_group_size=PIECE_ROWS)


def read_pieces(path: Path, names: Sequence[str], format: TableFormat) -> Iterator[pa.RecordBatch]:
    """Yield some columns of a file of ``write_table``, a piece at a time; in CSV all cells are texts."""
    with path.open("rb") as file:
        if format == "parquet":
            import pyarrow.parquet as pq

            yield from pq.ParquetFile(file).iter_batches(PIECE_ROWS, columns=list(names))
        else:
            import pyarrow.csv

            parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
            types = dict.fromkeys(names, pa.string())
            convert = pyarrow.csv.ConvertOptions(
                column_types=types, include_columns=list(names), strings_can_be_null=False
            )
            blocks = pyarrow.csv.ReadOptions(block_size=BLOCK_BYTES)
            yield from pyarrow.csv.open_csv(file, read_options=blocks, parse_options=parse, convert_options=convert)


def read_table(path: str | PathLike[str], uncoded: str | None = None) -> pa.Table:
    """Read a file of ``write_table`` with every cell as text and every column coded; a missing cell is empty text.

    One column may be left ``uncoded``: coding a column of mostly rare texts takes many times as long as reading it.
    """
    path = Path(path)
    if path.is_symlink():  # its target may be anywhere, and change
        raise DiscreetError(
            f"'{path}' is a link to a file elsewhere, which is not followed; put the file itself into the folder"
        )
    try:
        with opened(path, f"'{path}'") as file:
            kind = kind_of(file)
            table = (
                TypedFile(file, kind, f"'{path}'", uncoded).read() if kind == "parquet" else _read_csv(file, uncoded)
            )
        columns = [
            column.cast(pa.string()).fill_null("") if name == uncoded else coded(column)
            for name, column in zip(table.column_names, table.columns, strict=True)
        ]
        return pa.table(columns, names=table.column_names)
    except (UnicodeDecodeError, csv.Error, pa.ArrowException) as fault:
        raise DiscreetError(
            f"'{path}' cannot be read as a table: {str(fault).splitlines()[0]}; write it again"
        ) from None


def written_otherwise(table: pa.Table, path: str | PathLike[str], format: TableFormat = "csv") -> str | None:
    """Describe how a file differs from what ``write_table`` writes for its table; ``None`` if it does not.

    A table can be written in many ways, and the choice among them could encode information that no cell contains.
    Other versions of Arrow may write the same cells as different bytes of Parquet; see ``parquet_layout``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "t.csv").write_text("age\\n017\\n")
    ...     written_otherwise(pa.table({"age": ["17"]}), folder + "/t.csv")
    "line 2 is '017' where '17' is written"
    """
    if format == "parquet":
        return _beyond_cells(as_plain(table), Path(path).read_bytes())
    with Path(path).open("rb") as file:
        line = 1
        for part in _csv_parts(table):
            held = file.read(len(part))
            if held != part:
                # the message quotes whole lines, so the rest of the last one is needed
                return _first_line(held + file.readline(), bytes(part), line)
            line += held.count(b"\n")
        return "it goes on after its last line" if file.read(1) else None


def reordered(table: pa.Table, path: str | PathLike[str], format: TableFormat = "csv") -> bool:
    """Whether a file holds what ``write_table`` writes for a table, except that its lines are in another order.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "t.csv").write_text("age\\n17\\n20\\n")
    ...     [reordered(pa.table({"age": ages}), folder + "/t.csv") for ages in (["20", "17"], ["20", "18"])]
    [True, False]
    """
    data = Path(path).read_bytes()
    if format == "csv":
        return sorted(b"".join(_csv_parts(table)).splitlines(True)) == sorted(data.splitlines(True))
    import pyarrow.parquet as pq

    held, plain = pq.ParquetFile(pa.BufferReader(data)).read(), as_plain(table)
    columns = [(name, "ascending") for name in plain.column_names]
    same = held.schema.equals(plain.schema) and held.sort_by(columns).equals(plain.sort_by(columns))
    return same and _beyond_cells(held, data) is None


def _beyond_cells(table: pa.Table, data: bytes) -> str | None:
    """Say what a Parquet file tells that no cell of its table does."""
    from discreet.table.parquet_layout import beyond_cells  # imported late: most releases are CSV

    return beyond_cells(table, data, PARQUET)


def digest(path: str | PathLike[str]) -> str:
    """Return the SHA-256 of a file, in hexadecimal.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     digest(file.name)[:16]
    'e3b0c44298fc1c14'
    """
    with opened(Path(path), f"'{path}'") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# ------------------------------------------------------------------------------------------------------------ writing


def as_plain(table: pa.Table) -> pa.Table:
    """Return a table without dictionaries and metadata."""
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    fields = [pa.field(name, column.type) for name, column in zip(table.column_names, columns, strict=True)]
    return pa.table(columns, schema=pa.schema(fields))


def _csv_parts(table: pa.Table) -> Iterator[bytes | memoryview]:
    """Yield a table as CSV, many lines at a time."""
    header = _quoted(pa.array(table.column_names, pa.large_string())).to_pylist()
    last = table.num_columns - 1
    columns = [_cells(column, "\n" if at == last else "") for at, column in enumerate(table.columns)]
    comma = pa.scalar(",", pa.large_string())
    yield (",".join(header) + "\n").encode()
    for start in range(0, table.num_rows, BATCH_ROWS):
        cells = [cells_of(start, min(BATCH_ROWS, table.num_rows - start)) for cells_of in columns]
        lines = pc.binary_join_element_wise(*cells, comma) if len(cells) > 1 else cells[0]
        # The lines of an Arrow array are contiguous in memory, exactly as in the file.
        ends = np.frombuffer(lines.buffers()[1], np.int64)[lines.offset : lines.offset + len(lines) + 1]
        yield memoryview(lines.buffers()[2]).cast("B")[ends[0] : ends[-1]]  # "B": comparable with bytes


def _cells(column: pa.ChunkedArray, end: str) -> Callable[[int, int], pa.Array]:
    """Return a function from a first row and a number of rows to their cells of a column, quoted for CSV."""
    if not pa.types.is_dictionary(column.type):
        return lambda start, rows: _quoted(
            pa.concat_arrays(column.slice(start, rows).chunks).cast(pa.large_string()), end
        )
    # There are few texts and many rows: each text is quoted once and looked up for every row.
    whole = column.unify_dictionaries()
    texts = whole.chunk(0).dictionary.cast(pa.large_string()) if whole.num_chunks else pa.array([], pa.large_string())
    ready = pa.concat_arrays([_quoted(texts, end), pa.array([end], pa.large_string())])
    codes = pa.chunked_array([chunk.indices for chunk in whole.chunks], column.type.index_type).fill_null(len(texts))
    return lambda start, rows: ready.take(pa.concat_arrays(codes.slice(start, rows).chunks))


def _quoted(cells: pa.Array, end: str = "") -> pa.Array:
    # An unquoted U+FEFF at the start of a file would be read as a byte order mark, and dropped.
    needs = pc.match_substring_regex(cells, r'[",\r\n]|^\s|\s$|^$|^\x{FEFF}')
    if pc.any(needs).as_py():
        doubled = pc.replace_substring(cells, '"', '""')
        mark, nothing = (pa.scalar(text, cells.type) for text in ('"', ""))
        cells = pc.if_else(needs, pc.binary_join_element_wise(mark, doubled, mark, nothing), cells)
    cells = pc.fill_null(cells, "")
    return pc.binary_join_element_wise(cells, *(pa.scalar(text, cells.type) for text in (end, ""))) if end else cells


# ---------------------------------------------------------------------------------------------------------- comparing


def _first_line(held: bytes, written: bytes, line: int) -> str:
    """Describe the first line in which two parts of a file differ; ``line`` is the number of their first line."""
    pairs = list(zip(held.splitlines(keepends=True), written.splitlines(keepends=True), strict=False))
    at = next((at for at, (line_held, line_written) in enumerate(pairs) if line_held != line_written), len(pairs))
    if at == len(pairs):
        return f"it ends before line {line + at}"
    shown, meant = (text.decode(errors="replace").removesuffix("\n")[:100] for text in pairs[at])
    return f"line {line + at} is {shown!r} where {meant!r} is written"


# ------------------------------------------------------------------------------------------------------------ reading


def _read_csv(file: BinaryIO, uncoded: str | None) -> pa.Table:
    import pyarrow.csv

    # Arrow must be given the type of each column beforehand, but only the file knows the columns.
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    names = next(csv.reader(text), [])
    text.detach()
    file.seek(0)
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(names) > 1)
    coded = pa.dictionary(pa.int32(), pa.string())
    types = {name: pa.string() if name == uncoded else coded for name in names}
    convert = pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=False)
    # Each block has its own dictionary, which must be merged: large blocks are few.
    blocks = pyarrow.csv.ReadOptions(block_size=BLOCK_BYTES)
    return pyarrow.csv.read_csv(file, read_options=blocks, parse_options=parse, convert_options=convert)


def coded(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one dictionary array of texts without nulls."""
    array = one_dictionary(column if pa.types.is_dictionary(column.type) else column.dictionary_encode())
    texts, codes = array.dictionary.cast(pa.string()), array.indices
    if codes.null_count:
        texts, codes = pa.concat_arrays([texts, pa.array([""])]), codes.fill_null(len(texts))
    return pa.DictionaryArray.from_arrays(codes, texts)
