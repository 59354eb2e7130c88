"""Arrow files, of the file format and the stream format, and Feather files are read like any other."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.feather
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
