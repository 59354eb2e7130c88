"""What all attacks have in common: whom they attack, how guesses are scored, and what the outcome is compared with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.adversary.attacks import ATTACKS
from discreet.adversary.attacks.campaign import chosen
from discreet.adversary.attacks.evidence import Evidence, wilson
from discreet.adversary.attacks.target import Target
from discreet.datasets import census, patients, patients_arrow
from discreet.releases import FORMATS, write_trace
from discreet.table.table import Table
from naive import attacks as naive
from support.attacked import MAKERS, made_formats, people, release_by
from support.command import run
from support.releases import publish, random_table


def homogeneous(rows: int = 60) -> tuple[Table, dc.Release]:
    """A table and its 3-anonymous release in which everyone of a group has the same disease."""
    ages = np.arange(rows) // 3
    table = dc.read(
        pa.table({"age": ages, "disease": [f"d{age % 5}" for age in ages]}), quasi=["age"], sensitive="disease"
    )
    return table, publish(table, ages)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", MAKERS)
def test_beliefs_are_scored_as_by_asking_for_everyone_alone(scheme: str) -> None:
    table, release = people(), release_by(scheme)
    (found,) = dc.attack(release, table, "beliefs").evidence
    expected = naive.outcome(release, table, naive.told(release, table))
    assert found.victims == table.rows and found.successes == expected.successes
    assert found.hurt is not None and found.hurt.belief == pytest.approx(expected.strongest)
    assert found.baseline == pytest.approx(max(np.bincount(table.sensitive_codes)) / table.rows)


def test_beliefs_are_shares_in_groups_and_judged_against_their_bounds() -> None:
    """Groups of one sex and age each, so that everyone's group is certain."""
    table = people()
    groups = [int(one) for one in table.quasi[0].codes // 8 * 2 + table.quasi[1].codes]
    release = publish(table, groups)
    release.manifest["promise"] = ["beta-likeness(beta=3, variant=basic)"]
    truth = naive.sensitive_columns(table)
    values = sorted(set(truth))
    shares = {value: truth.count(value) / len(truth) for value in values}
    (found,) = dc.attack(release, table, "beliefs").evidence
    lines = [[naive.share_in_group(groups, truth, row, value) for value in values] for row in range(table.rows)]
    ratios = [belief / shares[value] for line in lines for belief, value in zip(line, values, strict=True)]
    assert found.successes == naive.outcome(release, table, lambda row: lines[row]).successes
    assert found.gain == pytest.approx(max(ratios)) and found.redrawn == pytest.approx(
        np.mean([max(one) for one in lines])
    )
    capped = [belief / min(1, 4 * shares[value]) for line in lines for belief, value in zip(line, values, strict=True)]
    assert found.strain == pytest.approx(max(capped))


def test_there_is_a_release_of_every_format() -> None:
    assert made_formats() == set(FORMATS.built_in) and len(MAKERS) == len(FORMATS.built_in)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", MAKERS)
def test_every_attack_runs_on_every_format_from_its_files_or_says_why_not(scheme: str, tmp_path: Path) -> None:
    release_by(scheme).save(tmp_path / "release")
    found = dc.attack(tmp_path / "release", people(), random_state=1)
    told = {one.attack.partition("(")[0] for one in found.evidence} | {
        name.partition("(")[0] for name in found.refusals
    }
    assert told == set(ATTACKS)
    for one in found.evidence:
        assert 0 < one.victims <= people().rows and one.ceiling is not None and one.redrawn is not None
        assert one.rate <= 1.0 and one.sentence.startswith("Of ") and json.dumps(one.as_dict())
    for reason in found.refusals.values():
        assert reason and "\n" not in reason and not reason.endswith(".")


COVERED = tuple(scheme for scheme in MAKERS if "graph" not in scheme)
"""The graph of heterogeneous generalization keeps its promise against whoever knows the matches, not by its boxes."""


@pytest.mark.parametrize("scheme", COVERED)
def test_releases_that_promise_to_resist_keep_beliefs_within_their_bounds(scheme: str) -> None:
    """No chance is involved in the beliefs; the rate may exceed the bound once in 30,000 such releases."""
    (found,) = dc.attack(release_by(scheme), people(), "beliefs").evidence
    assert not found.exceeds
    if found.strain is not None:
        assert 0 < found.strain <= 1 + 1e-9 and found.bound is not None and found.rate <= found.bound + 0.05


def test_a_homogeneous_release_is_guessed_entirely() -> None:
    table, release = homogeneous()
    (found,) = dc.attack(release, table, "beliefs").evidence
    assert found.rate == 1.0 and found.baseline == pytest.approx(0.2) and found.redrawn == 1.0
    assert found.hurt == (0, 1.0, pytest.approx(0.2)) and found.gain == pytest.approx(5.0)
    assert found.bound is None and not found.exceeds  # k-anonymity promises nothing about values


def test_a_broken_promise_is_exceeded_by_single_beliefs_and_by_the_rate() -> None:
    table, weak = homogeneous()
    weak.manifest["promise"] = ["l-diversity(l=2)"]
    found = dc.attack(weak, table, "beliefs")
    assert not found.holds and found.evidence[0].strain == pytest.approx(2.0)
    assert found.evidence[0].bound == pytest.approx(0.5) and "EXCEEDED by beliefs" in found.verdict


def test_withheld_persons_are_guessed_from_what_is_missing() -> None:
    """Nobody is published at ages 0 to 5, so these are the persons whose values are missing: all d0 and d1."""
    table, _ = homogeneous()
    ages = table.quasi[0].codes
    release = publish(table, np.where(ages < 2, -1, ages))
    (found,) = dc.attack(release, table, "beliefs").evidence
    assert found.successes == 54 + 3  # half of the six withheld
    assert found.successes == naive.outcome(release, table, naive.told(release, table)).successes


def test_the_original_itself_is_the_ceiling() -> None:
    table = census(400, quasi=("gender", "education"), seed=3)
    (found,) = dc.attack(dc.publish(table, dc.KAnonymity(50)), table, "beliefs").evidence
    by_point: dict[tuple[int, ...], list[int]] = {}
    for row in range(table.rows):
        by_point.setdefault(tuple(int(column.codes[row]) for column in table.quasi), []).append(
            int(table.sensitive_codes[row])
        )
    most = sum(max(map(values.count, values)) for values in by_point.values())
    assert found.ceiling == pytest.approx(most / table.rows) and found.rate < most / table.rows


def test_an_attack_on_one_release_refuses_several() -> None:
    table, release = homogeneous()
    with pytest.raises(dc.DiscreetError, match="one release at a time; 'composition'"):
        dc.attack(release, table, "beliefs", others=[release])


def test_outsiders_are_guessed_from_what_holds_for_anybody() -> None:
    table, release = homogeneous()
    strangers = dc.read(
        pa.table({"age": [3, 4, 5, 6], "disease": ["d3", "d4", "d1", "d1"]}), quasi=["age"], sensitive="disease"
    )
    (found,) = dc.attack(release, table, "beliefs", outsiders=strangers).evidence
    assert found.outsiders == 0.75 and found.rate == 1.0 and "people who are not in it 75.0 %" in found.sentence


def test_victims_can_be_drawn_and_a_seed_repeats_the_draw() -> None:
    table, release = people(), release_by("mondrian")
    one, same = (dc.attack(release, table, "beliefs", victims=100, random_state=7).evidence[0] for _ in range(2))
    other = dc.attack(release, table, "beliefs", victims=100, random_state=8)
    assert one == same and one.victims == 100 and other.evidence[0] != one
    assert "100 were attacked, drawn at random" in " ".join(other.notes)


STANDS_FOR_SEVERAL = ("background-join", "singling-out")
"""The attacks whose names are those of several."""


@pytest.mark.parametrize("attack", [name for name in ATTACKS.built_in if name not in STANDS_FOR_SEVERAL])
def test_progress_names_the_attack_and_never_goes_back(attack: str) -> None:
    told: list[tuple[str, float]] = []
    others = [release_by("anatomy")] if ATTACKS[attack].several else []
    how = {"others": others, "outsiders": people(), "progress": lambda *step: told.append(step)}
    dc.attack(release_by("mondrian"), people(), attack, **how)
    assert {stage for stage, _ in told} == {f"attacking: {attack}"} and len(told) >= 4
    shares = [share for _, share in told]
    assert shares == sorted(shares) and shares[0] >= 0.0 and shares[-1] <= 1.0


@pytest.mark.parametrize(("successes", "trials"), [(0, 5), (3, 10), (500, 10_000), (7, 7)])
def test_the_ends_of_the_interval_are_the_rates_that_are_just_not_rejected(successes: int, trials: int) -> None:
    share = successes / trials
    for end in wilson(successes, trials):
        if 0.0 < end < 1.0:
            assert abs(share - end) == pytest.approx(1.959964 * np.sqrt(end * (1 - end) / trials))
    low, high = wilson(successes, trials)
    assert low <= share <= high and (low == 0.0) == (successes == 0) and (high == 1.0) == (successes == trials)


def test_only_what_is_beyond_doubt_exceeds_a_bound() -> None:
    def at(successes: int, trials: int) -> bool:
        return Evidence("a", "b", trials, successes, baseline=0.1, bound=0.5).exceeds

    assert not at(60, 100) and at(80, 100) and at(5_300, 10_000) and not at(5_100, 10_000)


def test_what_cannot_be_attacked_is_refused_in_a_sentence(tmp_path: Path) -> None:
    table, release = homogeneous()
    for wrong, words in (
        ("nonsense", "no attack is called"),
        ("beliefs(x=1)", "has no parameter"),
        ([], "no attack was"),
    ):
        with pytest.raises(dc.DiscreetError, match=words):
            dc.attack(release, table, wrong)
    with pytest.raises(dc.DiscreetError, match="is no attack"):
        dc.attack(release, table, 7)  # type: ignore[arg-type]
    with pytest.raises(dc.DiscreetError, match="nobody to attack"):
        dc.attack(release, table, "beliefs", victims=0)
    plain = dc.read(pa.table({"age": [1, 2]}), quasi=["age"])
    with pytest.raises(dc.DiscreetError, match="no sensitive attribute"):
        dc.attack(publish(plain, [0, 0]), plain)
    with pytest.raises(dc.DiscreetError, match="sensitive attribute of the release is 'disease'"):
        dc.attack(release, plain)


# ------------------------------------------------------------------------------------------------------ command line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The patients and a release of them."""
    from pyarrow.csv import write_csv

    write_csv(patients_arrow(), tmp_path / "patients.csv")
    dc.publish(patients(), dc.BetaLikeness(1)).save(tmp_path / "release")
    dc.publish(patients(), dc.BetaLikeness(2)).save(tmp_path / "second")
    return tmp_path


@pytest.mark.slow
def test_the_command_line_attacks_the_files(folder: Path) -> None:
    words = ("attack", str(folder / "release"), "--original", str(folder / "patients.csv"))
    told = json.loads(run(*words, "--attack", "beliefs", "--json").stdout)
    (found,) = dc.attack(folder / "release", patients(), "beliefs").evidence
    assert told["holds"] and told["attacks"][0]["successes"] == found.successes
    assert told["promise"] == ["beta-likeness(beta=1)"]
    shown = run(*words).stdout
    assert "stays within what is promised" in shown and "beliefs" in shown and found.sentence in shown
    assert run(*words, "--attack", "beliefs", "--quiet").stdout == ""


def test_the_exit_code_tells_whether_the_promise_was_exceeded(folder: Path) -> None:
    words = ("attack", str(folder / "release"), "--original", str(folder / "patients.csv"))
    for number, scheme in enumerate((dc.Mondrian(), dc.Anatomy(random_state=1))):
        dc.publish(patients(), dc.LDiversity(3), scheme).save(folder / str(number))
    both = (str(folder / "0"), *words[2:], "--with", str(folder / "1"), "--attack", "intersection")
    assert "EXCEEDED by intersection" in run("attack", *both, code=1).stdout
    assert "no attack is called 'nonsense'" in run(*words, "--attack", "nonsense", code=2).stderr
    assert "patients.cvs" in run(*words[:3], "patients.cvs", code=2).stderr


def test_the_help_names_every_attack() -> None:
    told = " ".join(run("attack", "--help").stdout.split())
    assert all(name in told for name in ATTACKS.built_in)


def test_an_adversary_who_knows_the_groups_is_told_by_the_trace(folder: Path) -> None:
    """Overlapping groups {a, a} and {a, b} of equal persons: half of what is believed is by which group one is in."""
    table = dc.read(pa.table({"age": [1, 1, 1, 1], "v": list("aaab")}), quasi=["age"], sensitive="v")
    release = publish(table, [0, 0, 1, 1])
    without, knowing = (
        dc.attack(release, table, "beliefs", trace=trace).evidence[0] for trace in (None, release.trace)
    )
    assert without.hurt is not None and without.hurt.belief == 0.75
    assert knowing.hurt == (0, 1.0, 0.75) and knowing.redrawn == 0.75
    partly = publish(table, [0, 0, 0, -1])
    (withheld,) = dc.attack(partly, table, "beliefs", trace=partly.trace).evidence
    assert withheld.rate == 1.0  # b is missing, and so is who is known to be withheld
    (corrupted,) = dc.attack(release, table, dc.Corruption(0.5), trace=release.trace, random_state=2).evidence
    assert corrupted.details["group_certain"] == 2


def test_the_trace_has_to_be_that_of_the_release(folder: Path) -> None:
    table, release = homogeneous()
    with pytest.raises(dc.DiscreetError, match="not the trace of the release"):
        dc.attack(release, table, "beliefs", trace=np.full(table.rows, 99))
    with pytest.raises(dc.DiscreetError, match="leave out the trace"):
        dc.attack(release_by("lifting"), people(), "beliefs", trace=release_by("lifting").trace)
    words = ("attack", str(folder / "release"), "--original", str(folder / "patients.csv"), "--attack", "beliefs")
    assert "cannot be read as a table" in run(*words, "--trace", str(folder / "patients.csv"), code=2).stderr
    traced = dc.publish(patients(), dc.BetaLikeness(1))
    traced.save(folder / "traced")
    write_trace(traced, folder / "trace.csv")
    words = ("attack", str(folder / "traced"), *words[2:], "--trace", str(folder / "trace.csv"), "--json")
    assert json.loads(run(*words).stdout)["attacks"][0]["strain"] <= 1 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sensitive", ["categorical", "numeric", "ordinal"])
def test_odd_tables_are_attacked_too(sensitive: str, seed: int, tmp_path: Path) -> None:
    """Missing values, names that are hard to quote, withheld rows; beliefs stay within the bounds of their promises."""
    table = random_table(np.random.default_rng(seed), 40, sensitive)
    for number, promise in enumerate((dc.BetaLikeness(2), dc.KAnonymity(3))):
        dc.publish(table, promise, scheme=dc.Cuts(random_state=seed)).save(tmp_path / str(number))
        found = dc.attack(tmp_path / str(number), table, random_state=seed, outsiders=table)
        assert all(0 <= one.rate <= 1 for one in found.evidence) and len(found.evidence) >= 6
        assert not any(one.exceeds for one in found.evidence if one.attack in ("beliefs", "similarity"))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", MAKERS)
def test_whose_value_is_whose_does_not_enter_the_guesses(scheme: str) -> None:
    """Attacks see everyone's quasi-identifiers and the prior: with the values dealt anew, they believe the same."""
    table, release = people(), release_by(scheme)
    sensitive_attribute = table.sensitive[0]
    shuffled = replace(sensitive_attribute, codes=np.random.default_rng(3).permutation(sensitive_attribute.codes))
    other = Table(table.rows, table.quasi, shuffled)
    for attack in chosen("all"):
        one, same = (Target.of(release, of, random=np.random.default_rng(5)) for of in (table, other))
        if attack.refusal(one) is None and attack.name != "corruption":  # which is told some of the values
            everyone = slice(0, len(one.people[0].codes))
            assert np.array_equal(attack.learn(one).beliefs(everyone), attack.learn(same).beliefs(everyone))
