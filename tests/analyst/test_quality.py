"""What `publish` ends with: how good counts are, and how small groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.adversary.group_sizes import GroupSizes
from discreet.analyst.quality import NUMBER, Quality, quality
from discreet.analyst.workload import workload
from discreet.datasets import census, patients
from discreet.jobs.carry_out import Outcome, carry_out
from discreet.jobs.job import Job

SCHEMES = {
    "cuts": "beta-likeness(beta=2)",
    "cuts(descriptions=exact)": "beta-likeness(beta=2)",
    "lifting": "beta-likeness(beta=2)",
    "perturbation": "beta-likeness(beta=2)",
    "ambiguity": "alpha-beta(alpha=0.5, beta=0.3)",
}


def naive(release: dc.Release, table: Any) -> tuple[float, float]:
    """Both median errors, one query after the other."""
    away, apart = [], []
    shares = np.bincount(table.sensitive_codes, minlength=len(table.sensitive[0].values)) / table.rows
    queries = workload(table, dimensionality=2, number=NUMBER)
    for query, estimate in zip(queries, release.estimates(queries).tolist(), strict=True):
        truth = query.count(table)
        if truth:
            quasi = dc.Query(tuple(each for each in query.conditions if each.attribute != table.sensitive[0].name))
            (wanted,) = (each for each in query.conditions if each.attribute == table.sensitive[0].name)
            admitted = wanted.admits(table.sensitive[0].values, table.sensitive[0].meaning)
            away.append(abs(estimate - truth) / truth)
            apart.append(abs(quasi.count(table) * shares[admitted].sum() - truth) / truth)
    return float(np.median(away)), float(np.median(apart))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_errors_are_those_of_the_counts_one_by_one(scheme: str) -> None:
    table = census(300)
    release = dc.publish(table, SCHEMES[scheme], scheme)
    found = quality(release, table)
    assert (found.median_error, found.baseline_error) == pytest.approx(naive(release, table))


def test_without_a_sensitive_attribute_there_is_no_baseline() -> None:
    table = dc.read(pa.table({"age": [1, 1, 2, 2, 3, 4]}), quasi="age")
    found = quality(dc.publish(table, "k-anonymity(k=2)"), table)
    assert found.baseline_error is None and found.median_error is not None
    assert "one group" not in str(found.sentence)
    assert Quality(None, None, 0).sentence is None


@pytest.mark.parametrize(
    ("scheme", "promise"),
    [("cuts", "k-anonymity(k=4)"), ("sealed", "l-diversity(l=2)"), ("codip(scheme=cuts)", "l-diversity(l=2)")],
)
def test_sizes_are_those_of_the_groups(scheme: str, promise: str) -> None:
    release = dc.publish(patients(), promise, scheme)
    sizes = [np.bincount(part.group_of).tolist() for part in release.projections]  # type: ignore[attr-defined]
    flat = [size for each in sizes for size in each]
    found = GroupSizes.of(release, patients())
    assert found is not None and found.singled <= found.groups  # how many are counted in test_singling_out.py
    assert (found.smallest, found.small, found.groups) == (min(flat), sum(size < 5 for size in flat), len(flat))


@pytest.mark.parametrize("scheme", ["cuts(descriptions=exact)", "perturbation", "lifting"])
def test_rows_that_hide_in_no_group_have_no_sizes(scheme: str) -> None:
    assert GroupSizes.of(dc.publish(patients(), "beta-likeness(beta=2)", scheme), patients()) is None


def published(folder: Path, *promises: str) -> Outcome:
    file = folder / "patients.csv"
    columns = {column.name: [column.texts[code] for code in column.codes] for column in patients().columns}
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    file.write_text("\n".join(lines) + "\n")
    job = {"input": str(file), "output": str(folder / "release"), "promises": list(promises)}
    return carry_out(Job.of({**job, "quasi": ["age", "sex", "zip"], "sensitive": ["disease"]}))


def test_publishing_says_both_and_asks_for_larger_groups(tmp_path: Path) -> None:
    outcome = published(tmp_path, "beta-likeness(beta=2)")
    document = json.loads(json.dumps(outcome.as_dict()))
    assert document["counts"]["counts"] > 900 and 0 < document["counts"]["median_error"] < 1
    assert document["group_sizes"]["small"] > 0
    (note,) = (remark.sentence for remark in outcome.remarks if "fewer than 5 rows" in remark.sentence)
    assert "nothing is promised about that" in note and '"k-anonymity(k=5)"' in note
    written = "".join(path.read_text() for path in (tmp_path / "release").iterdir())
    assert "median" not in written and "smallest" not in written


def test_who_promises_a_size_is_not_asked_for_larger_groups(tmp_path: Path) -> None:
    outcome = published(tmp_path, "k-anonymity(k=2)", "beta-likeness(beta=2)")
    assert not [remark for remark in outcome.remarks if "fewer than 5 rows" in remark.sentence]
    assert outcome.sizes is not None and outcome.sizes.smallest >= 2
