"""Rows selected by a condition: as if the others were not in the table, whatever kind of source holds it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.command.main import main
from discreet.errors import DiscreetError
from discreet.jobs.original import spec_of
from discreet.table.raw_column import encode, only
from discreet.table.spec import TableSpec
from discreet.table.table import Table
from support.audits import failing

ROWS = 240
SELECTED: dict[str, Callable[[dict[str, Any]], bool]] = {
    "year = 1984": lambda row: row["year"] == 1984,
    "year BETWEEN 1984 AND 1985 AND sex = 'f'": lambda row: 1984 <= row["year"] <= 1985 and row["sex"] == "f",
    "SEX IN ('m') AND age > 30.5": lambda row: row["sex"] == "m" and row["age"] > 30.5,
    "seen < '2020-07-01'": lambda row: row["seen"] < "2020-07-01",
    "code = '007'": lambda row: row["code"] == "007",
    "bonus >= 0": lambda row: row["bonus"] is not None,
    "sex = '(missing)'": lambda row: row["sex"] is None,
}


def people() -> pa.Table:
    rng = np.random.default_rng(8)
    return pa.table(
        {
            "age": rng.integers(17, 90, ROWS),
            "sex": pa.array([[None, "f", "m"][at] for at in rng.integers(0, 3, ROWS)]),
            "year": rng.integers(1983, 1987, ROWS),
            "seen": [f"2020-{month:02}-{day:02}" for month, day in rng.integers(1, 13, (ROWS, 2)).tolist()],
            "code": rng.choice(["007", "07", "7x"], ROWS),
            "bonus": pa.array([None if at % 3 else at for at in range(ROWS)]),
            "ill": rng.choice(list("abcd"), ROWS),
        }
    )


def read(source: Any, **how: Any) -> Table:
    return dc.read(source, quasi=["age", "sex"], sensitive="ill", **how)


def same(table: Table, other: Table) -> bool:
    def shown(each: Table) -> list[Any]:
        return [
            (column.name, column.kind, column.texts, column.domain, column.codes.tolist()) for column in each.columns
        ]

    return table.rows == other.rows and shown(table) == shown(other) and table.notes == other.notes


@pytest.mark.parametrize("kind", ["arrow", "csv", "pandas", "parquet"])
@pytest.mark.parametrize("condition", SELECTED)
def test_a_table_is_the_one_without_the_other_rows(condition: str, kind: str, tmp_path: Path) -> None:
    keep = [SELECTED[condition](row) for row in people().to_pylist()]
    source: Any = people()
    if kind == "csv":
        pyarrow.csv.write_csv(people(), tmp_path / "people.csv")
        source = str(tmp_path / "people.csv")
    elif kind == "parquet":
        pa.parquet.write_table(people(), tmp_path / "people.parquet")
        source = tmp_path / "people.parquet"
    elif kind == "pandas":
        source = people().to_pandas()
    chosen = read(source, where=condition)
    assert 0 < sum(keep) < ROWS and same(chosen, read(people().filter(pa.array(keep))))
    assert chosen.reading == {"where": condition}


def test_rows_are_selected_before_anything_else() -> None:
    """Numbers are neither fitted nor made coarse, and other rows may be faulty."""
    rows = people().set_column(0, "age", pc.if_else(pc.equal(people()["year"], 1984), people()["age"], None))
    table = read(rows, where="year = 1984 AND age >= 42", floor={"age": 10}, top={"age": 50})
    expected = people().filter(pc.and_(pc.equal(people()["year"], 1984), pc.greater_equal(people()["age"], 42)))
    assert same(table, read(expected, floor={"age": 10}, top={"age": 50}))
    known = {"id": [1, 1, 2, 3], "age": [5, 6, 7, 8], "ill": list("abab"), "first": ["y", "n", "y", "y"]}
    assert dc.read(pa.table(known), quasi="age", sensitive="ill", identifiers="id", where="first = 'y'").rows == 3


def test_lists_are_selected_with_their_rows() -> None:
    rows = pa.table({"age": [1, 2, 3, 4], "ill": [["a"], ["b", "c"], [], ["a", "b"]]})
    table = dc.read(rows, quasi="age", sensitive="ill", where="age > 2")
    assert [column.name for column in table.sensitive] == ["ill_a", "ill_b"] and table.rows == 2


def test_ordered_categories_stay_declared() -> None:
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    grade = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 1], pa.int8()), ["low", "mid", "top"], ordered=True)
    column = only(encode("grade", pa.chunked_array([grade], kind)), np.array([1, 3]))
    assert (column.texts, column.order, column.codes.tolist()) == (["mid"], ("low", "mid", "top"), [0, 0])
    rows = pa.table({"age": [1, 2, 3, 4], "grade": grade})
    assert dc.read(rows, quasi="age", sensitive="grade", where="grade >= 'mid'").rows == 3


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("yaer = 1984", "cannot be used: there is no column 'yaer' in the table; did you mean 'year'"),
        ("year = 1999", "no row satisfies where='year = 1999'; correct the condition, or leave it out"),
        ("year = 'old'", "cannot be used: column 'year' holds numbers, and 'old' is not one"),
        ("sex > 'f'", "cannot be used: column 'sex' has no order; ask for values with = or IN"),
        ("year = 1984 OR age = 5", "cannot be used: a count query may not have OR"),
        ("year = 1984; DROP TABLE t", "cannot be used: "),
        ("year = 1984 GROUP BY sex", "cannot be used: a count query may not have GROUP BY here"),
        ("year = (SELECT 1)", "cannot be used: a count query may not have a sub-query"),
        ("year >", "cannot be used: the query 'SELECT COUNT(*) FROM t WHERE year >' cannot be understood as SQL"),
        ("COUNT(*) > 5", "cannot be used: "),
        (" ", "where has 0 characters; give a condition of 1 to 1,000, as in where='year = 1984'"),
        ("a" * 1001, "where has 1,001 characters"),
    ],
)
def test_conditions_that_select_nothing_are_refused(condition: str, told: str) -> None:
    with pytest.raises(DiscreetError, match=re.escape(told)):
        read(people(), where=condition)


def test_a_second_table_has_rows_of_its_own() -> None:
    with pytest.raises(DiscreetError, match="where selects rows of one table, and join names a second one"):
        TableSpec(where="year = 1984", join={"ill": ("visits.csv", "id")})


def test_commands_read_the_selected_rows_of_the_original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(people(), "people.csv")

    def run(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(main, list(words))
        assert result.exit_code == code, result.output
        return result.output

    roles = ["--quasi", "age,sex", "--sensitive", "ill"]
    run(
        "publish",
        "people.csv",
        "-o",
        "release",
        *roles,
        "--promise",
        "l-diversity(l=2)",
        "--where",
        "year = 1984",
        "-q",
    )
    manifest = json.loads(Path("release/release.json").read_text())
    assert manifest["reading"] == {"where": "year = 1984"}
    count = people()["year"].to_pylist().count(1984)
    assert manifest["rows"] == {"published": count, "withheld": 0}
    audited = run("audit", "release", "--original", "people.csv", "--json")
    said = next(each["sentence"] for each in json.loads(audited)["checks"] if each["name"] == "manifest")
    assert "Only rows of the original with year = 1984 were read; no other is judged." in said
    assert f"Exactly {count:,} in" in run("query", "release", "SELECT COUNT(*) FROM t", "--original", "people.csv")
    run("audit", "release", "--original", "people.csv", "--where", "year = 1985", code=1)
    run("attack", "release", "--original", "people.csv", "--attack", "naive-bayes", "--outsiders", "people.csv", "-q")
    told = run("profile", "people.csv", *roles, "--where", "year = 1984")
    assert "--where 'year = 1984'" in told
    original = dc.read("people.csv", spec_of("release"))
    assert not failing(dc.audit("release", original))
