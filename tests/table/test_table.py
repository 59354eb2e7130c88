"""The coded table itself, and the files tables are written to."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column, Table
from discreet.table.write import digest, read_table, write_table


def _column(name: str, codes: list[int], values: list[str]) -> Column:
    tree = Hierarchy.flat(name, values)
    return Column(name, "categorical", np.array(codes, np.int32), np.array(values, object), tree)


AGE = Column("age", "numeric", np.array([1, 0, 1], np.int32), np.array([17, 40]), None, (16.0, 93.0))
FLU = _column("flu", [0, 2, 0], ["no", "unknown", "yes"])


def test_classes_and_prior_counts_cover_values_that_do_not_occur() -> None:
    table = Table(3, (AGE,), FLU)
    assert table.sensitive_codes.tolist() == [0, 2, 0]
    assert table.prior_counts.tolist() == [2, 0, 1]
    assert table.prior_counts.dtype == np.int64
    assert table.quasi_names == ("age",)
    assert table.column("flu") is FLU


def test_without_sensitive_attribute_all_rows_are_of_one_class() -> None:
    table = Table(3, (AGE,), None)
    assert table.sensitive_codes.tolist() == [0, 0, 0] and table.sensitive_codes.dtype == np.int32
    assert table.prior_counts.tolist() == [3]


def test_repr_names_roles_kinds_and_extents_but_no_values() -> None:
    city = _column("city", [0, 1, 0], ["Bath", "York"])
    text = repr(Table(3, (AGE,), FLU, (city,), np.array([1])))
    assert text.splitlines() == [
        "Table of 3 rows",
        "  quasi      age   numeric      2 values in 16 to 93",
        "  sensitive  flu   categorical  3 values",
        "  other      city  categorical  2 values",
        "  1 rows to be withheld for missing values",
    ]


def test_texts_write_whole_numbers_short_and_name_what_is_missing() -> None:
    column = Column("x", "numeric", np.zeros(1, np.int32), np.array([np.nan, 1.0, 2.5]), missing=0)
    assert column.texts == ("(missing)", "1", "2.5")
    assert FLU.texts == ("no", "unknown", "yes")


def test_faults() -> None:
    with pytest.raises(DiscreetError, match="no column 'agee' in the table; did you mean 'age'"):
        Table(3, (AGE,), FLU).column("agee")
    with pytest.raises(DiscreetError, match="'age' has 3 rows where the table has 4"):
        Table(4, (AGE,), None)
    with pytest.raises(DiscreetError, match="'age' is in the table twice"):
        Table(3, (AGE, AGE), None)


# ------------------------------------------------------------------------------------------------------------- files

AWKWARD = [
    "",
    " ",
    "a,b",
    'say "x"',
    "two\nlines",
    "cr\rlf\r\n",
    "Ä€",
    "*",
    "[17, 24]",
    '"',
    " lead",
    "NA",
    "null",
    "007",
]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_cells_come_back_as_they_were(tmp_path: Path, format: str) -> None:
    table = pa.table({"a, b": AWKWARD, "n": list(range(len(AWKWARD)))})
    write_table(table, tmp_path / "t", format)  # type: ignore[arg-type]
    again = read_table(tmp_path / "t")
    assert again.column_names == ["a, b", "n"]
    assert again.column("a, b").to_pylist() == AWKWARD
    assert again.column("n").to_pylist() == [str(number) for number in range(len(AWKWARD))]


cells = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=5)


@given(st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[cells] * width), min_size=1, max_size=8)))
def test_any_text_comes_back_from_csv(rows: list[tuple[str, ...]]) -> None:
    import tempfile

    columns = {f"c{place}": list(column) for place, column in enumerate(zip(*rows, strict=True))}
    with tempfile.TemporaryDirectory() as folder:
        write_table(pa.table(columns), Path(folder, "t.csv"), "csv")
        assert read_table(Path(folder, "t.csv")).to_pydict() == columns


def test_csv_quotes_only_what_needs_it(tmp_path: Path) -> None:
    write_table(pa.table({"age": ["17", "[17, 24]"], "x": [None, ""]}), tmp_path / "t.csv", "csv")
    assert (tmp_path / "t.csv").read_bytes() == b'age,x\n17,\n"[17, 24]",""\n'
    assert read_table(tmp_path / "t.csv").column("x").to_pylist() == ["", ""]


def test_csv_larger_than_a_batch_and_sliced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.table.write.BATCH_ROWS", 7)
    table = pa.table({"x": [str(number) for number in range(100)]}).slice(13, 50)
    write_table(table, tmp_path / "t.csv", "csv")
    assert read_table(tmp_path / "t.csv").column("x").to_pylist() == [str(number) for number in range(13, 63)]


def test_an_empty_table_is_a_header(tmp_path: Path) -> None:
    write_table(pa.table({"x": pa.array([], pa.string()), "y": pa.array([], pa.string())}), tmp_path / "t.csv", "csv")
    assert (tmp_path / "t.csv").read_text() == "x,y\n"
    assert read_table(tmp_path / "t.csv").num_rows == 0


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_nothing_but_the_cells_is_written(tmp_path: Path, format: str) -> None:
    words = pa.DictionaryArray.from_arrays([0, 2], ["flu", "SECRET", "cold"])
    field = pa.field("x", words.type, metadata={"note": "SECRET"})
    table = pa.table([words], schema=pa.schema([field], metadata={"pandas": "SECRET"}))
    write_table(table, tmp_path / "t", format)  # type: ignore[arg-type]
    assert b"SECRET" not in (tmp_path / "t").read_bytes()
    assert read_table(tmp_path / "t").column("x").to_pylist() == ["flu", "cold"]
    if format == "parquet":
        assert pq.read_schema(tmp_path / "t").metadata is None


def test_coded_columns_in_chunks_with_missing_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.table.write.BATCH_ROWS", 2)
    one = pa.DictionaryArray.from_arrays(pa.array([0, None, 1], pa.int32()), ['a, "b"', "c"])
    other = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int32()), ["c", ""])
    table = pa.table({"n": pa.chunked_array([[1], [2, 3, 4, 5]]), "x": pa.chunked_array([one, other])})
    write_table(table, tmp_path / "t.csv", "csv")
    assert (tmp_path / "t.csv").read_bytes() == b'n,x\n1,"a, ""b"""\n2,\n3,c\n4,""\n5,c\n'
    write_table(table, tmp_path / "t.parquet", "parquet")
    for name in ("t.csv", "t.parquet"):
        again = read_table(tmp_path / name)
        assert again.to_pydict() == {"n": list("12345"), "x": ['a, "b"', "", "c", "", "c"]}


def test_digest_and_faults_of_files(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1\n")
    assert digest(path) == hashlib.sha256(b"a,b\n1\n").hexdigest()
    with pytest.raises(DiscreetError, match="cannot be read as a table: CSV parse error"):
        read_table(path)
    with pytest.raises(DiscreetError, match=r"no file .*gone.csv"):
        read_table(tmp_path / "gone.csv")
    with pytest.raises(DiscreetError, match=r"no file .*gone.csv"):
        digest(tmp_path / "gone.csv")
    with pytest.raises(DiscreetError, match="no table format 'xlsx'"):
        write_table(pa.table({"a": [1]}), path, "xlsx")  # type: ignore[arg-type]
