"""Exports have the cells of the frames: written, and read back by the libraries that other programs have."""

from __future__ import annotations

import datetime as dt
import json
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastexcel
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import DiscreetError
from discreet.jobs.export import export
from discreet.releases.frames import Form
from discreet.releases.release import Release
from discreet.table.exports import KINDS, SPSS, STATA, Program, fitted_names
from support.command import refused, run
from support.formats import MAKERS, published_as

DANGEROUS = ["=1+1", "+49", "-", "@SUM(A1)", "\ttab", "'=2", "plain", "'quoted'"]
CITIES = ["Bonn, West", "NA", "Jena", "größe \U0001f600", '"x"']
KIND_NAMES = tuple(KINDS)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def people(rows: int = 60) -> pa.Table:
    """People with columns of every kind, odd texts and odd names."""
    first, start = dt.date(1950, 1, 1), dt.datetime(2020, 2, 28, 23, 59)
    return pa.table(
        {
            "age": pa.array([None if at == 7 else at * 7 % 40 for at in range(rows)], pa.int64()),
            "dose of the day, in mg": [at % 9 / 8 for at in range(rows)],
            "born": pa.array([first + dt.timedelta(days=at * 13 % 900) for at in range(rows)], pa.date32()),
            "seen": pa.array([start + dt.timedelta(seconds=at % 50) for at in range(rows)], pa.timestamp("us")),
            "grade": [("low", "mid, or so", "top")[at % 3] for at in range(rows)],
            "city": [CITIES[at % 5] for at in range(rows)],
            "=kept": [DANGEROUS[at % 8] for at in range(rows)],
            "ill": [("flu", "gout", "asthma, mild")[at % 3] for at in range(rows)],
            "job": [("smith", "clerk")[at % 2] for at in range(rows)],
            "pay": [at * 2.5 for at in range(rows)],
        }
    )


def published(format: str) -> Release:
    """A release in a format, saved and loaded."""
    quasi = ["age", "dose of the day, in mg", "born", "seen", "grade", "city"]
    sensitive = {"retained": ["pay"], "projected": ["ill", "job"]}.get(format, ["ill"])
    keep = ["=kept"] if format == "generalized" else []
    if format in ("ambiguous", "synthetic"):
        quasi = ["age", "city"]
    table = dc.read(
        people(), quasi=quasi, sensitive=sensitive, keep=keep, missing="value", ordinal={"grade"} & {*quasi}
    )
    published_as(format, table).save("release")
    return dc.load("release")


def frames(release: Release) -> dict[str, dict[str, list[Any]]]:
    """What an export has to hold."""
    tables = release.typed_tables(Form.of("bounds", "text"))
    return {name: dict(zip(table.column_names, table.columns, strict=True)) for name, table in tables.items()}


def plain(value: Any) -> Any:
    """A cell, comparable whatever it was read by."""
    if value is None or value is pd.NaT or (isinstance(value, float) and value != value) or value == "":
        return None
    if isinstance(value, pd.Timestamp):
        value = value.to_pydatetime()
    if isinstance(value, dt.datetime):
        return value if value.time() != dt.time() else value.date()
    return float(value) if isinstance(value, int | float) else value


def unguarded(text: Any) -> Any:
    return text[1:] if isinstance(text, str) and re.match("'+[-=+@\t]", text) else text


def read_back(path: Path, table: str, wanted: dict[str, pa.ChunkedArray]) -> dict[str, list[Any]]:
    """The cells of a file, read by a library of somebody else."""
    if path.suffix == ".csv":
        texts = {name: pa.string() for name, column in wanted.items() if not pa.types.is_primitive(column.type)}
        convert = pa.csv.ConvertOptions(strings_can_be_null=True, null_values=[""], column_types=texts)
        found = pa.csv.read_csv(path, convert_options=convert).to_pydict()
        return {unguarded(name): [unguarded(cell) for cell in cells] for name, cells in found.items()}
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pydict()
    if path.suffix == ".xlsx":
        return pa.table(fastexcel.read_excel(path).load_sheet(table, schema_sample_rows=None).to_arrow()).to_pydict()
    read = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    cells, meta = read(str(path), output_format="dict")
    for name, labels in meta.variable_value_labels.items():
        cells[name] = [labels.get(cell) for cell in cells[name]]
    return {meta.column_names_to_labels[name] or name: held for name, held in cells.items()}


