"""Similarity: what is believed of short intervals and of nodes of a hierarchy."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.datasets import census
from discreet.table.table import Table
from naive import attacks as naive
from support.attacked import people, release_by
from support.releases import publish


def earners(rows: int = 60, missing: bool = False, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    pay = pa.array(rng.integers(0, 40, rows) * 10, mask=(rng.random(rows) < 0.2) if missing else None)
    return dc.read(pa.table({"age": np.arange(rows) // 4, "pay": pay}), quasi=["age"], sensitive="pay", missing="value")


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("length", [0.0, 30.0, 120.0])
def test_the_worst_interval_of_everyone_is_found(length: float, missing: bool) -> None:
    table = earners(missing=missing)
    groups, truth = np.arange(table.rows) // 4, naive.sensitive_columns(table)
    known = sorted({value for value in truth if value != "missing"})
    claims = [{value for value in known if start <= value <= start + length} for start in known]
    claims = [{"missing"}, *claims] if missing else claims
    guesses = [naive.likeliest(groups.tolist(), truth, row, claims) for row in range(table.rows)]
    (found,) = dc.attack(publish(table, groups), table, dc.Similarity(length)).evidence
    assert found.successes == sum(truth[row] in guesses[row] for row in range(table.rows))
    largest = max(sum(value in claim for value in truth) for claim in claims)
    assert found.baseline == pytest.approx(largest / table.rows)
    assert found.hurt is not None
    own = groups.tolist(), truth, found.hurt.row
    assert found.hurt.belief == pytest.approx(sum(naive.share_in_group(*own, value) for value in guesses[own[2]]))


def test_a_group_of_similar_numbers_is_exposed_though_it_is_diverse() -> None:
    """Four different incomes in every group, all within 30: l-diversity keeps its promise and proximity is lost."""
    pay = [1000 * (row // 4) + 10 * (row % 4) for row in range(40)]
    table = dc.read(pa.table({"age": np.arange(40) // 4, "pay": pay}), quasi=["age"], sensitive="pay")
    release = publish(table, np.arange(40) // 4)
    beliefs, similar = dc.attack(release, table, ["beliefs", "similarity(length=30)"]).evidence
    assert beliefs.rate == 0.25 and similar.rate == 1.0 and similar.baseline == pytest.approx(0.1)
    assert similar.hurt is not None and similar.hurt.belief == 1.0


@pytest.mark.parametrize(
    "promise", [dc.Proximity(2000, 4), dc.Proximity(0.1, 3, "relative"), dc.Proximity(m=3, below=500, above=3000)]
)
def test_proximity_bounds_every_interval_as_short_as_promised(promise: dc.Proximity) -> None:
    """No chance is involved in the beliefs; the rate exceeds its bound by chance once in 30,000 attacks."""
    table = census(1_500, sensitive="income", seed=4)
    found = dc.attack(dc.publish(table, promise), table, "similarity")
    (one,) = found.evidence
    assert found.holds and one.bound == pytest.approx(1 / promise.m)
    plain = dc.attack(dc.publish(table, dc.KAnonymity(2)), table, dc.Similarity(2000)).evidence[0]
    if promise == dc.Proximity(2000, 4):  # the same intervals, so the same success on the original
        assert one.ceiling == plain.ceiling and one.baseline == plain.baseline
    assert one.strain is not None and 0.5 < one.strain <= 1 + 1e-9 and one.rate <= 1 / promise.m + 0.05


def test_a_release_that_breaks_proximity_exceeds_it() -> None:
    table = earners()
    release = publish(table, np.arange(table.rows) // 6)
    release.manifest["promise"] = ["proximity(epsilon=100, m=4)"]
    (found,) = dc.attack(release, table, "similarity").evidence
    assert found.exceeds and found.strain is not None and found.strain > 1


def test_retained_numbers_are_bounded_too() -> None:
    (found,) = dc.attack(release_by("retention"), people(), "similarity").evidence
    assert found.bound == 0.5 and found.strain is not None and found.strain <= 1 + 1e-9


def test_the_kind_of_a_name_is_guessed_by_its_hierarchy() -> None:
    """Each group has one kind of disease: its values are diverse, and its kind is certain."""
    tree = {"lung": ["flu", "asthma"], "heart": ["angina", "murmur"]}
    diseases = ["flu", "asthma"] * 4 + ["angina", "murmur"] * 4
    table = dc.read(
        pa.table({"age": np.arange(16) // 2, "disease": diseases}),
        quasi=["age"],
        sensitive="disease",
        hierarchies={"disease": tree},
    )
    release = publish(table, np.arange(16) // 4)
    beliefs, kinds = dc.attack(release, table, ["beliefs", "similarity"]).evidence
    assert beliefs.rate == 0.5 and kinds.rate == 1.0 and kinds.baseline == 0.5 and "level 1" in kinds.about
    with pytest.raises(dc.DiscreetError, match="has 1 level"):
        dc.attack(release, table, "similarity(level=2)")


def test_names_without_a_hierarchy_are_not_similar() -> None:
    table = dc.read(pa.table({"age": [1, 2], "disease": ["a", "b"]}), quasi=["age"], sensitive="disease")
    with pytest.raises(dc.DiscreetError, match="no hierarchy, so that no values of it are similar"):
        dc.attack(publish(table, [0, 0]), table, "similarity")
    assert "similarity" in dc.attack(publish(table, [0, 0]), table).refusals
