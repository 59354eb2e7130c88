"""Notes on columns that may have been read with the wrong kind, and the arguments that would correct it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.arguments import argument
from discreet.errors import legible
from discreet.options import brief
from discreet.table import numerals
from discreet.table.dates import readings, strangers
from discreet.table.kinds import infer
from discreet.table.raw_column import RawColumn, unmarked
from discreet.table.table import Column
from discreet.table.texts import MARKS, MISSING, is_number

FEW_VALUES = 12
"""A numeric column with at most this many values may contain codes."""
SHORT_YEAR = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{2})")
ZONED = re.compile(r"(.*:\d{2}(?:\.\d+)?)( ?(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))")
"""A time of day followed by a time zone."""
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
"""A number with commas between thousands."""
FIRST_DAY, LAST_DAY = 15_000_101, 22_001_231
"""The range of numbers that may be dates written without separators: 1500-01-01 to 2200-12-31."""
FORMULA = re.compile(r"[=+@-].", re.DOTALL)
"""How cells begin that spreadsheets take for formulas."""
MOST_MARKS = 3
"""The maximum number of different marks for missing values in a column; more are unlikely to be marks."""


@dataclass(frozen=True)
class Note:
    """A sentence about how columns were read, and the arguments of ``read`` that would change it."""

    columns: tuple[str, ...]
    """The columns that the note is about."""
    sentence: str
    """The sentence without its end, which lists the arguments."""
    say: tuple[tuple[str, Any], ...] = ()
    """Arguments of ``read`` with their values: a list of names or marks, or a mapping from columns to texts."""
    either: bool = False
    """Whether the arguments are alternatives, among which only the user can choose."""

    def __str__(self) -> str:
        """Return the sentence with the arguments: as Python, or as flags on the command line.

        >>> str(Note(("pay",), "column 'pay' is all numbers but 'NA' in 3 cells: say", (("na", ["NA"]),)))
        "column 'pay' is all numbers but 'NA' in 3 cells: say na=['NA']"
        """
        words = (" or " if self.either else " and ").join(argument(name, value) for name, value in self.say)
        return legible(f"{self.sentence} {words}" if words else self.sentence)

    def about(self, names: Collection[str | None]) -> Note | None:
        """Restrict the note to some columns; None if it is about none of them."""
        mine = tuple(name for name in self.columns if name in names)
        if not mine:
            return None
        say = [(name, [text for text in value if name == "na" or text in mine]) for name, value in self.say]
        return self if mine == self.columns else replace(self, columns=mine, say=tuple(say))


def notes_on(columns: Sequence[tuple[RawColumn, Column]]) -> Iterator[Note]:
    """Yield the notes on columns whose kind the user has not declared."""
    named = [raw for raw, column in columns if column.kind == "categorical" and raw.words is not None]
    yield from _marked_numbers(named)
    for raw, column in columns:
        if column.kind == "categorical" and raw.words is not None:
            yield from _commas(column)
            yield from _lost_digits(raw)
            yield from _unread_times(raw) if raw.moments else _unread_dates(raw)
            yield from _short_years(raw)
        elif column.kind == "categorical" and not raw.categories:
            yield from _too_large(raw)
        elif column.meaning == "numeric":
            yield from _run_together(column)
    few = [column.name for _, column in columns if _few_whole(column)]
    if few:
        shown = ", ".join(map(repr, few))
        holders = f"column {shown} holds" if len(few) == 1 else f"columns {shown} hold"
        them = "it holds" if len(few) == 1 else "they hold"
        sentence = f"{holders} few different numbers: if {them} codes and not quantities, say"
        yield Note(tuple(few), sentence, (("categorical", few),))


def numbers_by_label(raw: RawColumn) -> Iterator[Note]:
    """Yield a note on a column that is categorical only because it has a hierarchy: intervals may be expected of it."""
    if infer(raw) == "numeric":
        sentence = f"{raw.name!r} holds numbers but has a hierarchy, so its labels are published; for intervals say"
        yield Note((raw.name,), sentence, (("numeric", [raw.name]),), either=True)


def _note(name: str, sentence: str, *say: tuple[str, Any], either: bool = False) -> Note:
    return Note((name,), f"column {name!r} {sentence}", say, either)


def formulas(columns: Sequence[Column]) -> Iterator[str]:
    """Yield a sentence for each column with a name, value or label that spreadsheets take for a formula.

    >>> codes = np.zeros(1, np.int32)
    >>> *_, sentence = formulas([Column("pay", "ordinal", codes, np.array(["-1", "-", "=7"], object))])
    >>> sentence.partition(";")[0]
    "column 'pay' has '=7', which spreadsheets take for a formula"
    """
    for column in columns:
        held = () if column.kind == "numeric" else column.texts
        labels = () if column.hierarchy is None else itertools.chain.from_iterable(column.hierarchy.labels)
        texts = (column.name, *held, *labels)
        formula = next((text for text in texts if FORMULA.match(text) and not is_number(text)), None)
        if formula is not None:
            yield (
                f"column {column.name!r} has {brief(formula)}, which spreadsheets take for a formula; import the CSV "
                f"as text there, or choose {argument('format', 'parquet')}"
            )


def _marked_numbers(columns: Sequence[RawColumn]) -> Iterator[Note]:
    """Note columns of numbers in which a few texts such as NA mark missing values: those of the same marks together."""
    alike: dict[tuple[str, ...], list[tuple[RawColumn, RawColumn]]] = {}
    for raw in columns:
        marks = [text for text in raw.texts if text.strip().lower() in MARKS and not is_number(text.strip())]
        if 0 < len(marks) <= MOST_MARKS and len(marks) < len(raw.texts):
            rest = unmarked(raw, {mark.strip() for mark in marks})
            if numerals.are_numbers(rest):
                alike.setdefault(tuple(marks), []).append((raw, rest))
    for texts, found in alike.items():
        names = [raw.name for raw, _ in found]
        say: list[tuple[str, Any]] = [("na", [text.strip() for text in texts])]
        # where the source declares text, `na` alone keeps it text
        typed = [raw.name for raw, _ in found if not raw.untyped]
        say += [("numeric", typed)] if typed else []
        holders = f"column {names[0]!r} is" if len(names) == 1 else f"columns {', '.join(map(repr, names))} are"
        yield Note(tuple(names), f"{holders} all numbers {_but(found)}: say", tuple(say))


def _but(columns: Sequence[tuple[RawColumn, RawColumn]]) -> str:
    """Describe the texts that columns have and their rests lack, the same in all, and in how many cells they occur."""
    raw, rest = columns[0]
    left = set(rest.texts)
    marks = [repr(text) for text in raw.texts if text not in left]
    if len(marks) > MOST_MARKS:
        marks[MOST_MARKS:] = [f"{len(marks) - MOST_MARKS:,} more"]
    cells = [int((rest.codes < 0).sum() - (raw.codes < 0).sum()) for raw, rest in columns]
    few, many = min(cells), max(cells)
    often = "1 cell" if many == 1 else f"{many:,} cells" if few == many else f"{few:,} to {many:,} cells"
    return f"but {' and '.join(marks)} in {often}{' each' if len(cells) > 1 else ''}"


def _commas(column: Column) -> Iterator[Note]:
    """Note numbers with decimal commas, or commas between thousands, which are read as names."""
    texts = [text.strip() for text in column.texts if text != MISSING]
    with_commas = [text for text in texts if "," in text]
    if not with_commas:
        return
    if all(GROUPED.fullmatch(text) if "," in text else is_number(text) for text in texts):
        way = f"say {argument('thousands', ',')}, or write them without it,"
        held = "with a comma between thousands"
    elif all(is_number(text.replace(",", ".", 1)) for text in texts):
        way = f"say {argument('decimal', ',')}, or write them with a point,"
        held = "with a decimal comma"
    else:
        return
    yield _names(column.name, f"numbers {held}", with_commas[0], f"{way} to have numbers")


def _names(name: str, held: str, example: str, way: str) -> Note:
    """Note that ordered values are read as names, and how to get them ordered."""
    return _note(name, f"holds {held}, such as {example}, which are read as names without an order; {way}.")


def _lost_digits(raw: RawColumn) -> Iterator[Note]:
    """Note numbers with more digits than a floating-point number can represent."""
    if not raw.untyped or not all(is_number(text.strip()) for text in raw.texts):
        return
    yield from _too_large(raw)
    long = [text for text in raw.texts if len(text) > numerals.SURE_DIGITS and "." in text]
    if long:
        held = "numbers that differ in more digits than a number can hold"
        yield _names(raw.name, held, long[0], "round them to have numbers")


def _too_large(raw: RawColumn) -> Iterator[Note]:
    """Note whole numbers too large to be distinguished from their neighbours in floating point."""
    large = numerals.too_large(raw)
    if large.any():
        held, way = "whole numbers beyond 2^53", "round them, or write them in a larger unit, to have numbers"
        yield _names(raw.name, held, raw.texts[int(np.argmax(large))], way)


def _unread_times(raw: RawColumn) -> Iterator[Note]:
    """Note times of Arrow, pandas or polars that could not be converted to numbers."""
    if not raw.texts:
        way = "leave it out, if no row will ever have one"
        yield _note(raw.name, f"is one of dates or times, but all are missing; {way}.")
        return
    zoned = next((text for text in raw.texts if ZONED.fullmatch(text)), None)
    strange = next((text for text in raw.texts if not re.match(r"\d{4}-", text) or text.startswith("0000")), None)
    if zoned is not None:
        yield _names(raw.name, "times with a time zone", zoned, "give local times without one to have dates")
    elif strange is not None:
        yield _names(raw.name, "years before 1 or after 9999", strange, "correct them to have dates")
    else:
        yield _too_fine(raw)


def _too_fine(raw: RawColumn) -> Note:
    finest = max(raw.texts, key=lambda text: len(text.partition(".")[2]))
    way = "round them, to microseconds in years near 1970 and to seconds in others, to have dates"
    return _names(raw.name, "times finer than can be told apart in their years", finest, way)


def _unread_dates(raw: RawColumn) -> Iterator[Note]:
    """Note dates in which day or month may come first, and dates mixed with other texts."""
    marks = [text.strip() for text in raw.texts if text.strip().lower() in MARKS]
    rest = unmarked(raw, marks) if 0 < len(marks) <= MOST_MARKS else raw
    if rest.words is None or not len(rest.words):
        return
    name, forms = raw.name, [form for form, _ in readings(rest.words)]
    if len(forms) > 1:
        yield _note(
            name,
            f"holds dates in which the day or the month may come first, such as {rest.texts[0]}, and is read as "
            "names without an order: say",
            *(("dates", {name: form}) for form in forms),
            either=True,
        )
    elif forms and rest is not raw:
        yield _note(name, f"is all dates {_but([(raw, rest)])}: say", ("na", marks))
    elif not forms:
        yield from _zones(rest) or _spoilt(raw, rest)


def _zones(raw: RawColumn) -> list[Note]:
    """Note times some or all of which have a time zone."""
    assert raw.words is not None
    texts = [text.strip() for text in raw.texts]
    zoned = [match for text in texts if (match := ZONED.fullmatch(text))]
    if not zoned:
        return []
    local = [match[1] if (match := ZONED.fullmatch(text)) else text for text in texts]
    forms = [form for form, _ in readings(pa.array(local))]
    if not forms:
        return []
    zones = {match[2] for match in zoned}
    if len(zoned) == len(texts) and len(zones) == len(forms) == 1 and "%f" not in forms[0]:
        sentence = f"holds times with the time zone {zoned[0][2].strip()}, such as {texts[0]}, which are read as "
        sentence += "names without an order: to have dates, say"
        return [_note(raw.name, sentence, ("dates", {raw.name: forms[0] + zoned[0][2]}), either=True)]
    way = "give all as local times of one zone, without naming it, to have dates"
    return [_names(raw.name, "times with a time zone", zoned[0][0], way)]


def _spoilt(raw: RawColumn, rest: RawColumn) -> list[Note]:
    """Note dates mixed with a few other texts; ``rest`` is the column without known marks of missing values."""
    assert rest.words is not None
    strange = strangers(rest.words)
    if strange is None:
        return []
    if not strange.any():
        return [_too_fine(rest)]
    texts = [text.strip() for text, none in zip(rest.texts, strange.tolist(), strict=True) if none]
    dates = unmarked(rest, texts)
    marks = [text.strip() for text in raw.texts if text not in dates.texts]
    sentence = f"is all dates {_but([(raw, dates)])}"
    if len(marks) > MOST_MARKS:
        return [_note(raw.name, f"{sentence}; correct them to have dates.")]
    if not any(character.isdigit() for text in texts for character in text):
        return [_note(raw.name, f"{sentence}: say", ("na", marks))]
    them = "it" if len(marks) == 1 else "them"
    return [_note(raw.name, f"{sentence}: correct {them}, or say", ("na", marks), either=True)]


def _short_years(raw: RawColumn) -> Iterator[Note]:
    """Note dates with two-digit years."""
    dates = [match for text in raw.texts if (match := SHORT_YEAR.fullmatch(text.strip()))]
    marks = {match[2] for match in dates}
    if len(dates) < max(2, len(raw.texts)) or len(marks) > 1:
        return
    mark = marks.pop()
    orders = [
        form
        for form, day, month in (("%d %m %y", 1, 3), ("%m %d %y", 3, 1), ("%y %m %d", 4, 3))
        if all(1 <= int(match[day]) <= 31 and 1 <= int(match[month]) <= 12 for match in dates)
    ]
    if not orders:
        return
    orders = orders[:2] if orders[0].endswith("%y") else orders  # year first is the least likely
    yield _note(
        raw.name,
        f"seems to hold dates with years of two digits, such as {dates[0][0]}, and is read as names without an "
        "order; write all four digits, or, if 69 to 99 are of 19.. and 00 to 68 of 20.., say",
        *(("dates", {raw.name: order.replace(" ", mark)}) for order in orders),
        either=True,
    )


def _run_together(column: Column) -> Iterator[Note]:
    """Note numbers that look like dates: 20210307."""
    known = column.values[~np.isnan(column.values.astype(np.float64))]
    if len(known) < 2 or known[0] < FIRST_DAY or known[-1] > LAST_DAY or (known != np.floor(known)).any():
        return
    texts = [str(int(number)) for number in known.tolist()]
    split = pa.array([f"{text[:4]}-{text[4:6]}-{text[6:]}" for text in texts])
    if any(True for _ in readings(split)):
        sentence = f"holds numbers such as {texts[0]}: if they are dates, say"
        yield _note(column.name, sentence, ("dates", {column.name: "%Y%m%d"}), either=True)


def _few_whole(column: Column) -> bool:
    """Whether a column consists of so few distinct whole numbers that they may be codes."""
    if column.meaning != "numeric" or len(column.values) > FEW_VALUES + 1:
        return False
    known = column.values[~np.isnan(column.values.astype(np.float64))]
    return 1 < len(known) <= FEW_VALUES and bool(np.all(known == np.floor(known)))
