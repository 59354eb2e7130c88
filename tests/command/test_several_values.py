"""Persons with several values of an attribute, from the command line: flags, job files, audits and queries."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from discreet.command.main import main

LISTED = ["--list", "ill=;", "--join", "drug=visits.csv:id"]
PUBLISH = ["publish", "people.csv", "-o", "release", "--quasi", "age", "--sensitive", "ill,drug", *LISTED]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    people, visits = ["id,age,ill"], ["id,drug"]
    for number in range(60):
        ill = ";".join(value for value in ("flu", "gout") if random.random() < 0.5)
        people.append(f"p{number},{random.integers(20, 40)},{ill}")
        visits += [f"p{number},{drug}" for drug in ("a", "b") if random.random() < 0.5]
    Path("people.csv").write_text("\n".join(people))
    Path("visits.csv").write_text("\n".join(visits))
    return tmp_path


def test_published_and_audited(folder: Path) -> None:
    result = CliRunner().invoke(main, [*PUBLISH, "--promise", "beta-likeness(beta=1)", "--trace", "trace.csv"])
    assert result.exit_code == 0, result.output
    assert Path("release/table.csv").read_text().splitlines()[0] == "group,age,ill_flu,ill_gout,drug_a,drug_b"
    audit = ["audit", "release", "--original", "people.csv", "--trace", "trace.csv"]
    assert CliRunner().invoke(main, [*audit, *LISTED]).exit_code == 0
    unsaid = CliRunner().invoke(main, [*audit, "--join", "drug=visits.csv:id"])
    assert unsaid.exit_code == 0  # the separator is in the release
    asked = ["query", "release", "SELECT COUNT(*) FROM t WHERE ill_flu = 'yes'", "--original", "people.csv", "--json"]
    counted = json.loads(CliRunner().invoke(main, [*asked, *LISTED]).stdout)
    assert counted["estimate"] == pytest.approx(counted["exact"])


def test_a_job_file(folder: Path) -> None:
    Path("job.toml").write_text(
        'input = "people.csv"\noutput = "release"\nquasi = ["age"]\nsensitive = ["ill", "drug"]\n'
        'promises = ["beta-likeness(beta=1)"]\nlists = {ill = ";"}\njoin = {drug = ["visits.csv", "id"]}\n'
    )
    assert CliRunner().invoke(main, ["publish", "--job", "job.toml"]).exit_code == 0
    Path("job.toml").write_text(Path("job.toml").read_text().replace('["visits.csv", "id"]', '"visits.csv"'))
    result = CliRunner().invoke(main, ["publish", "--job", "job.toml", "--force"])
    assert result.exit_code == 2 and "say for example --join drug=visits.csv:patient" in result.stderr


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--list", "ill"], "is not of the form NAME=SEPARATOR"),
        (["--list", "ill=;", "--join", "drug=visits.csv"], "does not name a file and the identifier in it"),
        (["--list", "ill=;", "--join", "drug=none.csv:id"], "none.csv"),
        (["--list", "ill=;", "--join", "drug=visits.csv:patient"], "no column 'patient'"),
        (["--list", "age=;"], "only sensitive attributes may have several values, and 'age' is not one"),
    ],
)
def test_refusals(folder: Path, flags: list[str], sentence: str) -> None:
    given = [*PUBLISH[: -len(LISTED)], *flags, "--promise", "beta-likeness(beta=1)"]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 2 and sentence in result.stderr, result.stderr
    assert not Path("release").exists()
