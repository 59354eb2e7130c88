"""Engines: the loss of tables that are published in parts, and the time and peak memory of large ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

import discreet as dc
from benchmarks.measuring import show
from discreet.analyst.loss import ail
from discreet.datasets import LIKENESS_QUASI
from discreet.datasets.census import census_arrow, census_hierarchies
from discreet.engines.scale import Scale
from discreet.jobs.job import Job
from discreet.jobs.large import carry_out_large
from discreet.table.write import as_plain

ROWS, SEEDS = 500_000, 3
PIECE = 1_000_000
SIZES = (1_000_000, 5_000_000, 20_000_000, 50_000_000)
MEMORY, TASK = "2GB", "1GB"
PORT = 50_123


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        _losses(Path(home))
        _large(Path(home))


def _job(path: Path, quasi: list[str], beta: float, seed: int | None = None, **engine: str) -> Job:
    """A job with the hierarchies of the census."""
    trees = {name: tree for name, tree in census_hierarchies().items() if name in quasi}
    keys = {"input": str(path), "output": str(path.with_suffix("")), "quasi": quasi, "sensitive": ["salary"]}
    how = {"hierarchies": trees, "scheme": "cuts", "force": True}
    more = {"promises": [f"beta-likeness(beta={beta})"], "format": "parquet", "memory": MEMORY}
    more |= engine or {"engine": "duckdb"}
    return Job.of({**keys, **how, **more, **({} if seed is None else {"seed": seed})})


def _losses(home: Path) -> None:
    """The loss in about 64 parts, beside that of the same table in memory."""
    lines = []
    scale = Scale(600_000_000, ROWS // 40)
    with _server() as (address, _):
        for number in (3, 5):
            quasi = list(LIKENESS_QUASI[:number])
            path = home / "census.parquet"
            pq.write_table(as_plain(census_arrow(ROWS, attributes=[*quasi, "salary"])), path)
            trees = _job(path, quasi, 1).table.hierarchies
            table = dc.read(str(path), quasi=quasi, sensitive="salary", hierarchies=trees)
            for beta in (1, 2, 4):
                each, parts = [], 0
                for seed in range(SEEDS):
                    scheme = dc.Cuts(random_state=seed, marginals="none")
                    found = [ail(dc.publish(table, dc.BetaLikeness(beta), scheme))]
                    for engine in ({"engine": "duckdb"}, {"engine": "spark", "remote": address}):
                        made = carry_out_large(_job(path, quasi, beta, seed, **engine), scale=scale)
                        parts = made.written.parts
                        found.append(ail(dc.load(path.with_suffix(""))))
                    each.append(found)
                memory, *others = (sum(column) / SEEDS for column in zip(*each, strict=True))
                shown = [f"{other:.4f} ({other / memory - 1:+.1%})" for other in others]
                lines.append((number, beta, f"{memory:.4f}", *shown, parts))
    header = ("quasi-identifiers", "beta", "AIL in memory", "by duckdb", "by spark", "parts")
    show(f"engines: census of {ROWS:,} rows, cuts, mean of {SEEDS} seeds", header, lines)


def _large(home: Path) -> None:
    """Seconds, processor time and peak memory of whole processes."""
    lines: list[tuple[str, ...]] = []
    for rows in SIZES:
        source, quasi = home / f"large-{rows}", list(LIKENESS_QUASI[:5])
        names = [*quasi, "salary"]
        source.mkdir()
        for piece in range(rows // PIECE):  # as files that Spark reads, too
            pq.write_table(as_plain(census_arrow(PIECE, seed=piece, attributes=names)), source / f"{piece}.parquet")
        roles = ["--quasi", ",".join(quasi), "--sensitive", "salary"]
        publish = ["publish", str(source), *roles, "--promise", "beta-likeness(beta=2)", "--scheme", "cuts"]
        publish += ["--format", "parquet", "--force", "-q"]
        release, trace, small = str(home / "release"), str(home / "trace.csv"), ["--memory", MEMORY]
        if rows <= SIZES[1]:
            whole = home / "whole.parquet"
            pq.write_table(pq.read_table(source), whole)
            done = Done.of(["publish", str(whole), *publish[2:], "-o", str(home / "memory")])
            lines.append((f"{rows:,}", "publish, audit", "memory", *done.shown))
        done = Done.of([*publish, "-o", release, "--engine", "duckdb", *small, "--trace", trace])
        lines.append((f"{rows:,}", "publish, trace", "duckdb", *done.shown))
        audit = ["audit", release, "--original", str(source), *roles, "--engine", "duckdb", *small, "-q"]
        lines.append((f"{rows:,}", "audit by trace", "duckdb", *Done.of([*audit, "--trace", trace]).shown))
        lines.append((f"{rows:,}", "audit without", "duckdb", *Done.of(audit).shown))
        if rows <= SIZES[2]:
            with _server() as (address, number):
                words = [*publish, "-o", str(home / "spark"), "--engine", "spark", "--remote", address]
                done = Done.of([*words, "--memory", TASK])
                served = Path(f"/proc/{number}/status").read_text(encoding="utf-8").split("VmHWM:")[1].split()[0]
            lines.append((f"{rows:,}", "publish", "spark", *done.shown[:-1], f"{done.shown[-1]} + {_gb(int(served))}"))
        shutil.rmtree(source)
    header = ("rows", "what", "engine", "time", "processor", "peak")
    show(f"engines: census, 5 quasi-identifiers, beta=2, --memory {MEMORY}, spark {TASK} a task", header, lines)


class Done(NamedTuple):
    """What a command took."""

    seconds: float
    processor: float
    kilobytes: int

    @classmethod
    def of(cls, words: list[str]) -> Done:
        start = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "discreet", *words])
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, words
        return cls(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)

    @property
    def shown(self) -> tuple[str, str, str]:
        return f"{self.seconds:.0f} s", f"{self.processor:.0f} s", _gb(self.kilobytes)


def _gb(kilobytes: int) -> str:
    return f"{kilobytes * 1024 / 1e9:.2f} GB"


@contextmanager
def _server() -> Iterator[tuple[str, int]]:
    """Run a Spark Connect server as a process; its address and number."""
    code = "from pysail.spark import SparkConnectServer as Server; "
    code += f"Server('127.0.0.1', {PORT}).start(background=False)"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    try:
        time.sleep(5)
        yield f"sc://127.0.0.1:{PORT}", process.pid
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main()
