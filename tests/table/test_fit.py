"""Rounded and limited numbers, against decimals of the standard library; and what cannot be done to a column."""

from __future__ import annotations

import re
from decimal import ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.arguments import speaking_flags
from discreet.errors import DiscreetError
from discreet.table.fit import Fit
from discreet.table.query import OneOf, Query, Range
from discreet.table.spec import TableSpec

PEOPLE = pa.table(
    {
        "age": [17, 42, 95, 88, 30, 61],
        "pay": [12.25, -3.0, 1049.5, 75.0, 2500.0, 0.0],
        "born": ["3.2.1990", "14.5.1991", "28.6.1990", "1.1.1985", "2.2.1988", "9.9.1979"],
        "sex": list("fmfmfm"),
        "ill": list("ababab"),
    }
)


def nearest(number: Decimal, step: Decimal) -> Decimal:
    """The nearest multiple, of two the larger."""
    return (number / step + Decimal("0.5")).quantize(Decimal(1), ROUND_FLOOR) * step


@given(
    at=st.integers(-(10**8), 10**8),
    digits=st.integers(0, 4),
    step=st.integers(1, 10**5),
    places=st.integers(0, 4),
    limits=st.lists(st.integers(-(10**6), 10**6), max_size=2, unique=True),
)
def test_numbers_are_those_of_exact_decimals(at: int, digits: int, step: int, places: int, limits: list[int]) -> None:
    number, multiple = Decimal(at).scaleb(-digits), Decimal(step).scaleb(-places)
    said = {"round": f"{multiple:f}", **dict(zip(("bottom", "top"), sorted(limits), strict=False))}
    fit = Fit.of("pay", said)
    assert fit is not None and Fit.of("pay", fit.as_dict()) == fit
    expected = float(nearest(number, multiple))
    expected = min(max(expected, said.get("bottom", -np.inf)), said.get("top", np.inf))  # type: ignore[arg-type,type-var]
    assert fit.numbers("pay", np.array([float(number)])).tolist() == [expected]


def test_missing_numbers_stay_missing_and_zero_has_no_sign() -> None:
    found = Fit(round=5.0, bottom=-0.0).numbers("pay", np.array([np.nan, -2.0, -9.0, 7.6]))
    np.testing.assert_array_equal(found, [np.nan, 0.0, 0.0, 10.0])
    assert not np.signbit(found[1:3]).any()


def test_a_table_has_the_fitted_numbers_only() -> None:
    how: dict[str, Any] = {"top": {"age": 90, "pay": "1000"}, "bottom": {"pay": 0}, "round": {"pay": 10}}
    table = dc.read(PEOPLE, quasi="age", sensitive="pay", domains={"age": (0, 120)}, **how)
    age, pay = table.column("age"), table.column("pay")
    assert age.values[age.codes].tolist() == [17, 42, 90, 88, 30, 61] and age.domain == (0, 90)
    assert pay.values[pay.codes].tolist() == [10, 0, 1000, 80, 1000, 0] and pay.domain == (0, 1000)
    assert (Query(Range("age", 90)).count(table), Query(OneOf("pay", (1000,))).count(table)) == (1, 2)


def test_floors_are_of_fitted_numbers() -> None:
    table = dc.read(PEOPLE, quasi="age", sensitive="ill", top={"age": 85}, floor={"age": 10})
    assert [table.column("age").texts[code] for code in table.column("age").codes][2:4] == ["[80, 89]"] * 2
    with pytest.raises(DiscreetError, match="with 85 for all numbers above it, so nothing tells these apart"):
        Query(Range("age", 80, 89)).count(table)
    assert Query(Range("age", 80)).count(table) == 2


@pytest.mark.parametrize(
    "condition",
    [
        Range("pay", None, 1001),
        Range("pay", 1000, low_open=True),
        Range("pay", -1),
        Range("pay", None, 0, high_open=True),
        OneOf("pay", (5, 1001)),
        Range("pay", "-0.5"),
    ],
)
def test_what_lies_beyond_a_limit_cannot_be_asked(condition: Any) -> None:
    table = dc.read(PEOPLE, quasi="age", sensitive="pay", top={"pay": 1000}, bottom={"pay": 0})
    side = "1000 for all numbers above" if "100" in str(condition) else "0 for all numbers below"
    with pytest.raises(DiscreetError, match=f"with {side} it, so nothing tells these apart; ask for all of them"):
        Query(condition).count(table)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"top": {"wage": 5}}, "the table has no column 'wage'; did you mean 'age'"),
        (
            {"top": {"sex": 5}},
            "'sex' is categorical, and only numbers are published with 5 for all numbers above it;",
        ),
        (
            {"top": {"born": 5}, "dates": {"born": "%d.%m.%Y"}},
            "'born' holds dates, and only numbers are published with 5 for",
        ),
        ({"round": {"age": 5}}, "'age' is a quasi-identifier, .* say floor={'age': '5'} instead of round"),
        (
            {"bottom": {"note": 5}, "keep": "note"},
            "'note' is published unchanged, so not with 5 for all numbers below it",
        ),
        ({"top": {"ill": 5}}, "or a number to round to is given for column 'ill', which is not published"),
    ],
)
def test_fits_that_do_not_suit_a_column_are_refused(how: dict[str, Any], told: str) -> None:
    people = PEOPLE.append_column("note", PEOPLE["pay"])
    with pytest.raises(DiscreetError, match=told):
        dc.read(people, quasi=["age", "sex", "born"], sensitive="pay", **how)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"top": {"pay": "much"}}, "'much' for column 'pay' is not a number; say for example top={'pay': 5}"),
        ({"top": {"pay": True}}, "True for column 'pay' is not a number"),
        ({"bottom": {"pay": float("nan")}}, "nan for column 'pay' is not a number"),
        ({"top": {"pay": "1e400"}}, "'1e400' for column 'pay' is not a number"),
        ({"round": {"pay": 0}}, "column 'pay' cannot be rounded to multiples of 0; give a number above 0"),
        ({"round": {"pay": "0.0000001"}}, "with at most six decimals, as in round={'pay': 5}"),
        ({"top": {"pay": 5}, "bottom": {"pay": 5}}, "the top 5 of column 'pay' is not above its bottom 5"),
        ({"top": 5}, "5 does not say which column has which largest number; say for example top={'age': 90}"),
    ],
)
def test_what_says_nothing_of_numbers_is_refused(how: dict[str, Any], told: str) -> None:
    with pytest.raises(DiscreetError, match=re.escape(told)):
        TableSpec(**how)


def test_numbers_too_large_to_be_rounded_are_refused() -> None:
    rows = pa.table({"age": [1, 2], "pay": [1e300, 5.0]})
    with pytest.raises(DiscreetError, match="'pay' holds numbers too large to be rounded to multiples of 0"):
        dc.read(rows, quasi="age", sensitive="pay", round={"pay": 0.5})


def test_messages_name_flags_where_flags_are_spoken() -> None:
    with pytest.raises(DiscreetError, match="say --floor age=5 instead of --round"), speaking_flags():
        dc.read(PEOPLE, quasi="age", sensitive="pay", round={"age": 5})
