"""Several sensitive attributes in several tables, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow.csv import write_csv

from discreet.datasets import census_arrow
from support.command import run

ROLES = ("--quasi", "age,gender", "--sensitive", "marital,work_class,race")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("codip")
    write_csv(census_arrow(400, attributes=["age", "gender", "marital", "work_class", "race"]), folder / "people.csv")
    return folder


@pytest.fixture(scope="module")
def release(home: Path) -> Path:
    job = home / "job.toml"
    job.write_text(
        'input = "people.csv"\noutput = "release"\nquasi = ["age", "gender"]\n'
        'sensitive = ["marital", "work_class", "race"]\npromises = ["beta-likeness(beta=3)"]\nscheme = "codip"\n'
        'options = { exposure = 0.3 }\ntrace = "private.csv"\n'
    )
    found = run("publish", "--job", str(job), "--json")
    assert found.exit_code == 0, found.output
    return home / "release"


def test_what_is_published_is_audited(home: Path, release: Path) -> None:
    manifest = json.loads((release / "release.json").read_text())
    assert manifest["format"] == "projected" and len(manifest["parts"]) == 2
    assert {path.name for path in release.iterdir()} == {"README.md", "release.json", "table_1.csv", "table_2.csv"}
    assert (home / "private.csv").read_text().startswith("row,group_1,group_2\n")
    people, promise = str(home / "people.csv"), ("--promise", "beta-likeness(beta=3)")
    for more in ((), ("--trace", str(home / "private.csv"))):
        found = run("audit", str(release), "--original", people, *ROLES, *promise, *more, "--json")
        assert found.exit_code == 0, found.output
        assert "each table by itself" in json.loads(found.stdout)["verdict"]


def test_queries_across_tables_say_what_they_assume(home: Path, release: Path) -> None:
    apart = json.loads((release / "release.json").read_text())["parts"]
    one, other = (part["sensitive"][0] for part in apart)
    together = next(part["sensitive"] for part in apart if len(part["sensitive"]) == 2)
    query = "SELECT {0}, {1}, COUNT(*) FROM t GROUP BY {0}, {1}"
    across = run("query", str(release), query.format(one, other))
    assert across.exit_code == 0 and f"Note: '{one}' and '{other}' are in different tables" in across.stderr
    beside = run("query", str(release), query.format(*together))
    assert beside.exit_code == 0 and "different tables" not in beside.stderr


def test_plans_are_shown(home: Path) -> None:
    found = run("plan", str(home / "people.csv"), *ROLES, "--json", "--plot", str(home / "plans.svg"))
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert len(told["plans"]) == 3 and told["projections"]["plans"][0]["exposure"] == 1.0
    assert (home / "plans.svg").read_bytes().startswith(b"<svg ")
    shown = run("plan", str(home / "people.csv"), *ROLES)
    assert shown.exit_code == 0 and "association loss" in shown.stdout


@pytest.mark.slow
def test_compare(home: Path) -> None:
    found = run(
        *("compare", str(home / "people.csv"), *ROLES, "--promise", "beta-likeness(beta=3)", "--queries", "50"),
        *("--schemes", "codip(exposure=0),codip(exposure=0, aligned=true)", "--json"),
    )
    assert found.exit_code == 0, found.output
    results = json.loads(found.stdout)["results"]
    assert [result["holds"] for result in results] == [True, True]
    assert results[0]["losses"]["ail"] < results[1]["losses"]["ail"]  # one partition must keep all promises
