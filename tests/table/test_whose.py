"""Several rows per person, although nobody said so: by the names of columns, and by what they hold."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.command.main import main
from discreet.table.sources import Source

CONSTANT = ("sex", "birth", "ethnic")


def visits(name: str, persons: int = 60, each: int | None = 4, seed: int = 1, kept: tuple[str, ...] = CONSTANT) -> Any:
    """Rows of visits in no order: four for each person, or one at least."""
    chance = np.random.default_rng(seed)
    counts = np.full(persons, each) if each else chance.geometric(0.4, persons)
    who = chance.permutation(np.repeat(np.arange(persons), counts))
    held = {"sex": chance.integers(0, 2, persons), "birth": chance.integers(1930, 2000, persons)}
    held |= {"ethnic": chance.integers(0, 4, persons), "blau": chance.integers(0, 3, persons)}
    columns = {name: who * 7 + 1000, "age": chance.integers(20, 80, len(who)), "ill": chance.integers(0, 5, len(who))}
    return pa.table(columns | {one: held[one][who] for one in kept})


def asked(table: Any, **roles: Any) -> str | None:
    """The column of which the notes ask whether it tells whose row it is."""
    notes = [note for note in dc.read(table, **roles).notes if "person" in dict(note.say)]
    assert len(notes) < 2
    return notes[0].columns[0] if notes else None


@pytest.mark.parametrize("name", ["MRN", "patient_nr", "individual", "PatientID", "subject", "client_no", "nhs_number"])
def test_columns_named_for_persons_are_noted_whatever_their_role(name: str) -> None:
    table = visits(name, kept=())
    for roles in ({}, {"keep": [name]}):
        assert asked(table, quasi=["age"], sensitive="ill", **roles) == name
    assert asked(table, quasi=["age", name], sensitive="ill") == name
    assert asked(table, quasi=["age"], sensitive="ill", person=name) is None
    alone = pa.table({name: range(50), "age": range(50)})
    assert asked(alone, quasi=["age"]) is None, "every row has its own"


@pytest.mark.parametrize("each", [4, None])
@pytest.mark.parametrize("kept", [("sex", "birth"), ("sex", "ethnic"), ("sex", "blau")])
def test_values_within_which_traits_of_persons_never_change_are_asked_about(
    each: int | None, kept: tuple[str, ...]
) -> None:
    for quasi in (["age"], ["age", *kept]):
        notes = dc.read(visits("x17", each=each, kept=kept), quasi=quasi).notes
        (note,) = [note for note in notes if "x17" in note.columns]
        assert str(note).startswith("do the rows with the same 'x17' belong to one person? They always agree in 'sex'")
        assert str(note).endswith("say person='x17'") and repr(kept[1]) in str(note)


def test_one_thing_kept_is_no_evidence_nor_is_what_follows_from_another() -> None:
    assert asked(visits("x17", kept=("sex",)), quasi=["age"]) is None
    chance = np.random.default_rng(5)
    place = chance.integers(0, 60, 900)
    county = np.arange(60) % 12
    table = {"plz": place + 10_000, "kreis": county[place], "land": county[place] % 4, "age": place * 7 % 13}
    assert asked(pa.table({**table, "sex": chance.integers(0, 2, 900)}), quasi=["sex"]) is None
    assert asked(pa.table({"sex": chance.integers(0, 2, 40), "key": chance.integers(0, 25, 40)}), quasi=["sex"]) is None


def test_without_telling_names_the_number_of_rows_decides() -> None:
    for each, noted in ((4, "x17"), (None, None)):
        columns = visits("x17", each=each, kept=("sex", "blau"))
        assert asked(columns.rename_columns(["x17", "age", "ill", "rot", "blau"]), quasi=["age"]) == noted


def test_flags_and_dates_are_nobody() -> None:
    days = [f"2021-01-{1 + at // 8 % 25:02}" for at in range(400)]
    other = {"month": [at // 8 % 25 % 2 for at in range(400)], "sex": [at // 8 % 25 % 3 for at in range(400)]}
    assert asked(pa.table({"day": days, **other, "age": range(400)}), quasi=["age"]) is None
    assert asked(pa.table({"case": ["yes", "no"] * 200, "age": range(400)}), quasi=["age"]) is None


@pytest.mark.slow
def test_publish_and_profile_ask_with_the_flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("individual", "x17"):
        pyarrow.csv.write_csv(visits(name), "visits.csv")
        words = ["publish", "visits.csv", "-o", "r", "--force", "--sensitive", "ill", "--promise", "k-anonymity(k=2)"]
        for more in (["--quasi", "age"], ["--quasi", f"age,{name}"], ["--quasi", "age", "--keep", name]):
            told = CliRunner().invoke(main, [*words, *more])
            assert told.exit_code == 0 and f"say --person {name}" in told.stderr
        shown = CliRunner().invoke(main, ["profile", "visits.csv", "--json"])
        told = json.loads(shown.stdout)
        assert told["suggested_roles"]["person"] == name and f"say --person {name}" in shown.stderr
        assert name not in told["suggested_roles"]["quasi"]
        flags = shlex.split(told["suggested_command"])
        assert flags[flags.index("--person") + 1] == name and name not in flags[flags.index("--quasi") + 1].split(",")


def test_columns_that_cannot_be_coded_do_no_harm() -> None:
    table = visits("MRN").append_column("list", pa.array([{"a": 1}] * 240)).append_column("raw", pa.array([b"x"] * 240))
    assert asked(table, quasi=["age"]) == "MRN"
    assert asked(table.to_pandas(), quasi=["age"]) == "MRN"


def test_only_a_few_columns_without_a_role_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    fetch = Source.fetch

    def counting(*args: Any, **given: Any) -> Any:
        rows, columns = fetch(*args, **given)
        read.extend(columns)
        return rows, columns

    monkeypatch.setattr(Source, "fetch", counting)
    wide = pa.table({f"c{at}": np.arange(40) for at in range(300)} | {"sex": np.arange(40) % 2})
    table = dc.read(wide, quasi=["c7"])
    assert len(read) == 9 and "sex" in read and [column.name for column in table.columns] == ["c7"]
    read.clear()
    assert asked(wide.append_column("MRN", pa.array(np.arange(40) % 20)), quasi=["c7"]) == "MRN"
    assert read == ["c7", "MRN"]
