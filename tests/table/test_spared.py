"""Weights of quasi-identifiers: a larger one spares a column, equal ones say nothing, and audits measure by them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.analyst.loss import ail, by_attribute, gcp
from discreet.datasets import census
from discreet.jobs.original import spec_of
from discreet.schemes.scheme import make_scheme
from discreet.table.spared import weights_of
from discreet.table.spec import TableSpec
from support.command import run

QUASI = ["age", "gender", "education", "marital", "race"]
HEEDING = {
    "cuts": "beta-likeness(beta=2)",
    "cuts(effort=thorough)": "k-anonymity(k=20)",
    "cuts(descriptions=exact)": "beta-likeness(beta=2)",
    "cuts(values=set, loss=gcp)": "beta-likeness(beta=2)",
    "cuts(withhold=0.02)": "k-anonymity(k=10)",
    "mondrian": "k-anonymity(k=10)",
    "lifting": "beta-likeness(beta=2)",
    "heterogeneous": "beta-likeness(beta=2)",
    "sealed": "beta-likeness(beta=4)",
    "mirrored": "beta-likeness(beta=4)",
    "codip": "beta-likeness(beta=2)",
}
"""Schemes that choose by loss, and a promise that each keeps."""
DEAF = {"burel": "beta-likeness(beta=2)", "sabre": "t-closeness(t=0.3)", "anatomy": "l-diversity(l=3)"}


def rows(table: dc.Table) -> pa.Table:
    columns = {}
    for column in table.columns:
        texts = np.array(column.texts, object)[column.codes]
        columns[column.name] = texts.astype(np.float64) if column.kind == "numeric" else texts
    return pa.table(columns)


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return rows(census(3000, quasi=QUASI, sensitive="salary"))


def read(people: pa.Table, weight: dict[str, Any] | None = None) -> dc.Table:
    return dc.read(people, quasi=QUASI, sensitive="salary", weight=weight or {})


def published(table: dc.Table, scheme: str, promise: str) -> dc.Release:
    return dc.publish(table, promise, make_scheme(scheme, random_state=1))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["age", "education"])
@pytest.mark.parametrize("scheme", [name for name in HEEDING if "exact" not in name])
def test_a_weight_of_three_lowers_the_loss_of_its_column(people: pa.Table, scheme: str, name: str) -> None:
    before, after = (
        by_attribute(published(read(people, weight), scheme, HEEDING[scheme]))[name] for weight in ({}, {name: 3})
    )
    assert after < 0.97 * before


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "promise"), [*HEEDING.items(), *DEAF.items()])
def test_equal_weights_say_nothing(people: pa.Table, tmp_path: Path, scheme: str, promise: str) -> None:
    homes = [
        published(read(people, weight), scheme, promise).save(tmp_path / str(number))
        for number, weight in enumerate(({}, dict.fromkeys(QUASI, 3), dict.fromkeys(QUASI, 0.1)))
    ]
    files = [{path.name: path.read_bytes() for path in home.iterdir()} for home in homes]
    assert files[0] == files[1] == files[2] and b"weight" not in files[0]["release.json"]


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "promise"), [*HEEDING.items(), *DEAF.items()])
def test_an_audit_measures_the_loss_that_the_weights_say(
    people: pa.Table, tmp_path: Path, scheme: str, promise: str
) -> None:
    """Also where the original is read without them: the manifest states them, and states nothing else about them."""
    table = read(people, {"age": 3, "race": 0.5})
    release = published(table, scheme, promise)
    home = release.save(tmp_path / "r")
    stated = {entry["name"]: entry.get("weight") for entry in release.manifest["attributes"]}
    assert stated == {**dict.fromkeys(QUASI), "salary": None, "age": 3, "race": 0.5}
    assert spec_of(str(home)).weight == {"age": 3.0, "race": 0.5}
    for original in (table, read(people)):
        found = dc.audit(home, original)
        assert found.holds, found.sentences()
        if not release.exact_quasi:
            each = by_attribute(release)
            weights = {"age": 3.0, "gender": 1.0, "education": 1.0, "marital": 1.0, "race": 0.5}
            mean = sum(weights[name] * loss for name, loss in each.items()) / 6.5
            assert found.losses["ail"] == pytest.approx(mean)


WEIGHTS = st.lists(st.floats(0.01, 1000), min_size=2, max_size=2)


@pytest.mark.slow
@given(WEIGHTS, st.integers(0, 999))
def test_losses_are_weighted_means(weights: list[float], seed: int) -> None:
    """Equation 4, of groups by lot: with weights in proportion, and with one that outweighs all others."""
    rng = np.random.default_rng(seed)
    data = pa.table({"a": rng.integers(0, 9, 12), "b": rng.choice(["x", "y", "z"], 12), "s": [0, 1] * 6})
    given = dict(zip("ab", weights, strict=True))
    release = dc.publish(dc.read(data, quasi=["a", "b"], sensitive="s", weight=given), "k-anonymity(k=3)", "mondrian")
    each = by_attribute(release)
    assert ail(release) == pytest.approx(sum(given[name] * each[name] for name in "ab") / sum(weights))
    assert 0.0 <= gcp(release) <= 1.0


@pytest.mark.parametrize("weight", [0, -1, "many", True, None, float("nan"), float("inf"), 1001, [3], "1e400"])
def test_absurd_weights_are_refused(weight: Any) -> None:
    with pytest.raises(dc.DiscreetError, match="of column 'age' is not a number above 0 and up to 1,000"):
        TableSpec(quasi="age", weight={"age": weight})


@pytest.mark.parametrize("name", ["salary", "nobody"])
def test_only_quasi_identifiers_have_weights(people: pa.Table, name: str) -> None:
    with pytest.raises(
        dc.DiscreetError, match=rf"for column '{name}', which is not a quasi-identifier.*survey weights"
    ):
        read(people, {name: 3})


def test_a_column_of_survey_weights_is_not_meant(people: pa.Table) -> None:
    with pytest.raises(dc.DiscreetError, match="'salary' does not say which column has which weight of its loss"):
        read(people, "salary")  # type: ignore[arg-type]


def test_of_one_column_a_weight_says_nothing() -> None:
    assert weights_of(["age"], {"age": 7.0}) == {"age": 1.0}


@pytest.mark.parametrize("weight", [True, 0, -3, "3", 1001, None, [3]])
def test_a_manifest_with_another_weight_is_not_read(people: pa.Table, weight: Any) -> None:
    from discreet.releases.attributes import Attribute

    entry = {"name": "age", "role": "quasi", "kind": "numeric", "domain": [0, 9]}
    assert Attribute.from_dict({**entry, "weight": 3}).as_dict() == {**entry, "weight": 3}
    for wrong in ({**entry, "weight": weight}, {**entry, "role": "sensitive", "weight": 3}):
        with pytest.raises(dc.DiscreetError, match="cannot be understood"):
            Attribute.from_dict(wrong)


@pytest.mark.slow
def test_a_flag_a_job_and_python_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("data", "get", "patients")
    roles = ("--quasi", "age,sex,zip", "--sensitive", "disease", "--promise", "k-anonymity(k=4)", "--seed", "1")
    run("publish", "patients.csv", "-o", "flag", *roles, "--weight", "age=3", "--weight", "zip=2")
    Path("job.toml").write_text("weight = { age = 9, zip = 2 }\n")
    run("publish", "patients.csv", "-o", "job", *roles, "--job", "job.toml", "--weight", "age=3")
    for path in Path("flag").iterdir():
        assert path.read_bytes() == (Path("job") / path.name).read_bytes()
    assert '"weight": 3' in Path("flag/release.json").read_text()
