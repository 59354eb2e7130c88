"""What an adversary who only matches descriptions faces: against sums over all groups, point by point."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.adversary.alignment import align
from discreet.adversary.checks import unions
from discreet.adversary.verdict import counts_of
from discreet.datasets import census
from discreet.principles import Prior, Proximity
from discreet.releases import GeneralizedRelease
from discreet.releases.boxes import mixed
from discreet.table.read import read
from discreet.table.table import Table
from support.promises import promises
from support.releases import random_table
from support.tables import numeric_tables


def naively(release: GeneralizedRelease, table: Table, promise: Proximity) -> dict[str, float]:
    """The figures by looking at every row of the original and every group."""
    prior = Prior.of(table)
    usable = np.arange(table.rows) if table.unusable is None else np.delete(np.arange(table.rows), table.unusable)
    unions_at = np.zeros((table.rows, len(prior.values)), np.int64)
    unions_at[:, align(release, table).class_of] = mixed(release.descriptions, table.quasi, release.counts)
    strains = promise.strain(unions_at, prior)
    codes = np.array([column.codes for column in table.quasi]).T
    points = {tuple(codes[row].tolist()): float(strains[row]) for row in usable}
    first, last = promise.windows(prior)
    own = table.sensitive_codes
    shares = [
        unions_at[row, first[own[row]] : last[own[row]] + 1].sum() / max(1, unions_at[row].sum()) for row in usable
    ]
    return {
        "points": len(points),
        "beyond": sum(strain > 1.0 for strain in points.values()),
        "strain": max(points.values()),
        "people": sum(share * promise.m > 1.0 + 1e-8 for share in shares),
        "share": max(shares),
    }


def faced(release: GeneralizedRelease, table: Table, promise: Proximity) -> unions.UnionExposure:
    aligned, prior = align(release, table), Prior.of(table)
    return unions.face([promise], aligned, counts_of(aligned, len(prior.values)), prior, table.sensitive_codes)[0]


def compared(release: GeneralizedRelease, table: Table, promise: Proximity) -> None:
    found = faced(release, table, promise)
    expected = naively(release, table, promise)
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected)
    # the worst point and the worst person are what they are said to be
    at = [column.texts.index(found.point[column.name]) for column in table.quasi]
    here = [row for row in range(table.rows) if [int(column.codes[row]) for column in table.quasi] == at]
    assert here
    assert {*found.person} == {*found.point} and found.sentence


@pytest.mark.slow
@given(
    table=numeric_tables(),
    promise=promises(),
    seed=st.integers(0, 2**20),
    values=st.sampled_from(["interval", "set", "label"]),
)
@settings(max_examples=80, deadline=None)
def test_figures_are_those_of_the_definition(table: Table, promise: Proximity, seed: int, values: str) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, max(1, table.rows // 4), table.rows)
    groups = np.unique(groups, return_inverse=True)[1].astype(np.int32)
    release = GeneralizedRelease.from_groups(table, groups, promise=promise, scheme="test", values=values)
    compared(release, table, promise)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 10.0]), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_every_kind_of_attribute_and_withheld_rows(seed: int, epsilon: float, m: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, 50, "numeric")
    groups = rng.integers(-1, 8, 50)
    assume((groups >= 0).any())
    groups[groups >= 0] = np.unique(groups[groups >= 0], return_inverse=True)[1]
    promise = Proximity(epsilon, m)
    release = GeneralizedRelease.from_groups(table, groups.astype(np.int32), promise=promise, scheme="test")
    compared(release, table, promise)


def test_little_room_and_few_points_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    table = census(800, quasi=("age", "education", "gender"), sensitive="income")
    promise = Proximity(1, 3)
    release = dc.publish(table, promise, dc.SplitAndPartition(random_state=1))
    assert isinstance(release, GeneralizedRelease)
    whole = faced(release, table, promise)
    monkeypatch.setattr(unions, "ROOM", 1)
    monkeypatch.setattr(unions, "POINTS", 7)
    assert faced(release, table, promise) == whole
    compared(release, table, promise)


def test_who_is_at_risk_is_told(tmp_path: Path) -> None:
    """Four of age 30 in two groups, each of which keeps the promise, and two of age 50, who are not in danger."""
    pay = [40, 60, 50, 80, 10, 500]
    table = read(pa.table({"age": [30] * 4 + [50] * 2, "pay": pay}), quasi=["age"], sensitive="pay")
    promise = Proximity(15, 2)
    groups = np.array([0, 0, 1, 1, 2, 2], np.int32)
    GeneralizedRelease.from_groups(table, groups, promise=promise, scheme="test").save(tmp_path / "release")
    result = dc.audit(tmp_path / "release", table)
    told = next(check for check in result.checks if check.name == "unions")
    assert result.holds and told.holds
    worst = (
        "3 of the 4 rows of this union (75.0 %) hold a number from 40 to 60, near to '50'; at most 50.0 % (2 rows) is"
    )
    assert "finds up to 75.0 % of their rows near one number instead of 50.0 %" in told.sentence
    assert "This concerns 1 of 2 combinations of quasi-identifiers (at worst age 30); " in told.sentence
    assert "never more than 2/m: if that is too much, ask for m=4." in told.sentence
    # of the four only the one with 50 has two others near
    assert told.sentence.endswith("around a row's own number it happens for 1 row of 6 (at worst 75.0 %, age 30).")
    checks = json.loads(json.dumps(result.as_dict()))["checks"]
    (figures,) = next(check for check in checks if check["name"] == "unions")["faced"]
    assert figures.pop("sentence").startswith(worst) and figures.pop("strain") == pytest.approx(1.5)
    assert figures == {
        "promise": "proximity(epsilon=15, m=2)",
        "points": 2,
        "beyond": 1,
        "point": {"age": "30"},
        "people": 1,
        "share": 0.75,
        "person": {"age": "30"},
    }


def test_unions_that_keep_the_promise_say_how_much_is_left(tmp_path: Path) -> None:
    table = read(pa.table({"age": [30, 30, 50, 50], "pay": [10, 90, 10, 95]}), quasi=["age"], sensitive="pay")
    release = GeneralizedRelease.from_groups(
        table, np.array([0, 0, 1, 1], np.int32), promise=Proximity(5, 1), scheme="test"
    )
    release.save(tmp_path / "release")
    told = next(check for check in dc.audit(tmp_path / "release", table).checks if check.name == "unions")
    assert told.sentence.endswith("quasi-identifiers (2); at most 50.0 % of what they allow is used.")
