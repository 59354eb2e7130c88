"""What a reader should know about columns that may not be what they were taken for, and what to say about it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.table import numerals
from discreet.table.dates import readings
from discreet.table.encoded import Encoded, unmarked
from discreet.table.table import Column
from discreet.table.texts import MARKS, MISSING, is_number

FEW_VALUES = 12
"""A numeric column with no more values than this may hold codes."""
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
    """Whether only one of the arguments can be right."""

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
    cells = int((rest.codes < 0).sum() - (encoded.codes < 0).sum())
    shown = " and ".join(repr(mark) for mark in marks)
    say: list[tuple[str, Any]] = [("na", [mark.strip() for mark in marks])]
    if not encoded.untyped:
        say.append(("numeric", [encoded.name]))  # a text that is declared as such stays one
    where = "1 cell" if cells == 1 else f"{cells:,} cells"
    sentence = f"column {encoded.name!r} is all numbers but {shown} in {where}: say"
    yield Note((encoded.name,), sentence, tuple(say))


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
        cells = int((rest.codes < 0).sum() - (encoded.codes < 0).sum())
        shown = " and ".join(repr(mark) for mark in marks)
        where = "1 cell" if cells == 1 else f"{cells:,} cells"
        sentence = f"column {encoded.name!r} is all dates but {shown} in {where}: say"
        yield Note((encoded.name,), sentence, (("na", marks),))


def _few_whole(column: Column) -> bool:
    """Whether a column holds so few whole numbers that they may be codes."""
    if column.meaning != "numeric":
        return False
    known = column.values[np.unique(column.codes)].astype(np.float64)
    known = known[~np.isnan(known)]
    return 1 < len(known) <= FEW_VALUES and bool(np.all(known == np.floor(known)))
