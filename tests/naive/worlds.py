"""Every table that published lists and counts leave possible, enumerated: what an adversary believes by definition.

A *world* of one group is a table that its lists and counts allow: as many rows as are counted, all of whose values are
listed, every listed value held by some row, and the sensitive values counted. Worlds of several groups are combined
freely. A belief is the share of worlds in which something is true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import NamedTuple

Value = Hashable
Point = tuple[Value, ...]
World = tuple[tuple[Point, Value], ...]


class Group(NamedTuple):
    """What is published of a group: the values of each block, and its sensitive values, each as often as counted."""

    lists: tuple[tuple[Value, ...], ...]
    sensitive_columns: tuple[Value, ...]


def group_of(rows: Sequence[tuple[Point, Value]]) -> Group:
    """What is published of rows."""
    columns = zip(*(point for point, _ in rows), strict=True)
    return Group(tuple(tuple(sorted(set(column))) for column in columns), tuple(sorted(value for _, value in rows)))


def worlds(group: Group, repeats: bool = False) -> Iterator[World]:
    """All tables that are possible; rows with equal quasi-identifiers only with ``repeats``.

    With repeats, rows are told apart by the order in which the sensitive values are counted, so that a table is met as
    often as there are ways to lay it out.
    """
    points = list(product(*group.lists))
    size = len(group.sensitive_columns)
    chosen = product(points, repeat=size) if repeats else combinations(points, size)
    for rows in chosen:
        if all(set(column) == set(listed) for column, listed in zip(zip(*rows, strict=True), group.lists, strict=True)):
            if repeats:
                yield tuple(zip(rows, group.sensitive_columns, strict=True))
            else:
                for sensitive_columns in set(permutations(group.sensitive_columns)):
                    yield tuple(zip(rows, sensitive_columns, strict=True))


def presence(group: Group, point: Point, repeats: bool = False) -> Fraction:
    """The share of worlds in which some row has these quasi-identifiers."""
    found = Counter(any(own == point for own, _ in world) for world in worlds(group, repeats))
    return Fraction(found[True], found[True] + found[False])


def presence_in_any(groups: Sequence[Group], point: Point) -> Fraction:
    """The same over all groups together, every combination of their worlds looked at."""
    found = Counter(
        any(own == point for world in combined for own, _ in world)
        for combined in product(*(list(worlds(group)) for group in groups))
    )
    return Fraction(found[True], found[True] + found[False])


def association(groups: Sequence[Group], point: Point, sensitive_attribute: Value) -> Fraction:
    """Of all rows with these quasi-identifiers, in all worlds, the share that has a sensitive value."""
    rows: Counter[bool] = Counter()
    for combined in product(*(list(worlds(group)) for group in groups)):
        rows.update(value == sensitive_attribute for world in combined for own, value in world if own == point)
    return Fraction(rows[True], rows[True] + rows[False])


def existence(groups: Sequence[Group], point: Point, sensitive_attribute: Value) -> Fraction:
    """Of all worlds with such rows, the share in which some row with these quasi-identifiers has a sensitive value."""
    present = held = 0
    for combined in product(*(list(worlds(group)) for group in groups)):
        values = [value for world in combined for own, value in world if own == point]
        present += bool(values)
        held += sensitive_attribute in values
    return Fraction(held, present)


def presence_in_box(
    ends: Sequence[tuple[int, int]], size: int, point: Sequence[int], tight: bool | Sequence[int]
) -> Fraction:
    """The share of tables of ``size`` different rows within a box of whole numbers that have a row at a point.

    With ``tight`` only tables that have rows at both ends of every interval are possible, or of those that it names.
    """
    known = range(len(ends)) if tight is True else tight or ()
    found: Counter[bool] = Counter()
    for rows in combinations(product(*(range(low, high + 1) for low, high in ends)), size):
        columns = list(zip(*rows, strict=True))
        if all((min(columns[at]), max(columns[at])) == tuple(ends[at]) for at in known):
            found[tuple(point) in rows] += 1
    return Fraction(found[True], found[True] + found[False])


def covers(group: Group, point: Point) -> bool:
    """Whether a group lists all values of a point."""
    return all(value in listed for value, listed in zip(point, group.lists, strict=True))


# ------------------------------------------------------------------------------------------------ narrow descriptions


def narrowest(kind: str, values: Sequence[Value], parents: dict[Value, Value]) -> Hashable:
    """The narrowest description of values: the ends of an interval, the values themselves, or the lowest node of a tree
    (its leaves) that is above them all; ``parents`` has the node above each value and node."""
    if kind == "interval":
        known = [value for value in values if value is not None]
        return "anything" if len(known) < len(values) and known else (min(known), max(known)) if known else None
    if kind == "set":
        return frozenset(values)
    paths = []
    for value in set(values):
        path = [value]
        while path[-1] in parents:
            path.append(parents[path[-1]])
        paths.append(path)
    return next(node for node in paths[0] if all(node in path for path in paths))


def presence_in_narrow(
    domains: Sequence[tuple[str, Sequence[Value], dict[Value, Value]]], rows: Sequence[Point], repeats: bool
) -> dict[Point, Fraction]:
    """The share of tables of as many rows, with values of these domains and the same narrowest descriptions, that have
    a row at each point: of all choices of different rows, or of all rows one after another."""

    def told(some: Sequence[Point]) -> list[Hashable]:
        columns = zip(*some, strict=True)
        return [narrowest(kind, own, tree) for (kind, _, tree), own in zip(domains, columns, strict=True)]

    points = list(product(*(values for _, values, _ in domains)))
    wanted, number, found = told(rows), 0, Counter[Point]()
    for some in product(points, repeat=len(rows)) if repeats else combinations(points, len(rows)):
        if told(some) == wanted:
            number += 1
            found.update(set(some))
    return {point: Fraction(found[point], number) for point in points if number}
