"""The parameter that groups keep on average, beside that of the worst (Avg t and Avg l of the beta-likeness paper)."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.datasets import census, patients
from naive import principles as naive
from support.command import run

OTHERS = ("t-closeness(t=1, distance=ordered)", "l-diversity(l=1)")


def by_definition(folder: Path, sensitive: str, prior: Counter[str]) -> tuple[list[float], list[Fraction]]:
    """The distance and the diversity of every group, from the lines of its table."""
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    with (folder / "table.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            groups[row["group"]][row[sensitive]] += 1
    values = sorted(prior, key=float)
    whole = [prior[value] for value in values]
    distances = [naive.emd([one[value] for value in values], whole, naive.ordered(whole)) for one in groups.values()]
    return distances, [Fraction(sum(one.values()), max(one.values())) for one in groups.values()]


def test_the_average_of_an_audit_is_that_of_its_groups(tmp_path: Path) -> None:
    table = census(600, seed=3)
    dc.publish(table, "beta-likeness(beta=2)", dc.Burel(random_state=1)).save(tmp_path / "release")
    prior = Counter(np.array(table.sensitive_attribute.texts)[table.sensitive_codes].tolist())
    distances, diversities = by_definition(tmp_path / "release", "salary", prior)
    assert len(distances) > 3
    closeness, diversity, _ = dc.audit(tmp_path / "release", table, promises=OTHERS).promises
    assert closeness.achieved == pytest.approx(max(distances))
    assert closeness.average == pytest.approx(sum(distances) / len(distances))
    assert diversity.achieved == pytest.approx(float(min(diversities)))
    assert diversity.average == pytest.approx(float(sum(diversities) / len(diversities)))
    assert closeness.average < closeness.achieved and diversity.average > diversity.achieved


def test_withheld_rows_count_for_the_worst_and_not_for_the_average(tmp_path: Path) -> None:
    table = patients()
    groups = (np.arange(48) // 12).astype(np.int32)
    groups[np.arange(40, 48)] = -1
    release = dc.GeneralizedRelease.from_groups(table, groups, promise=dc.KAnonymity(4), scheme="by-hand")
    release.save(tmp_path / "release")
    (size,) = dc.audit(tmp_path / "release", table).promises
    assert (size.achieved, size.average) == (4, 10.0)  # groups of 12, 12, 12 and 4; eight withheld


def test_persons_with_several_rows_have_the_weaker_average(tmp_path: Path) -> None:
    lines = [f"{at // 2},{20 + at // 12},{'ab'[at // 2 % 2]}" for at in range(48)]
    (tmp_path / "visits.csv").write_text("\n".join(["id,age,disease", *lines]) + "\n", encoding="utf-8")
    table = dc.read(tmp_path / "visits.csv", quasi=["age"], sensitive="disease", person="id")
    release = dc.publish(table, "k-anonymity(k=3)", "mondrian")
    release.save(tmp_path / "release")
    (size,) = dc.audit(tmp_path / "release", table, release.trace).promises
    assert size.achieved is not None and size.average == pytest.approx(24 / release.groups)


def test_a_comparison_measures_promises_that_nobody_made() -> None:
    found = dc.compare(patients(), "beta-likeness(beta=2)", ["cuts", "baseline"], measured=OTHERS[1], queries=20)
    for result in found.results:
        assert result.audit is not None and result.audit.holds and len(result.audit.promises) == 1
        assert list(result.achieved) == list(result.averages) == ["beta", "l"]
        assert result.averages_text.startswith("beta ") and ", l " in result.averages_text
        assert result.as_dict()["average"] == result.averages
    cuts, baseline = found.results
    assert cuts.averages["l"] is not None and cuts.averages["l"] > (cuts.achieved["l"] or 0)
    assert baseline.averages["l"] == baseline.achieved["l"]  # one group
    assert "<b>average</b>" in found.page() and cuts.averages_text in found.page()


def test_a_promise_that_is_only_measured_does_not_decide() -> None:
    found = dc.compare(patients(), "k-anonymity(k=4)", ["mondrian"], measured="l-diversity(l=6)", queries=20)
    (result,) = found.results
    assert found.holds and result.achieved["l"] is not None and result.achieved["l"] < 6
    with pytest.raises(dc.DiscreetError, match="categorical"):
        dc.compare(patients(), "k-anonymity(k=4)", ["mondrian"], measured=OTHERS[0])


@pytest.mark.slow
def test_the_command_line_shows_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("data", "get", "patients")
    roles = ("--quasi", "age,sex,zip", "--sensitive", "disease", "--identifier", "name")
    run("publish", "patients.csv", "-o", "release", *roles, "--promise", "beta-likeness(beta=2)", "--scheme", "burel")
    audited = run("audit", "release", "--original", "patients.csv", "--promise", OTHERS[1], "--json").stdout
    for verdict in json.loads(audited)["promises"]:
        assert verdict["average"] is not None and verdict["average"] != verdict["achieved"]
    shown = run("audit", "release", "--original", "patients.csv", "--promise", OTHERS[1]).stdout
    assert "average" in next(line for line in shown.splitlines() if line.startswith("promise"))
    words = ("--promise", "beta-likeness(beta=2)", "--measure", OTHERS[1], "--schemes", "burel", "--queries", "50")
    (result,) = json.loads(run("compare", "patients.csv", *roles, *words, "--json").stdout)["results"]
    assert list(result["average"]) == ["beta", "l"]
