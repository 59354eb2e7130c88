"""The audit of ambiguous releases: true ones hold with and without their trace, altered ones are found out."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.adversary.formats.ambiguous import support as ambiguous_support
from discreet.principles import AlphaBeta
from discreet.releases.ambiguous.release import AmbiguousRelease
from discreet.table.read import read
from discreet.table.table import Table
from discreet.table.write import digest
from support.paper_tables import figure_1
from support.tables import tables


def published(tmp_path: Path, blocks: list[list[str]] | None = None) -> tuple[AmbiguousRelease, Path]:
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32)
    # with a seed, so that groups have the same numbers in every run
    release = AmbiguousRelease.from_groups(
        figure_1(), groups, promise=AlphaBeta(1, 0.5), scheme="test", blocks=blocks, seeded=np.random.default_rng(3)
    )
    return release, release.save(tmp_path / "release", force=True)


def lines_of(home: Path, name: str) -> list[list[str]]:
    with (home / name).open(newline="") as file:
        return list(csv.reader(file))


def rewrite(home: Path, name: str, change: Callable[[list[list[str]]], None]) -> None:
    """Change a table, and its digest in the manifest as whoever wants to deceive would."""
    lines = lines_of(home, name)
    change(lines)
    with (home / name).open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    edit(home, lambda manifest: manifest["tables"][name].update(sha256=digest(home / name)))


def edit(home: Path, change: Callable[[dict], object]) -> None:
    path = home / "release.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))


def failed(found: dc.Audit) -> set[str]:
    return {check.name for check in found.checks if not check.holds} | {
        kept.promise for kept in found.promises if not kept.holds
    }


@pytest.mark.parametrize("blocks", [None, [["age", "zipcode"]]])
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_true_release_holds(tmp_path: Path, blocks: list[list[str]] | None, traced: bool, kind: str) -> None:
    release, _ = published(tmp_path, blocks)
    home = release.save(tmp_path / kind, format=kind)
    found = dc.audit(home, figure_1(), trace=release.trace if traced else None)
    assert found.holds, found.sentences()
    assert found.support == ("trace" if traced else "assignment")
    assert found.presence is not None
    assert found.presence.group == pytest.approx(1.0 if blocks else 4 / 9)
    assert (found.rows, found.withheld, found.groups) == (8, 0, 2)
    assert json.dumps(found.as_dict())


def swap(lines: list[list[str]]) -> None:
    """A value of one group goes to the other."""
    header, *rest = lines
    at = header.index("group")
    rest[0][at] = "1" if rest[0][at] == "0" else "0"


def put(column: int, value: str, line: int = 1) -> Callable[[list[list[str]]], None]:
    def change(lines: list[list[str]]) -> None:
        lines[line][column] = value

    return change


TAMPERED = {
    "another value of the original": ("auxiliary_age.csv", put(0, "21"), {"domains", "values", "support"}),
    "a value of the other group": ("auxiliary_zipcode.csv", swap, {"support"}),
    "a count": ("sensitive.csv", put(2, "3"), {"consistency", "totals", "support"}),
    "a sensitive value": ("sensitive.csv", put(1, "stroke"), {"consistency", "totals", "support"}),
    "a line more": ("auxiliary_gender.csv", lambda lines: lines.append(["F", "0"]), {"support"}),
    "a line twice": ("auxiliary_age.csv", lambda lines: lines.append(lines[1]), {"consistency"}),
    "a line less": ("auxiliary_zipcode.csv", lambda lines: lines.pop(), {"support"}),
    "an unknown sensitive value": ("sensitive.csv", put(1, "gout"), {"consistency", "totals"}),
    "nothing listed of a group": (
        "auxiliary_zipcode.csv",
        lambda lines: lines.__setitem__(slice(None), [line for line in lines if line[1] != "1"]),
        {"consistency", "support"},
    ),
    "a group less": (
        "sensitive.csv",
        lambda lines: lines.__setitem__(slice(None), [line for line in lines if line[0] != "1"]),
        {"consistency", "totals"},
    ),
}


@pytest.mark.parametrize("what", TAMPERED)
@pytest.mark.parametrize("traced", [False, True])
def test_an_altered_release_fails(tmp_path: Path, what: str, traced: bool) -> None:
    release, home = published(tmp_path)
    name, change, expected = TAMPERED[what]
    rewrite(home, name, change)
    found = dc.audit(home, figure_1(), trace=release.trace if traced else None)
    assert not found.holds, found.sentences()
    assert failed(found) & expected, found.sentences()
    # files as they are in the manifest: nothing but their content gives the change away
    assert "files" not in failed(found)


@pytest.mark.parametrize("traced", [False, True])
def test_a_value_that_nobody_has_is_named(tmp_path: Path, traced: bool) -> None:
    """Also where the attribute could have it: 41 lies between the ages of Figure 1."""
    release, home = published(tmp_path)
    assert "41" not in {line[0] for line in lines_of(home, "auxiliary_age.csv")}
    rewrite(home, "auxiliary_age.csv", put(0, "41"))
    found = dc.audit(home, figure_1(), trace=release.trace if traced else None)
    (told,) = (check.sentence for check in found.checks if check.name == "values" and not check.holds)
    assert told == "The release lists age 41, which no original row that may be published holds."


def test_rows_that_fit_into_no_group_must_have_been_withheld(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every count finds a row, though two of them the same one; but the row of a man fits into no group."""
    monkeypatch.setattr(ambiguous_support, "CELLS", 0)
    people = {"age": [1, 1, 2], "sex": ["f", "f", "f"], "s": ["x", "x", "y"]}
    as_told = read(pa.table(people), quasi=["age", "sex"], sensitive="s")
    groups = np.array([0, 1, 1], np.int32)
    release = AmbiguousRelease.from_groups(as_told, groups, promise=AlphaBeta(1, 1), scheme="test")
    home = release.save(tmp_path / "r")
    assert dc.audit(home, as_told).support == "necessary"
    real = read(pa.table({**people, "age": [1, 2, 2], "sex": ["f", "m", "f"]}), quasi=["age", "sex"], sensitive="s")
    (told,) = (check for check in dc.audit(home, real).checks if check.name == "support")
    assert not told.holds and "1 row with s 'x' fit into no group, but only 0 can have been withheld" in told.sentence


