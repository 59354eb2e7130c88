"""How values are written as text, and which texts are numbers."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Any

MISSING = "(missing)"
"""The text of a missing value where missing is a value of its own."""
ROOT = "*"
"""The default label of a hierarchy's root, which stands for the whole domain."""

MARKS = frozenset(
    (
        *("na", "n/a", "n.a.", "#n/a", "#na", "<na>", "nan", "-nan", "null", "nil", "none", "missing", "unknown", "nd"),
        *("#null!", "#value!", "#div/0!", "\\n", ".", "..", "...", "?", "??", "-", "--", "---", "*", "_", "x", "k.a."),
    )
)
"""Texts that commonly mark missing values in files, in lower case."""

MOST_WITHHELD = 0.05
"""The default limit on the share of rows that are withheld for missing values."""

LARGEST_WHOLE = 2**53
"""Beyond this, different whole numbers may become the same floating-point number."""

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
WHOLE = r"^[+-]?[0-9]+$"
LEADING_ZERO = r"^[+-]?0[0-9]"
"""Codes such as 01301: their leading zeros carry meaning, so they are numbers only if the user declares them so."""

_number = re.compile(NUMBER)
_leading_zero = re.compile(LEADING_ZERO)


def number_text(number: float) -> str:
    """Write a number in its shortest form: whole numbers without a decimal point.

    >>> number_text(17.0), number_text(2.5), number_text(10**20)
    ('17', '2.5', '100000000000000000000')
    """
    if isinstance(number, int):
        return str(number)
    number = float(number)
    return str(int(number)) if number.is_integer() and abs(number) <= LARGEST_WHOLE else repr(number)


def value_text(value: Any) -> str:
    """Write any single value as the text that identifies it.

    >>> value_text(True), value_text(17.0), value_text("a ")
    ('True', '17', 'a ')
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(value)
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def is_null(value: Any) -> bool:
    """Whether a value of Python, NumPy or pandas is null or NaN.

    >>> is_null(None), is_null(float("nan")), is_null("")
    (True, True, False)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return value.is_nan() if isinstance(value, Decimal) else isinstance(value, float) and value != value


def is_missing(value: Any) -> bool:
    """Whether a table treats a value as missing: null, NaN, or blank text.

    >>> is_missing(None), is_missing(" "), is_missing(0)
    (True, True, False)
    """
    return not value.strip() if isinstance(value, str) else is_null(value)


def is_number(text: str) -> bool:
    """Whether a text is a decimal number; digits with underscores, nan and infinities are not.

    >>> is_number("-1.5e3"), is_number("1_0"), is_number("nan")
    (True, False, False)
    """
    return _number.match(text) is not None


def canonical(text: str) -> str:
    """Return one spelling for all spellings of a value: blanks at the ends removed, 17.0 as 17, but 017 unchanged.

    Numbers that differ only in digits beyond floating-point precision keep different spellings.

    >>> canonical(" 17.0"), canonical("017"), canonical("1e2"), canonical("12345678901234567891")
    ('17', '017', '100', '12345678901234567891')
    """
    text = text.strip()
    if is_number(text) and not _leading_zero.match(text):
        short = number_text(float(text))
        return short if exact(short) == exact(text) else text
    return text


def exact(text: str) -> Decimal | None:
    """Convert a text to the exact number; None if its exponent is too large for ``Decimal``.

    >>> exact("0.50") == exact(".5"), exact("1e-99999999999999999999")
    (True, None)
    """
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def near(name: str, known: Iterable[str], most: int = 3) -> str:
    """Return a hint for an unknown name: up to ``most`` similar known names, or a list of the known ones.

    >>> near("agee", ["age", "sex"])
    "did you mean 'age'?"
    >>> near("income", ["age", "sex"])
    "there are 'age', 'sex'"
    """
    names = [str(name) for name in known]
    lowered = {name.strip().lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(name.strip().lower(), list(lowered), n=most)
    if close:
        return f"did you mean {' or '.join(repr(lowered[match]) for match in close)}?"
    if not names:
        return "none has a name"
    shown = ", ".join(map(repr, names[:12]))
    return f"there are {shown}" + (f" and {len(names) - 12} more" if len(names) > 12 else "")
