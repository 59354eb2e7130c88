"""Columns with odd names: every format writes them so that they are read back as they are, as CSV and as Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet as dc
from discreet.table.write import read_table, write_table
from support.formats import MAKERS, published_as

NAMES = {
    "mark of byte order": "\ufeffage",
    "nothing but that mark": "\ufeff",
    "two such marks": "\ufeff\ufeffage",
    "blanks at its ends": " age\t",
    "only a blank": " ",
    "empty": "",
    "quotes": '"age"',
    "one quote": '"',
    "delimiters": "age,;|",
    "line breaks": "a\r\ng\re\n",
    "zero": "a\0ge",
    "path": "../age/",
    "other separators of lines": "a\x85g\u2028e\x0b",
    "accents": "a\u0301ge",
    "too long for a file": "age" * 120,
}


def people(name: str, format: str) -> dc.Table:
    """Sixty rows, the first column of this name, and another of the same with an x behind it."""
    chance = np.random.default_rng(1)
    sensitive_attribute = chance.integers(0, 40, 60) if format == "retained" else chance.choice(list("uvw"), 60)
    columns = {name: chance.integers(0, 20, 60), "sex": chance.choice(list("fm"), 60), f"{name}x": sensitive_attribute}
    return dc.read(pa.table(columns), quasi=[name, "sex"], sensitive=f"{name}x")


@pytest.mark.slow
@pytest.mark.parametrize("format", MAKERS)
@pytest.mark.parametrize("what", NAMES)
def test_an_odd_name_is_saved_and_read_back(what: str, format: str, tmp_path: Path) -> None:
    """The files that are saved can be loaded, hold under audit, and call their columns as the table does."""
    table = people(NAMES[what], format)
    release = published_as(format, table)
    for form in ("csv", "parquet"):
        folder = tmp_path / form
        release.save(folder, format="csv" if form == "csv" else "parquet")
        assert dc.audit(folder, table, trace=release.trace).holds
        assert [attribute.name for attribute in dc.load(folder).attributes] == [column.name for column in table.columns]


@pytest.mark.parametrize("what", NAMES)
def test_other_readers_see_the_same_names(what: str, tmp_path: Path) -> None:
    """A CSV file is read alike by Arrow and by pandas, which both drop a mark of byte order that is not quoted."""
    pandas = pytest.importorskip("pandas")
    table = pa.table({NAMES[what]: ["\ufeff1", "2"], "sex": ["f", "m"]})
    write_table(table, tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").column_names == table.column_names
    options = pyarrow.csv.ParseOptions(newlines_in_values=True)
    assert pyarrow.csv.read_csv(tmp_path / "t.csv", parse_options=options).column_names == table.column_names
    if what not in ("empty", "zero"):  # pandas names what has no name, and reads no further than to a zero
        assert list(pandas.read_csv(tmp_path / "t.csv").columns) == table.column_names


def test_columns_of_one_name_are_refused() -> None:
    """Two columns of one name cannot be told apart, whatever they hold."""
    twice = pa.table([[1, 2], [3, 4], ["a", "b"]], names=["\ufeffage", "\ufeffage", "s"])
    with pytest.raises(dc.DiscreetError, match="two columns named"):
        dc.read(twice, quasi=["\ufeffage"], sensitive="s")
