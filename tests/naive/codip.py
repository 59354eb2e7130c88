"""Plans and their ratios, written from the paper: sums over pairs of values, partitions by recursion."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

Values = Sequence[object]


def entropy(values: Values) -> float:
    return -sum(count / len(values) * math.log2(count / len(values)) for count in Counter(values).values())


def mutual_information(one: Values, other: Values) -> float:
    n, first, second = len(one), Counter(one), Counter(other)
    return sum(
        count / n * math.log2(count * n / (first[a] * second[b]))
        for (a, b), count in Counter(zip(one, other, strict=True)).items()
    )


def exposable(one: Values, other: Values, harmless: set[object], harmless_other: set[object]) -> float:
    """E(Ai, Aj) case by case, with the fourth case as it must read: H(Ai) + H(Aj) - 2 I(Ai, Aj)."""
    shared = mutual_information(one, other)
    total = 0.0
    for (a, b), count in Counter(zip(one, other, strict=True)).items():
        new = 0.0
        if a not in harmless:
            new += entropy(one) - shared
        if b not in harmless_other:
            new += entropy(other) - shared
        total += count / len(one) * new
    return total


def partitions(items: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    if not items:
        yield ()
        return
    first, rest = items[0], items[1:]
    for size in range(len(rest) + 1):
        for friends in itertools.combinations(rest, size):
            left = tuple(item for item in rest if item not in friends)
            for others in partitions(left):
                yield ((first, *friends), *others)


def association_loss(columns: Sequence[Values], plan: Sequence[Sequence[int]]) -> float:
    home = {attribute: number for number, part in enumerate(plan) for attribute in part}
    pairs = list(itertools.combinations(range(len(columns)), 2))
    whole = sum(mutual_information(columns[i], columns[j]) for i, j in pairs)
    lost = sum(mutual_information(columns[i], columns[j]) for i, j in pairs if home[i] != home[j])
    return lost / whole if whole > 1e-12 else 0.0


def exposure(columns: Sequence[Values], harmless: Sequence[set[object]], plan: Sequence[Sequence[int]]) -> float:
    def pair(i: int, j: int) -> float:
        return exposable(columns[i], columns[j], harmless[i], harmless[j])

    whole = sum(pair(i, j) for i, j in itertools.combinations(range(len(columns)), 2))
    if whole <= 1e-12:
        return 0.0
    inside = sum(len(part) * sum(pair(i, j) for i, j in itertools.combinations(part, 2)) for part in plan)
    return inside / whole / len(columns)
