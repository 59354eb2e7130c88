"""The canonical order of a release, computed from the texts of its files and its manifest as the definition says it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

Table = list[list[str]]
"""The lines of a file as texts, the header first."""

NUMBERS = {"count", "persons", "told", "rows"}
"""Columns that releases add, besides the numbers of groups."""
DESCRIBED = {"generalized", "sealed", "mirrored", "nested", "matched", "sized"}


class Arranged(NamedTuple):
    """A release in canonical order, and where everything went."""

    tables: dict[str, Table]
    numbers: list[dict[str, str]]
    """For each release that this one consists of the new numbers of groups by the former ones."""
    places: dict[str, list[int]]
    """Where the lines of each table were before."""


def in_order(tables: Mapping[str, Table], manifest: Mapping[str, Any]) -> dict[str, Table]:
    """All tables of a release with their lines, and the numbers of their groups, in canonical order."""
    return arranged(tables, manifest).tables


def arranged(tables: Mapping[str, Table], manifest: Mapping[str, Any]) -> Arranged:
    """The same, with what became of lines and numbers."""
    parts = [
        _arranged_part({name: tables[name] for name in names}, part, manifest["attributes"])
        for part, names in _parts(tables, manifest)
    ]
    found = {name: lines for part in parts for name, lines in part.tables.items()}
    return Arranged(
        {name: found[name] for name in tables},
        [number for part in parts for number in part.numbers],
        {name: places for part in parts for name, places in part.places.items()},
    )


def _parts(tables: Mapping[str, Table], manifest: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], list[str]]]:
    """What the manifest says of each release that this one consists of, and its tables."""
    if "parts" not in manifest:
        yield manifest, list(tables)
    for number, part in enumerate(manifest.get("parts", ()), 1):
        yield part, [name for name in tables if name.endswith(f"_{number}")]


def _arranged_part(tables: Mapping[str, Table], part: Mapping[str, Any], attributes: list[dict[str, Any]]) -> Arranged:
    format = part.get("format", "generalized")
    compared = {one["name"]: _compared(one, format) for one in attributes}
    if "randomised" in part:  # the column that holds the values of this attribute
        compared[part["randomised"]["column"]] = compared[part["randomised"]["attribute"]]
    ordered: dict[str, Table] = {}
    places: dict[str, list[int]] = {}
    fixed = {name for name in tables if name.split("_")[0] in ("prior", "matrix")}
    groups = sorted({cell for name in tables for cell in _column(tables[name], "group")}, key=int)
    lines: dict[str, dict[str, list[Any]]] = {group: {name: [] for name in tables} for group in groups}
    for name, (head, *rows) in tables.items():
        for row in rows if "group" in head else ():
            cells = dict(zip(head, row, strict=True))
            lines[cells["group"]][name].append(_line(cells, compared))
    content = {group: [sorted(lines[group][name]) for name in tables] for group in groups}
    if format in ("nested", "nested-exact"):
        (nodes,) = (table for name, table in tables.items() if name.split("_")[0] == "nodes")
        number = _tree(content, dict(zip(_column(nodes, "group"), _column(nodes, "parent"), strict=True)))
    else:
        number = {group: place for place, group in enumerate(sorted(groups, key=content.__getitem__))}
    for name, (head, *rows) in tables.items():
        if name in fixed:  # by value, as the manifest lists the values
            ordered[name], places[name] = [head, *rows], list(range(len(rows)))
            continue
        labelled = [
            [str(number[cell]) if column in LABELS and cell else cell for column, cell in zip(head, row, strict=True)]
            for row in rows
        ]
        if name == "marginals":  # by attribute, as the manifest lists these, and text
            names = [one["name"] for one in attributes]
            keys: list[Any] = [(names.index(row[0]), row[1]) for row in rows]
        else:
            keys = [_place(head, row, compared) for row in labelled]
        places[name] = sorted(range(len(rows)), key=keys.__getitem__)
        ordered[name] = [head, *(labelled[line] for line in places[name])]
    return Arranged(ordered, [{group: str(place) for group, place in number.items()}], places)


def _place(head: list[str], row: list[str], compared: Mapping[str, Callable[[str], Any]]) -> tuple[Any, ...]:
    """What a line is sorted by: the number of its group, then what it says."""
    cells = dict(zip(head, row, strict=True))
    return int(cells.get("group", 0)), _line(cells, compared)


def _line(cells: Mapping[str, str], compared: Mapping[str, Callable[[str], Any]]) -> tuple[Any, ...]:
    """What a line says besides numbers of groups."""
    return tuple(_key(compared, column, cell) for column, cell in cells.items() if column not in LABELS)


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
