"""Halves that could be exchanged, from their definition: every course that chance can take, with its probability."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

Point = tuple[float, ...]
Part = frozenset[int]
Outcomes = dict[frozenset[Part], Fraction]


def outcomes(
    points: Sequence[Point],
    values: Sequence[str],
    caps: Mapping[str, float],
    *,
    strict: bool = True,
    rounding: bool = False,
    in_file_order: bool = False,
) -> Outcomes:
    """The probability of every partition; nobody shares a place on an axis with another.

    Broken variants: ``strict=False`` goes on after a rejection though cells are odd, drawing a row and its side in each
    (the rule that has been proposed); ``rounding`` gives the middle row of an odd number to the upper half always; and
    ``in_file_order`` puts persons at one place in the order of the file, which is sorted by value.
    """
    result: Outcomes = defaultdict(Fraction)

    def follow(waiting: list[tuple[Part, list[Part]]], done: frozenset[Part], chance: Fraction) -> None:
        if not waiting:
            result[done] += chance
            return
        part, cells = waiting[0]
        test(part, cells, _axes(points, part, cells), waiting[1:], done, chance)

    def test(
        part: Part,
        cells: list[Part],
        axes: list[int],
        waiting: list[tuple[Part, list[Part]]],
        done: frozenset[Part],
        chance: Fraction,
    ) -> None:
        odd = any(len(cell) % 2 for cell in cells)
        if not axes or (strict and odd and len(cells) > 1):
            follow(waiting, done | {part}, chance)
            return
        for share, left in _halvings(
            cells, lambda t: (points[t][axes[0]], values[t] if in_file_order else ""), rounding
        ):
            right = part - left
            if all(_keeps(half, values, caps) for half in (left, right)):
                halves = [(half, [cell & half for cell in cells]) for half in (left, right)]
                follow([*halves, *waiting], done, chance * share)
            elif strict and odd:
                follow(waiting, done | {part}, chance * share)
            else:
                smaller = [cell & half for cell in cells for half in (left, right)]
                test(part, smaller, axes[1:], waiting, done, chance * share)

    everyone = frozenset(range(len(points)))
    follow([(everyone, [everyone])], frozenset(), Fraction(1))
    return dict(result)


def _axes(points: Sequence[Point], part: Part, cells: list[Part]) -> list[int]:
    """The axes by what the halves would save, the most first."""
    if len(part) < 2:
        return []
    saved = {}
    for axis in range(len(points[0])):
        extent = max(point[axis] for point in points) - min(point[axis] for point in points)
        ranked = [sorted(points[t][axis] for t in cell) for cell in cells]
        low, high = min(one[0] for one in ranked if one), max(one[-1] for one in ranked if one)
        below = max((one[: len(one) // 2][-1] for one in ranked if len(one) > 1), default=low)
        above = min(one[len(one) // 2 :][0] for one in ranked if one)
        saved[axis] = (2 * (high - low) - (below - low) - (high - above)) / extent
    return sorted(saved, key=lambda axis: -saved[axis])


def _halvings(
    cells: list[Part], place: Callable[[int], tuple[float, str]], rounding: bool
) -> Iterator[tuple[Fraction, Part]]:
    """Every way to halve all cells, with its probability: of an odd number any row may be drawn, and go anywhere."""
    ways: list[list[tuple[Fraction, Part]]] = []
    for cell in cells:
        ranked = sorted(cell, key=place)
        if len(ranked) % 2 == 0 or rounding:
            ways.append([(Fraction(1), frozenset(ranked[: len(ranked) // 2]))])
            continue
        own = []
        for drawn in ranked:
            rest = [t for t in ranked if t != drawn]
            lower = frozenset(rest[: len(rest) // 2])
            own += [(Fraction(1, 2 * len(ranked)), lower | {drawn}), (Fraction(1, 2 * len(ranked)), lower)]
        ways.append(own)
    for combined in product(*ways):
        yield (
            math.prod((share for share, _ in combined), start=Fraction(1)),
            frozenset().union(*(left for _, left in combined)),
        )


def _keeps(half: Part, values: Sequence[str], caps: Mapping[str, float]) -> bool:
    counts = Counter(values[t] for t in half)
    return bool(half) and all(count <= math.floor(caps[value] * len(half) + 1e-9) for value, count in counts.items())
