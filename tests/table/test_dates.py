"""Dates from files and frames to ranges in releases, and back through audits and queries."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.command.main import main
from discreet.table.read import read
from support.claims import made
from support.command import run
from support.formats import MAKERS

DAYS = [date(1971, 2, 3), date(1975, 11, 30), date(1980, 1, 13)]
ISO = ("1971-02-03", "1975-11-30", "1980-01-13")


def csv(path: Path, *cells: str, name: str = "birth") -> Path:
    file = path / "people.csv"
    file.write_text(f"{name};sex\n" + "".join(f"{cell};f\n" for cell in cells))
    return file


def birth(source: Any, **more: Any) -> Any:
    return read(source, quasi=["birth"], **more).column("birth")


# ------------------------------------------------------------------------------------------------------------- reading


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y.%m.%d"])
@pytest.mark.parametrize("clock", ["", " 00:00:00", "T00:00"])
def test_common_forms_are_found(tmp_path: Path, form: str, clock: str) -> None:
    column = birth(csv(tmp_path, *(day.strftime(form) + clock for day in DAYS)))
    assert (column.kind, column.meaning) == ("numeric", "date")
    assert column.texts == ISO
    assert column.values.tolist() == [(day - date(1970, 1, 1)).days for day in DAYS]


def test_parts_need_no_leading_zero(tmp_path: Path) -> None:
    assert birth(csv(tmp_path, "3/7/2021", "03/07/2021", "12/31/1969")).texts == ("1969-12-31", "2021-03-07")


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        (("2021-03-07 14:05", "2021-03-07 04:05"), ("2021-03-07T04:05:00", "2021-03-07T14:05:00")),
        (("2021-03-07T14:05:09", "1960-01-01T00:00:00"), ("1960-01-01T00:00:00", "2021-03-07T14:05:09")),
        (("13.2.2021 7:30:00.5", "13.2.2021 7:30:00.25"), ("2021-02-13T07:30:00.25", "2021-02-13T07:30:00.5")),
    ],
)
def test_times_of_day_are_seconds(tmp_path: Path, cells: tuple[str, ...], texts: tuple[str, ...]) -> None:
    column = birth(csv(tmp_path, *cells))
    assert column.meaning == "datetime" and column.texts == texts
    seconds = [(datetime.fromisoformat(text) - datetime(1970, 1, 1)).total_seconds() for text in texts]
    assert column.values.tolist() == seconds


@pytest.mark.parametrize(
    "cells",
    [
        ("2021-02-30", "2021-02-28"),
        ("2021-03-07", "07.03.2021"),
        ("2021-03-07", "2021-03-07 10:00"),
        ("2021-03-07", "soon"),
        ("13.13.2021", "01.01.2021"),
        ("13/14/2021", "14/13/2021"),
        ("13/01/2021", "01/13/2021"),
        ("31-12-0000", "31-12-0001"),
        ("2021-03-07 25:00", "2021-03-07 10:00"),
        ("2021-03-07T10:00:00Z", "soon"),
    ],
)
def test_what_is_no_date_in_one_form_is_none(tmp_path: Path, cells: tuple[str, ...]) -> None:
    table = read(csv(tmp_path, *cells), quasi=["birth"])
    assert table.column("birth").notation == "number"
    assert not any("dates" in str(note) for note in table.notes)


def test_data_decide_whether_the_day_comes_first(tmp_path: Path) -> None:
    assert birth(csv(tmp_path, "03/04/2021", "13/04/2021")).texts == ("2021-04-03", "2021-04-13")
    assert birth(csv(tmp_path, "03/04/2021", "04/13/2021")).texts == ("2021-03-04", "2021-04-13")
    assert birth(csv(tmp_path, "03/03/2021", "04/04/2021")).texts == ("2021-03-03", "2021-04-04"), "it does not matter"


def test_where_data_do_not_decide_a_note_asks(tmp_path: Path) -> None:
    file = csv(tmp_path, "03/04/2021", "05/06/2021")
    table = read(file, quasi=["birth"])
    assert table.column("birth").kind == "categorical" and table.column("birth").texts == ("03/04/2021", "05/06/2021")
    (note,) = table.notes
    assert str(note).endswith("say dates={'birth': '%d/%m/%Y'} or dates={'birth': '%m/%d/%Y'}")
    assert birth(file, dates={"birth": "%m/%d/%Y"}).texts == ("2021-03-04", "2021-05-06")
    with pytest.raises(dc.DiscreetError, match="the day or the month may come first"):
        birth(file, dates={"birth": None})
    told = CliRunner().invoke(main, ["profile", str(file), "--quasi", "birth"]).stderr
    assert "say --date birth=%d/%m/%Y or --date birth=%m/%d/%Y" in told


def test_other_forms_are_declared(tmp_path: Path) -> None:
    assert birth(csv(tmp_path, "20210307", "19700101"), dates={"birth": "%Y%m%d"}).texts == ("1970-01-01", "2021-03-07")
    assert birth(pa.table({"birth": [20210307]}), dates={"birth": "%Y%m%d"}).texts == ("2021-03-07",)
    assert birth(csv(tmp_path, "7 March 2021"), dates={"birth": "%d %B %Y"}).texts == ("2021-03-07",)
    with pytest.raises(dc.DiscreetError, match=r"'NA' in row 2; .*na=\['NA'\]"):
        birth(csv(tmp_path, "20210307", "NA"), dates={"birth": "%Y%m%d"})


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"dates": {"birth": "%d.%m"}}, "'%d.%m' is not a format"),
        ({"dates": {"birth": "%Q"}}, "'%Q' is not a format"),
        ({"dates": {"birth": 7}}, "7 is not a format"),
        ({"dates": ["birth"]}, "does not say which column"),
        ({"dates": {"birth": "%Y-%m-%d"}, "categorical": ["birth"]}, "both categorical and a date"),
        ({"dates": {"birth": "%Y-%m-%d"}, "hierarchies": {"birth": {"all": ["2021-03-07"]}}}, "has a hierarchy"),
        ({"dates": {"nobody": "%Y"}}, "no column 'nobody'"),
        ({"domains": {"birth": (1900, 2000)}}, "declare it by dates"),
        (
            {"domains": {"birth": ("1900-01-01", "2000-12-31")}},
            "holds 2021-03-08 in row 2, outside its declared domain",
        ),
        ({"domains": {"birth": ("2030-01-01", "2000-12-31")}}, "not a pair of numbers"),
        ({"domains": {"birth": ("1900-01-01T10:00", "2030-12-31")}}, "without a time of day"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, more: dict[str, Any], told: str) -> None:
    with pytest.raises(dc.DiscreetError) as refusal:
        birth(csv(tmp_path, "2021-03-07", "2021-03-08"), **more)
    assert told in str(refusal.value)


def test_numbers_have_no_dates_for_a_domain() -> None:
    with pytest.raises(dc.DiscreetError, match="declare it by numbers"):
        read(pa.table({"age": [17]}), quasi=["age"], domains={"age": ("1900-01-01", "2000-12-31")})


def test_dates_of_frames_are_dates() -> None:
    times = [datetime(day.year, day.month, day.day) for day in DAYS]
    sources: list[Any] = [
        pa.table({"birth": pa.array(DAYS)}),
        pa.table({"birth": pa.array(times, pa.timestamp("ns"))}),
        pd.DataFrame({"birth": DAYS}),
        pd.DataFrame({"birth": pd.to_datetime(pd.Series(times))}),
        pd.DataFrame({"birth": list(ISO)}),
        pl.DataFrame({"birth": DAYS}),
        pl.DataFrame({"birth": times}),
    ]
    for source in sources:
        column = birth(source)
        assert column.meaning == "date" and column.texts == ISO
    assert birth(sources[0], dates={"birth": "%d.%m.%Y"}).texts == ISO, "what is a date already needs no form"
    clock = birth(pd.DataFrame({"birth": [pd.Timestamp("2021-03-07 10:00:01.5"), None]}), missing="value")
    assert clock.meaning == "datetime" and clock.texts == ("(missing)", "2021-03-07T10:00:01.5")


def test_what_nothing_can_hold_apart_stays_text() -> None:
    fine = pa.array([1, 2], pa.timestamp("ns"))
    assert birth(pa.table({"birth": fine})).kind == "categorical"
    far = pa.array([datetime(1500, 1, 1, 0, 0, 0, 1), datetime(1500, 1, 1, 0, 0, 0, 2)])
    assert birth(pa.table({"birth": far})).kind == "categorical"


def test_what_was_said_or_is_kept_is_not_changed(tmp_path: Path) -> None:
    file = csv(tmp_path, "13.03.2021", "14.03.2021")
    assert birth(file, categorical=["birth"]).texts == ("13.03.2021", "14.03.2021")
    assert birth(file, ordinal=["birth"]).kind == "ordinal"
    tree = {"March": ["13.03.2021", "14.03.2021"]}
    assert birth(file, hierarchies={"birth": tree}).kind == "categorical"
    assert read(file, quasi=["sex"], keep=["birth"]).column("birth").texts == ("13.03.2021", "14.03.2021")
    kept = read(file, quasi=["sex"], keep=["birth"], dates={"birth": "%d.%m.%Y"}).column("birth")
    assert kept.texts == ("2021-03-13", "2021-03-14")


def test_marks_among_dates_are_noted(tmp_path: Path) -> None:
    file = csv(tmp_path, "2021-03-07", "NA", "2021-03-09")
    (note,) = read(file, quasi=["birth"]).notes
    assert str(note) == "column 'birth' is all dates but 'NA' in 1 cell: say na=['NA']"
    assert birth(file, na="NA", missing="value").texts == ("(missing)", "2021-03-07", "2021-03-09")
    with pytest.raises(dc.DiscreetError, match="'birth' holds dates and has 1 missing value"):
        birth(file, na="NA")


GOOD = [(date(2020, 1, 1) + timedelta(days=13 * at)).strftime("%d.%m.%Y") for at in range(29)]
TIMES = [f"2021-03-{day:02}T10:{day:02}:00" for day in range(1, 30)]


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([*GOOD, "31.02.2020"], "is all dates but '31.02.2020' in 1 cell: correct it, or say na=['31.02.2020']"),
        ([*GOOD, *["unbekannt"] * 4], "is all dates but 'unbekannt' in 4 cells: say na=['unbekannt']"),
        ([*GOOD, *["k.A."] * 4], "is all dates but 'k.A.' in 4 cells: say na=['k.A.']"),
        (
            [*GOOD, "NA", "31.02.2020"],
            "but 'NA' and '31.02.2020' in 2 cells: correct them, or say na=['NA', '31.02.2020']",
        ),
        ([*TIMES, "2021-03-07T24:00:00"], "in 1 cell: correct it, or say na=['2021-03-07T24:00:00']"),
        ([*TIMES, "2021-03-07T10:00:60"], "in 1 cell: correct it, or say na=['2021-03-07T10:00:60']"),
        ([*TIMES, "2021-03-07"], "in 1 cell: correct it, or say na=['2021-03-07']"),
        (
            [*(GOOD * 2), *(f"{day}.{day}.21" for day in range(1, 4)), *(f"{day}.{day}.2021" for day in range(1, 10))],
            "in 3 cells: correct them, or say na=['1.1.21', '2.2.21', '3.3.21']",
        ),
    ],
)
def test_what_is_no_date_among_dates_is_noted(tmp_path: Path, cells: list[str], told: str) -> None:
    file = csv(tmp_path, *cells)
    (note,) = read(file, quasi=["birth"]).notes
    assert str(note).endswith(told)
    column = birth(file, na=dict(note.say)["na"], missing="value")
    assert column.notation != "number", "what the note says works"


def test_many_mistakes_among_dates_are_counted(tmp_path: Path) -> None:
    days = [f"{day:02}.{month:02}.2020" for month in range(1, 13) for day in range(1, 32)]
    (note,) = read(csv(tmp_path, *days), quasi=["birth"]).notes
    assert str(note) == (
        "column 'birth' is all dates but '30.02.2020' and '31.02.2020' and '31.04.2020' and 3 more in 6 cells; "
        "correct them to have dates."
    )


def test_a_refusal_names_what_is_no_date(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    days = [date(1950, 1, 1) + timedelta(days=97 * at) for at in range(200)]
    cells = [day.strftime("%d.%m.%Y") for day in days]
    cells[50] = "31.02.1960"
    file.write_text("birth;ill\n" + "".join(f"{cell};{'abc'[at % 3]}\n" for at, cell in enumerate(cells)))
    words = ("publish", str(file), "-o", str(tmp_path / "release"), "--quasi", "birth", "--sensitive", "ill")
    told = run(*words, "--promise", "l-diversity(l=2)", code=2).stderr
    assert "is all dates but '31.02.1960' in 1 cell: correct it, or say --na 31.02.1960" in told
    run(*words, "--promise", "l-diversity(l=2)", "--na", "31.02.1960", "--missing", "value")


def test_times_of_text_with_a_zone_are_noted(tmp_path: Path) -> None:
    (note,) = read(csv(tmp_path, *(f"{one}Z" for one in TIMES)), quasi=["birth"]).notes
    assert "holds times with the time zone Z, such as 2021-03-01T10:01:00Z" in str(note)
    assert str(note).endswith("say dates={'birth': '%Y-%m-%dT%H:%M:%SZ'}")
    assert birth(csv(tmp_path, *(f"{one}Z" for one in TIMES)), **dict(note.say)).texts == tuple(TIMES)
    for mixed in ([*TIMES[:9], *(f"{one}+02:00" for one in TIMES[9:])], [f"{TIMES[0]}Z", f"{TIMES[1]}+02:00"]):
        (note,) = read(csv(tmp_path, *mixed), quasi=["birth"]).notes
        assert "holds times with a time zone, such as 2021" in str(note)
        assert str(note).endswith("give all as local times of one zone, without naming it, to have dates.")


@pytest.mark.parametrize(
    "cells",
    [
        ("0001-01-01", "1971-02-03", "9999-12-31"),
        ("01.01.0001", "03.02.1971", "31.12.9999"),
        ("0001-01-01T00:00:00", "1971-02-03T00:00:00", "9999-12-31T00:00:00"),
    ],
)
def test_all_years_of_four_digits_are_years(tmp_path: Path, cells: tuple[str, ...]) -> None:
    table = read(csv(tmp_path, *cells), quasi=["birth"])
    assert table.column("birth").texts == ("0001-01-01", "1971-02-03", "9999-12-31")
    assert table.column("birth").meaning == "date" and table.notes == ()


def test_the_first_and_the_last_day_of_arrow_are_dates(tmp_path: Path) -> None:
    days = [date(1, 1, 1), *(date(1970, 1, 1) + timedelta(days=at) for at in range(20)), date(9999, 12, 31)]
    source = pa.table({"birth": pa.array(days), "ill": [*"abcdefabcdefabcdefabcd"]})
    table = read(source, quasi=["birth"], sensitive="ill")
    assert table.column("birth").meaning == "date" and table.notes == ()
    dc.publish(table, "l-diversity(l=2)").save(tmp_path / "release")
    assert dc.audit(tmp_path / "release", table).holds
    assert dc.load(tmp_path / "release").estimate("SELECT COUNT(*) FROM t WHERE birth <= '9999-12-31'") == 22
    clock = pa.table({"birth": pa.array([datetime(1, 1, 1, 7), datetime(9999, 12, 31, 23, 59, 59)])})
    assert birth(clock).texts == ("0001-01-01T07:00:00", "9999-12-31T23:59:59")


def test_times_that_cannot_be_held_are_noted_for_what_they_are(tmp_path: Path) -> None:
    def told(values: pa.Array) -> str:
        (note,) = read(pa.table({"birth": values}), quasi=["birth"]).notes
        return str(note)

    assert "holds times finer than" in told(pa.array([1, 2], pa.timestamp("ns")))
    assert "holds times finer than" in told(
        pa.array([datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(1999, 1, 1)])
    )
    assert "years before 1 or after 9999, such as 10000-01-01" in told(
        pa.array([0, 2932897], pa.int32()).cast("date32")
    )
    assert "years before 1 or after 9999, such as 0000-12-31" in told(pa.array([0, -719163], pa.int32()).cast("date32"))
    (note,) = read(csv(tmp_path, "9999-12-31T23:59:59.999999", "1999-01-01T00:00:00"), quasi=["birth"]).notes
    assert "holds times finer than can be told apart in their years, such as 9999-12-31T23:59:59.999999" in str(note)


def test_times_beyond_all_calendars_are_refused() -> None:
    with pytest.raises(
        dc.DiscreetError, match=r"column 'birth' of the type timestamp\[s\] holds -1099511627776, a time"
    ):
        birth(pa.table({"birth": pa.array([0, -(2**40)], pa.int64()).cast(pa.timestamp("s"))}))


# ------------------------------------------------------------------------------------------------------------ releases

ROWS = 160


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Days of birth as Germans write them, moments with a time of day, days of death, and an illness."""
    draw = random.Random(7)
    lines = ["birth,seen,sex,death,illness,wage"]
    for at in range(ROWS):
        born = date(1930, 1, 1) + timedelta(days=draw.randint(0, 25000))
        seen = datetime(2020, 1, 1) + timedelta(minutes=draw.randint(0, 500000))
        death = date(2001, 1, 1) + timedelta(days=draw.randint(0, 40) * 30)
        words = [born.strftime("%d.%m.%Y"), seen.isoformat(" ", "minutes"), draw.choice("mf"), death.isoformat()]
        lines.append(",".join([*words, "abcde"[at % 5], str(1000 + 10 * draw.randint(0, 90))]))
    path = tmp_path_factory.mktemp("dates") / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


