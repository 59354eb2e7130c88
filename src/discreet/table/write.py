"""Writing tables so that nothing but their cells leaves the house, and reading them back."""

from __future__ import annotations

import hashlib
from os import PathLike
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import DiscreetError

Format = Literal["csv", "parquet"]

BATCH_ROWS = 1 << 18


def write_table(table: pa.Table, path: str | PathLike[str], format: Format = "csv") -> None:
    """Write an Arrow table as CSV or Parquet, without metadata, and without dictionaries that might list unused values.

    In CSV only cells that need quotes have them; a missing cell is empty and an empty text is ``""``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pa.table({"age": [17, 20], "city": ["Bath, UK", 'the "Hague"']}), folder + "/t.csv")
    ...     print(Path(folder, "t.csv").read_text(), end="")
    age,city
    17,"Bath, UK"
    20,"the ""Hague"\"\"
    """
    plain = _plain(table)
    if format == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(plain, path, store_schema=False)
    elif format == "csv":
        _write_csv(plain, Path(path))
    else:
        raise DiscreetError(f"there is no table format {format!r}; choose 'csv' or 'parquet'")


def read_table(path: str | PathLike[str]) -> pa.Table:
    """Read back what ``write_table`` wrote, every cell as text; missing cells are the empty text."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            is_parquet = file.read(4) == b"PAR1"
        table = _read_parquet(path) if is_parquet else _read_csv(path)
    except FileNotFoundError:
        raise DiscreetError(f"there is no file '{path}'; check the path") from None
    except (OSError, pa.ArrowException) as fault:
        raise DiscreetError(
            f"'{path}' cannot be read as a table: {str(fault).splitlines()[0]}; write it again"
        ) from None
    columns = [pc.fill_null(column.cast(pa.string()), "") for column in table.columns]
    return pa.table(columns, names=table.column_names)


def digest(path: str | PathLike[str]) -> str:
    """The SHA-256 of a file, in hexadecimal.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     digest(file.name)[:16]
    'e3b0c44298fc1c14'
    """
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        raise DiscreetError(f"'{path}' cannot be read: {fault.strerror or fault}; check the path") from None


def _plain(table: pa.Table) -> pa.Table:
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    fields = [pa.field(name, column.type) for name, column in zip(table.column_names, columns, strict=True)]
    return pa.table(columns, schema=pa.schema(fields))


def _write_csv(table: pa.Table, path: Path) -> None:
    nothing, end = (pa.scalar(text, pa.large_string()) for text in ("", "\n"))
    with path.open("wb") as file:
        header = pc.binary_join(pa.array([_quoted(pa.array(table.column_names, pa.string())).to_pylist()]), ",")
        file.write(header[0].as_py().encode() + b"\n")
        for batch in table.to_batches(max_chunksize=BATCH_ROWS):
            cells = [_quoted(column.cast(pa.large_string())) for column in batch.columns]
            if batch.num_rows:
                lines = pc.binary_join_element_wise(*cells, pa.scalar(",", pa.large_string()))
                lines = pc.binary_join_element_wise(lines, end, nothing)
                # The lines of an Arrow array lie one behind the other in memory: they are the file.
                file.write(lines.buffers()[2])


def _quoted(cells: pa.Array) -> pa.Array:
    needs = pc.match_substring_regex(cells, r'[",\r\n]|^\s|\s$|^$')
    if pc.any(needs).as_py():
        doubled = pc.replace_substring(cells, '"', '""')
        mark = pa.scalar('"', cells.type)
        cells = pc.if_else(needs, pc.binary_join_element_wise(mark, doubled, mark, pa.scalar("", cells.type)), cells)
    return pc.fill_null(cells, "")


def _read_csv(path: Path) -> pa.Table:
    import pyarrow.csv

    # Which columns there are is known only to the file, and Arrow must be told the type of each beforehand.
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    with pyarrow.csv.open_csv(path, parse_options=parse) as reader:
        names = reader.schema.names
    parse.ignore_empty_lines = len(names) > 1
    convert = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    return pyarrow.csv.read_csv(path, parse_options=parse, convert_options=convert)


def _read_parquet(path: Path) -> pa.Table:
    import pyarrow.parquet as pq

    return pq.ParquetFile(path).read()
