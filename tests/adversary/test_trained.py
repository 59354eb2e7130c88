"""A trained attacker: what trees learn from a release, and what they cannot."""

from __future__ import annotations

from importlib import util
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.adversary.attacks import trained
from discreet.adversary.attacks.target import Target
from discreet.datasets import census
from discreet.table.table import Table
from naive import attacks as naive
from support.attacked import MAKERS, people, release_by
from support.command import run
from support.releases import publish


def crossed(rows: int, seed: int = 0) -> Table:
    """Persons whose value is told by two quasi-identifiers together, and by neither of them alone."""
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 4, (2, rows))
    value = np.where(rng.random(rows) < 0.9, (one + other) % 4, rng.integers(0, 4, rows))
    columns = {"a": [f"a{code}" for code in one], "b": other, "v": [f"v{code}" for code in value]}
    return dc.read(pa.table(columns), quasi=["a", "b"], sensitive="v")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", MAKERS)
@pytest.mark.parametrize("most", [100_000, 500])
def test_examples_are_in_proportion_to_what_the_release_says(
    scheme: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All people with all their values, weighed by what is believed of them; of too many, some at equal steps."""
    monkeypatch.setattr(trained, "EXAMPLES", most)
    table, release = people(), release_by(scheme)
    target = Target.of(release, table, random=np.random.default_rng(1))
    lines, values, weights = trained.examples(target)
    assert len(lines) <= most and len(set(zip(lines.tolist(), values.tolist(), strict=True))) == len(lines)
    told = naive.told(release, table)
    seen = np.zeros((len(target.people[0].codes), target.width))
    seen[lines, values] = weights
    expected = np.zeros_like(seen)
    for row in range(table.rows):
        expected[target.person_of[row]] += told(row)
    if most > seen.size:
        assert np.abs(seen - expected).max() < 1e-9
    else:  # any stretch of people and values is off by less than a step at each end
        assert np.abs(np.cumsum(seen) - np.cumsum(expected)).max() <= 1.0 + 1e-9


def test_trees_learn_what_goes_together_in_the_examples() -> None:
    """Sixteen points with hundreds of persons each: the shares among these are learnt, but for what is smoothed."""
    table = crossed(3_000)
    target = Target.of(publish(table, np.arange(3_000) // 4), table, random=np.random.default_rng(2))
    lines, values, weights = trained.examples(target)
    points = list(zip(*(column.values[column.codes].tolist() for column in target.people), strict=True))
    seen = [
        (points[line], value)
        for line, value, weight in zip(lines.tolist(), values.tolist(), weights.tolist(), strict=True)
        for _ in range(round(weight))
    ]
    found = dc.Trained().learn(target).beliefs(slice(0, len(points)))
    for at, point in enumerate(points):
        expected = naive.seen_together(seen, point)
        assert found[at] == pytest.approx([expected.get(value, 0.0) for value in range(target.width)], abs=0.05)


@pytest.mark.slow
def test_it_finds_what_naive_bayes_cannot_in_a_weak_release() -> None:
    """Anatomy with three values per group, and a link that only both quasi-identifiers show: 92 % are alike."""
    table, strangers = crossed(3_000), crossed(1_000, seed=9)
    release = dc.publish(table, dc.LDiversity(3), scheme=dc.Anatomy(random_state=1))
    found = dc.attack(release, table, ["naive-bayes", "trained"], outsiders=strangers, random_state=1)
    bayes, trees = found.evidence
    assert bayes.interval[1] < 0.5 < trees.interval[0] and trees.interval[0] > 0.85
    assert trees.exceeds and trees.ceiling == pytest.approx(0.92, abs=0.03)
    assert trees.outsiders is not None and trees.outsiders > 0.85  # it is about anybody


def test_a_homogeneous_release_is_learnt_entirely() -> None:
    ages = np.arange(400) // 40
    columns = {"age": ages, "v": [f"v{(3 * age) % 5}" for age in ages]}
    table = dc.read(pa.table(columns), quasi=["age"], sensitive="v")
    (found,) = dc.attack(publish(table, ages), table, "trained", random_state=1).evidence
    assert found.rate == 1.0 and found.baseline == pytest.approx(0.2)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [dc.Burel(random_state=1), dc.Mondrian()], ids=["burel", "mondrian"])
def test_beta_likeness_curbs_it(scheme: dc.Scheme) -> None:
    """The bound is not exceeded beyond doubt, which chance does once in 30,000 times."""
    table = census(1_000, quasi=("age", "gender", "education"), sensitive="work_class", seed=5)
    (found,) = dc.attack(dc.publish(table, dc.BetaLikeness(1), scheme), table, "trained", random_state=1).evidence
    assert not found.exceeds and found.bound is not None and found.rate < found.bound


def test_one_group_for_all_teaches_nothing() -> None:
    """The release leaves open who has which value; over all ways to deal these, guesses are right as often as without
    it, at most. (In this one way they are right or wrong for each of 16 points at once, so that the rate says little.)
    """
    table = crossed(2_000)
    (found,) = dc.attack(publish(table, np.zeros(2_000, np.int64)), table, "trained", random_state=1).evidence
    assert found.redrawn is not None and found.redrawn <= found.baseline + 1e-9
    assert found.ceiling is not None and found.ceiling > 0.85


def test_one_value_is_certain_without_trees() -> None:
    table = dc.read(pa.table({"age": [1, 2, 3], "v": ["x", "x", "x"]}), quasi=["age"], sensitive="v")
    (found,) = dc.attack(publish(table, [0, 0, 0]), table, "trained").evidence
    assert found.rate == 1.0 and found.baseline == 1.0


@pytest.mark.slow
def test_many_numbers_are_guessed_by_ranges() -> None:
    rng = np.random.default_rng(3)
    age = rng.integers(20, 60, 1_000)
    table = dc.read(
        pa.table({"age": age, "pay": age * 100 + rng.integers(0, 300, 1_000)}), quasi=["age"], sensitive="pay"
    )
    (found,) = dc.attack(publish(table, age // 2), table, "trained", random_state=1).evidence
    assert found.about == "in which of 20 ranges 'pay' is"
    assert found.baseline < 0.06 and found.rate > 0.35


def test_many_names_are_refused() -> None:
    names = [f"v{code}" for code in range(100)]
    table = dc.read(pa.table({"age": range(100), "v": names}), quasi=["age"], sensitive="v")
    with pytest.raises(dc.DiscreetError, match="100 values without order"):
        dc.attack(publish(table, np.zeros(100, np.int64)), table, "trained")


def test_without_the_package_it_is_left_out_and_said_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    from pyarrow.csv import write_csv

    from discreet.datasets import patients, patients_arrow

    known = util.find_spec
    monkeypatch.setattr(trained, "find_spec", lambda name: None if name == "sklearn" else known(name))
    write_csv(patients_arrow(), tmp_path / "patients.csv")
    dc.publish(patients(), dc.BetaLikeness(1)).save(tmp_path / "release")
    words = ("attack", str(tmp_path / "release"), "--original", str(tmp_path / "patients.csv"))
    told = " ".join(run(*words).stdout.split())
    assert "trained was not carried out: it needs the package scikit-learn" in told and "discreet[attacks]" in told
    assert "discreet[attacks]" in run(*words, "--attack", "trained", code=2).stderr
