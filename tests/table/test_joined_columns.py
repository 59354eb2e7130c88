"""A column that a second table is to add, and that the first one has already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.command.main import main

PEOPLE = {"id": ["a", "b", "c"], "age": [30, 31, 32], "ill": ["flu", "gout", "flu"]}
VISITS = pa.table({"id": ["a", "b", "b"], "ill": ["x", "y", "z"]})


@pytest.mark.parametrize("kind", ["arrow", "frame", "csv", "parquet"])
def test_it_is_not_replaced(tmp_path: Path, kind: str) -> None:
    source: Any = pa.table(PEOPLE)
    if kind == "frame":
        source = pandas.DataFrame(PEOPLE)
    elif kind == "csv":
        source = tmp_path / "people.csv"
        pandas.DataFrame(PEOPLE).to_csv(source, index=False)
    elif kind == "parquet":
        source = tmp_path / "people.parquet"
        pq.write_table(pa.table(PEOPLE), source)
    told = "the table has a column 'ill' already, .* 'visits.csv' would replace; leave join out .* or rename one of the"
    with pytest.raises(dc.DiscreetError, match=told):
        dc.read(source, quasi=["age"], sensitive="ill", join={"ill": ("visits.csv", "id")})
    with pytest.raises(dc.DiscreetError, match="from the second table would replace"):
        dc.read(source, quasi=["age"], sensitive="ill", join={"ill": (VISITS, "id")})
    assert [one.name for one in dc.read(source, quasi=["age"], sensitive="ill").sensitive] == ["ill"]


def test_the_command_line_names_the_flag(tmp_path: Path) -> None:
    pandas.DataFrame(PEOPLE).to_csv(tmp_path / "people.csv", index=False)
    pandas.DataFrame(VISITS.to_pydict()).to_csv(tmp_path / "visits.csv", index=False)
    words = [
        "publish",
        str(tmp_path / "people.csv"),
        "-o",
        str(tmp_path / "out"),
        "--quasi",
        "age",
        "--identifier",
        "id",
    ]
    words += ["--sensitive", "ill", "--promise", "l-diversity(l=1)"]
    done = CliRunner().invoke(main, [*words, "--join", f"ill={tmp_path / 'visits.csv'}:id"])
    assert done.exit_code == 2 and not (tmp_path / "out").exists()
    assert "the table has a column 'ill' already" in " ".join(done.stderr.split())
    assert "leave --join out" in " ".join(done.stderr.split())
