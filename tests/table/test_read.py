"""Reading tables: one test over all input types, kinds, missing values, domains, and every fault by its message."""

from __future__ import annotations

import datetime
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.table.hierarchy import Hierarchy
from discreet.table.layout import Layout
from discreet.table.read import read
from discreet.table.sources import Source
from discreet.table.table import Table
from support.house import DATA

ADULT = DATA / "adult"

PEOPLE: dict[str, list[Any]] = {
    "name": ["Ann", "Bo", "Cy", "Di", "Ed"],
    "age": [41, 17, 17, 90, 41],
    "dose": [0.5, None, 2.0, 2.0, 0.5],
    "zip": ["01301", "02115", "01301", "99999", "02115"],
    "member": [True, False, True, None, True],
    "city": ["Bath, UK", "Köln", 'the "Hague"', None, "Köln"],
    "flu": ["yes", "no", "no", "?", "NA"],
}
ZIPS = {"prefix": {"keep": [2]}}


def _csv(folder: Path, name: str) -> Path:
    path = folder / name
    table = pa.table(PEOPLE)
    # CSV writers disagree on how truth values are written; this is how pandas and polars users see them.
    words = pa.array([None if one is None else str(one) for one in PEOPLE["member"]])
    table = table.set_column(table.column_names.index("member"), "member", words)
    sink = pa.BufferOutputStream()
    pyarrow.csv.write_csv(table, sink)
    data = sink.getvalue().to_pybytes()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def _parquet(folder: Path) -> Path:
    pq.write_table(pa.table(PEOPLE), folder / "people.parquet")
    return folder / "people.parquet"


SOURCES: dict[str, Callable[[Path], Any]] = {
    "csv": lambda folder: _csv(folder, "people.csv"),
    "csv, path as text": lambda folder: str(_csv(folder, "people.csv")),
    "csv.gz": lambda folder: _csv(folder, "people.csv.gz"),
    "parquet": _parquet,
    "arrow": lambda folder: pa.table(PEOPLE),
    "arrow, chunked": lambda folder: pa.concat_tables([pa.table(PEOPLE).slice(0, 2), pa.table(PEOPLE).slice(2)]),
    "arrow, dictionaries": lambda folder: pa.table(
        {
            name: pa.array(values).dictionary_encode() if name in ("zip", "city", "flu") else pa.array(values)
            for name, values in PEOPLE.items()
        }
    ),
    "record batch": lambda folder: pa.RecordBatch.from_pydict(PEOPLE),
    "pandas": lambda folder: pd.DataFrame(PEOPLE),
    "pandas, Arrow-backed": lambda folder: pa.table(PEOPLE).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, objects": lambda folder: pd.DataFrame(PEOPLE, dtype=object),
    "polars": lambda folder: pl.DataFrame(PEOPLE),
    "polars, lazy": lambda folder: pl.LazyFrame(PEOPLE),
    "polars, several files": lambda folder: pl.scan_parquet(_parts(folder)),
    "DuckDB": lambda folder: duckdb.from_arrow(pa.table(PEOPLE)),
    "stream": lambda folder: pa.table(PEOPLE).to_reader(2),
    "stream of another library": lambda folder: Streaming(pa.table(PEOPLE)),
}


class Streaming:
    """What any library may offer: a stream of Arrow that is read once."""

    def __init__(self, table: pa.Table) -> None:
        self.left = [table]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.left.pop().__arrow_c_stream__(requested_schema)


def _parts(folder: Path) -> list[Path]:
    paths = [folder / "1.parquet", folder / "2.parquet"]
    for path, part in zip(paths, (pa.table(PEOPLE).slice(0, 2), pa.table(PEOPLE).slice(2)), strict=True):
        pq.write_table(part, path)
    return paths


def test_of_a_lazy_table_only_the_columns_with_a_role_are_computed() -> None:
    def fail(column: pl.Series) -> pl.Series:
        raise AssertionError(column.name)

    lazy = pl.LazyFrame(PEOPLE).with_columns(pl.col("flu").map_batches(fail, pl.String))
    assert read(lazy, quasi=["age"], identifiers=["name"], missing="value").rows == len(PEOPLE["age"])
    with pytest.raises(DiscreetError, match="cannot be computed"):
        read(lazy, quasi=["age"], sensitive="flu", missing="value")