CASES = {
    "generalized": ("illness", dc.LDiversity(2), dc.Cuts()),
    "mondrian": ("illness", dc.LDiversity(2), dc.Mondrian()),
    "burel": ("illness", dc.BetaLikeness(2), dc.Burel()),
    "anatomy": ("illness", dc.LDiversity(3), dc.Anatomy()),
    "perturbed": ("illness", dc.BetaLikeness(2), dc.Perturbation()),
    "ambiguous": ("illness", dc.AlphaBeta(0.9, 0.5), dc.Ambiguity()),
    "generalized, a date": ("death", dc.TCloseness(0.3, "ordered"), dc.Cuts()),
    "sabre, a date": ("death", dc.TCloseness(0.3), dc.Sabre()),
    "proximity, a date": ("death", dc.Proximity(40, 3), dc.SplitAndPartition()),
    "proximity, a moment": ("seen", dc.Proximity(86400, 3), dc.SplitAndPartition()),
    "variance, a date": ("death", dc.Variance(100), dc.Cuts()),
    "ke, a date": ("death", dc.KEAnonymity(3, 40), dc.Cuts()),
    "anatomy, a date": ("death", dc.LDiversity(3), dc.Anatomy()),
    "retained, a date": ("death", dc.Proximity(40, 3), dc.Retention()),
    "retained, a moment": ("seen", dc.Proximity(3600, 2), dc.Retention()),
    "perturbed, a date": ("death", dc.BetaLikeness(2), dc.Perturbation()),
    "ambiguous, a date": ("death", dc.AlphaBeta(0.9, 0.5), dc.Ambiguity()),
}
for name, (scheme, promise, _) in MAKERS.items():
    if name not in ("retained", "synthetic"):  # the one is about numbers, the other answers by chance
        CASES.setdefault(name, ("illness", dc.parse(promise), made(scheme)))