def as_day(values: list[Any]) -> list[Any]:
    """Days and moments by their ISO texts: CSV readers and spreadsheets tell them apart in their own ways."""
    return [value.isoformat(sep=" ") if isinstance(value, dt.datetime) else str(value) for value in values]


def check(path: Path, table: str, wanted: dict[str, pa.ChunkedArray]) -> None:
    found = read_back(path, table, wanted)
    assert list(found) == list(wanted)
    for name, column in wanted.items():
        ours, theirs = [plain(cell) for cell in column.to_pylist()], [plain(cell) for cell in found[name]]
        if pa.types.is_temporal(column.type):
            ours, theirs = as_day(ours), as_day(theirs)
        if path.suffix == ".xlsx" and pa.types.is_floating(column.type):
            ours = pytest.approx(ours, rel=1e-15)  # a spreadsheet has no more digits
        assert theirs == ours, (path.name, name)


@pytest.mark.slow
@pytest.mark.parametrize("format", MAKERS)
def test_every_format_in_every_kind_has_the_cells_of_the_frames(format: str) -> None:
    release = published(format)
    tables = frames(release)
    for ending in KIND_NAMES:
        outcome = export("release", f"out{ending}", force=True)
        assert list(outcome.tables) == list(tables) and next(iter(outcome.tables.values())) == f"out{ending}"
        assert ("out.csv" in outcome.tables.values()) == (ending == ".csv")
        for name, file in outcome.tables.items():
            check(Path(file), name, tables[name])
            assert outcome.rows[name] == len(next(iter(tables[name].values())))
    assert not list(Path("release").glob("out*")) and dc.load("release").faults == ()


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("format", ["generalized", "anatomy", "projected"])
def test_the_python_script_reads_what_the_frames_have(format: str, ending: str) -> None:
    release = published(format)
    outcome = export("release", f"out{ending}")
    assert outcome.scripts == ("out.py", "out.R")
    made = runpy.run_path("out.py")
    expected = release.to_pandas()
    for name, frame in (expected if isinstance(expected, dict) else {"table": expected}).items():
        read = made[name].rename(columns=dict(outcome.renamed))
        assert list(read.columns) == list(frame.columns)
        for column in frame.columns:
            ours, theirs = frame[column], read[column]
            if ours.dtype == "category":
                assert theirs.dtype == "category" and theirs.cat.ordered == ours.cat.ordered
                if ours.cat.ordered:
                    assert list(theirs.cat.categories) == list(ours.cat.categories)
            else:
                assert theirs.dtype.kind == ours.dtype.kind, column
            assert [plain(cell) for cell in theirs] == [plain(cell) for cell in ours], column


def test_the_python_script_counts_what_is_certain_and_what_is_possible(
    capsys: pytest.CaptureFixture[str],
) -> None:
    release = published("generalized")
    export(release, "out.csv")
    made = runpy.run_path("out.py")
    low, high = (frames(release)["table"][f"age_{end}"].to_pylist() for end in ("lo", "hi"))
    middle = made["middle"]
    certain = sum(end is not None and end <= middle for end in high)
    possible = sum(end is None or end <= middle for end in low)
    assert 0 < certain < possible
    assert capsys.readouterr().out.splitlines()[-1] == f"age at most {middle} in {certain} to {possible} rows"


def lines(file: str) -> Iterator[str]:
    yield from Path(file).read_text(encoding="utf-8").splitlines()


