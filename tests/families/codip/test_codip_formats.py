"""Tables of a projected release in formats other than the generalized one: each is a release of its own."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.families.codip.load import own_name, part_manifest
from discreet.table.table import Table
from discreet.table.write import digest
from support.audits import audits
from support.projected import people

TABLES = {
    "anatomy": ("anatomy", "l-diversity(l=2)", {"table", "sensitive"}),
    "baseline": ("anatomy", "beta-likeness(beta=1)", {"table", "sensitive"}),
    "lifting": ("nested", "beta-likeness(beta=2)", {"table", "nodes"}),
    "sealed": ("sealed", "beta-likeness(beta=2)", {"table", "seal"}),
    "mirrored": ("mirrored", "beta-likeness(beta=2)", {"table", "seal"}),
    "perturbation": ("perturbed", "beta-likeness(beta=2)", {"table", "prior", "matrix"}),
    "retention": ("retained", "proximity(epsilon=3, m=2)", {"table", "prior"}),
}
"""The scheme of the tables: their format, a promise, and the tables of each part."""


def numbers(rows: int = 80) -> Table:
    rng = np.random.default_rng(3)
    columns = {"age": rng.permutation(rows), "sex": rng.choice(["f", "m"], rows)}
    columns |= {name: rng.integers(0, 50, rows) for name in ("pay", "hours")}
    return dc.read(pa.table(columns), quasi=["age", "sex"], sensitive=["pay", "hours"])


def source(scheme: str) -> Table:
    return numbers() if scheme == "retention" else people(80)


def released(scheme: str, **options: object) -> tuple[Table, dc.ProjectedRelease]:
    table = source(scheme)
    release = dc.publish(table, TABLES[scheme][1], dc.Codip(scheme=scheme, exposure=0.0, **options))  # type: ignore[arg-type]
    assert isinstance(release, dc.ProjectedRelease)
    return table, release


@pytest.mark.slow
@pytest.mark.parametrize("scheme", TABLES)
def test_each_table_is_a_release_of_its_own(tmp_path: Path, scheme: str) -> None:
    """All tables hold together; and under its own names each part passes the audit of its own format."""
    table, release = released(scheme)
    format, _, stems = TABLES[scheme]
    assert [part.format for part in release.parts] == [format, format]
    for found in audits(release, table):
        assert found.holds and {kept.attribute for kept in found.promises} == {one.name for one in table.sensitive}
    home = release.save(tmp_path / "release")
    manifest = json.loads((home / "release.json").read_text())
    assert set(manifest["tables"]) == {f"{stem}_{number}.csv" for stem in stems for number in (1, 2)}
    for number, column in enumerate(table.sensitive, 1):
        alone = tmp_path / f"part_{number}"
        alone.mkdir()
        own = part_manifest(manifest, number)
        for name in manifest["tables"]:
            if name.endswith(f"_{number}.csv"):
                shutil.copy(home / name, alone / own_name(name, f"_{number}."))
                assert own["tables"][own_name(name, f"_{number}.")]["sha256"] == digest(home / name)
        (alone / "release.json").write_text(json.dumps(own), encoding="utf-8")
        found = dc.audit(alone, replace(table, sensitive=(column,)), trace=release.parts[number - 1].trace)
        assert found.holds, found.sentences()
        assert manifest["parts"][number - 1]["assumptions"] == own["assumptions"]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", TABLES)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_it_is_loaded_asked_and_attacked_like_any_other(tmp_path: Path, scheme: str, form: str) -> None:
    table, release = released(scheme)
    loaded = dc.load(release.save(tmp_path / "release", format=form))  # type: ignore[arg-type]
    points = {"age": [25, 40], "sex": ["f", "m"]}
    for at, column in enumerate(table.sensitive):
        beliefs = loaded.beliefs(points, attribute=column.name)
        assert np.array_equal(beliefs, release.parts[at].beliefs(points), equal_nan=True)
        value = column.texts[2] if column.kind == "numeric" else f"'{column.texts[2]}'"
        query = f"SELECT COUNT(*) FROM t WHERE age >= 40 AND {column.name} = {value}"
        assert loaded.estimate(query) == pytest.approx(release.parts[at].estimate(query))
    (note,) = loaded.notes_on([column.name for column in table.sensitive])
    assert "are in different tables of the release" in note
    found = dc.attack(release, table, "beliefs")
    assert found.holds and [one.attribute for one in found.evidence] == [column.name for column in table.sensitive]


def test_aligned_anatomy_has_one_partition(tmp_path: Path) -> None:
    table, release = released("anatomy", aligned=True)
    assert release.trace is not None
    one, other = release.trace.T
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    assert len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))
    home = release.save(tmp_path / "release")
    told = dc.audit(home, table, trace=release.trace)
    assert told.holds and any("All tables have the same groups" in check.sentence for check in told.checks)


@pytest.mark.slow
def test_what_was_not_looked_at_is_said() -> None:
    """Beliefs from several tables are compared where persons are in groups; elsewhere the verdict says so."""
    for scheme, said in (("perturbation", True), ("lifting", True), ("anatomy", False)):
        table, release = released(scheme)
        for found in audits(release, table):
            told = [check for check in found.checks if "in a table of the format" in check.sentence]
            assert bool(told) == said and all(check.caveat for check in told)


def test_tables_in_the_same_order_are_found(tmp_path: Path) -> None:
    """Lines of two tables at the same place would belong to one person."""
    table, release = released("anatomy")
    home = release.save(tmp_path / "release")
    first, second = (list(csv.reader((home / f"table_{at}.csv").read_text().splitlines())) for at in (1, 2))

    def person(head: list[str], line: list[str]) -> tuple[str, ...]:
        return tuple(line[head.index(name)] for name in ("age", "sex"))

    place = {person(first[0], line): at for at, line in enumerate(first[1:])}
    head, rest = second[0], second[1:]
    rest.sort(key=lambda line: place[person(head, line)])
    with (home / "table_2.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rest])
    (found,) = [check for check in dc.audit(home, table).checks if check.name == "order"]
    assert not found.holds and "table_2.csv" in found.sentence


def test_altered_tables_of_a_part_are_found_and_named(tmp_path: Path) -> None:
    table, release = released("anatomy")
    home = release.save(tmp_path / "release")
    path = home / "sensitive_2.csv"
    head, first, *rest = path.read_text().splitlines()
    group, value, count = first.split(",")
    path.write_text("\n".join([head, f"{group},{value},{int(count) + 1}", *rest]) + "\n")
    manifest = json.loads((home / "release.json").read_text())
    manifest["tables"]["sensitive_2.csv"]["sha256"] = digest(path)
    (home / "release.json").write_text(json.dumps(manifest), encoding="utf-8")
    found = {check.name: check for check in dc.audit(home, table).checks if not check.holds}
    assert {"consistency", "totals"} <= found.keys() and found["totals"].sentence.startswith("Table 2: ")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda manifest: manifest["parts"][0].update(format="ambiguous"), "'ambiguous' as the format of a part"),
        (lambda manifest: manifest["parts"][0].update(format="projected"), "'projected' as the format of a part"),
        (lambda manifest: manifest["parts"][0].update(format=["anatomy"]), "as the format of a part"),
        (lambda manifest: manifest["tables"].pop("sensitive_2.csv"), "must name the tables table and sensitive"),
        (lambda manifest: manifest["tables"].pop("table_2.csv"), "must name the tables table_1 to table_2"),
        (lambda manifest: manifest["tables"].update({"more_3.csv": {}}), "must name the tables table_1 to table_2"),
    ],
)
def test_what_cannot_be_a_part_is_refused(tmp_path: Path, edit: object, said: str) -> None:
    _, release = released("anatomy")
    home = release.save(tmp_path / "release")
    manifest = json.loads((home / "release.json").read_text())
    edit(manifest)  # type: ignore[operator]
    (home / "release.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(dc.DiscreetError, match=said):
        dc.load(home)


def test_the_manifest_says_no_more_than_it_must(tmp_path: Path) -> None:
    table, release = released("perturbation")
    home = release.save(tmp_path / "release")
    manifest = json.loads((home / "release.json").read_text())
    assert "Alan" not in json.dumps(manifest)
    manifest["parts"][1]["assumptions"].append("Alan is in line 3.")
    (home / "release.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert "manifest" in {check.name for check in dc.audit(home, table).checks if not check.holds}


def test_what_is_refused_names_a_way_out() -> None:
    table = people(60)
    ambiguous = dc.AmbiguousRelease.from_groups(
        replace(table, sensitive=table.sensitive[:1], other=()),
        np.zeros(60, np.int32),
        promise=dc.AlphaBeta(1, 1),
        scheme="mine",
    )
    with pytest.raises(dc.DiscreetError, match="cannot be one of several tables of the same people"):
        dc.ProjectedRelease.from_parts([ambiguous], promise=dc.AlphaBeta(1, 1), scheme="mine")
    for scheme, promise, said in (
        ("ambiguity", "alpha-beta(alpha=1, beta=0.6)", "choose scheme 'ambiguity' itself"),
        (
            "heterogeneous(publishes=graph)",
            "beta-likeness(beta=2)",
            "leave its options out, or .* choose scheme 'cuts'",
        ),
    ):
        with pytest.raises(dc.DiscreetError, match=said):
            dc.publish(table, promise, dc.Codip(scheme=scheme))
    dc.publish(replace(table, other=()), "alpha-beta(alpha=1, beta=0.6)", "ambiguity")
    for scheme in ("lifting", "sealed"):
        with pytest.raises(dc.DiscreetError, match="say aligned=False"):
            dc.publish(table, "beta-likeness(beta=2)", dc.Codip(scheme=scheme, aligned=True))
    for scheme in ("privbayes(domains=observed)", "cuts"):
        with pytest.raises(dc.DiscreetError, match="choose scheme 'privbayes'"):
            dc.publish(table, "differential-privacy(epsilon=1)", dc.Codip(scheme=scheme))
    with pytest.raises(dc.DiscreetError, match="keeps l-diversity of the kinds frequency and distinct"):
        dc.publish(table, "beta-likeness(beta=2)", dc.Codip(scheme="anatomy"))


def test_a_sealed_table_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run of the same table, from which to choose, would undo the seal."""
    runs = []
    publish = dc.Sealed.publish

    def counted(self: dc.Sealed, table: Table, *more: object) -> object:
        runs.append([column.name for column in table.sensitive])
        return publish(self, table, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(dc.Sealed, "publish", counted)
    release = dc.publish(people(80), "beta-likeness(beta=2)", dc.Codip(scheme="sealed", exposure=0.0))
    assert isinstance(release, dc.ProjectedRelease) and len(release.parts) == 2
    assert sorted(runs) == [["ill"], ["job"]]
    assert dc.Codip(scheme="sealed").holds_for_one_run and not dc.Codip().holds_for_one_run
