"""`discreet hierarchy`: a hierarchy is made, edited, checked, drawn and published, as the page on hierarchies says."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dc
from discreet.table.hierarchy import Hierarchy
from discreet.table.write import write_table
from support.command import refused, run

PROMISE = ("--promise", "k-anonymity(k=3)")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def birthdays() -> None:
    days = [f"{1 + at % 28:02}.{1 + at % 12:02}.{1990 + at % 5}" for at in range(40)]
    write_table(pa.table({"birth": days, "ill": ["flu", "cold"] * 20}), "births.csv")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "column", "sensitive", "words", "file"),
    [
        ("patients", "zip", "disease", "", "zip.toml"),
        ("patients", "zip", "disease", "-o zips.csv --kind prefixes", "zips.csv"),
        ("patients", "age", "disease", "", "age.toml"),
        ("patients", "age", "disease", "-o bands.csv", "bands.csv"),
        ("patients", "age", "disease", "--kind balanced", "age.csv"),
        ("patients", "name", "disease", "", "name.csv"),
        ("census", "occupation", "salary", "", "occupation.csv"),
        ("census", "country", "salary", "-o .", "country.csv"),
        ("births", "birth", "ill", "", "birth.csv"),
    ],
)
def test_what_init_writes_is_published_and_audited(
    table: str, column: str, sensitive: str, words: str, file: str
) -> None:
    if table == "births":
        birthdays()
    else:
        run("data", "get", table, *(("--rows", "300") if table == "census" else ()))
    made = json.loads(run("hierarchy", "init", f"{table}.csv", column, *shlex.split(words), "--json").stdout)
    assert made["file"] == file
    checked = json.loads(run("hierarchy", "check", file, f"{table}.csv", column, "--json").stdout)
    assert checked["usable"] and checked["tree"] == made["tree"], "the preview is what is read"
    roles = ("--quasi", column, "--sensitive", sensitive, "--hierarchy", f"{column}={file}")
    run("publish", f"{table}.csv", "-o", "release", *roles, *PROMISE, "--scheme", "incognito", "--most-withheld", "0.3")
    run("audit", "release", "--original", f"{table}.csv", *roles, *PROMISE)
    labels = {node["label"] for node in made["tree"]}
    published = Path("release/table.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert {row.split(",")[1] for row in published} <= {label.partition(",")[0] for label in labels}


def test_a_recipe_names_no_value_and_a_list_is_warned_of() -> None:
    run("data", "get", "patients")
    result = run("hierarchy", "init", "patients.csv", "zip")
    assert "537" not in Path("zip.toml").read_text() and "5370*" in result.stdout
    assert "single row" not in result.stderr
    result = run("hierarchy", "init", "patients.csv", "name")
    assert (
        "lists all that is in it (48 values)" in result.stderr and "48 of them stand in a single row" in result.stderr
    )
    result = run("hierarchy", "init", "patients.csv", "zip", "-o", "zip.csv")
    assert (
        "lists all that is in it (8 values)" in result.stderr and ".toml says the same without a list" in result.stderr
    )


def test_nothing_but_the_column_decides() -> None:
    """Whoever is ill, and in whatever order the rows are: the same file."""
    people = pa.table({"city": ["Ulm", "Bonn", "Lyon", "Nice", "Ulm"], "ill": ["a", "b", "c", "d", "e"]})
    write_table(people, "one.csv")
    write_table(people.take([4, 2, 0, 3, 1]).set_column(1, "ill", [["z"] * 5]), "two.csv")
    run("hierarchy", "init", "one.csv", "city", "-o", "first.csv")
    run("hierarchy", "init", "two.csv", "city", "-o", "second.csv")
    assert Path("first.csv").read_bytes() == Path("second.csv").read_bytes()


def test_the_way_the_table_is_read_is_that_of_other_commands() -> None:
    Path("p.csv").write_text("Ulm|NA|3,5\nBonn|5|4,5\nLyon|7|NA\nNice|9|1,5\n", encoding="utf-8")
    layout = ("--delimiter", "|", "--header", "none", "--columns", "city,n,pay", "--na", "NA", "--decimal", ",")
    run("hierarchy", "init", "p.csv", "pay", *layout)
    assert "widths = [0.2, 0.4, 0.8]" in Path("pay.toml").read_text()
    result = run("hierarchy", "check", "pay.toml", "p.csv", "pay", *layout, "--json")
    assert json.loads(result.stdout)["tree"][0]["rows"] == 3
    Path("numbers.csv").write_text("n,s\nNA,a\n5,b\n7,c\n9,d\n", encoding="utf-8")
    assert "is all numbers but 'NA' in 1 cell: say --na NA" in run("hierarchy", "init", "numbers.csv", "n").stderr


def test_odd_names_survive_the_way_there_and_back() -> None:
    names = ["Paris; Texas", 'the "Hague"', "Bath, UK", "Köln", "東京", "a\nb", " Ulm ", "=1+1", "x\ty", "Ω"]
    write_table(pa.table({"city": [*names, None], "s": ["t"] * 11}), "odd.csv")
    run("hierarchy", "init", "odd.csv", "city", "-o", "trees.csv")
    tree = Hierarchy.of("city", "trees.csv")
    assert set(tree.leaves) == {name.strip() for name in names}
    checked = json.loads(run("hierarchy", "check", "trees.csv", "odd.csv", "city", "--json").stdout)
    assert checked["faults"] == [] and checked["tree"][0]["rows"] == 10
    roles = ("--quasi", "city", "--sensitive", "s", "--hierarchy", "city=trees.csv")
    run("publish", "odd.csv", "-o", "release", *roles, "--promise", "k-anonymity(k=2)")
    assert dc.load("release").format == "generalized"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("init p.csv city", "exists already; choose another file, or --force to replace it"),
        ("init p.csv city -o p.csv --force", "would overwrite the input"),
        ("init p.csv town", "has no column 'town'; there are"),
        ("init nobody.csv city", "nobody.csv"),
        ("init p.csv city -o x/y.csv", "there is no folder"),
        ("init p.csv city -o t.toml --kind balanced", "name a CSV file, which lists its leaves"),
        ("init p.csv city --kind names", "is not one of 'ranges', 'prefixes', 'balanced', 'dates'"),
        ("init p.csv city --kind dates -o t.csv", "say their form, as in --date city=%d.%m.%Y"),
        ("init p.csv city --kind ranges -o t.toml", "say --kind balanced, or what stands for a missing number"),
        ("init p.csv city --date birth=%Y -o t.csv", "--date birth=%Y is about another column than 'city'"),
        ("init p.csv none -o t.csv", "holds no value"),
        ("init p.csv a/b", "name the file, as in -o hierarchy.csv"),
        ("check city.csv p.csv", "give both, or neither"),
        ("check nothing.csv", "nothing.csv"),
        ("show bad.csv", "has the duplicate leaf 'Lyon'"),
        ("show zip.toml", "discreet hierarchy check zip.toml TABLE COLUMN"),
        ("draw city.csv", "No such command 'draw'"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_lost(here: Path, words: str, sentence: str) -> None:
    Path("p.csv").write_text("city,none,a/b\nLyon,,1\nNice,,2\n")
    Path("city.csv").write_text("mine\n")
    Path("bad.csv").write_text("Lyon,France\nLyon,Italy\n")
    Path("zip.toml").write_text("[prefix]\nkeep = [2]\n")
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    assert sentence in refused("hierarchy", *words.split())
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


def test_a_faulty_file_is_told_with_code_two_and_a_sound_one_with_code_zero() -> None:
    Path("p.csv").write_text("city,s\nLyon,a\nNice,b\n" + "".join(f"c{at},a\n" for at in range(30)))
    Path("bad.csv").write_text("Lyon,France\nNice,\nLyon,Italy\n")
    result = run("hierarchy", "check", "bad.csv", "p.csv", "city", code=2)
    assert "empty label" in result.stdout and "duplicate leaf 'Lyon'" in result.stdout
    assert "... and 20 more of this sort (missing leaf)" in result.stdout
    assert "cannot be used; it has 32 faults" in result.stderr
    document = json.loads(run("hierarchy", "check", "bad.csv", "p.csv", "city", "--json", code=2).stdout)
    assert len(document["faults"]) == 32 and not document["usable"] and document["tree"] == []
    Path("good.csv").write_text("Lyon,France\nNice,France\nBonn,Germany\n")
    result = run("hierarchy", "check", "good.csv")
    assert "├─ France" in result.stdout and "can be used" in result.stderr
    assert run("hierarchy", "show", "good.csv").stdout == result.stdout
    assert json.loads(run("hierarchy", "show", "good.csv", "--json").stdout)["tree"][0]["leaves"] == 3
