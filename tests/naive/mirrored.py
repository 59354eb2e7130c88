"""Halves that could be exchanged, from their definition: every course that chance can take, with its probability."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any, NamedTuple

from naive.sealed import ROUNDED, Course, Rejection, by_coin

Point = tuple[float, ...]
Part = frozenset[int]
Outcomes = dict[frozenset[Part], Fraction]
RejectedCut = tuple[int, float, float, int]
"""Its axis and place, its price, and after how many rounds it was rejected."""
Told = frozenset[tuple[Part, float]]
"""Groups, and what was told about each."""


class Waiting(NamedTuple):
    """A part that waits to be cut."""

    part: Part
    cells: list[Part]

    def some(self, half: Part) -> Waiting:
        return Waiting(half, [cell & half for cell in self.cells])


def outcomes(points: Sequence[Point], values: Sequence[str], caps: Mapping[str, float], **how: Any) -> Outcomes:
    """The probability of every partition."""
    result: Outcomes = defaultdict(Fraction)
    for groups, chance in published(points, values, caps, **how).items():
        result[frozenset(part for part, _ in groups)] += chance
    return dict(result)


def published(
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
    early: float = 6.0,
    sparing: float = 0.1,
    rejection: Rejection = by_coin,
    price: float = 1.2,
    in_order: bool = False,
) -> dict[Told, Fraction]:
    """The probability of every partition, and of what is told about its groups. At most ``one_in`` so many persons
    stays behind, if not ``often`` persons or fewer would be left by halving as often as possible; and a coin of the
    price ``early``, divided by the expected slack, is tossed if that is at most ``sparing`` of what may be told;
    a mixed half is then cut under a seal at a ``price``.

    Broken variants: ``strict=False`` goes on after a rejection though cells are odd, drawing a row and its side in each
    (the rule that has been proposed); ``rounding`` gives the middle row of an odd number to the upper half always;
    ``in_file_order`` puts persons at one place in the order of the file, which is sorted by value, and ``in_order`` in
    any fixed order; ``by_place`` leaves those of each value behind who come first on the first axis, instead of drawing
    them; and another ``rejection`` than by a coin says why it was.
    """
    result: dict[Told, Fraction] = defaultdict(Fraction)

    def follow(queue: list[Waiting], done: Told, chance: Fraction) -> None:
        if not queue:
            result[done] += chance
            return
        one, queue = queue[0], queue[1:]
        if len(one.cells) > 1:
            test(one, queue, done, chance)
        elif sure := _sure_cut(points, values, caps, one.part):
            follow([*map(_alone, (sure, one.part - sure)), *queue], done, chance)
        elif apart := _staying_apart(one.part, values, caps):
            for behind, share in _drawn(apart):
                follow([_alone(one.part - behind), *queue], done | {(behind, 0.0)}, chance * share)
        else:
            held = sorted({values[t] for t in one.part})
            some = len(one.part) > often * (len(one.part) & -len(one.part)) and len(one.part) >= one_in
            lots = list(permutations(held)) if some else [tuple(held)]
            for lot in lots:
                staying = _staying(one.part, values, caps, one_in, often, lot)
                if by_place:
                    staying = [(number, sorted(of, key=lambda t: points[t])[:number]) for number, of in staying]
                for behind, share in _drawn(staying):
                    now = done | {(behind, 0.0)} if behind else done
                    test(_alone(one.part - behind), queue, now, chance * share / len(lots))

    def test(one: Waiting, queue: list[Waiting], done: Told, chance: Fraction) -> None:
        merits = _merits(points, one.part, one.cells)
        if len(one.cells) == 1:
            for axis in merits:
                clean = _pure(points, one.part, axis)
                if clean and _affordable(one.part, clean, values, caps, early, sparing):
                    merits[axis] = 0.6 * 2 * _saved(points, clean, one.part - clean, axis) / len(one.part)
        test_next(one, sorted(merits, key=lambda axis: -merits[axis]), queue, done, chance)

    def test_next(one: Waiting, axes: list[int], queue: list[Waiting], done: Told, chance: Fraction) -> None:
        odd = any(len(cell) % 2 for cell in one.cells)
        if not axes or (strict and odd and len(one.cells) > 1):
            follow(queue, done | {(one.part, 0.0)}, chance)
            return

        def place(t: int) -> tuple[float, str]:
            return points[t][axes[0]], values[t] if in_file_order else str(t) if in_order else ""

        for share, left in _halvings(one.cells, place, rounding):
            halves = left, one.part - left
            if all(_keeps(half, values, caps) for half in halves):
                if odd or len(one.cells) > 1:
                    follow([*map(one.some, halves), *queue], done, chance * share)
                else:
                    tidy(*halves, axes[0], queue, done, chance * share)
            elif strict and odd:
                follow(queue, done | {(one.part, 0.0)}, chance * share)
            else:
                smaller = [cell & half for cell in one.cells for half in halves]
                test_next(Waiting(one.part, smaller), axes[1:], queue, done, chance * share)

    def tidy(left: Part, right: Part, axis: int, queue: list[Waiting], done: Told, chance: Fraction) -> None:
        for pure, mixed in ((left, right), (right, left)):
            places = {points[t][axis] for t in pure}
            moved = frozenset(t for t in mixed if points[t][axis] in places)
            if len(places) > 1 or not moved or moved == mixed:
                continue
            cost, slack = _tested(pure, moved, mixed - moved, values, caps, early, sparing)
            if cost is None:
                continue
            fails = rejection(cost, slack, True) if cost else Fraction(0)
            follow([*map(_alone, (pure | moved, mixed - moved)), *queue], done, chance * (1 - fails))
            if fails:
                edge = min(points[t][axis] for t in mixed if points[t][axis] > min(points[u][axis] for u in mixed))
                edge = edge if min(places) == min(points[t][axis] for t in mixed) else min(places)
                forbidden = (axis, edge, cost + ROUNDED, 1)
                seal(mixed, forbidden, [_alone(pure), *queue], done, chance * fails)
            return
        follow([*map(_alone, (left, right)), *queue], done, chance)

    def seal(mixed: Part, cut: RejectedCut, queue: list[Waiting], done: Told, chance: Fraction) -> None:
        for groups, share in Course(points, values, caps, price=price).results([(mixed, (cut,))]).items():
            told = {part: sum(one[2] for one in around) for part, around in groups}
            again = [_alone(part) for part in told if not told[part]]
            follow(again + queue, done | {one for one in told.items() if one[1]}, chance * share)

    follow([_alone(frozenset(range(len(points))))], frozenset(), Fraction(1))
    return {groups: chance for groups, chance in result.items() if chance}


def _alone(part: Part) -> Waiting:
    return Waiting(part, [part])


def _pure(points: Sequence[Point], part: Part, axis: int) -> Part | None:
    """Everyone at the lowest place on an axis, or at the highest one, if these are more than half but not all."""
    for at in (min(points[t][axis] for t in part), max(points[t][axis] for t in part)):
        there = frozenset(t for t in part if points[t][axis] == at)
        if len(part) // 2 < len(there) < len(part):
            return there
    return None


def _affordable(
    part: Part, clean: Part, values: Sequence[str], caps: Mapping[str, float], early: float, sparing: float
) -> bool:
    """Whether a coin would be tossed about a cut, as far as the counts of the part tell."""
    counts, least = Counter(values[t] for t in part), len(part - clean)
    unsure = [value for value in counts if min(counts[value], least) > math.floor(caps[value] * least + 1e-9)]
    slack = min(((caps[value] - counts[value] / len(part)) * least for value in unsure), default=math.inf)
    return slack > 0 and early / slack + ROUNDED <= sparing * _room(part, values, caps)


def _tested(
    pure: Part,
    moved: Part,
    others: Part,
    values: Sequence[str],
    caps: Mapping[str, float],
    early: float,
    sparing: float,
) -> tuple[float | None, float]:
    """The price of a test whether some may move to a pure half, and its slack; the price is 0 if they may for sure, and
    None if it is not tested."""
    kept, moving, mixed = (Counter(values[t] for t in some) for some in (pure, moved, moved | others))
    left, right = (
        {value: math.floor(cap * size + 1e-9) for value, cap in caps.items()}
        for size in (len(pure | moved), len(others))
    )
    unsure = [
        value
        for value in set(values)
        if kept[value] + min(mixed[value], len(moved)) > left[value] or min(mixed[value], len(others)) > right[value]
    ]
    if not unsure:
        return 0.0, math.inf

    def slack(some: Mapping[str, float]) -> float:
        return min(
            min(left[value] - kept[value] - some[value], right[value] - mixed[value] + some[value]) for value in unsure
        )

    share = len(moved) / len(moved | others)
    expected = slack({value: mixed[value] * share for value in unsure})
    room = _room(moved | others, values, caps)
    if expected <= 0 or early / expected + ROUNDED > sparing * room:
        return None, math.nan
    return early / expected, slack(moving)


def _room(part: Part, values: Sequence[str], caps: Mapping[str, float]) -> float:
    """How much may be told about a part, as the logarithm of odds."""
    counts = Counter(values[t] for t in part)
    odds = [
        caps[value] / (1 - caps[value]) * (len(part) - count) / count
        for value, count in counts.items()
        if caps[value] < 1
    ]
    return min((math.log(one) if one else -math.inf for one in odds), default=math.inf)


def _drawn(staying: list[tuple[int, list[int]]]) -> Iterator[tuple[Part, Fraction]]:
    """Every way to draw so many of each, with its probability."""
    for chosen in product(*(combinations(of, number) for number, of in staying)):
        yield frozenset().union(*chosen), Fraction(1, math.prod(math.comb(len(of), number) for number, of in staying))


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
            saved = _saved(points, *halves, axis)
            if saved > most:
                best, most = left, saved
    return best


def _saved(points: Sequence[Point], left: Part, right: Part, axis: int) -> float:
    """What a cut along an axis saves."""
    extent = _extent(points, frozenset(range(len(points))), axis)
    wide = [len(some) * _extent(points, some, axis) / extent for some in (left | right, left, right)]
    return wide[0] - wide[1] - wide[2]


def _extent(points: Sequence[Point], part: Part, axis: int) -> float:
    return max(points[t][axis] for t in part) - min(points[t][axis] for t in part)


def _staying(
    part: Part, values: Sequence[str], caps: Mapping[str, float], one_in: int, often: int, lot: Sequence[str]
) -> list[tuple[int, list[int]]]:
    """Of each value: how many persons stay behind, and who has it. What is left can be halved as often as possible."""
    n, having = len(part), _having(part, values)
    counts = {value: len(having[value]) for value in lot}
    sizes = range(n // one_in + 1) if n > often * (n & -n) else [0]  # nobody, if they can be halved often enough
    for size in sorted(sizes, key=lambda size: (-((n - size) & (size - n)), size)):
        numbers = _numbers(counts, size, {}, caps) if size else dict.fromkeys(counts, 0)
        if not size or (numbers and _both_keep(part, values, caps, having, numbers)):
            return [(numbers[value], having[value]) for value in counts]
    raise AssertionError("nobody may stay")


def _numbers(
    counts: Mapping[str, int], size: int, wanted: Mapping[str, int], caps: Mapping[str, float]
) -> dict[str, int] | None:
    """How many of so many persons who stay have each value: as many as wanted, at least, and as many as the caps make
    necessary for the others, and allow; apart from that the largest share of each, rounded down, that is not too much.
    One each of the commonest values, in their order here if they are equally common, makes up for it."""
    rows, most = sum(counts.values()), {value: _most(counts, caps, value, size) for value in counts}
    least = {
        value: max(wanted.get(value, 0), counts[value] - _most(counts, caps, value, rows - size)) for value in counts
    }
    if not sum(least.values()) <= size <= sum(most.values()) or any(least[value] > most[value] for value in counts):
        return None

    def staying(number: int, of: int) -> dict[str, int]:
        return {value: min(most[value], max(least[value], count * number // of)) for value, count in counts.items()}

    shares = ((number, of) for of in set(counts.values()) for number in range(of + 1))
    few = (share for share in shares if sum(staying(*share).values()) <= size)
    numbers = staying(*max(few, key=lambda share: share[0] / share[1]))
    for value in sorted(counts, key=lambda value: -counts[value]):
        if sum(numbers.values()) < size and numbers[value] < most[value]:
            numbers[value] += 1
    return numbers


def _most(counts: Mapping[str, int], caps: Mapping[str, float], value: str, size: int) -> int:
    """How many persons of a value may be among so many."""
    return min(counts[value], math.floor(caps[value] * size + 1e-9))


def _having(part: Part, values: Sequence[str]) -> dict[str, list[int]]:
    """Who has each value."""
    return {value: sorted(t for t in part if values[t] == value) for value in sorted({values[t] for t in part})}


def _both_keep(
    part: Part,
    values: Sequence[str],
    caps: Mapping[str, float],
    having: Mapping[str, list[int]],
    numbers: Mapping[str, int],
) -> bool:
    """Whether the caps are kept by so many persons of each value, and by the others."""
    staying = frozenset(t for value, of in having.items() for t in of[: numbers[value]])
    return _keeps(staying, values, caps) and _keeps(part - staying, values, caps)


def _staying_apart(part: Part, values: Sequence[str], caps: Mapping[str, float]) -> list[tuple[int, list[int]]] | None:
    """Of each value: how many persons stay behind because no equal halves could hold some value, and who has it."""
    having = _having(part, values)
    counts = {value: len(of) for value, of in having.items()}
    blocked = {value: n for value, n in counts.items() if n > 2 * _most(counts, caps, value, len(part) // 2)}
    size = max((math.ceil(n / caps[value] - 1e-9) for value, n in blocked.items()), default=len(part))
    if size >= len(part):
        return None
    rarest = sorted(counts, key=lambda value: counts[value])
    rare = {
        value: _most(counts, caps, value, size)
        for at, value in enumerate(rarest)
        if sum(counts[one] for one in rarest[: at + 1]) <= size // 4
    }
    numbers = _numbers(counts, size, rare | blocked, caps) or _numbers(counts, size, blocked, caps)
    if not numbers or not _both_keep(part, values, caps, having, numbers):
        return None
    return [(numbers[value], having[value]) for value in counts]


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
        if above > low or below < high:
            saved[axis] = (2 * (high - low) - (below - low) - (high - above)) / extent
    return saved


def _halvings(
    cells: list[Part], place: Callable[[int], tuple[float, str]], rounding: bool
) -> Iterator[tuple[Fraction, Part]]:
    """Every way to halve all cells, with its probability: of an odd number any row may be drawn, and go anywhere."""
    ways: list[list[tuple[Fraction, Part]]] = []
    for cell in cells:
        if len(cell) % 2 == 0 or rounding:
            ways.append(list(_lowest(cell, place)))
            continue
        own = []
        for drawn in cell:
            for share, lower in _lowest(cell - {drawn}, place):
                half = share / (2 * len(cell))
                own += [(half, lower | {drawn}), (half, lower)]
        ways.append(own)
    for combined in product(*ways):
        yield (
            math.prod((share for share, _ in combined), start=Fraction(1)),
            frozenset().union(*(left for _, left in combined)),
        )


def _lowest(cell: Part, place: Callable[[int], tuple[float, str]]) -> Iterator[tuple[Fraction, Part]]:
    """Every way to take the lower half, rounded down, with its probability: who is at the same place is drawn."""
    ranked = sorted(cell, key=place)
    size = len(ranked) // 2
    if not size:
        yield Fraction(1), frozenset()
        return
    last = place(ranked[size - 1])
    below = frozenset(t for t in cell if place(t) < last)
    tied = [t for t in ranked if place(t) == last]
    for chosen in combinations(tied, size - len(below)):
        yield Fraction(1, math.comb(len(tied), size - len(below))), below | frozenset(chosen)


def _keeps(half: Part, values: Sequence[str], caps: Mapping[str, float]) -> bool:
    counts = Counter(values[t] for t in half)
    return bool(half) and all(count <= math.floor(caps[value] * len(half) + 1e-9) for value, count in counts.items())
