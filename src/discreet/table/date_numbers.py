"""Dates and times as numbers, and their text in ISO 8601.

A column of dates is numeric. Its numbers are days since the start of 1970, or seconds if there is a time of day. They
are written as dates only for output.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from typing import Any, Literal

from discreet.table.floors import Cells
from discreet.table.texts import is_number, number_text

Notation = Literal["number", "date", "datetime"] | Cells
"""How the numbers of a numeric column are written: as numbers, dates, dates with a time of day, or cells of a floor."""
Meaning = Literal["numeric", "date", "datetime", "ordinal", "categorical"]
"""The kind of a column as users know it: dates are a kind of their own."""

DAY = 86_400
_START = datetime(1970, 1, 1)
_iso = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?")


def written(number: float, notation: Notation) -> str:
    """Write a number of a column as it is published.

    >>> written(17.0, "number"), written(398, "date"), written(0.5, "datetime")
    ('17', '1971-02-03', '1970-01-01T00:00:00.5')
    >>> written(7, Cells("number", "5")), written(13, Cells("date", "month"))
    ('[35, 39]', '[1971-02-01, 1971-02-28]')
    """
    if isinstance(notation, Cells):
        first, last = (written(float(end), notation.base) for end in (notation.first(number), notation.last(number)))
        return first if first == last else f"[{first}, {last}]"
    if notation == "number":
        return number_text(number)
    if notation == "date":
        return (_START + timedelta(days=float(number))).date().isoformat()
    text = (_START + timedelta(seconds=float(number))).isoformat()
    return text.rstrip("0") if "." in text else text


def in_calendar(number: float, notation: Notation) -> bool:
    """Whether a number of a column of dates is a date that can be written, from year 1 to 9999.

    >>> in_calendar(398, "date"), in_calendar(3e6, "date")
    (True, False)
    """
    try:
        return bool(written(number, notation))
    except OverflowError:
        return False


def moment(text: str, notation: Notation) -> float:
    """Convert a date in ISO 8601 to a number of a column of this notation; ValueError if the text is not a date.

    >>> moment("1971-02-03", "date"), moment("1970-01-02 00:01", "datetime"), moment("1970-01-01T12:00", "date")
    (398.0, 86460.0, 0.5)
    """
    if not _iso.fullmatch(text):
        raise ValueError(text)
    passed = datetime.fromisoformat(text) - _START
    seconds = passed.days * DAY + passed.seconds + passed.microseconds / 1e6
    return seconds / DAY if notation == "date" else float(seconds)


def meaning_of(kind: Literal["numeric", "ordinal", "categorical"], notation: Notation) -> Meaning:
    """Return the kind as users know it, in which dates differ from numbers."""
    plain = notation.base if isinstance(notation, Cells) else notation
    return kind if plain == "number" else plain


def is_moment(text: str) -> bool:
    """Whether a text is an existing date in ISO 8601, with or without a time of day.

    >>> is_moment("2021-03-07"), is_moment("2021-02-30"), is_moment("7.3.2021")
    (True, False, False)
    """
    try:
        moment(text, "datetime")
    except ValueError:
        return False
    return True


def given_text(value: Any) -> Any:
    """Convert a date or time of Python, NumPy or pandas to text; return anything else unchanged.

    >>> given_text(date(2021, 3, 7)), given_text(17)
    ('2021-03-07', 17)
    """
    if isinstance(value, (date, time)):
        return value.isoformat()
    return str(value).removesuffix("T00:00:00") if type(value).__name__ == "datetime64" else value


def ends_given(text: str) -> tuple[float | str, float | str] | None:
    """Parse a range LOW:HIGH of numbers or dates into its ends; None if the text is not such a range.

    >>> ends_given("16:93"), ends_given("1900-01-01:2020-12-31"), ends_given("16-93")
    ((16.0, 93.0), ('1900-01-01', '2020-12-31'), None)
    """
    for colon in re.finditer(":", text):
        low, high = text[: colon.start()].strip(), text[colon.end() :].strip()
        if is_number(low) and is_number(high):
            return float(low), float(high)
        if is_moment(low) and is_moment(high):
            return low, high
    return None


def rising(low: float | str, high: float | str) -> bool:
    """Whether two ends of a range are both numbers or both dates, and ascending.

    >>> rising(16, 93), rising("2020-12-31", "1900-01-01"), rising(16, "1900-01-01")
    (True, False, False)
    """
    if isinstance(low, str) and isinstance(high, str):
        return is_moment(low) and is_moment(high) and moment(low, "datetime") <= moment(high, "datetime")
    return not isinstance(low, str) and not isinstance(high, str) and low <= high
