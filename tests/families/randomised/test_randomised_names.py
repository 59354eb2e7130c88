"""Randomised values are published under a name that says so, and counts keep the attribute's own name."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import discreet as dc
from discreet.command.main import main
from discreet.datasets import patients, patients_arrow
from discreet.table.table import Table

WEIGHT = patients(quasi=["age", "sex"], sensitive="weight")
DISEASE = patients(quasi=["age", "sex"], sensitive="disease")
PUBLISHED = [
    ("perturbation", DISEASE, "beta-likeness(beta=2)", "disease"),
    ("retention(noise=prior)", WEIGHT, "proximity(epsilon=2, m=2)", "weight"),
]
each_format = pytest.mark.parametrize(("scheme", "table", "promise", "name"), PUBLISHED, ids=["perturbed", "retained"])


def command(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@each_format
def test_the_file_and_the_manifest_say_which_column_is_randomised(
    scheme: str, table: Table, promise: str, name: str, ending: str, tmp_path: Path
) -> None:
    release = dc.publish(table, promise, scheme)
    home = release.save(tmp_path / "release", ending)  # type: ignore[arg-type]
    if ending == "csv":
        with (home / "table.csv").open() as file:
            header = next(csv.reader(file))
    else:
        header = pq.read_table(home / "table.parquet").column_names
    assert header == ["age", "sex", f"{name}_randomised"]
    assert release.tables(numbers=True)["table"].column_names == header
    manifest = json.loads((home / "release.json").read_text())
    assert manifest["randomised"] == {"attribute": name, "column": f"{name}_randomised"}
    assert [attribute["name"] for attribute in manifest["attributes"]] == ["age", "sex", name]
    assert dc.audit(home, table).holds
    assert dc.load(home).randomised == release.randomised == {f"{name}_randomised": name}


@each_format
def test_queries_name_the_attribute_and_are_told_why_not_the_column(
    scheme: str, table: Table, promise: str, name: str
) -> None:
    release = dc.publish(table, promise, scheme)
    value = f"'{release.texts[0]}'" if name == "disease" else release.texts[0]  # type: ignore[attr-defined]
    assert release.estimate(f"SELECT COUNT(*) FROM t WHERE {name} IN ({value})") >= 0.0
    why = re.escape(
        f"column '{name}_randomised' holds randomised values, counts of which mislead; ask for '{name}', "
        "whose counts are estimated by undoing the randomisation"
    )
    for text in (f"{name}_randomised", f"{name}_Randomised"):
        with pytest.raises(dc.DiscreetError, match=why):
            release.estimate(f"SELECT COUNT(*) FROM t WHERE {text} = {value}")
        with pytest.raises(dc.DiscreetError, match=why):
            release.group_by(f"SELECT {text}, COUNT(*) FROM t GROUP BY {text}")
    with pytest.raises(dc.DiscreetError, match=why):
        release.estimate(dc.Query(dc.OneOf(f"{name}_randomised", (release.values[0],))))


@each_format
def test_a_column_that_has_the_name_already_is_refused(scheme: str, table: Table, promise: str, name: str) -> None:
    taken = patients(quasi=["age"], sensitive=name, keep=["sex"])
    taken.other[0].__dict__["name"] = f"{name}_randomised"
    with pytest.raises(dc.DiscreetError, match=f"'{name}_randomised' has the name under which .* '{name}' .*rename it"):
        dc.publish(taken, promise, scheme)


@each_format
def test_a_release_of_the_old_way_is_refused(
    scheme: str, table: Table, promise: str, name: str, tmp_path: Path
) -> None:
    home = dc.publish(table, promise, scheme).save(tmp_path / "release")
    manifest = json.loads((home / "release.json").read_text())
    for entry, why in (
        (None, "earlier version of discreet published randomised values under the name of the attribute.*again"),
        ({"attribute": name, "column": name}, "damaged or edited, so publish the release again"),
    ):
        manifest.pop("randomised", None)
        (home / "release.json").write_text(json.dumps(manifest if entry is None else {**manifest, "randomised": entry}))
        for act in (dc.load, lambda folder: dc.audit(folder, table)):
            with pytest.raises(dc.DiscreetError, match=why):
                act(home)


def test_tables_of_several_attributes_say_it_too(tmp_path: Path) -> None:
    table = dc.read(patients_arrow(), quasi=["age", "sex"], sensitive=["disease", "zip"], categorical=["zip"])
    release = dc.publish(table, "beta-likeness(beta=2)", "codip(scheme=perturbation)")
    assert release.randomised == {"disease_randomised": "disease", "zip_randomised": "zip"}
    with pytest.raises(dc.DiscreetError, match="ask for 'zip'"):
        release.estimate("SELECT COUNT(*) FROM t WHERE zip_randomised = '53703'")
    for column, name in release.randomised.items():
        asked = dc.Query(dc.OneOf(column, ("53703",)))
        with pytest.raises(dc.DiscreetError, match=f"ask for '{name}'"):
            release.estimate(asked)
    home = release.save(tmp_path / "release")
    assert dc.audit(home, table).holds
    assert [entry["randomised"]["column"] for entry in json.loads((home / "release.json").read_text())["parts"]] == [
        *release.randomised
    ]


@pytest.mark.slow
def test_commands_say_it_and_show_how_much_is_unchanged(tmp_path: Path) -> None:
    path, home = tmp_path / "patients.csv", str(tmp_path / "release")
    command("data", "get", "patients", "-o", str(path))
    reading = (str(path), "--quasi", "age", "--sensitive", "disease")
    promise = ("--promise", "beta-likeness(beta=2)")
    made = command("publish", *reading, "-o", home, *promise, "--scheme", "perturbation", "--seed", "1")
    assert made.exit_code == 0, made.output
    said = (
        "Note: the column 'disease_randomised' of the release holds randomised values: count 'disease' with "
        "discreet query, which undoes the randomisation, and not in the file."
    )
    assert said in made.stderr
    share = "sensitive values expected to be unchanged (retention)"
    for shown in (made, command("audit", home, "--original", str(path))):
        lines = [line for line in shown.stdout.splitlines() if "of 1" in line]
        assert ["(AIL)" in lines[0], "(GCP)" in lines[1], share in lines[2]] == [True] * 3
    page = tmp_path / "page.html"
    compared = (*reading, *promise, "--schemes", "perturbation,cuts", "--queries", "20", "--seed", "1")
    listed = command("compare", *compared, "--html", str(page))
    unchanged = "perturbation: 46.5 % of the sensitive values are expected to be unchanged."
    assert f"\n{unchanged}\n" in listed.stdout
    assert f"<p>{unchanged}</p>" in page.read_text(encoding="utf-8")
    refused = command("query", home, "SELECT COUNT(*) FROM t WHERE disease_randomised = 'flu'")
    assert refused.exit_code == 2
    assert "ask for 'disease'" in refused.stderr
