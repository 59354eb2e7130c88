"""Whatever stands for an argument in Python: one sentence with a way out, never an error from within."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import discreet as dc
from discreet.datasets import patients
from discreet.errors import DiscreetError
from support.command import run

ARRAY = np.array(["csv", "error"])
HALF = "\ud800"
EIGHT = 8


def people(**more: Any) -> dict[str, Any]:
    return {"age": list(range(EIGHT)), "ill": ["flu", "cold"] * (EIGHT // 2), **more}


@pytest.fixture(scope="module")
def release() -> dc.Release:
    return dc.publish(patients(), dc.KAnonymity(4))


@pytest.fixture(scope="module")
def folder(release: dc.Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release.save(tmp_path_factory.mktemp("odd") / "release")


def _read(frame: Any, **how: Any) -> Any:
    return dc.read(frame, **({"quasi": ["age"], "sensitive": "ill"} | how))


def _frame(**more: Any) -> pd.DataFrame:
    """A frame of objects, among whose texts and names there may be anything."""
    frame = pd.DataFrame(dict(zip(map(str, range(9)), people(**more).values(), strict=False)), dtype=object)
    frame.columns = pd.Index(list(people(**more)), dtype=object)
    return frame


CALLS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "parse": (lambda release, folder: dc.parse(None), "None is no text of a promise; write it like 'beta"),
    "parse bytes": (lambda release, folder: dc.parse(b"k"), "is no text of a promise"),
    "estimate": (lambda release, folder: release.estimate(None), "None is not a query; give one such as Query("),
    "query": (lambda release, folder: release.query(5), "5 is not a query; write for example SELECT"),
    "group_by": (lambda release, folder: release.group_by(5), "5 asks for no counts by group; give GroupBy('sex')"),
    "from_release": (
        lambda release, folder: dc.audit(folder, patients(), from_release=None),
        "None is not a column name; name columns by text",
    ),
    "format": (lambda release, folder: release.save(folder / "x", format=ARRAY), "written as csv or parquet, not as"),
    "missing": (
        lambda release, folder: _read(pa.table(people()), missing=ARRAY),
        "must be error, withhold or value, not array(",
    ),
    "progress": (
        lambda release, folder: dc.publish(patients(), dc.KAnonymity(4), progress=5),
        "progress must be a function or None, not 5; correct it, or leave it out",
    ),
    "progress of audits": (lambda release, folder: dc.audit(folder, patients(), progress=5), "must be a function"),
    "progress of attacks": (
        lambda release, folder: dc.attack(folder, patients(), "beliefs", progress=5),
        "must be a function",
    ),
    "progress of comparisons": (
        lambda release, folder: dc.compare(patients(), "k-anonymity(k=4)", progress=5),
        "must be a function",
    ),
    "others": (
        lambda release, folder: dc.attack(release, patients(), "intersection", others=5),
        "5 is not a release; give one, or the folder of one",
    ),
    "release": (lambda release, folder: dc.attack(None, patients(), "beliefs"), "None is not a release"),
    "dates": (
        lambda release, folder: _read(pa.table(people()), quasi=["age"], dates={"ill": "%Y-%m-%d (%Y)"}),
        "'%Y-%m-%d (%Y)' is not a format of the dates in column 'ill'; say for example",
    ),
    "epsilon": (
        lambda release, folder: dc.publish(patients(), "differential-privacy(epsilon=1e308)"),
        "epsilon must be a number above 0 and at most 700, not 1e+308; write for example",
    ),
    "surrogates": (
        lambda release, folder: _read(_frame(city=["Bath", HALF] * (EIGHT // 2)), keep=["city"]),
        r"column 'city' holds '\ud800', which is not a text that a file can hold",
    ),
    "surrogates among numbers": (
        lambda release, folder: _read(_frame(city=[7, HALF] * (EIGHT // 2)), keep=["city"]),
        r"column 'city' holds '\ud800', which",
    ),
    "the character NUL": (
        lambda release, folder: _read(_frame(city=["Bath", "Ba\0th"] * (EIGHT // 2)), keep=["city"]),
        r"column 'city' holds 'Ba\x00th', which has the character NUL",
    ),
    "the character NUL in lists": (
        lambda release, folder: _read(_frame(city=[["x"], ["\0"]] * (EIGHT // 2)), sensitive=["ill", "city"]),
        r"column 'city' holds '\x00', which has the character NUL",
    ),
    "surrogates in lists": (
        lambda release, folder: _read(_frame(city=[["x"], [HALF]] * (EIGHT // 2)), sensitive=["ill", "city"]),
        r"\ud800",
    ),
    "surrogates in categories": (
        lambda release, folder: _read(
            _frame().assign(city=pd.Categorical.from_codes([0] * EIGHT, pd.Index([HALF], dtype=object))), keep=["city"]
        ),
        r"column 'city' holds '\ud800', which",
    ),
    "surrogates in names": (
        lambda release, folder: _read(_frame(**{HALF: [1] * EIGHT}), keep=[HALF]),
        r"the table has a column '\ud800', a name that no file can hold; rename it",
    ),
    "surrogates in paths": (lambda release, folder: _read(f"{HALF}.csv"), "not a text that a file can be named by"),
}


@pytest.mark.parametrize("call", CALLS)
def test_odd_arguments_are_refused_in_a_sentence(call: str, release: dc.Release, folder: Path) -> None:
    ask, said = CALLS[call]
    with pytest.raises(DiscreetError) as caught:
        ask(release, folder)
    assert said in str(caught.value) and "; " in str(caught.value) and "\n" not in str(caught.value)


def test_a_single_release_may_stand_for_others(release: dc.Release, folder: Path) -> None:
    alone = dc.attack(release, patients(), "intersection", others=folder, random_state=1)
    listed = dc.attack(release, patients(), "intersection", others=[release], random_state=1)
    assert [one.rate for one in alone.evidence] == [one.rate for one in listed.evidence]


@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.timestamp("ns", "UTC"), pa.date32()])
def test_a_column_of_dates_may_be_empty(kind: pa.DataType, tmp_path: Path) -> None:
    died = pa.array([None] * EIGHT, kind)
    table = _read(pa.table(people(died=died)), quasi=["age", "died"])
    assert table.column("died").texts == ("(missing)",)
    assert [str(note) for note in table.notes if "died" in note.columns] == [
        "column 'died' is one of dates or times, but all are missing; leave it out, if no row will ever have one."
    ]
    dc.publish(table, dc.KAnonymity(2)).save(tmp_path / "release")
    assert dc.audit(tmp_path / "release", table).holds


# ----------------------------------------------------------------------------------------------------------- messages


def test_values_in_messages_stay_on_one_line_and_short() -> None:
    broken = pa.table({"age": ["two\nlines"] * 3 + ["9" * 5000], "ill": list("abab")})
    with pytest.raises(DiscreetError) as caught:
        dc.read(broken, quasi=["age"], sensitive="ill", numeric=["age"])
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
    message = str(DiscreetError(f"the label 'a\nb\x1b[31m' and {'9' * 5000} are odd; give others"))
    assert message.startswith(r"the label 'a\nb\x1b[31m' and 9999") and len(message) < 200


def test_notes_do_not_print_thousands_of_digits(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,ill\n" + "".join(f"{'9' * 5000}{at},flu\n" for at in range(4)))
    notes = [str(note) for note in dc.read(tmp_path / "t.csv", quasi=["age"], sensitive="ill").notes]
    assert notes and all(len(note) < 500 for note in notes)


# ----------------------------------------------------------------------------------------------------- without UTF-8


@pytest.mark.slow
def test_names_beyond_ascii_on_a_command_line_without_utf_8(tmp_path: Path) -> None:
    """As in a bare container: Python then takes the bytes of the command line for ASCII and disguises the rest."""
    (tmp_path / "größen.csv").write_text(
        "größe,ort\n" + "".join(f"{170 + at % 9},{'Köln' if at % 2 else 'Bonn'}\n" for at in range(40)), "utf-8"
    )
    (tmp_path / "hierarchy_größe.csv").write_text("".join(f"{170 + at},groß,*\n" for at in range(9)), "utf-8")
    bare = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment = os.environ | bare | {"PYTHONPATH": str(Path(dc.__file__).parent.parent)}

    def bare_run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "discreet", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)

    roles = ["--quasi", "größe", "--sensitive", "ort", "--hierarchy", "größe=hierarchy_größe.csv"]
    done = bare_run("publish", "größen.csv", "-o", "veröffentlicht", *roles, "--promise", "l-diversity(l=2)")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "veröffentlicht" / "release.json").exists()
    asked = bare_run("query", "veröffentlicht", "SELECT COUNT(*) FROM t WHERE ort = 'Köln'", "--quiet")
    assert asked.returncode == 0 and float(asked.stdout) == pytest.approx(20), asked.stderr


def test_cells_that_spreadsheets_take_for_formulas_are_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{20 + at % 4},{['=1+1', 'Bonn'][at % 2]},{['-1', '+2'][at % 2]},{'ab'[at % 2]}\n" for at in range(40)]
    Path("t.csv").write_text("age,city,change,ill\n" + "".join(lines))
    roles = ["--quasi", "age,city,change", "--categorical", "change", "--sensitive", "ill"]
    words = ["publish", "t.csv", "-o", "out", *roles, "--promise", "k-anonymity(k=2)", "--force"]
    noted = [line for line in run(*words).stderr.splitlines() if "formula" in line]
    assert noted == [
        "Note: column 'city' has '=1+1', which spreadsheets take for a formula; import the CSV as text there, or "
        "choose --format parquet."
    ]
    assert "formula" not in run(*words, "--format", "parquet").stderr


# -------------------------------------------------------------------------------------------------------------- sizes


@pytest.mark.slow
def test_a_query_of_millions_of_values_is_refused_unread(release: dc.Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlglot.tokenize", None)  # which would take minutes
    listed = ", ".join(map(str, range(2_000_000)))
    for ask in (release.estimate, release.group_by):
        with pytest.raises(DiscreetError, match=r"has 16,888,9\d\d characters, more than 1,000,000; ask for ranges"):
            ask(f"SELECT COUNT(*) FROM t WHERE age IN ({listed})")


def test_a_manifest_of_millions_of_leaves_is_refused_unread(
    release: dc.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = release.save(tmp_path / "release") / "release.json"
    whole = path.read_text()
    os.truncate(path, 6_000_000 * len('["1234567","*"],'))
    monkeypatch.setattr("discreet.releases.folder.from_json", None)
    for ask in (dc.load, lambda folder: dc.audit(folder, patients())):
        with pytest.raises(DiscreetError, match=r"more than the 33,554,432 that a manifest may have; it was damaged"):
            ask(path.parent)
    monkeypatch.setattr("discreet.releases.folder.MOST_BYTES", len(whole) - 1)
    with pytest.raises(DiscreetError, match=r"the manifest would have .* bytes, more than .*; publish hierarch"):
        release.save(tmp_path / "again")
    assert not (tmp_path / "again").exists()
