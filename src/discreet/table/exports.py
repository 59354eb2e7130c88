"""Writes tables as files that analysts open: for spreadsheets, Stata and SPSS, and as Parquet.

What a kind of file cannot hold is written as it can, and said: names that a program does not allow, texts that a
spreadsheet would run, numbers that it would round.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import DiscreetError
from discreet.options import brief
from discreet.table.raw_column import one_dictionary
from discreet.table.write import BATCH_ROWS, write_table

EXTRAS = {"xlsxwriter": "excel", "pyreadstat": "stats", "polars": "stats"}
"""The extra that brings each library."""
STARTS = "[-=+@\t\r\n\uff0d\uff1d\uff0b\uff20]"
"""The characters, some of them in the wide form of East Asia, that make a spreadsheet take a text for a formula."""
SHEET_ROWS, SHEET_COLUMNS, SHEET_TEXT, SHEET_NAME = 1_048_576, 16_384, 32_767, 31
"""The rows, columns, characters of a cell and of a name that a sheet of Excel has at most."""
FIRST_DAY = "1900-03-01"
"""The first day on which spreadsheets agree."""
MOST_LABELS = 65_536
"""How many values of a column are given labels in a statistics package at most."""
WHOLE = 2**31 - 102
"""The largest whole number of Stata; larger ones are doubles."""


class Program(NamedTuple):
    """A statistics package, and what its files may hold."""

    called: str
    write: str
    """The function of pyreadstat that writes them."""
    longest: int
    """The bytes of a name."""
    variable: int
    """The characters of what describes a variable."""
    label: int
    """The bytes of what describes a value."""


STATA = Program("Stata", "write_dta", 31, 80, 32_000)
SPSS = Program("SPSS", "write_sav", 64, 255, 120)
RESERVED = re.compile(
    r"byte|double|float|if|in|int|long|str(l|\d+)|using|with|all|and|by|eq|ge|gt|le|lt|ne|not|or|to", re.IGNORECASE
)
"""The words that cannot name a variable, in one of the two or both."""


class Fitted(NamedTuple):
    """A table as a file of some kind can hold it."""

    table: pa.Table
    names: dict[str, str]
    """Per name in the file the name of the column."""
    notes: tuple[str, ...] = ()
    """Sentences on what is written otherwise, without a full stop."""
    guarded: tuple[str, ...] = ()
    """The names of the columns that hold a text with an apostrophe before it."""


class Kind(NamedTuple):
    """A kind of file."""

    called: str
    fit: Callable[[pa.Table], Fitted]
    """Returns a table as it is in such a file."""
    write: Callable[[Mapping[str, Fitted], Sequence[str], Path], None]
    """Writes such a file of tables that fit, with sentences about them where there is room."""
    sheets: bool = False
    """Whether a file holds several tables."""


# ------------------------------------------------------------------------------------------------------ CSV and Parquet


def tidied(table: pa.Table) -> pa.Table:
    """Return a table whose categories are those that occur, in an order of their own, unless their order is published.

    >>> coded = pa.array(["b", "b", "gone"]).dictionary_encode()
    >>> tidied(pa.table({"city": coded.take(pa.array([0, 1]))})).column("city").chunk(0).dictionary.to_pylist()
    ['b']
    """
    columns = []
    for column in table.columns:
        if pa.types.is_string(column.type) or (pa.types.is_dictionary(column.type) and not column.type.ordered):
            texts = column.cast(pa.string())
            known = pc.unique(texts).drop_null().sort()
            column = pa.DictionaryArray.from_arrays(pc.index_in(texts, known).combine_chunks(), known)
        columns.append(column)
    return pa.table(columns, names=table.column_names)


def guarded(table: pa.Table) -> Fitted:
    """Return a table for a spreadsheet: an apostrophe is put before texts that would be run.

    >>> fitted = guarded(pa.table({"city": ["=1+1", "Bonn", "'-"], "age": [-1, 2, 3]}))
    >>> fitted.table.column("city").to_pylist(), fitted.table.column("age").to_pylist(), fitted.guarded
    (["'=1+1", 'Bonn', "''-"], [-1, 2, 3], ('city',))
    """
    columns, touched = [], []
    for name, column in zip(table.column_names, tidied(table).columns, strict=True):
        if pa.types.is_dictionary(column.type):
            coded = one_dictionary(column)
            texts = coded.dictionary.to_pylist()
            safe = [_safe(text) for text in texts]
            if safe != texts:
                touched.append(name)
            column = pa.DictionaryArray.from_arrays(
                coded.indices, pa.array(safe, pa.string()), ordered=column.type.ordered
            )
        columns.append(column)
    names = {_safe(name): name for name in table.column_names}
    notes = (f"texts of column {name!r} that a spreadsheet would run begin with an apostrophe" for name in touched)
    return Fitted(pa.table(columns, names=list(names)), names, tuple(notes), tuple(map(_safe, touched)))


def _safe(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet would run it, or if it looks as if it had one."""
    return f"'{text}" if re.match(f"'*{STARTS}", text) else text


