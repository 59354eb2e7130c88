"""The canonical order of a release, computed from the texts of its files and its manifest as the definition says it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Table = list[list[str]]
"""The lines of a file as texts, the header first."""

NUMBERS = {"count", "persons", "told", "rows"}
"""Columns that releases add, besides the numbers of groups."""
DESCRIBED = {"generalized", "sealed", "mirrored", "nested", "matched", "sized"}


def in_order(tables: Mapping[str, Table], manifest: Mapping[str, Any]) -> dict[str, Table]:
    """All tables of a release with their lines, and the numbers of their groups, in canonical order."""
    found: dict[str, Table] = {}
    for format, names in _parts(tables, manifest):
        found |= _part_in_order({name: tables[name] for name in names}, format, manifest["attributes"])
    return {name: found[name] for name in tables}


def _parts(tables: Mapping[str, Table], manifest: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The format and the tables of each release that this one consists of."""
    if "parts" not in manifest:
        yield manifest["format"], list(tables)
    for number, part in enumerate(manifest.get("parts", ()), 1):
        yield part.get("format", "generalized"), [name for name in tables if name.endswith(f"_{number}")]


def _part_in_order(tables: Mapping[str, Table], format: str, attributes: list[dict[str, Any]]) -> dict[str, Table]:
    compared = {one["name"]: _compared(one, format) for one in attributes}
    ordered: dict[str, Table] = {}
    fixed = {name for name in tables if name.split("_")[0] in ("prior", "matrix")}
    groups = sorted({cell for name in tables for cell in _column(tables[name], "group")}, key=int)
    lines: dict[str, dict[str, list[Any]]] = {group: {name: [] for name in tables} for group in groups}
    for name, (head, *rows) in tables.items():
        for row in rows:
            cells = dict(zip(head, row, strict=True))
            key = tuple(_key(compared, column, cell) for column, cell in cells.items() if column not in LABELS)
            if "group" in head:
                lines[cells["group"]][name].append(key)
    content = {group: [sorted(lines[group][name]) for name in tables] for group in groups}
    if format == "nested":
        (nodes,) = (table for name, table in tables.items() if name.split("_")[0] == "nodes")
        number = _tree(content, dict(zip(_column(nodes, "group"), _column(nodes, "parent"), strict=True)))
    else:
        number = {group: place for place, group in enumerate(sorted(groups, key=content.__getitem__))}
    for name, (head, *rows) in tables.items():
        if name in fixed:  # by value, as the manifest lists the values
            ordered[name] = [head, *rows]
            continue
        labelled = [
            [str(number[cell]) if column in LABELS and cell else cell for column, cell in zip(head, row, strict=True)]
            for row in rows
        ]

        def place(row: list[str], head: list[str] = head) -> tuple[Any, ...]:
            cells = dict(zip(head, row, strict=True))
            key = tuple(_key(compared, column, cell) for column, cell in cells.items() if column not in LABELS)
            return int(cells.get("group", 0)), key

        ordered[name] = [head, *sorted(labelled, key=place)]
    return ordered


LABELS = ("group", "parent")
"""Columns that hold numbers of groups."""


def _column(table: Table, name: str) -> list[str]:
    head, *rows = table
    return [row[head.index(name)] for row in rows] if name in head else []


def _key(compared: Mapping[str, Callable[[str], Any]], column: str, cell: str) -> Any:
    return compared[column](cell) if column in compared else float(cell)


def _compared(attribute: Mapping[str, Any], format: str) -> Callable[[str], Any]:
    """How the cells of an attribute are compared."""
    if attribute["role"] == "quasi" and format in DESCRIBED:
        return lambda cell: cell
    if attribute["kind"] == "numeric":
        return lambda cell: (cell != "", float(cell or 0))
    if attribute["role"] == "other" or attribute["kind"] in ("date", "datetime"):
        return lambda cell: cell
    listed = attribute["values"] if attribute["kind"] == "ordinal" else attribute["hierarchy"]
    places = {(value if isinstance(value, str) else value[0]): place for place, value in enumerate(listed)}
    return lambda cell: places.get(cell, -1)


def _tree(content: Mapping[str, Any], parent: Mapping[str, str]) -> dict[str, int]:
    """Number nodes from the roots down, children of one parent by what their subtrees say."""

    def subtree(node: str) -> Any:
        return content[node], sorted(subtree(child) for child in content if parent[child] == node)

    number: dict[str, int] = {}
    level = sorted((node for node in content if not parent[node]), key=subtree)
    while level:
        for node in level:
            number[node] = len(number)
        level = [
            child for node in level for child in sorted((one for one in content if parent[one] == node), key=subtree)
        ]
    return number
