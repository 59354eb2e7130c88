"""Reads published files without the library: tables by the csv module or Arrow, descriptions as in README."""

from __future__ import annotations

import csv
import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from fuzz.cases import ANYTHING, MISSING, Column, Value, meaning

Line = dict[str, str]


class UntrueError(Exception):
    """A release contains something that is not true."""


def expect(condition: bool, sentence: str) -> None:
    """Raise ``UntrueError`` with this sentence unless the condition holds."""
    if not condition:
        raise UntrueError(sentence)


def manifest_of(folder: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    return manifest


def lines_of(folder: Path, name: str) -> list[Line]:
    """Return the lines of a published table, whose digest must be the one in the manifest."""
    listed = manifest_of(folder)["tables"]
    path = next(folder / f"{name}.{ending}" for ending in ("csv", "parquet") if f"{name}.{ending}" in listed)
    expect(hashlib.sha256(path.read_bytes()).hexdigest() == listed[path.name]["sha256"], f"{path.name} was altered")
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        columns = [[_text(value) for value in column.to_pylist()] for column in table.columns]
        return [dict(zip(table.column_names, line, strict=True)) for line in zip(*columns, strict=True)]
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file, strict=True)
    expect(len(set(head)) == len(head), f"{path.name} has a column twice")
    return [dict(zip(head, row, strict=True)) for row in rows]


def _text(value: object) -> str:
    return "" if value is None else str(value)


def lists_of(path: Path, rows: int) -> list[list[int]]:
    """Return the rows that may be each input row's person's, its own first."""
    return [[int(number) for number in line["candidates"].split()] for line in _traced(path, rows)]


def traces_of(path: Path, rows: int) -> list[list[int | None]]:
    """Return, for each table in groups of its own, the group of every input row; ``None`` if it is withheld."""
    lines = _traced(path, rows)
    names = [name for name in lines[0] if name not in ("row", "candidates")]
    numbered = [f"group_{number}" for number in range(1, len(names) + 1)]
    expect(names in (["group"], numbered), f"the trace has the columns {names}")
    return [[int(line[name]) if line[name] else None for line in lines] for name in names]


def _traced(path: Path, rows: int) -> list[Line]:
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    expect([line["row"] for line in lines] == [str(row) for row in range(rows)], "the trace has other rows")
    return lines


# -------------------------------------------------------------------------------------------------------- descriptions


def admits(column: Column, text: str, value: Value) -> bool:
    """Whether a published description covers a value: the value itself, an interval, a set, or a label above it."""
    if text == ANYTHING:
        return True
    if column.kind == "categorical":
        return value in _leaves(column, text)
    if column.tree is not None and text == column.tree[0][-1]:
        return True  # the root, which may have another name than *
    interval = text[:1] == "[" and text[-1:] == "]"
    if value in (None, MISSING):
        return text == MISSING or (not interval and column.tree is not None and MISSING in _leaves(column, text))
    if text == MISSING:
        return False
    if interval:
        low, high = items(text[1:-1])
        return _place(column, low) <= _place(column, value) <= _place(column, high)
    if column.tree is not None and any(text in line[1:] for line in column.tree) and text not in column.order:
        return value in _leaves(column, text)
    if column.tree is not None and text[:1] == "{":
        return value in items(text[1:-1])
    (item,) = items(text)
    return _place(column, item) == _place(column, value)


def _place(column: Column, value: Value) -> Fraction:
    """Return the position of a value in the order of its column."""
    if column.kind == "numeric":
        return value if isinstance(value, Fraction) else Fraction(str(value))
    return Fraction(column.order.index(str(value)))


def _leaves(column: Column, text: str) -> list[str]:
    """Return the values that a description of a categorical column covers; lower labels take precedence."""
    if text[:1] == '"':
        return [json.loads(text)]
    if text[:1] == "{" and text[-1:] == "}" and text not in column.cells:
        return items(text[1:-1])
    if text in column.cells or text == MISSING or column.tree is None:
        return [text]
    for level in range(len(column.tree[0])):
        paths = {tuple(line[level:]) for line in column.tree if line[level] == text}
        if paths:
            first = next(tuple(line[level:]) for line in column.tree if line[level] == text)
            return [line[0] for line in column.tree if tuple(line[level:]) == first]
    raise UntrueError(f"{text!r} means nothing in {column.name!r}")


def items(text: str) -> list[str]:
    """Return the items of a list such as ``a, "b, c"``: plain texts or JSON strings."""
    found, at = [], 0
    while True:
        if text[at : at + 1] == '"':
            item, at = json.JSONDecoder().raw_decode(text, at)
        else:
            end = text.find(", ", at)
            end = len(text) if end < 0 else end
            item, at = text[at:end], end
        found.append(item)
        if at >= len(text):
            return found
        expect(text[at : at + 2] == ", ", f"{text!r} is no list")
        at += 2


def cell(column: Column, line: Line) -> Value:
    """Return the value of a cell that is published unchanged."""
    return meaning(column.kind, line[column.name])
