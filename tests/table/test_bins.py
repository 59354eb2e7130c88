"""Columns in bins: labels and places by definition, edges of quantiles that are nobody's, and what is refused."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import DiscreetError
from discreet.table.bins import bin_labels, bins_of, ends, quantiles
from discreet.table.query import OneOf, Query, Range
from discreet.table.spec import TableSpec

EDGES = (0.0, 10.0, 20.5, 40.0)
PEOPLE = pa.table(
    {
        "age": [17, 42, 95, 88, 30, 61],
        "pay": [0.0, 9.99, 10.0, 20.5, 40.0, None],
        "born": ["3.2.1990", "14.5.1991", "28.6.1990", "1.1.1985", "2.2.1988", "9.9.1979"],
        "ill": list("ababab"),
    }
)


@given(
    edges=st.lists(st.integers(-50, 50), min_size=3, max_size=6, unique=True).map(sorted),
    numbers=st.lists(st.floats(-60, 60), max_size=8),
)
def test_a_number_is_in_the_bin_between_whose_edges_it_lies(edges: list[int], numbers: list[float]) -> None:
    last = len(edges) - 2
    expected = []
    for number in numbers:
        inside = [
            at
            for at, (low, high) in enumerate(pairwise(edges))
            if low <= number < high or (at == last and number == high)
        ]
        expected.append(inside[0] if inside else -1)
    floats = tuple(map(float, edges))
    assert bins_of(floats, numbers).tolist() == expected
    low, high = ends(floats)
    for number, at in zip(numbers, expected, strict=True):
        assert at < 0 or low[at] <= number <= high[at]
    assert len(bin_labels(floats)) == len(edges) - 1


@given(numbers=st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=300), parts=st.integers(2, 12))
def test_quantiles_hold_all_numbers_between_public_edges(numbers: list[int], parts: int) -> None:
    known, counts = np.unique(np.array(numbers, np.float64), return_counts=True)
    try:
        edges = quantiles("pay", known, counts, parts)
    except DiscreetError:
        assert len(known) < 3 or len(np.unique(np.quantile(numbers, np.arange(1, parts) / parts))) < parts
        return
    assert list(edges) == sorted(set(edges)) and 2 <= len(edges) - 1 <= parts
    assert (bins_of(edges, known) >= 0).all()
    texts = [f"{step}e{power}" for step in (1, 2, 5) for power in range(-3, 7)]
    assert any(all(float(edge / float(text)).is_integer() for edge in edges) for text in texts)


def test_many_numbers_are_put_into_bins_of_about_equally_many() -> None:
    pay = np.random.default_rng(1).lognormal(10.5, 0.7, 20_000).round()
    known, counts = np.unique(pay, return_counts=True)
    edges = quantiles("pay", known, counts, 8)
    held = np.bincount(bins_of(edges, pay))
    assert len(held) == 8 and held.min() > 0.7 * held.mean() and held.max() < 1.3 * held.mean()
    assert all(edge % 1000 == 0 for edge in edges)


def test_a_column_in_bins_is_ordinal_with_all_bins_as_values() -> None:
    table = dc.read(PEOPLE, quasi="age", sensitive="pay", bins={"pay": [*EDGES, 99]}, missing="value")
    column = table.column("pay")
    assert column.kind == "ordinal" and column.texts == ("(missing)", *bin_labels((*EDGES, 99.0)))
    assert [column.texts[code] for code in column.codes] == [
        *["0 to below 10"] * 2,
        "10 to below 20.5",
        "20.5 to below 40",
        "40 to 99",
        "(missing)",
    ]


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_rows_that_lack_a_number_are_withheld_and_counted_nowhere(role: str) -> None:
    roles = {"quasi": ["pay"], "sensitive": "ill"} if role == "quasi" else {"quasi": ["age"], "sensitive": "pay"}
    table = dc.read(PEOPLE, **roles, bins={"pay": EDGES}, missing="withhold")  # type: ignore[arg-type]
    assert table.unusable is not None and table.unusable.tolist() == [5]
    assert (
        Query(Range("pay", None, 40)).count(table) == 5 and Query(Range("pay", 0, 10, high_open=True)).count(table) == 2
    )


def test_limits_come_before_bins() -> None:
    table = dc.read(
        PEOPLE, quasi="age", sensitive="ill", bins={"age": "20,40,90"}, top={"age": 90}, bottom={"age": "20"}
    )
    assert np.bincount(table.column("age").codes).tolist() == [2, 4]
    with pytest.raises(DiscreetError, match="with 90 for all numbers above it, so nothing tells these apart"):
        Query(Range("age", 95)).count(table)


@pytest.mark.parametrize(
    "condition",
    [
        Range("pay", None, 10),
        Range("pay", 5),
        Range("pay", 10, low_open=True),
        OneOf("pay", (10,)),
        OneOf("pay", (40,)),
    ],
)
def test_parts_of_bins_are_refused(condition: Any) -> None:
    table = dc.read(PEOPLE, quasi="age", sensitive="pay", bins={"pay": EDGES}, missing="value")
    with pytest.raises(DiscreetError, match="'pay' is published in bins, and the condition on it admits a part of"):
        Query(condition).count(table)


def test_numbers_of_no_bin_are_asked_in_vain() -> None:
    table = dc.read(PEOPLE, quasi="age", sensitive="pay", bins={"pay": EDGES}, missing="value")
    assert [Query(each).count(table) for each in (Range("pay", 50), OneOf("pay", (-5,)), Range("pay", -9, 900))] == [
        0,
        0,
        5,
    ]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            "0,10",
            "the bins '0,10' of column 'pay' are not three edges or more, nor quantiles:N; say for example bins={",
        ),
        ("0,ten,20", "the bins '0,ten,20' of column 'pay' are not three edges"),
        ("quantiles:1", "are not three edges or more"),
        (7, "the bins 7 of column 'pay' are not"),
        ([0, True, 5], "are not three edges or more"),
        ("0,1,1e999", "are not three edges or more"),
        ([0, 20, 10], "the edges of the bins of column 'pay' do not ascend: 10 follows 20"),
        ("0,10,10", "the edges of the bins of column 'pay' do not ascend: 10 follows 10"),
    ],
)
def test_what_are_no_bins_is_refused(given: Any, told: str) -> None:
    with pytest.raises(DiscreetError, match=re.escape(told)):
        TableSpec(bins={"pay": given})


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"round": {"pay": 5}}, "column 'pay' has both bins and a number to round to; leave one of them out"),
        ({"domains": {"pay": (0, 50)}}, "column 'pay' has both bins and a domain; leave one of them out"),
        ({"hierarchies": {"pay": {"intervals": {}}}}, "column 'pay' has both bins and a hierarchy"),
        ({"ordinal": "pay"}, "column 'pay' has both bins and another kind than numeric"),
        (
            {"bins": {"pay": "1,10,40"}},
            "'pay' holds 0 in row 1, outside its bins, which reach from 1 to 40; add an edge",
        ),
        (
            {"bins": {"ill": "1,10,40"}, "quasi": ["age", "ill"]},
            "'ill' is categorical, and only numbers are published in",
        ),
        (
            {"bins": {"born": "1,10,40"}, "quasi": ["born"], "dates": {"born": "%d.%m.%Y"}},
            "'born' has both bins and a date",
        ),
        ({"bins": {"born": "1,10,40"}, "quasi": ["age", "born"]}, "'born' is categorical|'born' holds dates"),
        ({"bins": {"pay": "quantiles:900"}, "sensitive": "ill", "keep": "pay"}, "'pay' is published unchanged"),
    ],
)
def test_bins_that_do_not_suit_a_column_are_refused(how: dict[str, Any], told: str) -> None:
    how = {"quasi": ["age"], "sensitive": "pay", "bins": {"pay": EDGES}, "missing": "value", **how}
    with pytest.raises(DiscreetError, match=told):
        dc.read(PEOPLE, **how)


def test_quantiles_of_too_few_numbers_are_refused() -> None:
    rows = pa.table({"age": [1, 2, 1], "ill": ["a", "b", "a"]})
    with pytest.raises(DiscreetError, match="'age' has too few numbers, or too many of one, for 4 bins"):
        dc.read(rows, quasi="age", sensitive="ill", bins={"age": "quantiles:4"})
