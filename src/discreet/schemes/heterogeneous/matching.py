"""Groups of one row from every bucket that lie near each other: decided by the quasi-identifiers alone.

What is decided here is which rows of a bucket go to which group, never how many: sensitive values only matter as marks,
which say of some rows that they must not meet (see ``Buckets``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import matching as _matching
from discreet.kernels.costs import Axes
from discreet.kernels.matching import Growing
from discreet.schemes.heterogeneous.buckets import Buckets

kernels = cast(Any, _matching)

Matching = Literal["greedy", "sort-greedy", "hungarian"]
"""How rows are matched with groups: group by group, the cheapest pair first, or at the least cost in all."""

BLOCK = 512
"""The most groups that all rows of a bucket are compared with: where there are more, along a curve in blocks."""
_FORBIDDEN = 1e6
"""More than any growth of a whole block."""


@dataclass(frozen=True, eq=False)
class Space:
    """Where rows lie: one point of codes each, and its place along a curve, by which blocks are formed."""

    points: NDArray[np.int32]
    axes: Axes
    place: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grown:
    """Groups that have grown from the rows of one bucket."""

    members: NDArray[np.int64]
    """``members[group, bucket]``: the row that the group has of every bucket; -1 for none of the short one."""
    cost: NDArray[np.float64]
    """What the box of each group costs."""

    @property
    def loss(self) -> float:
        """The loss summed over the rows, each published in the box of its group."""
        return float(((self.members >= 0).sum(axis=1) * self.cost).sum())

    @property
    def groups(self) -> NDArray[np.int32]:
        """The group of every row."""
        group, bucket = np.nonzero(self.members >= 0)
        found = np.empty(len(group), np.int32)
        found[self.members[group, bucket]] = group
        return found


def grow_from(space: Space, buckets: Buckets, start: int, matching: Matching) -> Grown:
    """The groups that the rows of one full bucket grow into by taking in a row of each of the others, bucket by bucket.

    >>> from discreet.datasets import patients
    >>> from discreet.schemes.axes import axes_of
    >>> from discreet.schemes.heterogeneous.buckets import bucketize
    >>> table = patients()
    >>> points, axes = axes_of(table, "ail", "interval")
    >>> space = Space(points, axes, np.arange(table.rows) * 1.0)
    >>> buckets = bucketize(table.classes, np.full(6, 0.5), 1, "fewest", np.random.default_rng(1))
    >>> grown = grow_from(space, buckets, 0, "hungarian")
    >>> sorted(grown.members.ravel().tolist()) == list(range(table.rows))
    True
    """
    own, number = buckets[start], int(buckets.marks.max(initial=-1)) + 1
    first = space.points[buckets.rows[own]]
    growing = Growing(
        first.copy(), first.copy(), np.zeros(len(first)), np.zeros((len(first), max(1, number)), np.bool_)
    )
    groups = np.arange(len(first))
    kernels.take_in(space.axes, growing, first, buckets.marks[own], groups)
    members = np.full((len(first), len(buckets)), -1, np.int64)
    members[:, start] = buckets.rows[own]
    curve = space.place[buckets.rows[own]]
    for bucket in [*range(start + 1, len(buckets)), *range(start)]:
        rows, marks = buckets.rows[buckets[bucket]], buckets.marks[buckets[bucket]]
        into = _match(space, growing, rows, marks, curve, matching)
        kernels.take_in(space.axes, growing, space.points[rows], marks, into)
        members[into, bucket] = rows
    return Grown(members, growing.cost)


def _match(
    space: Space,
    growing: Growing,
    rows: NDArray[np.int64],
    marks: NDArray[np.int32],
    curve: NDArray[np.float64],
    matching: Matching,
) -> NDArray[np.int64]:
    """A different group for every row. Rows with marks come first, else they might find none (see ``kept_apart``)."""
    into = np.full(len(rows), -1, np.int64)
    together = matching == "hungarian" and len(curve) <= BLOCK
    for some in [np.arange(len(rows))] if together else [np.flatnonzero(marks >= 0), np.flatnonzero(marks < 0)]:
        some = some[np.argsort(space.place[rows[some]], kind="stable")] if len(curve) > BLOCK else some
        free = np.setdiff1d(np.arange(len(curve)), into)
        free = free[np.argsort(curve[free], kind="stable")] if len(curve) > BLOCK else free
        blocks = -(-len(free) // BLOCK)
        for block in range(blocks):
            part = some[len(some) * block // blocks : len(some) * (block + 1) // blocks]
            boxes = free[len(free) * block // blocks : len(free) * (block + 1) // blocks]
            into[part] = _pairs(space.axes, growing, space.points[rows[part]], marks[part], boxes, matching)
        lost = some[into[some] < 0]  # their block had no group left that may have them, but another one has
        free = np.setdiff1d(free, into)
        into[lost] = _pairs(space.axes, growing, space.points[rows[lost]], marks[lost], free, "greedy")
    assert (into >= 0).all(), "every row finds a group if those with marks come first"
    return into


def _pairs(
    axes: Axes,
    growing: Growing,
    points: NDArray[np.int32],
    marks: NDArray[np.int32],
    boxes: NDArray[np.int64],
    matching: Matching,
) -> NDArray[np.int64]:
    """The box for each of these rows, of which there are no more than boxes; -1 for none."""
    found = np.full(len(points), -1, np.int64)
    if len(points) == 0:
        return found
    if matching == "greedy" and len(points) == len(boxes) and (marks < 0).all():
        kernels.boxes_in_turn(axes, growing, points, boxes, found)
    elif matching == "greedy":
        kernels.rows_in_turn(axes, growing, points, marks, boxes, found)
    elif matching == "sort-greedy":
        kernels.cheapest_first(axes, growing, points, marks, boxes, found)
    else:
        from scipy.optimize import linear_sum_assignment  # imported late, as is everything that is slow to import

        matrix = np.empty((len(points), len(boxes)))
        kernels.growths(axes, growing, points, marks, boxes, _FORBIDDEN, matrix)
        some, at = linear_sum_assignment(matrix)
        found[some] = np.where(matrix[some, at] < _FORBIDDEN, boxes[at], -1)
    return found
