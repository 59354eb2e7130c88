"""The levels at which a quasi-identifier can be published: its values, ever larger sets of them, and all as one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.table.table import Column, Table

HALVINGS = 5
"""How often the range of an attribute without a hierarchy is halved: into at most 32 intervals."""

EASY = 50_000
"""Ranges are halved less often if there were more combinations of levels than these."""

LARGEST_LATTICE = 5_000_000
"""The most combinations of levels that are searched."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of one quasi-identifier, the finest first; the last is a single node above all values.

    >>> Levels("age", (np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([0, 0, 0]))).step(1, 2).tolist()
    [0, 0]
    """

    attribute: str
    nodes: tuple[NDArray[np.int32], ...]
    """``nodes[level][code]``: the node that a value belongs to. From code to code it never falls."""

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.nodes) - 1

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """The number of nodes of each level."""
        return tuple(int(nodes[-1]) + 1 for nodes in self.nodes)

    def step(self, low: int, high: int) -> NDArray[np.int32]:
        """Return the node of the level ``high`` above each node of the level ``low``."""
        firsts = np.searchsorted(self.nodes[low], np.arange(self.cards[low]))
        return self.nodes[high][firsts]


def levels_of(table: Table) -> tuple[Levels, ...]:
    """Return the levels of every quasi-identifier of a table.

    A hierarchy gives the levels of its attribute; those that merge nothing are left out. Numbers, dates and ordered
    values without one are put into intervals with about equally many rows: two, four, eight and so on up to
    32, or fewer where that would make too many combinations of levels. Missing values stay by themselves below the last
    level. Levels depend on nothing but quasi-identifiers.

    >>> age = Column("age", "numeric", np.array([0, 1, 2, 3, 4], np.int32), np.array([17, 20, 30, 40, 80]))
    >>> [nodes.tolist() for nodes in levels_of(Table(5, (age,), ()))[0].nodes]
    [[0, 1, 2, 3, 4], [0, 1, 2, 3, 3], [0, 0, 1, 1, 1], [0, 0, 0, 0, 0]]
    """
    usable = np.ones(table.rows, np.bool_)
    if table.unusable is not None:
        usable[table.unusable] = False
    for halvings in range(HALVINGS, -1, -1):
        each = tuple(_levels(column, usable, halvings) for column in table.quasi)
        number = math.prod(levels.height + 1 for levels in each)
        if number <= EASY:
            return each
    if number <= LARGEST_LATTICE:
        return each
    deepest = max(each, key=lambda levels: levels.height)
    raise DiscreetError(
        f"the levels of the quasi-identifiers can be combined in {number:,} ways, more than {LARGEST_LATTICE:,}; "
        f"give hierarchies with fewer levels ({deepest.attribute!r} has {deepest.height + 1}), name fewer "
        "quasi-identifiers, or choose scheme 'cuts'"
    )


def _levels(column: Column, rows: NDArray[np.bool_], halvings: int) -> Levels:
    values = len(column.values)
    if column.hierarchy is not None:
        levels = list(column.hierarchy.ancestors)
    else:
        counts = np.bincount(column.codes[rows], minlength=values)
        levels = [np.arange(values, dtype=np.int32), *_halved(counts, halvings, apart=column.missing is not None)]
    distinct = [np.ascontiguousarray(levels[0], np.int32)]
    for nodes in levels[1:]:
        if nodes[-1] < distinct[-1][-1]:  # nodes are numbered in the order of values, so the last one counts them
            distinct.append(np.ascontiguousarray(nodes, np.int32))
    return Levels(column.name, tuple(distinct))


def _halved(counts: NDArray[np.int64], times: int, apart: bool) -> list[NDArray[np.int32]]:
    """Return levels of intervals, the finest first: all values, then every interval of the level above in two halves.

    With ``apart`` the first value is alone in an interval below the top level.
    """
    below = np.concatenate([[0], np.cumsum(counts)])
    starts = [0]
    levels = [starts]
    if apart and len(counts) > 1:
        starts = [0, 1]
        levels.append(starts)
    for _ in range(times):
        ends = [*starts[1:], len(counts)]
        starts = sorted({*starts, *(_middle(below, *span) for span in zip(starts, ends, strict=True))})
        levels.append(starts)
    codes = np.arange(len(counts))
    return [(np.searchsorted(starts, codes, "right") - 1).astype(np.int32) for starts in reversed(levels)]


def _middle(below: NDArray[np.int64], start: int, end: int) -> int:
    """Return where the codes from ``start`` to before ``end`` fall into two halves of rows; ``start`` if nowhere."""
    if end - start < 2:
        return start
    return start + 1 + int(np.abs(2 * below[start + 1 : end] - below[start] - below[end]).argmin())
