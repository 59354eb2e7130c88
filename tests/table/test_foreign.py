"""Files of other programs: what is odd in them is refused or kept."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import xlsxwriter

import discreet as dc
from discreet.datasets import census_arrow
from discreet.errors import DiscreetError
from support.command import run
from support.every_kind import write

ROLES: dict[str, Any] = {"quasi": ["age", "gender", "born"], "sensitive": "salary", "keep": ["score"]}
KINDS = ("people.xlsx", "people.dta", "people.sav", "people.db", "people.duckdb")


def people(rows: int = 300) -> pd.DataFrame:
    """People with numbers, texts, dates, and codes that are labelled in statistics packages."""
    frame = census_arrow(rows, seed=3).select(["age", "gender", "salary"]).to_pandas()
    rng = np.random.default_rng(3)
    days = pd.to_datetime("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, rows), unit="D")
    return frame.astype({"gender": str, "salary": str}).assign(born=days.date, score=rng.integers(0, 9, rows) / 2)


def test_cells_of_another_type_are_not_missing_without_a_word(tmp_path: Path) -> None:
    """A column of numbers with a text among them is one of texts, as in CSV."""
    path = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("people")
        book.add_worksheet("notes").write(0, 0, "nothing")
        for at, row in enumerate([("age", "zip", "ill"), (17, "01", "a"), ("NA", "02", "b"), (19.5, 77, "a")]):
            sheet.write_row(at, 0, row)
    with pytest.raises(DiscreetError, match=r"has 2 sheets \('people', 'notes'\); name one, as in sheet='people'"):
        dc.read(path, quasi=["age"], sensitive="ill")
    with pytest.raises(DiscreetError, match="has no sheet 'peple'; did you mean 'people'"):
        dc.read(path, quasi=["age"], sensitive="ill", sheet="peple")
    told = dc.read(path, quasi=["age", "zip"], sensitive="ill", sheet="people")
    assert told.column("age").texts == ("17", "19.5", "NA") and told.column("zip").texts == ("01", "02", "77")
    marked = dc.read(path, quasi=["age"], sensitive="ill", sheet="people", na="NA", missing="value")
    assert marked.column("age").kind == "numeric" and marked.column("age").texts == ("(missing)", "17", "19.5")


def test_labels_stand_for_codes_where_every_value_has_one(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [20, 30, 40, 50], "job": [1, 2, 9, 1], "pay": [1, 500, 900, 1], "ill": list("abab")})
    labels = {"job": {1: "farmer", 2: "baker", 9: "refused"}, "pay": {1: "none"}}
    for name, write_it in (("p.dta", pyreadstat.write_dta), ("p.sav", pyreadstat.write_sav)):
        write_it(frame, str(tmp_path / name), variable_value_labels=labels)
        table = dc.read(tmp_path / name, quasi=["age", "job", "pay"], sensitive="ill")
        assert table.column("job").texts == ("baker", "farmer", "refused"), name
        assert table.column("pay").kind == "numeric" and table.column("pay").texts == ("1", "500", "900")
    pyreadstat.write_sav(frame, str(tmp_path / "m.sav"), variable_value_labels=labels, missing_ranges={"job": [9]})
    table = dc.read(tmp_path / "m.sav", quasi=["job"], sensitive="ill")
    assert table.column("job").texts == ("(missing)", "baker", "farmer")  # 9 is missing by the file's own word


@pytest.mark.parametrize("name", ["people.db", "people.duckdb"])
def test_databases_answer_queries_and_are_not_changed(name: str, tmp_path: Path) -> None:
    path = write(people(60), tmp_path / name)
    before = path.read_bytes()
    some = dc.read(path, quasi=["age"], sensitive="salary", query="SELECT age, salary FROM people WHERE age >= 40;")
    frame = people(60)
    assert some.rows == int((frame["age"] >= 40).sum())
    for query, said in (
        ("DELETE FROM people", "must be one statement that reads"),
        ("SELECT 1; DROP TABLE people", "one statement that reads, .*; these are 2"),
        ("WITH x AS (SELECT 1) DELETE FROM people", "this one would write"),
        ("SELECT nothing FROM people", "does not answer query"),
    ):
        with pytest.raises(DiscreetError, match=said):
            dc.read(path, quasi=["age"], sensitive="salary", query=query)
    with pytest.raises(DiscreetError, match="give only one of them"):
        dc.read(path, quasi=["age"], sensitive="salary", query="SELECT 1", table="people")
    with pytest.raises(DiscreetError, match="has no table 'persons'; there are 'people'"):
        dc.read(path, quasi=["age"], sensitive="salary", table="persons")
    with pytest.raises(DiscreetError, match="of which sheet='a' says nothing"):
        dc.read(path, quasi=["age"], sensitive="salary", sheet="a")
    assert path.read_bytes() == before


def test_names_in_databases_are_quoted(tmp_path: Path) -> None:
    path = tmp_path / "odd.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute('CREATE TABLE "a ""b; --" ("the age" INTEGER, "i""ll" TEXT, mixed, raw BLOB)')
        rows = [(17, "x", 1, b"\1"), (18, "y", "two", b"\2"), (19, "x", 3.5, None)]
        base.executemany('INSERT INTO "a ""b; --" VALUES (?, ?, ?, ?)', rows)
        base.commit()
    table = dc.read(path, quasi=["the age", "mixed"], sensitive='i"ll')
    assert table.column("the age").texts == ("17", "18", "19") and table.column("mixed").texts == ("1", "3.5", "two")
    with pytest.raises(DiscreetError, match="column 'raw' holds bytes"):
        dc.read(path, quasi=["raw"], sensitive='i"ll')


def test_a_missing_library_is_named_with_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, library, extra in (
        ("people.xlsx", "fastexcel", "excel"),
        ("people.sav", "pyreadstat", "stats"),
        ("people.duckdb", "duckdb", "duckdb"),
    ):
        path = write(people(20), tmp_path / name)
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(DiscreetError, match=rf"needs the package {library}.*pip install 'discreet\[{extra}\]'"):
            dc.read(path, **ROLES)
        monkeypatch.undo()


@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_is_a_sentence(name: str, tmp_path: Path) -> None:
    path = write(people(60), tmp_path / name)
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(DiscreetError, match=r"cannot be read as .*; write it again, or export the table|has no "):
        dc.read(path, **ROLES)


@pytest.mark.parametrize(
    ("how", "numbers"),
    [
        ({"decimal": ","}, ("-3", "12.5", "1234.5")),
        ({"decimal": ",", "thousands": "."}, ("-3", "12.5", "1234.5")),
        ({"decimal": ",", "thousands": " "}, ("-3", "12.5", "1234.5")),
        ({"thousands": ","}, ("-3", "12.5", "1234.5")),
    ],
)
def test_numbers_are_read_as_they_are_written(how: dict[str, str], numbers: tuple[str, ...], tmp_path: Path) -> None:
    point, mark = how.get("decimal", "."), how.get("thousands", "")
    path = tmp_path / "pay.csv"
    path.write_text(f"pay;ill;code\n1{mark}234{point}5;a;1.2.3\n12{point}5;b;x\n-3;a;y\n", encoding="utf-8")
    table = dc.read(path, quasi=["pay", "code"], sensitive="ill", **how)
    assert table.column("pay").kind == "numeric" and table.column("pay").texts == numbers
    assert table.column("code").texts == ("1.2.3", "x", "y")
    home = dc.publish(table, dc.KAnonymity(1), dc.Cuts(random_state=1)).save(tmp_path / "release")
    assert json.loads((home / "release.json").read_text())["reading"].items() >= how.items()
    flags = ["--original", str(path), "--quiet"]
    assert "holds" in run("audit", str(home), *flags[:2]).stdout


def test_numbers_that_are_written_in_two_ways_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pay.csv"
    path.write_text("pay;ill\n1.234;a\n12,5;b\n")
    with pytest.raises(DiscreetError, match=r"'1.234' in column 'pay', which is no number with decimal=','"):
        dc.read(path, quasi=["pay"], sensitive="ill", decimal=",")
    with pytest.raises(DiscreetError, match="',' cannot separate both decimals and thousands"):
        dc.read(path, quasi=["pay"], sensitive="ill", decimal=",", thousands=",")
    with pytest.raises(DiscreetError, match="has no sheets and no tables"):
        dc.read(path, quasi=["pay"], sensitive="ill", sheet="pay")


def test_the_command_line_reads_a_workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(people(120), tmp_path / "people.xlsx")
    asked = ("people.xlsx", "--quasi", "age,gender", "--sensitive", "salary", "--sheet", "Sheet1")
    run("publish", *asked, "-o", "release", "--promise", "l-diversity(l=2)")
    assert json.loads(Path("release/release.json").read_text())["reading"] == {"sheet": "Sheet1"}
    assert "holds" in run("audit", "release", "--original", "people.xlsx").stdout
