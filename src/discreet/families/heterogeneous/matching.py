"""Groups of one row from every bucket that lie near each other: decided by quasi-identifiers and marks alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discreet.families.heterogeneous.buckets import Buckets
from discreet.families.heterogeneous.kernels import matching as kernels
from discreet.families.heterogeneous.kernels.matching import Growing
from discreet.kernels.costs import Axes

Matching = Literal["greedy", "sort-greedy", "hungarian"]
"""How rows are matched with groups: group by group, the cheapest pair first, or at the least cost in all."""
Rows = tuple[NDArray[np.int32], NDArray[np.int32]]
"""The points and marks of rows that are to be matched; those with marks come first."""

WIDEST: dict[Matching, int] = {"greedy": 10_000, "sort-greedy": 5_000, "hungarian": 2_500}
"""The widest buckets that are matched as a whole, unless another width is asked for: growing groups of ten rows in them
takes about ten seconds of one processor. Wider ones are divided into blocks of at most this many rows."""
_FORBIDDEN = 1e6
"""More than any growth of a whole block."""
_STEPS = 0.1 * 5.0 ** -np.arange(5)
"""By what prices of boxes are raised. No growth is more than 1."""
_MANY = 500
"""Of fewer boxes prices take as long to find as they save."""


@dataclass(frozen=True, eq=False)
class Space:
    """Where rows lie: one point of codes each, and what boxes around them cost."""

    points: NDArray[np.int32]
    axes: Axes
    sets: NDArray[np.bool_]
    """Per axis: whether a box is published as the set of codes that it holds, and costs their number."""


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
        groups = np.empty(len(group), np.int32)
        groups[self.members[group, bucket]] = group
        return groups


def grow_from(space: Space, buckets: Buckets, start: int, matching: Matching, block: int | None = None) -> Grown:
    """The groups that the rows of one full bucket grow into by taking in a row of each of the others, bucket by bucket.

    ``block``: how many rows and groups are matched at once, at most; by default what ``WIDEST`` has for the matching.
    """
    block = block or WIDEST[matching]
    points = space.points[buckets.rows]
    source, marks = buckets[start], int(buckets.marks.max(initial=-1)) + 1
    groups = np.arange(buckets.width)
    growing = _beginning(space, points[source], marks)
    kernels.take_in(space.axes, growing, points[source], buckets.marks[source], groups)
    members = np.full((buckets.width, len(buckets)), -1, np.int64)
    members[:, start] = buckets.rows[source]
    for bucket in [*range(start + 1, len(buckets)), *range(start)]:
        other = buckets[bucket]
        rows = points[other], buckets.marks[other]
        if len(groups) <= block and (matching == "hungarian" or rows[1][0] < 0):
            into = _pairs(space.axes, growing, rows, groups, matching)
        else:
            into = _pairs_in_blocks(space.axes, growing, rows, matching, points[source], block)
        kernels.take_in(space.axes, growing, *rows, into)
        members[into, bucket] = buckets.rows[other]
    return Grown(members, growing.cost)


def _beginning(space: Space, points: NDArray[np.int32], marks: int) -> Growing:
    """Boxes around one point each, which hold nothing yet."""
    number = len(points)
    words = np.where(space.sets, -(-space.axes.cards // 64), 0)
    return Growing(
        points.copy(),
        points.copy(),
        np.zeros(number),
        np.zeros((number, max(1, marks)), np.bool_),
        np.where(space.sets, np.cumsum(words) - words, -1),
        np.zeros((number, max(1, int(words.sum()))), np.uint64),
        np.zeros(points.shape, np.int32),
    )


def _pairs_in_blocks(
    axes: Axes, growing: Growing, rows: Rows, matching: Matching, starts: NDArray[np.int32], block: int
) -> NDArray[np.int64]:
    """A different group for every row, those with marks first: else they might find none (see ``kept_apart``).

    Boxes are divided into blocks by where they are: half way from where they started, so that they meet about the same
    blocks of every bucket, to their middle, where they grow least.
    """
    points, marks = rows
    into = np.full(len(marks), -1, np.int64)
    places = starts / 2.0 + (growing.low + growing.high) / 4.0
    for some in (np.flatnonzero(marks >= 0), np.flatnonzero(marks < 0)):
        free = np.setdiff1d(np.arange(len(growing.cost)), into)
        for part, boxes in _blocks(axes, points, some, places, free, block):
            into[part] = _pairs(axes, growing, (points[part], marks[part]), boxes, matching)
        lost = some[into[some] < 0]  # their block had no group left that may have them, but another one has
        into[lost] = _pairs(axes, growing, (points[lost], marks[lost]), np.setdiff1d(free, into), "greedy")
    assert (into >= 0).all(), "every row finds a group if those with marks come first"
    return into


def _blocks(
    axes: Axes,
    points: NDArray[np.int32],
    some: NDArray[np.int64],
    places: NDArray[np.float64],
    boxes: NDArray[np.int64],
    block: int,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Some rows and boxes, both divided at the same shares until no part has more than ``block`` boxes.

    They are divided along the axis on which boxes are spread most, less how far rows are from them if both are in
    order: where a bucket has mostly women and boxes are mostly of men, dividing by sex would part rows from their
    boxes. Those with the same code stay in their order, which is random: another axis as the second makes it worse.
    """
    parts = -(-len(boxes) // block)
    if parts <= 1 or len(some) == 0:
        yield some, boxes
        return
    ordered = np.sort(places[boxes], axis=0)[np.arange(len(some)) * len(boxes) // len(some)]
    off = abs(np.sort(points[some], axis=0) - ordered).mean(axis=0)
    axis = int(((places[boxes].std(axis=0) - off) / axes.cards).argmax())
    some = some[np.argsort(points[some, axis], kind="stable")]
    boxes = boxes[np.argsort(places[boxes, axis], kind="stable")]
    half = len(boxes) * (parts // 2) // parts
    share = len(some) * half // len(boxes)  # on both sides there are no more rows than boxes
    yield from _blocks(axes, points, some[:share], places, boxes[:half], block)
    yield from _blocks(axes, points, some[share:], places, boxes[half:], block)


def _pairs(axes: Axes, growing: Growing, rows: Rows, boxes: NDArray[np.int64], matching: Matching) -> NDArray[np.int64]:
    """The box for each of these rows, of which there are no more than boxes; -1 for none."""
    points, marks = rows
    into = np.full(len(points), -1, np.int64)
    if len(points) == 0:
        return into
    if matching == "greedy" and len(points) == len(boxes) and marks[0] < 0:
        kernels.boxes_in_turn(axes, growing, points, boxes, into)
    elif matching == "greedy":
        kernels.rows_in_turn(axes, growing, points, marks, boxes, into)
    elif matching == "sort-greedy":
        kernels.cheapest_first(axes, growing, points, marks, boxes, into)
    else:
        from scipy.optimize import linear_sum_assignment  # imported late, as is everything that is slow to import

        matrix = np.empty((len(points), len(boxes)))
        kernels.growths(axes, growing, points, marks, boxes, _FORBIDDEN, matrix)
        prices = np.zeros(len(boxes))
        if len(points) == len(boxes) >= _MANY:
            # Every box gets a row, so prices add the same to all assignments: the cheapest stays so, and is found
            # several times faster where there are thousands of rows.
            kernels.bid(matrix, _STEPS, prices)
            matrix += prices
        some, at = linear_sum_assignment(matrix)
        into[some] = np.where(matrix[some, at] - prices[at] < _FORBIDDEN / 2, boxes[at], -1)
    return into
