"""Files without a header, and JSON lines: no column of a release is named by somebody's row."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.errors import DiscreetError
from support.command import refused, run

PEOPLE = [
    {"group": "control", "weight": 58.7652292950034, "sex": "f", "day": "2021-03-07", "stage": "mild"},
    {"group": "treated", "weight": 61.5, "sex": "m", "day": "2021-03-08", "stage": "severe"},
    {"group": "control", "weight": 70.25, "sex": "f", "day": "2021-03-09", "stage": "severe"},
    {"group": "treated", "weight": 80.0, "sex": "m", "day": "2021-03-10", "stage": "mild"},
]
LINES = [",".join(map(str, person.values())) for person in PEOPLE]
NAMES = list(PEOPLE[0])


@pytest.fixture
def unnamed(tmp_path: Path) -> Path:
    """A CSV file without a header."""
    path = tmp_path / "people.csv"
    path.write_text("\n".join(LINES) + "\n")
    return path


@pytest.mark.parametrize(
    ("quasi", "looks"),
    [
        (["58.7652292950034"], "is a number"),
        (["2021-03-07"], "is a number"),  # whichever name stands first is said
        (["f"], "is a number"),
    ],
)
def test_a_first_line_that_is_a_row_names_no_columns(unnamed: Path, quasi: list[str], looks: str) -> None:
    with pytest.raises(DiscreetError, match=looks) as caught:
        dc.read(unnamed, quasi=quasi)
    assert "header='none'" in str(caught.value) and "header='yes'" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "looks"),
    [
        ("a,1971-03-02", "named '1971-03-02', which is a date"),
        ("a,-1e5", "named '-1e5', which is a number"),
        ('a,"{""age"":3"', "beginning of a JSON document"),
        ("f,a", "named 'f', which also stands in row 2 of that column"),
    ],
)
def test_every_name_that_looks_like_data_is_refused(tmp_path: Path, line: str, looks: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"{line}\nm,7\nf,8\n")
    with pytest.raises(DiscreetError) as caught:
        dc.read(path, quasi=[line[0]])
    assert looks in str(caught.value)


def test_columns_of_a_file_without_header_are_named_by_the_user(unnamed: Path) -> None:
    table = dc.read(unnamed, quasi=["weight", "day"], sensitive="stage", header="none", columns=NAMES)
    assert table.rows == 4
    assert table.column("weight").values.tolist() == [58.7652292950034, 61.5, 70.25, 80.0]
    assert table.column("day").meaning == "date"


def test_a_user_may_insist_that_the_first_line_has_names(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("2019,flu\n3,yes\n4,flu\n")
    table = dc.read(path, quasi=["2019"], sensitive="flu", header="yes")
    assert table.rows == 2 and [column.name for column in table.columns] == ["2019", "flu"]


def test_a_header_in_the_middle_is_told_from_a_missing_one(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sex,stage\nf,mild\nm,severe\nsex,stage\nf,severe\n")
    with pytest.raises(DiscreetError, match="has its header again in row 3; remove that line"):
        dc.read(path, quasi=["sex"], sensitive="stage")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"header": "none"}, "name all of them in their order, as in columns="),
        ({"columns": NAMES}, "say header='none' as well"),
        ({"header": "none", "columns": NAMES[:3]}, "has 5 cells in line 1, and columns names 3"),
        ({"header": "none", "columns": [*NAMES[:4], "group"]}, "two columns named 'group'"),
        ({"header": "no"}, "header must be"),
    ],
)
def test_what_cannot_be_meant_is_refused(unnamed: Path, arguments: dict[str, object], said: str) -> None:
    with pytest.raises(DiscreetError) as caught:
        dc.read(unnamed, quasi=["group"], **arguments)  # type: ignore[arg-type]
    assert said in str(caught.value)


def test_a_short_line_is_compared_with_the_first_one(unnamed: Path) -> None:
    unnamed.write_text(unnamed.read_text() + "control,1\n")
    with pytest.raises(DiscreetError, match="has 2 cells in line 5 where its first line has 5"):
        dc.read(unnamed, quasi=["group"], header="none", columns=NAMES)


def test_frames_and_typed_files_take_no_row_for_names_either(unnamed: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(unnamed)  # whoever forgets header=None
    for source in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        with pytest.raises(DiscreetError, match=r"58\.7652292950034"):
            dc.read(source, quasi=["f"])
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "people.parquet")
    with pytest.raises(DiscreetError, match=r"58\.7652292950034"):
        dc.read(tmp_path / "people.parquet", quasi=["f"])
    # numbers that pandas gives to columns are nobody's
    assert dc.read(pd.read_csv(unnamed, header=None), quasi=["2"], sensitive="4").rows == 4
    with pytest.raises(DiscreetError, match="names its columns itself"):
        dc.read(tmp_path / "people.parquet", quasi=["f"], header="none", columns=NAMES)


# --------------------------------------------------------------------------------------------------------- JSON lines


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf", b"\n "])
@pytest.mark.parametrize("packed", [False, True])
def test_json_lines_are_read(tmp_path: Path, packed: bool, mark: bytes) -> None:
    data = mark + "\n".join(map(json.dumps, PEOPLE)).encode()
    path = tmp_path / "people.csv"  # whatever its name says
    path.write_bytes(gzip.compress(data) if packed else data)
    table = dc.read(path, quasi=["weight", "sex", "day"], sensitive="stage")
    assert table.rows == 4
    assert table.column("weight").kind == "numeric" and table.column("day").meaning == "date"
    assert sorted(table.column("sex").texts) == ["f", "m"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a":1,"a":2}\n', "specified twice"),
        ('{"a":1}\n{"a":"x"}\n', "changed from number to string"),
        ('{"a":1}\nthat is all\n', "Invalid value"),
        ('{"a":12345678901234567890}\n', "must be texts to stay distinct"),
        ('{"a":{"b":1}}\n', "cannot be coded"),
        ('{"1971":1}\n', "named '1971', which is a number"),
    ],
)
def test_what_is_no_table_of_json_lines_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "people.jsonl"
    path.write_text(text)
    with pytest.raises(DiscreetError) as caught:
        dc.read(path, quasi=["a"])
    assert said in str(caught.value) and "\n" not in str(caught.value)


# -------------------------------------------------------------------------------------------------- on the command line


PUBLISH = ["--quasi", "sex", "--sensitive", "stage", "--promise", "l-diversity(l=2)"]


def test_no_release_has_a_header_that_is_a_person(unnamed: Path, tmp_path: Path) -> None:
    roles = ["--quasi", "f", "--sensitive", "mild", "--promise", "k-anonymity(k=1)"]
    assert "--header none" in refused("publish", str(unnamed), "-o", str(tmp_path / "release"), *roles)
    assert not (tmp_path / "release").exists()


def test_flags_name_columns_for_every_command(unnamed: Path, tmp_path: Path) -> None:
    release, layout = str(tmp_path / "release"), ["--header", "none", "--columns", ",".join(NAMES)]
    run("publish", str(unnamed), *layout, "-o", release, *PUBLISH)
    assert (tmp_path / "release" / "table.csv").read_text().startswith("group,sex,stage\n")
    run("audit", release, "--original", str(unnamed), *layout)
    job = tmp_path / "job.toml"
    job.write_text(
        'input = "people.csv"\noutput = "again"\nquasi = "sex"\nsensitive = "stage"\nheader = "none"\n'
        f'columns = {json.dumps(NAMES)}\npromises = ["l-diversity(l=2)"]\n'
    )
    run("publish", "--job", str(job))
    assert (tmp_path / "again" / "table.csv").read_bytes() == (tmp_path / "release" / "table.csv").read_bytes()


def test_profile_repeats_the_layout_in_the_command_that_it_suggests(unnamed: Path) -> None:
    profiled = run("profile", str(unnamed), "--header", "none", "--columns", ",".join(NAMES))
    assert f"--header none --columns {','.join(NAMES)}" in " ".join(profiled.stdout.split())
