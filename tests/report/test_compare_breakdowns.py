"""Comparisons: what is left of them when something breaks down, what others may read, and what the time is spent on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numba
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.adversary.attacks import NaiveBayes
from discreet.adversary.audit import Audit
from discreet.adversary.check import Check
from discreet.command.main import main
from discreet.datasets import patients, patients_arrow
from discreet.kernels import compiling
from discreet.report import compare as room
from discreet.schemes import SCHEMES
from discreet.table.write import write_table

BETA = "beta-likeness(beta=2)"


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_DEBUG", raising=False)
    write_table(patients_arrow(), tmp_path / "patients.csv")
    command = "compare patients.csv --quasi age,sex,zip --sensitive disease --queries 50 --schemes cuts,mondrian"
    return [*command.split(), "--promise", BETA]


def broken(*given: Any) -> Any:
    raise OverflowError("42 rows are too many")


# ------------------------------------------------------------------------------------------------- what breaks down


def test_an_attack_that_breaks_down_is_told_beside_the_results(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NaiveBayes, "learn", broken)
    told = CliRunner().invoke(main, [*words, "--json"])
    results = json.loads(told.stdout)["results"]
    assert told.exit_code == 4 and [result["holds"] for result in results] == [True, True]
    for result in results:
        assert [one["attack"] for one in result["attacks"]] == ["beliefs"] and result["workload"]["median"] > 0
        assert result["errors"]["naive-bayes"] == "OverflowError: 42 rows are too many"
    assert "discreet: cuts, beta-likeness(beta=2), naive-bayes: internal error (OverflowError" in told.stderr


def test_a_scheme_that_breaks_down_is_told_beside_the_others(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SCHEMES["mondrian"], "publish", broken)
    shown = CliRunner().invoke(main, [*words, "--html", "page.html"])
    assert shown.exit_code == 4 and re.search(r"mondrian +FAILED", shown.stdout) and "holds" in shown.stdout
    page = Path("page.html").read_text(encoding="utf-8")
    assert "FAILED by an internal error" in page and "too many" not in page
    monkeypatch.setattr(SCHEMES["cuts"], "publish", broken)
    assert CliRunner().invoke(main, words).exit_code == 4


# ------------------------------------------------------------------------------------------- what others may read


def test_the_page_for_others_has_no_reasons_that_tell_of_the_table() -> None:
    table = dc.read(patients_arrow(), quasi=["age", "sex", "zip"], sensitive="weight", identifiers=["name"])
    promises = ["proximity(epsilon=10, m=2)", "proximity(epsilon=5, m=3)"]
    told = dc.compare(table, promises, ["retention", "cuts", "burel"], queries=20, random_state=1)
    reasons = [result.refusal for result in told.results if result.refusal is not None]
    assert any("rows hold numbers from 64 to 84" in reason for reason in reasons), reasons
    page = told.page()
    assert page.count("refused: it cannot make this promise about this table") == len(reasons)
    for reason in reasons:
        assert reason[:40] not in page and "64 to" not in page and "hold numbers" not in page
    assert json.loads(json.dumps(told.as_dict()))["results"][0]["refusal"] in reasons, "JSON is the steward's own"


@pytest.mark.slow
def test_the_page_for_others_names_failed_checks_without_their_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*given: Any, by: Any = room.audit, **more: Any) -> Audit:
        found = by(*given, **more)
        found.checks.append(Check("support", False, "Group 3 has 5 rows with 'flu'."))
        return found

    monkeypatch.setattr(room, "audit", failing)
    told = dc.compare(patients(), BETA, ["cuts"], queries=20, random_state=1)
    assert told.broken and told.results[0].failures == ["Group 3 has 5 rows with 'flu'."]
    assert "cuts, beta-likeness(beta=2): support" in told.page() and "flu" not in told.page()


# -------------------------------------------------------------------------------------------- what time is spent on


@pytest.mark.slow
@pytest.mark.skipif(bool(compiling.config.DISABLE_JIT), reason="nothing is compiled")
def test_compiling_is_told_for_each_scheme_and_counted_apart(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(10_000_000))
    monkeypatch.setattr(compiling.time, "perf_counter", lambda: float(next(seconds)))  # each look takes a second
    for name in ("cuts", "mondrian"):
        kind = SCHEMES[name]

        def publish(self: Any, *given: Any, by: Any = kind.publish) -> Any:
            numba.njit(lambda x: x + 1)(1)
            return by(self, *given)

        monkeypatch.setattr(kind, "publish", publish)
    shown = CliRunner().invoke(main, words)
    assert shown.exit_code == 0, shown.output
    told = [line for line in shown.stderr.splitlines() if line.endswith("(compiling)")]
    assert told == [f"1 of 2: cuts, {BETA} (compiling)", f"2 of 2: mondrian, {BETA} (compiling)"]
    assert shown.stderr.count("Compiling numerical code for this scheme and kind of table") == 1
    assert re.search(r"without [\d,.]+ of compiling and warming up", shown.stdout)
    found = dc.compare(patients(), BETA, ["cuts"], queries=20, random_state=1)
    assert found.results[0].warm_up == found.warm_up > 0
