"""Halves that could be exchanged, from their definition: every course that chance can take, with its probability."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product

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
    one_in: int = 100,
    often: int = 256,
    by_place: bool = False,
) -> Outcomes:
    """The probability of every partition; nobody shares a place on an axis with another. At most ``one_in`` so many
    persons stays behind, if not ``often`` persons or fewer would be left by halving as often as possible.

    Broken variants: ``strict=False`` goes on after a rejection though cells are odd, drawing a row and its side in each
    (the rule that has been proposed); ``rounding`` gives the middle row of an odd number to the upper half always;
    ``in_file_order`` puts persons at one place in the order of the file, which is sorted by value; and ``by_place``
    leaves those of each value behind who come first on the first axis, instead of drawing them.
    """
    result: Outcomes = defaultdict(Fraction)

    def follow(waiting: list[tuple[Part, list[Part]]], done: frozenset[Part], chance: Fraction) -> None:
        if not waiting:
            result[done] += chance
            return
        (part, cells), waiting = waiting[0], waiting[1:]
        if len(cells) > 1:
            test(part, cells, waiting, done, chance)
            return
        sure = _sure_cut(points, values, caps, part)
        if sure:
            follow([(half, [half]) for half in (sure, part - sure)] + waiting, done, chance)
            return
        some = len(part) > often * (len(part) & -len(part)) and len(part) >= one_in
        lots = list(permutations(sorted({values[t] for t in part}))) if some else [sorted({values[t] for t in part})]
        for lot in lots:
            ways = [
                [tuple(sorted(of, key=lambda t: points[t])[:number])] if by_place else list(combinations(of, number))
                for number, of in _staying(part, values, caps, one_in, often, lot)
            ]
            for chosen in product(*ways):
                behind = frozenset().union(*chosen)
                others = part - behind
                share = chance / math.prod(len(one) for one in ways) / len(lots)
                test(others, [others], waiting, done | {behind} if behind else done, share)

    def test(
        part: Part,
        cells: list[Part],
        waiting: list[tuple[Part, list[Part]]],
        done: frozenset[Part],
        chance: Fraction,
    ) -> None:
        merits = _merits(points, part, cells)
        test_next(part, cells, sorted(merits, key=lambda axis: -merits[axis]), waiting, done, chance)

    def test_next(
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
                test_next(part, smaller, axes[1:], waiting, done, chance * share)

    everyone = frozenset(range(len(points)))
    follow([(everyone, [everyone])], frozenset(), Fraction(1))
    return dict(result)


def _sure_cut(
    points: Sequence[Point], values: Sequence[str], caps: Mapping[str, float], part: Part
) -> frozenset[int] | None:
    """One side of the best cut that keeps the promise whoever has which value, if it saves more than equal halves."""
    counts = Counter(values[t] for t in part)
    best, most = None, max(_merits(points, part, [part]).values(), default=0.0) * len(part) / 2
    for axis, start in product(range(len(points[0])), part):
        left = frozenset(t for t in part if points[t][axis] < points[start][axis])
        halves = left, part - left
        if left and all(count <= caps[value] * len(half) for value, count in counts.items() for half in halves):
            extent = _extent(points, frozenset(range(len(points))), axis)
            wide = [len(some) * _extent(points, some, axis) / extent for some in (part, *halves)]
            if wide[0] - wide[1] - wide[2] > most:
                best, most = left, wide[0] - wide[1] - wide[2]
    return best


def _extent(points: Sequence[Point], part: Part, axis: int) -> float:
    return max(points[t][axis] for t in part) - min(points[t][axis] for t in part)


def _staying(
    part: Part, values: Sequence[str], caps: Mapping[str, float], one_in: int, often: int, lot: Sequence[str]
) -> list[tuple[int, list[int]]]:
    """Of each value: how many persons stay behind, and who has it. What is left can be halved as often as possible."""
    n, counts = len(part), Counter(values[t] for t in part)
    having = {value: sorted(t for t in part if values[t] == value) for value in lot}
    sizes = range(n // one_in + 1) if n > often * (n & -n) else [0]  # nobody, if they can be halved often enough
    for size in sorted(sizes, key=lambda size: (-((n - size) & (size - n)), size)):
        numbers = {value: counts[value] * size // n for value in having}
        for value in sorted(lot, key=lambda value: (-counts[value], lot.index(value)))[: size - sum(numbers.values())]:
            numbers[value] += 1
        persons = frozenset(t for value, number in numbers.items() for t in having[value][:number])
        if not size or (_keeps(persons, values, caps) and _keeps(part - persons, values, caps)):
            return [(number, having[value]) for value, number in numbers.items()]
    raise AssertionError("nobody may stay")


def _merits(points: Sequence[Point], part: Part, cells: list[Part]) -> dict[int, float]:
    """What equal halves would save on each axis."""
    if len(part) < 2:
        return {}
    saved = {}
    for axis in range(len(points[0])):
        extent = _extent(points, frozenset(range(len(points))), axis)
        ranked = [sorted(points[t][axis] for t in cell) for cell in cells]
        low, high = min(one[0] for one in ranked if one), max(one[-1] for one in ranked if one)
        below = max((one[: len(one) // 2][-1] for one in ranked if len(one) > 1), default=low)
        above = min(one[len(one) // 2 :][0] for one in ranked if one)
        saved[axis] = (2 * (high - low) - (below - low) - (high - above)) / extent
    return saved


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
