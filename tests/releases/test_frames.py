"""Frames of releases have the cells of the files, with types. The files are read here by hand."""

from __future__ import annotations

import csv
import datetime as dt
import json
import re
import sys
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import DiscreetError
from discreet.releases.release import Release
from support.formats import MAKERS, published_as

DESCRIBED = ("generalized", "nested", "matched", "sealed", "mirrored")
"""The formats that publish descriptions; the others publish quasi-identifiers as they are."""
HOMES = {"quasi": ("table", "auxiliary"), "sensitive": ("table", "sensitive")}
"""How the names of tables begin that may have the columns of attributes, by their roles."""
GRADES = ["low", "mid, or so", '"high"', "top"]
CITIES = ["Bonn, West", "Essen", "Jena", "{Gera}", None]
QUASI = ("age", "dose", "born", "seen", "grade", "city")


def people(seed: int, rows: int) -> pa.Table:
    """People with quasi-identifiers of every kind, some of them missing, and odd texts."""
    rng = np.random.default_rng(seed)
    days = dt.date(1950, 1, 1), dt.timedelta(days=1)
    start = dt.datetime(2020, 2, 28, 23, 59)

    def gaps(values: list[Any]) -> list[Any]:
        return [None if at and rng.random() < 0.05 else value for at, value in enumerate(values)]

    return pa.table(
        {
            "age": pa.array(gaps(rng.integers(-3, 30, rows).tolist()), pa.int64()),
            "dose": pa.array(gaps((rng.integers(0, 40, rows) / 8).tolist()), pa.float64()),
            "born": pa.array(gaps([days[0] + days[1] * int(day) for day in rng.integers(0, 999, rows)]), pa.date32()),
            "seen": pa.array(
                [start + dt.timedelta(seconds=int(late), microseconds=250_000) for late in rng.integers(0, 60, rows)],
                pa.timestamp("us"),
            ),
            "grade": [GRADES[at] for at in rng.integers(0, 4, rows)],
            "city": [CITIES[at] for at in rng.integers(0, 5, rows)],
            "ill": [["flu", "gout", "asthma, mild"][at % 3] for at in range(rows)],
            "job": rng.choice(["smith", "clerk"], rows),
            "pay": rng.permutation(rows) * 2.5,
        }
    )


def published(format: str, quasi: list[str], seed: int, rows: int) -> Release:
    table = dc.read(
        people(seed, rows),
        quasi=quasi,
        sensitive={"retained": ["pay"], "projected": ["ill", "job"]}.get(format, ["ill"]),
        ordinal=["grade"] if "grade" in quasi else [],
        domains={"age": (-10, 40)} if "age" in quasi else {},
        missing="value",
    )
    return published_as(format, table)


# --------------------------------------------------------------------------------- reading by hand


def value(text: str, kind: str) -> Any:
    """One value of a cell."""
    if kind == "numeric":
        return Fraction(float(text))
    if kind == "date":
        return dt.date.fromisoformat(text)
    return dt.datetime.fromisoformat(text) if kind == "datetime" else text


def ends(text: str, kind: str) -> tuple[Any, Any]:
    """The ends of a description of numbers, dates or ordered values."""
    if text in ("*", "(missing)"):
        return None, None
    item = r'"(?:[^"\\]|\\.)*"|[^,"]+'
    parts = re.fullmatch(rf"\[({item}), ({item})\]|({item})", text)
    assert parts is not None, text
    low, high = (parts[3], parts[3]) if parts[3] is not None else (parts[1], parts[2])
    low, high = (json.loads(end) if end[:1] == '"' else end for end in (low, high))
    return value(low, kind), value(high, kind)


def exactly(text: str, kind: str) -> Any:
    """A cell that is no description; of ordered and measured values a missing one is null."""
    lacking = text == "" if kind in ("numeric", "date", "datetime") else kind == "ordinal" and text == "(missing)"
    return None if lacking else value(text, kind)


def files(folder: Path) -> tuple[dict[str, Any], dict[str, dict[str, list[str]]]]:
    """The manifest, and per table its columns as texts; counts of whole columns are no frame."""
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    tables = {}
    for name in (each for each in manifest["tables"] if each != "marginals.csv"):
        with (folder / name).open(encoding="utf-8", newline="") as file:
            head, *lines = csv.reader(file)
        columns = zip(*lines, strict=True) if lines else [[]] * len(head)
        tables[name.removesuffix(".csv")] = dict(zip(head, columns, strict=True))
    return manifest, tables


