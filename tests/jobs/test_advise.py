"""Advice: its figures are those of a release that publish makes, its choice is the best by definition, and what it
suggests runs as printed."""

from __future__ import annotations

import itertools
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.analyst.quality import quality
from discreet.datasets import census, patients
from discreet.jobs import advise as work
from discreet.principles import Prior, parse
from discreet.report.advice import NEAR, RECIPIENTS, Candidate, Strength
from discreet.report.profile import strengths_of, suggest_promises, suggest_strengths
from discreet.schemes import make_scheme
from support.command import refused, run

ROLES = ("--quasi", "age,sex,zip", "--sensitive", "disease", "--identifier", "name")


def candidate(error: float | None, guessed: float | None, hidden: bool) -> Candidate:
    return Candidate("p", "s", not hidden, hidden, error, 0.5, 5, 0.0, 0.0, 0.5, guessed, 0.1, 1.0)


CANDIDATES = st.lists(
    st.builds(candidate, st.none() | st.floats(0, 2), st.none() | st.floats(0, 1), st.booleans()), max_size=6
)


@given(CANDIDATES, st.booleans())
def test_the_choice_is_within_a_tenth_of_the_best_and_guessed_least(found: list[Candidate], exact: bool) -> None:
    best = Strength("usual", "p", "p", (), tuple(found)).best(exact=exact)
    allowed = [each for each in found if exact or each.hidden]
    if not allowed:
        assert best is None
        return
    assert best is not None and best in allowed
    errors = [each.error for each in allowed if each.error is not None]
    if not errors:
        return
    assert best.error is not None and best.error <= NEAR * min(errors)
    rivals = [each for each in allowed if each.error is not None and each.error <= NEAR * min(errors)]
    assert (best.guessed or 0.0) == min(each.guessed or 0.0 for each in rivals)


@pytest.mark.parametrize("name", ["patients", "diverse", "numbers", "rare", "nothing", "two"])
def test_strengths_bound_less_and_less_and_the_usual_one_is_suggested(name: str) -> None:
    sensitive = {"numbers": "income", "rare": "race"}.get(name, "occupation")
    table = patients() if name == "patients" else census(400, quasi=("age", "gender", "education"), sensitive=sensitive)
    if name in ("nothing", "two"):
        table = replace(table, quasi=table.quasi[:2], sensitive=() if name == "nothing" else table.columns[2:])
    strengths = strengths_of(table)
    usual = [str(part) for part in strengths.usual.parts]
    assert suggest_promises(table) == ["k-anonymity(k=5)", *(each for each in usual if not each.startswith("k-an"))]
    if len(table.sensitive) == 1:
        prior = Prior.of(table)
        for stronger, weaker in itertools.pairwise(strengths):
            tight, loose = stronger.caps(prior), weaker.caps(prior)
            assert (tight is None) == (loose is None)
            assert tight is None or loose is None or (tight <= loose + 1e-12).all()
    else:
        assert all(part.about in (None, *(column.name for column in table.sensitive)) for part in strengths.mild.parts)


def test_a_stronger_promise_than_the_suggested_one_can_be_kept() -> None:
    for counts in ([40, 60], [10, 10, 9, 9, 10], [1] * 30, [5, 5, 5, 5, 4], [99, 1]):
        prior = Prior(np.array(counts), tuple(map(str, range(len(counts)))))
        for promise in suggest_strengths(prior):
            assert promise.reachable(prior).feasible, (counts, str(promise))


@pytest.mark.slow
def test_figures_are_those_of_what_publish_makes() -> None:
    table = census(600, quasi=("age", "gender", "education"), sensitive="work_class", seed=3)
    advice = dc.advise(table)
    assert [strength.name for strength in advice.strengths] == ["strict", "usual", "mild"]
    for strength in advice.strengths:
        assert strength.candidates and not strength.failures
        for found in strength.candidates:
            release = dc.publish(table, found.promise, make_scheme(found.scheme, random_state=work.SEED))
            good = quality(release, table)
            assert found.error == pytest.approx(good.median_error)
            assert advice.baseline_error == pytest.approx(good.baseline_error)
            assert found.exact == release.exact_quasi and found.hidden == ("k-anonymity(k=5)" in found.promise)
            grouped = None if found.smallest is None else release.grouped
            if grouped is not None:
                assert found.smallest == grouped.counts.sizes.min() >= (5 if found.hidden else 1)
    for recipient, made in zip(RECIPIENTS, advice.recommendations, strict=True):
        assert made.release is not None and (recipient.exact or made.release.hidden)
        assert made.release in next(each for each in advice.strengths if each.name == made.strength).candidates


