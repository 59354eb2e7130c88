"""A package from outside adds a scheme, a format with its auditor, a principle and an attack: they work everywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.house import ROOT

pytestmark = pytest.mark.slow  # a package is installed
EXAMPLE = ROOT / "examples" / "plugin"
PATIENTS = (
    "from discreet.datasets import patients_arrow; from pyarrow.csv import write_csv; "
    "write_csv(patients_arrow(), 'patients.csv')"
)
ROLES = ("--quasi", "age,sex,zip", "--sensitive", "disease")
PAIRS = ("--scheme", "halves", "--promise", "k-anonymity(k=2)")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the patients, and the plug-in installed beside it, without the network."""
    place = tmp_path_factory.mktemp("plugin")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(place / "site"), str(EXAMPLE)], check=True, capture_output=True)
    run(place, "-c", PATIENTS)
    return place


def run(home: Path, *words: str, code: int = 0) -> str:
    """What Python prints when it is run where the plug-in is installed."""
    paths = [str(home / "site"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run([sys.executable, *words], cwd=home, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def discreet(home: Path, *words: str, code: int = 0) -> str:
    return run(home, "-m", "discreet", *words, code=code)


def test_from_publishing_to_a_query(home: Path) -> None:
    promise = ("--promise", "majority(share=0.5)", "--scheme", "separate")
    discreet(home, "publish", "patients.csv", "-o", "release", *ROLES, *promise, "--trace", "patients.trace")
    manifest = json.loads((home / "release/release.json").read_text())
    assert manifest["format"] == "separate" and manifest["scheme"]["name"] == "separate"
    assert set(manifest["tables"]) == {"table.csv", "sensitive.csv"}
    told = discreet(home, "audit", "release", "--original", "patients.csv", "--trace", "patients.trace")
    assert "majority(share=0.5) holds" in told and "the values of the published rows" in told
    assert "48 of 48 published" in discreet(home, "query", "release", "SELECT COUNT(*) FROM t WHERE age >= 0")
    told = discreet(home, "attack", "release", "--original", "patients.csv", "--attack", "all", "--json", "--quiet")
    assert "contrary" in [attack["attack"] for attack in json.loads(told)["attacks"]]


TAMPERING = """
import json
from hashlib import sha256
from pathlib import Path
import numpy as np
import pyarrow as pa
import discreet as dc
from discreet.schemes import make_scheme

numbers = np.arange(40)
columns = {"age": 20 + numbers, "sex": np.array(["f", "m"])[numbers % 2], "ward": np.array(list("abcd"))[numbers % 4]}
columns["pay"] = pa.array([None if one % 10 == 3 else int(one) for one in numbers])
people = pa.table(columns)
found = {}

def audited(name, home, table, trace=None):
    audit = dc.audit(home, table, trace)
    found[name] = [check.name for check in audit.checks if not check.holds]
    found[name] += [kept.promise for kept in audit.promises if not kept.holds]

def altered(name, home, file, change, trace=None):
    path = home / file
    before, manifest = path.read_bytes(), (home / "release.json").read_bytes()
    lines = change(path.read_text().splitlines())
    path.write_text("\\n".join(lines) + "\\n")
    stated = json.loads(manifest)
    stated["tables"][file]["sha256"] = sha256(path.read_bytes()).hexdigest()
    (home / "release.json").write_text(json.dumps(stated, indent=2, ensure_ascii=False) + "\\n")
    audited(name, home, table, trace)
    path.write_bytes(before)
    (home / "release.json").write_bytes(manifest)

for kept, quasi in (("all", ["age", "sex"]), ("most", ["age", "sex", "pay"])):
    table = dc.read(people, quasi=quasi, sensitive="ward", missing="withhold")
    release = make_scheme("separate").publish(table, dc.parse("majority(share=0.5)"))
    for format in ("csv", "parquet"):
        home = release.save(Path(f"{kept}-{format}"), format)
        audited(f"{kept} {format}", home, table)
        audited(f"{kept} {format} traced", home, table, release.trace)
    home = Path(f"{kept}-csv")
    same = dc.load(home)
    query = "SELECT COUNT(*) FROM t WHERE age < 30 AND ward = 'a'"
    assert same.estimate(query) == release.estimate(query) > 0
    altered(f"{kept} rows shuffled", home, "table.csv", lambda lines: [lines[0], *lines[:0:-1]])
    altered(f"{kept} values shuffled", home, "sensitive.csv", lambda lines: [lines[0], *lines[:0:-1]])
    altered(f"{kept} another row", home, "table.csv", lambda lines: [*lines[:-1], lines[-1].replace("59", "60")])
    altered(f"{kept} a row twice", home, "table.csv", lambda lines: [*lines[:2], *lines[1:-1]])
    altered(f"{kept} a row less", home, "table.csv", lambda lines: lines[:-1])
    counts = ["a,22", "b,6", "c,6", f"d,{release.rows - 34}"]
    altered(f"{kept} counts", home, "sensitive.csv", lambda lines: [lines[0], *counts])
    altered(f"{kept} an unknown value", home, "sensitive.csv", lambda lines: [*lines[:-1], lines[-1].replace("d", "e")])
    wrong = release.trace.copy()
    wrong[0] = -1
    audited(f"{kept} another trace", home, table, wrong)
print(json.dumps(found))
"""


def test_what_is_altered_in_a_format_from_outside_is_found(home: Path) -> None:
    found = json.loads(run(home, "-c", TAMPERING))
    for kept in ("all", "most"):
        for true in ("csv", "csv traced", "parquet", "parquet traced"):
            assert found[f"{kept} {true}"] == []
        assert found[f"{kept} rows shuffled"] == found[f"{kept} values shuffled"] == ["order"]
        assert "rows" in found[f"{kept} another row"] and "rows" in found[f"{kept} a row twice"]
        assert "consistency" in found[f"{kept} a row less"] and "consistency" in found[f"{kept} an unknown value"]
        assert {"totals", "majority(share=0.5)"} <= set(found[f"{kept} counts"])
        assert found[f"{kept} another trace"] == ["support"]


def test_comparisons_plans_help_and_job_files_know_it(home: Path) -> None:
    told = discreet(home, "compare", "patients.csv", *ROLES, "--promise", "majority(share=0.5)", "--queries", "50")
    assert "halves" in told and "cuts" in told
    assert "majority" in discreet(home, "plan", "patients.csv", *ROLES)
    told = discreet(home, "publish", "--help")
    assert "halves" in told and "majority" in told
    lines = ['input = "patients.csv"', 'output = "jobbed"', 'quasi = ["age", "sex", "zip"]', 'sensitive = "disease"']
    lines += ['promise = "majority(share=0.5)"', 'scheme = "halves"', 'options = { values = "set" }']
    (home / "job.toml").write_text("\n".join(lines))
    discreet(home, "publish", "--job", "job.toml")


ATTACKING = """
import json, discreet as dc
from discreet.datasets import patients
from discreet.releases import FORMATS
from discreet.schemes import make_scheme
from support.formats import MAKERS, published_as
found = {}
for format in ("separate", *MAKERS):
    table = patients(sensitive="weight" if format == "retained" else "disease")
    if format == "separate":
        release = make_scheme("separate").publish(table, dc.parse("majority(share=0.5)"))
    else:
        release = published_as(format, table)
    (one,) = dc.attack(release, table, "contrary").evidence
    found[release.format] = one.as_dict()
assert set(found) == set(FORMATS), "a format is missing"
print(json.dumps(found))
"""


def test_an_attack_from_outside_works_on_every_format(home: Path) -> None:
    for one in json.loads(run(home, "-c", ATTACKING)).values():
        assert one["attack"] == "contrary" and one["victims"] >= 48 and 0 < one["rate"] < one["ceiling"] <= 1


def test_an_attack_from_outside_is_in_the_help_and_among_all(home: Path) -> None:
    assert "contrary" in discreet(home, "attack", "--help")
    discreet(home, "publish", "patients.csv", "-o", "all", *ROLES, *PAIRS)
    told = json.loads(discreet(home, "attack", "all", "--original", "patients.csv", "--json", "--quiet"))
    assert "contrary" in [one["attack"] for one in told["attacks"]]


def test_without_the_plug_in_its_releases_are_refused_with_the_way_out(home: Path) -> None:
    discreet(
        home, "publish", "patients.csv", "-o", "alone", *ROLES, "--scheme", "separate", "--promise", "l-diversity(l=2)"
    )
    done = subprocess.run(
        [sys.executable, "-m", "discreet", "query", "alone", "SELECT COUNT(*) FROM t"],
        cwd=home,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "install the plug-in" in done.stderr


def test_a_plug_in_that_cannot_be_loaded_is_named(home: Path, tmp_path: Path) -> None:
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[discreet.schemes]\nnowhere = nowhere_at_all:Scheme\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    words = ["publish", "patients.csv", "-o", "never", *ROLES, "--promise", "k-anonymity(k=2)"]
    for scheme, code in (("nowhere", 2), ("cuts", 0)):  # nobody else needs it
        done = subprocess.run(
            [sys.executable, "-m", "discreet", *words, "--scheme", scheme],
            cwd=home,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == code
        assert ("'nowhere_at_all:Scheme' cannot be loaded" in done.stderr) == bool(code)
