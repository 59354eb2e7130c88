"""Counts by group: their SQL, every format against single counts, exact counts, the command, and the workload."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.analyst import grouped_workload
from discreet.analyst.grouped_workload import SELECTIVITIES, cells_of, group_by_workload
from discreet.datasets import HETEROGENEOUS_QUASI, census, patients
from discreet.errors import DiscreetError
from discreet.families.ambiguity.release import AmbiguousRelease
from discreet.principles import KAnonymity
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.table import grouping
from discreet.table.grouping import GroupBy
from discreet.table.query import OneOf, Query, Range
from discreet.table.sql import has_groups, parse_group_by
from discreet.table.table import Column, Kind, Table
from support.command import run
from support.effort import growth
from support.releases import publish, random_groups, random_table
from support.tables import tables

KINDS: dict[str, Kind] = {"age": "numeric", "sex": "categorical", "work-class": "categorical", "count": "numeric"}

# ---------------------------------------------------------------------------------------------------------------- SQL


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "SELECT sex, age, COUNT(*) FROM t WHERE age < 30 GROUP BY sex, age",
            GroupBy(("sex", "age"), Query(Range("age", None, 30.0, high_open=True))),
        ),
        (
            'select count(*) as n, "work-class" w, t.SEX from t group by (sex), `Work-Class`',
            GroupBy(("sex", "work-class"), shown=((None, "n"), ("work-class", "w"), ("sex", "sex"))),
        ),
        (
            "SELECT count, COUNT(*) AS n FROM t GROUP BY count",
            GroupBy(("count",), shown=(("count", "count"), (None, "n"))),
        ),
        ("SELECT COUNT(*) FROM t WHERE sex = 'f'", GroupBy((), Query(OneOf("sex", "f")))),
    ],
)
def test_sql_is_read(text: str, wanted: GroupBy) -> None:
    assert parse_group_by(text, KINDS) == wanted
    assert has_groups(text) == bool(wanted.attributes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT sexx, COUNT(*) FROM t GROUP BY sexx", "no column 'sexx' in the release; did you mean 'sex'?"),
        ("SELECT sex, COUNT(*) FROM t GROUP BY sex, age", "'age' is in GROUP BY but not selected"),
        ("SELECT sex, age, COUNT(*) FROM t GROUP BY sex", "'age' is selected but not in GROUP BY"),
        ("SELECT sex, COUNT(*) FROM t", "'sex' is selected but not in GROUP BY"),
        ("SELECT sex FROM t GROUP BY sex", "does not select COUNT(*)"),
        ("SELECT sex, COUNT(*), COUNT(*) FROM t GROUP BY sex", "selects COUNT(*) twice"),
        ("SELECT sex, sex, COUNT(*) FROM t GROUP BY sex", "selects sex twice"),
        ("SELECT sex, COUNT(*) FROM t GROUP BY sex, sex", "grouped by 'sex' twice"),
        ("SELECT count, COUNT(*) FROM t GROUP BY count", "two columns of the answer are called 'count'"),
        ("SELECT *, COUNT(*) FROM t GROUP BY sex", "only columns and COUNT(*)"),
        ("SELECT t.*, COUNT(*) FROM t GROUP BY sex", "only columns and COUNT(*)"),
        ("SELECT 1, COUNT(*) FROM t GROUP BY sex", "only columns and COUNT(*)"),
        ("SELECT sex, AVG(age), COUNT(*) FROM t GROUP BY sex", "AVG('age') and COUNT(*); ask for one of them"),
        ("SELECT age + 1, COUNT(*) FROM t GROUP BY age + 1", "arithmetic such as 'age + 1'"),
        ("SELECT work-class, COUNT(*) FROM t GROUP BY work-class", 'in double quotes: "work-class"'),
        ("SELECT sex, COUNT(*) FROM t GROUP BY 1", "GROUP BY '1'; name the columns"),
        ("SELECT sex, COUNT(*) FROM t GROUP BY ALL", "GROUP BY with ALL"),
        ("SELECT sex, COUNT(*) FROM t GROUP BY ROLLUP (sex)", "GROUP BY 'ROLLUP (sex)'"),
        ("SELECT sex, COUNT(*) FROM t GROUP BY (sex, age)", "GROUP BY '(sex, age)'"),
        ("SELECT sex, COUNT(*) FROM t GROUP BY sex HAVING COUNT(*) > 1", "HAVING"),
        ("SELECT sex, COUNT(*) FROM t GROUP BY sex ORDER BY 2", "ORDER BY"),
        ("SELECT sex, COUNT(*) FROM t GROUP BY sex LIMIT 2", "LIMIT"),
        ("SELECT DISTINCT sex, COUNT(*) FROM t GROUP BY sex", "DISTINCT"),
        ("SELECT sex, COUNT(*) GROUP BY sex", "names no table"),
        ("SELECT sex, COUNT(*) FROM t WHERE age = 1 OR age = 2 GROUP BY sex", "may not have OR"),
    ],
)
def test_sql_that_is_no_count_by_group_is_refused(text: str, said: str) -> None:
    with pytest.raises(DiscreetError) as fault:
        parse_group_by(text, KINDS)
    assert said in str(fault.value)
    assert "\n" not in str(fault.value)


@given(st.text(alphabet="SELECT count(*)from group by'\"`[];age=1-%/\n,sex", max_size=50))
@settings(max_examples=100)
def test_no_text_brings_the_reader_down(text: str) -> None:
    for tried in (text, f"SELECT sex, COUNT(*) FROM t GROUP BY {text}", f"SELECT {text} FROM t GROUP BY sex"):
        try:
            parse_group_by(tried, KINDS)
        except DiscreetError as fault:
            assert str(fault)


# ---------------------------------------------------------------------------------------------------------- estimates


def test_groups_of_equal_rows_give_exact_counts() -> None:
    table = patients()
    release = dc.publish(table, KAnonymity(1), "cuts(snap=false)")
    asked = release.grouping("SELECT sex, zip, COUNT(*) FROM t WHERE age < 40 GROUP BY sex, zip")
    found, exact = (
        {(line["sex"], line["zip"]): line["count"] for line in told.to_pylist()}
        for told in (release.group_by(asked), asked.count(table))
    )
    assert found == pytest.approx(exact)
    assert sum(exact.values()) == Query(Range("age", None, 40, high_open=True)).count(table)


def formats(table: Table, rng: np.random.Generator) -> list[Any]:
    """The table in every format in which rows may lie in any groups."""
    groups = random_groups(rng, table)
    made: list[Any] = [publish(table, groups), publish(table, groups, values="set")]
    if table.sensitive_attribute is not None:
        made.append(AnatomyRelease.from_groups(table, groups, promise=KAnonymity(1), scheme="by-hand"))
        plain = Table(table.rows, table.quasi, table.sensitive_attribute)
        made.append(AmbiguousRelease.from_groups(plain, groups, promise=KAnonymity(1), scheme="by-hand"))
    return made


@pytest.mark.slow
@given(
    kind=st.sampled_from(["categorical", "numeric", "ordinal", "none"]),
    rows=st.integers(2, 30),
    seed=st.integers(0, 2**20),
)
@settings(max_examples=15)
def test_every_cell_of_every_format_is_a_count_of_its_own(kind: str, rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, rows, kind)
    for release in formats(table, rng):
        names = [one.name for one in release.attributes if one.name != "weight, kg"]
        chosen = tuple(rng.permutation(names)[: int(rng.integers(1, 3))].tolist())
        query = Query((Range("age", 21, 35),) if rng.random() < 0.7 else ())
        asked = GroupBy(chosen, query)
        told = release.group_by(asked)
        *columns, counts = (told.column(heading).to_pylist() for _, heading in asked.shown)
        assert all(count != 0 for count in counts)
        cells = list(zip(*columns, strict=True))
        assert len(set(cells)) == len(cells)
        kinds = {one.name: one.kind for one in release.attributes}
        lacking = {"numeric": None, "ordinal": "(missing)", "categorical": ()}
        for cell, count in zip(cells, counts, strict=True):
            own = tuple(
                OneOf(name, (value,))
                for name, value in zip(chosen, cell, strict=True)
                if value != lacking[kinds[name]]  # which no condition asks for: the last line is about these
            )
            if len(own) == len(chosen):
                assert release.estimate(Query((*query.conditions, *own))) == pytest.approx(count)
        assert sum(counts) == pytest.approx(release.estimate(query))


def test_a_perturbed_release_is_grouped_too() -> None:
    table = census(2_000)
    release = dc.publish(table, dc.BetaLikeness(2), dc.Perturbation(random_state=1))
    told = release.group_by("SELECT gender, salary, COUNT(*) FROM t GROUP BY gender, salary")
    assert sum(told["count"].to_pylist()) == pytest.approx(2_000)
    exact = GroupBy(("gender",)).count(table)
    assert release.group_by(GroupBy(("gender",))).to_pylist() == exact.to_pylist()


def test_numbers_that_are_not_whole_cannot_be_cells_of_boxes_but_of_published_values() -> None:
    table = random_table(np.random.default_rng(0), 30)
    boxes, *_, sets = formats(table, np.random.default_rng(1))
    with pytest.raises(DiscreetError, match=r"numbers that are not whole.*ask for single counts"):
        boxes.group_by(GroupBy(("weight, kg",)))
    assert len(sets.group_by(GroupBy(("weight, kg",)))) > 1


def test_too_many_cells_are_refused_before_any_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    table = census(1_000, quasi=HETEROGENEOUS_QUASI)
    release = dc.publish(table, KAnonymity(5))
    with pytest.raises(DiscreetError) as fault:
        release.group_by(GroupBy(HETEROGENEOUS_QUASI))
    assert "'age' (79), 'gender' (2)" in str(fault.value) and "cells, more than 1,000,000; group by" in str(fault.value)
    monkeypatch.setattr(grouping, "MOST_CELLS", 10)
    few = release.group_by("SELECT age, COUNT(*) FROM t WHERE age BETWEEN 30 AND 39 GROUP BY age")
    assert set(few["age"].to_pylist()) <= set(range(30, 40))
    wide = Column("income", "numeric", np.array([0, 1, 2], np.int32), np.array([0, 1, 5_000_000]))
    with pytest.raises(DiscreetError, match="any whole number from 0 to 5000000"):
        publish(Table(3, (wide,), None), [0, 0, 0]).group_by(GroupBy(("income",)))


def test_conditions_that_a_release_cannot_answer_are_refused() -> None:
    codes = np.array([0, 1, 0], np.int32)
    size = Column("size", "ordinal", codes, np.array(["small", "large"], object))
    kept = Column("kept", "ordinal", codes, size.values)
    release = publish(Table(3, (size,), None, (kept,)), [0, 0, 0])
    with pytest.raises(DiscreetError, match="order of the values of column 'kept' is not published"):
        release.group_by(GroupBy(("kept",), Query(Range("kept", "small"))))
    assert release.group_by(GroupBy(("kept",))).to_pydict() == {"kept": ["large", "small"], "count": [1.0, 2.0]}


def test_columns_that_are_not_there_are_refused() -> None:
    table = patients()
    for ask in (dc.publish(table, KAnonymity(4)).group_by, lambda counts: counts.count(table)):
        with pytest.raises(DiscreetError, match="no column 'sexx' in the"):
            ask(GroupBy(("sexx",)))
    assert GroupBy("sex") == GroupBy(["sex"]) == GroupBy(("sex",))  # type: ignore[arg-type]
    with pytest.raises(DiscreetError, match="grouped by 'sex' twice"):
        GroupBy(("sex", "sex"))


# -------------------------------------------------------------------------------------------------------------- exact


@given(table=tables(missing=False), seed=st.integers(0, 2**20))
@settings(max_examples=20)
def test_exact_counts_by_group_are_those_of_looking_at_every_row(table: Table, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [column.name for column in table.columns]
    chosen = tuple(rng.permutation(names)[: int(rng.integers(1, 4))].tolist())
    told = GroupBy(chosen).count(table)
    by_hand: dict[tuple[Any, ...], int] = {}
    for row in range(table.rows):
        cell = tuple(table.column(name).values[table.column(name).codes[row]] for name in chosen)
        by_hand[cell] = by_hand.get(cell, 0) + 1
    *columns, counts = (told.column(heading).to_pylist() for heading in [*chosen, "count"])
    assert dict(zip(zip(*columns, strict=True), counts, strict=True)) == by_hand


def test_rows_that_lack_a_value_are_a_cell_of_their_own_unless_they_are_unusable() -> None:
    age = Column("age", "numeric", np.array([0, 1, 1], np.int32), np.array([np.nan, 20.0]), missing=0)
    assert GroupBy(("age",)).count(Table(3, (age,), None)).to_pydict() == {"age": [None, 20], "count": [1, 2]}
    unknown = Column("age", "numeric", np.array([0, 0, 0], np.int32), np.array([20.0]))
    table = Table(3, (unknown,), None, unusable=np.array([1]))
    assert GroupBy(("age",)).count(table).to_pydict() == {"age": [20], "count": [2]}
    assert GroupBy(()).count(table).to_pydict() == {"count": [3]}


# ------------------------------------------------------------------------------------------------------------ command


@pytest.fixture
def people(people: Path) -> Path:
    dc.publish(dc.read("patients.csv", quasi=["age", "sex", "zip"], sensitive="disease"), KAnonymity(4)).save("release")
    return people


SQL = "SELECT disease, sex, COUNT(*) AS people FROM t WHERE age < 45 GROUP BY disease, sex"


def test_the_command_prints_a_line_per_cell(people: Path) -> None:
    lines = run("query", "release", SQL).stdout.splitlines()
    assert lines[0].split() == ["disease", "sex", "people"]
    assert len(lines) == 1 + len(dc.load("release").group_by(SQL))
    shown = run("query", "release", SQL, "--original", "patients.csv").stdout
    assert shown.splitlines()[0].split() == ["disease", "sex", "people", "exactly"]
    assert "Mean relative error over the" in shown


def test_the_command_prints_json(people: Path) -> None:
    document = json.loads(run("query", "release", SQL, "--original", "patients.csv", "--json").stdout)
    exact = {(one["values"]["disease"], one["values"]["sex"]): one["exact"] for one in document["cells"]}
    table = dc.read("patients.csv", quasi=["age", "sex", "zip"], sensitive="disease")
    release = dc.load("release")
    truth = release.grouping(SQL).count(table).to_pylist()
    assert {cell: count for cell, count in exact.items() if count} == {
        (line["disease"], line["sex"]): line["people"] for line in truth
    }
    assert sum(one["estimate"] for one in document["cells"]) == pytest.approx(
        release.estimate("SELECT COUNT(*) FROM t WHERE age < 45")
    )
    assert document["mean_relative_error"] >= 0 and document["rows"] == {"published": 48, "withheld": 0}


def test_the_command_refuses_in_one_sentence(people: Path) -> None:
    result = run("query", "release", "SELECT sex, COUNT(*) FROM t GROUP BY sex, zip", code=2)
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) == 1 and "'zip' is in GROUP BY but not selected" in result.stderr


# ----------------------------------------------------------------------------------------------------------- workload


@pytest.mark.parametrize("selectivity", SELECTIVITIES.values())
@pytest.mark.parametrize("sensitive", ["salary", "occupation"])
def test_the_condition_is_as_selective_as_values_allow(selectivity: float, sensitive: str) -> None:
    table = census(5_000, quasi=HETEROGENEOUS_QUASI, sensitive=sensitive)
    asked = group_by_workload(table, dimensions=3, selectivity=selectivity, number=30)
    shares = np.array([one.query.count(table) / table.rows for one in asked])
    assert (np.abs(np.log(shares / selectivity)) <= np.log(grouped_workload.TOLERANCE) + 1e-9).all()
    assert all(len(one.attributes) == 3 and sensitive not in one.attributes for one in asked)
    assert len({one.query for one in asked}) > 3
    assert asked == group_by_workload(table, dimensions=3, selectivity=selectivity, number=30)


def test_where_no_value_is_rare_enough_the_nearest_is_taken() -> None:
    sick = Column("sick", "ordinal", np.array([0] * 7 + [1] * 3, np.int32), np.array(["no", "yes"], object))
    age = Column("age", "numeric", np.arange(10, dtype=np.int32), np.arange(10))
    (asked,) = group_by_workload(Table(10, (age,), sick), selectivity=0.01, number=1)
    assert asked.query == Query(OneOf("sick", "yes"))


@pytest.mark.parametrize("seed", range(20))
def test_runs_are_those_of_trying_every_end(seed: int) -> None:
    """Values of which some do not occur, in few rows or in many, from any of which a run may begin."""
    rng = np.random.default_rng(seed)
    size, rows = int(rng.integers(1, 60)), int(rng.integers(1, 300))
    codes = rng.integers(0, size, rows).astype(np.int32)
    table = Table(rows, (), Column("pay", "numeric", codes, np.arange(size), missing=0 if seed % 2 else None))
    counts = np.bincount(codes, minlength=size)
    counts[0] *= 1 - seed % 2
    if not counts.any():
        return
    selectivity = float(rng.choice([0.013, 0.047, 0.11, 0.53]))
    best = {}
    for first in np.flatnonzero(counts).tolist():
        ends = range(first + 1, size + 1)
        off = [abs(np.log(counts[first:end].sum() / rows / selectivity)) for end in ends]
        least = next(at for at in range(len(off)) if off[at] <= min(off) + 1e-12)
        best[first] = (off[least], ends[least])
    near = [(first, end) for first, (off, end) in best.items() if off <= np.log(grouped_workload.TOLERANCE)]
    wanted = near or [min((off, first, end) for first, (off, end) in best.items())[1:]]
    assert grouped_workload._runs(table.sensitive[0], selectivity) == wanted


def test_rows_without_a_value_are_asked_for_by_no_query() -> None:
    """A fifth of the numbers is missing, and no condition is satisfied by these, nor is a share made up of them."""
    codes = np.array([0] * 200 + [1] * 180 + [2] * 620, np.int32)
    pay = Column("pay", "numeric", codes, np.array([np.nan, 1.0, 2.0]), missing=0)
    age = Column("age", "numeric", np.arange(1000, dtype=np.int32) % 7, np.arange(7))
    asked = group_by_workload(Table(1000, (age,), pay), selectivity=0.2, number=30)
    assert {one.query for one in asked} == {Query(OneOf("pay", (1.0,)))}


@pytest.mark.slow
def test_many_different_values_take_no_more_time_than_sorting_them() -> None:
    """Trying every end of every run would look at 2 * 10^10 shares."""

    def runs(number: int) -> None:
        pay = Column("pay", "numeric", np.arange(number, dtype=np.int32), np.arange(number))
        assert len(grouped_workload._runs(pay, 0.05)) > number * 0.9

    assert growth(lambda: runs(10_000), lambda: runs(200_000)) < 100


def test_cells_are_those_with_rows_which_are_all_counted() -> None:
    table = census(2_000, quasi=HETEROGENEOUS_QUASI)
    asked = group_by_workload(table, dimensions=2, number=4)
    cells = cells_of(table, asked)
    assert cells.exact.tolist() == [query.count(table) for query in cells.queries]
    assert (cells.exact > 0).all()
    assert np.bincount(cells.of, cells.exact).tolist() == [one.query.count(table) for one in asked]
    some = cells_of(table, asked, most=7)
    assert np.bincount(some.of).max() <= 7
    assert set(map(repr, some.queries)) <= set(map(repr, cells.queries))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"dimensions": 0}, "grouped by 0 of the 3"),
        ({"dimensions": 4}, "choose a number from 1 to 3"),
        ({"selectivity": 0.0}, "selectivity must lie between 0 and 1"),
        ({"number": 0}, "at least one query"),
    ],
)
def test_workloads_that_make_no_sense_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(DiscreetError) as fault:
        group_by_workload(patients(), **given)
    assert said in str(fault.value)


def test_a_table_without_a_sensitive_attribute_has_no_such_workload() -> None:
    with pytest.raises(DiscreetError, match="condition on the sensitive attribute"):
        group_by_workload(census(100, sensitive=None))


# ------------------------------------------------------------------------------------------------------------ missing


SCHEMES = {
    "mondrian": "k-anonymity(k=2)",
    "anatomy": "l-diversity(l=2)",
    "lifting": "beta-likeness(beta=2)",
    "perturbation": "beta-likeness(beta=2)",
    "ambiguity": "alpha-beta(alpha=0.9, beta=0.9)",
    "heterogeneous": "l-diversity(l=2)",
}
"""A scheme for the formats that differ in how they estimate."""


def lacking_some() -> Table:
    """People some of whom have no age, and some no grade, among whom counts by age must not lose anyone."""
    ages = [None if at % 5 == 0 else 20 + at % 4 for at in range(60)]
    grades = [None if at % 7 == 0 else "abc"[at % 3] for at in range(60)]
    columns = {"age": ages, "grade": grades, "sex": ["f", "m"] * 30, "ill": ["flu", "cold", "cough"] * 20}
    people = pa.table(columns)
    return dc.read(people, quasi=["age", "grade", "sex"], sensitive="ill", ordinal=["grade"], missing="value")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_rows_without_a_number_are_a_line_of_their_own(scheme: str) -> None:
    table = lacking_some()
    release = dc.publish(table, SCHEMES[scheme], scheme, most_withheld=1)
    for names in (["age"], ["grade"], ["sex", "age", "grade"], ["ill", "age"]):
        asked = GroupBy(tuple(names))
        found = {tuple(line[name] for name in names): line["count"] for line in release.group_by(asked).to_pylist()}
        assert sum(found.values()) == pytest.approx(release.rows)
        assert any(None in cell or "(missing)" in cell for cell in found)
        exact = asked.count(table)
        assert sum(exact.column("count").to_pylist()) == table.rows
        if scheme == "anatomy" and "ill" not in names and not release.withheld:  # quasi-identifiers as they are
            assert found == {tuple(line[name] for name in names): line["count"] for line in exact.to_pylist()}


def test_missing_numbers_are_exactly_those_that_no_condition_admits(tmp_path: Path) -> None:
    table = lacking_some()
    assert GroupBy(("age",)).count(table).to_pydict() == {"age": [None, 20, 21, 22, 23], "count": [12] * 5}
    release = dc.publish(table, KAnonymity(1), "mondrian")
    assert release.group_by("SELECT age, COUNT(*) FROM t GROUP BY age").to_pydict() == {
        "age": [None, 20, 21, 22, 23],
        "count": [12.0] * 5,
    }
    above = release.group_by("SELECT age, COUNT(*) FROM t WHERE age >= 20 GROUP BY age")
    assert above.column("age").to_pylist() == [20, 21, 22, 23]
    release.save(tmp_path / "release")
    told = run("query", str(tmp_path / "release"), "SELECT age, COUNT(*) FROM t GROUP BY age").stdout
    assert told.splitlines()[1].split() == ["(missing)", "12"]
    told = run("query", str(tmp_path / "release"), "SELECT age, COUNT(*) FROM t GROUP BY age", "--json").stdout
    document = json.loads(told)
    assert document["cells"][0] == {"values": {"age": None}, "estimate": 12.0}


def test_missing_dates_are_null() -> None:
    days = pa.array([None, 1, 1, 2], pa.date32())
    table = dc.read(pa.table({"day": days, "ill": list("abab")}), quasi=["day"], sensitive="ill", missing="value")
    release = dc.publish(table, KAnonymity(1), "cuts(snap=false)")
    assert release.group_by(GroupBy("day")).to_pydict() == {
        "day": [None, "1970-01-02", "1970-01-03"],
        "count": [1.0, 2.0, 1.0],
    }
