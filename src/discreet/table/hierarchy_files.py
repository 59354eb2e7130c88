"""Hierarchy files: CSV with the leaf first, or TOML."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from discreet.table.documents import toml
from discreet.table.encodings import decode
from discreet.table.paths import content, located
from discreet.table.texts import value_text

DELIMITERS = ";,\t"
NAMES = ("hierarchy_{}.csv", "hierarchy_{}.toml", "{}.csv", "{}.toml")
"""The possible names of a column's file in a folder of hierarchies; the first that exists is used."""


@dataclass(frozen=True)
class Offered:
    """A file found in a folder of hierarchies: used for its column unless that is numeric.

    Numbers are published as intervals, which lose less information than labels. To have labels for a numeric column,
    the user names the file for that column.
    """

    path: Path


def offered(folder: str | PathLike[str], columns: Iterable[str]) -> dict[str, Offered]:
    """Return the hierarchy files that a folder contains for these columns.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "hierarchy_sex.csv").write_text("f;*\\nm;*\\n")
    ...     print([(name, one.path.name) for name, one in offered(folder, ["age", "sex"]).items()])
    [('sex', 'hierarchy_sex.csv')]
    """
    home, wanted = located(folder), list(columns)
    if not home.is_dir():
        raise DiscreetError(f"there is no folder of hierarchies '{home}'; check the path")
    found = {}
    for name in wanted:
        paths = (home / pattern.format(name) for pattern in NAMES)
        path = next((path for path in paths if path.is_file()), None)
        if path is not None:
            found[name] = Offered(path)
    if not found:
        raise DiscreetError(
            f"the folder '{home}' holds no hierarchy of any of the columns {', '.join(map(repr, wanted))}; "
            f"call the file of a column {NAMES[0].format('NAME')} or {NAMES[2].format('NAME')}"
        )
    return found


def read_rows(attribute: str, path: Path, values: Iterable[Any] = ()) -> list[tuple[str, ...]]:
    """Read the rows of a CSV hierarchy; a first row that looks like a header, judged by ``values``, is refused."""
    rows = _cut(_text(attribute, path))
    first = rows[0][0] if rows else ""
    if first.casefold() == attribute.strip().casefold() and first not in {
        value_text(value).strip() for value in values
    }:
        raise DiscreetError(
            f"the first line of the hierarchy of {attribute!r} in '{path}' looks like a header, since it begins with "
            f"{first!r}, which is no value of the column; delete it, or move it down if it is one"
        )
    return rows


def _cut(text: str) -> list[tuple[str, ...]]:
    """Split the lines of a CSV hierarchy into cells by the delimiter that gives all lines equally many."""
    readings = {}
    for delimiter in DELIMITERS:
        try:
            rows = [
                tuple(cell.strip() for cell in row)
                for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
                if any(cell.strip() for cell in row)
            ]
        except csv.Error:
            continue
        if rows and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows):
            return rows
        readings[delimiter] = rows
    # No delimiter fits all lines: return the most likely split, in which later checks will find the fault.
    found = [delimiter for delimiter in DELIMITERS if delimiter in text and delimiter in readings]
    return readings[found[0]] if found else [(line.strip(),) for line in text.splitlines() if line.strip()]


def read_mapping(attribute: str, path: Path) -> dict[str, Any]:
    """Read a TOML hierarchy: nested tables, ``[intervals]`` or ``[prefix]``."""
    return toml(_text(attribute, path), f"the hierarchy of {attribute!r} in '{path}'")


def _text(attribute: str, path: Path) -> str:
    what = f"'{path}' for the hierarchy of {attribute!r}"
    return decode(content(located(path), what), None, what)
