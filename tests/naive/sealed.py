"""Cuts under a seal from their definition: every course that coins can take, with its exact probability.

Persons are (quasi-identifiers, values); codes are places on axes from 0 to 1, as those of numbers are. The values of a
person are the letters of a word, one per sensitive attribute; no two attributes have a value in common.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

Point = tuple[float, ...]
Part = frozenset[int]
Cut = tuple[int, float, Part]
"""An axis, the first place of the right half on it, and the left half."""
Around = tuple[tuple[int, float, float, int], ...]
"""The cuts rejected in and around a part that it is on both sides of: axis, place, price, and after how many rounds."""
Results = frozenset[tuple[Part, Around]]
"""Groups, with what was rejected in and around each."""
Round = tuple[list[str], float]
"""A round of a test: the values that it asks about, and its price."""
Rejection = Callable[[float, float, bool], Fraction]
"""The probability that a round of a price rejects a cut of a slack; and whether it is the last one."""
Charge = Callable[[Sequence[float]], float]
"""What a rejection tells, given the prices of the rounds up to the one that rejected the cut."""
ROUNDED = 2.0**-29


def by_coin(price: float, slack: float, last: bool) -> Fraction:
    """As published: a multiple of 2**-64, at least 2**-33, and before the last round as far from 1."""
    if last:
        return Fraction(1) if slack < 0 else _in_words(math.exp(-price * (slack + 1)))
    erring = _in_words(math.exp(-price * abs(slack)) / 2)
    return 1 - erring if slack < 0 else erring


def without_coin(price: float, slack: float, last: bool) -> Fraction:
    """Broken: what fails says that it failed."""
    return Fraction(int(slack < 0))


def _in_words(chance: float) -> Fraction:
    return Fraction(max(2**31, int(2.0**64 * chance)), 2**64)


def in_full(prices: Sequence[float]) -> float:
    """As published: every round tells something."""
    return sum(prices) + len(prices) * ROUNDED


def for_nothing(prices: Sequence[float]) -> float:
    """Broken: nothing is charged."""
    return 0.0


def without_passes(prices: Sequence[float]) -> float:
    """Broken: what the rounds told that passed the cut is forgotten."""
    return prices[-1] + ROUNDED


def as_first(prices: Sequence[float]) -> float:
    """Broken: every rejection is charged as one in the first round would be."""
    return prices[0] + ROUNDED


class Course:
    """The cuts of one table."""

    def __init__(
        self,
        points: Sequence[Point],
        values: Sequence[str],
        caps: Mapping[str, float],
        *,
        rejection: Rejection = by_coin,
        charge: Charge = in_full,
        inherited: bool = True,
        curious: bool = False,
        price: float = 1.2,
        tier: float = 8.0,
    ) -> None:
        """At a lower ``price`` than the scheme's more is tested, and with a lower ``tier`` in more rounds. Broken
        variants: other ways to ``charge``; ``inherited=False`` forgets rejections as soon as a cut is made, and
        ``curious`` cuts first where most rows of one value lie."""
        self.points, self.values, self.caps = points, values, caps
        self.prior = {value: count / len(values) for value, count in Counter("".join(values)).items()}
        self.rejection, self.charge, self.inherited, self.curious = rejection, charge, inherited, curious
        self.price, self.tier = price, tier
        self.most_rounds = 0
        """The most rounds of a test that was met."""
        self.extent = [max(axis) - min(axis) or 1.0 for axis in zip(*points, strict=True)]

    def outcomes(self) -> dict[frozenset[Part], Fraction]:
        """The probability of every partition."""
        result: dict[frozenset[Part], Fraction] = defaultdict(Fraction)
        for groups, chance in self.results().items():
            result[frozenset(part for part, _ in groups)] += chance
        return dict(result)

    def results(self, start: list[tuple[Part, Around]] | None = None) -> dict[Results, Fraction]:
        """The probability of everything that the tests may result in, of all persons or from some parts on."""
        self.found: dict[Results, Fraction] = defaultdict(Fraction)
        self._follow(start or [(frozenset(range(len(self.points))), ())], frozenset(), {}, Fraction(1))
        return dict(self.found)

    def _follow(
        self,
        queue: list[tuple[Part, Around]],
        done: Results,
        learnt: Mapping[int, tuple[float, float]],
        chance: Fraction,
    ) -> None:
        """Go on from a queue of parts with what was rejected around them, the first one next."""
        if not queue:
            self.found[done] += chance
            return
        (part, around), queue = queue[0], queue[1:]
        around = tuple(one for one in around if self._both_sides(part, one))
        self._test(part, around, self._candidates(part, learnt), queue, done, learnt, chance)

    def _test(
        self,
        part: Part,
        around: Around,
        rest: list[tuple[float, Cut]],
        queue: list[tuple[Part, Around]],
        done: Results,
        learnt: Mapping[int, tuple[float, float]],
        chance: Fraction,
    ) -> None:
        """Go on from a part with what was rejected in and around it, and the cuts that were not tested yet."""
        if not chance:
            return
        able = [
            (cut, rounds)
            for cut in rest
            if (rounds := self._rounds(part, cut[1], _told_halves(around, cut[1]), self._room(part, around)))
            is not None
        ]
        if not able:
            self._follow(queue, done | {(part, around)}, learnt, chance)
            return
        (_, cut), rounds = max(able, key=lambda one: one[0][0])
        self.most_rounds = max(self.most_rounds, len(rounds))
        axis, place, left = cut
        rest = [one for one in rest if one[1][2] not in (left, part - left)]
        tested, made = learnt.get(axis, (0.0, 0.0))
        prices: list[float] = []
        for values, price in rounds:
            prices.append(price)
            slack = self._slack(values, left, part - left, _told_halves(around, cut))
            rejected = self.rejection(price, slack, len(prices) == len(rounds))
            self._test(
                part,
                (*around, (axis, place, self.charge(prices), len(prices))),
                rest,
                queue,
                done,
                {**learnt, axis: (0.9 * tested + 1, 0.9 * made)},
                chance * rejected,
            )
            chance *= 1 - rejected
        if chance:
            wiser = {**learnt, axis: (0.9 * tested + 1, 0.9 * made + 1)}
            known = around if self.inherited else ()
            self._follow([*queue, (left, known), (part - left, known)], done, wiser, chance)

    def _both_sides(self, part: Part, cut: tuple[int, float, float, int]) -> bool:
        return len({self.points[t][cut[0]] < cut[1] for t in part}) == 2

    def _candidates(self, part: Part, learnt: Mapping[int, tuple[float, float]]) -> list[tuple[float, Cut]]:
        """Cuts nearest to the quarters of every axis: what they save, less where uneven or mostly rejected of late."""
        result: list[tuple[float, Cut]] = []
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
                merit = (n * wide - halves) / len(self.extent) * (min(left, n - left) / n) ** 0.2
                tested, made = learnt.get(axis, (0.0, 0.0))
                merit *= (made + 1) / (tested + 1)
                half = frozenset(t for t in part if place[t] < sizes[left])
                if self.curious:
                    merit *= 1 + sum(self.values[t] == min(self.values) for t in half)
                result.append((merit, (axis, sizes[left], half)))
        return result

    def _held(self, part: Part) -> Counter[str]:
        return Counter("".join(self.values[t] for t in part))

    def _most(self, value: str, told: float) -> float:
        cap = self.caps[value]
        return cap * math.exp(-told) / (1 - cap + cap * math.exp(-told))

    def _room(self, part: Part, around: Around) -> float:
        room = math.inf
        for value, count in self._held(part).items():
            if self.caps[value] < 1:
                rest = len(part) - count
                odds = self.caps[value] / (1 - self.caps[value])
                room = min(room, math.log(odds * rest / count) if rest else -math.inf)
        return room - sum(price for _, _, price, _ in around)

    def _rounds(self, part: Part, cut: Cut, told: tuple[float, float], room: float) -> list[Round] | None:
        """The rounds of a test, the last one about all values that may be too many; None if it is not allowed."""
        halves = cut[2], part - cut[2]
        expected = {
            value: min(
                (self._most(value, amount) - self.prior[value]) * len(half)
                for half, amount in zip(halves, told, strict=True)
            )
            for value in self._at_risk(*halves, told)
        }
        if not expected:
            return []
        slack, early = min(expected.values()), 5 * self.price
        if slack < 0.6:
            return None
        whole = min(max(5 * self.price / 1.2, 12 * min(1, slack / 300)) / slack, room - ROUNDED)
        if whole * slack < self.price:
            return None
        before: list[Round] = []
        while len(before) < 5:
            bar = self.tier * early / (before[0][1] if before else whole)
            common = [value for value in expected if expected[value] >= bar]
            if not common:
                break
            before = [(common, early / min(expected[value] for value in common)), *before]
        price = min(whole, room - in_full([one for _, one in before]) - ROUNDED)
        return [*before, (list(expected), price)] if price * slack >= self.price else [(list(expected), whole)]

    def _slack(self, values: Sequence[str], left: Part, right: Part, told: tuple[float, float]) -> int:
        return min(
            self._rows(value, half, amount) - self._held(half)[value]
            for half, amount in zip((left, right), told, strict=True)
            for value in values
        )

    def _rows(self, value: str, half: Part, told: float) -> int:
        return math.floor(self._most(value, told) * len(half) + 1e-9)

    def _at_risk(self, left: Part, right: Part, told: tuple[float, float]) -> list[str]:
        """The values that could be too many in a half."""
        held = self._held(left | right)
        return [
            value
            for value in held
            if self.caps[value] < 1
            and any(held[value] > self._rows(value, *one) for one in zip((left, right), told, strict=True))
        ]


def _told_halves(around: Around, cut: Cut) -> tuple[float, float]:
    """What was told about the halves of a cut, one of which is beyond rejected cuts along the same axis."""
    axis, place, _ = cut
    left = sum(price for one, at, price, _ in around if one != axis or at < place)
    right = sum(price for one, at, price, _ in around if one != axis or at > place)
    return left, right


def worlds(values: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All different ways to give these values to persons."""
    if not values:
        yield ()
    for value in sorted(set(values)):
        at = values.index(value)
        for rest in worlds([*values[:at], *values[at + 1 :]]):
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
            for person, word in enumerate(world):
                for value in word:
                    beliefs[person, value] += weight / total
        result[seen] = dict(beliefs)
    return result


def most_untold(every: Mapping[tuple[str, ...], Mapping[Results, Fraction]]) -> float:
    """By how much, as a logarithm, an exchange of two persons' values changes the probability of some results more than
    what is told about the group of the two, among groups on both sides of rejected cuts."""
    most = -math.inf
    for world, results in every.items():
        for groups, chance in results.items():
            for part, around in groups:
                told = sum(price for _, _, price, _ in around)
                for t, u in combinations(sorted(part), 2):
                    other = list(world)
                    other[t], other[u] = world[u], world[t]
                    if around and world[t] != world[u]:
                        ratio = chance / every[tuple(other)].get(groups, Fraction(0))
                        most = max(most, math.log(ratio) - told)
    return most
