"""Readers: the time that reading a table takes, beside that of the library that opens such a file, alone.

The libraries return columns as they lie in the file; discreet codes all values, and looks for kinds and roles.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import fastexcel
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.json
import pyarrow.parquet as pq
import pyreadstat
from adbc_driver_postgresql import dbapi
from tests.support.every_kind import write
from tests.support.postgres import programs, serving

import discreet as dc
from benchmarks.measuring import seconds, show
from discreet.datasets.census import census_arrow

ROWS, RUNS = 1_000_000, 3
ROLES: dict[str, Any] = {
    **{"quasi": ["age", "gender", "education", "zip", "born", "dose"], "sensitive": "occupation"},
    "categorical": ["zip"],
}


def main() -> None:
    frame = people()
    with tempfile.TemporaryDirectory() as home, serving() if programs() else nullcontext() as server:
        lines = []
        for kind, (name, library) in LIBRARIES.items():
            source = str(write(frame, Path(home, f"people.{kind}")))
            lines.append((kind, name, *compared(partial(library, source), source)))
        if server is not None:
            server.write("people", pa.Table.from_pandas(frame, preserve_index=False))
            source = server.address()
            lines.append(("PostgreSQL", "adbc", *compared(partial(_postgres, source), source)))
    header = ("source", "library", "library alone", "read", "ratio")
    show(f"readers: {ROWS:,} rows, 7 columns, the fastest of {RUNS} runs", header, lines)


def people() -> pd.DataFrame:
    """Whole numbers, texts, codes that begin with zeros, dates and decimals."""
    rng = np.random.default_rng(5)
    frame = census_arrow(ROWS, seed=1, attributes=["age", "gender", "education", "occupation"]).to_pandas()
    frame = frame.astype({"gender": str, "occupation": str}).astype({"gender": object, "occupation": object})
    born = pa.array(rng.integers(0, 20_000, ROWS).astype(np.int32)).cast(pa.date32())
    codes = np.char.zfill(rng.integers(0, 1_000, ROWS).astype(str), 5).astype(object)
    return frame.assign(zip=codes, born=born.to_pandas(), dose=rng.integers(0, 400, ROWS) / 20)


def compared(library: Callable[[], object], source: str) -> Iterator[object]:
    """Yield the library's time, ours, and their ratio."""
    alone = seconds(library, RUNS)
    ours = seconds(lambda: dc.read(source, **ROLES), RUNS)
    yield from (f"{alone:.2f} s", f"{ours:.2f} s", f"{ours / alone:.1f}")


def _sheet(path: str) -> Any:
    return fastexcel.read_excel(path).load_sheet(0).to_arrow()


def _sqlite(path: str) -> Any:
    with closing(sqlite3.connect(path)) as base:
        return base.execute("SELECT * FROM people").fetchall()


def _duckdb(path: str) -> Any:
    with duckdb.connect(path, read_only=True) as base:
        return base.sql("SELECT * FROM people").to_arrow_reader().read_all()


def _postgres(address: str) -> Any:
    with closing(dbapi.connect(address)) as base, closing(base.cursor()) as cursor:
        cursor.execute("SELECT * FROM people")
        return cursor.fetch_arrow_table()


LIBRARIES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "csv": ("pyarrow", pyarrow.csv.read_csv),
    "jsonl": ("pyarrow", pyarrow.json.read_json),
    "parquet": ("pyarrow", pq.read_table),
    "feather": ("pyarrow", pyarrow.feather.read_table),
    "xlsx": ("fastexcel", _sheet),
    "dta": ("pyreadstat", pyreadstat.read_dta),
    "sav": ("pyreadstat", pyreadstat.read_sav),
    "xpt": ("pyreadstat", pyreadstat.read_xport),
    "sqlite": ("sqlite3", _sqlite),
    "duckdb": ("duckdb", _duckdb),
}
"""Per kind of file the library, and what it does to read one."""


if __name__ == "__main__":
    main()
