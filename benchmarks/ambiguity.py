"""Ambiguity against generalization and anatomy: speed, errors, and beliefs in presence.

The figures of the paper are measured by `discreet reproduce ambiguity`. Generalization and anatomy promise
(1 / beta)-diversity, which ambiguity at the same beta implies, but nothing about presence; "cuts, presence too" makes
the same promise as ambiguity, and with "combined" alpha bounds the belief from all groups together. "product" is the
estimator of the paper. Errors of Query-1 to Query-3 are means over queries of the mean relative error of the cells that
have rows (see ``discreet.analyst.grouped_workload``); errors of the random workload (lambda 3, theta 0.1) are medians.
"""

from __future__ import annotations

import math
import tempfile
import time
from typing import Any

import numpy as np

import discreet as dc
from benchmarks import adult
from benchmarks.measuring import publish, show, sort_seconds
from discreet.analyst.grouped_workload import SELECTIVITIES, cells_of, group_by_workload
from discreet.analyst.queries import relative_errors
from discreet.analyst.workload import workload
from discreet.datasets import HETEROGENEOUS_QUASI, census
from discreet.releases.bit_counts import exact_counts
from discreet.schemes import Scheme
from discreet.table.query import Query

SEED = 1
SCHEMES: dict[str, Scheme] = {
    "ambiguity": dc.Ambiguity(random_state=SEED),
    "ambiguity, combined": dc.Ambiguity(random_state=SEED),
    "ambiguity, close": dc.Ambiguity(closeness=True, random_state=SEED),
    "ambiguity, close, with pairs": dc.Ambiguity(closeness=True, pairs="auto", random_state=SEED),
    "cuts (default)": dc.Cuts(),
    "cuts, presence too": dc.Cuts(),
    "Mondrian": dc.Mondrian(),
    "anatomy": dc.Anatomy(random_state=SEED),
}


class Asked:
    """The queries for every release of a table; few enough that anatomy, the slowest, answers them in seconds."""

    def __init__(self, table: dc.Table) -> None:
        number = 400 if table.rows > 200_000 else 800
        self.queries = workload(table, dimensionality=3, selectivity=0.1, number=number)
        self.exact = exact_counts(table, self.queries)
        self.cells = {
            name: cells_of(table, group_by_workload(table, dimensions=2, selectivity=share, number=8), 150)
            for name, share in SELECTIVITIES.items()
        }


def main() -> None:
    warm = census(2_000, quasi=HETEROGENEOUS_QUASI)
    for name, scheme in SCHEMES.items():
        publish(warm, promise(name, 0.5, 0.1), scheme).estimates([Query()])
    unit = sort_seconds()
    speed(unit)
    for title, table, beta in tables():
        compared(title, table, beta, unit)
        presence(title, table, beta)


def tables() -> list[tuple[str, dc.Table, float]]:
    """The tables, each with the smallest beta of the paper that its most frequent value allows."""
    found = []
    if adult.DATA.is_dir():
        found.append(("Adult, 30,162 rows, 8 QIs, occupation", adult.read(), 0.2))
    for rows in (100_000, 500_000):
        for name, beta in (("occupation", 0.1), ("salary", 0.05)):
            table = census(rows, quasi=HETEROGENEOUS_QUASI, sensitive=name)
            found.append((f"census, {rows:,} rows, 7 QIs, {name}", table, beta))
    return found


def promise(name: str, alpha: float, beta: float) -> dc.Principle:
    """The promise that the scheme of this name is asked for."""
    hidden = name.startswith("ambiguity") or name.endswith("presence too")
    reading = "combined" if name.endswith("combined") else "group"
    return dc.AlphaBeta(alpha, beta, reading) if hidden else dc.LDiversity(1 / beta, "frequency")


def random_error(release: Any, asked: Asked, **estimator: Any) -> float:
    """The median error on the random workload."""
    return float(np.nanmedian(relative_errors(release.estimates(asked.queries, **estimator), asked.exact)))


def grouped_error(release: Any, asked: Asked, name: str = "Query-2", **estimator: Any) -> float:
    """The mean error of GROUP BY counts."""
    cells = asked.cells[name]
    away = relative_errors(release.estimates(cells.queries, **estimator), cells.exact)
    return float((np.bincount(cells.of, away) / np.bincount(cells.of)).mean())


