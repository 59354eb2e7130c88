"""Starter scripts: what reads an exported table in Python, R or Stata, with intervals as intervals.

A script is written line by line for the tables that were exported, and names each of their columns in the right place:
those that are categories, ordered or not, dates, and the ends of intervals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from discreet.table.exports import STARTS, Fitted
from discreet.table.raw_column import one_dictionary

GUARDED = f"'+{STARTS}"
"""The beginning of a text that has an apostrophe before it."""
NO_PART = "An apostrophe keeps spreadsheets from running a text. It is no part of the text."


class Exported(NamedTuple):
    """A table as it is in a file."""

    name: str
    """What a script calls it."""
    file: str
    fitted: Fitted

    @property
    def table(self) -> pa.Table:
        """The table as it is in the file."""
        return self.fitted.table

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column that is no number."""
        found = {}
        for field in self.table.schema:
            if pa.types.is_dictionary(field.type):
                found[field.name] = "ordered" if field.type.ordered else "category"
            elif pa.types.is_temporal(field.type):
                found[field.name] = "date" if pa.types.is_date(field.type) else "time"
        return found

    @property
    def intervals(self) -> dict[str, str]:
        """The columns that intervals are of, by the name before the endings of their ends, with their kind."""
        names = self.table.column_names
        stems = [name[:-3] for name in names if name.endswith("_lo") and f"{name[:-3]}_hi" in names]
        return {stem: self.kinds.get(f"{stem}_lo", "number") for stem in stems}

    def order(self, name: str) -> list[str]:
        """The values of an ordered column."""
        values: list[str] = one_dictionary(self.table.column(name)).dictionary.to_pylist()
        return values


def starters(ending: str, tables: Sequence[Exported], about: Sequence[str]) -> dict[str, str]:
    """Return the scripts for files of this kind, by the endings of their names; none for some."""
    writers = WRITERS.get(ending, {})
    return {end: "\n".join(write(ending, tables, about)) + "\n" for end, write in writers.items()}


def _remarks(mark: str, sentences: Iterable[str]) -> Iterator[str]:
    """Yield sentences as comments, each on a line."""
    for sentence in sentences:
        yield f"{mark} {' '.join(sentence.split())}"


def _intervals(mark: str, table: Exported) -> Iterator[str]:
    """Yield a comment on the columns that are intervals."""
    stems = [_shown(stem) for stem in table.intervals]
    if stems:
        yield f"{mark} Intervals: {', '.join(f'{stem}_lo to {stem}_hi' for stem in stems)}"


def _shown(name: str) -> str:
    """Return a name for a comment."""
    return " ".join(name.split())


def _measured(table: Exported) -> str | None:
    """Return the first interval of numbers, to count with."""
    return next((stem for stem, kind in table.intervals.items() if kind == "number"), None)


# --------------------------------------------------------------------------------------------------------------- Python


def _python(ending: str, tables: Sequence[Exported], about: Sequence[str]) -> Iterator[str]:
    guarded = any(table.fitted.guarded for table in tables)
    yield from _remarks("#", about)
    yield ""
    yield from ["import re", ""] if guarded else []
    yield "import pandas as pd"
    for table in tables:
        yield ""
        if ending == ".parquet":
            yield f"{table.name} = pd.read_parquet({_text(table.file)})"
            for name, kind in table.kinds.items():
                column = f"{table.name}[{_text(name)}]"
                yield from [f"{column} = pd.to_datetime({column})"] if kind == "date" else []
        else:
            yield from _python_csv(table)
        yield from _intervals("#", table)
        yield f"print({table.name}.dtypes)"
    stem = _measured(tables[0])
    if stem is not None:
        low, high = (f"{tables[0].name}[{_text(f'{stem}{end}')}]" for end in ("_lo", "_hi"))
        yield ""
        yield f"middle = {low}.median()"
        yield f"certain = ({high} <= middle).sum()"
        yield f"possible = ({low} <= middle).sum() + {low}.isna().sum()"
        words = f"print({_text(f'{_shown(stem)} at most')}, middle"
        yield f'{words}, "in", certain, "to", possible, "rows")'


