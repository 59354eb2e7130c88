"""Naive Bayes: what single quasi-identifiers say about the sensitive value, multiplied."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import discreet as dc
from discreet.adversary.attacks.target import Target
from discreet.datasets import census
from discreet.releases import GeneralizedRelease
from discreet.releases.release import Release
from discreet.schemes import make_scheme
from discreet.table.table import Table
from naive import attacks as naive
from support.attacked import MAKERS, people, release_by
from support.releases import publish, random_groups, random_table
from support.tables import tables

VARIANTS = [dc.NaiveBayes(correction, box) for correction in (0.0, 1.0) for box in ("full", "spread")]


def published(release: GeneralizedRelease) -> list[tuple[dict[str, str], object]]:
    """The rows of the published table, as anybody reads them."""
    lines = release.tables(numbers=False)["table"].to_pylist()
    return [(line, line[release.sensitive_attribute.name]) for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize("attack", VARIANTS, ids=str)
@given(table=tables(largest=30))
@settings(max_examples=10)
def test_beliefs_are_those_of_the_definition(attack: dc.NaiveBayes, table: Table) -> None:
    if {"city", "grade"} & set(table.quasi_names):
        table = Table(table.rows, tuple(one for one in table.quasi if one.name in ("age", "sex")), table.sensitive)
    release = publish(table, np.arange(table.rows) // 3, values="set")
    target = Target.of(release, table)
    found = attack.learn(target).beliefs(slice(0, len(target.people[0].codes)))
    known = {column.name: column.values.tolist() for column in table.quasi}
    truth = naive.sensitive_columns(table)
    prior = {str(value): truth.count(str(value)) / len(truth) for value in release.values}
    for row in range(table.rows):
        person = {column.name: column.values[column.codes[row]] for column in table.quasi}
        weights = naive.bayes(
            published(release), prior, person, known, correction=attack.correction, spread=attack.box == "spread"
        )
        total = sum(weights.values())
        expected = [weights[str(value)] / total if total else prior[str(value)] for value in release.values]
        assert found[target.person_of[row]] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("distance", [0.0, 0.05, 0.3, 1.0])
@pytest.mark.parametrize("correction", [0.0, 1.0])
def test_rows_within_a_distance_count(distance: float, correction: float) -> None:
    """Section 6 of the paper on heterogeneous generalization: noisy values within delta, of numbers and of ranks."""
    rng, grades = np.random.default_rng(0), ["low", "mid", "high", "top"]
    data = {
        "age": rng.integers(20, 90, 60) / 2,
        "grade": rng.choice(grades, 60),
        "town": rng.choice(list("xyz"), 60),
        "ill": rng.choice(list("abc"), 60),
    }
    quasi = ["age", "grade", "town"]
    table = dc.read(pa.table(data), quasi=quasi, sensitive="ill", ordinal={"grade": grades})
    release = dc.publish(table, "differential-privacy(epsilon=2)", dc.PrivBayes(domains="observed", random_state=1))
    width = distance * (max(data["age"]) - min(data["age"]))
    lines = release.tables()["table"].to_pylist()
    rows = [
        (
            {
                "age": f"[{line['age'] - width - 1e-9}, {line['age'] + width + 1e-9}]",
                "grade": "{" + ", ".join(near(line["grade"], grades, 3 * distance)) + "}",
                "town": line["town"],
            },
            line["ill"],
        )
        for line in lines
    ]
    target = Target.of(release, table)
    found = dc.NaiveBayes(correction, distance=distance).learn(target).beliefs(slice(0, len(target.people[0].codes)))
    known = {column.name: column.values.tolist() for column in table.quasi}
    prior = {str(value): float((data["ill"] == value).mean()) for value in release.values}
    for row in range(60):
        person = {name: data[name][row] for name in quasi}
        weights = naive.bayes(rows, prior, person, known, correction=correction, spread=False)
        total = sum(weights.values())
        expected = [weights[str(value)] / total if total else prior[str(value)] for value in release.values]
        assert found[target.person_of[row]] == pytest.approx(expected, abs=1e-9)


def near(grade: str, grades: list[str], ranks: float) -> list[str]:
    """The grades that are at most this many ranks away."""
    return [other for other in grades if abs(grades.index(other) - grades.index(grade)) <= ranks + 1e-9]


def test_a_distance_is_for_values_published_singly() -> None:
    release = dc.publish(people(), dc.KAnonymity(2))
    with pytest.raises(dc.DiscreetError, match="a distance is for single values"):
        dc.attack(release, people(), "naive-bayes(distance=0.1)")
    variants = dc.attack(release, people(), "naive-bayes").evidence
    assert [found.attack for found in variants] == ["naive-bayes"]


@pytest.mark.parametrize("scheme", MAKERS)
def test_counting_by_format_agrees_with_count_queries(scheme: str) -> None:
    """The contract's own way, a query for each pair of values, serves as the oracle of every format's faster one."""
    release, table = release_by(scheme), people()
    for column in table.quasi:
        if column.kind == "numeric" and not release.exact_quasi and not release.hides_presence:
            continue  # queries spread over all whole numbers of an interval, and not all occur
        fast, slow = release.contingency(column), Release.contingency(release, column)
        assert fast.shape == (len(column.values), len(release.values))
        assert fast == pytest.approx(slow, abs=1e-6)


@pytest.mark.parametrize("values", ["interval", "set", "label"])
@pytest.mark.parametrize("seed", range(4))
def test_counts_of_odd_descriptions_agree_with_boxes(values: str, seed: int) -> None:
    """Missing values, sets with gaps, labels and quoted names: every row counts for what its box admits."""
    from discreet.releases.boxes import boxes_in

    rng = np.random.default_rng(seed)
    table = random_table(rng, 40)
    release = publish(table, random_groups(rng, table), values=values)
    boxes = boxes_in(release.descriptions, table.quasi)
    for axis, column in enumerate(table.quasi):
        full, even = (np.zeros((len(column.values), len(release.values))) for _ in range(2))
        for row, group in enumerate(release.group_of):
            inside = list(range(boxes.low[group, axis], boxes.high[group, axis] + 1))
            if (at := boxes.set_at[group, axis]) >= 0:
                inside = boxes.members[boxes.starts[at] : boxes.starts[at + 1]].tolist()
            full[inside, release.sensitive_codes[row]] += 1
            even[inside, release.sensitive_codes[row]] += 1 / max(1, len(inside))
        assert release.contingency(column, spread=False) == pytest.approx(full, abs=1e-9)
        assert release.contingency(column, spread=True) == pytest.approx(even, abs=1e-9)


def test_an_ambiguous_group_counts_fully_for_every_value_it_lists() -> None:
    release, table = release_by("ambiguity"), people()
    (age, _), (listed, _) = table.quasi, release.auxiliaries
    expected = np.zeros((len(age.values), len(release.values)))
    for group, code in zip(listed.groups, listed.columns[0].codes, strict=True):
        at = age.values.tolist().index(listed.columns[0].values[code])
        expected[at] += release.counts.line(int(group))
    assert release.contingency(age, spread=False) == pytest.approx(expected)


def test_a_weak_release_is_guessed_better_than_without_it() -> None:
    """Nine in ten persons earn by their age alone, and 2-anonymity does not hide it."""
    rng = np.random.default_rng(5)
    age = rng.integers(0, 6, 600)
    pay = np.where(rng.random(600) < 0.9, age, rng.integers(0, 6, 600))
    table = dc.read(
        pa.table({"age": age, "zip": rng.integers(0, 4, 600), "pay": pay}), quasi=["age", "zip"], sensitive="pay"
    )
    found = dc.attack(dc.publish(table, dc.KAnonymity(2), "cuts(snap=false)"), table, "naive-bayes").evidence[0]
    assert found.interval[0] > 0.85 > 0.3 > found.baseline and found.ceiling == pytest.approx(found.rate, abs=0.02)


@pytest.mark.parametrize("scheme", ["cuts", "burel", "lifting"])
@pytest.mark.parametrize("beta", [0.5, 2.0])
def test_equation_19_holds_for_groups_that_are_beta_like(scheme: str, beta: float) -> None:
    """No chance is involved in the ratio; the rate exceeds its bound by chance once in 30,000 attacks."""
    table = census(3_000, seed=2)
    release = make_scheme(scheme, random_state=1).publish(table, dc.BetaLikeness(beta))
    found = dc.attack(release, table, VARIANTS)
    assert found.holds
    for one in found.evidence:
        assert 0 < one.details["used"] <= 1 + 1e-9 and one.details["largest_ratio"] <= 1 + beta + 1e-9
        assert one.bound is not None and one.rate < one.bound


def test_a_broken_promise_breaks_equation_19() -> None:
    table = dc.read(
        pa.table({"age": [1, 1, 2, 2], "pay": list("aabb")}), quasi=["age"], sensitive="pay", categorical=["pay"]
    )
    release = publish(table, [0, 0, 1, 1])
    release.manifest["promise"] = ["beta-likeness(beta=0.1)"]
    found = dc.attack(release, table, "naive-bayes").evidence[0]
    assert found.rate == 1.0 and found.details == {"largest_ratio": 2.0, "used": pytest.approx(1 / 0.55)}
    assert "beyond what the promise would imply for groups, at" in found.sentence


def test_exact_quasi_identifiers_are_not_spread() -> None:
    found = dc.attack(release_by("anatomy"), people())
    assert "no boxes to spread over" in found.refusals["naive-bayes(box=spread)"]


def test_parameters_are_checked() -> None:
    for wrong, words in (
        ("naive-bayes(correction=-1)", "correction must be"),
        ("naive-bayes(box=open)", "full or spread"),
    ):
        with pytest.raises(dc.DiscreetError, match=words):
            dc.attack(release_by("mondrian"), people(), wrong)
