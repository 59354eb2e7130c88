"""Callbacks that report the progress of long work."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Called with a description of the current work and the share of it that is done."""

Tell = Callable[[float], None]
"""Called with the share of the work that is done."""

COMPILES = "compiling"
"""The work of compiling kernels, which may take longer than everything else."""
PATIENCE = 1.0
"""Seconds of compiling before it is told."""


def silent(share: float) -> None:
    """Ignore all progress."""


def unheard(stage: str, share: float) -> None:
    """Ignore all progress of work that is named."""


def part_of(tell: Tell, first: float, last: float) -> Tell:
    """Return a callback for a part of the work that spans the shares ``first`` to ``last`` of the whole.

    >>> part_of(print, 0.5, 1.0)(0.5)
    0.75
    """
    return lambda share: tell(first + (last - first) * share)
