"""Count queries: 10,000 estimates from a release, 10,000 exact counts of our own, and the same counts by DuckDB."""

from __future__ import annotations

import pyarrow as pa

import discreet as dc
from benchmarks.measuring import peak_above, publish, seconds, show
from benchmarks.workloads import sql_text
from discreet.analyst.workload import run, workload
from discreet.datasets import LIKENESS_QUASI, census
from discreet.releases.bit_counts import exact_counts
from discreet.table.query import Query, Range, runs

ROWS = 500_000
QUERIES = 10_000
SAMPLE = 1_000
"""How many queries DuckDB answers; its time is scaled up."""


def main() -> None:
    small = census(1000)
    publish(small, dc.BetaLikeness(4)).estimates(workload(small, number=10))  # compiles kernels
    lines = []
    for d, promise in ((3, dc.BetaLikeness(4)), (5, dc.BetaLikeness(4)), (5, dc.KAnonymity(2))):
        table = census(ROWS, quasi=LIKENESS_QUASI[:d])
        queries = workload(table, number=QUERIES)
        release = publish(table, promise)
        peak = peak_above(lambda r=release, q=queries: r.estimates(q))
        ours = seconds(lambda r=release, q=queries: r.estimates(q))
        counted = seconds(lambda t=table, q=queries: exact_counts(t, q), repeat=2)
        theirs, answers = _duckdb(table, [sql_text(_coded(table, query)) for query in queries[:SAMPLE]])
        theirs *= QUERIES / SAMPLE
        exact = exact_counts(table, queries)
        assert answers == exact[:SAMPLE].tolist()
        errors = run(release, table, queries, exact)
        lines.append(
            (
                *(d, promise, f"{release.groups:,}", f"{ours:.2f} s", f"{counted:.2f} s", f"{theirs:.1f} s"),
                *(f"{ours / theirs:.3f} x", f"{counted / theirs:.3f} x", f"{peak / 2**20:.0f} MB"),
                f"{100 * errors.median:.1f} %",
            )
        )
    show(
        f"Count queries: census of {ROWS:,} rows, {QUERIES:,} queries (lambda 3, theta 0.1); wanted: estimates within "
        "2 x the time of DuckDB's exact counts",
        (
            *("QIs", "promise", "groups", "estimates", "our exact counts", "DuckDB", "estimates / DuckDB"),
            *("exact / DuckDB", "peak memory of estimates", "median error"),
        ),
        lines,
    )


def _coded(table: dc.Table, query: Query) -> Query:
    """The same query on codes; every condition of a workload is one range of codes."""
    ranges = []
    for condition in query.conditions:
        column = table.column(condition.attribute)
        first, after = runs([condition], column.values, column.kind).tolist()
        ranges.append(Range(column.name, first, after - 1))
    return Query(tuple(ranges))


def _duckdb(table: dc.Table, texts: list[str]) -> tuple[float, list[int]]:
    """The time DuckDB takes for these queries, one after the other on all cores, and its answers.

    It gets codes instead of values, which makes it two to three times as fast.
    """
    import duckdb

    held = duckdb.connect()
    held.register("given", pa.table({column.name: column.codes for column in table.columns}))
    held.execute("CREATE TABLE t AS SELECT * FROM given")
    answers: list[int] = []

    def ask() -> None:
        answers[:] = [held.execute(text).fetchone()[0] for text in texts]

    return seconds(ask, repeat=2), answers
