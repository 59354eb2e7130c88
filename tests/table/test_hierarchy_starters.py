"""Hierarchies to start from: balanced groups, round bands, prefixes and the calendar, each read back as it was made."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.command.interface import STARTERS
from discreet.table.hierarchy_starters import KINDS, Starter, parts
from naive.parts import heaviest_share


def made(values: Any, kind: Any = None, name: str = "x", **how: Any) -> Starter:
    return dc.init_hierarchy(pa.table({name: values}), name, kind, **how).starter


def test_the_command_line_knows_all_kinds() -> None:
    assert STARTERS == KINDS


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30), st.integers(1, 9))
def test_parts_are_balanced(weights: list[int], most: int) -> None:
    found = parts(weights, 0, len(weights), most)
    assert len(found) == min(most, len(weights))
    assert [low for low, _ in found] == [0, *(high for _, high in found[:-1])] and found[-1][1] == len(weights)
    assert all(low < high for low, high in found)
    share = heaviest_share(weights, len(found))
    for low, high in found:
        assert sum(min(weight, share) for weight in weights[low:high]) <= 2 * share + 1e-9


@given(st.integers(1, 200), st.integers(1, 9))
def test_parts_of_equal_weights_differ_by_one_at_most(number: int, most: int) -> None:
    sizes = [high - low for low, high in parts([3] * number, 0, number, most)]
    assert max(sizes) - min(sizes) <= 1


def test_a_name_of_nearly_all_rows_does_not_put_the_others_together() -> None:
    names = [f"n{at:02}" for at in range(27)]
    tree = made([*names, *["n30"] * 1000], "balanced").hierarchy
    sizes = [int(size) for size in tree.node_sizes(1)]
    assert len(sizes) == 6 and max(sizes) <= 7


@given(st.sets(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6), min_size=1, max_size=40))
def test_any_names_are_read_back(tmp_path_factory: pytest.TempPathFactory, names: set[str]) -> None:
    values = [name for name in names if name.strip() not in ("", "*", "(not named)", "(missing)")]
    try:
        starter = made([*values, "a", "b to c", "a to b"], "balanced")
    except dc.DiscreetError as fault:
        assert "cannot be written" in str(fault)
        return
    table = pa.table({"x": [*values, "a", "b to c", "a to b"], "s": ["t"] * (len(values) + 3)})
    file = tmp_path_factory.mktemp("names") / "x.csv"
    file.write_bytes(starter.text.encode())
    again = dc.read(table, quasi="x", sensitive="s", hierarchies={"x": file}).column("x").hierarchy
    assert again is not None and again.rows() == starter.hierarchy.rows()


def test_ten_thousand_names_have_three_levels(tmp_path: Path) -> None:
    names = [f"name {at:05}" for at in range(10_000)]
    file = tmp_path / "x.csv"
    tree = made(names, file=str(file)).hierarchy
    assert [len(labels) for labels in tree.labels] == [10_000, 1_000, 100, 10, 1]
    assert dc.Hierarchy.of("x", file).rows() == tree.rows()


def test_few_names_stay_below_the_root() -> None:
    assert made(["a"]).hierarchy.rows() == [("a", "*")]
    assert made(["a", "b", "c", None]).hierarchy.height == 1
    assert made(["a", "b", "c", "d"]).hierarchy.labels[1] == ("a to b", "c to d")


@pytest.mark.parametrize(
    ("numbers", "widths"),
    [
        ([16, 93], [5, 10, 20]),
        ([0, 200_000], [10_000, 20_000, 40_000]),
        ([1, 13], [2, 4, 8]),
        ([7], [2, 4]),
        ([0, 3], [2]),
        ([0.0, 1.5], [0.1, 0.2, 0.4]),
        ([-1e-5, 1e-5], [1e-6, 2e-6, 4e-6]),
        ([-40, 40], [5, 10, 20]),
    ],
)
def test_bands_have_round_widths(numbers: list[float], widths: list[float]) -> None:
    starter = made(numbers, "ranges")
    assert starter.recipe == {"intervals": {"widths": widths, "origin": 0}}
    assert all(coarse % fine < 1e-9 * fine or fine - coarse % fine < 1e-9 for fine, coarse in pairwise(widths))


def test_prefixes_keep_what_tells_codes_apart() -> None:
    assert made(["53703", "53711", "53719"]).recipe == {"prefix": {"keep": [4, 3]}}
    assert made(["DE211", "DE212", "DE300", "FR101"]).recipe == {"prefix": {"keep": [4, 2]}}
    assert made([f"{at:06b}" for at in range(64)], "prefixes").recipe == {"prefix": {"keep": [5, 4, 2, 1]}}
    assert made([53703, 53711], name="zip").kind == "prefixes" and made([53703, 53711], name="pay").kind == "ranges"
    assert made(["E11.9", "E11.65", "I10"]).kind == "prefixes"
    assert made(["a 1", "a 2"]).kind == "balanced"


@pytest.mark.parametrize(
    ("texts", "leaf"),
    [
        (["2021-03-07", "2022-12-31"], "2021-01-02"),
        (["07.03.2021", "31.12.2022"], "02.01.2021"),
        (["7.3.2021", "31.12.2022"], "2.1.2021"),
        (["3/27/2021", "12/31/2022"], "1/2/2021"),
    ],
)
def test_a_calendar_has_all_days_as_the_column_writes_them(texts: list[str], leaf: str) -> None:
    tree = made(texts).hierarchy
    assert [len(labels) for labels in tree.labels] == [730, 24, 8, 2, 1]
    assert tree.rows()[1] == (leaf, "2021-01", "2021-Q1", "2021", "*")
    assert set(texts) < set(tree.leaves)


def test_many_years_have_decades() -> None:
    tree = made(["1990-03-07", "2010-03-08"]).hierarchy
    assert tree.labels[4:] == (("1990s", "2000s", "2010s"), ("*",)) and len(tree.leaves) == 7670


def test_days_that_cannot_all_be_listed_are_those_of_the_column() -> None:
    for texts in (["1821-03-07", "2021-03-08"], ["07.03.2021", "7.4.2021", "31.12.2022"]):
        assert set(made(texts, "dates").hierarchy.leaves) == set(texts)


def test_times_have_days_above_them() -> None:
    rows = made(["2021-03-07T14:05", "2021-03-07T15:00", "2021-11-30T00:00"]).hierarchy.rows()
    assert rows[0] == ("2021-03-07T14:05", "2021-03-07", "2021-03", "2021-Q1", "2021", "*")
    assert rows[2][3] == "2021-Q4"


def test_dates_whose_order_is_unclear_need_their_form() -> None:
    texts = ["03/02/1971", "04/05/1971"]
    assert made(texts).kind == "balanced"
    with pytest.raises(dc.DiscreetError, match="recognised; say their form"):
        made(texts, "dates")
    with pytest.raises(dc.DiscreetError, match="day or the month may come first"):
        made(texts, "dates", reading={"dates": {"x": None}})
    tree = made(texts, reading={"dates": {"x": "%d/%m/%Y"}}).hierarchy
    assert next(row for row in tree.rows() if row[0] == "03/02/1971")[1] == "1971-02"


@pytest.mark.parametrize(
    ("values", "kind", "sentence"),
    [
        ([None, None], None, "holds no value"),
        (["(missing)"], None, "holds no value"),
        (["*", "a"], None, "stands for 'any value'"),
        (["(not named)", "a"], None, "rename it in the data"),
        ([["a"], ["b"]], None, "holds lists"),
        (["a", "b"], "prefixes", "begin alike"),
        (["a", "7"], "ranges", "'a', which is not a number"),
        (["a", "b"], "dates", "no dates that are recognised"),
        (["a", "b"], "alphabet", "kind"),
        ([-1e308, 1e308], "ranges", "too large or too small"),
        ([float("inf"), 1.0], "ranges", "finite"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_sentence(values: list[Any], kind: Any, sentence: str) -> None:
    with pytest.raises(dc.DiscreetError, match=sentence):
        made(values, kind)
