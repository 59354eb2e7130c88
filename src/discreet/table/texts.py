"""How values are written as text, and when a text is a number."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

MISSING = "(missing)"
"""The name of a missing value where it is a value of its own."""

LARGEST_WHOLE = 2**53
"""Whole numbers beyond this one cannot be told apart once they are held as floating-point numbers."""

LARGEST_DIGITS = len(str(LARGEST_WHOLE))

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
WHOLE = r"^[+-]?[0-9]+$"
LEADING_ZERO = r"^[+-]?0[0-9]"
"""Codes such as 01301: their zeros carry meaning, so they are no numbers unless the user says so."""

_number = re.compile(NUMBER)
_leading_zero = re.compile(LEADING_ZERO)


def number_text(number: float) -> str:
    """Write a number the short way: whole numbers without a decimal point.

    >>> number_text(17.0), number_text(2.5), number_text(10**20)
    ('17', '2.5', '100000000000000000000')
    """
    if isinstance(number, int):
        return str(number)
    number = float(number)
    return str(int(number)) if number.is_integer() and abs(number) <= LARGEST_WHOLE else repr(number)


def value_text(value: Any) -> str:
    """Write any single value as the text it is known by.

    >>> value_text(True), value_text(17.0), value_text("a ")
    ('True', '17', 'a ')
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, (int, float)):
        return number_text(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return str(value)


def is_null(value: Any) -> bool:
    """Whether a value of Python, NumPy or pandas stands for none.

    >>> is_null(None), is_null(float("nan")), is_null("")
    (True, True, False)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def is_missing(value: Any) -> bool:
    """Whether a value is missing from a table: null, NaN, or blank text.

    >>> is_missing(None), is_missing(" "), is_missing(0)
    (True, True, False)
    """
    return not value.strip() if isinstance(value, str) else is_null(value)


def is_number(text: str) -> bool:
    """Whether a text is a number as people write it.

    >>> is_number("-1.5e3"), is_number("1_0"), is_number("nan")
    (True, False, False)
    """
    return _number.match(text) is not None


def canonical(text: str) -> str:
    """The form under which two ways of writing one value meet: no blanks at the ends, 17.0 as 17, but 017 as it is.

    >>> canonical(" 17.0"), canonical("017"), canonical("1e2")
    ('17', '017', '100')
    """
    text = text.strip()
    if is_number(text) and not _leading_zero.match(text):
        return number_text(float(text))
    return text


def near(name: str, known: Iterable[str]) -> str:
    """A hint for a name that is not among those known.

    >>> near("agee", ["age", "sex"])
    "did you mean 'age'?"
    >>> near("income", ["age", "sex"])
    "there are 'age', 'sex'"
    """
    names = [str(one) for one in known]
    lowered = {one.strip().lower(): one for one in reversed(names)}
    close = difflib.get_close_matches(name.strip().lower(), list(lowered), n=3)
    if close:
        return f"did you mean {' or '.join(repr(lowered[one]) for one in close)}?"
    shown = ", ".join(repr(one) for one in names[:12])
    return f"there are {shown}" + (f" and {len(names) - 12} more" if len(names) > 12 else "")
