"""How far some work is: told while it goes on."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Called with what is being done and the share of it that is done."""

Tell = Callable[[float], None]
"""Called with the share of some work that is done."""


def silent(share: float) -> None:
    """Tell nobody."""


def part_of(tell: Tell, first: float, last: float) -> Tell:
    """What the share of a part of some work means for the whole, of which it is that from ``first`` to ``last``.

    >>> part_of(print, 0.5, 1.0)(0.5)
    0.75
    """
    return lambda share: tell(first + (last - first) * share)
