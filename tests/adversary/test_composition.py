"""Several releases about the same people, and several attributes of them: what they tell together."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.adversary.attacks.target import Context, Target
from discreet.datasets import census_arrow
from discreet.table.table import Table
from naive import attacks as naive
from naive import composition as oracle
from support.attacked import MAKERS, people, release_by
from support.command import run
from support.releases import publish


def three() -> tuple[Table, dc.Release, dc.Release]:
    """Two releases of three persons, with one of them withheld from each, that leave two values to the others."""
    table = dc.read(pa.table({"name": list("abc"), "v": list("xyz")}), quasi=["name"], sensitive="v")
    return table, publish(table, [0, 0, -1], values="set"), publish(table, [0, -1, 0], values="set")


@pytest.mark.parametrize("rule", ["odds", "candidates"])
@pytest.mark.parametrize(("first", "second"), [*pairwise(MAKERS)])
def test_beliefs_of_two_releases_are_combined_person_by_person(first: str, second: str, rule: str) -> None:
    table, one, other = people(), release_by(first), release_by(second)
    target = Target.of(one, table, others=(other,))
    lines = dc.Composition(rule).learn(target).beliefs(slice(0, len(target.people[0].codes)))
    prior = dict(zip(map(naive.shown, one.values), target.prior.tolist(), strict=True))
    told = [(naive.told(of, table), list(map(naive.shown, of.values))) for of in (one, other)]
    combine = oracle.by_odds if rule == "odds" else oracle.by_candidates
    for row in range(0, table.rows, 11):
        beliefs = [dict(zip(values, believe(row), strict=True)) for believe, values in told]
        assert lines[target.person_of[row]] == pytest.approx([*combine(prior, beliefs).values()], abs=1e-9)


@pytest.mark.parametrize("attack", ["composition", "composition(rule=candidates)", "intersection"])
def test_two_releases_that_keep_their_promises_break_them_together(attack: str) -> None:
    """{x, y} and {x, z} leave x to the first person, and so everything to everyone."""
    table, one, other = three()
    (found,) = dc.attack(one, table, attack, others=[other]).evidence
    assert found.rate == 1.0 and found.hurt == (0, 1.0, pytest.approx(1 / 3)) and found.baseline == pytest.approx(1 / 3)
    assert found.details["alone"] == pytest.approx([2 / 3, 2 / 3]) and found.details["exposed"] == 2
    assert "covers one release; 2 are combined" in found.sentence


def test_two_promises_about_one_table_tell_more_than_each_and_exceed_them() -> None:
    """Ours, of the same people, by l = 2 and l = 3: each is guessed from as often as promised, and both together give
    most people away. The rates differ by far more than 4 standard deviations of chance."""
    table = dc.read(census_arrow(600), quasi=["age", "education", "race", "marital"], sensitive="occupation")
    one, other = (dc.publish(table, dc.LDiversity(some), scheme=dc.Anatomy(random_state=some)) for some in (2, 3))
    assert dc.attack(one, table, "beliefs").holds and dc.attack(other, table, "beliefs").holds
    found = dc.attack(one, table, ["composition", "intersection"], others=[other])
    odds, groups = found.evidence
    for both in (odds, groups):
        assert both.too_often and both.interval[0] > 0.57 > 0.55 > max(both.details["alone"])
    assert groups.too_sure and groups.details["exposed"] > 100 and "EXCEEDED" in found.verdict


def test_the_same_release_twice_tells_nothing_more() -> None:
    """Laid across itself, a partition is itself: whoever multiplies odds believes too much, but guesses the same."""
    table = people()
    groups = table.quasi[0].codes // 8 * 2 + table.quasi[1].codes
    release = publish(table, groups)
    release.manifest["promise"] = ["beta-likeness(beta=9, variant=basic)"]
    alone = dc.attack(release, table, "beliefs").evidence[0]
    odds, crossed = dc.attack(release, table, ["composition", "intersection"], others=[release]).evidence
    assert crossed.successes == odds.successes == alone.successes
    assert crossed.gain == pytest.approx(alone.gain) and odds.gain is not None and odds.gain > crossed.gain + 0.1
    assert crossed.strain == pytest.approx(alone.strain) and odds.strain is None and not crossed.exceeds


@pytest.mark.parametrize("seed", range(8))
def test_intersections_are_close_to_all_worlds(seed: int) -> None:
    """Nine persons in groups of three, twice: what is ruled out is impossible, and beliefs are close on average."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(list("xyz"), 9).tolist()
    one, other = np.arange(9) // 3, rng.permutation(9) % 3
    table = dc.read(
        pa.table({"age": range(9), "name": [f"n{i}" for i in range(9)], "v": truth}),
        quasi=["age", "name"],
        sensitive="v",
    )
    first, second = publish(table, one), publish(table, other, values="set")
    target = Target.of(first, table, others=(second,))
    lines = dc.Intersection().learn(target).beliefs(slice(0, 9))[target.person_of]
    found = list(oracle.worlds(truth, [one.tolist(), other.tolist()]))
    exact = np.array([[oracle.in_worlds(found, row, str(value)) for value in first.values] for row in range(9)])
    assert np.abs(lines - exact).mean() < 0.05 and not (exact[lines == 0.0] > 0.0).any()
    assert lines.sum(axis=1) == pytest.approx(np.ones(9))