@pytest.mark.parametrize("stem", ["../auxiliary_age", "beside/auxiliary_age", "beside\\auxiliary_age"])
def test_tables_lie_in_the_folder_of_the_release(tmp_path: Path, stem: str) -> None:
    _, home = published(tmp_path)
    (home / "beside").mkdir()
    (home / "auxiliary_age.csv").rename(home / f"{stem}.csv")

    def elsewhere(manifest: dict) -> None:
        manifest["tables"][f"{stem}.csv"] = manifest["tables"].pop("auxiliary_age.csv")
        next(entry for entry in manifest["auxiliaries"] if entry["attributes"] == ["age"])["table"] = stem

    edit(home, elsewhere)
    with pytest.raises(dc.DiscreetError, match="not the plain name of a file in its folder"):
        dc.load(home)


def test_the_gender_of_the_other_group_is_refuted_without_a_trace(tmp_path: Path) -> None:
    _, home = published(tmp_path)

    def exchange(lines: list[list[str]]) -> None:
        for line in lines[1:]:
            line[1] = "1" if line[1] == "0" else "0"

    rewrite(home, "auxiliary_gender.csv", exchange)
    found = dc.audit(home, figure_1())
    assert failed(found) == {"support"}
    assert "no original row with it could be one of its rows" in " ".join(found.sentences())


def test_alpha_in_the_manifest_and_files_beside(tmp_path: Path) -> None:
    release, home = published(tmp_path)
    edit(home, lambda manifest: manifest.update(promise=["alpha-beta(alpha=0.4, beta=0.5)"]))
    found = dc.audit(home, figure_1(), trace=release.trace)
    assert failed(found) == {"alpha-beta(alpha=0.4, beta=0.5)"}
    assert "44.4 %" in found.promises[0].sentence and "40.0 % is allowed" in found.promises[0].sentence
    edit(home, lambda manifest: manifest.update(promise=["alpha-beta(alpha=0.5, beta=0.4)"]))
    assert failed(dc.audit(home, figure_1(), trace=release.trace)) == {"alpha-beta(alpha=0.5, beta=0.4)"}
    edit(home, lambda manifest: manifest.update(promise=["alpha-beta(alpha=0.5, beta=0.5)"]))
    assert dc.audit(home, figure_1(), trace=release.trace).holds
    edit(home, lambda manifest: manifest["auxiliaries"][0].update(note="row 1 is Alan"))
    assert failed(dc.audit(home, figure_1(), trace=release.trace)) == {"manifest"}
    _, home = published(tmp_path)
    (home / "rows.csv").write_text("name\nAlan\n")
    assert failed(dc.audit(home, figure_1())) == {"files"}


