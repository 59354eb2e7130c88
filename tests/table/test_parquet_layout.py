"""Parquet of other versions of Arrow is taken as it is, and nothing can be hidden in it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.table import parquet_layout, write

OTHER = b"25.9.9"
LAYOUTS: dict[str, dict[str, Any]] = {
    "as ours": {},
    "an older format": {"version": "1.0"},
    "snappy": {"compression": "snappy"},
    "uncompressed": {"compression": "none"},
    "harder": {"compression_level": 9},
    "other pages": {"data_page_version": "2.0", "data_page_size": 2048},
    "no lists": {"use_dictionary": False},
    "short lists": {"dictionary_pagesize_limit": 300},
    "few rows at a time": {"row_group_size": 700},
    "no figures": {"write_statistics": False},
}


def people(rows: int = 2000) -> pa.Table:
    chance = random.Random(4)
    ages = [chance.choice(["[17, 24]", "30", None, "é"]) for _ in range(rows)]
    wages = [chance.choice([None, chance.randrange(900) / 4]) for _ in range(rows)]
    notes = [f"note {chance.randrange(rows)}" for _ in range(rows)]
    group = sorted(chance.randrange(99) for _ in range(rows))
    return pa.table({"group": group, "age": ages, "wage": wages, "note": notes, "gone": pa.nulls(rows, pa.string())})


def written(table: pa.Table, **layout: Any) -> bytes:
    """A file as by another version of Arrow."""
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer, **{**write.PARQUET, **layout})
    whole: bytes = buffer.getvalue().to_pybytes()
    own = pq.ParquetFile(pa.BufferReader(whole)).metadata.created_by.split()[-1].encode()
    assert whole.count(own) == 1 and len(own) == len(OTHER)
    return whole.replace(own, OTHER)


def fault(table: pa.Table, file: bytes) -> str | None:
    return parquet_layout.beyond_cells(table, file, write.PARQUET)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rows", [0, 3, 2000])
def test_another_version_may_lay_files_out_otherwise(layout: str, rows: int) -> None:
    table = people().slice(0, rows)
    file = written(table, **LAYOUTS[layout])
    assert fault(table, file) is None
    if rows:
        assert fault(table.slice(1), file) == "it has other cells than are written"


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["as ours", "other pages", "no lists"])
def test_no_bit_is_free_but_in_the_version(layout: str) -> None:
    table = people(12).select(["group", "age", "wage"])
    file = written(table, **LAYOUTS[layout])
    places = range(file.index(OTHER), file.index(OTHER) + len(OTHER))
    # where all rows begin may be left out by writing 0
    free = {at for at in range(len(file)) if fault(table, flipped(file, at, 3 * at % 8)) is None}
    assert len(free - {*places}) <= 1


def flipped(file: bytes, at: int, bit: int) -> bytes:
    return file[:at] + bytes([file[at] ^ 1 << bit]) + file[at + 1 :]


def test_what_is_no_cell_is_found() -> None:
    table = people(40).select(["group", "age"])
    file = written(table)
    size = int.from_bytes(file[-8:-4], "little") + 8
    assert fault(table, file[:-size] + b"Ann is in 3" + file[-size:]) == "it holds bytes that belong to no cell"
    assert "not a Parquet" in str(fault(table, file + b"Ann is in 3"))
    noted = table.replace_schema_metadata({"Ann": "is in 3"})
    assert "says more about them" in str(fault(table, written(noted, store_schema=True)))
    listed = pa.DictionaryArray.from_arrays(pa.array([1] * 40), pa.array(["Ann is in 3", "30"]))
    plain = table.set_column(1, "age", pa.array(["30"] * 40))
    assert fault(plain, written(plain)) is None
    assert fault(plain, written(plain.set_column(1, "age", listed))) is not None
    first, _, last = file.rpartition("\xe9".encode())  # the largest value, as the footer has it
    assert "figures" in str(fault(table, first + b"zz" + last))
    assert "describes its columns otherwise" in str(fault(table, file.replace(b"\x06schema", b"\x06Ann: 3")))
    assert fault(table, written(table, sorting_columns=[pq.SortingColumn(1)])) is not None
    assert fault(table, written(table, write_page_index=True)) is not None
    assert "names a writer" in str(fault(table, file.replace(b"parquet-cpp-arrow", b"Ann-is-in-group-3")))


def test_nothing_is_packed_behind_a_page() -> None:
    """Decompression would pass over a frame that is to be skipped."""
    body = pa.compress(b"30" * 99, "zstd", asbytes=True)
    hidden = b"\x50\x2a\x4d\x18\x0b\x00\x00\x00Ann is in 3"
    assert pa.decompress(body + hidden, 198, "zstd", asbytes=True) == b"30" * 99
    assert bytes(parquet_layout._unpacked(memoryview(body), "zstd", 198)) == b"30" * 99
    for other in (body + hidden, hidden + body, body + body[:0] + pa.compress(b"", "zstd", asbytes=True)):
        with pytest.raises(parquet_layout.OtherwiseError):
            parquet_layout._unpacked(memoryview(other), "zstd", 198)


def test_a_file_of_this_version_is_compressed_as_it_was_told(tmp_path: Path) -> None:
    table, path = people(40), tmp_path / "t.parquet"
    pq.write_table(table, path, **{**write.PARQUET, "compression_level": 9})
    assert write.written_otherwise(table, path, "parquet") is None
    pq.write_table(table, path, **{**write.PARQUET, "compression": "snappy"})
    assert "compressed otherwise" in str(write.written_otherwise(table, path, "parquet"))
