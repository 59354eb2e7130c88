"""The processors that this process may use."""

from __future__ import annotations

import os


def threads() -> int:
    """Return how many processors this process may use.

    >>> threads() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