@pytest.mark.slow
@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("case", CASES)
def test_every_release_saves_loads_audits_and_answers(people: Path, tmp_path: Path, case: str, format: Any) -> None:
    sensitive, promise, scheme = CASES[case]
    quasi = [name for name in ("birth", "seen", "sex") if name != sensitive]
    table = read(people, quasi=quasi, sensitive=sensitive)
    release = dc.publish(table, promise, scheme)
    folder = release.save(tmp_path / "release", format)
    entries = {one["name"]: one for one in json.loads((folder / "release.json").read_text())["attributes"]}
    assert entries["birth"]["kind"] == "date"
    first, last = entries["birth"]["domain"]
    texts = table.column("birth").texts
    assert first <= texts[0] and texts[-1] <= last
    assert "unit" in entries["birth"] or (first, last) == (texts[0], texts[-1])
    found = dc.audit(folder, table, trace=release.trace)
    assert found.holds, [check.sentence for check in found.checks if not check.holds]
    loaded = dc.load(folder)
    asked = dc.Query((dc.Range("birth", "1945-01-01", "1990-06-30"),))
    words = "SELECT COUNT(*) FROM t WHERE birth BETWEEN '1945-01-01' AND '1990-06-30'"
    exact = asked.count(table)
    assert 0 < exact < ROWS and loaded.query(words).count(table) == exact
    assert loaded.estimate(words) == pytest.approx(loaded.estimate(asked)) == pytest.approx(release.estimate(asked))
    assert loaded.estimate(words) == pytest.approx(exact, rel=0.25)
    sensitive_attribute = table.column(sensitive)
    if sensitive_attribute.meaning != "categorical":
        middle = sensitive_attribute.texts[len(sensitive_attribute.texts) // 2]
        about = f"SELECT COUNT(*) FROM t WHERE {sensitive} >= '{middle}'"
        assert loaded.estimate(about) == pytest.approx(loaded.query(about).count(table), rel=0.5)
    points = {name: [table.column(name).texts[code] for code in table.column(name).codes[:9]] for name in quasi}
    beliefs = loaded.beliefs(points)
    assert beliefs.shape[0] == 9 and np.allclose(beliefs.sum(axis=1), 1.0)


def test_ranges_are_published_as_in_iso(people: Path, tmp_path: Path) -> None:
    table = read(people, quasi=["birth", "seen"], sensitive="illness")
    dc.publish(table, "l-diversity(l=2)").save(tmp_path / "release")
    line = (tmp_path / "release" / "table.csv").read_text().splitlines()[1]
    day, moment = r"\d{4}-\d{2}-\d{2}", r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}"
    import re

    assert re.search(rf'"\[{day}, {day}\]","\[{moment}, {moment}\]"', line), line


