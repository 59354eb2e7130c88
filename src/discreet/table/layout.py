"""How a file lays out its table, and whether its first line names columns or is somebody's row."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from discreet.arguments import argument
from discreet.errors import DiscreetError, UnknownColumnError
from discreet.options import checked, several
from discreet.table.dates import readings
from discreet.table.detect import codec
from discreet.table.raw_column import RawColumn
from discreet.table.table import as_names
from discreet.table.texts import is_number, near, value_text

Header = Literal["yes", "none"]
Mark = Literal[",", ".", " ", "'"]
"""What may separate the parts of a number."""
JSON = re.compile(r"[{\[]\s*[\"']|\[\s*[{\[]")
"""How objects and lists of JSON, or of Python, begin."""
UNPAIRED = re.compile("[\ud800-\udfff]")
"""Halves of pairs of surrogates, which are no characters."""
MOST_MARKS = LONGEST_MARK = 100
"""How many texts may mark a missing value, and how many characters each may have: releases record them."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How the cells of a file are separated and encoded, where its names are, and which texts mean missing.

    >>> Layout(header="none", columns=["age", "sex"], na="?").columns
    ('age', 'sex')
    """

    na: Sequence[str] = ()
    """The texts that mean missing, in any column."""
    delimiter: str | None = None
    """What separates cells; detected if None."""
    encoding: str | None = None
    """Detected if None."""
    header: Header | None = None
    """Whether the first line names the columns: ``yes``, ``none``, or, if None, unless it looks like a row."""
    columns: Sequence[str] = ()
    """The names of the columns of a file without a header."""
    decimal: Mark | None = None
    """What separates the decimals of numbers in a text file; a point if None."""
    thousands: Mark | None = None
    """What separates groups of three digits in a text file; nothing if None."""
    sheet: str | None = None
    """The sheet of a spreadsheet; the only one if None."""
    table: str | None = None
    """The table of a database; the only one if None."""
    query: str | None = None
    """What to read of a database, in its SQL, in place of a table."""

    def __post_init__(self) -> None:
        """Check every field."""
        names = as_names(self.columns, "columns")
        header = checked(argument("header"), self.header, Header | None)
        for name in names:
            if UNPAIRED.search(name):
                raise DiscreetError(f"{argument('columns')} has {name!r}, a name that no file can hold; rename it")
        if names and header != "none":
            raise DiscreetError(
                f"{argument('columns')} names the columns of a file without a header; say "
                f"{argument('header', 'none')} as well, or leave the names out"
            )
        if header == "none" and not names:
            raise DiscreetError(
                "a file without a header does not name its columns; name all of them in their order, as in "
                f"{argument('columns', ['age', 'sex', 'disease'])}"
            )
        for key in ("decimal", "thousands"):
            checked(argument(key), getattr(self, key), Mark | None)
        for key in ("sheet", "table", "query"):
            checked(argument(key), getattr(self, key), str | None)
        if self.thousands is not None and self.thousands == (self.decimal or "."):
            way = f"say {argument('decimal', ',')} as well" if self.decimal is None else "give one of them another mark"
            raise DiscreetError(f"{self.thousands!r} cannot separate both decimals and thousands; {way}")
        encoding = checked(argument("encoding"), self.encoding, str | None)
        settled = {
            "na": _marks(self.na),
            "delimiter": _mark(checked(argument("delimiter"), self.delimiter, str | None)),
            "encoding": None if encoding is None else codec(encoding),
            "columns": names,
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    @cached_property
    def marks(self) -> frozenset[str]:
        """The texts that mean missing, without the blanks around them."""
        return frozenset(self.na)

    def with_header(self) -> Layout:
        """Return the layout of another file of the same kind, which names its columns in its first line."""
        return replace(self, header=None, columns=()) if self.header == "none" else self

    def check_named(self, what: str) -> None:
        """Refuse names for a source whose columns have names of their own; ``what`` it is called."""
        if self.header == "none":
            raise DiscreetError(
                f"{what} names its columns itself; leave out {argument('header', 'none')} and {argument('columns')}, "
                f"or say {argument('header', 'yes')} where a release says none"
            )

    def check_names(
        self, names: Sequence[str], needed: Iterable[str], what: str, texts: Iterable[str] | None = None
    ) -> None:
        """Check that no column name looks like data or occurs twice, and that all needed columns exist.

        The header of a release would be somebody's row. ``texts`` are the names that may be, if not all.

        >>> Layout().check_names(["age", "1971-03-02"], [], "'people.csv'")
        Traceback (most recent call last):
        discreet.errors.DiscreetError: 'people.csv' has a column named '1971-03-02', which is a date: its first line
        seems to be a row of data; say header='none' and name the columns in columns, or, if these are names, say
        header='yes'
        """
        for name in names if texts is None else texts:
            likeness = _looks_like(name.strip())
            if self.header is None and likeness is not None:
                raise _row_as_header(what, name, likeness)
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise DiscreetError(f"{what} has two columns named {name!r}; rename one of them")
            seen.add(name)
        for name in needed:
            if name not in seen:
                said = [key for key in ("delimiter", "encoding") if getattr(self, key) and len(names) == 1]
                ways = " or ".join(f"{argument(key)} than {getattr(self, key)!r}" for key in said)
                others = f", or say another {ways}" if ways else ""
                raise UnknownColumnError(f"{what} has no column {name!r}; {near(name, names)}{others}", name)
            if UNPAIRED.search(name):
                raise DiscreetError(f"{what} has a column {name!r}, a name that no file can hold; rename it")

    def check_values(self, columns: Collection[RawColumn], what: str) -> None:
        """Check that no name in the first line of a text file is also a value of its column."""
        if self.header is not None:
            return
        again = {column.name: row for column in columns if (row := _row_with_name(column)) is not None}
        if len(again) > 1 and len(again) == len(columns) and len(set(again.values())) == 1:
            raise DiscreetError(f"{what} has its header again in row {min(again.values()):,}; remove that line")
        for name, row in again.items():
            raise _row_as_header(what, name, f"also stands in row {row:,} of that column")


def _marks(na: Any) -> tuple[str, ...]:
    """Return the texts that mark a missing value, sorted, without the blanks around them."""
    given = several(na)
    for mark in given:
        if not isinstance(mark, (str, int, float)):
            raise DiscreetError(
                f"{mark!r} cannot mark a missing value; give the text of such a cell, as in {argument('na', ['NA'])}"
            )
    marks = sorted({value_text(mark).strip() for mark in given})
    longest = max(map(len, marks), default=0)
    if len(marks) > MOST_MARKS or longest > LONGEST_MARK:
        raise DiscreetError(
            f"{argument('na')} names {len(marks):,} texts, the longest of {longest:,} characters; name at "
            f"most {MOST_MARKS} of at most {LONGEST_MARK} characters, and clear other cells in the table itself"
        )
    return tuple(mark for mark in marks if mark)


def _mark(delimiter: str | None) -> str | None:
    """Return the character that a delimiter means."""
    if delimiter is None:
        return None
    mark = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(mark) != 1 or not mark.isascii() or not (mark.isprintable() or mark == "\t") or mark == '"':
        raise DiscreetError(f"the delimiter {delimiter!r} cannot be used; give one character such as ',' or ';'")
    return mark


def _row_as_header(what: str, name: str, likeness: str) -> DiscreetError:
    return DiscreetError(
        f"{what} has a column named {name!r}, which {likeness}: its first line seems to be a row of data; say "
        f"{argument('header', 'none')} and name the columns in {argument('columns')}, or, if these are names, say "
        f"{argument('header', 'yes')}"
    )


def _looks_like(name: str) -> str | None:
    """Return what a name looks like if it looks like data."""
    if is_number(name):
        return "is a number"
    if JSON.match(name):
        return "looks like the beginning of a JSON document"
    if name and not UNPAIRED.search(name) and any(True for _ in readings(pa.array([name]))):
        return "is a date"
    return None


def _row_with_name(column: RawColumn) -> int | None:
    """Return the first row, counted from 1, in which the name of a column stands."""
    name = column.name.strip()
    if not name or column.words is None or column.lists is not None or name not in column.texts:
        return None
    return column.first(np.arange(len(column.texts)) == column.texts.index(name))[0]