def errors(release: Any, asked: Asked, **estimator: Any) -> list[float]:
    """The errors on the random workload and on each of the GROUP BY workloads."""
    found = [random_error(release, asked, **estimator)]
    return found + [grouped_error(release, asked, name, **estimator) for name in SELECTIVITIES]


def shown(found: list[float]) -> list[str]:
    return [f"{value:.0%}" for value in found]


def timed(table: dc.Table, asked: dc.Principle, scheme: Scheme) -> tuple[Any, float]:
    """A release and its processor time, which depends less on the load of the machine than elapsed time."""
    start = time.process_time()
    release = publish(table, asked, scheme)
    return release, time.process_time() - start


def compared(title: str, table: dc.Table, beta: float, unit: float) -> None:
    asked = Asked(table)
    lines = []
    for name, scheme in SCHEMES.items():
        release, taken = timed(table, promise(name, 0.2, beta), scheme)
        told = (f"{taken:.1f} s", f"{taken / unit:.0f} x", f"{release.groups:,}", release.withheld)
        lines.append((name, *told, *shown(errors(release, asked))))
        if isinstance(scheme, dc.Ambiguity):
            lines.append((f"{name}: product", "", "", "", "", *shown(errors(release, asked, estimator="product"))))
    zero = ", ".join(f"{cells.dropped:,} in {name}" for name, cells in asked.cells.items())
    show(
        f"{title}: alpha=0.2, beta={beta}; {1 / beta:.0f}-diversity (time in seconds and in units of "
        f"{1000 * unit:.0f} ms; cells without rows, dropped: {zero})",
        ("scheme", "time", "", "groups", "withheld", "random", *SELECTIVITIES),
        lines,
    )


def presence(title: str, table: dc.Table, beta: float) -> None:
    """Print the beliefs about who is in the table, as audits of the files report them."""
    lines = []
    for name in ("ambiguity", "ambiguity, combined", "ambiguity, close", "cuts, presence too"):
        release = publish(table, promise(name, 0.2, beta), SCHEMES[name])
        with tempfile.TemporaryDirectory() as folder:
            release.save(f"{folder}/release")
            audit = dc.audit(f"{folder}/release", table, trace=release.trace)
        told = audit.presence
        assert told is not None and audit.holds
        common = "" if told.weighed is None else f"{told.weighed:.1%}"
        above = "" if told.above_weighed is None else f"{told.above_weighed / table.rows:.0%}"
        lines.append(
            (
                name,
                f"{told.group:.1%}",
                f"{told.combined:.1%}",
                f"{told.above_combined / table.rows:.0%}",
                common,
                above,
            )
        )
    show(
        f"The belief that someone is in the table: {title}, alpha=0.2, beta={beta} (worst by one group, which "
        "is promised; by all groups together, and the share of rows for whom it is above alpha; by one group when "
        "common values are held to be likelier, and the share of rows)",
        ("scheme", "one group", "all groups", "rows above alpha", "common values", "rows above alpha"),
        lines,
    )


def speed(unit: float) -> None:
    lines = []
    per: dict[str, float] = {}
    for rows in (100_000, 200_000, 500_000, 1_000_000, 2_000_000):
        table = census(rows, quasi=HETEROGENEOUS_QUASI)
        line: list[object] = [f"{rows:,}"]
        for name in ("ambiguity", "ambiguity, close"):
            _, taken = timed(table, dc.AlphaBeta(0.2, 0.05), SCHEMES[name])
            each = taken / (rows * math.log(rows))
            line += [f"{taken:.1f} s", f"{taken / unit:.0f} x", f"{each / per.setdefault(name, each):.2f}"]
        lines.append(line)
    show(
        f"Publishing, 7 QIs, salary, alpha=0.2, beta=0.05 (processor time, and in units of one np.argsort of 500,000 "
        f"float64, {1000 * unit:.0f} ms; time per n log n as a multiple of that at 100,000 rows; wanted at 500,000: "
        "under 10 s)",
        ("rows", "ambiguity", "", "per n log n", "close", "", "per n log n"),
        lines,
    )
