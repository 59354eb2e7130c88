"""Missing values that files write as text, codes that look like numbers, and rows withheld for what they miss."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result

import discreet as dc
from discreet.table.read import read
from support.command import run

ROWS = 240
ROLES = ("--quasi", "age,race,income", "--sensitive", "disease")
PROMISE = ("--promise", "l-diversity(l=2)")


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Incomes of which every fifth is NA, ages of which two are ?, races as codes."""
    draw = random.Random(4)
    lines = ["name,age,race,income,disease"]
    for at in range(ROWS):
        age = "?" if at in (7, 9) else str(draw.randint(17, 90))
        income = "NA" if at % 5 == 0 else str(100 * draw.randint(10, 90))
        illness = "NA" if at % 40 == 3 else draw.choice(["flu", "cough", "asthma", "gout"])
        lines.append(f"p{at},{age},{draw.randint(1, 9)},{income},{illness}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def publish(*more: str, code: int = 0) -> Result:
    return run("publish", "people.csv", "-o", "release", "--force", *ROLES, *PROMISE, *more, code=code)


# ------------------------------------------------------------------------------------------------------------- reading


def test_marks_are_missing_in_all_columns(people: Path) -> None:
    table = read("people.csv", quasi=["age", "income"], sensitive="disease", na=["NA", "?"], missing="value")
    assert [column.kind for column in table.columns] == ["numeric", "numeric", "categorical"]
    assert (table.column("income").codes == table.column("income").missing).sum() == ROWS // 5
    assert "(missing)" in table.column("disease").texts and "NA" not in table.column("disease").texts
    assert table.notes == ()


def test_marks_are_compared_without_the_blanks_around_them(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text('x,y\n1,a\n" n/a ",b\n')
    assert read(file, quasi=["x"], na=" n/a", missing="value").column("x").kind == "numeric"


def test_a_number_may_be_a_mark_whatever_the_source() -> None:
    table = pa.table({"age": [17, 999, 30]})
    for source in (table, table.to_pandas(), pa.table({"age": [17.0, 999.0, 30.0]})):
        for mark in ("999", 999):
            assert read(source, quasi=["age"], na=[mark], missing="value").column("age").texts == (
                "(missing)",
                "17",
                "30",
            )


def test_marks_leave_an_order_that_was_declared() -> None:
    grades = pd.Categorical(["low", "NA", "high"], categories=["NA", "low", "high"], ordered=True)
    column = read(pd.DataFrame({"grade": grades}), quasi=["grade"], na="NA").column("grade")
    assert column.kind == "ordinal" and column.texts == ("(missing)", "low", "high")


def test_objects_that_are_numbers_but_for_marks_are_numbers() -> None:
    frame = pd.DataFrame({"pay": pd.Series([1, 2.5, "NA", None], dtype=object)})
    assert read(frame, quasi=["pay"], na="NA", missing="value").column("pay").texts == ("(missing)", "1", "2.5")


def test_what_is_no_text_cannot_be_a_mark() -> None:
    with pytest.raises(dc.DiscreetError, match=r"na=\['NA'\]"):
        read(pa.table({"age": [1]}), quasi=["age"], na=[None])  # type: ignore[list-item]


@pytest.mark.parametrize("mark", ["NA", "N/A", "n/a", "NULL", "null", "None", ".", "?", "-", "--", "#N/A", "missing"])
def test_numbers_but_for_a_mark_are_noted(tmp_path: Path, mark: str) -> None:
    file = tmp_path / "x.csv"
    file.write_text("x,y\n" + "".join(f"{at * 7},a\n" for at in range(20)) + f"{mark},a\n{mark},b\n")
    table = read(file, quasi=["x"], sensitive="y")
    assert table.column("x").kind == "categorical"
    told = f"column 'x' is all numbers but {mark!r} in 2 cells: say na=[{mark!r}]"
    assert [str(note) for note in table.notes] == [told]
    assert told in repr(table)
    assert read(file, quasi=["x"], na=[mark], missing="value").column("x").kind == "numeric"
    assert read(file, quasi=["x"], categorical=["x"]).notes == (), "whoever declares a kind has decided"


def test_columns_with_the_same_marks_share_a_note() -> None:
    marked = {name: [*range(20 - at), *["NA"] * at] for at, name in enumerate("abcd", 1)}
    texts = {name: [str(cell) for cell in cells] for name, cells in marked.items()} | {"e": [*map(str, range(19)), "?"]}
    told = [str(note) for note in read(pd.DataFrame(texts), quasi=list("abcde")).notes]
    assert len(told) == 2, told
    assert told[0].startswith("columns 'a', 'b', 'c', 'd' are all numbers but 'NA' in 1 to 4 cells each: say na=['NA']")
    assert told[1].startswith("column 'e' is all numbers but '?' in 1 cell: say na=['?']")


def test_columns_marked_equally_often_have_no_range(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("x,y,z\n" + "".join(f"{at},{at},a\n" for at in range(20)) + "NA,NA,b\n" * 2)
    (note,) = read(file, quasi=["x", "y"], sensitive="z").notes
    assert str(note) == "columns 'x', 'y' are all numbers but 'NA' in 2 cells each: say na=['NA']"
    alone = note.about({"y"})
    assert alone is not None and (alone.columns, alone.say) == (("y",), (("na", ["NA"]),))


@pytest.mark.parametrize("cells", [["1", "2", "none of these"], ["01301", "NA"], ["NA", "?"], ["a", "b", "NA"]])
def test_no_note_where_the_rest_is_no_number(tmp_path: Path, cells: list[str]) -> None:
    file = tmp_path / "x.csv"
    file.write_text("x,y\n" + "".join(f"{cell},a\n" for cell in cells))
    assert read(file, quasi=["x"]).notes == ()


def test_text_that_is_declared_as_such_needs_a_kind_too(tmp_path: Path) -> None:
    table = pa.table({"pay": [*(str(at) for at in range(20)), "NA"]})
    pq.write_table(table, tmp_path / "x.parquet")
    for source in (table, tmp_path / "x.parquet"):
        (note,) = read(source, quasi=["pay"]).notes
        assert str(note).endswith("say na=['NA'] and numeric=['pay']")
        assert read(source, quasi=["pay"], na=["NA"], numeric=["pay"], missing="value").column("pay").kind == "numeric"


# ------------------------------------------------------------------------------------------------------------ commands


def test_publish_profile_plan_and_compare_note_marks_and_codes(people: Path) -> None:
    told = [
        "column 'age' is all numbers but '?' in 2 cells: say --na '?'",
        f"column 'income' is all numbers but 'NA' in {ROWS // 5} cells: say --na NA",
        "column 'race' holds few different numbers: if it holds codes and not quantities, say --categorical race",
    ]
    compare = ("compare", "people.csv", *ROLES, *PROMISE, "--schemes", "mondrian", "--queries", "10")
    for result in (
        publish(),
        run("profile", "people.csv", *ROLES),
        run("plan", "people.csv", *ROLES),
        run(*compare),
    ):
        for sentence in told:
            assert f"Note: {sentence}" in result.stderr
    assert json.loads(publish("--json").stdout)["notes"] == told
    assert json.loads(run("profile", "people.csv", *ROLES, "--json").stdout)["notes"] == told


def test_profile_counts_marks_as_missing(people: Path) -> None:
    def missing(*more: str) -> list[int]:
        document = json.loads(run("profile", "people.csv", *ROLES, "--json", *more).stdout)
        return [column["missing"] for column in document["columns"]]

    assert missing() == [0, 0, 0, 0]
    assert missing("--na", "NA", "--na", "?") == [2, 0, ROWS // 5, ROWS // 40]


def test_the_command_that_profile_suggests_heeds_its_notes(people: Path) -> None:
    command = json.loads(run("profile", "people.csv", *ROLES, "--json").stdout)["suggested_command"]
    assert "--categorical race" in command and "--na '?' --na NA" in command and "--missing value" in command
    result = run(*shlex.split(command)[1:], "--force")
    assert "Note: column" not in result.stderr
    kinds = {one["name"]: one["kind"] for one in json.loads(Path("release/release.json").read_text())["attributes"]}
    assert kinds == {"age": "numeric", "race": "categorical", "income": "numeric", "disease": "categorical"}
    # without roles as well: a column of numbers with marks is no identifier
    document = json.loads(run("profile", "people.csv", "--json").stdout)
    assert document["suggested_roles"]["identifiers"] == ["name"]
    assert "--na NA" in document["suggested_command"]


def test_an_audit_reads_the_original_as_it_was_published(people: Path) -> None:
    publish("--na", "NA", "--na", "?", "--missing", "value", "--categorical", "race")
    manifest = json.loads(Path("release/release.json").read_text())
    assert "NA" not in json.dumps(manifest["attributes"]) and manifest["reading"] == {"na": ["?", "NA"]}
    refusal = run("audit", "release", "--original", "people.csv", "--na", "NA", code=2).stderr
    assert "'?' in row 8" in refusal and "say --na '?'" in refusal
    run("audit", "release", "--original", "people.csv")
    run("audit", "release", "--original", "people.csv", "--na", "NA", "--na", "?")
    asked = "SELECT COUNT(*) FROM t WHERE income >= 1000"
    counted = run("query", "release", asked, "--original", "people.csv", "--na", "NA", "--na", "?")
    assert f"Exactly {ROWS - ROWS // 5}" in counted.stdout


def test_a_table_knows_which_marks_no_cell_holds() -> None:
    """Also where cells are objects, or lists."""
    cells = {"age": [1, " NA ", 2.5, "x"], "pay": [1.0, -99.0, 2.0, 3.0], "ill": [["a", "-"], ["b"], ["a"], []]}
    marks = ["NA", "-99", "-", "?", ""]
    table = dc.read(pd.DataFrame(cells), quasi=["age", "pay"], sensitive="ill", na=marks, missing="value")
    assert table.reading == {"na": ["-", "-99", "?", "NA"]} and table.unseen == ("?",)
    texts = pa.table({"age": ["1", "NA", "2"], "ill": ["a;-", "b", ""]})
    table = dc.read(texts, quasi=["age"], sensitive="ill", na=marks, lists={"ill": ";"})
    assert table.reading["lists"] == {"ill": ";"} and table.unseen == ("-99", "?")


def test_a_job_file_lists_marks(people: Path) -> None:
    job = {"quasi": '["age", "income"]', "sensitive": '"disease"', "promise": '"l-diversity(l=2)"'}
    lines = [f"{key} = {value}" for key, value in job.items()]
    lines += ['input = "people.csv"', 'output = "jobbed"', 'na = ["NA", "?"]', 'missing = "withhold"']
    Path("job.toml").write_text("\n".join([*lines, "most_withheld = 0.5"]))
    document = json.loads(run("publish", "--job", "job.toml", "--json").stdout)
    assert document["missing"] == ROWS // 5 + 2
    Path("job.toml").write_text("\n".join([*lines, "most_withheld = 5"]))
    assert (
        "most_withheld must be a share of the rows from 0 to 1, not 5"
        in run("publish", "--job", "job.toml", code=2).stderr
    )


# --------------------------------------------------------------------------------------------------------- withholding


def test_withholding_much_is_a_decision(people: Path) -> None:
    given = ("--na", "NA", "--na", "?", "--missing", "withhold")
    refusal = publish(*given, code=2).stderr
    assert f"{ROWS // 5 + 2} of {ROWS} rows (20.8 %) have a missing number ('income': {ROWS // 5}, 'age': 2)" in refusal
    ways = ["--missing value", "drop 'income' from the quasi-identifiers", "--most-withheld 0.21"]
    assert [refusal.index(way) for way in ways] == sorted(refusal.index(way) for way in ways), "the mildest way first"
    assert not Path("release").exists()
    publish(*given, "--most-withheld", "0.5")
    assert Path("release/table.csv").exists()


def test_a_few_rows_are_withheld_without_asking() -> None:
    def table(lacking: int) -> dc.Table:
        ages = [None if at < lacking else at for at in range(200)]
        return read(
            pa.table({"age": ages, "ill": ["abcd"[at % 4] for at in range(200)]}),
            quasi=["age"],
            sensitive="ill",
            missing="withhold",
        )

    assert dc.publish(table(10), "l-diversity(l=2)").withheld == 10
    with pytest.raises(dc.DiscreetError, match=r"11 of 200 rows .5.5 %.*missing='value'.*most_withheld=0.06"):
        dc.publish(table(11), "l-diversity(l=2)")
    with pytest.raises(dc.DiscreetError, match="most_withheld must be a number between 0 and 1, not 5"):
        dc.publish(table(1), "l-diversity(l=2)", most_withheld=5)


def test_rows_that_are_withheld_beside_those_that_miss_a_number_count_as_well() -> None:
    rows = 400
    values = ["rare" if at < 8 else "abcdef"[at % 6] for at in range(rows)]
    ages = [None if at < 8 else at for at in range(rows)]
    table = read(pa.table({"age": ages, "ill": values}), quasi=["age"], sensitive="ill", missing="withhold")
    with pytest.raises(dc.DiscreetError) as refusal:
        dc.publish(table, "l-diversity(l=3)")
    sentence = str(refusal.value)
    assert "8 rows for missing numbers ('age': 8), the others so that" in sentence
    assert dc.publish(table, "l-diversity(l=3)", most_withheld=0.5).withheld > 20


def test_only_a_share_that_suffices_is_advised() -> None:
    """Missing ages go with one illness, so that their rows need many others beside them, or cannot be withheld."""

    def table(others: int) -> dc.Table:
        ill = ["rare"] * 40 + ["abcdef"[at % 6] for at in range(others)]
        ages = [None] * 40 + list(range(others))
        return read(pa.table({"age": ages, "ill": ill}), quasi=["age"], sensitive="ill", missing="withhold")

    with pytest.raises(dc.DiscreetError, match=r"would be withheld: 40 rows.*most_withheld=0\.\d+") as refusal:
        dc.publish(table(300), "l-diversity(l=3)")
    share = float(str(refusal.value).rsplit("=", 1)[1])
    assert dc.publish(table(300), "l-diversity(l=3)", most_withheld=share).withheld > 100
    with pytest.raises(dc.DiscreetError, match="cannot be withheld") as hopeless:
        dc.publish(table(100), "l-diversity(l=3)")
    assert "most_withheld" not in str(hopeless.value)


def test_the_refusal_of_missing_numbers_offers_the_mildest_way_first(people: Path) -> None:
    refusal = publish("--na", "NA", "--na", "?", code=2).stderr
    assert 0 < refusal.index("--missing value") < refusal.index("--missing withhold")


def test_codes_are_noted_only_while_nobody_has_said_what_they_are() -> None:
    codes: dict[str, Any] = {"race": [1, 2, 9] * 20, "half": [0.5, 1.5, 2.5] * 20, "age": list(range(60))}
    table = pa.table(codes)
    quasi = list(codes)
    assert [note.columns for note in read(table, quasi=quasi).notes] == [("race",)]
    for said in ({"categorical": ["race"]}, {"numeric": ["race"]}, {"domains": {"race": (1, 9)}}):
        assert read(table, quasi=quasi, **said).notes == ()
    assert read(table, quasi=["age"], keep=["race"]).notes == (), "what is kept is published as it is"
