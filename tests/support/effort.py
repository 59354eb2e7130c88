"""How much work something is, on machines that do other work as well: calls are counted, and times are compared."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType


def calls(work: Callable[[], object]) -> int:
    """How many functions some work calls, those in C included: loops over rows show, and a busy machine does not."""
    number = 0

    def count(_frame: FrameType, event: str, _of: object) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return number


def growth(small: Callable[[], object], large: Callable[[], object], rounds: int = 4) -> float:
    """How many times the processor time of a small task a large one takes, at best.

    They are timed in turn, so that whatever else the machine does slows both.
    """
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for at, work in enumerate((small, large)):
            best[at] = min(best[at], processor_time(work))
    return best[1] / best[0]


def processor_time(work: Callable[[], object], least: float = 0.05) -> float:
    """The seconds that some work takes, repeated for a while: some systems count processor time in hundredths only."""
    repeats, start = 0, time.process_time()
    while (spent := time.process_time() - start) < least:
        work()
        repeats += 1
    return spent / repeats
