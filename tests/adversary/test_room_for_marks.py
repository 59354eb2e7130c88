"""What could be written in several ways without changing its meaning, and would leave room for a mark."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.table.typed_files import TypedFile
from discreet.table.write import digest, write_table
from support.tampering import Folder, altered, altered_folder

PLACES = {"FR": {"south": ["Nice", "Lyon"], "north": ["Paris", "Lille"]}, "DE": {"east": ["Ulm", "Jena"]}}
CITIES = ["Nice", "Lyon", "Paris", "Lille", "Ulm", "Jena"]


@pytest.fixture(scope="module")
def table() -> dc.Table:
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(10, 40, 120) * 2,
        "city": rng.choice(CITIES, 120),
        "debt": rng.choice([0.0, 1.5, -3.0], 120),
        "ill": rng.choice(list("abcde"), 120),
    }
    return dc.read(
        pa.table(columns), quasi=["age", "city"], sensitive="ill", keep=["debt"], hierarchies={"city": PLACES}
    )


@pytest.fixture(scope="module")
def release(table: dc.Table) -> dc.Release:
    return dc.publish(table, dc.KAnonymity(5), "cuts(snap=false)")


def failing(home: Path, table: dc.Table, trace: object = None) -> dict[str, str]:
    found = dc.audit(home, table, trace=trace)  # type: ignore[arg-type]
    return {check.name: check.sentence for check in found.checks if not check.holds}


def test_siblings_of_a_hierarchy_have_one_order(release: dc.Release, table: dc.Table, tmp_path: Path) -> None:
    home = release.save(tmp_path / "r")
    (city,) = [
        entry for entry in json.loads((home / "release.json").read_text())["attributes"] if entry["name"] == "city"
    ]
    assert [row[0] for row in city["hierarchy"]] == ["Jena", "Ulm", "Lille", "Paris", "Lyon", "Nice"]
    assert failing(home, table) == {}
    for turn in (2, 4):

        def turned(folder: Folder, turn: int = turn) -> None:
            entry = folder.manifest["attributes"][1]
            entry["hierarchy"] = entry["hierarchy"][turn:] + entry["hierarchy"][:turn]

        assert set(failing(altered(home, tmp_path / str(turn), turned), table)) == {"manifest"}


@pytest.mark.parametrize(("step", "without", "by_trace"), [(1, {"domains"}, {"domains"}), (2, set(), {"support"})])
def test_intervals_are_as_narrow_as_their_rows(
    release: dc.Release, table: dc.Table, tmp_path: Path, step: int, without: set[str], by_trace: set[str]
) -> None:
    """An end that nobody has is told without the trace, one that nobody in these groups has by it."""
    home = release.save(tmp_path / "r")
    assert failing(home, table, release.trace) == {}

    def widened(folder: Folder) -> None:
        at, texts = folder.place("table", "age"), folder.column("table", "age")
        old = next(text for text in texts if text.startswith("[") and not text.startswith(("[20,", "[22,")))
        low, high = old.strip("[]").split(", ")
        for line in folder.lines("table"):
            line[at] = f"[{int(low) - step}, {high}]" if line[at] == old else line[at]

    assert release.trace is not None
    folder = altered_folder(home, tmp_path / "altered", widened)
    assert set(failing(folder.path, table)) == without
    found = failing(folder.path, table, folder.moved(release.trace))
    assert set(found) == by_trace
    said = "no row has the ends of the interval of 'age' in group" if step == 2 else "an interval of 'age' ends at"
    assert said in " ".join(found.values()).replace("An ", "an ")


def test_zero_has_no_sign(release: dc.Release, table: dc.Table, tmp_path: Path) -> None:
    home = release.save(tmp_path / "r", format="parquet")
    assert failing(home, table) == {}
    rows = pq.read_table(home / "table.parquet")
    debt = rows["debt"].to_numpy().copy()
    debt[debt == 0] = -0.0
    write_table(
        rows.set_column(rows.column_names.index("debt"), "debt", pa.array(debt)), home / "table.parquet", "parquet"
    )
    manifest = json.loads((home / "release.json").read_text())
    manifest["tables"]["table.parquet"]["sha256"] = digest(home / "table.parquet")
    (home / "release.json").write_text(json.dumps(manifest, ensure_ascii=False))
    assert set(failing(home, table)) in ({"spelling"}, {"order"})


def test_a_table_of_millions_of_lines_is_refused_before_it_is_read(
    release: dc.Release, table: dc.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = release.save(tmp_path / "r", format="parquet")
    rows = pq.read_table(home / "table.parquet").take(np.zeros(1_100_000, np.int64))
    write_table(rows, home / "table.parquet", "parquet")
    assert (home / "table.parquet").stat().st_size < 1 << 20
    monkeypatch.setattr(TypedFile, "read", lambda *given: pytest.fail("it was read"))
    said = "has 1,100,000 lines, far too many for the 120 rows in its manifest; "
    with pytest.raises(dc.DiscreetError, match=said):
        dc.load(home)
    assert said in " ".join(dc.audit(home, table).sentences())
