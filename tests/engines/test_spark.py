"""Spark as an engine: releases of a server's tables, and what happens when tasks fail, run twice or see other rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.datasets.census import census_arrow
from discreet.engines.groups import Describer
from discreet.engines.parts import Divider
from discreet.engines.scale import Scale
from discreet.engines.spark import SparkEngine, SparkTable
from discreet.errors import DiscreetError
from discreet.jobs.job import Job
from discreet.jobs.large import Large, carry_out_large
from support.command import run
from support.engines import server

pytest.importorskip("pysail")
ROLES: dict[str, Any] = {"quasi": ["age", "gender", "education"], "sensitive": ["salary"]}
SCALE = Scale(200_000_000, 800, (3_000, 3_000))


def people(folder: Path, files: int = 3) -> Path:
    """A table of several files."""
    home = folder / "people"
    home.mkdir()
    for at in range(files):
        table = census_arrow(2_000, seed=at, attributes=["age", "gender", "education", "salary"])
        pq.write_table(table, home / f"part-{at}.parquet", store_schema=False)
    return home


def published(source: str, folder: Path, **more: Any) -> Large:
    keys = {"input": source, "output": str(folder), "promises": ["beta-likeness(beta=4)"], "scheme": "cuts", **ROLES}
    return carry_out_large(Job.of({**keys, "engine": "spark", "remote": server(), **more}), scale=SCALE)


@pytest.mark.slow
def test_files_and_a_table_of_a_catalogue_are_published_in_parts(tmp_path: Path) -> None:
    home = people(tmp_path)
    made = published(str(home), tmp_path / "release", format="parquet")
    assert made.written.parts > 4 and made.written.rows == 6_000
    table = dc.read(pq.read_table(home), **ROLES)
    audited = dc.audit(tmp_path / "release", table, promises=["beta-likeness(beta=4)"])
    assert audited.holds, [check.sentence for check in audited.checks if not check.holds]
    SparkTable(str(home), server()).frame.createOrReplaceTempView("people")
    published("table:people", tmp_path / "again")
    assert dc.audit(tmp_path / "again", table).holds
    assert sorted(each.name for each in tmp_path.iterdir()) == ["again", "people", "release"]


@pytest.mark.slow
def test_the_command_publishes_at_a_server(tmp_path: Path) -> None:
    words = ["publish", str(people(tmp_path)), "-o", str(tmp_path / "release"), "--quasi", "age,gender"]
    words += ["--sensitive", "salary", "--promise", "l-diversity(l=3)", "--engine", "spark", "--remote", server()]
    done = run(*words, "--scheme", "cuts")
    assert "l-diversity(l=3) holds in every group, counted in the files" in done.output


def refused(source: str, folder: Path, sentence: str, **more: Any) -> None:
    with pytest.raises(DiscreetError, match=sentence) as fault:
        published(source, folder, **more)
    assert "\n" not in str(fault.value) and not folder.exists()


@pytest.mark.slow
def test_what_spark_cannot_do_is_said_in_a_sentence(tmp_path: Path) -> None:
    home, out = str(people(tmp_path)), tmp_path / "release"
    refused("table:nowhere", out, "Spark could not work through 'table:nowhere'")
    refused(str(tmp_path / "nothing"), out, "nothing'")
    refused(home, out, "no column 'agee'", quasi=["agee"])
    refused(home, out, "no order of rows", trace=str(tmp_path / "trace.csv"))
    refused(home, out, "is about other tables", delimiter=";")
    with pytest.raises(DiscreetError, match="for the engine spark"):
        Job.of({"input": "a", "output": "b", "promises": ["k-anonymity(k=2)"], "quasi": "c", "remote": "sc://host"})


@pytest.mark.slow
@pytest.mark.parametrize("where", [Divider, Describer])
def test_nothing_is_published_when_a_task_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: Any) -> None:
    home = str(people(tmp_path))

    def fail(self: Any, given: Any) -> None:
        raise OSError("no space left on the worker")

    monkeypatch.setattr(where, "__call__", fail)
    refused(home, tmp_path / "release", "no space left on the worker")
    assert [each.name for each in tmp_path.iterdir()] == ["people"]


@pytest.mark.slow
def test_files_of_an_attempt_that_was_given_up_are_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every task is done twice, as Spark does when it believes that a worker was lost."""
    home = people(tmp_path)
    for where in (Divider, Describer):
        once = where.__call__

        def twice(self: Any, given: Any, once: Any = once) -> Any:
            if isinstance(self, Divider):
                given = list(given)
                once(self, iter(given[:1]))  # an attempt that ends early
            else:
                once(self, given)
            return once(self, given)

        monkeypatch.setattr(where, "__call__", twice)
    published(str(home), tmp_path / "release")
    assert dc.audit(tmp_path / "release", dc.read(pq.read_table(home), **ROLES)).holds


@pytest.mark.slow
def test_a_table_that_changes_is_refused_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, over_rows = people(tmp_path), SparkEngine.over_rows
    table = pq.read_table(home / "part-1.parquet")
    odd = table.set_column(0, "age", [np.full(len(table), 121)])
    for replaced in (table.slice(0, 1_990), odd.cast(table.schema)):

        def late(self: Any, *given: Any, replaced: Any = replaced) -> Any:
            pq.write_table(replaced, home / "part-1.parquet", store_schema=False)
            return over_rows(self, *given)

        with monkeypatch.context() as patched:
            patched.setattr(SparkEngine, "over_rows", late)
            refused(str(home), tmp_path / "release", "changed while it was read|could not work through")
        pq.write_table(table, home / "part-1.parquet", store_schema=False)
        assert [each.name for each in tmp_path.iterdir()] == ["people"]


@pytest.mark.slow
def test_groups_of_many_parts_are_merged_in_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = people(tmp_path)
    monkeypatch.setattr("discreet.engines.spark.MOST", 2)
    monkeypatch.setattr("discreet.engines.tasks.LINES", 3)
    assert published(str(home), tmp_path / "release").written.parts > 4
    assert dc.audit(tmp_path / "release", dc.read(pq.read_table(home), **ROLES)).holds


@pytest.mark.slow
def test_workers_that_do_not_see_the_folder_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, put = SparkEngine(SparkTable(str(people(tmp_path)), server()), tmp_path), SparkEngine._put

    def unseen(self: Any, thing: object) -> Path:
        path = put(self, thing)
        path.unlink()
        return path

    engine.check_shared()
    monkeypatch.setattr(SparkEngine, "_put", unseen)
    with pytest.raises(DiscreetError, match="choose an output on a disk that all share") as fault:
        engine.check_shared()
    assert "\n" not in str(fault.value)
