"""Cells of floors, against definitions with the standard library; and floors that cannot be."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import DiscreetError
from discreet.table.date_numbers import written
from discreet.table.floors import CALENDAR, Cells
from discreet.table.spec import TableSpec

START = datetime.date(1970, 1, 1)


@given(
    digits=st.integers(0, 6), width=st.integers(1, 10**6), at=st.integers(-(10**9), 10**9), place=st.integers(-999, 999)
)
def test_cells_of_numbers_are_those_of_exact_decimals(digits: int, width: int, at: int, place: int) -> None:
    one = Decimal(1).scaleb(-digits)
    cells = Cells("number", f"{width * one:f}")
    number = float(at * one)
    assert float(cells.places(number)) == at // width
    assert float(cells.first(place)) == float(place * width * one)
    assert float(cells.last(place)) == float((place * width + width - 1) * one)
    assert cells.between(float(cells.first(place)), float(cells.last(place + 2))) == (place, place + 2)


@given(day=st.dates(datetime.date(1, 1, 1), datetime.date(9998, 12, 31)), unit=st.sampled_from(sorted(CALENDAR)))
def test_cells_of_dates_are_those_of_the_calendar(day: datetime.date, unit: str) -> None:
    cells, months = Cells("date", unit), CALENDAR[unit]
    month = (day.month - 1) // months * months + 1
    first = datetime.date(day.year, month, 1)
    last = datetime.date(day.year + (month + months > 12), (month + months - 1) % 12 + 1, 1)
    place = float(cells.places((day - START).days))
    assert written(place, cells) == f"[{first}, {last - datetime.timedelta(days=1)}]"
    assert cells.between((first - START).days, (last - START).days - 1) == (place, place)


def test_missing_numbers_stay_missing() -> None:
    for cells in (Cells("number", "5"), Cells("date", "year")):
        assert np.isnan(cells.places([np.nan])).all() and np.isnan(cells.first([np.nan])).all()
        assert np.isnan(cells.last([np.nan])).all()


PEOPLE = pa.table(
    {
        "age": [31.5, 36.0, 40.2],
        "born": ["3.2.1990", "4.5.1991", "28.6.1990"],
        "seen": ["2021-03-07T14:05", "2021-03-07T23:59", "2021-04-01T00:00"],
        "zip": ["53703", "53715", "60601"],
        "ill": ["a", "b", "a"],
    }
)


def coarse(floor: dict[str, Any], **how: Any) -> list[tuple[str, ...]]:
    table = dc.read(PEOPLE, quasi=list(floor), sensitive="ill", floor=floor, **how)
    return [tuple(column.texts[code] for code in column.codes) for column in table.quasi]


def test_columns_are_coarse_once_they_are_read() -> None:
    assert coarse({"age": "5.0"}) == [("[30, 34.9]", "[35, 39.9]", "[40, 44.9]")]
    assert coarse({"born": "quarter"}, dates={"born": "%d.%m.%Y"}) == [
        ("[1990-01-01, 1990-03-31]", "[1991-04-01, 1991-06-30]", "[1990-04-01, 1990-06-30]")
    ]
    assert coarse({"seen": "month"}) == [("[2021-03-01, 2021-03-31]",) * 2 + ("[2021-04-01, 2021-04-30]",)]
    assert coarse({"zip": 3}, categorical=["zip"]) == [("537", "537", "606")]
    assert coarse({"zip": 4}, hierarchies={"zip": {"prefix": {"keep": [3]}}}) == [("5370", "5371", "6060")]


def test_a_declared_domain_is_made_of_whole_cells() -> None:
    table = dc.read(PEOPLE, quasi="age", sensitive="ill", floor={"age": "5.0"}, domains={"age": (12, 91)})
    assert table.column("age").domain == (2, 18)
    entry = dc.publish(table, "l-diversity(l=1.5)", "baseline").manifest["attributes"][0]
    assert entry["domain"] == [10, 94.9] and entry["floor"] == "5.0"


def test_further_decimals_are_cut_off(tmp_path: Path) -> None:
    ages = pa.table({"age": [39.7, 35.0, 34.999999999, -0.5, 40.0, 12.25], "ill": list("ababab")})
    table = dc.read(ages, quasi="age", sensitive="ill", floor={"age": 5})
    home = dc.publish(table, "l-diversity(l=2)", "cuts(descriptions=exact)").save(tmp_path / "r")
    found = sorted(dc.load(home).tables()["table"].column("age").to_pylist())
    assert found == ["[-5, -1]", "[10, 14]", "[30, 34]", "[35, 39]", "[35, 39]", "[40, 44]"]
    assert dc.audit(home, table).holds


@pytest.mark.parametrize(
    ("floor", "how", "told"),
    [
        ({"age": "month"}, {}, "'age' holds numbers, of which a floor is the width of its cells"),
        ({"seen": 5}, {}, "'seen' holds dates, of which a floor is one of month, quarter, year"),
        ({"ill": "2.5"}, {"sensitive": "zip"}, "'ill' holds names or codes, of which the floor says how many"),
        ({"zip": 3}, {"ordinal": ["zip"]}, "'zip' is ordinal, and its floor would cut off the ends"),
        ({"age": "5.0"}, {"numeric": ["age"], "hierarchies": {"age": {"intervals": {}}}}, "both a floor and a hier"),
    ],
)
def test_floors_that_a_column_does_not_have_are_refused(floor: dict[str, Any], how: dict[str, Any], told: str) -> None:
    how = {"sensitive": "ill", **how}
    with pytest.raises(DiscreetError, match=told):
        dc.read(PEOPLE, quasi=list(floor), floor=floor, **how)


@pytest.mark.parametrize("floor", [0, -5, True, None, "five", "1e3", "0.0", "Month", [5], float("inf"), "5.0000001"])
def test_what_is_no_floor_is_refused(floor: Any) -> None:
    with pytest.raises(DiscreetError, match="of column 'age' is neither a width nor"):
        TableSpec(floor={"age": floor})


def test_floors_are_of_quasi_identifiers() -> None:
    with pytest.raises(DiscreetError, match="a floor is given for column 'age', which is not a quasi-identifier"):
        dc.read(PEOPLE, quasi="zip", sensitive="age", floor={"age": 5})
    with pytest.raises(DiscreetError, match="which is not published"):
        dc.read(PEOPLE, quasi="zip", sensitive="ill", floor={"age": 5})
