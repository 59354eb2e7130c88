"""Columns of dates: recognised when all their texts have one form, or read in a declared form (as for strptime)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table.moments import DAY, Notation
from discreet.table.numerals import mark_advice
from discreet.table.raw_column import RawColumn, matches

TIME = r"(?:(?P<mark>[ T])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<fraction>\.\d{1,6})?)?)?"
CLOCKS = ("", *(rf"{mark}\d{{1,2}}:\d{{2}}{seconds}" for mark in " T" for seconds in ("", r":\d{2}(?:\.\d{1,6})?")))
"""The forms of a time of day; all cells of a column have the same one."""
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
    for pattern, mark, orders in _patterns():
        parts = _parts(words, f"^{pattern}{TIME}$")
        if parts is None:
            continue
        earlier: list[NDArray[np.float64]] = []
        for order in orders:
            read = _read(parts, order)
            if read is not None and not any(np.array_equal(read[0], numbers) for numbers in earlier):
                earlier.append(read[0])
                yield order.replace(" ", mark) + _clock(parts), read
        return


def strangers(words: pa.Array) -> NDArray[np.bool_] | None:
    """Mark the texts that are not existing dates of the form that nearly all texts share; None without such a form.

    >>> days = [f"{day}.02.2020" for day in range(1, 32)]
    >>> np.array(days)[strangers(pa.array(days))].tolist(), strangers(pa.array(["soon", "1.1.2020"]))
    (['30.02.2020', '31.02.2020'], None)
    """
    words = pc.utf8_trim_whitespace(words)
    if not _nearly_all(matches(words, r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}")):
        return None
    for pattern, _, orders in _patterns():
        for clock in CLOCKS:
            fits = matches(words, f"^{pattern}{clock}$")
            parts = _parts(words.filter(pa.array(fits)), f"^{pattern}{TIME}$") if _nearly_all(fits) else None
            if parts is None:
                continue
            sound = np.zeros(len(words), np.bool_)
            sound[fits] = max((_exist(parts, order) for order in orders), key=np.sum)
            return ~sound if _nearly_all(sound) else None
    return None


def _nearly_all(places: NDArray[np.bool_]) -> bool:
    return bool(places.any()) and bool(places.mean() >= NEARLY)


def _patterns() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the forms of a day: the pattern, the separator of its parts, and the possible orders of the parts."""
    year, first, second = r"(?P<year>\d{4})", r"(?P<first>\d{1,2})", r"(?P<second_part>\d{1,2})"
    for mark in "-/.":
        yield f"\\{mark}".join((year, first, second)), mark, ("%Y %m %d",)
        yield f"\\{mark}".join((first, second, year)), mark, ("%d %m %Y", "%m %d %Y")


def _parts(words: pa.Array, pattern: str) -> dict[str, NDArray[Any]] | None:
    """Return the named parts of all texts if all match the pattern, with a time of day in all or none; else None."""
    if not pc.match_substring_regex(words[:1], pattern)[0].as_py():
        return None
    extracts = pc.extract_regex(words, pattern)
    if extracts.null_count:
        return None
    parts = {}
    for field in extracts.type:
        texts = pc.struct_field(extracts, field.name)
        if field.name in ("mark", "fraction"):
            parts[field.name] = np.array(texts.to_pylist(), object)
            continue
        empty = pc.equal(texts, "")
        if pc.any(empty).as_py():
            if not pc.all(empty).as_py():
                return None
            parts[field.name] = np.full(len(words), -1, np.int64)
        else:
            parts[field.name] = texts.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return parts if len(set(parts["mark"].tolist())) == 1 else None


def _clock(parts: dict[str, NDArray[Any]]) -> str:
    """Return the form of the time of day; empty without one."""
    if parts["hour"][0] < 0:
        return ""
    seconds = "" if parts["second"][0] < 0 else ":%S.%f" if any(parts["fraction"].tolist()) else ":%S"
    return f"{parts['mark'][0]}%H:%M{seconds}"


def _read(parts: dict[str, NDArray[Any]], order: str) -> tuple[NDArray[np.float64], Notation] | None:
    """Convert parts to moments; None if one does not exist, or if rounding would make two of them equal."""
    if not _exist(parts, order).all():
        return None
    hour, minute, second = (np.maximum(parts[name], 0) for name in ("hour", "minute", "second"))
    fraction = np.array([int(f"{text[1:]:0<6}") for text in parts["fraction"].tolist()], np.int64)
    days = _months(parts, order).astype("datetime64[D]").astype(np.int64) + _day_and_month(parts, order)[0] - 1
    return _in_notation((days * DAY + hour * 3600 + minute * 60 + second) * 1_000_000 + fraction)


def _exist(parts: dict[str, NDArray[Any]], order: str) -> NDArray[np.bool_]:
    """Mark the parts that form an existing moment in the years 1 to 9999."""
    day, month = _day_and_month(parts, order)
    months = _months(parts, order)
    following = months + np.timedelta64(1, "M")
    length = (following.astype("datetime64[D]") - months.astype("datetime64[D]")).astype(np.int64)
    real_day = (parts["year"] > 0) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= length)
    return np.asarray(real_day & (parts["hour"] <= 23) & (parts["minute"] <= 59) & (parts["second"] <= 59))


def _day_and_month(parts: dict[str, NDArray[Any]], order: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first, second = parts["first"], parts["second_part"]
    return (first, second) if order.startswith("%d") else (second, first)


def _months(parts: dict[str, NDArray[Any]], order: str) -> NDArray[np.datetime64]:
    return ((parts["year"] - 1970) * 12 + _day_and_month(parts, order)[1] - 1).astype("datetime64[M]")


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