def described(manifest: dict[str, Any], table: str) -> bool:
    """Whether quasi-identifiers stand in a table as descriptions; of several tables each has a format."""
    part = manifest["parts"][int(table.rpartition("_")[2]) - 1] if "parts" in manifest else manifest
    return part.get("format", "generalized") in DESCRIBED


def several(frames: Any, names: list[str]) -> dict[str, Any]:
    """The frames of a release by the names of its tables."""
    assert isinstance(frames, dict) == (len(names) > 1)
    return frames if isinstance(frames, dict) else {names[0]: frames}


def cells(frame: pa.Table, name: str) -> list[Any]:
    return [Fraction(cell) if isinstance(cell, int | float) else cell for cell in frame.column(name).to_pylist()]


def middle(low: Any, high: Any) -> Any:
    """The middle of two ends: the nearest floating-point number, or one beside it."""
    if low is None:
        return None
    between = (high - low) / 2
    if isinstance(low, Fraction):
        return pytest.approx(float(low + between), rel=1e-15, abs=0)
    return low + (dt.timedelta(days=between.days) if type(low) is dt.date else between)


def agree(release: Release, folder: Path) -> None:
    """Check that frames have the cells of the files, and that all libraries get the same."""
    manifest, tables = files(release.save(folder))
    loaded, names = dc.load(folder), list(tables)
    attributes = {entry["name"]: entry for entry in manifest["attributes"]}
    for part in (manifest, *manifest.get("parts", ())):
        if (entry := part.get("randomised")) is not None:
            attributes[entry["column"]] = attributes.pop(entry["attribute"])
    bounds, middles, texts = (
        several(loaded.to_arrow(how), names)
        for how in ("bounds", "middle", "text")  # type: ignore[arg-type]
    )
    for name, frame in several(release.to_arrow(), names).items():
        assert frame.to_pydict() == bounds[name].to_pydict()
    for name, columns in tables.items():
        assert texts[name].column_names == list(columns)
        expected: list[str] = []
        for column, written in columns.items():
            of_texts = pa.types.is_string(texts[name].schema.field(column).type)
            nothing = {"kind": "text" if of_texts else "numeric", "role": ""}
            attribute = attributes.get(column, nothing)
            if not name.startswith(HOMES.get(attribute["role"], "table")):
                attribute = nothing
            kind = attribute["kind"]
            if described(manifest, name) and attribute["role"] == "quasi" and kind != "categorical":
                expected += [f"{column}_lo", f"{column}_hi"]
                read = [ends(text, kind) for text in written]
                assert list(zip(*(cells(bounds[name], each) for each in expected[-2:]), strict=True)) == read
                between = list(written) if kind == "ordinal" else [middle(*pair) for pair in read]
                assert cells(middles[name], column) == between
                assert cells(texts[name], column) == list(written)
            else:
                expected.append(column)
                for frame in (bounds[name], middles[name], texts[name]):
                    assert cells(frame, column) == [exactly(text, kind) for text in written]
        assert bounds[name].column_names == expected
    for name, frame in several(loaded.to_polars(), names).items():
        assert frame.to_dicts() == bounds[name].to_pylist()
    for name, frame in several(loaded.to_pandas(), names).items():
        assert list(frame.columns) == bounds[name].column_names
        for column in frame.columns:
            held = [None if pd.isna(cell) else cell for cell in frame[column].tolist()]
            days = pa.types.is_date(bounds[name].schema.field(column).type)
            held = [cell.date() if days and cell else cell for cell in held]
            assert held == bounds[name].column(column).to_pylist()


@pytest.mark.slow
@pytest.mark.parametrize("format", MAKERS)
@settings(max_examples=6)
@given(
    seed=st.integers(0, 2**20),
    rows=st.integers(30, 120),
    quasi=st.lists(st.sampled_from(QUASI), min_size=1, max_size=4, unique=True),
)
def test_frames_have_the_cells_of_the_files(format: str, seed: int, rows: int, quasi: list[str]) -> None:
    try:
        release = published(format, quasi, seed, rows)
    except DiscreetError:
        assume(False)
    with TemporaryDirectory() as folder:
        agree(release, Path(folder) / "release")


# ------------------------------------------------------------------------------------------- types