def _write_csv(tables: Mapping[str, Fitted], about: Sequence[str], path: Path) -> None:
    (fitted,) = tables.values()
    write_table(fitted.table, path)


def _as_it_is(table: pa.Table) -> Fitted:
    return Fitted(tidied(table), {name: name for name in table.column_names})


def _write_parquet(tables: Mapping[str, Fitted], about: Sequence[str], path: Path) -> None:
    """Write a table with its categories and their order."""
    import pyarrow.parquet as pq

    (fitted,) = tables.values()
    with path.open("wb") as file:
        pq.write_table(fitted.table, file, compression="zstd")


# ---------------------------------------------------------------------------------------------------------------- Excel


def _for_a_sheet(table: pa.Table) -> Fitted:
    """Return a table as a sheet can hold it; raise if none can."""
    way_out = "export it as CSV or Parquet"
    if table.num_rows >= SHEET_ROWS or table.num_columns > SHEET_COLUMNS:
        raise DiscreetError(
            f"a table of the release has {table.num_rows:,} rows and {table.num_columns:,} columns, and a sheet of "
            f"Excel holds {SHEET_ROWS - 1:,} and {SHEET_COLUMNS:,}; {way_out}"
        )
    columns, notes = [], []
    for name, column in zip(table.column_names, tidied(table).columns, strict=True):
        if pa.types.is_temporal(column.type) and str(pc.min(column)) < FIRST_DAY:
            notes.append(f"column {name!r} is text, because Excel has no dates before {FIRST_DAY}")
            column = column.cast(pa.string()).dictionary_encode()
        texts = one_dictionary(column).dictionary.to_pylist() if pa.types.is_dictionary(column.type) else []
        if any(len(text) > SHEET_TEXT for text in [name, *texts]):
            raise DiscreetError(
                f"column {brief(name)} has a text of more than {SHEET_TEXT:,} characters, which no cell of Excel "
                f"holds; {way_out}"
            )
        columns.append(column)
    names = {name: name for name in table.column_names}
    return Fitted(pa.table(columns, names=list(names)), names, tuple(notes))


