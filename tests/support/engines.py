"""Every engine, opened on one table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engines.duckdb import DuckdbEngine
from discreet.engines.engine import Engine
from discreet.engines.publish import Written, check_supported, publish
from discreet.engines.scale import Scale
from discreet.engines.source import Files, Readable
from discreet.engines.spark import SparkEngine, SparkTable
from discreet.principles import parse
from discreet.schemes import make_scheme
from discreet.table.hierarchy import Hierarchy
from discreet.table.spec import TableSpec
from fuzz.cases import Case, Column, array_of
from naive.engines import PlainEngine

NAMES = ("plain", "duckdb", "spark")
SMALL = Scale(200_000_000, 12, (25, 30))
"""Tables of more than a dozen rows are divided."""


RUNNING: list[Any] = []
"""Servers, which stop when nobody knows them any more."""


@cache
def server() -> str:
    """The address of a Spark Connect server in this process, whose workers are threads."""
    from pysail.spark import SparkConnectServer

    main = sys.modules["__main__"]
    if not hasattr(main, "__file__"):  # as in processes of xdist, which the client takes for its own doctests
        main.__file__ = __file__
    started = SparkConnectServer("127.0.0.1", 0)
    started.start(background=True)
    RUNNING.append(started)
    return f"sc://127.0.0.1:{started.listening_address[1]}"


@contextmanager
def opened(name: str, table: pa.Table, spec: TableSpec, folder: Path) -> Iterator[Engine]:
    """Open an engine on a table; what it needs meanwhile goes to a folder."""
    if name == "plain":
        yield PlainEngine(table)
        return
    pytest.importorskip({"duckdb": "duckdb", "spark": "pysail"}[name])
    path = folder / "table.parquet"
    pq.write_table(table, path)
    if name == "spark":
        yield SparkEngine(SparkTable(str(path), server()), folder)
        return
    source = Readable.of(Files.of(str(path)), spec, folder)
    with DuckdbEngine(source, folder / "database", 200_000_000) as engine:
        yield engine


def published(
    name: str, table: pa.Table, folder: Path, promise: str, scale: Scale = SMALL, scheme: str = "cuts", **how: Any
) -> Written:
    """Publish a table with an engine into a folder."""
    format, seed = how.pop("format", "csv"), how.pop("seed", None)
    spec, principle = TableSpec(**how), parse(promise)
    cuts = check_supported(spec, principle, make_scheme(scheme, {}, seed, principle))
    work = folder.with_name(f"{folder.name}-work")
    work.mkdir()
    with opened(name, table, spec, work) as engine:
        trace = trace_of(folder) if engine.numbers_rows else None
        return publish(engine, spec, principle, cuts, scale, work, folder, format, trace=trace)


def trace_of(folder: Path) -> Path:
    """Where the trace of a release is, if its engine numbers rows."""
    return folder.with_name(f"{folder.name}-trace.csv")


def of_case(case: Case) -> dict[str, Any]:
    """How the table of a case is read."""
    kinds = {
        kind: [one.name for one in case.columns if one.kind == kind] for kind in ("numeric", "categorical", "ordinal")
    }
    trees = {one.name: Hierarchy.from_rows(one.name, one.tree) for one in case.columns if one.tree is not None}
    domains = {one.name: one.domain for one in case.columns if one.domain is not None}
    roles = {"quasi": [one.name for one in case.quasi], "sensitive": [one.name for one in case.sensitive]}
    return {**kinds, **roles, "hierarchies": trees, "domains": domains, "missing": case.missing}


def as_array(column: Column) -> Any:
    """The cells of a column as a file has them: without a declared order, which Parquet does not keep."""
    array = array_of(column)
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array