def test_a_range_that_is_edited_fails(people: Path, tmp_path: Path) -> None:
    table = read(people, quasi=["birth"], sensitive="illness")
    dc.publish(table, "l-diversity(l=2)").save(tmp_path / "release")
    file = tmp_path / "release" / "table.csv"
    text = file.read_text()
    for old, new in ((", 19", ", 1 9"), (", 19", "T00:00, 19"), ("-", ".")):
        file.write_text(text.replace(old, new))
        with pytest.raises(dc.DiscreetError, match="of this date attribute"):
            dc.load(tmp_path / "release")


def test_counts_are_grouped_by_dates(people: Path) -> None:
    table = read(people, quasi=["sex"], sensitive="death")
    release = dc.publish(table, "l-diversity(l=2)", "anatomy")
    words = "SELECT death, COUNT(*) FROM t GROUP BY death"
    told, exact = release.group_by(words).to_pydict(), release.grouping(words).count(table).to_pydict()
    assert told["death"] == exact["death"] == list(table.column("death").texts)
    assert told["count"] == pytest.approx(exact["count"])


def test_shares_of_a_date_cannot_be_promised(people: Path) -> None:
    table = read(people, quasi=["sex"], sensitive="death")
    with pytest.raises(dc.DiscreetError, match="epsilon in days instead"):
        dc.publish(table, "proximity(epsilon=0.1, m=2, neighbourhood=relative)")