def _write_workbook(tables: Mapping[str, Fitted], about: Sequence[str], path: Path) -> None:
    """Write a sheet for each table, and one that says what they are; no cell is a formula."""
    library = _library("xlsxwriter", "Excel")
    *names, last = _sheet_names([*tables, "about"])
    with path.open("wb") as file:
        book = library.Workbook(file, {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
        book.set_properties({"created": dt.datetime(2000, 1, 1)})  # equal tables give equal files
        bold, day = book.add_format({"bold": True}), book.add_format({"num_format": "yyyy-mm-dd"})
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"})
        for name, fitted in zip(names, tables.values(), strict=True):
            _fill(book.add_worksheet(name), fitted.table, bold, day, moment)
        sheet = book.add_worksheet(last)
        sheet.set_column(0, 0, 120)
        for row, sentence in enumerate(about):
            sheet.write_string(row, 0, sentence[:SHEET_TEXT])
        try:
            book.close()
        except library.exceptions.FileCreateError as fault:
            raise fault.args[0] from None  # what the system says


def _fill(sheet: Any, table: pa.Table, bold: Any, day: Any, moment: Any) -> None:
    """Write a table into a sheet, whose first line stays in view."""
    sheet.freeze_panes(1, 0)
    sheet.set_column(0, table.num_columns - 1, 16)
    for place, name in enumerate(table.column_names):
        sheet.write_string(0, place, name, bold)
    ways = [_way(sheet, column.type, day, moment) for column in table.columns]
    rows = (
        row
        for batch in table.to_batches(max_chunksize=BATCH_ROWS)
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    )
    for at, row in enumerate(rows, 1):
        for place, (write, cell) in enumerate(zip(ways, row, strict=True)):
            if cell is not None:
                write(at, place, cell)


def _sheet_names(names: Sequence[str] | Mapping[str, Any]) -> list[str]:
    """Return a name for each sheet that Excel allows.

    >>> _sheet_names(["table", "auxiliary_a/b", "auxiliary_a?b"])
    ['table', 'auxiliary_a_b', 'auxiliary_a_b_2']
    """
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[\[\]:*?/\\\x00-\x1f]", "_", name).strip("'") or "table"
        taken = {"history", *(each.casefold() for each in found)}
        tries = ("" if at == 1 else f"_{at}" for at in count(1))
        found.append(
            next(made for end in tries if (made := plain[: SHEET_NAME - len(end)] + end).casefold() not in taken)
        )
    return found


def _way(sheet: Any, kind: pa.DataType, day: Any, moment: Any) -> Callable[[int, int, Any], Any]:
    """Return what writes a cell of a column of this type."""
    if pa.types.is_temporal(kind):
        form = day if pa.types.is_date(kind) else moment
        return lambda row, place, cell: sheet.write_datetime(row, place, cell, form)
    return sheet.write_string if pa.types.is_dictionary(kind) else sheet.write_number  # type: ignore[no-any-return]


# -------------------------------------------------------------------------------------------------- statistics packages


def _for(program: Program, table: pa.Table) -> Fitted:
    """Return a table as a statistics package can hold it: columns that have categories get labels of values."""
    names = fitted_names(table.column_names, program)
    columns, notes = [], []
    for name, column in zip(table.column_names, tidied(table).columns, strict=True):
        if pa.types.is_dictionary(column.type):
            texts = one_dictionary(column).dictionary.to_pylist()
            if len(texts) > MOST_LABELS or not all(0 < len(text.encode()) <= program.label for text in texts):
                notes.append(f"column {name!r} is text, because {program.called} cannot hold its values as labels")
                column = column.cast(pa.string())
        columns.append(column)
    return Fitted(
        pa.table(columns, names=list(names.values())), {new: name for name, new in names.items()}, tuple(notes)
    )


def _write_statistics(program: Program, tables: Mapping[str, Fitted], about: Sequence[str], path: Path) -> None:
    """Write a table for a statistics package: categories as numbers with labels."""
    library, polars = _library("pyreadstat", program.called), _library("polars", program.called)
    (fitted,) = tables.values()
    columns: dict[str, Any] = {}
    labels: dict[str, dict[int, str]] = {}
    for name, column in zip(fitted.table.column_names, fitted.table.columns, strict=True):
        columns[name] = _stored(column)
        if pa.types.is_dictionary(column.type):
            coded = one_dictionary(column)
            columns[name] = pc.add(coded.indices.cast(pa.int32()), 1)
            labels[name] = dict(enumerate(coded.dictionary.to_pylist(), 1))
    more: dict[str, Any] = {"file_label": about[0].encode()[:60].decode(errors="ignore")}
    if program is SPSS:
        ordered = {field.name for field in fitted.table.schema if field.name in labels and field.type.ordered}
        more["note"] = [line for sentence in about for line in _lines(sentence)]
        kinds = {name: "ordinal" if name in ordered else "nominal" for name in labels}
        more["variable_measure"] = {**dict.fromkeys(columns, "scale"), **kinds}
        more["variable_format"] = {name: "F12.0" for name, held in columns.items() if pa.types.is_integer(held.type)}
    described = {new: name[: program.variable] for new, name in fitted.names.items() if new != name}
    write = getattr(library, program.write)
    frame = polars.from_arrow(pa.table(columns))
    try:
        write(frame, str(path), column_labels=described, variable_value_labels=labels, **more)
    except (library.ReadstatError, library.PyreadstatError) as fault:
        raise DiscreetError(
            f"the table cannot be written for {program.called} ({str(fault).rstrip('.')}); export it as CSV or Parquet"
        ) from None


def _stored(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return numbers as whole ones where the packages hold them as such."""
    if not pa.types.is_integer(column.type):
        return column
    ends = pc.min_max(column).as_py()
    small = ends["min"] is None or -WHOLE <= ends["min"] <= ends["max"] <= WHOLE
    return column.cast(pa.int32() if small else pa.float64())


def _lines(sentence: str) -> list[str]:
    """Return a sentence in the lines of a note, which have 80 bytes."""
    lines = [""]
    for word in sentence.split():
        if len(f"{lines[-1]} {word}".encode()) > 80 and lines[-1]:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word.encode()[:76].decode(errors='ignore')}".strip()
    return lines


def fitted_names(names: Sequence[str], program: Program) -> dict[str, str]:
    """Return per column a name that the program allows; the two ends of an interval stay a pair.

    >>> fitted_names(["work class", "work-class", "age_lo", "age_hi", "1990", "if"], STATA)
    {'work class': 'work_class', 'work-class': 'work_class_2', 'age_lo': 'age_lo', 'age_hi': 'age_hi',
     '1990': 'v1990', 'if': 'vif'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(names, key=lambda name: _plain_name(name, program.longest) != name):  # those that may stay first
        stem = name[:-3]
        paired = {f"{stem}_lo", f"{stem}_hi"} <= set(names) and name[-3:] in ("_lo", "_hi")
        endings = ("_lo", "_hi") if paired else ("",)
        if name in found:
            continue
        for at in count(1):
            number = "" if at == 1 else f"_{at}"
            room = program.longest - len(number) - len(endings[0])
            made = [_plain_name(stem if paired else name, room) + number + ending for ending in endings]
            if not taken & {each.casefold() for each in made}:
                break
        taken |= {each.casefold() for each in made}
        found |= {(stem if paired else name) + ending: new for ending, new in zip(endings, made, strict=True)}
    return {name: found[name] for name in names}


def _plain_name(name: str, longest: int) -> str:
    """Return a name of letters, digits and underscores, with a letter first."""
    plain = "".join(sign if sign.isalpha() or sign in "0123456789_" else "_" for sign in name)
    if not plain[:1].isalpha() or RESERVED.fullmatch(plain):
        plain = f"v{plain}"
    return plain.encode()[:longest].decode(errors="ignore")


# --------------------------------------------------------------------------------------------------------------- shared


def _library(name: str, kind: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise DiscreetError(
            f"writing a file for {kind} needs the package {name}, which is not installed: "
            f"pip install 'discreet[{EXTRAS[name]}]'"
        ) from None


KINDS = {
    ".csv": Kind("CSV", guarded, _write_csv),
    ".parquet": Kind("Parquet", _as_it_is, _write_parquet),
    ".xlsx": Kind("Excel", _for_a_sheet, _write_workbook, sheets=True),
    ".dta": Kind("Stata", partial(_for, STATA), partial(_write_statistics, STATA)),
    ".sav": Kind("SPSS", partial(_for, SPSS), partial(_write_statistics, SPSS)),
}
"""The kinds of files, by the ending of their names."""
