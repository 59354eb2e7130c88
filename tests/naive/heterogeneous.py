"""Heterogeneous generalization by definition: widths of buckets, assignments and matchings, tried one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import permutations
from math import inf

from naive.nested import worlds


def widest(counts: Sequence[int], caps: Sequence[float]) -> int:
    """The largest width of which buckets give every value no more room than its cap allows in the smallest group."""
    rows = sum(counts)
    return max(
        width
        for width in range(1, rows + 1)
        if all(
            -(-count // width) <= cap * (rows // width) + 1e-9
            for count, cap in zip(counts, caps, strict=True)
            if count > 0
        )
    )


def attainable_beta(counts: Sequence[int], width: int, buckets_of: Sequence[int]) -> float:
    """Equation 7 of the paper: ``buckets_of`` says in how many buckets each value is."""
    return width / min(count / buckets for count, buckets in zip(counts, buckets_of, strict=True)) - 1


def cheapest_assignment(costs: Sequence[Sequence[float]]) -> float:
    """The least cost of giving each row another box, ``costs[row][box]``; infinite where it may not have it."""
    boxes = range(len(costs[0]))
    return min(
        (sum(costs[row][box] for row, box in enumerate(chosen)) for chosen in permutations(boxes, len(costs))),
        default=inf,
    )


def cheapest_pairs(costs: Sequence[Sequence[float]]) -> list[float]:
    """What the pairs cost that are matched when the cheapest of those left is always next."""
    found, rows, boxes = [], set(range(len(costs))), set(range(len(costs[0])))
    while rows:
        cost, row, box = min((costs[row][box], row, box) for row in rows for box in boxes)
        found.append(cost)
        rows.remove(row)
        boxes.remove(box)
    return found


def most_repeated(candidates: Sequence[Sequence[int]], published: Sequence[Hashable]) -> int:
    """How often any person finds one value among the boxes that may be the person's."""
    return max(max(Counter(published[box] for box in boxes).values()) for boxes in candidates)


def redrawn(members: Sequence[Sequence[int]], judge: Callable[[Sequence[int]], bool]) -> tuple[int, int]:
    """How many perfect matchings the graph has, and of how many ``judge`` is true: for each box one of its members."""
    total = true = 0
    for world in worlds(members):
        total += 1
        true += judge(world)
    return total, true
