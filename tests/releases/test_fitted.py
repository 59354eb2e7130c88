"""Releases of fitted columns are those of the table fitted by hand, and say what was done."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.command.main import main
from discreet.errors import DiscreetError
from discreet.jobs.original import spec_of
from discreet.releases import load
from discreet.schemes import make_scheme
from discreet.table.table import Table
from support.audits import audits, failing
from support.tampering import altered, stated

SCHEMES = ["cuts", "cuts(descriptions=exact)", "burel", "lifting", "perturbation", "baseline", "codip"]
HOW: dict[str, Any] = {"top": {"age": 70, "pay": 3000}, "bottom": {"pay": 1000}, "round": {"pay": 500}}


@cache
def people(rows: int = 160, seed: int = 3) -> pa.Table:
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.integers(17, 90, rows),
        "sex": rng.choice(["f", "m"], rows),
        "pay": rng.integers(0, 5000, rows),
    }
    return pa.table(columns)


def by_hand() -> pa.Table:
    ages = [min(age, 70) for age in people()["age"].to_pylist()]
    pays = [min(max((pay + 250) // 500 * 500, 1000), 3000) for pay in people()["pay"].to_pylist()]
    return pa.table({"age": ages, "sex": people()["sex"], "pay": pays})


def read(rows: Any, **how: Any) -> Table:
    return dc.read(rows, quasi=["age", "sex"], sensitive="pay", **how)


def published(table: Table, scheme: str = "cuts") -> Any:
    return dc.publish(table, "beta-likeness(beta=2)", make_scheme(scheme, {}, random_state=5))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_release_is_that_of_the_table_fitted_by_hand(scheme: str, tmp_path: Path) -> None:
    release, other = published(read(people(), **HOW), scheme), published(read(by_hand()), scheme)
    assert {name: table.to_pydict() for name, table in release.tables().items()} == {
        name: table.to_pydict() for name, table in other.tables().items()
    }
    for asked in ("age >= 70", "pay >= 3000 AND age < 40", "pay = 1000", "pay BETWEEN 1500 AND 3000"):
        sql = f"SELECT COUNT(*) FROM t WHERE {asked}"
        assert release.estimate(sql) == other.estimate(sql)
        assert release.query(sql).count(read(people(), **HOW)) == other.query(sql).count(read(by_hand()))
    points = {name: people()[name].to_numpy(zero_copy_only=False) for name in ("age", "sex")}
    np.testing.assert_allclose(
        release.beliefs(points), other.beliefs({**points, "age": by_hand()["age"].to_numpy()}), rtol=1e-12
    )
    release.save(tmp_path / "release")
    pyarrow.csv.write_csv(people(), tmp_path / "people.csv")
    spec = spec_of(str(tmp_path / "release"))
    assert (spec.top, spec.bottom, spec.round) == (HOW["top"], HOW["bottom"], HOW["round"])
    original = dc.read(str(tmp_path / "people.csv"), spec)
    assert not failing(dc.audit(tmp_path / "release", original, trace=release.trace))
    assert load(tmp_path / "release").manifest["attributes"] == release.manifest["attributes"]
    assert sum("coarser" in sentence for sentence in release.manifest["assumptions"]) == 1


BINS: dict[str, Any] = {"age": [0, 20, 40, 65, 120], "pay": "quantiles:6"}
WHOLE = [
    ("age >= 40", lambda age, pay: age >= 40),
    ("age < 40 AND pay >= {inner}", lambda age, pay: age < 40 and pay >= inner()),
    ("age = '20 to below 40'", lambda age, pay: 20 <= age < 40),
    ("age >= '20 to below 40' AND age <= 300", lambda age, pay: age >= 20),
    ("pay <= 100000", lambda age, pay: True),
    ("pay > 100000", lambda age, pay: False),
]
"""Conditions on whole bins, and what they mean."""


def inner() -> float:
    """An inner edge of the bins of quantiles."""
    fit = read(people(), bins=BINS).column("pay").fit
    assert fit is not None
    return fit.edges[2]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_columns_in_bins_are_audited_and_counted_by_whole_bins(scheme: str, tmp_path: Path) -> None:
    table = read(people(), bins=BINS)
    release = published(table, scheme)
    release.save(tmp_path / "release")
    original = dc.read(people(), spec_of(str(tmp_path / "release")))
    assert not failing(dc.audit(tmp_path / "release", original, trace=release.trace))
    rows = list(zip(people()["age"].to_pylist(), people()["pay"].to_pylist(), strict=True))
    loaded = load(tmp_path / "release")
    for condition, holds in WHOLE:
        sql = f"SELECT COUNT(*) FROM t WHERE {condition.format(inner=inner())}"
        exact = sum(holds(*row) for row in rows)
        assert loaded.query(sql).count(original) == exact, condition
        if scheme == "baseline" and "pay" not in condition:
            assert loaded.estimate(sql) == pytest.approx(exact)
        least_and_most = loaded.certain_bounds([loaded.query(sql)])
        assert least_and_most is None or least_and_most[0, 0] <= exact <= least_and_most[0, 1]
    points = {name: people()[name].to_numpy(zero_copy_only=False) for name in ("age", "sex")}
    named = np.array(table.column("age").texts, object)[table.column("age").codes]
    np.testing.assert_array_equal(loaded.beliefs(points), loaded.beliefs({**points, "age": named}))


def test_bins_that_the_manifest_states_are_its_values(tmp_path: Path) -> None:
    release = published(read(people(), bins=BINS), "cuts(descriptions=exact)")
    release.save(tmp_path / "release")
    for at, key, value in (
        (0, "bins", [0, 20, 40, 66, 120]),
        (0, "values", ["a", "b", "c", "d"]),
        (2, "bins", "quantiles:6"),
        (0, "round", 5),
        (0, "kind", "numeric"),
    ):
        with pytest.raises(DiscreetError, match="the manifest describes an attribute in a way that cannot be"):
            load(altered(tmp_path / "release", tmp_path / f"{at}{key}", stated("attributes", at, key, value=value)))
    with pytest.raises(DiscreetError, match=r"'age' was published in the bins 0 to below 20, .* was read as it is"):
        audits(release, read(people(), bins={"pay": BINS["pay"]}))


def test_commands_read_the_original_as_the_release_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(people(), "people.csv")
    Path("job.toml").write_text(
        'input = "people.csv"\noutput = "release"\nquasi = ["age", "sex"]\nsensitive = "pay"\n'
        'promises = "l-diversity(l=2)"\n[top]\nage = 70\npay = 9\n[bottom]\npay = 1000\n'
    )

    def run(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(main, list(words))
        assert result.exit_code == code, result.output
        return result.output

    run("publish", "--job", "job.toml", "--top", "pay=3000", "--round", "pay=500", "-q")
    entries = json.loads(Path("release/release.json").read_text())["attributes"]
    assert [{key: entry[key] for key in ("top", "bottom", "round") if key in entry} for entry in entries] == [
        {"top": 70},
        {},
        {"round": 500, "bottom": 1000, "top": 3000},
    ]
    run("audit", "release", "--original", "people.csv", "-q")
    told = run("query", "release", "SELECT COUNT(*) FROM t WHERE pay >= 3000", "--original", "people.csv")
    assert f"Exactly {sum(pay >= 3000 for pay in by_hand()['pay'].to_pylist())} in the original" in told
    assert (
        "column 'pay' is published rounded to multiples of 500, with 1000 for all numbers below it, with 3000"
        in " ".join(told.split())
    )
    told = run("query", "release", "SELECT COUNT(*) FROM t WHERE age > 80", code=2)
    assert "ask for all of them, as in age >= 70" in told
    assert "read it with --top age=70" in run("audit", "release", "--original", "people.csv", "--top", "age=80", code=2)


def test_another_fit_than_the_published_one_is_refused() -> None:
    release = published(read(people(), **HOW))
    for top, told in (
        ({"age": 70, "pay": 4000}, "'pay' was published rounded"),
        ({"pay": 3000}, "'age' was published"),
    ):
        with pytest.raises(DiscreetError, match=told):
            audits(release, read(people(), **{**HOW, "top": top}))


@pytest.mark.parametrize(
    ("at", "key", "value"),
    [(0, "top", "70"), (0, "top", True), (0, "round", 5), (1, "top", 5), (2, "bottom", 4000), (2, "round", 0)],
)
def test_manifests_whose_fit_cannot_be_are_refused(tmp_path: Path, at: int, key: str, value: Any) -> None:
    published(read(people(), **HOW)).save(tmp_path / "release")
    with pytest.raises(DiscreetError, match="the manifest describes an attribute in a way that cannot be understood"):
        load(altered(tmp_path / "release", tmp_path / "altered", stated("attributes", at, key, value=value)))
