"""What whoever knows that descriptions are as narrow as possible believes about presence, by looking at all tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from fuzz.cases import MISSING, Column, Value
from fuzz.files import Line, admits
from naive import unnamed, worlds

MOST_TABLES = 10_000
"""A group is looked at only if there are at most this many tables of as many rows within its description."""

Domain = tuple[str, list[Any], dict[Any, Any]]
"""How a column is described (as in ``worlds.narrowest``), the values that the description admits, and their tree."""


def strongest_beliefs(
    columns: Sequence[Column], manifest: dict[str, Any], line: Line, rows: Sequence[int]
) -> Iterator[Fraction]:
    """Yield the strongest belief in any combination that the group of a line admits, if all tables with its
    descriptions are equally likely: those without equal rows, and those with them."""
    way = manifest["scheme"]["options"].get("values", "interval")
    entries = {entry["name"]: entry for entry in manifest["attributes"]}
    domains = [_domain(one, entries[one.name], way, line[one.name]) for one in columns]
    points = list(
        zip(*(_ordered(one, domain[0], rows) for one, domain in zip(columns, domains, strict=True)), strict=True)
    )
    inside = math.prod(len(values) for _, values, _ in domains)
    for repeats, tables in ((False, math.comb(inside, len(rows))), (True, inside ** len(rows))):
        if tables <= MOST_TABLES:
            yield max(worlds.presence_in_narrow(domains, points, repeats).values(), default=Fraction(0))


def _domain(column: Column, entry: dict[str, Any], way: str, text: str) -> Domain:
    kind = "interval"
    if column.kind == "categorical" or (way == "label" and column.tree is not None):
        kind = "set" if way == "set" else "node"
    values = sorted({value for value in column.meant if _listed(entry, value) and admits(column, text, value)}, key=str)
    return kind, [_place(column, kind, value) for value in values], _parents(column, values) if kind == "node" else {}


def _listed(entry: dict[str, Any], value: Value) -> bool:
    """Whether a reader cannot rule out a value: those of withheld rows alone are not listed, unless numbers."""
    if entry["kind"] == "numeric":
        return True
    if entry["kind"] == "ordinal":
        return value == MISSING or value in entry["values"] or any(isinstance(some, int) for some in entry["values"])
    return unnamed.counts_unnamed(entry) or value in unnamed.named(entry)


def _ordered(column: Column, kind: str, rows: Sequence[int]) -> list[Any]:
    meant = column.meant
    return [_place(column, kind, meant[row]) for row in rows]


def _place(column: Column, kind: str, value: Value) -> Any:
    """Return a value as ``worlds.narrowest`` compares it: in an interval by its place in the order."""
    if kind != "interval" or column.kind == "numeric":
        return value
    return None if value == MISSING else column.order.index(str(value))


def _parents(column: Column, values: Sequence[Value]) -> dict[Any, Any]:
    """Return the node above each value and node; a value that the hierarchy lacks is alone below the root."""
    if column.tree is None:
        return dict.fromkeys(values, "anything")
    lines, root = {line[0]: line for line in column.tree}, column.tree[0][-1]
    found: dict[Any, Any] = {}
    for value in values:
        _, *above = lines.get(str(value), [value, root])
        nodes = [value, *(tuple(above[level:]) for level in range(len(above)))]
        found |= dict(pairwise(nodes))
    return found
