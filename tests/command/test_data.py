"""`discreet data`: tables to try things out on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow.csv import read_csv

from discreet.datasets import census_arrow, patients_arrow
from discreet.table.hierarchy import Hierarchy
from support.command import refused, run


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_tables_are_listed() -> None:
    listed = json.loads(run("data", "list", "--json").stdout)
    made = ["patients", "census", "incomes", "customers", "households"]
    assert list(listed) == [*made, "adult", "census-income", "cps", "acs"]
    assert all(listed[name].startswith("Not included.") != (name in made) for name in listed)
    assert all(name in run("data", "list").stdout for name in listed)


def test_a_table_is_written_as_it_is() -> None:
    run("data", "get", "patients")
    assert read_csv("patients.csv").equals(patients_arrow())
    run("data", "get", "census", "--rows", "50", "-o", "people.csv")
    assert read_csv("people.csv").to_pylist() == census_arrow(50).to_pylist()


@pytest.mark.parametrize(("name", "columns"), [("incomes", 4), ("customers", 5), ("households", 19)])
def test_tables_of_the_papers_are_written(name: str, columns: int) -> None:
    run("data", "get", name, "--rows", "40")
    table = read_csv(f"{name}.csv")
    assert (table.num_rows, table.num_columns) == (40, columns)


def test_hierarchies_are_written_beside_it(here: Path) -> None:
    result = run("data", "get", "census", "--rows", "10", "--hierarchies", "trees", "--json")
    files = json.loads(result.stdout)["hierarchies"]
    assert {Path(file).name for file in files} == {path.name for path in (here / "trees").iterdir()}
    rows = [line.split(";") for line in (here / "trees" / "race.csv").read_text(encoding="utf-8").splitlines()]
    assert Hierarchy.from_rows("race", rows).height == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("get", "patients"), "exists already"),
        (("get", "patients", "-o", "other.csv", "--rows", "5"), "--rows is for other tables"),
        (("get", "patents"), "is not one of 'patients', 'census', 'incomes'"),
        (("get", "patients", "-o", "nowhere/p.csv"), "there is no folder"),
        (("get", "census", "--rows", "0", "-o", "other.csv"), "0 is not in the range"),
    ],
)
def test_what_cannot_be_written_is_said_and_nothing_is_lost(here: Path, words: tuple[str, ...], sentence: str) -> None:
    (here / "patients.csv").write_text("mine")
    assert sentence in refused("data", *words)
    assert [path.name for path in here.iterdir()] == ["patients.csv"]
    assert (here / "patients.csv").read_text() == "mine"
    if words == ("get", "patients"):
        run("data", *words, "--force")
        assert read_csv("patients.csv").equals(patients_arrow())
