"""Hierarchy files: CSV with the leaf first, or TOML."""

from __future__ import annotations

import csv
import io
import tomllib
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from discreet.table.encodings import decode

DELIMITERS = ";,\t"


def read_rows(attribute: str, path: Path) -> list[tuple[str, ...]]:
    """The rows of a CSV hierarchy without header; the delimiter is the one that cuts all lines into equally many."""
    text = _text(attribute, path)
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
    # No delimiter fits all lines: let the faults be named in the reading that is likeliest meant.
    found = [delimiter for delimiter in DELIMITERS if delimiter in text and delimiter in readings]
    return readings[found[0]] if found else [(line.strip(),) for line in text.splitlines() if line.strip()]


def read_mapping(attribute: str, path: Path) -> dict[str, Any]:
    """The content of a TOML hierarchy: nested tables, ``[intervals]`` or ``[prefix]``."""
    try:
        return tomllib.loads(_text(attribute, path))
    except tomllib.TOMLDecodeError as fault:
        raise DiscreetError(f"the hierarchy of {attribute!r} in '{path}' is no valid TOML: {fault}") from None


def _text(attribute: str, path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise DiscreetError(
            f"the hierarchy of {attribute!r} cannot be read from '{path}': {fault.strerror or fault}; check the path"
        ) from None
    return decode(data, None, f"the hierarchy of {attribute!r} in '{path}'")
