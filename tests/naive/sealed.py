"""Cuts under a seal from their definition: every course that coins can take, with its exact probability.

Persons are (quasi-identifiers, value); codes are places on axes from 0 to 1, as those of numbers are.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction

Point = tuple[float, ...]
Part = frozenset[int]
Rejection = Callable[[float, float], Fraction]
"""The probability of rejecting a cut of a price and a slack."""


def by_coin(price: float, slack: float) -> Fraction:
    """As published: a multiple of 2**-64, at least 2**-33."""
    if slack < 0 or slack == math.inf:
        return Fraction(int(slack < 0))
    return Fraction(max(2**31, int(2.0**64 * math.exp(-price * (slack + 1)))), 2**64)


def without_coin(price: float, slack: float) -> Fraction:
    """Broken: what fails says that it failed."""
    return Fraction(int(slack < 0))


class Course:
    """The cuts of one table."""

    def __init__(
        self,
        points: Sequence[Point],
        values: Sequence[str],
        caps: Mapping[str, float],
        *,
        rejection: Rejection = by_coin,
        charged: bool = True,
        curious: bool = False,
        price: float = 1.2,
    ) -> None:
        """At a lower ``price`` than the scheme's more is tested. Broken variants: ``charged=False`` takes tests for
        free, and ``curious`` cuts first where most rows of one value lie."""
        self.points, self.values, self.caps = points, values, caps
        self.prior = {value: count / len(values) for value, count in Counter(values).items()}
        self.rejection, self.charged, self.curious, self.price = rejection, charged, curious, price
        self.extent = [max(axis) - min(axis) or 1.0 for axis in zip(*points, strict=True)]

    def outcomes(self) -> dict[frozenset[Part], Fraction]:
        """The probability of every partition."""
        result: dict[frozenset[Part], Fraction] = defaultdict(Fraction)
        self._follow([(frozenset(range(len(self.points))), 0.0)], frozenset(), {}, Fraction(1), result)
        return dict(result)

    def _follow(
        self,
        queue: list[tuple[Part, float]],
        done: frozenset[Part],
        learnt: Mapping[int, tuple[float, float]],
        chance: Fraction,
        result: dict[frozenset[Part], Fraction],
    ) -> None:
        """Go on from a queue of parts with what was told about them, the first one next."""
        if not queue:
            result[done] += chance
            return
        (part, told), queue = queue[0], queue[1:]
        rest = self._candidates(part, learnt)
        while chance:
            able = [
                (cut, price)
                for cut in rest
                if (price := self._price(part, cut[2], told)) < math.inf and price <= self._room(part, told)
            ]
            if not able:
                self._follow(queue, done | {part}, learnt, chance, result)
                return
            (_, axis, left), price = max(able, key=lambda one: one[0][0])
            rest = [cut for cut in rest if cut[2] not in (left, part - left)]
            rejected = self.rejection(price, self._slack(left, part - left, told))
            tested, made = learnt.get(axis, (0.0, 0.0))
            if rejected < 1:
                wiser = {**learnt, axis: (0.9 * tested + 1, 0.9 * made + 1)}
                self._follow([*queue, (left, told), (part - left, told)], done, wiser, chance * (1 - rejected), result)
            chance *= rejected
            learnt = {**learnt, axis: (0.9 * tested + 1, 0.9 * made)}
            told += price + 2.0**-29 if self.charged else 0.0

    def _candidates(self, part: Part, learnt: Mapping[int, tuple[float, float]]) -> list[tuple[float, int, Part]]:
        """Cuts nearest to the quarters of every axis: what they save, less where uneven or mostly rejected of late."""
        result: list[tuple[float, int, Part]] = []
        n = len(part)
        for axis, extent in enumerate(self.extent):
            place = {t: self.points[t][axis] for t in part}
            edges = sorted(set(place.values()))[1:]
            sizes = {sum(at < edge for at in place.values()): edge for edge in edges}
            chosen: list[int] = []
            for quarter in (1, 2, 3):
                if sizes:
                    left = min(sizes, key=lambda size: (abs(size - n * quarter / 4), -size))
                    if not chosen or left != chosen[-1]:
                        chosen.append(left)
            for left in chosen:
                below = [at for at in place.values() if at < sizes[left]]
                above = [at for at in place.values() if at >= sizes[left]]
                wide = (max(place.values()) - min(place.values())) / extent
                halves = sum(len(half) * (max(half) - min(half)) / extent for half in (below, above))
                merit = (n * wide - halves) / len(self.extent) * (min(left, n - left) / n) ** 0.3
                tested, made = learnt.get(axis, (0.0, 0.0))
                merit *= (made + 1) / (tested + 1)
                half = frozenset(t for t in part if place[t] < sizes[left])
                if self.curious:
                    merit *= 1 + sum(self.values[t] == min(self.values) for t in half)
                result.append((merit, axis, half))
        return result

    def _most(self, value: str, told: float) -> float:
        cap = self.caps[value]
        return cap * math.exp(-told) / (1 - cap + cap * math.exp(-told))

    def _room(self, part: Part, told: float) -> float:
        room = math.inf
        for value, count in Counter(self.values[t] for t in part).items():
            if self.caps[value] < 1:
                rest = len(part) - count
                odds = self.caps[value] / (1 - self.caps[value])
                room = min(room, math.log(odds * rest / count) - told if rest else -math.inf)
        return room - 2.0**-29

    def _price(self, part: Part, left: Part, told: float) -> float:
        smaller = min(len(left), len(part) - len(left))
        slack = min(
            ((self._most(value, told) - self.prior[value]) * smaller for value in self._at_risk(part, smaller, told)),
            default=math.inf,
        )
        return (self.price + 12 * min(1, slack / 300)) / slack if slack >= 0.6 else math.inf

    def _slack(self, left: Part, right: Part, told: float) -> float:
        return min(
            (
                math.floor(self._most(value, told) * len(half) + 1e-9) - sum(self.values[t] == value for t in half)
                for half in (left, right)
                for value in self._at_risk(left | right, min(len(left), len(right)), told)
            ),
            default=math.inf,
        )

    def _at_risk(self, part: Part, smaller: int, told: float) -> list[str]:
        """The values that could be too many in a half of this size."""
        held = Counter(self.values[t] for t in part)
        bounded = [value for value in held if self.caps[value] < 1]
        return [value for value in bounded if held[value] > math.floor(self._most(value, told) * smaller + 1e-9)]


def worlds(values: str) -> Iterator[tuple[str, ...]]:
    """All different ways to give these values to persons."""
    if not values:
        yield ()
    for value in sorted(set(values)):
        for rest in worlds(values.replace(value, "", 1)):
            yield value, *rest


def posteriors(
    every: Mapping[tuple[str, ...], Mapping[frozenset[Part], Fraction]],
) -> dict[Hashable, dict[tuple[int, str], Fraction]]:
    """Per release that may be seen: the belief that a person has a value, by all worlds that may have given it."""
    weights: dict[Hashable, dict[tuple[str, ...], Fraction]] = defaultdict(dict)
    for world, outcomes in every.items():
        for partition, chance in outcomes.items():
            seen = frozenset((part, tuple(sorted(world[t] for t in part))) for part in partition)
            weights[seen][world] = chance
    result: dict[Hashable, dict[tuple[int, str], Fraction]] = {}
    for seen, of_world in weights.items():
        total = sum(of_world.values())
        if total == 0:
            continue
        beliefs: dict[tuple[int, str], Fraction] = defaultdict(Fraction)
        for world, weight in of_world.items():
            for person, value in enumerate(world):
                beliefs[person, value] += weight / total
        result[seen] = dict(beliefs)
    return result
