"""Beliefs about rows under nodes of a tree by definition: every way to give each person a row is a world.

A row of a node may belong to anybody in that node, that is to anybody whose leaf it is or lies below it. All worlds are
equally likely, and they are enumerated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction


def path(parents: Sequence[int], node: int) -> list[int]:
    """A node and its ancestors."""
    found = [node]
    while parents[found[-1]] >= 0:
        found.append(parents[found[-1]])
    return found


def worlds(may: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """All ways to give every person another one of the rows that ``may[person]`` lists."""

    def rest(person: int, taken: list[int]) -> Iterator[list[int]]:
        if person == len(may):
            yield taken
            return
        for row in may[person]:
            if row not in taken:
                yield from rest(person + 1, [*taken, row])

    return rest(0, [])


def beliefs(
    parents: Sequence[int], leaves: Sequence[int], rows: Sequence[tuple[int, Hashable]]
) -> list[dict[Hashable, Fraction]]:
    """Per person, given by leaves: the share of worlds in which the person has each value.

    ``rows`` are published nodes and values.
    """
    may = [[at for at, (node, _) in enumerate(rows) if node in path(parents, leaf)] for leaf in leaves]
    return _shares(may, rows)


def beliefs_by_boxes(
    admit: Sequence[Sequence[int]], rows: Sequence[tuple[int, Hashable]]
) -> list[dict[Hashable, Fraction]]:
    """The same for someone who knows no tree, and only which nodes' descriptions admit each person."""
    return _shares([[at for at, (node, _) in enumerate(rows) if node in nodes] for nodes in admit], rows)


def _shares(may: Sequence[Sequence[int]], rows: Sequence[tuple[int, Hashable]]) -> list[dict[Hashable, Fraction]]:
    found: list[Counter[Hashable]] = [Counter() for _ in may]
    number = 0
    for world in worlds(may):
        number += 1
        for person, row in enumerate(world):
            found[person][rows[row][1]] += 1
    return [{value: Fraction(count, number) for value, count in one.items()} for one in found]
