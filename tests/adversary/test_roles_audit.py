"""Roles are the auditor's: a column that somebody may know, or that is to be protected, is not merely kept along."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.adversary import Audit, Check
from discreet.command.main import main

TAKEN = "the roles of the columns are taken from the release: say --quasi and --sensitive to have them checked"


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a table, and a release of it in which 'zip' and 'job' are merely kept."""
    monkeypatch.chdir(tmp_path)
    rng, n = np.random.default_rng(3), 120
    table = pa.table(
        {
            "age": rng.integers(20, 40, n),
            "zip": rng.choice(["a", "b", "c"], n),
            "job": rng.choice(["x", "y"], n),
            "ill": rng.choice(list("stuv"), n),
            "pay": rng.choice(list("lmh"), n),
        }
    )
    pyarrow.csv.write_csv(table, "people.csv")
    dc.publish(read(quasi=["age"], sensitive="ill", keep=["zip", "job"]), "l-diversity(l=2)").save("release")
    return tmp_path


def read(**roles: Any) -> dc.Table:
    return dc.read("people.csv", **roles)


def roles_of(found: Audit) -> Check:
    return next(check for check in found.checks if check.name == "roles")


def audited(*words: str, code: int) -> str:
    result = CliRunner().invoke(main, ["audit", "release", "--original", "people.csv", *words])
    assert result.exit_code == code, result.output
    return result.output


def test_the_same_roles_hold(people: Path) -> None:
    found = dc.audit("release", read(quasi=["age"], sensitive="ill", keep=["zip", "job"]))
    assert found.holds and roles_of(found).holds and not roles_of(found).caveat
    assert found.verdict == "l-diversity(l=2) holds, as the release itself states it."


@pytest.mark.parametrize(
    ("mine", "told"),
    [
        (
            {"quasi": ["age", "zip"], "sensitive": "ill", "keep": ["job"]},
            "'zip' is a quasi-identifier to the auditor, but the release publishes it as a column that is kept as it "
            "is.",
        ),
        (
            {"quasi": ["age"], "sensitive": ["ill", "job"], "keep": ["zip"]},
            "'job' is sensitive to the auditor, but the release publishes it as a column that is kept as it is.",
        ),
        (
            {"quasi": ["age", "ill"], "sensitive": "pay", "keep": ["zip", "job"]},
            "'ill' is a quasi-identifier to the auditor, but the release publishes it as sensitive.",
        ),
        (
            {"quasi": ["zip"], "sensitive": "age", "keep": ["job", "ill"]},
            "'age' is sensitive to the auditor, but the release publishes it as a quasi-identifier; 'ill' is a column "
            "that is kept as it is to the auditor, but the release publishes it as sensitive; 'zip' is a "
            "quasi-identifier to the auditor, but the release publishes it as a column that is kept as it is.",
        ),
    ],
)
def test_other_roles_fail(people: Path, mine: dict[str, Any], told: str) -> None:
    found = dc.audit("release", read(**mine))
    assert not found.holds and [check.name for check in found.checks if not check.holds] == ["roles"]
    assert roles_of(found).sentence == told
    assert found.verdict == "The promise is NOT shown to hold."


def test_what_is_not_published_is_harmless_and_said(people: Path) -> None:
    dc.publish(read(quasi=["age"], sensitive="ill"), "l-diversity(l=2)").save("release", force=True)
    found = dc.audit("release", read(quasi=["age", "zip", "job"], sensitive=["pay", "ill"]))
    assert found.holds
    said = roles_of(found).sentence
    assert "The quasi-identifiers 'zip' and 'job' are not published at all" in said
    assert "The sensitive attribute 'pay' is not published at all" in said
    dc.publish(read(quasi=["age"]), "k-anonymity(k=3)").save("release", force=True)
    assert dc.audit("release", read(quasi=["age"], sensitive="ill")).holds


def test_the_command_takes_the_roles_of_the_auditor(people: Path) -> None:
    told = audited(code=0)
    assert told.startswith(f"l-diversity(l=2) holds, as the release itself states it; {TAKEN}.\n")
    told = audited("--quasi", "age", "--sensitive", "ill", code=0)
    assert told.startswith("l-diversity(l=2) holds, as the release itself states it.\n")
    assert "The columns 'zip' and 'job' are published as they are" in told
    told = audited("--quasi", "age,zip", "--sensitive", "ill", code=1)
    assert "FAILED roles" in told and "'zip' is a quasi-identifier to the auditor" in told
    told = audited("--quasi", "age", "--sensitive", "ill,job", code=1)
    assert "'job' is sensitive to the auditor" in told
    assert "column 'age' is both" in audited("--quasi", "age", "--sensitive", "age", code=2)
    assert "'nobody'" in audited("--quasi", "nobody", code=2)


def test_roles_that_only_the_release_states_are_named_in_the_verdict(people: Path) -> None:
    told = audited("--quasi", "age", code=0).splitlines()[0]
    assert told.endswith("; the role of 'ill' (sensitive) is taken from the release.")
    told = audited("--sensitive", "ill", code=0).splitlines()[0]
    assert told.endswith("; the role of 'age' (a quasi-identifier) is taken from the release.")
    result = CliRunner().invoke(main, ["audit", "release", "--original", "people.csv", "--json"])
    document = json.loads(result.stdout)
    assert document["holds"] and TAKEN in document["verdict"]
    assert [check["caveat"] for check in document["checks"] if check["name"] == "roles"] == [TAKEN]


def test_several_sensitive_attributes_in_any_order(people: Path) -> None:
    rng = np.random.default_rng(0)
    table = pa.table(
        {"age": rng.integers(20, 40, 90), "wage": rng.integers(0, 90, 90), "time": rng.integers(0, 90, 90)}
    )
    pyarrow.csv.write_csv(table, "people.csv")
    release = dc.publish(read(quasi=["age"], sensitive=["wage", "time"]), "proximity(epsilon=3, m=2)")
    release.save("release", force=True)
    told = audited("--quasi", "age", "--sensitive", "time,wage", code=0)
    assert "taken from the release" not in told.splitlines()[0]
    assert "'time' is a quasi-identifier" in audited("--quasi", "age,time", "--sensitive", "wage", code=1)


def test_a_population_needs_no_column_that_is_not_published(people: Path) -> None:
    dc.publish(read(quasi=["age"], sensitive="ill"), "l-diversity(l=2)").save("release", force=True)
    pyarrow.csv.write_csv(pyarrow.csv.read_csv("people.csv").select(["age"]), "everyone.csv")
    told = audited("--quasi", "age,zip", "--sensitive", "ill", "--population", "everyone.csv", code=0)
    assert "The quasi-identifier 'zip' is not published at all, which reveals nothing." in told