def _python_csv(table: Exported) -> Iterator[str]:
    kinds = table.kinds
    yield f"{table.name} = pd.read_csv("
    yield f"    {_text(table.file)},"
    yield "    keep_default_na=False,"
    yield '    na_values=[""],'
    yield "    dtype={"
    for name, kind in kinds.items():
        if kind == "category":
            yield f'        {_text(name)}: "category",'
        elif kind == "ordered":
            yield f"        {_text(name)}: pd.CategoricalDtype([{_texts(table.order(name))}], ordered=True),"
    yield "    },"
    yield f"    parse_dates=[{_texts(name for name, kind in kinds.items() if kind in ('date', 'time'))}],"
    yield ")"
    if table.fitted.guarded:
        yield f"# {NO_PART}"
        yield f"for name in [{_texts(table.fitted.guarded)}]:"
        yield f"    {table.name}[name] = {table.name}[name].cat.rename_categories("
        yield f"        lambda text: text[1:] if re.match({_text(GUARDED)}, text) else text"
        yield "    )"


def _text(text: str) -> str:
    """Write a text for Python and R."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _texts(texts: Iterable[str]) -> str:
    return ", ".join(map(_text, texts))


# -------------------------------------------------------------------------------------------------------------------- R


def _r(ending: str, tables: Sequence[Exported], about: Sequence[str]) -> Iterator[str]:
    yield from _remarks("#", about)
    if ending == ".parquet":
        yield '# install.packages("arrow") brings what reads Parquet.'
    for table in tables:
        yield ""
        if ending == ".parquet":
            yield f"{table.name} <- as.data.frame(arrow::read_parquet({_text(table.file)}))"
        else:
            yield from _r_csv(table)
        yield from _intervals("#", table)
        yield f"str({table.name})"
    stem = _measured(tables[0])
    if stem is not None:
        low, high = (f"{tables[0].name}[[{_text(f'{stem}{end}')}]]" for end in ("_lo", "_hi"))
        yield ""
        yield f"middle <- median({low}, na.rm = TRUE)"
        yield f"certain <- sum({high} <= middle, na.rm = TRUE)"
        yield f"possible <- sum({low} <= middle, na.rm = TRUE) + sum(is.na({low}))"
        yield f'cat({_text(f"{_shown(stem)} at most")}, middle, "in", certain, "to", possible, "rows\\n")'
        yield f'# Intervals for package survival: survival::Surv({low}, {high}, type = "interval2")'


def _r_csv(table: Exported) -> Iterator[str]:
    kinds = table.kinds
    classes = {"category": "character", "ordered": "character", "date": "Date", "time": "POSIXct"}
    yield f"{table.name} <- read.csv("
    yield f"  {_text(table.file)},"
    yield '  check.names = FALSE, na.strings = "", fileEncoding = "UTF-8",'
    listed = (f"{_text(classes[kinds[name]]) if name in kinds else 'NA'}" for name in table.table.column_names)
    yield f"  colClasses = c({', '.join(listed)})"
    yield ")"
    for name in table.fitted.guarded:
        column = f"{table.name}[[{_text(name)}]]"
        yield f"# {NO_PART}"
        yield f"{column} <- ifelse(grepl({_text('^' + GUARDED)}, {column}), substring({column}, 2), {column})"
    for name, kind in kinds.items():
        column = f"{table.name}[[{_text(name)}]]"
        if kind == "category":
            yield f"{column} <- factor({column})"
        elif kind == "ordered":
            yield f"{column} <- factor({column}, levels = c({_texts(table.order(name))}), ordered = TRUE)"


# ---------------------------------------------------------------------------------------------------------------- Stata


def _stata(ending: str, tables: Sequence[Exported], about: Sequence[str]) -> Iterator[str]:
    yield from _remarks("*", (re.sub(r"/\*|\*/|//", "", sentence) for sentence in about))
    for table in [*tables[1:], tables[0]]:  # the last one stays in memory
        yield ""
        yield f'use `"{table.file}"\', clear'
        yield from _intervals("*", table)
        yield "describe"
    stem = _measured(tables[0])
    if stem is not None:
        yield ""
        yield f"summarize {stem}_lo, detail"
        yield "local middle = r(p50)"
        yield "* certainly at most the middle, and possibly"
        yield f"count if {stem}_hi <= `middle'"
        yield f"count if {stem}_lo <= `middle' | missing({stem}_lo)"
        yield f"* a regression of intervals: intreg {stem}_lo {stem}_hi"


WRITERS: Mapping[str, Mapping[str, Callable[[str, Sequence[Exported], Sequence[str]], Iterator[str]]]] = {
    ".csv": {".py": _python, ".R": _r},
    ".parquet": {".py": _python, ".R": _r},
    ".dta": {".do": _stata},
}
"""Per kind of file, and per kind of script, what writes the lines of one."""
