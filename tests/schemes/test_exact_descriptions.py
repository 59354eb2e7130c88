"""Exact quasi-identifiers in place of boxes: the same groups and counts, and nothing is promised that they break."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.datasets import census, patients
from discreet.jobs.carry_out import carry_out
from discreet.jobs.job import Job
from discreet.options import hints_of
from discreet.releases.assumptions import CHOSEN, FOR_RECIPIENTS
from discreet.schemes import SCHEMES
from support.audits import audits, failing
from support.claims import EXACT, made
from support.several import people as people_of_several

KEPT = {"sabre": "t-closeness(t=0.3)"}
"""What schemes promise here; all others beta-likeness."""


def published(name: str, **options: Any) -> dc.Release:
    scheme = made(name, random_state=5, **options)
    return dc.publish(census(600), KEPT.get(name, "beta-likeness(beta=2)"), scheme)


def trace_of(release: dc.Release) -> list[int]:
    """The group of every row, numbered as they are met."""
    assert release.trace is not None
    numbers: dict[int, int] = {}
    return [numbers.setdefault(group, len(numbers)) for group in release.trace.tolist()]


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
def test_the_groups_are_those_that_boxes_would_have(name: str) -> None:
    boxes, exact = published(name), published(name, descriptions="exact")
    assert exact.groups == boxes.groups > 1 and exact.withheld == boxes.withheld == 0
    assert trace_of(exact) == trace_of(boxes)
    audits(exact, census(600))


@pytest.mark.parametrize("name", EXACT)
def test_rows_are_published_as_they_are_and_values_are_counted_by_group(name: str, tmp_path: Path) -> None:
    table = census(600)
    release = published(name, descriptions="exact")
    release.save(tmp_path / "release")
    with (tmp_path / "release/table.csv").open(newline="") as file:
        shown = Counter(tuple(line.values()) for line in csv.DictReader(file))
    with (tmp_path / "release/sensitive.csv").open(newline="") as file:
        counted = {tuple(line.values())[:2]: int(line["count"]) for line in csv.DictReader(file)}
    assert release.trace is not None
    groups = [str(group) for group in release.trace.tolist()]
    quasi = [[column.texts[code] for code in column.codes] for column in table.quasi]
    assert shown == Counter(zip(groups, *quasi, strict=True))
    values = [table.sensitive[0].texts[code] for code in table.sensitive_codes]
    had = Counter(zip(groups, values, strict=True))
    if not isinstance(release, dc.NestedExactRelease):
        assert counted == had
        return
    # values stand in the leaf or above it: below every node no more of each than its persons have, and all at the roots
    with (tmp_path / "release/nodes.csv").open(newline="") as file:
        parents = {line["group"]: line["parent"] for line in csv.DictReader(file)}
    below, people = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for cells, total in ((counted, below), (had, people)):
        for (node, value), count in cells.items():
            for above in way_up(parents, node):
                total[above, value] += count
    assert below <= people and below != people
    assert all(below[node, value] == people[node, value] for node, value in people if not parents[node])


def way_up(parents: dict[str, str], node: str) -> list[str]:
    """A node and all above it."""
    return [node, *way_up(parents, parents[node])] if node else []


def test_counts_of_quasi_identifiers_are_exact() -> None:
    release = published("cuts", descriptions="exact")
    table = census(600)
    age = next(column for column in table.quasi if column.name == "age")
    older = int((np.asarray(age.values, float)[age.codes] >= 40).sum())
    assert release.estimate("SELECT COUNT(*) FROM t WHERE age >= 40") == older
    assert published("cuts").estimate("SELECT COUNT(*) FROM t WHERE age >= 40") != older


@pytest.mark.slow
def test_several_sensitive_attributes_are_counted_in_tables_of_their_own(tmp_path: Path) -> None:
    table = people_of_several(200)
    for scheme in ("cuts(descriptions=exact)", "burel(descriptions=exact)", "codip(scheme=cuts(descriptions=exact))"):
        release = dc.publish(table, "beta-likeness(beta=2)", scheme)
        audits(release, table)
    release = dc.publish(table, "beta-likeness(beta=2)", "cuts(descriptions=exact)")
    release.save(tmp_path / "release")
    assert sorted(path.name for path in (tmp_path / "release").glob("*.csv")) == [
        "sensitive_1.csv", "sensitive_2.csv", "table.csv"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "promise", ["k-anonymity(k=3)", "alpha-beta(alpha=0.7, beta=0.6)", "proximity(epsilon=0, m=2)"]
)
def test_what_exact_descriptions_would_break_is_refused_with_boxes_as_the_way_out(promise: str) -> None:
    table = census(600, quasi=("age", "gender"), sensitive="salary")
    with pytest.raises(dc.DiscreetError, match=r"descriptions=exact.*; say descriptions=boxes, or for ") as refusal:
        dc.publish(table, [promise, "l-diversity(l=2)"], "cuts(descriptions=exact)")
    assert "scheme 'cuts'" in str(refusal.value)


def test_presence_that_is_certain_anyway_may_be_promised() -> None:
    audits(dc.publish(patients(), "alpha-beta(alpha=1, beta=0.5)", "cuts(descriptions=exact)"), patients())


def test_persons_with_several_rows_and_graphs_are_refused() -> None:
    table = dc.read(
        pa.table({"id": [1, 1, 2, 3], "age": [1, 2, 3, 4], "s": list("abab")}), quasi="age", sensitive="s", person="id"
    )
    with pytest.raises(dc.DiscreetError, match="persons who have several rows if descriptions are exact; say desc"):
        dc.publish(table, "l-diversity(l=2)", "cuts(descriptions=exact)")
    with pytest.raises(dc.DiscreetError, match="descriptions=exact publishes groups, and publishes=graph none"):
        dc.Heterogeneous(publishes="graph", descriptions="exact")


def test_the_manifest_says_who_the_release_is_for_and_boxes_say_nothing_new(tmp_path: Path) -> None:
    exact, boxes = published("cuts", descriptions="exact").manifest, published("cuts").manifest
    assert exact["scheme"]["options"]["descriptions"] == "exact" and exact["format"] == "anatomy"
    assert "descriptions" not in boxes["scheme"]["options"]
    assert FOR_RECIPIENTS in exact["assumptions"] and CHOSEN in exact["assumptions"]
    by_anatomy = dc.publish(patients(), "l-diversity(l=2)", "anatomy").manifest
    assert FOR_RECIPIENTS not in by_anatomy["assumptions"]
    # and the audit insists on it
    folder = tmp_path / "release"
    dc.publish(patients(), "l-diversity(l=2)", "cuts(descriptions=exact)").save(folder)
    manifest = json.loads((folder / "release.json").read_text())
    manifest["assumptions"].remove(FOR_RECIPIENTS)
    (folder / "release.json").write_text(json.dumps(manifest, indent=2))
    assert "which its format and promise rest on" in failing(dc.audit(folder, patients()))["manifest"]


@pytest.mark.parametrize(
    ("scheme", "said"),
    [("cuts", 0), ("cuts(descriptions=exact)", 1), ("anatomy", 1), ("codip(scheme=cuts(descriptions=exact))", 1)],
)
@pytest.mark.usefixtures("people")
def test_publishing_notes_that_presence_is_certain(scheme: str, said: int) -> None:
    content = {"input": "patients.csv", "output": "release", "quasi": ["age", "sex"], "sensitive": "disease"}
    outcome = carry_out(Job.of({**content, "promises": ["l-diversity(l=2)"], "scheme": scheme}))
    about = [remark.sentence for remark in outcome.remarks if FOR_RECIPIENTS in remark.sentence]
    assert len(about) == said and all(sentence in outcome.notes for sentence in about)


def test_every_scheme_with_the_option_is_in_the_matrix_of_claims() -> None:
    assert {name for name, kind in SCHEMES.items() if "descriptions" in hints_of(kind)} == set(EXACT)
