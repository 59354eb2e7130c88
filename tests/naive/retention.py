"""Retention perturbation the slow way: the whole matrix, all published values and neighbourhoods, in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.principles.proximity import Proximity

Numbers = Sequence[float]


def near(promise: Proximity, x: float, y: float) -> bool:
    """Whether y lies in the neighbourhood of x; numbers here are such that no rounding matters."""
    if promise.neighbourhood == "relative":
        return abs(y - x) <= promise.epsilon * abs(x)
    below = promise.epsilon if promise.below is None else promise.below
    above = promise.epsilon if promise.above is None else promise.above
    return x - below <= y <= x + above


def matrix(p: Fraction, weights: Sequence[int]) -> list[list[Fraction]]:
    """Pr(original -> published), a line per published value."""
    places, total = range(len(weights)), sum(weights)
    return [[p * (x == y) + (1 - p) * Fraction(weights[y], total) for x in places] for y in places]


def posteriors(p: Fraction, counts: Sequence[int], weights: Sequence[int]) -> list[list[Fraction]]:
    """The belief in every original value (column) after seeing a published one (line)."""
    result = []
    for line in matrix(p, weights):
        joint = [chance * count for chance, count in zip(line, counts, strict=True)]
        seen = sum(joint)
        result.append([part / seen for part in joint])
    return result


def worst_belief(
    p: Fraction, numbers: Numbers, counts: Sequence[int], weights: Sequence[int], promise: Proximity
) -> Fraction:
    """The largest belief in the neighbourhood of any number that occurs, whatever is published."""
    around = [[at for at, z in enumerate(numbers) if near(promise, x, z)] for x in numbers]
    told = posteriors(p, counts, weights)
    return max(sum((line[at] for at in inside), Fraction(0)) for line in told for inside in around)


def equation_3(p: Fraction, numbers: Numbers, counts: Sequence[int], promise: Proximity) -> Fraction:
    """The largest risk of any number by Equation 3, lengths being shares of the values that occur."""
    risks = []
    for x in numbers:
        inside = [near(promise, x, z) for z in numbers]
        share = Fraction(sum(count for count, one in zip(counts, inside, strict=True) if one), sum(counts))
        length = Fraction(sum(inside), len(numbers))
        risks.append(share * (p + (1 - p) * length) / (share * p + (1 - p) * length))
    return max(risks)


def risk_in_range(p: Fraction, numbers: Numbers, counts: Sequence[int], promise: Proximity, x: float) -> Fraction:
    """The belief in the neighbourhood of x of someone who only sees that the published number lies in it."""
    inside = [near(promise, x, z) for z in numbers]
    cells = matrix(p, [1] * len(numbers))
    both = seen = Fraction(0)
    for y, line in enumerate(cells):
        for z, chance in enumerate(line):
            seen += chance * counts[z] * inside[y]
            both += chance * counts[z] * inside[y] * inside[z]
    return both / seen
