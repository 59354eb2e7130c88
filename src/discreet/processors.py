"""The processors that this process may use, and the memory."""

from __future__ import annotations

import os


def threads() -> int:
    """Return how many processors this process may use.

    >>> threads() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory() -> int | None:
    """Return the bytes of memory of this machine; None if the system does not tell.

    >>> memory() is None or memory() > 0
    True
    """
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has none of it
        return None
