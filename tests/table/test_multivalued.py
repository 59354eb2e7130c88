"""Persons with several values of a sensitive attribute: each value becomes an attribute, and nothing is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.errors import DiscreetError
from discreet.releases.attributes import Attribute, describe
from discreet.releases.columns import with_lists
from discreet.table.table import Table

LISTS = [["flu", "gout"], [], ["gout"], None, ["a;b", "flu"]]
AGES = [30, 31, 32, 33, 34]


def held(table: Table) -> list[set[str]]:
    """Per row: the values that its derived attributes say yes to."""
    found: list[set[str]] = [set() for _ in range(table.rows)]
    for column in table.sensitive:
        assert column.derived is not None and column.name == column.derived.name
        for row, code in enumerate(column.codes):
            if column.texts[code] == "yes":
                found[row].add(column.derived.value)
    return found


def frames(folder: Path) -> dict[str, Any]:
    arrow = pa.table({"age": AGES, "ill": LISTS})
    pq.write_table(arrow, folder / "lists.parquet")
    return {
        "Arrow": arrow,
        "Parquet": folder / "lists.parquet",
        "large lists": arrow.set_column(1, "ill", arrow["ill"].cast(pa.large_list(pa.string()))),
        "polars": pl.DataFrame({"age": AGES, "ill": LISTS}),
        "pandas": pd.DataFrame({"age": AGES, "ill": LISTS}),
        "sets": pd.DataFrame({"age": AGES, "ill": [None if each is None else set(each) for each in LISTS]}),
    }


@pytest.mark.parametrize("kind", ["Arrow", "Parquet", "large lists", "polars", "pandas", "sets"])
def test_columns_of_lists(kind: str, tmp_path: Path) -> None:
    table = dc.read(frames(tmp_path)[kind], quasi=["age"], sensitive=["ill"])
    assert held(table) == [set(each or ()) for each in LISTS]
    assert [column.name for column in table.sensitive] == ["ill_a;b", "ill_flu", "ill_gout"]


def test_a_separator(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('age,ill\n30,"flu; gout"\n31,\n32,gout;\n33," ; "\n34,flu;flu\n')
    table = dc.read(tmp_path / "t.csv", quasi=["age"], sensitive="ill", lists={"ill": ";"})
    assert held(table) == [{"flu", "gout"}, set(), {"gout"}, set(), {"flu"}]


def test_a_second_table(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,age\n7,30\n8,31\n09,32\n")
    (tmp_path / "visits.csv").write_text('id,ill\n8,flu\n7,"gout; old"\n8,gout\n8,flu\n7,\n')
    join = {"ill": (tmp_path / "visits.csv", "id")}
    table = dc.read(tmp_path / "people.csv", quasi=["age"], sensitive=["ill"], join=join)
    assert held(table) == [{"gout; old"}, {"flu", "gout"}, set()]


@pytest.mark.parametrize("seed", range(20))
def test_random_lists_come_back(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = [f"v{number}" for number in range(int(random.integers(1, 7)))]
    cells = [[value for value in values if random.random() < 0.4] for _ in range(30)]
    cells[0] = values
    people = pa.table({"age": random.integers(0, 9, 30), "ill": pa.array(cells, pa.list_(pa.string()))})
    table = dc.read(people, quasi=["age"], sensitive=["ill"])
    texts = {
        column.name: pa.array([column.texts[code] for code in column.codes])
        for column in (*table.quasi, *table.sensitive)
    }
    attributes = [describe(column, "sensitive") for column in table.sensitive]
    back = with_lists(pa.table(texts), attributes)
    assert back.column_names == ["age", "ill"]
    assert [set(each) for each in back["ill"].to_pylist()] == [set(each) for each in cells]


def test_the_manifest_says_what_is_derived() -> None:
    table = dc.read(pa.table({"age": AGES, "ill": LISTS}), quasi=["age"], sensitive=["ill"])
    entry = describe(table.sensitive[0], "sensitive").as_dict()
    assert entry["derived"] == {"attribute": "ill", "value": "a;b"}
    back = Attribute.from_dict(entry)
    assert back.derived == table.sensitive[0].derived
    for wrong in ({"attribute": "ill"}, {"attribute": "ill", "value": "flu"}, "ill", {**entry["derived"], "note": "x"}):
        with pytest.raises(DiscreetError, match="cannot be understood"):
            Attribute.from_dict({**entry, "derived": wrong})


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"ill": ["a", "b"]}, {"sensitive": "ill", "lists": {"ill": ""}}, "'ill' holds single values, not lists"),
    ({"ill": ["", None]}, {"sensitive": "ill", "lists": {"ill": ";"}}, "'ill' lists no value in any row"),
    ({"ill": ["a", "b"], "x": ["a;b", "b"]}, {"sensitive": "ill", "lists": {"x": ";"}}, "'x' is not one"),
    ({"ill": [["a"], ["b"]]}, {"sensitive": "ill", "categorical": ["ill"], "lists": {"ill": ";"}}, "a kind, a domain"),
    ({"ill": [[["a"]], [["b"]]]}, {"sensitive": "ill"}, "holds values of the type list of list"),
    (
        {"ill": [["a"], ["b"]], "ill_a": ["x", "y"]},
        {"sensitive": ["ill", "ill_a"]},
        "attribute 'ill_a', which exist",
    ),
    (
        {"ill": [["a"], ["b"]]},
        {"sensitive": None, "keep": ["ill"]},
        "only sensitive attributes may have several values",
    ),
    ({"ill": [[str(n) for n in range(300)], []]}, {"sensitive": "ill"}, "lists 300 different values"),
    (
        {"ill": ["a", "b"]},
        {"sensitive": "ill", "join": {"ill": (None, "age")}, "lists": {"ill": ";"}},
        "from its cells or from a second table",
    ),
]


@pytest.mark.parametrize(("data", "given", "sentence"), REFUSED, ids=[each[2] for each in REFUSED])
def test_refusals(data: dict[str, Any], given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DiscreetError, match=sentence):
        dc.read(pa.table({"age": [1, 2], **data}), quasi=["age"], **given)


@pytest.mark.parametrize(
    ("people", "visits", "sentence"),
    [
        (
            ["a", "b"],
            (["a", "z"], ["flu", "flu"]),
            "1 of the rows of the second table cannot be assigned to a person: row 2",
        ),
        (["a", "a"], (["a"], ["flu"]), "'a' occurs in several rows of 'id'"),
        (["a", None], (["a"], ["flu"]), "row 2 has no 'id'"),
        (["a", "b"], (["a", None], ["flu", "gout"]), "row 2 names nobody"),
    ],
)
def test_second_tables_that_do_not_fit(people: list[Any], visits: tuple[list[Any], list[Any]], sentence: str) -> None:
    second = pa.table({"id": visits[0], "ill": visits[1]})
    with pytest.raises(DiscreetError, match=sentence):
        dc.read(pa.table({"id": people, "age": [1, 2]}), quasi=["age"], sensitive=["ill"], join={"ill": (second, "id")})


def test_blanks_and_marks_are_no_values(tmp_path: Path) -> None:
    """However a value is spelled and wherever it stands, it is one attribute."""
    cells = pa.table({"age": [1, 2], "ill": [["flu ", "NA"], [" flu", ""]]})
    table = dc.read(cells, quasi=["age"], sensitive="ill", na=["NA"])
    assert [column.name for column in table.sensitive] == ["ill_flu"]
    table = dc.read(
        pa.table({"age": [1, 2], "ill": ["NA; flu", "gout"]}),
        quasi=["age"],
        sensitive="ill",
        lists={"ill": ";"},
        na=["NA"],
    )
    assert held(table) == [{"flu"}, {"gout"}]
    visits = pa.table({"id": ["a", "a", "b"], "ill": ["flu ", "gout", "flu"]})
    people = pa.table({"id": ["a", "b"], "age": [1, 2]})
    table = dc.read(people, quasi=["age"], sensitive="ill", join={"ill": (visits, "id")})
    assert held(table) == [{"flu", "gout"}, {"flu"}]
    listed = visits.set_column(1, "ill", pa.array([["flu"], ["gout"], ["flu"]]))
    with pytest.raises(DiscreetError, match="the second table holds lists"):
        dc.read(people, quasi=["age"], sensitive="ill", join={"ill": (listed, "id")})
