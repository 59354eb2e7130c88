"""Ordered values have a name in the folder if they stand in a cell; of others it tells how many lie where."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.analyst.loss import losses
from discreet.releases.labels import told
from discreet.releases.release import Release
from discreet.table.table import Table
from naive.estimates import estimate
from support.command import run
from support.formats import DESCRIBED
from support.tampering import describe

ROWS = 240


def people(seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "level": [f"level {number:02}" for number in (rng.exponential(9, ROWS) % 80).astype(int)],
            "size": [str(number) for number in (rng.exponential(20, ROWS) % 150).astype(int)],
            "pay": rng.gamma(2, 30, ROWS).round(2),
            "ill": rng.permutation(["flu", "gout", "asthma"] * (ROWS // 3)),
            "job": rng.choice(["baker", "smith", "clerk"], ROWS),
        }
    )


def read(table: pa.Table, label: str = "cuts", **how: Any) -> Table:
    return dc.read(
        table,
        quasi=["level", "size", "pay"],
        sensitive=["ill", "job"] if label == "codip" else "ill",
        numeric=["pay"],
        ordinal=["level", "size"],
        **how,
    )


def ends(release: Release) -> dict[str, set[str]]:
    """Per quasi-identifier, the values that are an end of some range."""
    named: dict[str, set[str]] = {}
    for part in release.projections:
        assert part.descriptions is not None
        for attribute, texts in zip(release.quasi, part.descriptions.texts, strict=True):
            named.setdefault(attribute.name, set()).update(told(texts.texts, ordered=True))
        for attribute, counted in zip(release.quasi, part.marginals.cells if part.marginals else (), strict=False):
            named[attribute.name].update(told(counted, ordered=True))
    return named


@pytest.mark.parametrize("label", DESCRIBED)
def test_the_folder_names_no_ordered_value_that_stands_in_no_cell(label: str, tmp_path: Path) -> None:
    table = read(people(), label)
    release = dc.publish(table, DESCRIBED[label], label)
    folder = release.save(tmp_path / "release")
    loaded = dc.load(folder)
    stated = {entry["name"]: entry for entry in json.loads((folder / "release.json").read_text())["attributes"]}
    for name, named in ends(loaded).items():
        if name != "pay":
            values = stated[name]["values"]
            assert {value for value in values if isinstance(value, str)} == named - {"*"}
            assert any(isinstance(value, int) for value in values) or "graph" in label or label == "codip"
            known = list(table.column(name).texts)
            for value in values:  # in their order, with as many between them as there are
                known = known[value:] if isinstance(value, int) else known[1:] if known[0] == value else ["other"]
            assert known == []
    assert [each.as_dict() for each in loaded.attributes] == [each.as_dict() for each in release.attributes]
    assert losses(loaded) == losses(release) == pytest.approx(losses(release.revealed(table)))
    assert dc.audit(folder, table, trace=release.trace).holds
    assert "graph" in label or dc.audit(folder, table).holds


@pytest.mark.parametrize("label", DESCRIBED)
def test_people_find_themselves_and_counts_stay(label: str, tmp_path: Path) -> None:
    table = read(people(), label)
    release = dc.load(dc.publish(table, DESCRIBED[label], label).save(tmp_path / "release"))
    revealed = release.revealed(table)
    points: dict[str, Any] = {
        name: [table.column(name).texts[code] for code in table.column(name).codes] for name in ("level", "size")
    }
    points["pay"] = table.column("pay").values[table.column("pay").codes].tolist()
    assert np.allclose(release.beliefs(points), revealed.beliefs(points), equal_nan=True)
    for name, texts in (("level", points["level"]), ("size", points["size"])):
        for value in sorted(set(texts))[::3]:
            query = dc.Query(dc.OneOf(name, value))
            assert release.estimate(query) == pytest.approx(revealed.estimate(query)), value
        gap = dc.Query(dc.OneOf(name, "(not named)"))
        named = [value for value in release.attribute(name).values if value in texts]
        assert release.estimate(gap) + release.estimate(dc.Query(dc.OneOf(name, tuple(named)))) == pytest.approx(ROWS)


@pytest.mark.parametrize("scheme", ["cuts", "incognito", "cuts(values=set)"])
def test_counts_of_ranges_are_those_of_the_definition(scheme: str, tmp_path: Path) -> None:
    folder = dc.publish(read(people()), "k-anonymity(k=8)", scheme).save(tmp_path / "release")
    release = dc.load(folder)
    for low, high in (("level 00", "level 09"), ("level 11", "level 23"), ("level 31", None), (None, "level 17")):
        query = dc.Query((dc.Range("level", low, high), dc.Range("size", "3", "30")))
        assert release.estimate(query) == pytest.approx(estimate(folder, query)), (low, high)
        assert 0 < release.estimate(query) < ROWS
    query = dc.Query(dc.OneOf("size", ("7", "100", "101", "102", "99")))
    assert release.estimate(query) == pytest.approx(estimate(folder, query))


def test_a_note_says_what_a_value_without_a_name_is_counted_as() -> None:
    release = dc.publish(read(people()), "k-anonymity(k=100)")
    noted = release.estimate("SELECT COUNT(*) FROM t WHERE level >= 'level 13'").notes
    assert noted == ("no cell names 'level 13': it counts as one of the values of 'level' without a name",)
    with pytest.raises(dc.DiscreetError, match="has no value 'zzz'; there are 'level") as refused:
        release.estimate("SELECT COUNT(*) FROM t WHERE level >= 'zzz' AND level <= 'level 00'")
    assert "\0" not in str(refused.value)


def test_a_count_by_values_puts_those_without_a_name_together() -> None:
    release = dc.publish(read(people()), "k-anonymity(k=30)")
    counted = release.group_by("SELECT level, COUNT(*) FROM t GROUP BY level").to_pydict()
    assert counted["level"][-1] == "(not named)" and sum(counted["count"]) == pytest.approx(ROWS)
    assert len(set(counted["level"])) == len(counted["level"]) > 2
    where = "WHERE level >= 'level 03' AND level < 'level 12'"
    counted = release.group_by(f"SELECT level, COUNT(*) FROM t {where} GROUP BY level").to_pydict()
    whole = release.estimate(f"SELECT COUNT(*) FROM t {where}")
    assert sum(counted["count"]) == pytest.approx(whole) and 0 < whole < ROWS


def altered(folder: Path, change: Callable[[list[Any]], object]) -> Path:
    manifest = json.loads((folder / "release.json").read_text())
    change(manifest["attributes"][0]["values"])
    (folder / "release.json").write_text(json.dumps(manifest))
    describe(folder)
    return folder


def split(values: list[Any], name: str) -> None:
    """Name the first of the first two values or more without a name."""
    at = next(at for at, value in enumerate(values) if isinstance(value, int) and value > 1)
    values[at : at + 1] = [name, values[at] - 1]


def test_an_audit_rejects_names_and_counts_that_no_cell_licenses(tmp_path: Path) -> None:
    table = read(people())
    release = dc.publish(table, "k-anonymity(k=8)", "mondrian")
    hidden = next(value for value in table.column("level").texts if value not in ends(release)["level"])

    def failed(name: str, change: Callable[[list[Any]], object]) -> set[str]:
        folder = altered(release.save(tmp_path / name), change)
        return {check.name for check in dc.audit(folder, table).checks if not check.holds}

    def number(change: int) -> Callable[[list[Any]], object]:
        def changed(values: list[Any]) -> None:
            at = next(at for at, value in enumerate(values) if isinstance(value, int) and value > 1)
            values[at] += change

        return changed

    assert failed("as it is", lambda values: None) == set()
    assert "listed" in failed("a name", lambda values: split(values, hidden))
    assert "listed" in failed("nobody's name", lambda values: split(values, "Bob"))
    assert "listed" in failed("more", number(1))
    assert "listed" in failed("less", number(-1))
    for name, change in {
        "too many": lambda values: values.append(10**12),
        "none": lambda values: values.append(0),
        "two numbers": lambda values: values.extend([1, 1]),
        "true": lambda values: values.append(True),
    }.items():
        with pytest.raises(dc.DiscreetError, match="cannot be understood"):
            failed(name, change)


def test_an_order_that_the_publisher_declares_is_public_and_said_to_be(tmp_path: Path) -> None:
    levels = [f"level {number:02}" for number in range(99)]
    table = dc.read(
        people(),
        quasi=["level", "pay"],
        sensitive="ill",
        numeric=["pay"],
        ordinal=["level"],
        hierarchies={"level": dict.fromkeys(levels)},
    )
    folder = dc.publish(table, "k-anonymity(k=8)").save(tmp_path / "release")
    stated = json.loads((folder / "release.json").read_text())["attributes"][0]
    assert stated["declared"] is True and stated["values"] == levels
    assert dc.audit(folder, table).holds


def test_values_of_withheld_rows_are_not_counted(tmp_path: Path) -> None:
    source = people()
    pay = source["pay"].to_pylist()
    rare = [at for at, level in enumerate(source["level"].to_pylist()) if level > "level 30"][:3]
    for at in rare:
        pay[at] = None
    table = read(source.set_column(2, "pay", pa.array(pay, pa.float64())), missing="withhold")
    release = dc.publish(table, "k-anonymity(k=8)", "mondrian")
    folder = release.save(tmp_path / "release")
    values = json.loads((folder / "release.json").read_text())["attributes"][0]["values"]
    published = {level for at, level in enumerate(source["level"].to_pylist()) if pay[at] is not None}
    assert sum(1 if isinstance(value, str) else value for value in values) == len(published)
    assert dc.audit(folder, table).holds


def test_the_command_line_reads_the_original_in_the_order_of_its_values(tmp_path: Path) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(people(), tmp_path / "people.csv")
    file, folder = str(tmp_path / "people.csv"), str(tmp_path / "release")
    words = ["--quasi", "level,size", "--ordinal", "level,size", "--sensitive", "ill"]
    run("publish", file, "-o", folder, *words, "--promise", "k-anonymity(k=8)")
    assert "holds" in run("audit", folder, "--original", file).stdout


def test_a_hierarchy_that_nobody_declared_does_not_license_the_names_of_an_order(tmp_path: Path) -> None:
    """An ordinal column with labels lists all its values: they must be the publisher's, so no recipe may be given."""
    table = read(people())
    folder = dc.publish(table, "k-anonymity(k=8)", "mondrian").save(tmp_path / "release")
    manifest = json.loads((folder / "release.json").read_text())
    entry = manifest["attributes"][0]
    entry["values"] = sorted(set(table.column("level").texts))
    entry["hierarchy"] = [[value, "*"] for value in entry["values"]]
    (folder / "release.json").write_text(json.dumps(manifest))
    describe(folder)
    failed = [check for check in dc.audit(folder, table).checks if not check.holds]
    assert "listed" in {check.name for check in failed}
    recipe = {"level": {"prefix": {"keep": [3]}}}
    with pytest.raises(dc.DiscreetError, match=r"'level' is ordinal and its labels are a recipe.*leave out ordinal"):
        dc.read(people(), quasi=["level"], sensitive="ill", ordinal=["level"], hierarchies=recipe)