def small(**columns: Any) -> pa.Table:
    return pa.table({"ill": ["flu", "gout"] * (len(next(iter(columns.values()))) // 2), **columns})


def cut(table: pa.Table, scheme: str = "cuts", promise: str = "k-anonymity(k=2)", **how: Any) -> Release:
    quasi = [name for name in table.column_names if name not in ("ill", "job")]
    return dc.publish(dc.read(table, **{"quasi": quasi, "sensitive": "ill", **how}), promise, scheme)


def test_every_column_has_its_type() -> None:
    days = [dt.date(2020, 1, day) for day in (1, 2, 3, 4)]
    frame = cut(
        small(age=[1, 2, 3, 4], dose=[0.5, 1.0, 2.0, 3.0], born=days, grade=["a", "b", "c", "d"]), ordinal=["grade"]
    ).to_arrow()
    assert isinstance(frame, pa.Table)
    types = {field.name: field.type for field in frame.schema}
    order = pa.dictionary(pa.int32(), pa.string(), ordered=True)
    assert types == {
        "group": pa.int64(),
        **dict.fromkeys(("age_lo", "age_hi"), pa.int64()),
        **dict.fromkeys(("dose_lo", "dose_hi"), pa.float64()),
        **dict.fromkeys(("born_lo", "born_hi"), pa.date32()),
        **dict.fromkeys(("grade_lo", "grade_hi"), order),
        "ill": pa.dictionary(pa.int32(), pa.string()),
    }


def test_orders_stay_orders_and_are_read_again() -> None:
    exact = cut(small(grade=["low", "mid", "low", "high"], age=[1, 2, 3, 4]), "anatomy", "l-diversity(l=2)",
                hierarchies={"grade": {"*": ["low", "mid", "high"]}}, ordinal=["grade"])  # fmt: skip
    assert exact.to_polars()["table"]["grade"].dtype == pl.Enum(["low", "mid", "high"])
    frame = exact.to_pandas()["table"]
    assert list(frame["grade"].cat.categories) == ["low", "mid", "high"]
    assert (frame["grade"] < "high").sum() == 3
    for again in (frame, exact.to_polars()["table"]):
        column = dc.read(again, quasi=["grade", "age"]).column("grade")
        assert (column.kind, column.texts) == ("ordinal", ("low", "mid", "high"))


def test_dates_come_back_from_either_end_of_the_calendar() -> None:
    days = [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(9999, 12, 31)]
    times = [dt.datetime(1999, 12, 31, 23, 59, 59, 999_999), dt.datetime(1969, 12, 31, 23, 59, 59, 1)]
    far = [dt.datetime(1, 1, 1, 0, 0, 1), dt.datetime(9999, 12, 31, 23, 59, 59)]
    table = small(day=days, time=times * 2, far=far * 2)
    for release in (cut(table, "anatomy", "l-diversity(l=2)"), cut(table, "mondrian(snap=false)", "k-anonymity(k=1)")):
        exact = isinstance(frames := release.to_arrow(), dict)
        frame = frames["table"] if isinstance(frames, dict) else frames
        for name in ("day", "time", "far"):
            for column in [name] if exact else [f"{name}_lo", f"{name}_hi"]:
                assert sorted(frame.column(column).to_pylist()) == sorted(table.column(name).to_pylist())
        shown = release.to_pandas()["table"] if exact else release.to_pandas()
        assert {str(kind) for kind in shown.dtypes if "datetime" in str(kind)} == {"datetime64[ms]", "datetime64[us]"}


def test_labels_of_numbers_have_ends() -> None:
    how = {"age": {"intervals": {"widths": [10]}}}
    labelled = cut(small(age=[11, 18, 21, 28]), "cuts(values=label)", hierarchies=how, numeric=["age"])
    frame = labelled.to_arrow()
    assert isinstance(frame, pa.Table)
    texts = labelled.to_arrow("text")
    assert isinstance(texts, pa.Table)
    assert texts.column("age").to_pylist() == ["10 to 19"] * 2 + ["20 to 29"] * 2
    assert list(zip(*(frame.column(name).to_pylist() for name in ("age_lo", "age_hi")), strict=True)) == [
        *[(10, 19)] * 2,
        *[(20, 29)] * 2,
    ]


def test_sets_become_lists() -> None:
    cities = {"West": ["Bonn, old", "Essen"], "East": ["Jena", "Gera", "Suhl"]}
    table = small(city=["Bonn, old", "Essen", "Jena", "Gera", "Jena", "Suhl"])
    values = {
        "West": ["Bonn, old", "Essen"],
        "East": ["Gera", "Jena", "Suhl"],
        '{"Bonn, old", Essen}': ["Bonn, old", "Essen"],
        "{Gera, Suhl}": ["Gera", "Suhl"],
        "{Gera, Jena}": ["Gera", "Jena"],
        "{Jena, Suhl}": ["Jena", "Suhl"],
        "Jena": ["Jena"],
        "*": ["Bonn, old", "Essen", "Gera", "Jena", "Suhl"],
    }
    for release in (cut(table, hierarchies={"city": cities}), cut(table, "cuts(values=set)")):
        texts = release.to_pandas()["city"]
        lists = [sorted(each) for each in release.to_pandas(sets="lists")["city"]]
        assert lists == [values[text] for text in texts]
        assert max(map(len, lists)) > 1
        assert [sorted(each) for each in release.to_polars(sets="lists")["city"]] == lists


def test_values_without_a_name_are_not_invented(tmp_path: Path) -> None:
    release = cut(small(city=["a", "b", "c", "d"], age=[1, 1, 1, 1]), promise="k-anonymity(k=4)")
    for each in (release, dc.load(release.save(tmp_path / "release"))):
        frame = each.to_arrow(sets="lists")
        assert isinstance(frame, pa.Table)
        assert frame.column("city").to_pylist() == [None] * 4


# ------------------------------------------------------------------------------------------- lists


def ill(rows: int = 60) -> pa.Table:
    rng = np.random.default_rng(3)
    held = [
        sorted(rng.choice(["flu", "gout", "mumps"], size, replace=False).tolist()) for size in rng.integers(0, 3, rows)
    ]
    return pa.table({"age": rng.integers(20, 60, rows), "ill": held, "job": rng.choice(["smith", "clerk"], rows)})


def test_several_values_of_a_person_are_a_list_again() -> None:
    table = ill()
    frame = cut(table, promise="beta-likeness(beta=4)").to_arrow()
    assert isinstance(frame, pa.Table)
    assert frame.column_names == ["group", "age_lo", "age_hi", "ill"]
    assert sorted(map(sorted, frame.column("ill").to_pylist())) == sorted(table.column("ill").to_pylist())


def test_values_divided_among_tables_stay_apart() -> None:
    release = cut(ill(), 'codip(plan="ill_flu, ill_gout | ill_mumps")', promise="beta-likeness(beta=9)")
    frames = release.to_arrow()
    assert isinstance(frames, dict)
    assert [frame.column_names for frame in frames.values()] == [
        ["group", "age_lo", "age_hi", "ill_flu", "ill_gout"],
        ["group", "age_lo", "age_hi", "ill_mumps"],
    ]


# ------------------------------------------------------------------------------------------- names


def test_an_end_with_the_name_of_another_column_is_refused() -> None:
    release = cut(small(age=[1, 2, 3, 4], age_lo=["x", "x", "y", "y"]))
    with pytest.raises(DiscreetError, match=r"column 'age_lo', which is the name .* 'age' .*numbers='text'"):
        release.to_arrow()
    assert release.to_pandas("text").columns.tolist() == ["group", "age", "age_lo", "ill"]


@pytest.mark.parametrize(
    ("scheme", "promise"), [("perturbation", "beta-likeness(beta=1)"), ("anatomy", "l-diversity(l=2)")]
)
def test_columns_of_tables_beside_are_not_taken_for_attributes(scheme: str, promise: str) -> None:
    day = [dt.date(2020, 1, 1 + at % 3) for at in range(24)]
    table = pa.table({"value": day, "published": list(range(24)), "matrix": ["p", "q"] * 12})
    for quasi, sensitive in ((["value", "published"], "matrix"), (["published", "matrix"], "value")):
        release = dc.publish(dc.read(table, quasi=quasi, sensitive=sensitive), promise, scheme)
        frames = release.to_arrow()
        assert isinstance(frames, dict)
        for name, plain in release.tables().items():
            assert frames[name].num_rows == plain.num_rows
        if "value" in quasi:
            assert frames["table"].schema.field("value").type == pa.date32()
        if "prior" in frames:
            assert frames["prior"].schema.field("value").type == pa.string()


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_package_that_is_not_there_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    release = cut(small(age=[1, 2, 3, 4]))
    with pytest.raises(DiscreetError, match=rf"needs the package {name}.*pip install {name}"):
        getattr(release, f"to_{name}")()


def test_what_is_not_offered_is_refused() -> None:
    release = cut(small(age=[1, 2, 3, 4]))
    with pytest.raises(DiscreetError, match="numbers must be"):
        release.to_arrow("mean")  # type: ignore[arg-type]
    with pytest.raises(DiscreetError, match="sets must be"):
        release.to_arrow(sets="tuples")  # type: ignore[arg-type]
