"""What a reader should know about columns that may not be what they were taken for, and what to say about it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.table import numerals
from discreet.table.dates import readings
from discreet.table.encoded import Encoded, unmarked
from discreet.table.table import Column
from discreet.table.texts import MARKS, MISSING, is_number

FEW_VALUES = 12
"""A numeric column with no more values than this may hold codes."""
SHORT_YEAR = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{2}")
FIRST_DAY, LAST_DAY = 15_000_101, 22_001_231
"""Dates as people write them without any marks between year, month and day."""
MOST_MARKS = 3
"""Whoever marks missing values does so in few ways."""


@dataclass(frozen=True)
class Note:
    """A sentence about how columns were read, and the arguments that would have them read otherwise."""

    columns: tuple[str, ...]
    """The columns that it is about."""
    sentence: str
    """All but its end, which tells what to say."""
    say: tuple[tuple[str, Any], ...] = ()
    """Arguments of ``read`` and what they hold: names in a list, or texts by column."""
    either: bool = False
    """Whether at most one of the arguments is right, and only the user knows which."""

    def __str__(self) -> str:
        """The sentence with the arguments as Python takes them.

        >>> str(Note(("pay",), "column 'pay' is all numbers but 'NA' in 3 cells: say", (("na", ["NA"]),)))
        "column 'pay' is all numbers but 'NA' in 3 cells: say na=['NA']"
        """
        words = (" or " if self.either else " and ").join(f"{argument}={value!r}" for argument, value in self.say)
        return f"{self.sentence} {words}" if words else self.sentence

    def about(self, names: Collection[str | None]) -> Note | None:
        """As far as it is about some columns; None when it is about others."""
        mine = tuple(name for name in self.columns if name in names)
        if not mine:
            return None
        say = [(argument, [text for text in value if argument == "na" or text in mine]) for argument, value in self.say]
        return self if mine == self.columns else replace(self, columns=mine, say=tuple(say))


def notes_on(columns: Sequence[tuple[Encoded, Column]]) -> Iterator[Note]:
    """What is to be said about columns of whose kind nobody has said anything."""
    for encoded, column in columns:
        if column.kind == "categorical" and encoded.words is not None:
            yield from _marked_numbers(encoded)
            yield from _decimal_commas(column)
            yield from _lost_digits(encoded)
            yield from _uncertain_dates(encoded)
            yield from _short_years(encoded)
        elif column.meaning == "numeric":
            yield from _run_together(column)
    few = [column for _, column in columns if _few_whole(column)]
    if few:
        names = [column.name for column in few]
        shown = ", ".join(repr(name) for name in names)
        each, these = ("column", "it holds") if len(few) == 1 else ("columns", "they hold")
        hold = "holds" if len(few) == 1 else "hold"
        yield Note(
            tuple(names),
            f"{each} {shown} {hold} few different numbers: if {these} codes and not quantities, say",
            (("categorical", names),),
        )


def _marked_numbers(encoded: Encoded) -> Iterator[Note]:
    """Numbers among which some cells say in words that there is none."""
    marks = [text for text in encoded.texts if text.strip().lower() in MARKS and not is_number(text.strip())]
    if not 0 < len(marks) <= MOST_MARKS or len(marks) == len(encoded.texts):
        return
    rest = unmarked(encoded, {mark.strip() for mark in marks})
    if not numerals.are_numbers(rest):
        return
    say: list[tuple[str, Any]] = [("na", [mark.strip() for mark in marks])]
    if not encoded.untyped:
        say.append(("numeric", [encoded.name]))  # a text that is declared as such stays one
    yield Note((encoded.name,), f"column {encoded.name!r} is all numbers {_but(encoded, rest)}: say", tuple(say))


def _but(encoded: Encoded, rest: Encoded) -> str:
    """Which texts of a column its rest does not have, and in how many cells."""
    cells = int((rest.codes < 0).sum() - (encoded.codes < 0).sum())
    marks = " and ".join(repr(text) for text in encoded.texts if text not in rest.texts)
    return f"but {marks} in {'1 cell' if cells == 1 else f'{cells:,} cells'}"


def _decimal_commas(column: Column) -> Iterator[Note]:
    """Numbers as half of the world writes them, which are taken for names."""
    texts = [text for text in column.texts if text != MISSING]
    if any("," in text for text in texts) and all(is_number(text.replace(",", ".", 1)) for text in texts):
        yield Note(
            (column.name,),
            f"column {column.name!r} holds numbers with a decimal comma, such as {texts[0]}, which are taken for names "
            "without an order; write them with a point to have numbers.",
        )


def _lost_digits(encoded: Encoded) -> Iterator[Note]:
    """Numbers that have more digits than can be held, and more than their wholes."""
    long = [text for text in encoded.texts if len(text) > numerals.SURE_DIGITS and "." in text]
    if long and encoded.untyped and all(is_number(text.strip()) for text in encoded.texts):
        yield Note(
            (encoded.name,),
            f"column {encoded.name!r} holds numbers that differ in more digits than a number can hold, such as "
            f"{long[0]}, which are taken for names without an order; round them to have numbers.",
        )


def _uncertain_dates(encoded: Encoded) -> Iterator[Note]:
    """Dates of which nobody can tell whether the day or the month comes first, and dates beside marks."""
    marks = [text.strip() for text in encoded.texts if text.strip().lower() in MARKS]
    rest = unmarked(encoded, marks) if 0 < len(marks) <= MOST_MARKS else encoded
    if rest.words is None or not len(rest.words):
        return
    if encoded.moments:
        yield Note(
            (encoded.name,),
            f"column {encoded.name!r} holds times with a time zone or of nanoseconds, such as {rest.texts[0]}, "
            "which are taken for names without an order; give local times in whole microseconds to have dates.",
        )
        return
    forms = [form for form, _ in readings(rest.words)]
    if len(forms) > 1:
        yield Note(
            (encoded.name,),
            f"column {encoded.name!r} holds dates in which the day or the month may come first, such as "
            f"{rest.texts[0]}, and is taken for names without an order: say",
            tuple(("dates", {encoded.name: form}) for form in forms),
            either=True,
        )
    elif forms and marks:
        yield Note(
            (encoded.name,), f"column {encoded.name!r} is all dates {_but(encoded, rest)}: say", (("na", marks),)
        )


def _short_years(encoded: Encoded) -> Iterator[Note]:
    """Dates whose century is left to the reader."""
    if len(encoded.texts) > 1 and all(SHORT_YEAR.fullmatch(text.strip()) for text in encoded.texts):
        yield Note(
            (encoded.name,),
            f"column {encoded.name!r} seems to hold dates with years of two digits, such as {encoded.texts[0]}, and is "
            "taken for names without an order; write all four digits to have dates.",
        )


def _run_together(column: Column) -> Iterator[Note]:
    """Dates that look like numbers: 20210307."""
    known = column.values[~np.isnan(column.values.astype(np.float64))]
    if len(known) < 2 or known[0] < FIRST_DAY or known[-1] > LAST_DAY or (known != np.floor(known)).any():
        return
    texts = [str(int(number)) for number in known.tolist()]
    split = pa.array([f"{text[:4]}-{text[4:6]}-{text[6:]}" for text in texts])
    if any(True for _ in readings(split)):
        yield Note(
            (column.name,),
            f"column {column.name!r} holds numbers such as {texts[0]}: if they are dates, say",
            (("dates", {column.name: "%Y%m%d"}),),
            either=True,
        )


def _few_whole(column: Column) -> bool:
    """Whether a column holds so few whole numbers that they may be codes."""
    if column.meaning != "numeric" or len(column.values) > FEW_VALUES + 1:
        return False
    known = column.values[~np.isnan(column.values.astype(np.float64))]
    return 1 < len(known) <= FEW_VALUES and bool(np.all(known == np.floor(known)))
