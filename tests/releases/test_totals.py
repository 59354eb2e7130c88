"""Sums and means follow from counts, in every format, and their bounds hold whatever the truth is."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.csv import write_csv

import discreet as dc
from discreet.analyst.answers import answers
from discreet.datasets import census, patients
from discreet.errors import DiscreetError
from discreet.releases import totals
from support.command import run
from support.formats import MAKERS, published_as

SURVEY = "SELECT SUM(weight) FROM t WHERE disease = 'flu'"
EXACT = dc.Cuts(descriptions="exact")


def people(seed: int, number: int = 60) -> pa.Table:
    """Made up persons, some of whose weights and wages are missing."""
    chance = np.random.default_rng(seed)
    wages = [None if chance.random() < 0.1 else float(wage) for wage in chance.integers(-3, 9, number)]
    weights = [None if chance.random() < 0.1 else float(w) / 4 for w in chance.integers(-8, 30, number)]
    return pa.table(
        {"weight": weights, "wage": wages, "sex": chance.choice(["f", "m"], number), "s": list("pqrst") * (number // 5)}
    )


# ---------------------------------------------------------------------------------------------------------- estimates


@pytest.mark.parametrize("format", MAKERS)
def test_a_sum_is_that_of_the_counts_of_all_numbers(format: str) -> None:
    table = census(300)
    release = published_as(format, table)
    name = release.quasi[0].name
    counts = release.group_by(dc.GroupBy((name,), dc.Query(dc.OneOf("gender", "Female"))))
    expected = np.asarray(counts[name]) @ np.asarray(counts["count"])
    added = release.estimate(f"SELECT SUM({name}) FROM t WHERE gender = 'Female'")
    assert added == pytest.approx(expected, rel=1e-9)
    mean = release.estimate(f"SELECT AVG({name}) FROM t WHERE gender = 'Female'")
    assert mean == pytest.approx(expected / np.asarray(counts["count"]).sum(), rel=1e-9)


def test_rows_are_spread_evenly_over_their_boxes() -> None:
    table = census(400)
    release = dc.publish(table, "k-anonymity(k=7)", "mondrian(snap=false, marginals=none)")
    lows, highs = (release.to_arrow()[f"age_{end}"].to_numpy() for end in ("lo", "hi"))
    women = np.array(release.to_arrow()["gender"].to_pylist(), object)
    numbers = [np.arange(low, high + 1) for low, high in zip(lows, highs, strict=True)]
    by_hand = sum(
        each[each >= 30].sum() / len(each) * {"Female": 1.0, "Male": 0.0}.get(str(sex), 0.5)
        for each, sex in zip(numbers, women, strict=True)
    )
    assert release.estimate("SELECT SUM(age) FROM t WHERE age >= 30 AND gender = 'Female'") == pytest.approx(by_hand)


def test_exact_rows_give_exact_sums_and_means_of_quasi_identifiers() -> None:
    table = census(500)
    release = dc.publish(table, dc.BetaLikeness(2), EXACT)
    for sql in ("SELECT SUM(age) FROM t", "SELECT AVG(age) FROM t WHERE education >= 10 AND gender = 'Male'"):
        asked = release.question(sql)
        assert isinstance(asked, dc.Total)
        assert release.estimate(sql) == pytest.approx(asked.of(table), rel=1e-12)
    released = release.group_by("SELECT gender, SUM(age) AS years FROM t GROUP BY gender")
    exact = release.grouping("SELECT gender, SUM(age) AS years FROM t GROUP BY gender").count(table)
    assert released.to_pydict() == exact.to_pydict()


def test_counts_sums_and_means_are_answered_together() -> None:
    release = dc.publish(patients(), dc.BetaLikeness(2), EXACT)
    asked = ["SELECT AVG(age) FROM t", "SELECT COUNT(*) FROM t", dc.Total("age"), dc.Total("age", dc.Query())]
    assert release.estimates(asked).tolist() == [2333.0 / 48.0, 48.0, 2333.0, 2333.0]
    mean, count, added, _ = answers(release, asked)
    assert (mean.least, mean.most) == (None, None)
    assert (count.least, count.most) == (48.0, 48.0)
    assert (added.least, added.most) == (2333.0, 2333.0)


def test_the_mean_of_no_rows_is_no_number() -> None:
    release = dc.publish(patients(), dc.BetaLikeness(2), EXACT)
    assert math.isnan(release.estimate("SELECT AVG(age) FROM t WHERE age > 500"))
    assert release.estimate("SELECT SUM(age) FROM t WHERE age > 500") == 0.0


def test_columns_with_more_numbers_than_steps_keep_their_sum() -> None:
    chance = np.random.default_rng(5)
    weights = np.round(chance.gamma(2.0, 300.0, 2000), 2)
    data = pa.table({"weight": weights, "sex": chance.choice(["f", "m"], 2000), "s": list("pqrst") * 400})
    table = dc.read(data, quasi=["weight", "sex"], sensitive="s")
    release = dc.publish(table, dc.BetaLikeness(1), EXACT)
    assert len(np.unique(weights)) > totals.MOST
    assert release.estimate("SELECT SUM(weight) FROM t") == pytest.approx(weights.sum(), rel=1e-12)
    asked = release.question("SELECT SUM(weight) FROM t WHERE sex = 'f'")
    assert isinstance(asked, dc.Total)
    assert release.estimate(asked) == pytest.approx(asked.of(table), rel=1e-4)


def test_cells_of_a_floor_count_as_their_middles() -> None:
    table = dc.read(_ages(), quasi=["age"], sensitive="s", floor={"age": 10})
    release = dc.publish(table, dc.BetaLikeness(2), EXACT)
    assert release.estimate("SELECT SUM(age) FROM t") == 4.5 * 5 + 14.5 * 5 + 24.5 * 10
    assert release.estimate("SELECT AVG(age) FROM t WHERE age >= 10 AND age <= 19") == 14.5


def _ages() -> pa.Table:
    return pa.table({"age": [3, 4, 5, 6, 7, 11, 12, 13, 14, 19, *range(20, 30)], "s": list("pqrst") * 4})


# ------------------------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize("scheme", ["cuts", "cuts(descriptions=exact)", "cuts(values=set)", "anatomy", "mondrian"])
@given(seed=st.integers(0, 10_000))
def test_the_truth_is_within_the_bounds_of_a_sum(scheme: str, seed: int) -> None:
    quasi = ["weight", "sex"]
    table = dc.read(people(seed), quasi=quasi, sensitive="s", keep=["wage"], missing="value")
    release = dc.publish(table, "l-diversity(l=2)", scheme)
    for sql in (
        "SELECT SUM(weight) FROM t",
        "SELECT SUM(weight) FROM t WHERE sex = 'f' AND s = 'p'",
        "SELECT SUM(weight) FROM t WHERE weight < 3 AND wage >= 0",
        "SELECT SUM(wage) FROM t WHERE s IN ('q', 'r') AND weight >= 1.25",
    ):
        asked = release.question(sql)
        assert isinstance(asked, dc.Total)
        (answer,) = answers(release, [asked])
        assert answer.least is not None
        assert answer.most is not None
        assert answer.least - 1e-6 <= asked.of(table) <= answer.most + 1e-6
        assert answer.least <= answer.estimate <= answer.most


def test_bounds_are_tight_where_the_release_tells_all() -> None:
    release = dc.publish(patients(), dc.BetaLikeness(2), EXACT)
    (answer,) = answers(release, ["SELECT SUM(age) FROM t WHERE sex = 'F'"])
    assert (answer.least, answer.most) == (1139.0, 1139.0)


# ------------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT SUM(sex) FROM t", "column 'sex' holds no numbers, so it has no sum"),
        ("SELECT AVG(disease) FROM t", "column 'disease' holds no numbers, so it has no mean"),
        ("SELECT SUM(pay) FROM t", "there is no column 'pay'"),
        ("SELECT SUM(age), COUNT(*) FROM t", "only COUNT(*), SUM or AVG of a column can be asked"),
        ("SELECT SUM(age + 1) FROM t", "only COUNT(*), SUM or AVG of a column can be asked"),
        ("SELECT MAX(age) FROM t", "only COUNT(*), SUM or AVG of a column can be asked"),
        ("SELECT sex, SUM(age), COUNT(*) FROM t GROUP BY sex", "ask for one of them at a time"),
        ("SELECT sex, SUM(age), SUM(age) FROM t GROUP BY sex", "selects SUM('age') twice"),
    ],
)
def test_what_has_no_sum_is_refused_in_a_sentence(sql: str, words: str) -> None:
    release = dc.publish(patients(), dc.BetaLikeness(2))
    with pytest.raises(DiscreetError) as refused:
        (release.group_by if "GROUP" in sql else release.estimate)(sql)
    assert words in str(refused.value)


def test_bins_have_no_sum() -> None:
    table = dc.read(_ages(), quasi=["age"], sensitive="s", bins={"age": [0, 10, 20, 30]})
    with pytest.raises(DiscreetError, match="published in bins, so it has no sum"):
        dc.publish(table, dc.BetaLikeness(2)).estimate("SELECT SUM(age) FROM t")


# --------------------------------------------------------------------------------------------------------- the command


def test_the_command_answers_sums_beside_the_exact_ones(tmp_path: Path) -> None:
    chance = np.random.default_rng(2)
    data = pa.table(
        {
            "age": chance.integers(20, 70, 200),
            "weight": np.round(chance.uniform(500, 1500, 200), 1),
            "disease": ["flu", "cough", "ulcer", "gout"] * 50,
        }
    )
    write_csv(data, tmp_path / "survey.csv")
    original, release = str(tmp_path / "survey.csv"), str(tmp_path / "release")
    given_roles = ("--quasi", "age,weight", "--sensitive", "disease", "--promise", "beta-likeness(beta=1)")
    run("publish", original, "-o", release, *given_roles, "--option", "descriptions=exact")
    done = run("query", release, SURVEY, "--original", original, "--json")
    document = json.loads(done.stdout)
    table = dc.read(original, quasi=["age", "weight"], sensitive="disease")
    asked = dc.load(release).question(SURVEY)
    assert isinstance(asked, dc.Total)
    assert document["exact"] == asked.of(table)
    assert document["least"] <= document["exact"] <= document["most"]
    assert document["low"] is None
    words = run("query", release, SURVEY, "--original", original).stdout
    assert "For certain between" in words
    assert "in the original; relative error" in words
    grouped = run("query", release, "SELECT disease, AVG(age) FROM t GROUP BY disease", "--original", original).stdout
    assert grouped.splitlines()[0].split() == ["disease", "avg_age", "exactly"]
    empty = json.loads(run("query", release, "SELECT AVG(age) FROM t WHERE age > 99", "--json").stdout)
    assert empty["estimate"] is None
    assert "No row" in run("query", release, "SELECT AVG(age) FROM t WHERE age > 99").stdout
