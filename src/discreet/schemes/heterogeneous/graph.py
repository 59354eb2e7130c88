"""The graph of the paper: every row in a box of its own, around the rows that it is matched with.

The best of the partitions that it is made of loses no more (see ``Heterogeneous``), so the graph is published only when
it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import matching as _matching
from discreet.kernels.matching import Growing
from discreet.randomness import numbers_below
from discreet.schemes.heterogeneous.buckets import Buckets
from discreet.schemes.heterogeneous.matching import Matching, Space, grow_from

kernels = cast(Any, _matching)


@dataclass(frozen=True, eq=False)
class Graph:
    """Which rows each published box is around: a graph in which every row has as many boxes as a box has rows."""

    members: NDArray[np.integer[Any]]
    """``members[box, at]``: the rows that a box is around. Each column holds every row once: it is an assignment."""
    cost: NDArray[np.float64]
    """What each box costs."""

    @classmethod
    def around(cls, space: Space, members: NDArray[np.integer[Any]]) -> Graph:
        """The graph of these rows, with what the boxes around them cost."""
        points = space.points[members[:, 0]]
        growing = Growing(points.copy(), points.copy(), np.zeros(len(points)), np.zeros((len(points), 1), np.bool_))
        boxes, unmarked = np.arange(len(points)), np.full(len(points), -1, np.int32)
        for column in members.T:
            kernels.take_in(space.axes, growing, space.points[column], unmarked, boxes)
        return cls(members, growing.cost)

    @property
    def loss(self) -> float:
        """The loss summed over the rows."""
        return float(self.cost.sum())

    @property
    def candidates(self) -> NDArray[np.int64]:
        """``candidates[row]``: the boxes that are around a row, one of which is published with its sensitive value."""
        boxes, size = self.members.shape
        found: NDArray[np.int64] = np.argsort(self.members, axis=None, kind="stable").reshape(boxes, size) // size
        return found

    def draw(self, seeded: np.random.Generator | None = None) -> NDArray[np.integer[Any]]:
        """For each box the row whose sensitive value is published with it: one of the assignments, all equally likely.

        Which one it was must not be guessed, so chance comes from the operating system unless a generator is given.
        The paper draws a perfect matching of the graph instead, which need not be one of the assignments that it was
        built of. Then a person may find one value with several candidates, though every box is around different ones.
        In an assignment from buckets to buckets, the candidates of a person, one of each bucket, have the values of
        rows of different buckets.
        """
        return self.members[:, self._drawn(seeded)]

    def matches(self, seeded: np.random.Generator | None = None) -> NDArray[np.int32]:
        """For each row the boxes that are around it, beginning with the one that its value is published with.

        That one is drawn as by ``draw``; the assignments after it follow in their order.
        """
        boxes, size = self.members.shape
        first = self._drawn(seeded)
        found = np.empty((boxes, size), np.int32)
        for at in range(size):
            found[self.members[:, (first + at) % size], at] = np.arange(boxes)
        return found

    def _drawn(self, seeded: np.random.Generator | None) -> int:
        return int(numbers_below(self.members.shape[1], 1, seeded)[0])


def matched_graph(space: Space, buckets: Buckets, matching: Matching, block: int | None = None) -> Graph:
    """The graph of the paper: around each row one row of every bucket, found by matching its bucket with the others.

    Column s matches every bucket with the one s places further on. There must be no short bucket: what would be
    published where it has no row?

    >>> from discreet.datasets import patients
    >>> from discreet.schemes.axes import axes_of
    >>> from discreet.schemes.heterogeneous.buckets import bucketize
    >>> table = patients()
    >>> points, axes = axes_of(table, "ail", "interval")
    >>> buckets = bucketize(table.classes, np.full(6, 0.5), 1, "fewest", np.random.default_rng(1))
    >>> matched_graph(Space(points, axes), buckets, "greedy").members.shape == (table.rows, len(buckets))
    True
    """
    assert buckets.full == len(buckets), "all buckets have the same number of rows"
    members = np.empty((len(buckets.rows), len(buckets)), np.int32)  # the largest array by far
    cost = np.empty(len(buckets.rows))
    for start in range(len(buckets)):
        grown = grow_from(space, buckets, start, matching, block)
        members[buckets.rows[buckets[start]]] = np.roll(grown.members, -start, axis=1)
        cost[buckets.rows[buckets[start]]] = grown.cost
    return Graph(members, cost)


def rings(space: Space, buckets: Buckets, place: NDArray[Any]) -> Graph:
    """The generalization by rings (Wong et al., SIGMOD 2010) that the paper is compared with, called NH there.

    Rows are put in a ring, taken in turn from every bucket along a curve (``place`` says where they are on it). A box
    is around a row and those after it, as many as there are buckets: one row of each, whichever row it begins with.
    """
    assert buckets.full == len(buckets), "all buckets have the same number of rows"
    lines = buckets.rows.reshape(len(buckets), buckets.width)
    lines = np.take_along_axis(lines, np.argsort(place[lines], axis=1, kind="stable"), axis=1)
    ring = lines.T.ravel()
    members = np.empty((len(ring), len(buckets)), np.int64)
    for shift in range(len(buckets)):
        members[ring, shift] = np.roll(ring, -shift)
    return Graph.around(space, members)