def _same(one: Table, two: Table) -> None:
    assert one.rows == two.rows
    assert (one.unusable is None) == (two.unusable is None)
    assert one.unusable is None or two.unusable is None or one.unusable.tolist() == two.unusable.tolist()
    for left, right in zip(one.columns, two.columns, strict=True):
        assert (left.name, left.kind, left.domain, left.missing) == (
            right.name,
            right.kind,
            right.domain,
            right.missing,
        )
        assert left.codes.tolist() == right.codes.tolist()
        assert left.texts == right.texts
        assert left.values.dtype == right.values.dtype
        assert (left.hierarchy is None) == (right.hierarchy is None)
        if left.hierarchy is not None and right.hierarchy is not None:
            assert left.hierarchy.labels == right.hierarchy.labels


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("missing", ["withhold", "value"])
def test_every_source_gives_the_same_table(tmp_path: Path, source: str, missing: Any) -> None:
    def ask(data: Any) -> Table:
        quasi = ["age", "dose", "zip", "member"]
        return read(
            data,
            quasi=quasi,
            sensitive="flu",
            identifiers=["name"],
            keep=["city"],
            missing=missing,
            hierarchies={"zip": ZIPS},
        )

    table = ask(SOURCES[source](tmp_path))
    _same(table, ask(pa.table(PEOPLE)))
    assert [column.kind for column in table.quasi] == ["numeric", "numeric", "categorical", "categorical"]
    for column in table.columns:
        assert column.codes.dtype == np.int32
        if column.name != "dose" or missing == "value":
            held = [None if text == "(missing)" else text for text in np.array(column.texts)[column.codes]]
            assert held == [
                None if value is None else f"{value:g}" if isinstance(value, float) else str(value)
                for value in PEOPLE[column.name]
            ]
    assert (table.unusable is None) if missing == "value" else table.unusable.tolist() == [1]


# ----------------------------------------------------------------------------------------------------- text files


