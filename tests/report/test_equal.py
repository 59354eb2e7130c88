"""Comparisons on equal terms, and by the workloads of the papers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.command import interface
from discreet.datasets import census, patients
from discreet.errors import DiscreetError
from discreet.report.compare import compare
from discreet.report.equal import Equal, farthest
from discreet.report.workloads import WORKLOADS, draw
from support.command import refused, run

READ = ("people.csv", "--quasi", "age,gender,education", "--sensitive", "salary", "--schemes", "cuts, mondrian")


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run("data", "get", "census", "--rows", "600", "-o", "people.csv")
    return tmp_path


@pytest.mark.parametrize(("limit", "grows"), [(10.0, True), (0.3, False), (0.2, True), (40.0, False)])
def test_the_farthest_value_is_found_from_either_side(limit: float, grows: bool) -> None:
    tried: list[float] = []

    def kept(value: float) -> bool:
        tried.append(value)
        return value <= limit if grows else value >= limit

    found = farthest(kept, 1.0, grows=grows)
    assert kept(found) and abs(found / limit - 1) < 0.01 and len(tried) < 25


def test_values_that_are_refused_are_not_kept_and_the_last_refusal_is_said() -> None:
    def kept(value: float) -> bool:
        if value > 1:
            raise DiscreetError("t must be at most 1")
        return True

    assert 0.99 < farthest(kept, 0.1, grows=True) <= 1
    with pytest.raises(DiscreetError, match="t must be at most 1"):
        farthest(lambda value: kept(value + 2), 0.5, grows=False)
    with pytest.raises(DiscreetError, match="no parameter makes terms equal"):
        farthest(lambda value: False, 1.0, grows=True)


@pytest.mark.parametrize("text", ["t", "t=", "t=2", "loss=0", "k=3", "=0.1", "t=nan"])
def test_terms_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(DiscreetError, match=r"try t=0\.1 or loss=0\.3"):
        Equal.parse(text)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["t=0.15", "loss=0.4"])
def test_releases_have_the_same_t_or_loss(text: str) -> None:
    table, equal = census(1_000), Equal.parse(text)
    promises = ["beta-likeness(beta=1)", "t-closeness(t=0.1, distance=ordered)"]
    comparison = compare(table, promises, ["mondrian(marginals=none)"], equal=text, queries=20, random_state=1)
    assert [result.promise for result in comparison.results] == promises
    for result in comparison.results:
        assert result.audit is not None and result.audit.holds and result.found not in (None, result.promise)
        scheme = dc.Mondrian(snap=False, random_state=1)
        assert equal.of(scheme.publish(table, dc.parse(str(result.found))), table) <= equal.value + 1e-9
        if equal.measured == "t":
            assert result.achieved["t"] is not None and result.achieved["t"] <= equal.value + 1e-9
    weaker = compare(table, promises[:1], ["mondrian"], equal=text.replace("0.", "0.9"), queries=20, random_state=1)
    assert weaker.results[0].found != comparison.results[0].found


def test_what_has_no_groups_has_no_t_and_what_is_exact_no_loss() -> None:
    table = census(300)
    promise = ["beta-likeness(beta=2)"]
    for text, said in (("t=0.1", "it has no groups"), ("loss=0.1", "its quasi-identifiers are exact")):
        (result,) = compare(table, promise, ["perturbation"], equal=text, queries=5).results
        assert result.audit is None and said in str(result.refusal)
    both = ["k-anonymity(k=2) & beta-likeness(beta=2)"]
    (result,) = compare(table, both, ["cuts"], equal="t=0.1", queries=5).results
    assert "has several parameters to search" in str(result.refusal)


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_workload_of_a_paper_is_drawn_with_its_exact_answers(name: str) -> None:
    table = patients()
    drawn = draw(table, name, 60, 2, None, None, 1)
    assert drawn.asked.name == name and drawn.asked.queries == len(drawn.queries) > 0
    naive = dc.publish(table, "k-anonymity(k=1)", dc.Cuts(snap=False, marginals="none"))
    counted = naive.estimates(drawn.queries)
    assert len(counted) == len(drawn.exact) and np.isfinite(counted).all()
    assert drawn.asked.dropped == (drawn.exact == 0).sum()
    again = draw(table, name, 60, 2, None, None, 1)
    assert again.queries == drawn.queries
    assert {"prefix": "prefix", "a": "GROUP BY"}.get(name if name == "prefix" else name[0], "") in drawn.asked.size


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "prefixes"}, "choose from beta, proximity"),
        ({"name": "prefix", "volume": 0.1}, "the workload prefix has no volume"),
        ({"name": "ambiguity-1", "selectivity": 0.1}, "has no selectivity; leave out selectivity, or choose beta"),
        ({"name": None, "selectivity": 0.1, "volume": 0.1}, "not both"),
    ],
)
def test_workloads_that_contradict_themselves_are_refused(given: dict[str, Any], said: str) -> None:
    asked = {"name": None, "selectivity": None, "volume": None, **given}
    with pytest.raises(DiscreetError, match=said):
        draw(patients(), asked["name"], 10, None, asked["selectivity"], asked["volume"], 1)


def test_the_command_knows_all_workloads() -> None:
    assert interface.WORKLOADS == WORKLOADS


@pytest.mark.slow
def test_the_command_compares_by_a_workload_and_on_equal_terms(people: Path) -> None:
    words = ("compare", *READ, "--promise", "beta-likeness(beta=2)", "--queries", "50", "--seed", "1")
    shown = run(*words, "--workload", "ambiguity-2", "--equal", "t=0.2").stdout
    assert "GROUP BY" in shown and "found beta-likeness(beta=" in shown
    document = json.loads(run(*words, "--workload", "prefix", "--json").stdout)
    assert document["workload"]["name"] == "prefix" and document["results"][0]["found"] is None
    assert "says neither" in refused(*words, "--equal", "k=3")
    assert "has no volume" in refused(*words, "--workload", "prefix", "--volume", "0.1")
