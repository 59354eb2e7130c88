"""Count queries: their SQL, exact counts, and estimates against an oracle that lays out every possible value."""

from __future__ import annotations

import json
import math
import tempfile
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.workloads import sql_text
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.analyst.queries import relative_errors
from discreet.datasets import patients
from discreet.errors import DiscreetError
from discreet.releases import bit_counts, load
from discreet.releases import box_estimate as estimating
from discreet.releases.bit_counts import exact_counts
from discreet.table.query import OneOf, Query, Range, runs
from discreet.table.sql import parse_count
from discreet.table.table import Column, Kind, Table
from naive import estimates as naive
from support.command import run
from support.queries import random_query
from support.releases import publish, random_groups, random_table
from support.tables import tables

KINDS: dict[str, Kind] = {
    "age": "numeric",
    "marital-status": "categorical",
    "zip": "categorical",
    "grade": "ordinal",
    "Home Town": "categorical",
}
VALUES = st.sampled_from(["interval", "label", "set"])


@st.composite
def lacking_tables(draw: st.DrawFn, largest: int = 80) -> Table:
    """Tables in which some ages, but not all, are missing."""
    try:
        return draw(tables(largest=largest, missing=True))
    except DiscreetError:
        reject()


def check_against_oracle(release: Any, queries: list[Query]) -> None:
    """Estimates in memory, and after saving and loading, are those of the oracle, which reads the files itself."""
    with tempfile.TemporaryDirectory() as folder:
        home = release.save(Path(folder) / "release")
        found = release.estimates(queries)
        np.testing.assert_allclose(found, [naive.estimate(home, query) for query in queries], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(load(home).estimates(queries), found, rtol=1e-12, atol=1e-12)


# ---------------------------------------------------------------------------------------------------------- estimates


@pytest.mark.slow
@given(table=lacking_tables(largest=40), values=VALUES, seed=st.integers(0, 2**20))
def test_estimates_are_those_of_laying_out_every_value(table: Table, values: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = random_groups(rng, table)
    if table.unusable is not None:
        groups[table.unusable] = -1
        if not (groups >= 0).any():
            return
    release = publish(table, groups, values=values)
    check_against_oracle(release, [random_query(rng, table, release) for _ in range(8)])


@pytest.mark.slow
@given(
    kind=st.sampled_from(["categorical", "numeric", "ordinal", "none"]),
    rows=st.integers(1, 25),
    values=VALUES,
    seed=st.integers(0, 2**20),
)
def test_estimates_of_values_that_are_hard_to_write(kind: str, rows: int, values: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, rows, kind)
    release = publish(table, random_groups(rng, table), values=values)
    check_against_oracle(release, [random_query(rng, table, release) for _ in range(8)])


def test_numbers_published_by_labels_are_shared_by_leaves() -> None:
    tree = dc.Hierarchy.of("age", {"intervals": {"widths": [10, 20]}}, [17, 23, 24, 31, 38])
    ages = Column("age", "numeric", np.arange(5, dtype=np.int32), np.array([17, 23, 24, 31, 38]), tree, (17.0, 38.0))
    release = publish(Table(5, (ages,), None), [0, 1, 1, 2, 2], values="label")
    assert sorted(release.texts[0].texts) == ["17", "20 to 29", "30 to 39"]
    assert release.estimate("SELECT COUNT(*) FROM t WHERE age <= 23") == 2.0
    assert release.estimate("SELECT COUNT(*) FROM t WHERE age = 31") == 1.0
    everything = publish(Table(5, (ages,), None), [0] * 5, values="label")
    assert everything.texts[0].texts == ("*",)
    assert everything.estimate("SELECT COUNT(*) FROM t WHERE age IN (17, 38, 18)") == pytest.approx(2.0)


def test_two_conditions_on_one_attribute_are_intersected_not_multiplied() -> None:
    table = Table(4, (Column("age", "numeric", np.array([0, 1, 2, 3], np.int32), np.array([10, 11, 12, 13])),), None)
    release = publish(table, [0] * 4)
    assert release.estimate("SELECT COUNT(*) FROM t WHERE age >= 11 AND age <= 12") == 2.0
    assert release.estimate("SELECT COUNT(*) FROM t WHERE age IN (10, 11, 12) AND age > 10 AND age IN (12, 13)") == 1.0
    assert release.estimate("SELECT COUNT(*) FROM t WHERE age > 12 AND age < 13") == 0.0


def test_numbers_that_are_not_whole_are_shared_by_length() -> None:
    column = Column("weight", "numeric", np.array([0, 1, 2], np.int32), np.array([1.0, 2.5, 3.0]))
    release = publish(Table(3, (column,), None), [0, 1, 1])
    assert release.estimate(Query(Range("weight", 2.5, 2.75))) == pytest.approx(1.0)
    assert release.estimate(Query(Range("weight", 1, 1))) == 1.0
    assert release.estimate(Query(Range("weight", 1, 3, low_open=True))) == pytest.approx(2.0)
    assert release.estimate(Query(OneOf("weight", (1, 2.5)))) == 1.0
    assert release.estimate(Query((Range("weight", 0, 9), OneOf("weight", (1.0,))))) == 1.0


@given(table=tables(), values=VALUES, seed=st.integers(0, 2**20))
def test_a_query_that_covers_everything_returns_the_published_rows(table: Table, values: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    release = publish(table, random_groups(rng, table), values=values)
    conditions = [
        Range(column.name) if column.kind != "categorical" else OneOf(column.name, tuple(column.values.tolist()))
        for column in table.columns
    ]
    assert release.estimates([Query(), Query(tuple(conditions))]).tolist() == [release.rows, release.rows]


@given(table=tables(), seed=st.integers(0, 2**20))
def test_groups_of_equal_rows_give_exact_counts(table: Table, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lines = np.stack([column.codes for column in table.quasi], axis=1)
    groups = np.unique(lines, axis=0, return_inverse=True)[1].ravel()
    queries = [random_query(rng, table) for _ in range(10)]
    np.testing.assert_allclose(publish(table, groups).estimates(queries), exact_counts(table, queries), atol=1e-9)


def test_answers_do_not_depend_on_how_queries_are_batched(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    table = random_table(rng, 60)
    release = publish(table, random_groups(rng, table))
    queries = [random_query(rng, table, release) for _ in range(50)]
    together = release.estimates(queries)
    monkeypatch.setattr(estimating, "BATCH", 1)
    np.testing.assert_allclose(release.estimates(queries), together, rtol=1e-12)
    assert release.estimates([]).tolist() == []


def test_the_shares_of_all_queries_are_never_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    columns = [Column(name, "numeric", rng.permutation(4_000).astype(np.int32), rng.random(4_000)) for name in "xyz"]
    columns = [replace(column, values=np.sort(column.values)) for column in columns]
    release = publish(Table(4_000, tuple(columns), None), np.arange(4_000) // 2)
    queries = [Query(tuple(Range(name, *sorted(rng.random(2))) for name in "xyz")) for _ in range(500)]
    release.estimates(queries[:1])
    monkeypatch.setattr(estimating, "BATCH", 1 << 16)
    tracemalloc.start()
    release.estimates(queries)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # all at once: 500 queries x 3 attributes x 2,000 texts x 8 bytes = 24 MB
    assert peak < 3 * 8 * (1 << 16), peak


def test_queries_that_do_not_fit_the_release_are_refused() -> None:
    codes = np.array([0, 1, 0], np.int32)
    sex = Column("sex", "categorical", codes, np.array(["f", "m"], object), dc.Hierarchy.flat("sex", ["f", "m"]))
    age = Column("age", "numeric", codes, np.array([20, 30]))
    size = Column("size", "ordinal", codes, np.array(["small", "large"], object))
    release = publish(Table(3, (sex, age), size, (Column("kept", "ordinal", codes, size.values),)), [0, 0, 0])
    for query, said in (
        (Query(Range("agee", 1)), "no column 'agee' in the release; did you mean 'age'?"),
        (Query(Range("sex", "f")), "'sex' has no order"),
        (Query(OneOf("age", "old")), "'old' is not one; compare it with a number"),
        (Query(Range("age", "old")), "'old' is not one; compare it with a number"),
        (Query(Range("size", "medium")), "'size' has no value 'medium'"),
        (Query(Range("kept", "small")), "the order of the values of column 'kept' is not published"),
    ):
        with pytest.raises(DiscreetError, match="(?s)" + said.replace("?", r"\?")):
            release.estimate(query)
    assert release.estimate(Query((OneOf("kept", "small"), Range("size", None, "small")))) == 2.0
    assert release.estimate(Query(OneOf("size", "medium"))) == 0.0


# -------------------------------------------------------------------------------------------------------------- exact


@pytest.mark.slow
@given(
    rows=st.integers(1, 200),
    seed=st.integers(0, 2**20),
    edges=st.sampled_from([2, 3, 512]),
    most=st.sampled_from([0, 32]),
)
def test_exact_counts_are_those_of_looking_at_every_row(rows: int, seed: int, edges: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, rows, "numeric")
    queries = [random_query(rng, table) for _ in range(10)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bit_counts, "EDGES", edges)
        patch.setattr(bit_counts, "RUNS", most)
        assert exact_counts(table, queries).tolist() == [query.count(table) for query in queries]
    by_hand = [
        sum(
            all(
                naive.admits(_entry(table.column(c.attribute)), _cell(table, c.attribute, row), [c])
                for c in query.conditions
            )
            and not any(_lacks(table, c.attribute, row) for c in query.conditions)
            for row in range(rows)
        )
        for query in queries
    ]
    assert [query.count(table) for query in queries] == by_hand


def _entry(column: Column) -> dict[str, Any]:
    return {"kind": column.kind, "role": "other", "values": [str(value) for value in column.values.tolist()]}


def _cell(table: Table, name: str, row: int) -> Any:
    column = table.column(name)
    return column.values[column.codes[row]]


def _lacks(table: Table, name: str, row: int) -> bool:
    column = table.column(name)
    return column.missing is not None and bool(column.codes[row] == column.missing)


@given(table=lacking_tables(), seed=st.integers(0, 2**20))
def test_rows_that_lack_a_number_satisfy_no_condition_on_one(table: Table, seed: int) -> None:
    rng = np.random.default_rng(seed)
    queries = [Query(Range("age", 0, 200))] if "age" in table.quasi_names else []
    queries += [random_query(rng, table) for _ in range(5)]
    assert exact_counts(table, queries).tolist() == [query.count(table) for query in queries]
    if "age" in table.quasi_names:
        age = table.column("age")
        lacking = len(table.unusable) if table.unusable is not None else int((age.codes == age.missing).sum())
        assert queries[0].count(table) == table.rows - lacking


def test_runs_of_no_condition_are_all_values_and_of_an_empty_range_none() -> None:
    numbers = np.array([math.nan, 1.0, 2.0])
    assert runs([], numbers, "numeric").tolist() == [0, 3]
    assert runs([Range("x")], numbers, "numeric").tolist() == [1, 3]
    assert runs([Range("x", 2, 1)], numbers, "numeric").tolist() == []
    assert runs([Range("x", math.nan)], numbers, "numeric").tolist() == []


def test_relative_errors_of_zero_counts_are_undefined() -> None:
    assert np.isnan(relative_errors([1.0, 3.0], [0, 2])).tolist() == [True, False]


def test_conditions_take_what_is_meant() -> None:
    assert OneOf("sex", "female").values == ("female",)  # type: ignore[arg-type]
    assert OneOf("age", [20, 30]).values == (20, 30)  # type: ignore[arg-type]
    assert Query(OneOf("age", (20,))).conditions == (OneOf("age", (20,)),)  # type: ignore[arg-type]
    assert dc.Query is Query and dc.Range is Range and dc.OneOf is OneOf


# ---------------------------------------------------------------------------------------------------------------- SQL


@pytest.mark.parametrize(
    ("where", "conditions"),
    [
        ("age BETWEEN 20 AND 30", [Range("age", 20.0, 30.0)]),
        ("age > -3.5 AND 30 >= age", [Range("age", -3.5, None, low_open=True), Range("age", None, 30.0)]),
        ("(AGE < 30 and (((age)) = '7'))", [Range("age", None, 30.0, high_open=True), OneOf("age", (7.0,))]),
        ("\"marital-status\" = 'Never-married'", [OneOf("marital-status", ("Never-married",))]),
        ("`marital-status` IN ('a', 'it''s')", [OneOf("marital-status", ("a", "it's"))]),
        ("[home town] = 'Bonn'", [OneOf("Home Town", ("Bonn",))]),
        ("zip = 01301 AND zip IN (5)", [OneOf("zip", ("01301",)), OneOf("zip", ("5",))]),
        ("zip IN (1.50, 1e2, -007)", [OneOf("zip", ("1.50", "1e2", "-007"))]),
        ("zip = 9007199254740993", [OneOf("zip", ("9007199254740993",))]),
        ("t.grade >= 'b'", [Range("grade", "b")]),
    ],
)
def test_sql_is_read(where: str, conditions: list[Any]) -> None:
    assert parse_count(f"select count(*) as n from people t where {where};", KINDS) == Query(tuple(conditions))


def test_sql_without_conditions_counts_all() -> None:
    assert parse_count("SELECT COUNT(*) FROM t", KINDS) == Query()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the query is empty"),
        (" ;", "the query is empty"),
        ("SELECT", "only COUNT(*)"),
        ("SELECT COUNT(*) FROM t WHERE ((", "cannot be understood as SQL"),
        ("SELECT COUNT(*) FROM t WHERE age = 'open", "cannot be understood as SQL"),
        ("SELECT COUNT(*) FROM t WHERE age BETWEEN 3", "cannot be understood as SQL"),
        ("SELECT COUNT(*) FROM t WHERE " + "(" * 5000, "cannot be understood as SQL"),
        ("DROP TABLE t", "begins with SELECT"),
        ("VACUUM", "begins with SELECT"),
        ("SELECT COUNT(*) FROM t; SELECT COUNT(*) FROM t", "ask one at a time"),
        ("SELECT COUNT(*) FROM t UNION SELECT COUNT(*) FROM t", "UNION"),
        ("WITH a AS (SELECT 1) SELECT COUNT(*) FROM a", "WITH"),
        ("SELECT * FROM t", "only COUNT(*), SUM or AVG of a column can be asked of a release, not '*'"),
        ("SELECT COUNT(age) FROM t", "not 'COUNT(age)'"),
        ("SELECT COUNT(DISTINCT age) FROM t", "only COUNT(*)"),
        ("SELECT age, COUNT(*) FROM t", "only COUNT(*)"),
        ("SELECT SUM(age) FROM t", "only COUNT(*)"),
        ("SELECT COUNT(*) FROM t GROUP BY age", "GROUP BY"),
        ("SELECT COUNT(*) FROM t ORDER BY 1", "ORDER BY"),
        ("SELECT COUNT(*) FROM t LIMIT 1", "LIMIT"),
        ("SELECT DISTINCT COUNT(*) FROM t", "DISTINCT"),
        ("SELECT COUNT(*) WHERE age = 1", "names no table"),
        ("SELECT COUNT(*) FROM t, u", "a second table"),
        ("SELECT COUNT(*) FROM t JOIN u ON t.age = u.age", "JOIN"),
        ("SELECT COUNT(*) FROM (SELECT 1)", "sub-query"),
        ("SELECT COUNT(*) FROM read_csv('x')", "one table"),
        ("SELECT COUNT(*) FROM other.t", "one plain table"),
        ("SELECT COUNT(*) FROM t WHERE age IN (SELECT 1)", "sub-query"),
        ("SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1)", "sub-query"),
        ("SELECT COUNT(*) FROM t WHERE agee = 1", "no column 'agee' in the release; did you mean 'age'?"),
        ("SELECT COUNT(*) FROM t WHERE age = 1 OR age = 2", "may not have OR; ask for its parts"),
        ("SELECT COUNT(*) FROM t WHERE NOT age = 1", "NOT"),
        ("SELECT COUNT(*) FROM t WHERE age NOT IN (1)", "NOT"),
        ("SELECT COUNT(*) FROM t WHERE age <> 1", "<>"),
        ("SELECT COUNT(*) FROM t WHERE age IS NULL", "a missing value satisfies no condition"),
        ("SELECT COUNT(*) FROM t WHERE zip IS NULL", "write zip = '(missing)'"),
        ("SELECT COUNT(*) FROM t WHERE age = '1_0'", "holds numbers, and '1_0' is not one"),
        ("SELECT COUNT(*) FROM t WHERE age = NULL", "'NULL'"),
        ("SELECT COUNT(*) FROM t WHERE LOWER(zip) = 'a'", "functions or arithmetic such as 'LOWER(zip)'"),
        ("SELECT COUNT(*) FROM t WHERE age + 1 > 3", "'age + 1'"),
        ("SELECT COUNT(*) FROM t WHERE age > 1 + 2", "'1 + 2'"),
        ("SELECT COUNT(*) FROM t WHERE zip LIKE 'a%'", "LIKE"),
        ("SELECT COUNT(*) FROM t WHERE age", "conditions such as 'age'"),
        ("SELECT COUNT(*) FROM t WHERE 1 = 1", "a condition on 1 alone"),
        ("SELECT COUNT(*) FROM t WHERE age = zip", "compares two columns"),
        ('SELECT COUNT(*) FROM t WHERE zip = "Sales"', "in single quotes: 'Sales'"),
        ('SELECT COUNT(*) FROM t WHERE zip IN ("Sales")', "in single quotes: 'Sales'"),
        ("SELECT COUNT(*) FROM t WHERE marital-status = 'x'", 'in double quotes: "marital-status"'),
        ("SELECT COUNT(*) FROM t WHERE age = 'old'", "'old' is not one"),
        ("SELECT COUNT(*) FROM t WHERE age BETWEEN SYMMETRIC 3 AND 1", "SYMMETRIC"),
        ("SELECT COUNT(*) FROM t WHERE 3 < age < 5", "'3 < age'"),
    ],
)
def test_sql_that_is_no_count_of_conditions_is_refused(text: str, said: str) -> None:
    with pytest.raises(DiscreetError) as fault:
        parse_count(text, KINDS)
    assert said in str(fault.value)
    assert "\n" not in str(fault.value)


@given(st.text(alphabet="SELECT count(*)from t where'\"`[];age=<>1-%/\n,é", max_size=60))
@settings(max_examples=200)
def test_no_text_brings_the_reader_down(text: str) -> None:
    for tried in (text, f"SELECT COUNT(*) FROM t WHERE {text}"):
        try:
            parse_count(tried, KINDS)
        except DiscreetError as fault:
            assert str(fault)


@given(st.integers(0, 2**20))
def test_queries_written_as_sql_are_read_as_they_were(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, 30, "numeric")
    query = random_query(rng, table)
    kinds = {column.name: column.kind for column in table.columns}
    if "1 = 0" not in sql_text(query) and "IS NOT NULL" not in sql_text(query):
        again = parse_count(sql_text(query), kinds)
        assert again.count(table) == query.count(table)


# ------------------------------------------------------------------------------------------------------------ command


@pytest.fixture
def people(people: Path) -> Path:
    quasi = ["age", "sex", "zip"]
    table = dc.read("patients.csv", quasi=quasi, sensitive="disease")
    dc.publish(table, dc.BetaLikeness(2)).save("release")
    return people


def test_the_command_prints_the_estimate(people: Path) -> None:
    assert "48 of 48 published rows, for certain." in run("query", "release", "SELECT COUNT(*) FROM t").stdout
    shown = run("query", "release", "SELECT COUNT(*) FROM t WHERE age < 40", "--original", "patients.csv").stdout
    assert "in the original; relative error" in shown
    none = run("query", "release", "SELECT COUNT(*) FROM t WHERE age < 0", "--original", "patients.csv").stdout
    assert "Exactly 0 in the original; relative error undefined" in none


def test_the_command_prints_json(people: Path) -> None:
    sql = "SELECT COUNT(*) FROM t WHERE age >= 30 AND sex = 'F'"
    document = json.loads(run("query", "release", sql, "--original", "patients.csv", "--json").stdout)
    table = dc.read("patients.csv", quasi=["age", "sex", "zip"], sensitive="disease")
    release = load("release")
    assert document["estimate"] == pytest.approx(release.estimate(sql))
    assert document["exact"] == release.query(sql).count(table)
    assert document["rows"] == {"published": 48, "withheld": 0}
    assert document["query"] == sql


def test_the_command_refuses_in_one_sentence(people: Path) -> None:
    for words, said in (
        (("nowhere", "SELECT COUNT(*) FROM t"), "nowhere"),
        (("release", "SELECT COUNT(*) FROM t WHERE agee > 3"), "did you mean 'age'?"),
        (("release", "SELECT COUNT(*) FROM t WHERE sex > 'F'"), "'sex' has no order"),
        (("release", "SELECT COUNT(*) FROM t", "--original", "gone.csv"), "gone.csv"),
        (("release",), "SQL"),
    ):
        result = run("query", *words, code=2)
        assert result.stdout == ""
        assert said in result.stderr and len(result.stderr.strip().splitlines()) == 1


def test_the_command_mentions_values_that_the_release_does_not_list(people: Path) -> None:
    result = run("query", "release", "SELECT COUNT(*) FROM t WHERE sex = 'Female'")
    assert "About 0 of 48" in result.stdout
    assert "column 'sex' has no value 'Female'" in result.stderr


# -------------------------------------------------------------------------------------------------------------- notes


EXCHANGED = "no value lies in the range that is asked for in column 'age'; give its lower end first"
NOWHERE = "column 'age' lies between 16 and 79 in the release, where no value satisfies the condition"


@pytest.mark.parametrize(
    ("condition", "note"),
    [
        ("age > 200", NOWHERE),
        ("age BETWEEN 80 AND 90", NOWHERE),
        ("age IN (3, 4)", NOWHERE),
        ("age < 16", NOWHERE),
        ("age BETWEEN 40 AND 30", EXCHANGED),
        ("disease = 'headachee'", "column 'disease' has no value 'headachee'; did you mean 'headache'?"),
        ("age >= 74", None),
        ("age IN (3, 30)", None),
        ("age BETWEEN 0 AND 200", None),
    ],
)
def test_a_count_outside_the_domain_is_noted(condition: str, note: str | None, tmp_path: Path) -> None:
    release = dc.publish(patients(), dc.KAnonymity(4))
    sql = f"SELECT COUNT(*) FROM t WHERE {condition}"
    found = release.estimate(sql)
    assert isinstance(found, float) and found.notes == (() if note is None else (note,))
    assert found == 0.0 or note is None
    grouped = release.group_by(f"SELECT sex, COUNT(*) FROM t WHERE {condition} GROUP BY sex")
    assert (grouped.schema.metadata or {}).get(b"notes", b"").decode() == (note or "")
    release.save(tmp_path / "release")
    done = run("query", str(tmp_path / "release"), sql)
    told = [line for line in done.stderr.splitlines() if line.startswith("Note: ")]
    assert told == ([] if note is None else [f"Note: {note}" if note.endswith("?") else f"Note: {note}."])


def test_dates_outside_the_domain_are_noted_as_dates() -> None:
    days = pa.array(range(0, 400, 100), pa.date32())
    table = dc.read(pa.table({"born": days, "ill": list("abab")}), quasi=["born"], sensitive="ill")
    found = dc.publish(table, dc.KAnonymity(2), "cuts(snap=false)").estimate(
        "SELECT COUNT(*) FROM t WHERE born > '1999-12-31'"
    )
    assert found == 0.0 and "'born' lies between 1970-01-01 and 1970-10-28 in the release" in found.notes[0]


def test_a_range_of_a_second_sensitive_attribute_in_the_order_that_is_published() -> None:
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(0, 9, 60),
        "ill": rng.choice(["x", "y", "z"], 60),
        "pay": rng.choice(["low", "top"], 60),
    }
    columns["pay"][:20] = "mid"
    table = dc.read(pa.table(columns), quasi=["age"], sensitive=["ill", "pay"], ordinal={"pay": ["low", "mid", "top"]})
    release = dc.publish(table, "l-diversity(l=2)")
    assert release.estimate("SELECT COUNT(*) FROM t WHERE pay >= 'mid'") == (columns["pay"] != "low").sum()