# ------------------------------------------------------------------------------------------------------------ commands


@pytest.fixture
def here(people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "people.csv").write_text(people.read_text())
    monkeypatch.chdir(tmp_path)
    yield tmp_path


ROLES = ("--quasi", "birth,seen,sex", "--sensitive", "illness")
PUBLISH = ("publish", "people.csv", "-o", "release", "--force", *ROLES, "--promise", "l-diversity(l=2)")


def test_from_profile_to_a_query(here: Path) -> None:
    document = json.loads(run("profile", "people.csv", *ROLES, "--json").stdout)
    assert [column["kind"] for column in document["columns"]] == ["date", "datetime", "categorical", "categorical"]
    run(*PUBLISH, "--domain", "birth=1900-01-01:2020-12-31")
    manifest = json.loads(Path("release/release.json").read_text())
    assert manifest["attributes"][0]["domain"] == ["1900-01-01", "2020-12-31"]
    told = run("audit", "release", "--original", "people.csv").stdout
    assert "birth [19" in told and "1900-01-01 to 2020-12-31; losses use it" in told
    people = run("audit", "release", "--original", "people.csv", "--population", "people.csv").stdout
    assert "l-diversity(l=2) holds" in people
    asked = "SELECT COUNT(*) FROM t WHERE birth >= '1950-01-01' AND seen < '2020-06-01'"
    assert "Exactly" in run("query", "release", asked, "--original", "people.csv").stdout
    assert (
        "holds dates, and '1950' is not one"
        in run("query", "release", "SELECT COUNT(*) FROM t WHERE birth > 1950", code=2).stderr
    )
    told = run("plan", "people.csv", "--quasi", "sex", "--sensitive", "birth", "--m", "4").stdout
    assert "epsilon is a difference in days" in told