@pytest.mark.slow
def test_the_advice_is_the_same_each_time_and_whatever_the_order_of_rows() -> None:
    table = patients()

    def plain(advice: dc.Advice) -> str:
        document = advice.as_dict()
        for strength in document["strengths"]:
            for each in strength["candidates"]:
                del each["seconds"]
        for each in document["recommendations"]:
            del each["release"]["seconds"]
        return json.dumps(document)

    stages: list[str] = []
    first = plain(dc.advise(table, progress=lambda stage, share: stages.append(f"{stage} {0.0 <= share <= 1.0}")))
    assert first == plain(dc.advise(table))
    assert any("1 of 39: cuts" in stage for stage in stages) and all(stage.endswith("True") for stage in stages)


@pytest.mark.slow
def test_suggested_commands_run_as_printed(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = json.loads(run("advise", "patients.csv", *ROLES, "--categorical", "zip", "--json").stdout)
    printed = run("advise", "patients.csv", *ROLES, "--categorical", "zip").stdout
    assert len(document["recommendations"]) == 3
    for at, made in enumerate(document["recommendations"]):
        command = made["command"]
        assert f"  {command}\n" in printed and "--seed" not in command and "--categorical zip" in command
        home = people / str(at)
        home.mkdir()
        (home / "patients.csv").write_bytes((people / "patients.csv").read_bytes())
        monkeypatch.chdir(home)
        run(*shlex.split(command)[1:])
        manifest = json.loads((home / "release" / "release.json").read_text(encoding="utf-8"))
        assert set(manifest["promise"]) == {str(part) for part in parse(made["release"]["promise"]).parts}
        assert manifest["scheme"]["name"] == made["release"]["scheme"].partition("(")[0]


@pytest.mark.slow
def test_without_a_sensitive_attribute_groups_are_what_is_promised(people: Path) -> None:
    advice = json.loads(run("advise", "patients.csv", *ROLES[:2], "--json").stdout)
    assert [strength["promise"] for strength in advice["strengths"]] == [f"k-anonymity(k={k})" for k in (10, 5, 3)]
    for strength in advice["strengths"]:
        assert all(each["hidden"] and each["guessed"] is None for each in strength["candidates"])
    assert all(each["release"]["smallest"] >= 3 for each in advice["recommendations"])


@pytest.mark.slow
def test_of_a_large_table_a_sample_is_published_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MOST_ROWS", 30)
    assert dc.advise(patients()).measured == 30
    table = replace(patients(), person=np.repeat(np.arange(16, dtype=np.int32), 3))
    sample = work._sample(table)
    assert sample.rows == 30 and sample.persons == 10, "all rows of a person, or none"
    monkeypatch.setattr(work, "MANY_VALUES", 3)
    monkeypatch.setattr(work, "FEWER_ROWS", 20)
    assert work._sample(patients()).rows == 20


@pytest.mark.slow
def test_a_scheme_that_breaks_down_is_an_internal_error(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.schemes.cuts.scheme import Mondrian

    def broken(*given: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Mondrian, "publish", broken)
    from click.testing import CliRunner

    from discreet.command.main import main

    result = CliRunner().invoke(main, ["advise", "patients.csv", *ROLES])
    assert result.exit_code == 4 and "mondrian, k-anonymity(k=5) & l-diversity(l=4)" in result.output
    assert "For open web: strict, cuts" in result.stdout, "the others are judged all the same"


def test_what_cannot_be_advised_on_is_refused_in_a_sentence(people: Path) -> None:
    assert "no quasi-identifier is named" in run("advise", "patients.csv", "--sensitive", "disease", code=2).stderr
    Path("gaps.csv").write_text("age,ill\n30,a\n,b\n41,a\n", encoding="utf-8")
    words = ("advise", "gaps.csv", "--quasi", "age", "--sensitive", "ill")
    assert "--missing" in refused(*words)
    assert "--most-withheld" in run(*words, "--missing", "withhold", code=2).stderr
    with pytest.raises(dc.DiscreetError, match="no rows"):
        dc.advise(patients().reordered(np.zeros(0, np.int64)))
