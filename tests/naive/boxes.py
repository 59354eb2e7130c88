"""Which points lie in which boxes, by looking at every point and every box."""

from __future__ import annotations

from collections.abc import Sequence

Interval = tuple[int, int, frozenset[int] | None]
"""Smallest and largest code, and which codes of them are admitted when not all."""


def holds(box: Sequence[Interval], point: Sequence[int]) -> bool:
    """Whether a point lies in a box."""
    return all(
        low <= code <= high and (admitted is None or code in admitted)
        for (low, high, admitted), code in zip(box, point, strict=True)
    )


def count(box: Sequence[Interval], points: Sequence[Sequence[int]], sensitive_codes: Sequence[int], value: int) -> int:
    """How many points with this sensitive value lie in the box."""
    return sum(1 for point, of in zip(points, sensitive_codes, strict=True) if of == value and holds(box, point))


def mixture(boxes: Sequence[Sequence[Interval]], counts: Sequence[Sequence[int]], point: Sequence[int]) -> list[int]:
    """The counts of all groups whose box holds the point, added up."""
    total = [0] * len(counts[0])
    for box, group in zip(boxes, counts, strict=True):
        if holds(box, point):
            total = [a + b for a, b in zip(total, group, strict=True)]
    return total


def assignable(
    boxes: Sequence[Sequence[Interval]],
    published: Sequence[tuple[int, int]],
    points: Sequence[Sequence[int]],
    sensitive_codes: Sequence[int],
) -> bool:
    """Whether every published row (group, value) can have an original row of its own, by augmenting paths."""
    owner: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        group, value = published[row]
        for at, point in enumerate(points):
            if at not in tried and sensitive_codes[at] == value and holds(boxes[group], point):
                tried.add(at)
                if at not in owner or place(owner[at], tried):
                    owner[at] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(published)))
