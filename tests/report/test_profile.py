"""Profiles: the numbers against a count by hand, and the command around them."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from discreet.command.main import main
from discreet.datasets import census_arrow, patients, patients_arrow
from discreet.principles import Prior, Proximity, parse
from discreet.report.profile import combination_sizes, profile, uniqueness
from discreet.report.roles import describe, suggest
from discreet.table.read import read
from discreet.table.table import Column
from discreet.table.write import write_table


def run(*words: str) -> str:
    result = CliRunner().invoke(main, ["profile", *words])
    assert result.exit_code == 0, result.output
    return result.stdout


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=40))
def test_combinations_are_counted_as_by_hand(rows: list[tuple[int, ...]]) -> None:
    columns = [
        Column(name, "numeric", np.array([row[at] for row in rows], np.int32), np.arange(4))
        for at, name in enumerate("abc")
    ]
    counted = Counter(rows)
    whole, *without = uniqueness(columns)
    assert sorted(combination_sizes(columns).tolist()) == sorted(counted.values())
    assert (whole.combinations, whole.smallest) == (len(counted), min(counted.values()))
    assert whole.unique == sum(size == 1 for size in counted.values())
    assert whole.median == median(counted.values())
    for at, one in enumerate(without):
        rest = Counter(tuple(cell for place, cell in enumerate(row) if place != at) for row in rows)
        assert one.dropped == "abc"[at] and one.unique == sum(size == 1 for size in rest.values())


def test_more_combinations_than_a_number_holds() -> None:
    codes = np.arange(50, dtype=np.int32)
    columns = [Column(str(at), "numeric", codes, np.arange(1 << 20)) for at in range(8)]
    assert combination_sizes(columns).tolist() == [1] * 50


def test_a_column_in_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,city\n30,Bath\n,Bath\n7,\n30,York\n")
    table = read(tmp_path / "t.csv", quasi=["age", "city"], missing="value")
    age, city = (describe(column) for column in table.columns)
    assert (age.kind, age.distinct, age.missing, age.low, age.high) == ("numeric", 2, 1, "7", "30")
    assert (age.top[0].value, age.top[0].rows, age.top[0].share) == ("30", 2, 0.5)
    assert (city.kind, city.distinct, city.missing, city.low) == ("categorical", 2, 1, None)
    assert city.top[0].value == "Bath" and city.rarest.rows == 1


def test_what_can_be_promised_without_a_sensitive_attribute() -> None:
    told = profile(patients(sensitive=None))
    assert [one.promise for one in told.reachable] == ["k-anonymity(k=5)"]


def test_every_promise_that_is_called_reachable_is_feasible() -> None:
    told = profile(patients())
    assert all(one.feasible for one in told.reachable)
    assert "l can be up to" in next(one.sentence for one in told.reachable if one.promise.startswith("l-div"))


def test_roles_are_guessed_from_names_and_values() -> None:
    table = read(patients_arrow(), quasi=["name", "age", "sex", "zip", "weight", "disease"])
    roles = suggest([describe(column) for column in table.columns], table.rows)
    assert roles.identifiers == ("name",) and roles.sensitive == "disease"
    assert roles.quasi == ("age", "sex", "zip", "weight")


def test_profile_shows_what_matters(people: Path) -> None:
    shown = run("patients.csv", "--quasi", "age,sex", "--sensitive", "disease")
    assert "48 rows" in shown and "left out" in shown
    assert "heart murmur" in shown and "l can be up to" in shown
    assert "discreet publish patients.csv -o release --quasi age,sex --sensitive disease" in shown


def test_profile_as_json(people: Path) -> None:
    document = json.loads(run("patients.csv", "--quasi", "age,sex", "--sensitive", "disease", "--json"))
    assert document["rows"] == 48 and [one["role"] for one in document["columns"]] == ["quasi", "quasi", "sensitive"]
    assert [one["dropped"] for one in document["uniqueness"]] == [None, "age", "sex"]
    assert document["reachable"][0]["feasible"] is True


def test_without_roles_they_are_suggested_and_the_suggestion_works(people: Path) -> None:
    assert "suggested by the names" in run("patients.csv")
    document = json.loads(run("patients.csv", "--json"))
    assert document["suggested_roles"]["identifiers"] == ["name"] and document["uniqueness"] == []
    result = CliRunner().invoke(main, shlex.split(document["suggested_command"])[1:])
    assert result.exit_code == 0, result.output


def test_a_suggested_command_repeats_what_was_said(tmp_path: Path) -> None:
    path = tmp_path / "census of 1994.csv"
    path.write_text(
        "age;state;pay\n" + "".join(f"{20 + at % 30};{at % 3};{1000 * (at % 4)}\n" for at in range(60)) + ";1;0\n"
    )
    words = ["--quasi", "age,state", "--sensitive", "pay", "--categorical", "state", "--delimiter", ";", "--json"]
    command = json.loads(run(str(path), *words))["suggested_command"]
    assert "--missing value" in command and "--categorical state" in command and "--delimiter ';'" in command
    release = str(tmp_path / "release")
    result = CliRunner().invoke(main, [*shlex.split(command)[1:], "-o", release])
    assert result.exit_code == 0, result.output


def test_a_wide_sensitive_attribute_gets_a_promise_that_leaves_room(tmp_path: Path) -> None:
    write_table(census_arrow(500), tmp_path / "census.csv")
    words = ["--quasi", "age,gender", "--sensitive", "income", "--json"]
    command = json.loads(run(str(tmp_path / "census.csv"), *words))["suggested_command"]
    assert "t-closeness(t=0.2, distance=ordered)" in command


def test_what_proximity_can_reach_is_told_for_numbers(tmp_path: Path) -> None:
    write_table(census_arrow(500), tmp_path / "census.csv")
    words = ["--quasi", "age,gender", "--sensitive", "income"]
    document = json.loads(run(str(tmp_path / "census.csv"), *words, "--json"))
    near = [one for one in document["reachable"] if one["promise"].startswith("proximity")]
    assert len(near) == 2 and "neighbourhood=relative" in near[1]["promise"]
    table = read(tmp_path / "census.csv", quasi=["age", "gender"], sensitive="income")
    for one in near:
        promise = parse(one["promise"])
        assert isinstance(promise, Proximity) and promise.m == 5 and promise.epsilon > 0
        assert one["feasible"] and promise.reachable(Prior.of(table)).feasible
        assert one["promise"] in one["sentence"] and "With m=5, epsilon can be anything below" in one["sentence"]
    assert near[0]["promise"] in run(str(tmp_path / "census.csv"), *words)


@pytest.mark.parametrize("pay", [[0] * 9 + [5], [7] * 10])
def test_numbers_that_proximity_cannot_help(pay: list[int]) -> None:
    table = read(pa.table({"age": range(10), "pay": pay}), quasi=["age"], sensitive="pay", numeric=["pay"])
    (near,) = (one for one in profile(table).reachable if one.promise.startswith("proximity"))
    assert not near.feasible and "m can be at most 1, which promises nothing" in near.sentence
    assert not any(one.promise.startswith("proximity") for one in profile(patients()).reachable)