def test_with_nothing_to_combine_it_says_what_to_give(tmp_path: Path) -> None:
    table, one, _ = three()
    for attack in ("composition", "intersection"):
        with pytest.raises(dc.DiscreetError, match="give another with others"):
            dc.attack(one, table, attack)
    other = dc.read(
        pa.table({"age": [0, 1, 2], "v": list("xyz"), "w": list("abc")}), quasi=["age"], sensitive=["v", "w"]
    )
    with pytest.raises(dc.DiscreetError, match="protect different attributes, 'v' and 'w'"):
        dc.attack(
            publish(replace(other, sensitive=other.sensitive[:1]), [0, 0, 0]),
            other,
            others=[publish(replace(other, sensitive=other.sensitive[1:]), [0, 0, 0])],
        )


# ----------------------------------------------------------------------------------- several sensitive attributes


def pair(rows: int = 400, seed: int = 0) -> Table:
    """Persons with two sensitive attributes that tell each other for 90 %, and neither of which the age tells."""
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 4, rows)
    two = np.where(rng.random(rows) < 0.9, one, rng.integers(0, 4, rows))
    columns = {"age": rng.integers(20, 60, rows), "v": [f"v{code}" for code in one], "w": [f"w{code}" for code in two]}
    return dc.read(pa.table(columns), quasi=["age"], sensitive=["v", "w"])


def test_attacks_are_carried_out_for_every_sensitive_attribute() -> None:
    table = pair()
    release = dc.publish(table, "l-diversity(l=2)", "mondrian")
    found = dc.attack(release, table, ["beliefs", "naive-bayes"])
    assert [(one.attribute, one.attack) for one in found.evidence] == [
        (name, attack) for name in ("v", "w") for attack in ("beliefs", "naive-bayes")
    ]
    for name, one in (("v", found.evidence[0]), ("w", found.evidence[2])):
        alone = replace(table, sensitive=(table.column(name),))
        assert (
            one.successes == naive.outcome(release.about(name), alone, naive.told(release.about(name), alone)).successes
        )
        assert f"'{name}'" in one.sentence and one.bound is not None


@pytest.mark.parametrize("kind", ["names", "numbers", "ordered"])
def test_a_known_value_leaves_the_rows_that_have_it(kind: str) -> None:
    rng = np.random.default_rng(2)
    groups = np.arange(60) // 6
    known = rng.choice(["a, b", "c", "(missing)"], 60) if kind == "names" else rng.integers(0, 3, 60)
    columns = pa.table(
        {
            "age": groups,
            "k": known if kind != "ordered" else [f"o{one}" for one in known],
            "v": rng.choice(list("xyz"), 60),
        }
    )
    how = {"ordinal": {"k": ["o2", "o1", "o0"]}} if kind == "ordered" else {}
    table = dc.read(columns, quasi=["age"], sensitive=["k", "v"], **how)
    release = publish(table, groups)
    found = {one.attack: one for one in dc.attack(release, table, "background-join").evidence}
    one = found["background-join(known=k)"]
    texts, sensitive_attribute = columns["k"].to_pylist(), columns["v"].to_pylist()
    lines = [
        [oracle.beside(groups.tolist(), texts, sensitive_attribute, row, value) for value in "xyz"] for row in range(60)
    ]
    alone = replace(table, sensitive=(table.column("v"),))
    expected = naive.outcome(release.about("v"), alone, lambda row: lines[row])
    assert one.successes == expected.successes and one.hurt is not None
    assert one.hurt.belief == pytest.approx(expected.strongest) and one.bound is None
    before = naive.outcome(release.about("v"), alone, naive.told(release.about("v"), alone))
    assert one.details["without"] == pytest.approx(before.successes / 60)