def test_a_form_is_declared_to_publish_and_to_audit(here: Path) -> None:
    cells = "".join(f"{at % 12 + 1:02}/{at % 11 + 1:02}/19{at % 60 + 20},{'abc'[at % 3]}\n" for at in range(120))
    Path("unsure.csv").write_text("birth,ill\n" + cells)
    words = (
        "publish",
        "unsure.csv",
        "-o",
        "sure",
        "--quasi",
        "birth",
        "--sensitive",
        "ill",
        "--promise",
        "l-diversity(l=2)",
    )
    assert "say --date birth=%d/%m/%Y or --date birth=%m/%d/%Y" in run(*words, code=2).stderr
    run(*words, "--force", "--date", "birth=%m/%d/%Y")
    run("audit", "sure", "--original", "unsure.csv")
    run("audit", "sure", "--original", "unsure.csv", "--date", "birth=%d/%m/%Y", code=1)
    run("audit", "sure", "--original", "unsure.csv", "--date", "birth=%m/%d/%Y")
    assert "--date 'birth'" in run(*words, "--date", "birth", code=2).stderr


def test_a_job_file_holds_forms_and_domains_of_dates(here: Path) -> None:
    lines = ['input = "people.csv"', 'output = "jobbed"', 'quasi = ["birth", "sex"]', 'sensitive = "illness"']
    lines += ['promise = "l-diversity(l=2)"', 'dates = { birth = "%d.%m.%Y" }']
    for domain in ("[1900-01-01, 2020-12-31]", '["1900-01-01", "2020-12-31"]', '"1900-01-01:2020-12-31"'):
        Path("job.toml").write_text("\n".join([*lines, f"domains = {{ birth = {domain} }}", "force = true"]))
        run("publish", "--job", "job.toml")
        manifest = json.loads(Path("jobbed/release.json").read_text())
        assert manifest["attributes"][0]["domain"] == ["1900-01-01", "2020-12-31"]
    Path("job.toml").write_text("\n".join([*lines, "domains = { birth = [2020-12-31, 1900-01-01] }", "force = true"]))
    assert "--domain birth=1900-01-01:2020-12-31" in run("publish", "--job", "job.toml", code=2).stderr


