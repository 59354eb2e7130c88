"""Projected releases: their files, what they tell, and how they are put together."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.analyst.loss import by_attribute, losses
from discreet.releases import write_trace
from support.projected import people, published

QUERIES = (
    "SELECT COUNT(*) FROM t WHERE age < 50",
    "SELECT COUNT(*) FROM t WHERE age < 50 AND ill = 'ill1'",
    "SELECT COUNT(*) FROM t WHERE sex = 'f' AND job = 'job2'",
    "SELECT COUNT(*) FROM t WHERE sex = 'f' AND job IN ('job2', 'job1') AND ill = 'ill1'",
)


def runs(rows: int, by: int) -> np.ndarray:
    return np.arange(rows) // by


@pytest.fixture(scope="module")
def release() -> dc.ProjectedRelease:
    return published(people(keep=["note"]), [runs(60, 6), runs(60, 10)], dc.KAnonymity(5))


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_what_is_saved_is_loaded(release: dc.ProjectedRelease, tmp_path: Path, format: str) -> None:
    folder = release.save(tmp_path / "release", format)  # type: ignore[arg-type]
    assert {path.name for path in folder.iterdir()} == {
        "README.md",
        "release.json",
        f"table_1.{format}",
        f"table_2.{format}",
    }
    loaded = dc.load(folder)
    assert isinstance(loaded, dc.ProjectedRelease) and not loaded.faults and loaded.trace is None
    assert [list(table.column_names) for table in loaded.tables(False).values()] == [
        ["group", "age", "sex", "ill", "note"],
        ["group", "age", "sex", "job"],
    ]
    assert [loaded.estimate(query) for query in QUERIES] == pytest.approx([release.estimate(one) for one in QUERIES])
    again = loaded.save(tmp_path / "again", format)  # type: ignore[arg-type]
    for path in folder.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes()


def test_the_trace_has_a_column_for_each_table(release: dc.ProjectedRelease, tmp_path: Path) -> None:
    with write_trace(release, tmp_path / "trace.csv").open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["row", "group_1", "group_2"] and len(lines) == 61
    assert release.trace is not None
    assert [[int(cell) for cell in line[1:]] for line in lines[1:]] == release.trace.tolist()
    assert len({tuple(line[1:]) for line in lines[1:]}) == 14  # ten groups and six, which have two ends in common


def test_numbers_and_orders_of_tables_are_related_by_what_they_publish_alone() -> None:
    """On one partition into singles with one description, numbers do not tell whose values of two tables are whose."""
    rng = np.random.default_rng(0)
    ill, job = list("abcdefgh"), np.array(list("stuvwxyz"))
    found = []
    for jobs in (job, job[::-1], rng.permutation(job)):
        table = dc.read(pa.table({"age": [30] * 8, "ill": ill, "job": jobs}), quasi=["age"], sensitive=["ill", "job"])
        one = published(table, [np.arange(8), rng.permutation(8)])
        found.append([part.tables(False)["table"].to_pylist() for part in one.parts])
    assert found[0] == found[1] == found[2]


def test_counts_within_a_table_and_across(release: dc.ProjectedRelease) -> None:
    first, second = release.parts
    asked = [release.query(text) for text in QUERIES]
    of_quasi, ill, job, both = release.estimates(asked)
    assert of_quasi == pytest.approx((first.estimate(asked[0]) + second.estimate(asked[0])) / 2)
    assert ill == first.estimate(asked[1]) and job == second.estimate(asked[2])
    women = [part.estimate("SELECT COUNT(*) FROM t WHERE sex = 'f'") for part in (first, second)]
    sick = first.estimate("SELECT COUNT(*) FROM t WHERE sex = 'f' AND ill = 'ill1'")
    busy = second.estimate("SELECT COUNT(*) FROM t WHERE sex = 'f' AND job IN ('job2', 'job1')")
    assert both == pytest.approx(sum(women) / 2 * sick / women[0] * busy / women[1])
    assert release.notes_on(["age", "job"]) == release.notes_on(["ill", "note"]) == ()
    (note,) = release.notes_on(["sex", "job", "ill"])
    assert note.startswith("'job' and 'ill' are in different tables")
    counts = release.group_by("SELECT ill, job, COUNT(*) FROM t GROUP BY ill, job")
    assert sum(counts["count"].to_pylist()) == pytest.approx(60.0)
    assert release.estimate("SELECT COUNT(*) FROM t WHERE age > 900 AND ill = 'ill1' AND job = 'job1'") == 0.0


def test_beliefs_are_those_of_the_table(release: dc.ProjectedRelease) -> None:
    points = {"age": [25, 40], "sex": ["f", "m"]}
    assert release.beliefs(points).tolist() == release.parts[0].beliefs(points).tolist()
    assert release.beliefs(points, attribute="job").tolist() == release.parts[1].beliefs(points).tolist()
    both = [part.presence(points) for part in release.parts]
    assert release.presence(points).tolist() == np.maximum(*both).tolist()
    assert release.known_values("job").tolist() == ["job0", "job1", "job2", "job3"]
    assert release.known_values("sex").tolist() == ["(not named)"]  # no cell names any
    with pytest.raises(dc.DiscreetError, match=r"'age' is not a sensitive attribute .* 'ill' and 'job'"):
        release.beliefs(points, attribute="age")


def test_a_loss_is_the_mean_over_tables(release: dc.ProjectedRelease) -> None:
    apart = [losses(part) for part in release.parts]
    assert losses(release) == {name: (apart[0][name] + apart[1][name]) / 2 for name in apart[0]}
    assert by_attribute(release)["sex"] == pytest.approx(np.mean([by_attribute(part)["sex"] for part in release.parts]))


def test_parts_must_be_different_attributes_of_the_same_rows() -> None:
    table = people(keep=["note"])
    first, second = published(table, [runs(60, 6), runs(60, 10)]).parts
    how = {"promise": dc.KAnonymity(2), "scheme": "mine"}
    with pytest.raises(dc.DiscreetError, match="each is in one table"):
        dc.ProjectedRelease.from_parts([first, first], **how)  # type: ignore[arg-type]
    with pytest.raises(dc.DiscreetError, match="at least one table"):
        dc.ProjectedRelease.from_parts([], **how)  # type: ignore[arg-type]
    with pytest.raises(dc.DiscreetError, match="only the first"):
        dc.ProjectedRelease.from_parts([second, first], **how)  # type: ignore[arg-type]
    fewer = np.where(np.arange(60) < 6, -1, runs(60, 6))
    withheld = dc.GeneralizedRelease.from_groups(
        replace(table, sensitive=table.sensitive[1:], other=()), fewer, promise=dc.KAnonymity(2), scheme="mine"
    )
    with pytest.raises(dc.DiscreetError, match="the same rows"):
        dc.ProjectedRelease.from_parts([first, withheld], **how)  # type: ignore[arg-type]
