"""Groups that nobody fits two of: from the files, by a program of its own."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.datasets import census
from discreet.schemes import make_scheme
from support.audits import failing

APART = ("cuts", "mondrian", "sealed")


def random_people(seed: int, rows: int = 60) -> dc.Table:
    chance = np.random.default_rng(seed)
    columns = {
        "age": chance.integers(0, 12, rows),
        "city": [f"c{at}" for at in chance.integers(0, 5, rows)],
        "sex": [f"s{at}" for at in chance.integers(0, 2, rows)],
        "ill": [f"d{at}" for at in chance.integers(0, 4, rows)],
    }
    return dc.read(pa.table(columns), quasi=["age", "city", "sex"], sensitive="ill", numeric=["age"])


def admits(text: str, value: str) -> bool:
    """Whether an interval, a set, a single value or ``*`` admits a value."""
    if text.startswith("["):
        low, high = (float(end) for end in text[1:-1].split(","))
        return low <= float(value) <= high
    return text == "*" or value in text.strip("{}").split(", ")


@pytest.mark.parametrize("scheme", APART)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=15)
def test_everybody_fits_one_description(scheme: str, seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    table = random_people(seed)
    release = dc.publish(table, "l-diversity(l=1.5)", make_scheme(f"{scheme}(overlap=none)", random_state=seed))
    home = release.save(tmp_path_factory.mktemp("r") / "release")
    with (home / "table.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    names = [column.name for column in table.quasi]
    groups = {tuple([line["group"], *(line[name] for name in names)]) for line in lines}
    held = [[column.texts[code] for code in column.codes] for column in table.quasi]
    for values in set(zip(*held, strict=True)):
        fits = [group for group, *texts in groups if all(map(admits, texts, values))]
        assert len(fits) == 1, (values, fits)
    audit = dc.audit(home, table)
    assert audit.holds and any(check.name == "overlap" for check in audit.checks)


@pytest.mark.parametrize("descriptions", ["boxes", "exact"])
def test_an_audit_finds_groups_that_overlap_although_none_are_said_to(descriptions: str, tmp_path: Path) -> None:
    table = census(400)
    scheme = make_scheme(f"cuts(cuts=stratified, values=set, snap=false, descriptions={descriptions})", random_state=1)
    home = dc.publish(table, "beta-likeness(beta=2)", scheme).save(tmp_path / "r")
    manifest = json.loads((home / "release.json").read_text())
    manifest["scheme"]["options"] |= {"cuts": "plain", "overlap": "none"}
    (home / "release.json").write_text(json.dumps(manifest, indent=2))
    assert "do not fit exactly one group" in failing(dc.audit(home, table))["overlap"]


@pytest.mark.parametrize(
    ("scheme", "says"),
    [
        ("cuts(overlap=none, snap=true)", "snap=true makes descriptions overlap; leave it out"),
        ("sealed(overlap=none, values=label)", "values=label makes descriptions overlap; leave it out"),
        ("cuts(overlap=none, withhold=0.1)", "leave out withhold, or say overlap=any"),
        ("mondrian(overlap=none, effort=thorough)", "effort=thorough moves rows from group to group.*; leave it out"),
        ("cuts(overlap=none, cuts=repaired)", "only plain cuts set groups apart; leave out cuts=repaired"),
    ],
)
def test_options_that_contradict_it_are_refused(scheme: str, says: str) -> None:
    with pytest.raises(dc.DiscreetError, match=says.replace("(", "[(]")):
        make_scheme(scheme)


def test_promises_and_tables_that_contradict_it_are_refused() -> None:
    with pytest.raises(dc.DiscreetError, match=r"merged ones overlap with others.*; say overlap=any"):
        dc.publish(census(400), "alpha-beta(alpha=0.9, beta=0.9)", "cuts(overlap=none)")
    data = pa.table({"age": [1, 2, None, 4], "id": [1, 1, 2, 3], "s": list("abab")})
    for way, why in (("value", "column 'age' has missing values"), ("withhold", "people whose rows are withheld fit")):
        table = dc.read(data, quasi="age", sensitive="s", missing=way)  # type: ignore[arg-type]
        with pytest.raises(dc.DiscreetError, match=f"{why}.*leave such rows out"):
            dc.publish(table, "l-diversity(l=1)", "cuts(overlap=none)", most_withheld=0.5)
    persons = dc.read(data.drop_null(), quasi="age", sensitive="s", person="id")
    with pytest.raises(dc.DiscreetError, match=r"one row per person.*; say overlap=any"):
        dc.publish(persons, "l-diversity(l=1)", "cuts(overlap=none)")
