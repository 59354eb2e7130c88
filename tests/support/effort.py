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
            start = time.process_time()
            work()
            best[at] = min(best[at], time.process_time() - start)
    return best[1] / best[0]
