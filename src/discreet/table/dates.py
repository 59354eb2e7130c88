"""Columns of dates: found by the form of all their texts, or read in a form that is declared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.table.encoded import Encoded
from discreet.table.moments import DAY, Notation
from discreet.table.texts import MARKS

TIME = r"(?:(?P<mark>[ T])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<fraction>\.\d{1,6})?)?)?"
YEARS = (1500, 2200)
"""What lies beyond is hardly a date, unless somebody declares it one."""


def as_dates(column: Encoded, form: str | None, declared: bool) -> Encoded:
    """A column with its dates as numbers, if it holds dates in one form; else, unless they were declared, as it is.

    >>> from discreet.table.encoded import encode
    >>> as_dates(encode("born", pa.chunked_array([["03.02.1971", "28.02.1970"]])), None, False).texts
    ['1971-02-03', '1970-02-28']
    """
    if form is not None and not column.moments:
        return _numbered(column, *_declared(column, form))
    found = dict(readings(column.words)) if column.words is not None and len(column.words) else {}
    if len(found) == 1:
        return _numbered(column, *next(iter(found.values())))
    if not declared:
        return column
    if found:
        ways = " or ".join(f"dates={{{column.name!r}: {form!r}}}" for form in found)
        raise DiscreetError(
            f"column {column.name!r} holds dates in which the day or the month may come first, such as "
            f"{column.texts[0]!r}; say {ways}"
        )
    raise DiscreetError(
        f"column {column.name!r} is declared to hold dates, but not all of its values are dates of one form; say which "
        f"form they have, as in dates={ {column.name: '%d.%m.%Y'}!r}, or what stands for a missing one, as in na=['NA']"
    )


def readings(words: pa.Array) -> Iterator[tuple[str, tuple[NDArray[np.float64], Notation]]]:
    """The forms in which all texts are dates that exist, and these dates as numbers: two forms where none is certain.

    >>> [form for form, _ in readings(pa.array(["03/02/1971", "04/05/1971"]))]
    ['%d/%m/%Y', '%m/%d/%Y']
    """
    words = pc.utf8_trim_whitespace(words)
    for mark in "-/.":
        for first in (True, False):  # the year comes first, or last
            year, one, two = r"(?P<year>\d{4})", r"(?P<one>\d{1,2})", r"(?P<two>\d{1,2})"
            pattern = f"\\{mark}".join((year, one, two) if first else (one, two, year))
            parts = _parts(words, f"^{pattern}{TIME}$")
            if parts is None:
                continue
            orders = ("%Y %m %d",) if first else ("%d %m %Y", "%m %d %Y")
            found: list[tuple[str, tuple[NDArray[np.float64], Notation]]] = []
            for order in orders:
                swapped = order.startswith("%d")
                month, day = ("two", "one") if swapped else ("one", "two")
                read = _read(parts, parts[month], parts[day])
                if read is not None and not any(np.array_equal(read[0], other[0]) for _, other in found):
                    found.append((order.replace(" ", mark) + _clock(parts), read))
            yield from found
            return


def _parts(words: pa.Array, pattern: str) -> dict[str, NDArray[Any]] | None:
    """The parts of all texts by name, if all have this form: with a time of day everywhere or nowhere."""
    if not pc.match_substring_regex(words[:1], pattern)[0].as_py():
        return None
    found = pc.extract_regex(words, pattern)
    if found.null_count:
        return None
    parts = {}
    for field in found.type:
        texts = pc.struct_field(found, field.name)
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
    if len(set(parts["mark"].tolist())) > 1:
        return None
    return parts


def _clock(parts: dict[str, NDArray[Any]]) -> str:
    """The form of the time of day."""
    if parts["hour"][0] < 0:
        return ""
    seconds = "" if parts["second"][0] < 0 else ":%S.%f" if any(parts["fraction"].tolist()) else ":%S"
    return f"{parts['mark'][0]}%H:%M{seconds}"


def _read(
    parts: dict[str, NDArray[Any]], month: NDArray[np.int64], day: NDArray[np.int64]
) -> tuple[NDArray[np.float64], Notation] | None:
    """The moments that parts of texts mean; None when one of them does not exist, or two would become one."""
    year, hour, minute, second = (parts[name] for name in ("year", "hour", "minute", "second"))
    if year.min() < YEARS[0] or year.max() > YEARS[1] or month.min() < 1 or month.max() > 12 or day.min() < 1:
        return None
    if hour.max() > 23 or minute.max() > 59 or second.max() > 59:
        return None
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]").astype(np.int64) + day - 1
    if (days >= (months + 1).astype("datetime64[D]").astype(np.int64)).any():
        return None
    clock = np.maximum(hour, 0) * 3600 + np.maximum(minute, 0) * 60 + np.maximum(second, 0)
    fraction = np.array([int(f"{text[1:]:0<6}") for text in parts["fraction"].tolist()], np.int64)
    return in_notation((days * DAY + clock) * 1_000_000 + fraction)


def in_notation(micro: NDArray[np.int64]) -> tuple[NDArray[np.float64], Notation] | None:
    """Microseconds since the beginning of 1970 as days, or as seconds where some are not midnight.

    >>> in_notation(np.array([0, 86_400_000_000])), in_notation(np.array([1_500_000]))
    ((array([0., 1.]), 'date'), (array([1.5]), 'datetime'))
    """
    if not (micro % (DAY * 1_000_000)).any():
        return (micro // (DAY * 1_000_000)).astype(np.float64), "date"
    # seconds hold all microseconds apart only so far from 1970
    if (micro % 1_000_000).any() and np.abs(micro // 1_000_000).max() >= 2**33:
        return None
    return micro // 1_000_000 + (micro % 1_000_000) / 1e6, "datetime"


def _declared(column: Encoded, form: str) -> tuple[NDArray[np.float64], Notation]:
    """The dates of a column in the form that was declared for it."""
    _check_form(column.name, form)
    start, micro = datetime(1970, 1, 1), []
    for place, text in enumerate(column.texts):
        try:
            passed = datetime.strptime(text.strip(), form) - start
        except ValueError:
            row = column.row_of(np.arange(len(column.texts)) == place)
            way = "correct it, or the form"
            if text.strip().lower() in MARKS:
                way = f"if it stands for a missing value, say na={[text.strip()]!r}"
            raise DiscreetError(
                f"column {column.name!r} is declared to hold dates of the form {form} but holds {text!r} in row {row}; "
                f"{way}"
            ) from None
        micro.append((passed.days * DAY + passed.seconds) * 1_000_000 + passed.microseconds)
    found = in_notation(np.array(micro, np.int64))
    if found is None:
        raise DiscreetError(
            f"column {column.name!r} holds times that differ by less than can be told apart in its years; round them"
        )
    return found


def _check_form(name: str, form: str) -> None:
    """Refuse a form that tells no date."""
    probe = datetime(2001, 2, 3)
    try:
        read = datetime.strptime(probe.strftime(form), form)
        sound = read.year == probe.year and read.tzinfo is None
    except (ValueError, TypeError):
        sound = False
    if not sound:
        raise DiscreetError(
            f"{form!r} is no form of the dates in column {name!r}; say for example dates={ {name: '%d.%m.%Y'}!r}"
        )


def _numbered(column: Encoded, numbers: NDArray[np.float64], notation: Notation) -> Encoded:
    return replace(column, words=None, numbers=numbers, notation=notation, categories=False, untyped=False)