def test_the_script_for_r_names_every_column_in_its_place() -> None:
    published("generalized")
    outcome = export("release", "out.csv")
    text = Path("out.R").read_text(encoding="utf-8")
    (classes,) = re.findall(r"colClasses = c\((.*)\)", text)
    by_name = dict(zip(frames(dc.load("release"))["table"], classes.split(", "), strict=True))
    assert by_name["age_lo"] == by_name["group"] == "NA" and by_name["born_hi"] == '"Date"'
    assert by_name["seen_lo"] == '"POSIXct"' and by_name["ill"] == by_name["grade_lo"] == '"character"'
    assert (
        'table[["grade_lo"]] <- factor(table[["grade_lo"]], levels = c("low", "mid, or so", "top"), ordered = TRUE)'
        in text
    )
    assert 'type = "interval2"' in text and "Intervals: age_lo to age_hi, " in text
    assert outcome.renamed == {"'=kept": "=kept"}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_script_for_r_runs_and_counts_as_the_one_for_python(capsys: pytest.CaptureFixture[str]) -> None:
    published("generalized")
    export("release", "out.csv")
    runpy.run_path("out.py")
    counted = capsys.readouterr().out.splitlines()[-1]
    with open("out.R", "a", encoding="utf-8") as script:
        script.write('writeLines(levels(table[["\'=kept"]]), "levels")\nwrite.csv(table[["seen_lo"]], "seen")\n')
    done = subprocess.run(["Rscript", "--vanilla", "out.R"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == counted.replace(".0 ", " ")
    assert sorted(Path("levels").read_text(encoding="utf-8").splitlines()) == sorted(DANGEROUS)
    assert "NA" not in Path("seen").read_text(encoding="utf-8")


def test_the_script_for_stata_uses_the_names_in_the_file() -> None:
    published("generalized")
    outcome = export("release", "out.dta")
    assert outcome.scripts == ("out.do",)
    _, meta = pyreadstat.read_dta("out.dta", output_format="dict")
    used = [line for line in lines("out.do") if not line.startswith("*")]
    words = set(re.findall(r"\b\w+_(?:lo|hi)\b", "\n".join(used)))
    assert words == {"age_lo", "age_hi"} and words < set(meta.column_names)
    assert "* a regression of intervals: intreg age_lo age_hi" in lines("out.do")
    assert outcome.renamed == {
        "dose_of_the_day__in_mg_lo": "dose of the day, in mg_lo",
        "dose_of_the_day__in_mg_hi": "dose of the day, in mg_hi",
        "v_kept": "=kept",
    }


# ------------------------------------------------------------------------------------------------------------- formulas


def test_no_cell_is_a_formula_and_the_bytes_of_a_workbook_repeat() -> None:
    release = published("generalized")
    export(release, "one.xlsx")
    with zipfile.ZipFile("one.xlsx") as book:
        sheets = [book.read(name).decode() for name in book.namelist() if "worksheets/sheet" in name]
    assert len(sheets) == 2 and not any("<f>" in sheet or "<hyperlink" in sheet for sheet in sheets)
    export(release, "two.xlsx")
    assert Path("one.xlsx").read_bytes() == Path("two.xlsx").read_bytes()
    about = fastexcel.read_excel("one.xlsx").load_sheet("about", header_row=None).to_arrow()
    assert about.column(0)[0].as_py().startswith("A release by discreet of 60 rows")


def test_no_text_of_a_csv_starts_a_formula() -> None:
    published("generalized")
    outcome = export("release", "out.csv")
    table = pa.csv.read_csv("out.csv", convert_options=pa.csv.ConvertOptions(column_types={"'=kept": pa.string()}))
    cells = [cell for name, column in zip(table.column_names, table.columns, strict=True)
             for cell in (name, *column.to_pylist()) if isinstance(cell, str)]  # fmt: skip
    assert cells and not any(cell[0] in "=+-@\t" for cell in cells if cell)
    (remark,) = outcome.remarks
    assert remark.sentence == "Texts of column '=kept' that a spreadsheet would run begin with an apostrophe."


# ---------------------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize("program", [STATA, SPSS])
@settings(max_examples=60)
@given(names=st.lists(st.text(min_size=1, max_size=40), unique=True, min_size=1, max_size=6), pair=st.booleans())
def test_names_are_allowed_distinct_and_pairs(program: Program, names: list[str], pair: bool) -> None:
    if pair:
        names = list(dict.fromkeys([*names, f"{names[0]}_lo", f"{names[0]}_hi"]))
    found = fitted_names(names, program)
    assert list(found) == names
    assert len({new.casefold() for new in found.values()}) == len(names)
    for new in found.values():
        assert re.fullmatch(r"[^\W\d_]\w*", new) and len(new.encode()) <= program.longest, new
    for name in names:
        if name.endswith("_lo") and f"{name[:-3]}_hi" in found:
            assert found[name][:-3] == found[f"{name[:-3]}_hi"][:-3] and found[name].endswith("_lo")


def test_names_that_are_allowed_stay() -> None:
    names = ["age 1", "age_1", "Age_1", "x" * 32, "x" * 31, "größe", "with", "_n"]
    assert fitted_names(names, STATA) == {
        "age_1": "age_1",
        "x" * 31: "x" * 31,
        "größe": "größe",
        "Age_1": "Age_1_2",
        "age 1": "age_1_3",
        "x" * 32: f"{'x' * 29}_2",
        "with": "vwith",
        "_n": "v_n",
    }


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".dta", ".sav"])
def test_odd_names_long_labels_and_large_numbers_survive(ending: str) -> None:
    long = "l" * 130
    columns: dict[str, list[Any]] = {
        "age": [20, 21, 22, 23],
        "n" * 70: [1, 2],
        "N" * 70: ["a", "b"],
        "text": [long, f"{long}x"],
        "huge": [2**60 + 1, 2**60 + 2],
        "wide": [2**40, 2],
        "ill": ["flu", "gout"],
    }
    table = pa.table({name: (values * 4)[:4] for name, values in columns.items()})
    keep = [name for name in table.column_names if name not in ("age", "ill")]
    release = dc.publish(dc.read(table, quasi=["age"], sensitive="ill", keep=keep), dc.KAnonymity(2))
    outcome = export(release, f"out{ending}")
    read = pyreadstat.read_dta if ending == ".dta" else pyreadstat.read_sav
    cells, meta = read(f"out{ending}", output_format="dict")
    assert set(outcome.renamed.values()) == {"n" * 70, "N" * 70}
    assert {meta.column_names_to_labels[name] for name in outcome.renamed} == {"n" * 70, "N" * 70}
    labels = meta.variable_value_labels
    huge = [labels["huge"][cell] for cell in cells["huge"]]
    assert sorted(huge) == sorted(map(str, table["huge"].to_pylist())) and max(cells["wide"]) == 2**40
    texts = cells["text"] if ending == ".sav" else [labels["text"][cell] for cell in cells["text"]]
    assert sorted(texts) == sorted(table["text"].to_pylist())
    assert ("text" in labels) == (ending == ".dta")
    said = [remark.sentence for remark in outcome.remarks]
    assert any("'text' is text, because SPSS cannot hold" in sentence for sentence in said) == (ending == ".sav")