def test_another_trace_does_not_explain(tmp_path: Path) -> None:
    release, home = published(tmp_path)
    assert release.trace is not None
    trace = release.trace.copy()
    trace[[0, 4]] = trace[[4, 0]]
    found = dc.audit(home, figure_1(), trace=trace)
    assert failed(found) == {"support"}
    assert "does not list the age of its rows" in " ".join(found.sentences())
    withheld = release.trace.copy()
    withheld[0] = -1
    assert failed(dc.audit(home, figure_1(), trace=withheld)) == {"support"}


def test_withheld_rows_are_a_group(tmp_path: Path) -> None:
    table = figure_1()
    groups = np.array([0, 0, 0, 0, -1, 1, 1, -1], np.int32)
    release = AmbiguousRelease.from_groups(table, groups, promise=AlphaBeta(1, 0.5), scheme="test")
    home = release.save(tmp_path / "release")
    for trace in (None, release.trace):
        found = dc.audit(home, table, trace=trace)
        assert found.holds and found.withheld == 2, found.sentences()
    # both leukemias withheld: one value makes up the group of the withheld
    groups = np.array([0, 0, 0, 0, -1, 1, -1, 1], np.int32)
    release = AmbiguousRelease.from_groups(table, groups, promise=AlphaBeta(1, 0.5), scheme="test")
    home = release.save(tmp_path / "release", force=True)
    found = dc.audit(home, table, trace=release.trace)
    assert not found.holds and "the withheld rows (2) taken as one group" in found.promises[0].sentence


@given(tables(largest=40, missing=True), st.integers(0, 1000), st.booleans())
def test_true_releases_hold_and_large_ones_are_checked_too(table: Table, seed: int, large: bool) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.integers(-1 if table.rows > 8 else 0, max(1, table.rows // 4), table.rows).astype(np.int32)
    if table.unusable is not None:
        groups[table.unusable] = -1
    if not (groups >= 0).any():
        return
    blocks = [table.quasi_names[:2]] if len(table.quasi) > 2 and seed % 2 else None
    release = AmbiguousRelease.from_groups(table, groups, promise=AlphaBeta(1, 1), scheme="test", blocks=blocks)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr(ambiguous_support, "CELLS", 0)
        home = release.save(Path(folder) / "release")
        for trace in (None, release.trace):
            found = dc.audit(home, table, trace=trace)
            assert found.holds, found.sentences()
            assert found.support == ("trace" if trace is not None else "necessary" if large else "assignment")


@given(st.integers(0, 10_000))
def test_what_is_refuted_without_a_trace_has_no_explanation(seed: int) -> None:
    """Random lists and counts over a tiny table: the audit refutes exactly those that no dealing of rows explains."""
    rng = np.random.default_rng(seed)
    rows = 5
    columns = {name: rng.integers(0, 3, rows).astype(str) for name in "ab"}
    secrets = rng.integers(0, 2, rows).astype(str)
    table = read(pa.table({**columns, "s": secrets}), quasi=["a", "b"], sensitive="s")
    groups = rng.integers(0, 2, rows).astype(np.int32)
    release = AmbiguousRelease.from_groups(table, groups, promise=AlphaBeta(1, 1), scheme="test")
    # the same lists and counts, laid over a table whose column b was shuffled
    columns["b"] = rng.permutation(columns["b"])
    shuffled = read(pa.table({**columns, "s": secrets}), quasi=["a", "b"], sensitive="s")

    def shown(chosen: tuple[int, ...]) -> list[tuple[frozenset[str], frozenset[str], tuple[str, ...]]]:
        found = []
        for group in sorted(set(chosen)):
            inside = [row for row in range(rows) if chosen[row] == group]
            found.append(
                (
                    frozenset(columns["a"][inside]),
                    frozenset(columns["b"][inside]),
                    tuple(sorted(secrets[inside])),
                )
            )
        return found

    real_b = [str(value) for value in table.column("b").values[table.column("b").codes]]
    wanted = []
    for group in sorted(set(groups.tolist())):
        inside = [row for row in range(rows) if groups[row] == group]
        wanted.append(
            (
                frozenset(columns["a"][inside]),
                frozenset(real_b[row] for row in inside),
                tuple(sorted(secrets[inside])),
            )
        )
    possible = any(shown(chosen) == wanted for chosen in product(sorted(set(groups.tolist())), repeat=rows))
    with tempfile.TemporaryDirectory() as folder:
        home = release.save(Path(folder) / "release")
        found = dc.audit(home, shuffled)
    assert found.holds == possible, found.sentences()
