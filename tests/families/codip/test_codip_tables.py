"""What the tables of scheme codip hold, and which values expose nothing, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow.csv import write_csv

from discreet.datasets import census_arrow
from support.command import run

ROLES = ("--quasi", "age,gender", "--sensitive", "marital,work_class,race")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("codip") / "people.csv"
    write_csv(census_arrow(300, attributes=["age", "gender", "marital", "work_class", "race"]), path)
    return str(path)


def test_harmless_values_lower_the_exposure_of_plans_and_of_what_is_published(people: str, tmp_path: Path) -> None:
    def plans(*more: str) -> list[dict[str, float]]:
        done = run("plan", people, *ROLES, *more, "--json")
        return list(json.loads(done.stdout)["projections"]["plans"])

    value = max(set(lines := column(people, "race")), key=lines.count)
    harmless = ("--harmless", f"race={value}")
    exposed = [{tuple(map(tuple, one["tables"])): one["exposure"] for one in plans(*more)} for more in ((), harmless)]
    lower = [exposed[1][tables] < exposed[0][tables] for tables in exposed[0].keys() & exposed[1].keys()]
    assert any(lower)
    words = ("--promise", "l-diversity(l=1.1)", "--scheme", "codip", *harmless)
    run("publish", people, "-o", str(tmp_path / "release"), *ROLES, *words)
    manifest = json.loads((tmp_path / "release" / "release.json").read_text())
    assert manifest["scheme"]["options"]["harmless"] == f"race={value}"


def column(path: str, name: str) -> list[str]:
    head, *lines = Path(path).read_text().replace('"', "").splitlines()
    return [line.split(",")[head.split(",").index(name)] for line in lines]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--harmless", "race"), "names no value of an attribute"),
        (("--harmless", "rac=x"), "did you mean 'race'"),
        (("--harmless", "race=nobody"), "has no value 'nobody' that could be harmless"),
    ],
)
def test_what_is_not_harmless_is_refused(people: str, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    assert said in run("plan", people, *ROLES, *words, code=2).stderr
    promised = ("publish", people, "-o", str(tmp_path / "r"), *ROLES, "--promise", "l-diversity(l=1.1)")
    assert said in run(*promised, "--scheme", "codip", *words, code=2).stderr
    assert "say --scheme codip" in run(*promised, *words, code=2).stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "promise", "files"),
    [
        ("anatomy", "l-diversity(l=2, kind=distinct)", "sensitive"),
        ("perturbation", "beta-likeness(beta=2)", "matrix"),
    ],
)
def test_tables_of_other_formats(people: str, tmp_path: Path, scheme: str, promise: str, files: str) -> None:
    home, trace = tmp_path / "release", tmp_path / "trace.csv"
    more = ("--scheme", "codip", "--option", f"scheme={scheme}", "--option", "exposure=0", "--trace", str(trace))
    done = run("publish", people, "-o", str(home), *ROLES, "--promise", promise, *more)
    assert {f"{files}_{number}.csv" for number in (1, 2, 3)} <= {path.name for path in home.iterdir()}
    for known in ((), ("--trace", str(trace))):
        done = run("audit", str(home), "--original", people, *ROLES, "--promise", promise, *known, "--json")
        assert "each table by itself" in json.loads(done.stdout)["verdict"]
    done = run("query", str(home), "SELECT race, COUNT(*) FROM t WHERE age >= 40 GROUP BY race")
    assert "race" in done.stdout
    done = run("attack", str(home), "--original", people, "--attack", "beliefs", "--json")
    assert len(json.loads(done.stdout)["attacks"]) == 3


def test_caveats_name_their_tables(people: str, tmp_path: Path) -> None:
    more = ("--scheme", "codip", "--option", "scheme=perturbation", "--promise", "beta-likeness(beta=2)", "--json")
    done = run("publish", people, "-o", str(tmp_path / "release"), *ROLES, *more)
    verdict = json.loads(done.stdout)["verdict"]
    assert "(table 1)" in verdict and "(table 3)" in verdict


def test_what_hides_presence_is_kept_about_several_attributes(people: str, tmp_path: Path) -> None:
    home = tmp_path / "release"
    done = run("publish", people, "-o", str(home), *ROLES, "--promise", "alpha-beta(alpha=0.9, beta=0.95)", "--json")
    manifest = json.loads((home / "release.json").read_text())
    assert manifest["format"] == "ambiguous" and "sensitive_3.csv" in manifest["tables"]
    done = run("audit", str(home), "--original", people, *ROLES, "--json")
    assert json.loads(done.stdout)["presence"]["group"] <= 0.9