@pytest.mark.parametrize(
    ("domain", "told"),
    [
        ("2020-12-31:1900-01-01", "say for example --domain birth=1900-01-01:2020-12-31"),
        ("1900:2020-12-31", "is not a pair of numbers or dates, the smaller first"),
    ],
)
def test_domains_that_mean_nothing_are_refused(here: Path, domain: str, told: str) -> None:
    assert told in run(*PUBLISH, "--domain", f"birth={domain}", code=2).stderr


def test_times_with_a_zone_are_noted() -> None:
    zoned = pa.table({"seen": pa.array([datetime(2021, 3, 7, 10)], pa.timestamp("us", "Europe/Berlin"))})
    table = read(zoned, quasi=["seen"])
    assert table.column("seen").kind == "categorical"
    assert "holds times with a time zone, such as 2021-03-07T11:00:00+0100" in repr(table)
    assert "give local times without one to have dates" in repr(table)


def test_dates_take_part_in_a_comparison(here: Path) -> None:
    words = ("compare", "people.csv", *ROLES, "--promise", "l-diversity(l=2)", "--schemes", "cuts,mondrian,anatomy")
    document = json.loads(run(*words, "--queries", "50", "--json").stdout)
    assert [one["scheme"] for one in document["results"]] == ["cuts", "mondrian", "anatomy"]


