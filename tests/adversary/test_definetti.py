"""deFinetti: what groups tell about each other."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.adversary.attacks.target import Target
from discreet.datasets import census
from discreet.releases import AnatomyRelease
from discreet.table.table import Table
from naive import attacks as naive
from support.attacked import MAKERS, people, release_by
from support.releases import publish


def linked(rows: int, strength: float, seed: int = 0) -> Table:
    """Persons whose value is that of their job with this probability, else any of six."""
    rng = np.random.default_rng(seed)
    job = rng.integers(0, 6, rows)
    value = np.where(rng.random(rows) < strength, job, rng.integers(0, 6, rows))
    columns = {"job": [f"j{one}" for one in job], "zip": np.arange(rows), "value": [f"v{one}" for one in value]}
    return dc.read(pa.table(columns), quasi=["job", "zip"], sensitive="value")


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("exact", [True, False])
def test_beliefs_are_those_of_the_definition(steps: int, exact: bool) -> None:
    """Anatomy, with equal persons in different groups; and boxes that do not overlap."""
    rng = np.random.default_rng(4)
    age, sex = rng.integers(0, 4, 24), rng.integers(0, 2, 24)
    groups = rng.integers(0, 6, 24) if exact else age * 2 + sex // 2
    table = dc.read(
        pa.table({"age": age, "sex": sex, "v": rng.choice(list("abc"), 24)}), quasi=["age", "sex"], sensitive="v"
    )
    how = {"promise": dc.KAnonymity(1), "scheme": "by-hand"}
    release = AnatomyRelease.from_groups(table, groups.astype(np.int32), **how) if exact else publish(table, groups)  # type: ignore[arg-type]
    target = Target.of(release, table)
    lines = dc.DeFinetti(steps).learn(target).beliefs(slice(0, len(target.people[0].codes)))
    points = list(zip(age.tolist(), sex.tolist(), strict=True))
    sizes = [len(column.values) for column in table.quasi]
    expected = naive.definetti(points, groups.tolist(), naive.sensitive_columns(table), sizes, steps)
    for row, point in enumerate(points):
        alike = [expected[other] for other in range(24) if points[other] == point]
        mean = [sum(one[str(value)] for one in alike) / len(alike) for value in release.values]
        assert lines[target.person_of[row]] == pytest.approx(mean)


def test_a_strong_link_breaks_anatomy_with_two_values_per_group() -> None:
    """The value is that of the job for 92 %: each group of two keeps l = 2, and 50 % of guesses is far exceeded."""
    table = linked(2_000, 0.9)
    release = dc.publish(table, dc.LDiversity(2), scheme=dc.Anatomy())
    found = dc.attack(release, table, ["beliefs", "definetti"])
    beliefs, definetti = found.evidence
    assert not beliefs.exceeds and beliefs.rate == pytest.approx(0.5, abs=0.05)
    assert definetti.exceeds and definetti.interval[0] > 0.8 and not found.holds
    assert "what groups tell about each other" in definetti.sentence
    assert definetti.redrawn == pytest.approx(0.5, abs=0.01)  # it is not the groups that tell this, one by one


def test_without_a_link_there_is_nothing_to_learn() -> None:
    """4 standard deviations: exceeded by chance once in 30,000 times."""
    table = linked(2_000, 0.0)
    release = dc.publish(table, dc.LDiversity(2), scheme=dc.Anatomy())
    found = dc.attack(release, table, "definetti").evidence[0]
    assert not found.exceeds and found.rate < 0.5 + 4 * np.sqrt(0.25 / 2_000)


def test_success_on_anatomy_falls_as_groups_grow() -> None:
    table = linked(3_000, 0.6)
    rates = []
    for diversity in (2, 3, 5):
        release = dc.publish(table, dc.LDiversity(diversity), scheme=dc.Anatomy())
        rates.append(dc.attack(release, table, "definetti").evidence[0].rate)
    assert rates == sorted(rates, reverse=True) and rates[0] > rates[2] + 0.05


@pytest.mark.parametrize("scheme", [dc.Mondrian(), dc.Burel(random_state=1)], ids=["mondrian", "burel"])
def test_beta_likeness_curbs_it(scheme: dc.Scheme) -> None:
    table = census(3_000, seed=5)
    found = dc.attack(dc.publish(table, dc.BetaLikeness(1), scheme=scheme), table, "definetti").evidence[0]
    assert not found.exceeds and found.bound is not None and found.rate < found.bound


def test_drawn_victims_are_guessed_as_everyone_is() -> None:
    table, release = people(), release_by("anatomy")
    whole, some = Target.of(release, table), Target.of(release, table, rows=np.arange(5, 90, 3))
    lines, few = (dc.DeFinetti().learn(one).beliefs(slice(0, len(one.people[0].codes))) for one in (whole, some))
    assert few[some.person_of] == pytest.approx(lines[whole.person_of[some.rows]])


def test_outsiders_are_guessed_by_what_was_learnt() -> None:
    table, strangers = linked(1_000, 0.9), linked(500, 0.9, seed=9)
    release = dc.publish(table, dc.LDiversity(2), scheme=dc.Anatomy())
    found = dc.attack(release, table, "definetti", outsiders=strangers).evidence[0]
    assert found.outsiders is not None and found.outsiders > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("scheme", MAKERS)
def test_formats_without_groups_say_why(scheme: str) -> None:
    reason = dc.attack(release_by(scheme), people(), random_state=1).refusals.get("definetti")
    without = ("lifting", "lifting:descriptions=exact", "perturbation", "retention", "heterogeneous:publishes=graph")
    without = (*without, "privbayes:domains=observed")
    assert (reason is None) == (scheme not in without)
    assert reason is None or "deals the values of groups anew" in reason