def test_a_known_value_tells_the_other_beside_it_and_nothing_from_another_table() -> None:
    """Ninety percent go together: side by side the known value gives the other away, in two tables it does not."""
    table = pair()
    together = dc.publish(table, "l-diversity(l=2)", "mondrian")
    apart = dc.publish(table, "l-diversity(l=2)", dc.Codip(exposure=0, random_state=1))
    for one in dc.attack(together, table, "background-join").evidence:
        assert one.interval[0] > 0.8 > one.details["without"] and not one.exceeds
    for one in dc.attack(apart, table, "background-join").evidence:
        assert one.rate == one.details["without"] and "in another table" in one.sentence


def test_the_tables_of_a_projected_release_are_laid_across_each_other() -> None:
    """Whoever knows what goes together learns from tables with different groups, and nothing from aligned ones."""
    table = pair(600)
    groups = np.arange(600) // 2, (np.arange(600) + 1) // 2
    promise = dc.LDiversity(1.01)
    free, aligned = (
        dc.ProjectedRelease.from_parts(
            [publish(replace(_numbered(table), sensitive=(table.sensitive[at],)), of[at]) for at in range(2)],
            promise=promise,
            scheme="by-hand",
        )
        for of in (groups, (groups[0], groups[0]))
    )
    whole = _numbered(table)
    for release, more in ((free, True), (aligned, False)):
        (beliefs, _) = dc.attack(release, whole, "beliefs").evidence
        (odds, crossed, *_) = dc.attack(release, whole, ["composition", "intersection"]).evidence
        assert crossed.details["alone"][0] == beliefs.rate
        if more:
            assert crossed.interval[0] > beliefs.interval[1] and odds.interval[0] > beliefs.interval[1]
        else:
            assert crossed.successes == beliefs.successes and crossed.gain == pytest.approx(beliefs.gain)


def _numbered(table: Table) -> Table:
    """The table with everyone's number for a quasi-identifier, so that groups can be told from each other."""
    numbers = dc.read(pa.table({"number": range(table.rows), "v": ["x"] * table.rows}), quasi=["number"], sensitive="v")
    return replace(table, quasi=numbers.quasi)


@pytest.mark.slow
def test_a_projected_release_is_attacked_table_by_table() -> None:
    table = pair()
    release = dc.publish(table, "l-diversity(l=2)", dc.Codip(exposure=0, random_state=1))
    found = dc.attack(release, table, random_state=1)
    assert {one.attribute for one in found.evidence if one.attribute} == {"v", "w"}
    assert [one.attack for one in found.evidence].count("presence") <= 1  # which is about none of them
    for name in ("v", "w"):
        alone = replace(table, sensitive=(table.column(name),))
        target = Target.of(release.about(name), alone, context=Context(release, table))
        told = naive.told(release.about(name), alone)
        assert target.beliefs(slice(0, 1))[0] == pytest.approx(told(int(target.rows[target.person_of == 0][0])))


def test_the_command_line_shows_which_attribute_was_guessed(tmp_path: Path) -> None:
    from pyarrow.csv import write_csv

    table = pair(120)
    columns = {column.name: [column.values[code] for code in column.codes] for column in table.columns}
    write_csv(pa.table(columns), tmp_path / "pair.csv")
    dc.publish(table, "l-diversity(l=2)", "mondrian").save(tmp_path / "release")
    words = ("attack", str(tmp_path / "release"), "--original", str(tmp_path / "pair.csv"))
    told = json.loads(run(*words, "--attack", "background-join", "--json").stdout)
    assert [one["attribute"] for one in told["attacks"]] == ["v", "w"]
    shown = run(*words, "--attack", "beliefs").stdout
    assert "beliefs: v" in shown and "beliefs: w" in shown
    assert "give another with --with" in run(*words, "--attack", "composition", code=2).stderr
    assert "'q' is no sensitive attribute" in run(*words, "--attack", "background-join(known=q)", code=2).stderr
