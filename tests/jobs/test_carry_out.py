"""A job from Python prints nothing, returns its outcome with its remarks, and can be cancelled; jobs in other threads
notice nothing of it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.arguments import argument, speaking_flags
from discreet.jobs.carry_out import Outcome, carry_out
from discreet.jobs.job import Job
from discreet.progress import Cancelled, Remark
from discreet.unfinished import settling

PATIENCE = 60.0
"""Seconds after which a test gives up waiting for the other thread."""


def job(**more: Any) -> Job:
    content = {"input": "patients.csv", "output": "release", "quasi": ["age", "sex"], "sensitive": "disease"}
    return Job.of({**content, "promises": ["l-diversity(l=3)"], **more})


def test_a_job_prints_nothing_and_returns_its_remarks(people: Path, capfd: pytest.CaptureFixture[str]) -> None:
    heard: list[Remark] = []
    stages: list[str] = []
    content = {"trace": "trace.csv", "seed": 3, "promises": ["k-anonymity(k=2)"], "keep": ["weight"]}
    outcome = carry_out(job(**content), progress=lambda stage, share: stages.append(stage), remark=heard.append)
    assert capfd.readouterr() == ("", "")
    assert outcome.audit.holds and outcome.audit.rows == 48 and outcome.left_out == ["name", "zip"]
    assert outcome.remarks == tuple(heard)
    assert {"caution", "promise", "certain"} <= {remark.about for remark in heard}
    named = [stage for stage in dict.fromkeys(stages) if stage in ("auditing", "reading", "saving")]
    assert named == ["reading", "saving", "auditing"]
    assert dc.audit("release", outcome.table, trace=outcome.trace).holds
    assert outcome.as_dict()["notes"] == outcome.notes != []
    assert (people / "trace.csv").is_file()


def test_remarks_on_a_job_speak_to_its_caller(people: Path) -> None:
    def cautions(**more: Any) -> list[str]:
        return [remark.sentence for remark in carry_out(job(**more)).remarks if remark.about == "caution"]

    assert cautions(seed=3)[0].startswith("with seed the release is an experiment")
    with speaking_flags():
        assert cautions(seed=3, output="again")[0].startswith("with --seed the release is an experiment")
    with pytest.raises(dc.DiscreetError, match="as in output='release'"):
        Job.of({"input": "patients.csv"})


@pytest.mark.parametrize("stage", ["reading", "saving", "auditing"])
def test_what_is_cancelled_leaves_nothing(people: Path, stage: str) -> None:
    def cancel(now: str, share: float) -> None:
        if now == stage:
            raise Cancelled

    with pytest.raises(Cancelled):
        carry_out(job(trace="trace.csv"), progress=cancel)
    assert [path.name for path in people.iterdir()] == ["patients.csv"]


def test_a_release_that_was_to_be_replaced_stays(people: Path) -> None:
    carry_out(job(trace="trace.csv"))
    before = {path: path.read_bytes() for path in people.rglob("*") if path.is_file()}

    def cancel(now: str, share: float) -> None:
        if now == "auditing":
            raise Cancelled

    with pytest.raises(Cancelled):
        carry_out(job(trace="trace.csv", promises=["k-anonymity(k=4)"], force=True), progress=cancel)
    assert {path: path.read_bytes() for path in people.rglob("*") if path.is_file()} == before


class Worker(threading.Thread):
    """Carries out a job in a thread of its own, and keeps all that its caller would notice."""

    def __init__(self, job: Job, progress: Any, *, flags: bool) -> None:
        super().__init__(daemon=True)
        self.job, self.tell, self.flags = job, progress, flags
        self.stages: list[str] = []
        self.remarks: list[Remark] = []
        self.settled: list[Path] = []
        self.words = ""
        self.outcome: Outcome | None = None
        self.fault: BaseException | None = None

    def run(self) -> None:
        try:
            with settling(self.settled):
                if self.flags:
                    with speaking_flags():
                        self.work()
                else:
                    self.work()
        except BaseException as fault:
            self.fault = fault

    def work(self) -> None:
        self.outcome = carry_out(self.job, progress=self.hear, remark=self.remarks.append)

    def hear(self, stage: str, share: float) -> None:
        self.stages.append(stage)
        self.words = argument("seed")
        self.tell(stage)


def test_two_jobs_in_two_threads_do_not_see_each_other(people: Path) -> None:
    saving, cancelled = threading.Event(), threading.Event()

    def cancel(stage: str) -> None:
        if stage == "auditing":
            assert saving.wait(PATIENCE)
            raise Cancelled

    def wait(stage: str) -> None:
        if stage == "saving":
            saving.set()
            assert cancelled.wait(PATIENCE)

    first = Worker(job(output="first", trace="first.csv", seed=5), cancel, flags=True)
    second = Worker(job(output="second", trace="second.csv", scheme="mondrian"), wait, flags=False)
    first.start()
    second.start()
    first.join(PATIENCE)
    cancelled.set()
    second.join(PATIENCE)

    assert isinstance(first.fault, Cancelled) and first.outcome is None and first.settled == []
    assert second.fault is None and second.outcome is not None and second.outcome.audit.holds
    assert second.settled == [people / "second"]
    assert sorted(path.name for path in people.iterdir()) == ["patients.csv", "second", "second.csv"]
    assert "auditing" in second.stages and first.stages[-1] == "auditing"
    assert (first.words, second.words) == ("--seed", "seed")
    assert [remark.about for remark in first.remarks] == ["caution"]
    assert "caution" not in [remark.about for remark in second.remarks]
    assert dc.audit("second", second.outcome.table).holds


@pytest.mark.slow
@pytest.mark.parametrize("text", ["proximity", "proximity(m=3)", "k-anonymity(k=2) & proximity(epsilon=5)"])
def test_proximity_without_its_parameters_is_refused_with_some_that_the_table_keeps(people: Path, text: str) -> None:
    asked = {"sensitive": "weight", "promises": [text]}
    with pytest.raises(dc.DiscreetError) as refused:
        carry_out(job(**asked))
    told = "proximity needs its parameters epsilon and m; this table can keep for example "
    assert str(refused.value).startswith(told)
    promise = str(refused.value).removeprefix(told).strip("'")
    assert dc.parse(promise).m > 1
    assert carry_out(job(sensitive="weight", promises=[promise])).audit.holds


@pytest.mark.parametrize("asked", [{}, {"input": "absent.csv"}, {"sensitive": []}])
def test_proximity_is_explained_by_an_example_where_no_number_is_sensitive(people: Path, asked: Any) -> None:
    with pytest.raises(dc.DiscreetError, match=r"needs its parameter m, at least 1; write for example"):
        carry_out(job(**asked, promises=["proximity"]))
