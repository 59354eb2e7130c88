"""Lifting beside cuts: losses, errors of count queries and times, each release audited from its files."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import discreet as dc
from benchmarks import adult
from benchmarks.measuring import show, sort_seconds
from discreet.analyst.loss import ail, gcp
from discreet.analyst.workload import run, workload
from discreet.datasets import HETEROGENEOUS_QUASI, LIKENESS_QUASI, census

QUERIES = 1_500
SIZES = 500_000, 2_000_000
SCHEMES = {
    "cuts": dc.Cuts(),
    "cuts, thorough": dc.Cuts(effort="thorough"),
    "lifting": dc.Lifting(),
    "lifting, thorough": dc.Lifting(effort="thorough"),
    "lifting, blind": dc.Lifting(lift="blind"),
    "BUREL": dc.Burel(),
}


def main() -> None:
    dc.publish(census(5_000), dc.BetaLikeness(2), dc.Lifting())  # compiles
    if adult.DATA.is_dir():
        promises = [f"beta-likeness(beta={beta})" for beta in (1, 2, 4)]
        _compared("Adult, 8 QIs, occupation", adult.read(), promises, SCHEMES)
    table = census(10_000, quasi=HETEROGENEOUS_QUASI)
    promises = [f"beta-likeness(beta={beta}, variant=basic)" for beta in (1, 3, 5)]
    few = {name: scheme for name, scheme in SCHEMES.items() if "blind" not in name}
    _compared("census of 10,000, 7 QIs", table, [*promises, "l-diversity(l=5)", "l-diversity(l=10)"], few)
    _speed()


def _compared(title: str, table: dc.Table, promises: list[str], schemes: dict[str, dc.Scheme]) -> None:
    lines = []
    asked = [workload(table, dimensionality=number, number=QUERIES, seed=number) for number in (2, 5)]
    for promise in promises:
        for name, scheme in schemes.items():
            start = time.perf_counter()
            release = dc.publish(table, promise, scheme)
            taken = time.perf_counter() - start
            with tempfile.TemporaryDirectory() as folder:
                release.save(Path(folder) / "release")
                held = dc.audit(Path(folder) / "release", table, trace=release.trace).holds
            errors = [run(release, table, queries).median for queries in asked]
            lines.append(
                (
                    promise,
                    name,
                    f"{ail(release):.3f}",
                    f"{gcp(release):.3f}",
                    *(f"{error:.2f}" for error in errors),
                    f"{taken:.1f} s",
                    "holds" if held else "FAILS",
                )
            )
    header = ("promise", "scheme", "AIL", "GCP", "median error, 2 QIs", "5 QIs", "time", "audit of the files")
    show(f"Lifting: {title}", header, lines)


def _speed() -> None:
    unit, lines = sort_seconds(), []
    for rows in SIZES:
        table = census(rows, quasi=LIKENESS_QUASI[:5])
        start = time.perf_counter()
        release = dc.publish(table, dc.BetaLikeness(2), dc.Lifting())
        taken = time.perf_counter() - start
        growth = taken / unit / (rows * np.log(rows)) * 1e6
        lines.append((f"{rows:,}", f"{ail(release):.3f}", f"{taken:.1f} s", f"{taken / unit:.0f}", f"{growth:.2f}"))
    show("Lifting: speed, 5 QIs, beta=2", ("rows", "AIL", "time", "sorts", "sorts per n log n, x 1e6"), lines)
