"""Arrow files, of the file format and the stream format, and Feather files are read like any other."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.command.main import main
from discreet.datasets import patients_arrow
from discreet.errors import DiscreetError

ROLES = {"quasi": ["age", "sex", "zip"], "sensitive": "disease", "identifiers": ["name"]}


def write(kind: str, path: Path) -> None:
    """The patients in one of Arrow's formats."""
    table = patients_arrow()
    if kind == "file":
        with pa.ipc.new_file(path, table.schema) as sink:
            sink.write_table(table)
    elif kind == "stream":
        with pa.ipc.new_stream(path, table.schema) as sink:
            sink.write_table(table)
    else:
        pyarrow.feather.write_feather(table, path, compression="uncompressed")


@pytest.mark.parametrize("kind", ["file", "stream", "feather"])
@pytest.mark.parametrize("ending", ["arrow", "feather", "dat"])
def test_arrow_files_are_read(kind: str, ending: str, tmp_path: Path) -> None:
    """Whatever the file is called, its content decides; columns are the same as from an Arrow table."""
    path = tmp_path / f"patients.{ending}"
    write(kind, path)
    read, known = dc.read(path, **ROLES), dc.read(patients_arrow(), **ROLES)  # type: ignore[arg-type]
    for one, other in zip(read.columns, known.columns, strict=True):
        assert (one.name, one.kind, one.texts) == (other.name, other.kind, other.texts)
        assert one.codes.tolist() == other.codes.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_arrow_files_from_the_command_line(kind: str, tmp_path: Path) -> None:
    """Looked at without roles, which asks for the names of its columns, and published."""
    path = tmp_path / "patients.arrow"
    write(kind, path)
    looked = CliRunner().invoke(main, ["profile", str(path), "--sensitive", "disease"])
    assert looked.exit_code == 0 and "zip" in looked.output, looked.output
    words = ["--quasi", "age,sex,zip", "--sensitive", "disease", "--promise", "beta-likeness(beta=2)"]
    done = CliRunner().invoke(main, ["publish", str(path), "-o", str(tmp_path / "r"), *words])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_a_damaged_arrow_file_is_one_sentence(kind: str, tmp_path: Path) -> None:
    """Cut short, it is refused with a way out."""
    path = tmp_path / "patients.arrow"
    write(kind, path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DiscreetError, match=r"cannot be read as Arrow: .*; write it again"):
        dc.read(path, **ROLES)  # type: ignore[arg-type]


def pay_in(path: Path) -> list[str]:
    """The texts of a column, row by row."""
    column = dc.read(path, quasi=["age", "pay"], sensitive="ill", missing="value").column("pay")
    return [column.texts[code] for code in column.codes]


@pytest.mark.parametrize("kind", [pa.decimal32(7, 2), pa.decimal64(7, 2), pa.decimal128(7, 2)], ids=str)
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_decimals_of_every_width_are_read(kind: pa.DataType, ending: str, tmp_path: Path) -> None:
    pay = pa.array([Decimal("1.50"), None, Decimal("2.00"), Decimal("1.50")], kind)
    table = pa.table({"age": [1, 2, 3, 4], "pay": pay, "ill": list("abab")})
    if ending == "parquet":
        pq.write_table(table, tmp_path / "t")
    else:
        pyarrow.feather.write_feather(table, tmp_path / "t", compression="uncompressed")
    assert pay_in(tmp_path / "t") == ["1.5", "(missing)", "2", "1.5"]


def write_batches(path: Path, *batches: pa.RecordBatch) -> None:
    """A stream in which every batch brings its own dictionary."""
    with pa.ipc.new_stream(path, batches[0].schema) as sink:
        for batch in batches:
            sink.write_batch(batch)


def coded(values: list[object], codes: list[int | None], ordered: bool = False) -> pa.RecordBatch:
    pay = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(values), ordered=ordered)
    return pa.record_batch({"age": [1, 2, 3], "pay": pay, "ill": list("aba")})


@pytest.mark.parametrize("ordered", [False, True])
def test_batches_whose_dictionaries_hold_null_are_read(ordered: bool, tmp_path: Path) -> None:
    """Whether a cell is null by its code or by its dictionary, and where batches have different values."""
    first, second = coded(["low", None, "high"], [0, 2, 0], ordered), coded(["low", "high", None, "top"], [1, 3, 0])
    second = second.set_column(1, "pay", pa.array(second["pay"]).cast(first["pay"].type)) if ordered else second
    write_batches(tmp_path / "t", first, second)
    assert pay_in(tmp_path / "t") == ["low", "high", "low", "high", "top", "low"]
    write_batches(tmp_path / "t", first, coded(["low", None, "high"], [1, 2, None], ordered))
    assert pay_in(tmp_path / "t") == ["low", "high", "low", "(missing)", "high", "(missing)"]


def test_batches_whose_dictionaries_hold_lists_are_refused(tmp_path: Path) -> None:
    write_batches(tmp_path / "t", *[coded([["a"], ["b", "c"]], [0, 1, 0])] * 2)
    with pytest.raises(DiscreetError, match=r"'pay' holds values of the type list.*; turn them into text or"):
        pay_in(tmp_path / "t")
