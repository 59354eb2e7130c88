"""Audits compared with publication, tables with very many distinct values, and queries on large ambiguous releases."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow.csv import write_csv

import discreet as dc
from benchmarks.measuring import processor_seconds, seconds, show, sort_seconds
from discreet.analyst.workload import workload
from discreet.datasets import HETEROGENEOUS_QUASI, LIKENESS_QUASI, census

ROWS = 2_000_000
WIDE = 60, (50_000, 100_000, 200_000)
"""The numbers of quasi-identifiers and of rows."""
VALUES = 100_000, 1_000_000
QUERIES = 1_000
WARM = 200_000
"""The number of rows for warming up: enough that audits use the code for large releases."""

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "beta-likeness, 3 QIs": ("beta-likeness(beta=4)", {}),
    "proximity, 3 QIs": ("proximity(epsilon=4500, m=5)", {"quasi": LIKENESS_QUASI[:3], "sensitive": "income"}),
    "ambiguity, 7 QIs": ("alpha-beta(alpha=0.2, beta=0.05)", {"quasi": HETEROGENEOUS_QUASI}),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        unit = sort_seconds()
        home = Path(folder)
        lines = []
        for name, (promise, how) in CASES.items():
            _audited(census(WARM, **how), promise, home / "warm")
            lines.append((name, f"{ROWS:,}", *_audited(census(ROWS, **how), promise, home / name[:5])))
        for rows in WIDE[1]:
            taken = _audited(_wide(WIDE[0], rows), "beta-likeness(beta=4)", home / "wide")
            lines.append((f"beta-likeness, {WIDE[0]} QIs", f"{rows:,}", *taken))
        show(
            f"Audits (processor time; one np.argsort of 500,000 float64: {1000 * unit:.0f} ms in this run); wanted: at "
            "most twice the publication, which makes a release and writes its files",
            ("what", "rows", "publish", "audit with the trace", "without it"),
            [(*line[:2], *(f"{taken:.1f} s ({taken / line[2]:.1f} x)" for taken in line[2:])) for line in lines],
        )
        _commands(home)
        _distinct(home)
        _queries(home / "ambig")


def _audited(table: dc.Table, promise: str, folder: Path) -> tuple[float, float, float]:
    """The processor seconds to publish (to make the release and to write its files), to audit with the trace and
    without it."""
    release: list[Any] = []

    def publish() -> None:
        release.append(dc.publish(table, promise))
        release[0].save(folder, force=True)

    published = processor_seconds(publish)
    traces = release[0].trace, None
    audited = [processor_seconds(lambda t=trace: _holds(dc.audit(folder, table, trace=t))) for trace in traces]
    return published, audited[0], audited[1]


def _holds(found: Any) -> None:
    assert found.holds, found.verdict


def _wide(quasi: int, rows: int) -> dc.Table:
    """A table with independent quasi-identifiers, numbers and categories in turn."""
    rng = np.random.default_rng(0)
    names = [f"q{at}" for at in range(quasi)]
    columns: dict[str, Any] = {name: np.round(rng.normal(size=rows) * (5 + at)) for at, name in enumerate(names)}
    for at, name in list(enumerate(names))[1::2]:
        columns[name] = np.char.add("c", rng.binomial(2 + at % 9, 0.4, rows).astype(str))
    columns["s"] = rng.integers(0, 20, rows)
    return dc.read(pa.table(columns), quasi=names, sensitive="s", categorical=[*names[1::2], "s"])


def _commands(home: Path) -> None:
    """Measure the commands on an ambiguous release, each in a process of its own, from reading the table on."""
    table, csv, folder, trace = census(ROWS, quasi=HETEROGENEOUS_QUASI), home / "t.csv", home / "r", home / "trace.csv"
    write_csv(pa.table({one.name: one.values[one.codes] for one in (*table.quasi, *table.sensitive)}), csv)
    roles = ["--quasi", ",".join(table.quasi_names), "--sensitive", table.sensitive[0].name]
    kept = ["--promise", CASES["ambiguity, 7 QIs"][0], "--trace", trace]
    works = {
        "publish, and audit with the trace": ["publish", csv, "-o", folder, *roles, *kept],
        "audit with the trace": ["audit", folder, "--original", csv, "--trace", trace],
        "audit without it": ["audit", folder, "--original", csv],
    }
    lines = []
    for name, given in works.items():
        begun = subprocess.Popen([sys.executable, "-m", "discreet", *map(str, given)], stdout=subprocess.DEVNULL)
        used = os.wait4(begun.pid, 0)[2]
        lines.append((name, f"{used.ru_utime + used.ru_stime:.1f} s", f"{used.ru_maxrss / 1e6:.2f} GB"))
    heads = ("command", "processor time", "most memory")
    show(f"Commands on {ROWS:,} rows: ambiguity, 7 QIs, CSV", heads, lines)


def _distinct(home: Path) -> None:
    """Measure publishing and auditing of columns in which every value occurs in only two rows."""
    lines = []
    for number in VALUES:
        names = np.repeat([f"name {at}" for at in range(number)], 2)
        rows = np.arange(len(names))
        given = pa.table({"name": names, "age": rows % 60, "disease": np.char.add("d", (rows % 7).astype(str))})
        for quasi, sensitive in ((["name", "age"], "disease"), (["age"], "name")):
            table = dc.read(given, quasi=quasi, sensitive=sensitive, categorical=["name"])
            taken = _audited(table, "k-anonymity(k=5)", home / "names")
            role = "quasi-identifier" if sensitive == "disease" else "sensitive attribute"
            lines.append((role, f"{number:,}", *(f"{one:.1f} s" for one in taken)))
    heads = ("of a", "values", "publish", "audit with the trace", "without it")
    show("Very many values, two rows each (processor time)", heads, lines)


def _queries(folder: Path) -> None:
    """Measure counts from the ambiguous release that was audited."""
    table = census(ROWS, quasi=HETEROGENEOUS_QUASI)
    asked = workload(table, number=QUERIES)
    loaded: list[Any] = []
    works = {
        "load": lambda: loaded.append(dc.load(folder)),
        "one count, the first": lambda: loaded[0].estimate(
            "SELECT COUNT(*) FROM t WHERE age BETWEEN 20 AND 30 AND salary = 5"
        ),
        f"{QUERIES:,} counts, the first": lambda: loaded[0].estimates(asked),
        f"{QUERIES:,} counts": lambda: loaded[0].estimates(asked),
        "GROUP BY age, education": lambda: loaded[0].group_by(
            "SELECT age, education, COUNT(*) FROM t WHERE salary <= 10 GROUP BY age, education"
        ),
    }
    lines = [(name, f"{seconds(work, repeat=1):.2f} s") for name, work in works.items()]
    show(f"Queries on an ambiguous release of {ROWS:,} rows, 7 QIs", ("what", "time"), lines)
