"""Measure times, as ratios to a sort in the same run, and memory, as the peak above the level before."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import discreet as dc
from discreet.principles.principle import as_principle
from discreet.schemes import make_scheme
from discreet.schemes.described import narrow

plots = Path("build")
"""The folder for plots."""
KEYS = np.random.default_rng(0).random(500_000)


def seconds(work: Callable[[], object], repeat: int = 3, clock: Callable[[], float] = time.perf_counter) -> float:
    """The time of the fastest of ``repeat`` runs; by the clock ``time.process_time`` that of the processors."""
    best = float("inf")
    for _ in range(repeat):
        start = clock()
        work()
        best = min(best, clock() - start)
    return best


def publish(table: dc.Table, promise: Any, scheme: Any = None) -> Any:
    """A release with intervals as narrow as papers and rivals publish them, so that losses can be compared."""
    made = make_scheme(scheme, principle=as_principle(promise)) if scheme is None or isinstance(scheme, str) else scheme
    return dc.publish(table, promise, narrow(made))


def processor_seconds(work: Callable[[], object]) -> float:
    """The processor time of one run, which depends less on the load of the machine than elapsed time."""
    start = time.process_time()
    work()
    return time.process_time() - start


def sort_seconds() -> float:
    """The unit of time: one `np.argsort` of 500,000 float64."""
    return seconds(lambda: np.argsort(KEYS), repeat=7)


def peak_above(work: Callable[[], object]) -> int:
    """The peak memory of this process during some work, above its level before, in bytes (Linux only)."""
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak to the present level
    before = _status("VmRSS")
    work()
    return _status("VmHWM") - before


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    raise KeyError(key)


def show(title: str, header: Sequence[str], lines: Sequence[Sequence[object]]) -> None:
    """Print a Markdown table."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for line in lines:
        print(
            "| " + " | ".join(f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in line) + " |",
            flush=True,
        )
