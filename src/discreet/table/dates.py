"""Columns of dates: recognised when all their texts have one form, or read in a declared form (as for strptime)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table.date_numbers import DAY, Notation, is_moment
from discreet.table.numerals import mark_advice
from discreet.table.raw_column import RawColumn, matches

DATE = r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
"""How all dates begin."""
CLOCKS = (
    ("", "", ""),
    *((rf"{mark}(\d{{1,2}})(:\d{{2}})", f"{mark}%H:%M", r"T0\4\5") for mark in " T"),
    *((rf"{mark}(\d{{1,2}})(:\d{{2}}:\d{{2}}(?:\.\d{{1,6}})?)", f"{mark}%H:%M:%S", r"T0\4\5") for mark in " T"),
)
"""The forms of a time of day, of which all cells of a column have the same: pattern, format, and what ISO 8601 makes of
it, with a zero before the hour."""
NEARLY = 0.9
"""With at least this share of dates, a column counts as one of dates; its other texts are mistakes or marks."""


def as_dates(column: RawColumn, form: str | None, declared: bool) -> RawColumn:
    """Return a column with its dates as numbers if all are of one form.

    Otherwise return it unchanged, or raise an error if it was ``declared`` to contain dates.

    >>> from discreet.table.raw_column import encode
    >>> as_dates(encode("born", pa.chunked_array([["03.02.1971", "28.02.1970"]])), None, False).texts
    ['1971-02-03', '1970-02-28']
    """
    if form is not None and not column.moments:
        return _numbered(column, *_declared(column, form))
    forms = dict(readings(column.words)) if column.words is not None and len(column.words) else {}
    if len(forms) == 1:
        return _numbered(column, *next(iter(forms.values())))
    if not declared:
        return column
    if forms:
        ways = " or ".join(argument("dates", {column.name: form}) for form in forms)
        raise DiscreetError(
            f"column {column.name!r} holds dates in which the day or the month may come first, such as "
            f"{column.texts[0]!r}; say {ways}"
        )
    raise DiscreetError(
        f"column {column.name!r} is declared to hold dates, but not all of its values are dates of one format; say "
        f"which format they have, as in {argument('dates', {column.name: '%d.%m.%Y'})}, or what stands for a missing "
        f"one, as in {argument('na', ['NA'])}"
    )


def readings(words: pa.Array) -> Iterator[tuple[str, tuple[NDArray[np.float64], Notation]]]:
    """Yield each form in which all texts are existing dates, with the dates as numbers.

    There are two forms when either the day or the month may come first.

    >>> [form for form, _ in readings(pa.array(["03/02/1971", "04/05/1971"]))]
    ['%d/%m/%Y', '%m/%d/%Y']
    """
    words = pc.utf8_trim_whitespace(words)
    if not matches(words[:1], DATE)[0]:
        return
    for pattern, formats in _patterns():
        if not matches(words[:1], pattern)[0] or not matches(words, pattern).all():
            continue
        earlier: list[NDArray[np.float64]] = []
        for form, iso in formats.items():
            texts = _written(words, pattern, iso)
            read = _read(texts)
            if read is not None and not any(np.array_equal(read[0], numbers) for numbers in earlier):
                earlier.append(read[0])
                yield f"{form}.%f" if any("." in text for text in texts) else form, read
        return


def strangers(words: pa.Array) -> NDArray[np.bool_] | None:
    """Mark the texts that are not existing dates of the form that nearly all texts share; None without such a form.

    >>> days = [f"{day}.02.2020" for day in range(1, 32)]
    >>> np.array(days)[strangers(pa.array(days))].tolist(), strangers(pa.array(["soon", "1.1.2020"]))
    (['30.02.2020', '31.02.2020'], None)
    """
    words = pc.utf8_trim_whitespace(words)
    if not _nearly_all(matches(words, DATE)):
        return None
    for pattern, formats in _patterns():
        fits = matches(words, pattern)
        if _nearly_all(fits):
            texts = (_written(words.filter(pa.array(fits)), pattern, iso) for iso in formats.values())
            sound = np.zeros(len(words), np.bool_)
            sound[fits] = max((np.array([is_moment(text) for text in dates]) for dates in texts), key=np.sum)
            return ~sound if _nearly_all(sound) else None
    return None


def _nearly_all(places: NDArray[np.bool_]) -> bool:
    return bool(places.any()) and bool(places.mean() >= NEARLY)


def _patterns() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the forms of a date as patterns, with the formats that each may be, and what ISO 8601 makes of these."""
    year, short = r"(\d{4})", r"(\d{1,2})"
    for mark in "-/.":
        for parts, orders in (
            ((year, short, short), {"%Y %m %d": r"\1-0\2-0\3"}),
            ((short, short, year), {"%d %m %Y": r"\3-0\2-0\1", "%m %d %Y": r"\3-0\1-0\2"}),
        ):
            for clock, form, time in CLOCKS:
                formats = {order.replace(" ", mark) + form: day + time for order, day in orders.items()}
                yield f"^{f'[{mark}]'.join(parts)}{clock}$", formats


