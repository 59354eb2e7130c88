"""What attacks find in a comparison: as numbers, in a sentence, and in the picture."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dc
from discreet.datasets import census, patients, patients_arrow
from discreet.report import compare as comparing
from discreet.report.measures import GUESSED, best
from discreet.report.plots import PLOTS, draw, families
from discreet.table.table import Table
from discreet.table.write import write_table
from support.command import run


@pytest.fixture(scope="module")
def table() -> Table:
    return census(600)


@pytest.fixture(scope="module")
def told(table: Table) -> dc.Comparison:
    promises = ["beta-likeness(beta=1)", "beta-likeness(beta=4)"]
    return dc.compare(table, promises, ["cuts", "burel", "perturbation"], queries=50, random_state=1)


@pytest.mark.slow
def test_the_numbers_are_those_of_attacks_on_the_files(told: dc.Comparison, table: Table) -> None:
    first = told.results[0]
    release = dc.publish(table, "beta-likeness(beta=1)", dc.Cuts(random_state=1, snap=False))
    found = dc.attack(release, table, comparing.GUESSES).evidence
    assert [(one.attack, one.successes) for one in first.evidence] == [(one.attack, one.successes) for one in found]
    assert first.guessed == max(one.rate for one in found) and told.without_release == found[0].baseline
    assert told.from_original == max(one.ceiling or 0.0 for one in found) > first.guessed
    # where nothing is described there is one way to read it
    assert [len(result.evidence) for result in told.results] == [3, 3, 2] * 2


def test_the_same_people_are_attacked_in_every_release(monkeypatch: pytest.MonkeyPatch, table: Table) -> None:
    monkeypatch.setattr(comparing, "VICTIMS", 100)
    some = dc.compare(table, "beta-likeness(beta=2)", ["cuts", "burel"], queries=10, random_state=1)
    assert {one.victims for result in some.results for one in result.evidence} == {100}
    assert len({one.baseline for result in some.results for one in result.evidence}) == 1


def test_the_sentence_names_the_trade(told: dc.Comparison) -> None:
    assert told.trade is not None and "no promise here forbids it" in told.trade
    least = min(told.results, key=lambda one: one.guessed or 0.0)
    most = max(told.results, key=lambda one: one.guessed or 0.0)
    assert f"({least.scheme}) to " in told.trade and f"({most.scheme}) from these releases" in told.trade
    assert told.trade in told.page().replace("&#39;", "'")
    assert not best(GUESSED, told.results), "less is safer and tells less, so none is best"


def test_the_picture_has_what_rates_are_compared_with(told: dc.Comparison) -> None:
    plot = next(plot for plot in PLOTS if plot.measure is GUESSED)
    for promises in (told.promises, told.promises[:1]):
        (family,) = families(promises)
        drawn = draw(told, family, plot)
        assert drawn is not None and drawn.count("without a release") >= 1 and drawn.count("from the original") >= 1
        assert drawn.count('stroke-dasharray="4,3"') == 2, "one line each"


def test_the_terminal_and_json_say_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(patients_arrow(), tmp_path / "patients.csv")
    words = ["compare", "patients.csv", "--quasi", "age,sex,zip", "--sensitive", "disease", "--queries", "20"]
    words += ["--promise", "beta-likeness(beta=2)", "--schemes", "cuts,mondrian", "--seed", "1"]
    shown = " ".join(run(*words).stdout.split())
    assert "Guessed: the best of a few attacks" in shown
    found = json.loads(run(*words, "--json").stdout)
    assert found["trade"].startswith("Guessed: ") and found["guessed"]["without_release"] > 0
    rates = [one["rate"] for one in found["results"][0]["attacks"]]
    assert found["results"][0]["guessed"] == max(rates) and len(rates) == 3


def test_without_a_sensitive_attribute_nothing_is_guessed() -> None:
    bare = dc.read(pa.table({"age": [1, 2, 3, 4] * 3, "zip": [5, 6] * 6}), quasi=["age", "zip"])
    told = dc.compare(bare, "k-anonymity(k=3)", ["cuts"], queries=10)
    assert told.results[0].evidence == () and told.results[0].guessed is None and told.trade is None
    assert "What can be guessed" not in told.page() and "Sensitive values guessed" not in told.page()


def test_a_promise_of_a_different_kind_is_called_one() -> None:
    drawn = dc.PrivBayes(domains="observed", random_state=1)
    told = dc.compare(patients(), ["differential-privacy(epsilon=1)"], [drawn], queries=20, random_state=1)
    assert told.results[0].audit is not None and told.results[0].audit.holds
    assert "a promise of a different kind" in (told.trade or "") and "a promise of a different kind" in told.page()
    other = dc.compare(patients(), ["l-diversity(l=2)"], ["mondrian"], queries=20, random_state=1)
    assert "different kind" not in (other.trade or "")
