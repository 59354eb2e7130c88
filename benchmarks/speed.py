"""Speed and memory: publishing, its growth with the rows, the whole command, and the start of the command line."""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.csv

import discreet as dc
from benchmarks.measuring import peak_above, seconds, show, sort_seconds
from discreet.datasets import census, census_arrow

PROMISE = dc.BetaLikeness(4)


def main() -> None:
    for scheme in (dc.Cuts(), dc.Burel()):
        dc.publish(census(1000), PROMISE, scheme)  # compiles kernels
    unit = sort_seconds()
    table = census(500_000)
    coded = sum(column.codes.nbytes for column in table.columns)
    peak = peak_above(lambda: dc.publish(table, PROMISE))  # first, before other work enlarges the process
    publish = seconds(lambda: dc.publish(table, PROMISE))
    burel = seconds(lambda: dc.publish(table, PROMISE, dc.Burel()))
    command = _command_seconds()
    start = _help_seconds()
    show(
        f"Speed (unit: one np.argsort of 500,000 float64, {1000 * unit:.0f} ms in this run)",
        ("what", "measured", "wanted"),
        [
            ("publish 500,000 x 3 QIs, beta=4, effort=fast", f"{publish / unit:.1f} x", "at most 25 x"),
            ("BUREL on the same", f"{burel / unit:.1f} x", "at most 8 x"),
            (
                "peak memory of effort=fast, above the coded table",
                f"{peak / coded:.1f} x the coded table",
                "at most 10 x",
            ),
            ("whole command on a CSV of 500,000 rows, audited", f"{command / unit:.0f} x", "at most 100 x"),
            ("discreet --help", f"{start:.2f} s CPU", "under 0.3 s"),
        ],
    )
    lines = []
    base: dict[str, float] = {}
    for rows in (100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000):
        grown = census(rows)
        line = [f"{rows:,}"]
        keys = np.random.default_rng(0).random(rows)
        works = {
            "cuts": lambda t=grown: dc.publish(t, PROMISE),
            "burel": lambda t=grown: dc.publish(t, PROMISE, dc.Burel()),
            "argsort": lambda k=keys: np.argsort(k),
        }
        for name, work in works.items():
            taken = seconds(work, repeat=3)
            per_step = taken / (rows * math.log2(rows))
            line += [f"{taken:.2f} s", f"{per_step / base.setdefault(name, per_step):.2f}"]
        lines.append(line)
    show(
        "Growth (time, and time per n log n as a multiple of that at 100,000 rows; a sort alone grows faster, "
        "once it leaves the caches)",
        ("rows", "cuts", "per n log n", "BUREL", "per n log n", "one np.argsort", "per n log n"),
        lines,
    )


def _command_seconds() -> float:
    """The time of a separate process from reading a CSV to the saved and audited release."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "census.csv"
        pyarrow.csv.write_csv(census_arrow(500_000, attributes=("age", "gender", "education", "salary")), source)
        command = [
            *(sys.executable, "-m", "discreet", "publish", str(source), "-o", f"{folder}/release"),
            *(
                "--quasi",
                "age,gender,education",
                "--sensitive",
                "salary",
                "--promise",
                str(PROMISE),
                "--force",
                "--json",
            ),
        ]

        def run() -> None:
            result = subprocess.run(command, check=True, capture_output=True)
            assert json.loads(result.stdout)["holds"]

        return seconds(run)


def _help_seconds() -> float:
    """The processor time of a start, which depends less on the load of the machine than elapsed time."""
    best = float("inf")
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "discreet", "--help"], check=True, capture_output=True, env=os.environ)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best
