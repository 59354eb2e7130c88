"""Engines: the loss of tables that are published in parts, and the time and peak memory of large ones."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

import discreet as dc
from benchmarks.measuring import show
from discreet.analyst.loss import ail
from discreet.datasets import LIKENESS_QUASI
from discreet.datasets.census import census_arrow, census_hierarchies
from discreet.engines.scale import Scale
from discreet.jobs.job import Job
from discreet.jobs.large import carry_out_large

ROWS, SEEDS = 500_000, 3
PIECE = 1_000_000
SIZES = (1_000_000, 5_000_000, 20_000_000, 50_000_000)
MEMORY = "2GB"


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        _losses(Path(home))
        _large(Path(home))


def _job(path: Path, quasi: list[str], beta: float, seed: int | None = None) -> Job:
    """A job with the hierarchies of the census."""
    trees = {name: tree for name, tree in census_hierarchies().items() if name in quasi}
    keys = {"input": str(path), "output": str(path.with_suffix("")), "quasi": quasi, "sensitive": ["salary"]}
    how = {"hierarchies": trees, "scheme": "cuts", "force": True}
    more = {"promises": [f"beta-likeness(beta={beta})"], "format": "parquet", "engine": "duckdb", "memory": MEMORY}
    return Job.of({**keys, **how, **more, **({} if seed is None else {"seed": seed})})


def _losses(home: Path) -> None:
    """The loss in about 64 parts, beside that of the same table in memory."""
    lines = []
    scale = Scale(600_000_000, ROWS // 40)
    for number in (3, 5):
        quasi = list(LIKENESS_QUASI[:number])
        path = home / "census.parquet"
        pq.write_table(census_arrow(ROWS, attributes=[*quasi, "salary"]), path)
        table = dc.read(str(path), quasi=quasi, sensitive="salary", hierarchies=_job(path, quasi, 1).table.hierarchies)
        for beta in (1, 2, 4):
            both, parts = [], 0
            for seed in range(SEEDS):
                scheme = dc.Cuts(random_state=seed, marginals="none")
                own = ail(dc.publish(table, dc.BetaLikeness(beta), scheme))
                parts = carry_out_large(_job(path, quasi, beta, seed), scale=scale).written.parts
                both.append((own, ail(dc.load(path.with_suffix("")))))
            memory, duckdb = (sum(each) / SEEDS for each in zip(*both, strict=True))
            lines.append((number, beta, f"{memory:.4f}", f"{duckdb:.4f}", f"{duckdb / memory - 1:+.1%}", parts))
    header = ("quasi-identifiers", "beta", "AIL in memory", "AIL in parts", "difference", "parts")
    show(f"engines: census of {ROWS:,} rows, cuts, mean of {SEEDS} seeds", header, lines)


def _large(home: Path) -> None:
    """Seconds and peak memory of whole processes."""
    lines = []
    for rows in SIZES:
        path, quasi = home / "large.parquet", list(LIKENESS_QUASI[:5])
        names = [*quasi, "salary"]
        with pq.ParquetWriter(path, census_arrow(1, attributes=names).schema) as writer:
            for piece in range(rows // PIECE):
                writer.write_table(census_arrow(PIECE, seed=piece, attributes=names))
        for engine in ("memory", "duckdb") if rows <= SIZES[1] else ("duckdb",):
            words = [
                "publish",
                str(path),
                "-o",
                str(home / "large"),
                "--quasi",
                ",".join(quasi),
                "--sensitive",
                "salary",
            ]
            words += ["--promise", "beta-likeness(beta=2)", "--scheme", "cuts", "--format", "parquet", "--force", "-q"]
            words += ["--engine", engine, *(["--memory", MEMORY] if engine == "duckdb" else [])]
            start = time.perf_counter()
            process = subprocess.Popen([sys.executable, "-m", "discreet", *words])
            _, status, usage = os.wait4(process.pid, 0)
            took = time.perf_counter() - start
            lines.append((f"{rows:,}", engine, f"{took:.0f} s", f"{usage.ru_maxrss * 1024 / 1e9:.2f} GB", status))
    show(
        f"engines: census, 5 quasi-identifiers, beta=2, --memory {MEMORY}",
        ("rows", "engine", "time", "peak", "exit"),
        lines,
    )


if __name__ == "__main__":
    main()
