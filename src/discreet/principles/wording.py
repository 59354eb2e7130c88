"""Numbers and lists formatted for a data steward."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np


def percent(share: float) -> str:
    """A share as a percentage: one decimal, or two significant digits when it is small.

    >>> percent(0.11), percent(0.000298), percent(0.0), percent(-0.25)
    ('11.0 %', '0.03 %', '0.0 %', '-25.0 %')
    """
    value = 0.0 if abs(share) < 1e-9 else 100.0 * share
    if value == 0.0 or abs(value) >= 0.95:
        return f"{value:.1f} %"
    return f"{np.format_float_positional(value, precision=2, fractional=False, trim='-')} %"


def counted(number: float, what: str) -> str:
    """A number of things, in words.

    >>> counted(1, "audit"), counted(1200, "audit"), counted(2.5, "row")
    ('1 audit', '1,200 audits', '2.5 rows')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def rows(count: int) -> str:
    """A number of rows, in words.

    >>> rows(1), rows(12345)
    ('1 row', '12,345 rows')
    """
    return counted(count, "row")


def listed(words: Iterable[str]) -> str:
    """Words joined by commas and a final "and".

    >>> listed("a"), listed("ab"), listed("abc")
    ('a', 'a and b', 'a, b and c')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def about(value: float) -> str:
    """A number rounded for display to three significant digits, or to a whole number from 1,000 on.

    >>> about(2.5), about(0.33333), about(12345.6), about(1.7e300), about(float("inf"))
    ('2.5', '0.333', '12,346', '1.7e+300', 'infinite')
    """
    if math.isinf(value):
        return "infinite"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"


def ordinal(number: int) -> str:
    """An ordinal number in short form.

    >>> ordinal(1), ordinal(2), ordinal(3), ordinal(11), ordinal(22)
    ('1st', '2nd', '3rd', '11th', '22nd')
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"
