"""Campaigns: what they say in all, and what becomes of the other attacks if one breaks down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.adversary.attacks import BackgroundJoin, Corners, NaiveBayes
from discreet.adversary.attacks.campaign import Campaign
from discreet.adversary.attacks.evidence import Evidence
from discreet.datasets import patients, patients_arrow
from discreet.errors import DiscreetError
from support.command import run

ASKED = ["beliefs", "naive-bayes", "corners", "background-join"]


def broken(*given: Any) -> Any:
    raise OverflowError("int too large\nto convert to float")


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """The command that attacks a release of the patients."""
    from pyarrow.csv import write_csv

    write_csv(patients_arrow(), tmp_path / "patients.csv")
    dc.publish(patients(), dc.BetaLikeness(1)).save(tmp_path / "release")
    named = [word for name in ASKED for word in ("--attack", name)]
    return ["attack", str(tmp_path / "release"), "--original", str(tmp_path / "patients.csv"), *named, "--seed", "1"]


# ------------------------------------------------------------------------------------------- attacks that break down


@pytest.mark.parametrize(
    ("kind", "place"), [(Corners, "measure"), (Corners, "refusal"), (NaiveBayes, "learn"), (BackgroundJoin, "against")]
)
def test_an_attack_that_breaks_down_takes_no_other_with_it(
    kind: type[Any], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = dc.publish(patients(), dc.BetaLikeness(1))
    whole = dc.attack(release, patients(), ASKED, random_state=1)
    monkeypatch.setattr(kind, place, broken)
    found = dc.attack(release, patients(), ASKED, random_state=1)
    assert list(found.failures) == [kind.name] and isinstance(found.failures[kind.name], OverflowError)
    assert [one.attack for one in found.evidence] == [one.attack for one in whole.evidence if one.attack != kind.name]
    assert found.evidence[0].successes == whole.evidence[0].successes
    assert whole.holds and not found.holds and f"{kind.name} FAILED" in found.verdict
    assert found.as_dict()["failures"] == {kind.name: "OverflowError: int too large to convert to float"}


def test_what_an_attack_refuses_late_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any) -> Any:
        raise DiscreetError("the release is too wide")

    release = dc.publish(patients(), dc.BetaLikeness(1))
    monkeypatch.setattr(Corners, "measure", refuse)
    found = dc.attack(release, patients(), ASKED, random_state=1)
    assert found.holds and found.refusals["corners"] == "the release is too wide" and not found.failures
    with pytest.raises(DiscreetError, match="corners does not apply: the release is too wide"):
        dc.attack(release, patients(), "corners")


def test_the_exit_code_of_an_attack_that_breaks_down_is_4(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from discreet.command.main import main

    monkeypatch.setattr(Corners, "measure", broken)
    monkeypatch.delenv("DISCREET_DEBUG", raising=False)
    shown = CliRunner().invoke(main, words)
    assert shown.exit_code == 4 and "corners FAILED" in shown.stdout and "beliefs guesses" in shown.stdout
    assert "discreet: corners: internal error (OverflowError: int too large to convert to float)" in shown.stderr
    assert "Traceback" not in shown.output
    told = CliRunner().invoke(main, [*words, "--json"])
    document = json.loads(told.stdout)
    assert told.exit_code == 4 and document["failures"] == {
        "corners": "OverflowError: int too large to convert to float"
    }
    assert len(document["attacks"]) == 2 and not document["holds"]
    monkeypatch.setenv("DISCREET_DEBUG", "1")
    assert "Traceback" in CliRunner().invoke(main, words).stderr


# ------------------------------------------------------------------------------------------------- what is said in all


def evidence(name: str, successes: int, bound: float | None, strain: float | None = None) -> Evidence:
    return Evidence(name, "the value", 48, successes, 0.3, bound=bound, strain=strain)


WITHIN, ABOVE, BEYOND = (
    evidence("trained", 20, 0.48),
    evidence("naive-bayes", 24, 0.48),
    evidence("definetti", 47, 0.48),
)


def test_the_verdict_does_not_say_what_the_table_denies() -> None:
    """24 of 48 are 50 %, and 48 % are allowed."""
    assert (ABOVE.above, ABOVE.exceeds) == (True, False) and (WITHIN.above, BEYOND.above) == (False, False)
    free = evidence("corruption", 48, None)
    assert "stays within what is promised" in Campaign([WITHIN]).verdict
    assert "Each of the 2 attacks" in Campaign([WITHIN, WITHIN]).verdict
    told = Campaign([WITHIN, ABOVE, free]).verdict
    assert "stays within" not in told and "EXCEEDED" not in told and "naive-bayes" in told
    assert "99.994 % interval" in told and "trained" not in told
    assert Campaign([WITHIN, ABOVE, free]).holds
    assert "2 others" in Campaign([WITHIN, free, free]).verdict, "nothing is said of attacks that nothing bounds"
    assert "EXCEEDED by definetti" in Campaign([WITHIN, ABOVE, BEYOND]).verdict
    assert "99.994 % interval" in ABOVE.sentence and "99.994 % interval" not in WITHIN.sentence
    assert ABOVE.as_dict()["above"] and not WITHIN.as_dict()["above"]


def test_the_table_marks_what_is_above_its_bound(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.jobs.attack.attack", lambda *given, **more: Campaign([WITHIN, ABOVE, BEYOND]))
    lines = [" ".join(line.split()) for line in run(*words, code=1).stdout.splitlines()]
    rows = {name: next(line for line in lines if line.startswith(name)) for name in ("trained", "naive-", "definetti")}
    assert "48.0 % -" in rows["trained"]
    assert "48.0 % above -" in rows["naive-"] and "48.0 % EXCEEDED -" in rows["definetti"]


def test_a_release_without_sensitive_attribute_adds_nothing_to_an_attack(words: list[str], tmp_path: Path) -> None:
    bare = dc.read(patients_arrow(), quasi=["age", "sex", "zip"], identifiers="name")
    dc.publish(bare, dc.KAnonymity(4)).save(tmp_path / "bare")
    said = run(*words, "--with", str(tmp_path / "bare"), code=2).stderr
    assert "a release to combine with has no sensitive attribute" in said and "leave it out" in said


def test_a_seed_below_zero_is_refused_as_by_publish(words: list[str]) -> None:
    assert "-1 is not in the range x>=0" in run(*words[:-1], "-1", code=2).stderr