def _written(words: pa.Array, pattern: str, iso: str) -> list[str]:
    """Write texts that match a pattern in ISO 8601."""
    texts = pc.replace_substring_regex(words, pattern, iso)
    return [str(text) for text in pc.replace_substring_regex(texts, r"([-T])0(\d\d)", r"\1\2").to_pylist()]


def _read(texts: list[str]) -> tuple[NDArray[np.float64], Notation] | None:
    """Convert dates to numbers; None if one does not exist, or if rounding would make two of them equal."""
    try:
        moments = np.array(texts, "datetime64[us]")
    except ValueError:
        return None
    return None if moments.min() < np.datetime64("0001-01-01") else _in_notation(moments.astype(np.int64))


def _in_notation(micro: NDArray[np.int64]) -> tuple[NDArray[np.float64], Notation] | None:
    """Convert microseconds since the start of 1970 to days, or to seconds unless all are midnight.

    None if floating-point seconds could not keep all microseconds apart.
    """
    if not (micro % (DAY * 1_000_000)).any():
        return (micro // (DAY * 1_000_000)).astype(np.float64), "date"
    # beyond 2^33 seconds from 1970, floating-point seconds cannot distinguish all microseconds
    if (micro % 1_000_000).any() and np.abs(micro // 1_000_000).max() >= 2**33:
        return None
    return micro // 1_000_000 + (micro % 1_000_000) / 1e6, "datetime"


def _declared(column: RawColumn, form: str) -> tuple[NDArray[np.float64], Notation]:
    """Read the dates of a column in its declared form."""
    _check_form(column.name, form)
    start, micro = datetime(1970, 1, 1), []
    for place, text in enumerate(column.texts):
        try:
            passed = datetime.strptime(text.strip(), form) - start
        except ValueError:
            row, _ = column.first(np.arange(len(column.texts)) == place)
            raise DiscreetError(
                f"column {column.name!r} is declared to hold dates of the format {form} but holds {text!r} in row "
                f"{row}; {mark_advice(text) or 'correct it, or the format'}"
            ) from None
        micro.append((passed.days * DAY + passed.seconds) * 1_000_000 + passed.microseconds)
    dates = _in_notation(np.array(micro, np.int64))
    if dates is None:
        raise DiscreetError(
            f"column {column.name!r} holds times that differ by less than can be told apart in its years; round them"
        )
    return dates


def _check_form(name: str, form: str) -> None:
    """Refuse a form that does not determine a date."""
    probe = datetime(2001, 2, 3)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # about a day without a year, which is refused below
            read = datetime.strptime(probe.strftime(form), form)
        sound = read.year == probe.year and read.tzinfo is None
    except (ValueError, TypeError, re.error):  # a directive that occurs twice is a group of a pattern twice
        sound = False
    if not sound:
        raise DiscreetError(
            f"{form!r} is not a format of the dates in column {name!r}; say for example "
            f"{argument('dates', {name: '%d.%m.%Y'})}"
        )


def _numbered(column: RawColumn, numbers: NDArray[np.float64], notation: Notation) -> RawColumn:
    return replace(column, words=None, numbers=numbers, notation=notation, categories=False, untyped=False)