def _file(folder: Path, text: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_delimiters_are_found(tmp_path: Path, mark: str) -> None:
    text = "age,city\n17,Köln\n18,Bath\n".replace(",", mark)
    for name in ("t.csv", "t.tsv", "t.txt"):
        table = read(_file(tmp_path, text, name), quasi=["age"], sensitive="city")
        assert table.column("city").values.tolist() == ["Bath", "Köln"]
        _same(table, read(tmp_path / name, quasi=["age"], sensitive="city", delimiter=mark))


def test_delimiters_inside_cells_do_not_confuse(tmp_path: Path) -> None:
    path = _file(tmp_path, "place;dose, mg\nBath, UK;1,5\nKöln, DE;2,5\n")
    assert read(path, quasi=["place"], sensitive="dose, mg").column("dose, mg").values.tolist() == ["1,5", "2,5"]
    path = _file(tmp_path, 'a,b\n"x;y;z",1\n"x;y;w",2\n')
    assert read(path, quasi=["a", "b"]).column("a").values.tolist() == ["x;y;w", "x;y;z"]


def test_tab_by_name(tmp_path: Path) -> None:
    path = _file(tmp_path, "a\tb\n1\t2\n")
    for name in ("\t", "\\t", "tab"):
        assert read(path, quasi=["a"], delimiter=name).rows == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252"])
def test_encodings_are_found_and_may_be_given(tmp_path: Path, encoding: str) -> None:
    text = "größe,city\n1,Köln\n2,Málaga\n" + "3,Bath\n" * 50
    path = _file(tmp_path, text.encode(encoding))
    table = read(path, quasi=["größe"], sensitive="city")
    assert table.column("city").values.tolist() == ["Bath", "Köln", "Málaga"]
    _same(table, read(path, quasi=["größe"], sensitive="city", encoding=encoding))


def test_a_late_byte_decides_the_encoding(tmp_path: Path) -> None:
    path = _file(tmp_path, b"a,b\n" + b"1,x\n" * 100_000 + b"1,\xe9\n")
    assert read(path, quasi=["a"], sensitive="b").column("b").values.tolist() == ["x", "é"]


def test_quoted_newlines_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.table.csv_files.BLOCK_BYTES", 64)
    path = _file(tmp_path, "a,b\n" + '"x\ny; ""z""",1\n' * 500)
    table = read(path, quasi=["a", "b"])
    assert table.rows == 500 and table.column("a").values.tolist() == ['x\ny; "z"']


def test_empty_lines_are_no_rows_unless_there_is_one_column(tmp_path: Path) -> None:
    assert read(_file(tmp_path, "a,b\n\n1,2\n\n"), quasi=["a"]).rows == 1
    table = read(_file(tmp_path, "a\nx\n\ny\n"), quasi=["a"])
    assert table.column("a").codes.tolist() == [1, 0, 2]


# ------------------------------------------------------------------------------------------------------------- kinds


def _kind(folder: Path, cells: str, **options: Any) -> tuple[str, list[Any]]:
    column = read(
        _file(folder, "x,y\n" + "".join(f"{cell},1\n" for cell in cells.split("/"))), quasi=["x"], **options
    ).quasi[0]
    return column.kind, column.values.tolist()


def test_kinds_of_text_cells(tmp_path: Path) -> None:
    assert _kind(tmp_path, "3/1/2") == ("numeric", [1, 2, 3])
    assert _kind(tmp_path, "1.50/1.5/+2/ 3/1e1") == ("numeric", [1.5, 2, 3, 10])
    assert _kind(tmp_path, "0/0.5/-3") == ("numeric", [-3, 0, 0.5])
    assert _kind(tmp_path, "01301/99999") == ("categorical", ["01301", "99999"])
    assert _kind(tmp_path, "1/NA") == ("categorical", ["1", "NA"])
    assert _kind(tmp_path, "1/?") == ("categorical", ["1", "?"])
    assert _kind(tmp_path, "nan/b") == ("categorical", ["b", "nan"])
    assert _kind(tmp_path, "12345678901234567890/1") == ("categorical", ["1", "12345678901234567890"])
    assert _kind(tmp_path, "9007199254740992/1") == ("numeric", [1, 2**53])
    assert _kind(tmp_path, "1_000/2") == ("categorical", ["1_000", "2"])
    assert _kind(tmp_path, "/ ") == ("categorical", ["(missing)"])
    assert _kind(tmp_path, "5/5") == ("numeric", [5])


def test_kinds_can_be_overridden(tmp_path: Path) -> None:
    assert _kind(tmp_path, "3/10/2", categorical=["x"]) == ("categorical", ["10", "2", "3"])
    assert _kind(tmp_path, "3/10/2", ordinal=["x"]) == ("ordinal", ["2", "3", "10"])
    assert _kind(tmp_path, "b/a//c", ordinal=["x"]) == ("ordinal", ["(missing)", "a", "b", "c"])
    assert _kind(tmp_path, "01/2", numeric=["x"]) == ("numeric", [1, 2])
    sizes = Hierarchy.flat("size", ["small", "medium", "large"])
    assert _kind(tmp_path, "large/small", ordinal="x", hierarchies={"x": sizes}) == (
        "ordinal",
        ["small", "medium", "large"],
    )
    assert read(pd.DataFrame({"x": ["3", "1"]}), quasi="x", numeric="x").quasi[0].values.tolist() == [1, 3]


def test_declared_orders_make_ordinals() -> None:
    order = ["low", "mid", "high"]
    frames = [
        pd.DataFrame({"x": pd.Categorical(["high", "low", None], categories=order, ordered=True)}),
        pl.DataFrame({"x": pl.Series(["high", "low", None], dtype=pl.Enum(order))}),
        pa.table({"x": pa.DictionaryArray.from_arrays(pa.array([2, 0, None]), order, ordered=True)}),
    ]
    for frame in frames:
        column = read(frame, quasi=["x"]).quasi[0]
        assert column.kind == "ordinal" and column.missing == 0
        assert column.values.tolist() == ["(missing)", *order]
        assert column.codes.tolist() == [3, 1, 0]
    moments = pd.Categorical(pd.to_datetime(["2021-01-01", "2020-01-01"]), ordered=True)
    assert read(pd.DataFrame({"x": moments}), quasi=["x"]).quasi[0].values.tolist() == ["2020-01-01", "2021-01-01"]


def test_unordered_categories_are_categorical_without_the_unused_ones() -> None:
    words = pd.DataFrame({"x": pd.Categorical(["b", "a"], categories=["c", "b", "a"])})
    assert read(words, quasi=["x"]).quasi[0].values.tolist() == ["a", "b"]
    numbers = pd.DataFrame({"x": pd.Categorical([3, 1])})
    assert read(numbers, quasi=["x"]).quasi[0].kind == "categorical"
    assert read(numbers, quasi=["x"], numeric=["x"]).quasi[0].values.tolist() == [1, 3]


def test_mixed_objects_are_text_and_moments_are_written_in_iso() -> None:
    frame = pd.DataFrame({"x": [1, "a", True, None, 2.0, 2.5, datetime.date(2020, 1, 2)]}, dtype=object)
    column = read(frame, quasi=["x"]).quasi[0]
    assert [column.values[code] for code in column.codes] == ["1", "a", "True", "(missing)", "2", "2.5", "2020-01-02"]
    days = pd.DataFrame({"x": pd.to_datetime(["2020-01-02", "2019-05-06"])})
    assert read(days, quasi=["x"]).quasi[0].texts == ("2019-05-06", "2020-01-02")
    hours = pl.DataFrame({"x": [datetime.datetime(2020, 1, 2, 3, 4, 5, 600_000)]})
    assert read(hours, quasi=["x"]).quasi[0].texts == ("2020-01-02T03:04:05.6",)


def test_numbers_of_any_width() -> None:
    short = pa.table({"x": pa.array([0.1, 0.2], pa.float32())})
    assert read(short, quasi=["x"]).quasi[0].values.tolist() == [0.1, 0.2]
    decimals = pl.DataFrame({"x": pl.Series(["1.50", "2"]).cast(pl.Decimal(10, 2))})
    assert read(decimals, quasi=["x"]).quasi[0].values.tolist() == [1.5, 2]
    large = pa.table({"x": pa.array([2**64 - 1, 1], pa.uint64())})
    assert read(large, quasi=["x"]).quasi[0].values.tolist() == ["1", "18446744073709551615"]
    assert read(pd.DataFrame({"x": [10**30, 1]}, dtype=object), quasi="x").quasi[0].kind == "categorical"


# ------------------------------------------------------------------------------------------------------- hierarchies


def test_values_are_all_leaves_matched_as_written(tmp_path: Path) -> None:
    path = _file(tmp_path, "age,zip,flu\n17,01301,a\n18.0,01302,b\n17.0,01301,a\n")
    ages = Hierarchy.from_rows("age", [("16", "16-17"), ("18", "18-19"), ("17", "16-17"), ("19", "18-19")])
    table = read(path, quasi=["age", "zip"], sensitive="flu", hierarchies={"age": ages, "zip": ZIPS})
    age, code = table.quasi
    assert age.kind == "categorical" and age.values.tolist() == ["16", "17", "18", "19"]
    assert age.codes.tolist() == [1, 2, 1]
    assert code.hierarchy is not None and code.hierarchy.attribute == "zip"
    assert code.values.tolist() == ["01301", "01302"]
    frame = read(pd.DataFrame({"age": [17.0, 18.0]}), quasi=["age"], hierarchies={"age": ages})
    assert frame.quasi[0].codes.tolist() == [1, 2]


def test_missing_joins_a_declared_hierarchy() -> None:
    tree = {"A": ["a", "b"], "B": ["c"]}
    table = read(pa.table({"x": ["a", None, ""]}), quasi=["x"], hierarchies={"x": tree})
    column = table.quasi[0]
    assert column.hierarchy is not None
    assert column.hierarchy.labels == (("a", "b", "c", "(missing)"), ("A", "B", "(missing)"), ("*",))
    assert column.codes.tolist() == [0, 3, 3]
    # One that names the missing value itself decides where it stands.
    own = Hierarchy.of("x", {"A": ["a"], "none": ["(missing)"]})
    assert read(pa.table({"x": ["a", None]}), quasi=["x"], hierarchies={"x": own}).quasi[0].codes.tolist() == [0, 1]


def test_a_numeric_column_may_have_a_hierarchy_for_its_labels() -> None:
    data = pa.table({"age": [17, 31, None, 17]})
    tree = Hierarchy.of("age", {"intervals": {"widths": [10]}}, range(10, 40))
    options: dict[str, Any] = {"quasi": ["age"], "numeric": ["age"], "hierarchies": {"age": tree}}
    column = read(data, missing="value", **options).quasi[0]
    assert column.kind == "numeric" and column.hierarchy is not None and column.domain == (17, 31)
    assert column.hierarchy.leaves[:2] == ("(missing)", "10") and column.missing == 0
    assert [column.hierarchy.leaves[code] for code in column.codes] == ["17", "31", "(missing)", "17"]
    assert column.values[column.codes[1]] == 31
    shuffled = Hierarchy.flat("age", ["31", "17"])
    with pytest.raises(DiscreetError, match="'age' is declared numeric but the leaves of its hierarchy"):
        read(data, missing="value", quasi=["age"], numeric=["age"], hierarchies={"age": shuffled})
    short = Hierarchy.flat("age", ["17"])
    with pytest.raises(DiscreetError, match="'age' holds '31' in row 2, which is not a leaf"):
        read(data, missing="value", quasi=["age"], numeric=["age"], hierarchies={"age": short})


def test_hierarchies_from_files(tmp_path: Path) -> None:
    tree = _file(tmp_path, "f;*\nm;*\n", "sex.csv")
    table = read(pa.table({"sex": ["m", "m"]}), quasi=["sex"], hierarchies={"sex": str(tree)})
    assert table.quasi[0].values.tolist() == ["f", "m"]


# ----------------------------------------------------------------------------------------------- missing and domains


def test_missing_numbers_follow_the_policy() -> None:
    data = pa.table({"age": [30.0, None, 20.0, float("nan")], "pay": [None, 5, 7, 7], "note": [1, None, 2, 3]})
    withheld = read(data, quasi=["age"], sensitive="pay", keep=["note"], missing="withhold")
    assert withheld.unusable is not None and withheld.unusable.tolist() == [0, 1, 3]
    assert withheld.unusable.dtype == np.int64
    age, pay, note = withheld.columns
    assert age.codes.tolist() == [1, 0, 0, 0] and age.values.tolist() == [20, 30] and age.missing is None
    # The sensitive value of a withheld row still counts: its absence is a value of its own.
    assert pay.missing == 0 and np.isnan(pay.values[0]) and pay.codes.tolist() == [0, 1, 2, 2]
    assert note.missing == 0 and note.codes.tolist() == [1, 0, 2, 3]
    own = read(data, quasi=["age"], sensitive="pay", missing="value")
    assert own.unusable is None
    assert own.quasi[0].missing == 0 and own.quasi[0].codes.tolist() == [2, 0, 1, 0]
    assert np.isnan(own.quasi[0].values[0]) and own.quasi[0].domain == (20, 30)
    assert own.prior_counts.tolist() == [1, 1, 2]
    kept = read(data, quasi=["age"], keep=["note"], missing="withhold")
    assert kept.unusable is not None and kept.unusable.tolist() == [1, 3]


def test_nan_in_an_otherwise_numeric_csv_column_is_missing(tmp_path: Path) -> None:
    table = read(_file(tmp_path, "x,y\n1,a\nNaN,a\n,a\n"), quasi=["x"], missing="withhold")
    assert table.unusable is not None and table.unusable.tolist() == [1, 2]


def test_missing_sensitive_category_is_a_value() -> None:
    table = read(pa.table({"age": [1, 2, 3], "flu": ["a", None, " "]}), quasi=["age"], sensitive="flu")
    assert table.sensitive_attribute is not None and table.sensitive_attribute.values.tolist() == ["(missing)", "a"]
    assert table.prior_counts.tolist() == [2, 1]


def test_domains() -> None:
    data = pa.table({"age": [17, 90]})
    assert read(data, quasi=["age"]).quasi[0].domain == (17, 90)
    assert read(data, quasi=["age"], domains={"age": (16, 93)}).quasi[0].domain == (16, 93)
    assert read(pa.table({"age": [5, 5]}), quasi=["age"]).quasi[0].domain == (5, 5)


# ------------------------------------------------------------------------------------------------------------ faults

SMALL = pa.table({"age": [17, 20], "sex": ["f", "m"], "pay": [1.5, None], "day": [datetime.date(2020, 1, 1)] * 2})

FAULTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no quasi-identifier": ({"quasi": []}, ["no quasi-identifier"]),
    "unknown column": ({"quasi": ["agee"]}, ["no column 'agee'", "did you mean 'age'?"]),
    "unknown column, none near": ({"quasi": ["xyz"]}, ["no column 'xyz'", "there are 'age', 'sex'"]),
    "unknown sensitive": ({"quasi": ["age"], "sensitive": "Pay "}, ["'Pay '", "did you mean 'pay' or 'day'?"]),
    "unknown identifier": ({"quasi": ["age"], "identifiers": ["name"]}, ["no column 'name'"]),
    "unknown in kinds": ({"quasi": ["age"], "ordinal": ["sez"]}, ["no column 'sez'"]),
    "unknown in hierarchies": ({"quasi": ["age"], "hierarchies": {"sez": {}}}, ["no column 'sez'"]),
    "unknown in domains": ({"quasi": ["age"], "domains": {"ages": (0, 1)}}, ["no column 'ages'"]),
    "two roles": ({"quasi": ["age"], "sensitive": "age"}, ["'age'", "a quasi-identifier and the sensitive attribute"]),
    "identifier and quasi": ({"quasi": ["age"], "identifiers": ["age"]}, ["'age'", "an identifier"]),
    "named twice": ({"quasi": ["age", "age"]}, ["'age' is named twice"]),
    "two kinds": ({"quasi": ["age"], "numeric": "age", "ordinal": "age"}, ["'age'", "numeric and ordinal"]),
    "no name": ({"quasi": [3]}, ["3 is not a column name"]),
    "policy": ({"quasi": ["age"], "missing": "drop"}, ["missing must be error, withhold or value, not 'drop'"]),
    "missing numbers": (
        {"quasi": ["pay"]},
        ["'pay'", "1 missing value (the first in row 2)", "missing='withhold'", "missing='value'"],
    ),
    "missing sensitive numbers": ({"quasi": ["age"], "sensitive": "pay"}, ["'pay'", "1 missing value"]),
    "no number": ({"quasi": ["sex"], "numeric": ["sex"]}, ["'sex'", "'f' in row 1", "not a number"]),
    "a day is no number": ({"quasi": ["day"], "numeric": ["day"]}, ["'day'", "'2020-01-01'", "categorical"]),
    "narrow domain": ({"quasi": ["age"], "domains": {"age": (16, 19)}}, ["'age' holds 20 in row 2", "16 to 19"]),
    "high domain": ({"quasi": ["age"], "domains": {"age": (18, 19)}}, ["'age' holds 17 in row 1"]),
    "domain of text": ({"quasi": ["sex"], "domains": {"sex": (0, 1)}}, ["'sex', which is categorical", "numeric"]),
    "no domain": ({"quasi": ["age"], "domains": {"age": (9, 1)}}, ["(9, 1)", "'age'", "smaller first"]),
    "endless domain": ({"quasi": ["age"], "domains": {"age": (0, float("inf"))}}, ["'age'", "not a pair of numbers"]),
    "missing leaf": (
        {"quasi": ["sex"], "hierarchies": {"sex": {"f": {}, "x": {}}}},
        ["'sex' holds 'm' in row 2", "not a leaf of its hierarchy"],
    ),
    "missing leaf of an ordinal": (
        {"quasi": ["sex"], "ordinal": ["sex"], "hierarchies": {"sex": {"x": {}}}},
        ["'sex' holds 'f' in row 1", "2 values in all"],
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_one_sentence_with_a_way_out(fault: str) -> None:
    options, parts = FAULTS[fault]
    with pytest.raises(DiscreetError) as caught:
        read(SMALL, **options)
    for part in parts:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


SOURCE_FAULTS: dict[str, tuple[Any, list[str]]] = {
    "empty": (b"", ["is empty"]),
    "blank": (b"\n\n \n", ["is empty"]),
    "header only": (b"a,b\n", ["has a header but no rows"]),
    "duplicate names": (b"a,b,a\n1,2,3\n", ["two columns named 'a'"]),
    "short line": (b"a,b\n1,2\n3\n4,5\n", ["1 cells in line 3", "header has 2"]),
    "long line": (b"a,b\n1,2\n\n3,4,5\n", ["3 cells in line 4", "header has 2"]),
    "no text": (b"a,b\n\0\1\2\xff\n1,2\n" * 3, ["t.csv"]),
    "archive": (b"PK\x03\x04....", ["a zip archive; unpack it"]),
    "spreadsheet": (b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml", ["a spreadsheet", "export the table"]),
    "damaged gzip": (gzip.compress(b"a,b\n1,2\n" * 99)[:20], ["damaged gzip"]),
    "damaged Parquet": (b"PAR1xxxxxxxxxxxx", ["cannot be read as Parquet"]),
    "undecodable": (b"a,b\n1,\x81\n", ["cp1252", "0x81 at offset 6"]),
    "a frame without rows": (pd.DataFrame({"a": []}), ["has no rows"]),
    "an Arrow table without rows": (pa.table({"a": pa.array([], pa.string())}), ["has no rows"]),
    "a frame with duplicate names": (pd.DataFrame([[1, 2]], columns=["a", "a"]), ["two columns named 'a'"]),
    "a lazy frame that cannot be computed": (pl.scan_csv("no such file"), ["cannot be computed", "correct the query"]),
    "several files": (["a.csv", "b.csv"], ["list", "polars.scan_parquet(paths)"]),
    "a dict": ({"a": [1]}, ["dict", "Arrow table"]),
    "lists": (pl.DataFrame({"a": [[1]]}), ["'a'", "lists"]),
    "lists in pandas": (pd.DataFrame({"a": [[1]]}), ["'a'", "list"]),
    "bytes": (pa.table({"a": [b"x"]}), ["'a'", "binary"]),
    "durations": (pa.table({"a": [datetime.timedelta(1)]}), ["'a'", "duration"]),
    "infinity": (pa.table({"a": [1.0, float("-inf")]}), ["'a'", "infinite value '-inf' in row 2"]),
    "infinity in CSV": (b"a,b\n1,2\nInf,2\n", ["'a'", "infinite value 'Inf' in row 2"]),
    "overflow in CSV": (b"a,b\n1,2\n1e999,2\n", ["'a'", "infinite value '1e999' in row 2"]),
    "a star": (pa.table({"a": ["*", "b"]}), ["'a'", "any value"]),
}


@pytest.mark.parametrize("fault", SOURCE_FAULTS)
def test_every_fault_of_a_source(tmp_path: Path, fault: str) -> None:
    source, parts = SOURCE_FAULTS[fault]
    with pytest.raises(DiscreetError) as caught:
        read(_file(tmp_path, source) if isinstance(source, bytes) else source, quasi=["a"])
    for part in parts:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_faults_of_paths_and_options(tmp_path: Path) -> None:
    path = _file(tmp_path, "a,b\n1,é\n")
    for options, part in [
        ({"encoding": "ascii"}, "cannot be decoded as ascii"),
        ({"encoding": "klingon"}, "no encoding 'klingon'"),
        ({"delimiter": ",,"}, "delimiter ',,'"),
        ({"delimiter": ";"}, "no column 'a'"),
    ]:
        with pytest.raises(DiscreetError, match=part):
            read(path, quasi=["a"], **options)  # type: ignore[arg-type]
    with pytest.raises(DiscreetError, match=r"no file '.*gone.csv'"):
        read(tmp_path / "gone.csv", quasi=["a"])
    with pytest.raises(DiscreetError, match="is a folder"):
        read(tmp_path, quasi=["a"])
    with pytest.raises(DiscreetError, match="is not a Parquet file"):
        read(_file(tmp_path, "a\n1\n", "t.parquet"), quasi=["a"])
    with pytest.raises(DiscreetError, match="cannot be read"):
        read("a\0b", quasi=["a"])


def test_numbers_declared_but_not_given(tmp_path: Path) -> None:
    path = _file(tmp_path, "a,b\n1,2\n\n2,x\n1,12345678901234567890\n")
    with pytest.raises(DiscreetError, match="'b' is declared numeric but holds 'x' in row 2, which is not a number"):
        read(path, quasi=["b"], numeric=["b"])
    path = _file(tmp_path, "a,b\n1,2\n1,12345678901234567890\n")
    with pytest.raises(DiscreetError, match="'12345678901234567890' in row 2, too large"):
        read(path, quasi=["b"], numeric=["b"])
    with pytest.raises(DiscreetError, match="'a' holds no number at all"):
        read(pa.table({"a": pa.array([None, None], pa.float64())}), quasi=["a"], missing="value")
    with pytest.raises(DiscreetError, match="every row has a missing number"):
        read(pa.table({"a": [None, 1.0], "b": [1.0, None]}), quasi=["a", "b"], missing="withhold")


# -------------------------------------------------------------------------------------------------------- properties

numbers = st.one_of(
    st.lists(st.integers(-(2**53), 2**53), min_size=1, max_size=30),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30),
)
words = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=4)


@given(numbers)
def test_codes_of_numbers_lead_back_to_the_numbers(column: list[float]) -> None:
    for frame in (pa.table({"x": column}), pl.DataFrame({"x": column}), pd.DataFrame({"x": column})):
        coded = read(frame, quasi=["x"]).quasi[0]
        assert coded.kind == "numeric"
        assert coded.values[coded.codes].tolist() == column
        assert np.all(np.diff(coded.values) > 0)
        assert coded.domain == (min(column), max(column))


@given(st.lists(st.one_of(st.none(), words.filter(lambda word: word != "*")), min_size=1, max_size=30))
def test_codes_of_words_lead_back_to_the_words(column: list[str | None]) -> None:
    expected = ["(missing)" if word is None or not word.strip() else word for word in column]
    frames = [
        pa.table({"x": pa.array(column, pa.string())}),
        pl.DataFrame({"x": pl.Series(column, dtype=pl.String)}),
        pd.DataFrame({"x": pd.Series(column, dtype=object)}),
    ]
    for frame in frames:
        coded = read(frame, quasi=["x"]).quasi[0]
        assert coded.values[coded.codes].tolist() == expected
        assert sorted(set(expected)) == coded.values.tolist()


@given(st.lists(st.tuples(words.filter(lambda word: word.strip() != "*"), st.integers(0, 99)), min_size=1, max_size=20))
def test_csv_cells_lead_back_to_themselves(rows: list[tuple[str, int]]) -> None:
    import tempfile

    from discreet.table.write import write_table

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        write_table(pa.table({"word": [word for word, _ in rows], "n": [n for _, n in rows]}), path, "csv")
        table = read(path, quasi=["word", "n"], categorical=["word"])
    word, n = table.quasi
    assert word.values[word.codes].tolist() == [one.strip(" \t") if one.strip() else "(missing)" for one, _ in rows]
    assert n.values[n.codes].tolist() == [number for _, number in rows]


# --------------------------------------------------------------------------------------------------------- real data


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult data is not beside the project")
def test_adult() -> None:
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
    trees = {name: ADULT / f"hierarchy_{name}.csv" for name in names if name != "age"}
    table = read(
        ADULT / "adult.csv.gz", quasi=names, sensitive="occupation", hierarchies=trees, domains={"age": (16, 93)}
    )
    assert table.rows == 30_162
    assert table.column("age").kind == "numeric" and table.column("age").domain == (16, 93)
    assert table.column("education").values[0] == "Bachelors"
    assert table.prior_counts.sum() == 30_162 and table.prior_counts.min() == 9


# ------------------------------------------------------------------------------------------------ stray quotation marks

LINES = [f"{age},{'fm'[age % 2]},{['flu', 'gout', 'cold'][age % 3]}" for age in range(20, 60)]


@pytest.mark.parametrize("column", [0, 1, 2])
@pytest.mark.parametrize("closed", [None, 1, 7])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_a_stray_quotation_mark_makes_no_value_of_other_peoples_rows(
    tmp_path: Path, column: int, closed: int | None, ending: str
) -> None:
    lines = list(LINES)
    cells = lines[10].split(",")
    cells[column] = '"' + cells[column]
    lines[10] = ",".join(cells)
    if closed is not None:
        cells = lines[10 + closed].split(",")
        cells[column] += '"'
        lines[10 + closed] = ",".join(cells)
    path = tmp_path / "people.csv"
    path.write_bytes(ending.join(["age,sex,ill", *lines, ""]).encode())
    with pytest.raises(DiscreetError, match=r"lines? 12\b") as refusal:
        read(path, quasi=["age", "sex"], sensitive="ill", categorical=["age"])
    assert "quotation mark" in str(refusal.value)


def test_values_with_line_breaks_of_their_own_are_read(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('age,sex,ill\n17,f,"flu,\nbad"\n18,m,"6"" cut"\n19,f,5" cut\n')
    ill = read(path, quasi=["age", "sex"], sensitive="ill").sensitive_attribute
    assert ill is not None and ill.texts == ('5" cut', '6" cut', "flu,\nbad")


def test_blanks_around_names_and_cells_are_no_part_of_them(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('age, sex , home town\n17, f, Bonn\n18,f ,"  Bonn "\n19, m,   \n')
    table = read(path, quasi=["age", "sex"], sensitive="home town")
    assert table.sensitive_attribute is not None
    assert [column.texts for column in (*table.quasi, table.sensitive_attribute)] == [
        ("17", "18", "19"),
        ("f", "m"),
        ("(missing)", "Bonn"),
    ]
    assert table.sensitive_codes.tolist() == [1, 1, 0]
    with Source(path) as source:
        assert source.names(Layout()) == ["age", "sex", "home town"]


@pytest.mark.parametrize("texts", [["nan", "007", "12"], ["12", "nan", "007"], ["1_0", "9", "inf"]])
def test_the_order_of_ordered_values_does_not_depend_on_that_of_the_rows(texts: list[str]) -> None:
    """nan and inf are texts here: as a number nan would have no place, and stay wherever it happens to be."""
    table = read(pa.table({"grade": texts, "ill": list("aba")}), quasi=["grade"], sensitive="ill", ordinal=["grade"])
    assert list(table.quasi[0].values) == sorted(texts)
