"""Numbers that differ stay different: digits that a floating-point number cannot hold are never dropped in silence."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.table.read import read

ONE, TWO = "0.1234567890123456789", "0.1234567890123456780"
"""One double for both."""


def dose(source: Any, **more: Any) -> Any:
    return read(source, quasi=["age"], sensitive="dose", **more).column("dose")


def csv(path: Path, *doses: str) -> Path:
    file = path / "people.csv"
    file.write_text("age,dose\n" + "".join(f"{20 + at},{text}\n" for at, text in enumerate(doses)))
    return file


def arrow(doses: pa.Array) -> pa.Table:
    return pa.table({"age": list(range(len(doses))), "dose": doses})


def test_csv_texts_that_would_become_one_number_are_names(tmp_path: Path) -> None:
    column = dose(csv(tmp_path, ONE, TWO, "0.5"))
    assert column.kind == "categorical"
    assert column.texts == (TWO, ONE, "0.5")


def test_such_texts_declared_numeric_are_refused(tmp_path: Path) -> None:
    with pytest.raises(dc.DiscreetError) as refusal:
        dose(csv(tmp_path, "0.5", ONE, TWO), numeric=["dose"])
    sentence = str(refusal.value)
    assert "'dose'" in sentence and f"{ONE!r} in row 2" in sentence and f"{TWO!r} in row 3" in sentence
    assert "declare the column categorical" in sentence


@pytest.mark.parametrize(
    "texts",
    [
        ("1", "1.0", "1.00"),
        ("0.50", ".5", "5e-1"),
        ("100", "1e2", "+100"),
        ("0.30000000000000004", "0.300000000000000040"),
        ("-0", "0", "0.0000000000000000"),
    ],
)
def test_one_number_written_in_many_ways_is_one_number(tmp_path: Path, texts: tuple[str, ...]) -> None:
    column = dose(csv(tmp_path, *texts))
    assert column.kind == "numeric" and len(column.values) == 1


def test_many_digits_that_stay_apart_are_numbers(tmp_path: Path) -> None:
    column = dose(csv(tmp_path, "0.12345678901234567890", "0.22345678901234567890"))
    assert column.kind == "numeric" and len(column.values) == 2


@pytest.mark.parametrize("texts", [("1e-400", "0"), ("5e-324", "4e-324"), ("1e-99999999999999999999", "0")])
def test_numbers_too_small_to_tell_apart_are_names(tmp_path: Path, texts: tuple[str, ...]) -> None:
    assert dose(csv(tmp_path, *texts)).kind == "categorical"


@pytest.mark.parametrize("kind", [pa.decimal128(30, 20), pa.decimal256(60, 20)])
def test_arrow_decimals_keep_their_digits(tmp_path: Path, kind: pa.DataType) -> None:
    close = pa.array([Decimal(ONE), Decimal(TWO), None], kind)
    pq.write_table(arrow(close), tmp_path / "people.parquet")
    for source in (arrow(close), tmp_path / "people.parquet"):
        column = dose(source)
        assert column.kind == "categorical" and len(column.values) == 3
        with pytest.raises(dc.DiscreetError, match="would become the same"):
            dose(source, numeric=["dose"], missing="value")


def test_arrow_decimals_that_fit_are_numbers() -> None:
    column = dose(arrow(pa.array([Decimal("0.10"), Decimal("2.50"), Decimal("0.10")], pa.decimal128(20, 2))))
    assert column.kind == "numeric" and column.values.tolist() == [0.1, 2.5]


def test_whole_arrow_decimals_beyond_doubles_are_names() -> None:
    column = dose(arrow(pa.array([Decimal(2**60), Decimal(2**60 + 1)], pa.decimal128(30, 0))))
    assert column.kind == "categorical" and column.texts == (str(2**60), str(2**60 + 1))


@pytest.mark.parametrize("whole", [2**53 + 1, 10**30])
def test_whole_numbers_beyond_doubles_are_noted(tmp_path: Path, whole: int) -> None:
    sources: list[Any] = [csv(tmp_path, "1", str(whole), "-2")]
    sources += [arrow(pa.array([1, whole, 2]))] if whole < 2**63 else []
    for source in sources:
        table = read(source, quasi=["age"], sensitive="dose")
        assert table.column("dose").kind == "categorical"
        (note,) = [str(one) for one in table.notes if "dose" in one.columns]
        assert f"column 'dose' holds whole numbers beyond 2^53, such as {whole}, which are read as names" in note
        assert read(source, quasi=["age"], sensitive="dose", categorical=["dose"]).notes == table.notes[1:]


def test_too_many_digits_are_noted(tmp_path: Path) -> None:
    (note,) = [str(one) for one in read(csv(tmp_path, ONE, TWO), quasi=["dose"]).notes]
    assert f"differ in more digits than a number can hold, such as {ONE}" in note and "round them" in note


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (("1,000", "12,500", "7"), "with a comma between thousands, such as 1,000"),
        (("1,000,000", "2,500.75"), "with a comma between thousands, such as 1,000,000"),
        (("1,5", "12,500", "7"), "with a decimal comma, such as 1,5"),
        (("0,123", "1234,500"), "with a decimal comma"),
        (("0,123", "0,456"), "with a decimal comma"),
    ],
)
def test_commas_are_told_apart(tmp_path: Path, cells: tuple[str, ...], told: str) -> None:
    file = tmp_path / "people.csv"
    file.write_text("dose;sex\n" + "".join(f"{cell};f\n" for cell in cells))
    (note,) = [str(one) for one in read(file, quasi=["dose"]).notes]
    assert told in note


def test_decimals_and_fractions_of_a_frame_keep_their_digits() -> None:
    def frame(*doses: Any) -> pd.DataFrame:
        return pd.DataFrame({"age": range(len(doses)), "dose": pd.Series(doses, dtype=object)})

    column = dose(frame(Decimal(ONE), Decimal(TWO), Decimal("1.5"), Decimal("1.50")))
    assert column.kind == "categorical" and len(column.values) == 3, "1.5 and 1.50 are one number"
    assert dose(frame(Fraction(1, 3), 1 / 3)).kind == "categorical"
    assert dose(frame(Decimal("0.1"), 2, 0.5)).values.tolist() == [0.1, 0.5, 2.0]
    missing = dose(frame(Decimal("NaN"), Decimal("1")), missing="value")
    assert missing.kind == "numeric" and missing.missing == 0


def test_a_sensitive_value_is_published_as_it_was(tmp_path: Path) -> None:
    doses = [ONE, TWO, "0.5", "0.25"] * 6
    table = read(csv(tmp_path, *doses), quasi=["age"], sensitive="dose")
    release = dc.publish(table, "l-diversity(l=2)")
    release.save(tmp_path / "release")
    lines = (tmp_path / "release" / "table.csv").read_text().splitlines()[1:]
    assert sorted(line.rsplit(",", 1)[1] for line in lines) == sorted(doses)
    assert dc.audit(tmp_path / "release", table).holds


@pytest.mark.parametrize(("leaf", "other"), [(ONE, TWO), (str(10**20 + 1), str(10**20 + 2))])
def test_a_value_is_not_taken_for_a_leaf_that_is_another_number(tmp_path: Path, leaf: str, other: str) -> None:
    tree = {"small": [leaf, "1"], "large": ["2", "3"]}
    assert dose(csv(tmp_path, leaf, "2.0"), hierarchies={"dose": tree}).kind == "categorical"
    with pytest.raises(dc.DiscreetError, match="not a leaf of its hierarchy"):
        dose(csv(tmp_path, other, "2"), hierarchies={"dose": tree})
