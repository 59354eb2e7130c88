"""What the engine duckdb reads beside one Parquet file: its values, and so its releases, are those of memory."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.datasets.census import census_arrow
from discreet.engines.duckdb import DuckdbEngine
from discreet.engines.scale import Scale
from discreet.engines.source import Files, Readable
from discreet.engines.vocabulary import Vocabulary
from discreet.errors import DiscreetError
from discreet.jobs.job import Job
from discreet.jobs.large import carry_out_large
from discreet.table.csv_files import BLOCK_BYTES
from discreet.table.spec import TableSpec
from discreet.table.table import Table

duckdb = pytest.importorskip("duckdb")
ROLES: dict[str, Any] = {"quasi": ["age", "gender"], "sensitive": ["salary"]}
KEPT = {**ROLES, "promises": ["l-diversity(l=3)"], "scheme": "cuts", "seed": 1, "options": {"marginals": "none"}}


def census() -> pa.Table:
    return census_arrow(600, attributes=["age", "gender", "salary"])


def write_csv(table: pa.Table, path: Path, head: bool = True) -> None:
    lines = [",".join(map(str, line.values())) for line in table.to_pylist()]
    path.write_text("\n".join(([",".join(table.column_names)] if head else []) + lines) + "\n", encoding="utf-8")


def release(source: Path, folder: Path, **more: Any) -> bytes:
    """Publish with the engine, as one part; return the table and the manifest."""
    carry_out_large(
        Job.of({"input": str(source), "output": str(folder), **KEPT, "engine": "duckdb", **more}),
        scale=Scale(200_000_000, 100_000),
    )
    return (folder / "table.csv").read_bytes() + (folder / "release.json").read_bytes()


def in_memory(given: Any, folder: Path, **more: Any) -> bytes:
    table = dc.read(given, **ROLES, **more)
    dc.publish(table, "l-diversity(l=3)", dc.Cuts(random_state=1, marginals="none")).save(folder)
    return (folder / "table.csv").read_bytes() + (folder / "release.json").read_bytes()


@pytest.mark.slow
def test_files_of_a_folder_or_a_pattern_are_one_table(tmp_path: Path) -> None:
    home, table = tmp_path / "parts[1]", census()
    (home / "north").mkdir(parents=True)
    pq.write_table(table.slice(0, 250), home / "a'b.parquet")
    pq.write_table(table.slice(250, 0), home / "none.parquet")
    pq.write_table(table.slice(250), home / "north" / "c.parquet")
    (home / "_SUCCESS").write_text("")
    (home / "._c.parquet").write_text("not Parquet")
    whole = in_memory(table, tmp_path / "memory")
    assert release(home, tmp_path / "one") == whole
    (tmp_path / "flat").mkdir()
    for at in range(3):
        pq.write_table(table.slice(at * 200, 200), tmp_path / "flat" / f"part-{at}.parquet")
    assert release(tmp_path / "flat" / "part-*.parquet", tmp_path / "two") == whole
    assert sorted(each.name for each in tmp_path.iterdir()) == ["flat", "memory", "one", "parts[1]", "two"]


@pytest.mark.slow
def test_csv_and_a_table_of_duckdb_give_what_memory_gives(tmp_path: Path) -> None:
    table = census()
    write_csv(table, tmp_path / "t.csv")
    whole = in_memory(tmp_path / "t.csv", tmp_path / "memory")
    assert release(tmp_path / "t.csv", tmp_path / "one") == whole
    home = tmp_path / "home"
    home.mkdir()
    for at in range(2):
        write_csv(table.slice(at * 300, 300), home / f"{at}.csv")
    assert release(home, tmp_path / "two") == whole
    write_csv(table, tmp_path / "bare.csv", head=False)
    bare: dict[str, Any] = {"header": "none", "columns": table.column_names}
    assert release(tmp_path / "bare.csv", tmp_path / "three", **bare) == in_memory(
        tmp_path / "bare.csv", tmp_path / "bare", **bare
    )
    base = tmp_path / "t.db"
    with duckdb.connect(str(base)) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
        connection.execute("CREATE TABLE others (age INTEGER)")
    assert release(base, tmp_path / "four", table="people") == in_memory(base, tmp_path / "base", table="people")
    query = "SELECT * FROM people WHERE age < 60"
    assert release(base, tmp_path / "five", query=query) == in_memory(base, tmp_path / "query", query=query)


CELLS = (
    "7",
    " 7 ",
    "07",
    "7.0",
    "-0",
    "",
    " ",
    "NA",
    '"a,b"',
    '"a ""b"" c"',
    '"line\nbreak"',
    "é",
    "1e3",
    "2021-03-07",
)
"""Cells of CSV that are read in odd ways."""


def counted(values: list[str], counts: Any) -> dict[str, int]:
    return {text: int(count) for text, count in zip(values, counts, strict=True) if count}


def vocabulary(source: Path, spec: TableSpec, folder: Path) -> Vocabulary:
    folder.mkdir()
    readable = Readable.of(Files.of(str(source)), spec, folder)
    names = (*spec.roles.quasi, *spec.roles.sensitive)
    with DuckdbEngine(readable, folder / "database", 200_000_000) as engine:
        return Vocabulary.of([engine.count(name) for name in names], spec, engine.untyped)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_odd_cells_of_csv_are_read_as_in_memory(seed: int, tmp_path: Path) -> None:
    """Or refused by both."""
    chance = Random(seed)
    few = chance.sample(CELLS, chance.choice([2, 3, 5]))
    mark, end, mark_of_file = chance.choice(",;\t"), chance.choice(["\n", "\r\n"]), chance.choice(["", "\ufeff"])
    lines = [["age", " sex", "ill"]]
    lines += [[chance.choice(few), chance.choice(["f", "m ", "m"]), chance.choice(["a", "b"])] for _ in range(60)]
    text = mark_of_file + "".join(mark.join(line) + end for line in lines)
    path = tmp_path / "t.csv"
    path.write_bytes(text.replace("a,b", f"a{mark}b").encode())
    missing = chance.choice(["value", "error"])
    spec = TableSpec(quasi=["age", "sex"], sensitive="ill", na=chance.choice([(), ("NA",)]), missing=missing)
    how = {"quasi": ["age", "sex"], "sensitive": "ill", "na": spec.na, "missing": missing}
    try:
        table: Table = dc.read(path, **how)
    except DiscreetError:
        with pytest.raises(DiscreetError):
            vocabulary(path, spec, tmp_path / "work")
        return
    found = vocabulary(path, spec, tmp_path / "work")
    for own, column, counts in zip(found.table.columns, table.columns, found.counts, strict=True):
        there = np.bincount(column.codes, minlength=len(column.values))
        assert (own.kind, own.texts, own.missing) == (column.kind, column.texts, column.missing)
        assert counted(own.texts, counts) == counted(column.texts, there)


@pytest.mark.slow
def test_numbers_with_a_decimal_comma_are_read_in_blocks_as_in_memory(tmp_path: Path) -> None:
    rows = 2 * BLOCK_BYTES // 20
    lines = (f"{at % 90},5;{at % 7}.00{at % 10},0;x{at % 3}" for at in range(rows))
    path = tmp_path / "t.csv"
    path.write_text("age;pay;ill\n" + "\n".join(lines) + "\n", encoding="utf-8")
    how: dict[str, Any] = {"quasi": ["age", "pay"], "sensitive": "ill", "decimal": ",", "thousands": "."}
    found, table = vocabulary(path, TableSpec(**how), tmp_path / "work"), dc.read(path, **how)
    for own, column, counts in zip(found.table.columns, table.columns, found.counts, strict=True):
        assert own.kind == column.kind and own.texts == column.texts
        assert counts.tolist() == np.bincount(column.codes).tolist()


def test_types_of_a_duckdb_table_are_read_as_in_memory(tmp_path: Path) -> None:
    base = tmp_path / "t.db"
    with duckdb.connect(str(base)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT (i % 5)::TINYINT AS a, (i % 3 = 0) AS b, "
            "DATE '2020-01-01' + (i % 4)::INTEGER AS d, CASE WHEN i % 2 = 0 THEN i % 6 / 4.0 END AS f, "
            "(['x', 'y', 'z'])[i % 3 + 1]::ENUM ('z', 'y', 'x') AS e "
            "FROM range(50) s (i)"
        )
    quasi = ["a", "b", "d", "f"]
    spec = TableSpec(quasi=quasi, sensitive="e", missing="value")
    found, table = vocabulary(base, spec, tmp_path / "work"), dc.read(base, quasi=quasi, sensitive="e", missing="value")
    for own, column, counts in zip(found.table.columns, table.columns, found.counts, strict=True):
        assert own.kind == column.kind and counted(own.texts, counts) == counted(
            column.texts, np.bincount(column.codes)
        )


def refused(source: Path, folder: Path, sentence: str, **more: Any) -> None:
    with pytest.raises(DiscreetError, match=sentence) as fault:
        release(source, folder, **more)
    assert "\n" not in str(fault.value) and not folder.exists()


@pytest.mark.slow
def test_what_would_be_read_otherwise_is_refused(tmp_path: Path) -> None:
    table, home, out = census(), tmp_path / "home", tmp_path / "out"
    home.mkdir()
    refused(home, out, "names no file that ends with")
    refused(tmp_path / "nothing.csv", out, "there is no file")
    pq.write_table(table, home / "a.parquet")
    refused(home, home / "out", "lies inside")
    pq.write_table(table.set_column(0, "age", pc.cast(table.column("age"), pa.string())), home / "b.parquet")
    refused(home, out, "column 'age' is of the type string in 'b.parquet' and of the type .* in 'a.parquet'")
    pq.write_table(table.drop_columns(["age"]), home / "b.parquet")
    refused(home, out, "column 'age' is not there in 'b.parquet'")
    write_csv(table, home / "b.parquet")
    refused(home, out, "several kinds")
    (tmp_path / "latin.csv").write_bytes("age,gender,salary\n1,é,2\n".encode("latin1"))
    refused(tmp_path / "latin.csv", out, "not in UTF-8")
    refused(tmp_path / "latin.csv", out, "in UTF-8, and not in", encoding="latin1")
    (tmp_path / "quote.csv").write_text('age,gender,salary\n1,"f,2\n2,m,3\n3,f",4\n', encoding="utf-8")
    refused(tmp_path / "quote.csv", out, "looks like rows of other people")
    (tmp_path / "wide.csv").write_text("age,gender,salary\n1,f,2\n2,m,3,4\n", encoding="utf-8")
    refused(tmp_path / "wide.csv", out, "4 cells in line 3")
    (tmp_path / "head.csv").write_text("age,gender,salary\n", encoding="utf-8")
    refused(tmp_path / "head.csv", out, "no rows")
    (tmp_path / "zip.csv").write_bytes(b"\x1f\x8b\x08\x00")
    refused(tmp_path / "zip.csv", out, "is of another kind")
    refused(home / "a.parquet", out, "sheet is about other tables", sheet="one")
    write_csv(table, tmp_path / "t.csv")
    refused(tmp_path / "t.csv", out, "no column 'agee'", quasi=["agee"])
    with pytest.raises(DiscreetError, match="answers at an address"):
        Files.of("postgresql://ann@db.example/clinic")
