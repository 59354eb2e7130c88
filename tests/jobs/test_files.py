"""What is asked of files from Python: audits, attacks, comparisons and plans print nothing, and can be cancelled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.arguments import speaking_flags
from discreet.jobs.advise import advise_file
from discreet.jobs.attack import attack_files
from discreet.jobs.audit import audit_files
from discreet.jobs.carry_out import carry_out
from discreet.jobs.compare import compare_file
from discreet.jobs.job import Job
from discreet.jobs.plan import plan_file
from discreet.progress import Cancelled, Remark

COLUMNS = {"quasi": ["age", "sex"], "sensitive": "disease"}
JOB = {"input": "patients.csv", "output": "release", **COLUMNS, "promises": ["l-diversity(l=3)"]}
WORK: dict[str, Callable[..., Any]] = {
    "advise": lambda **told: advise_file("patients.csv", reading=COLUMNS, **told),
    "audit": lambda **told: audit_files("release", "patients.csv", promises=["k-anonymity(k=3)"], **told),
    "attack": lambda **told: attack_files("release", "patients.csv", ["beliefs"], **told),
    "compare": lambda **told: compare_file(
        Job.of(JOB), ["cuts, cuts(loss=gcp)"], page="page.html", picture="picture.svg", queries=20, **told
    ),
    "plan": lambda **told: plan_file(
        "patients.csv", plot="plot.svg", reading={"quasi": ["age", "sex"], "sensitive": "weight", "na": "none"}, **told
    ),
}
LAST = {"advise": "attack)", "audit": "auditing", "attack": "beliefs", "compare": "attack)", "plan": "drawing"}
"""By their ends, the stages at which the work is cancelled."""


@pytest.fixture
def release(people: Path) -> Path:
    carry_out(Job.of(JOB))
    return people


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=[pytest.mark.slow] if what in ("advise", "compare") else []) for what in WORK]
)
def test_work_on_files_prints_nothing(release: Path, what: str, capfd: pytest.CaptureFixture[str]) -> None:
    heard: list[Remark] = []
    outcome = WORK[what](remark=heard.append)
    assert capfd.readouterr() == ("", "")
    assert outcome.remarks == tuple(heard)
    document = outcome.as_dict()
    if what == "audit":
        assert outcome.audit.holds and "k-anonymity(k=3)" in [each["promise"] for each in document["promises"]]
    elif what == "attack":
        assert outcome.campaign.holds and [each["attack"] for each in document["attacks"]] == ["beliefs"]
    elif what == "advise":
        assert len(document["recommendations"]) == 3 and outcome.advice.rows == 48
    elif what == "compare":
        assert heard == []
        assert (outcome.page, outcome.picture) == ("page.html", "picture.svg") and document["holds"]
    else:
        assert outcome.feasible and document["plot"] == "plot.svg" and document["sensitive"] == "weight"
    made = {"compare": {"page.html", "picture.svg"}, "plan": {"plot.svg"}}
    assert {path.name for path in release.iterdir()} == {"patients.csv", "release", *made.get(what, ())}


@pytest.mark.parametrize("what", WORK)
def test_work_on_files_is_cancelled_by_its_callback(release: Path, what: str) -> None:
    """Also in the midst of an attack or a scheme, whose own failures do not end a comparison."""
    stages: list[str] = []

    def cancel(stage: str, share: float) -> None:
        stages.append(stage)
        if stage.endswith(LAST[what]):
            raise Cancelled

    with pytest.raises(Cancelled):
        WORK[what](progress=cancel)
    assert [stage.endswith(LAST[what]) for stage in stages].count(True) == 1
    assert sorted(path.name for path in release.iterdir()) == ["patients.csv", "release"]


def test_an_original_is_read_as_its_caller_says(release: Path) -> None:
    text = (release / "patients.csv").read_text(encoding="utf-8")
    (release / "other.csv").write_text(text.replace(",", "|"), encoding="utf-8")
    assert audit_files("release", "other.csv", reading={"delimiter": "|"}).audit.holds
    assert attack_files("release", "other.csv", ["beliefs"], reading={"delimiter": "|"}).campaign.holds


def test_advice_on_a_column_in_another_file_speaks_to_its_caller(release: Path) -> None:
    text = "patient,age,ill\n" + "".join(f"{at},{20 + at % 5},{'flu' if at % 2 else 'flu;cough'}\n" for at in range(40))
    (release / "people.csv").write_text(text, encoding="utf-8")
    content = {"input": "people.csv", "output": "lists", "quasi": "age", "sensitive": "ill", "person": "patient"}
    outcome = carry_out(Job.of({**content, "lists": {"ill": ";"}, "promises": ["beta-likeness(beta=2)"]}))
    assert outcome.audit.holds
    (release / "bare.csv").write_text(text.replace(",ill", ",other"), encoding="utf-8")
    with pytest.raises(dc.DiscreetError, match=r"say for example join=\{'ill': \('visits.csv', 'patient'\)\}"):
        audit_files("lists", "bare.csv")
    with speaking_flags(), pytest.raises(dc.DiscreetError, match=r"say for example --join ill=visits.csv:patient"):
        audit_files("lists", "bare.csv")