def test_a_folder_of_hierarchies_serves_no_dates(here: Path) -> None:
    Path("trees").mkdir()
    Path("trees/birth.csv").write_text("1.1.1950;50s\n")
    Path("trees/sex.csv").write_text("m;any\nf;any\n")
    told = run(*PUBLISH, "--hierarchy", "trees").stderr
    assert "Not taken: birth.csv, because 'birth' holds numbers or dates" in told
    run("audit", "release", "--original", "people.csv", "--hierarchy", "trees")
    run(*PUBLISH, "--hierarchy", "trees", "--date", "birth=%d.%m.%Y")


def test_dates_that_nobody_can_be_sure_of_are_noted(tmp_path: Path) -> None:
    (short,) = read(csv(tmp_path, "07.03.21", "30.11.99"), quasi=["birth"]).notes
    assert "years of two digits, such as 07.03.21" in str(short)
    assert str(short).endswith("if 69 to 99 are of 19.. and 00 to 68 of 20.., say dates={'birth': '%d.%m.%y'}")
    pivot = birth(csv(tmp_path, "01.02.68", "30.11.69"), dates={"birth": "%d.%m.%y"})
    assert pivot.texts == ("1969-11-30", "2068-02-01"), "as the note tells"
    (unsure,) = read(csv(tmp_path, "07/03/21", "11/10/99"), quasi=["birth"]).notes
    assert str(unsure).endswith("say dates={'birth': '%d/%m/%y'} or dates={'birth': '%m/%d/%y'}")
    (first,) = read(csv(tmp_path, "99-12-31", "21-03-07"), quasi=["birth"]).notes
    assert str(first).endswith("say dates={'birth': '%y-%m-%d'}")
    assert read(csv(tmp_path, "99-32-31", "21-03-07"), quasi=["birth"]).notes == (), "these are no dates"
    (joined,) = [n for n in read(csv(tmp_path, "20210307", "19991130"), quasi=["birth"]).notes if "dates" in str(n)]
    assert str(joined).endswith("holds numbers such as 19991130: if they are dates, say dates={'birth': '%Y%m%d'}")
    assert not any("dates" in str(n) for n in read(csv(tmp_path, "20210307", "19991330"), quasi=["birth"]).notes)