def test_early_dates_are_texts_in_a_workbook_and_large_numbers_are_whole() -> None:
    days = [dt.date(1899, 12, 31), dt.date(1900, 1, 1), dt.date(1950, 1, 1), dt.date(1960, 1, 1)]
    table = pa.table({"born": days, "code": [10**15 + 1, 2**53 - 1] * 2, "ill": ["flu", "gout"] * 2})
    release = dc.publish(dc.read(table, quasi=["born", "code"], sensitive="ill", numeric=["code"]), dc.KAnonymity(2))
    outcome = export(release, "out.xlsx")
    assert [remark.sentence for remark in outcome.remarks] == [
        "Column 'born_lo' is text, because Excel has no dates before 1900-03-01.",
    ]
    check(Path("out.xlsx"), "table", frames(release)["table"])


@pytest.mark.parametrize("ending", KIND_NAMES)
def test_values_that_no_row_has_are_in_no_file(ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = dc.read(people(), quasi=["age"], sensitive="ill", keep=["city", "job"], missing="withhold")
    release = dc.publish(table, dc.KAnonymity(3), dc.Mondrian(random_state=1))
    held = frames(release)["table"]
    assert set(held["city"].to_pylist()) == set(CITIES)
    gone = pa.chunked_array([pa.array(["Jena", "Hidden"]).dictionary_encode().take(pa.array([0] * release.rows))])
    monkeypatch.setattr(type(release), "typed_tables", lambda release, form: {"table": pa.table({"city": gone})})
    export(release, f"out{ending}")
    found = Path(f"out{ending}").read_bytes()
    if ending == ".xlsx":
        with zipfile.ZipFile(f"out{ending}") as book:
            found = b"".join(map(book.read, book.namelist()))
    assert b"Jena" in found and b"Hidden" not in found


# -------------------------------------------------------------------------------------------------------------- command


def test_the_command_says_where_things_are(here: Path) -> None:
    published("anatomy")
    result = run("export", "release", "-o", "out.dta")
    assert re.search(r"table +out\.dta +60\n", result.stdout) and re.search(
        r"sensitive +out_sensitive\.dta", result.stdout
    )
    assert "dose_of_the_day__in_mg  dose of the day, in mg" in result.stdout
    assert result.stderr == "To read it, run out.do in its folder.\n"
    assert sorted(path.name for path in here.iterdir()) == ["out.do", "out.dta", "out_sensitive.dta", "release"]
    assert refused("export", "release", "-o", "out.dta").endswith(
        "the file 'out.dta' exists already; choose another file, or --force to replace it"
    )
    Path("out.do").write_text("mine", encoding="utf-8")
    result = run("export", "release", "-o", "out.dta", "--force", "--json")
    assert "'out.do' exists already, and stays as it is" in result.stderr and Path("out.do").read_text() == "mine"
    said = json.loads(result.stdout)
    assert said["tables"]["table"] == {"file": "out.dta", "rows": 60} and said["scripts"] == []
    assert run("export", "release", "-o", "out.dta", "--force", "--quiet").output == ""
    assert fastexcel.read_excel(export("release", "out.xlsx").tables["table"]).sheet_names == [
        "table",
        "sensitive",
        "about",
    ]


def test_bad_input_writes_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published("anatomy")
    Path("out_sensitive.csv").write_text("mine", encoding="utf-8")
    before = sorted(path.name for path in here.rglob("*"))
    assert "the name 'out.txt' does not end as a kind of file; use one of .csv (CSV)" in refused(
        "export", "release", "-o", "out.txt"
    )
    assert "'out_sensitive.csv' exists already" in refused("export", "release", "-o", "out.csv")
    assert "would lie inside a release" in refused("export", "release", "-o", "release/out.csv")
    assert "is not a release" in refused("export", "nowhere", "-o", "new.csv")
    assert "there is no folder" in refused("export", "release", "-o", "no/new.csv")
    for name, ending, extra in (
        ("xlsxwriter", ".xlsx", "excel"),
        ("pyreadstat", ".sav", "stats"),
        ("polars", ".dta", "stats"),
    ):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, name, None)
            said = refused("export", "release", "-o", f"new{ending}")
        assert said.endswith(f"needs the package {name}, which is not installed: pip install 'discreet[{extra}]'")
    assert sorted(path.name for path in here.rglob("*")) == before
    with pytest.raises(DiscreetError, match=r"5 is no path"):
        export("release", 5)  # type: ignore[arg-type]
    with pytest.raises(DiscreetError, match="5 is not a release"):
        export(5, "new.csv")  # type: ignore[arg-type]


def test_a_column_that_is_called_like_an_end_is_refused() -> None:
    table = people().append_column("age_lo", pa.array([at % 2 for at in range(60)]))
    release = dc.publish(
        dc.read(table, quasi=["age"], sensitive="ill", keep=["age_lo"], missing="value"), dc.KAnonymity(3)
    )
    with pytest.raises(DiscreetError, match=r"has a column 'age_lo', which is the name"):
        export(release, "out.csv")


def test_a_sheet_has_room_for_so_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    release = published("generalized")
    monkeypatch.setattr("discreet.table.exports.SHEET_ROWS", 60)
    with pytest.raises(DiscreetError, match=r"has 60 rows and .* holds 59 and"):
        export(release, "out.xlsx")
    monkeypatch.setattr("discreet.table.exports.SHEET_ROWS", 61)
    monkeypatch.setattr("discreet.table.exports.SHEET_TEXT", 9)
    with pytest.raises(DiscreetError, match=r"column .* has a text of more than 9 characters"):
        export(release, "out.xlsx")
