"""Several releases together, by their definitions: person by person, and world by world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Shares = Mapping[Any, float]


def by_odds(prior: Shares, beliefs: Sequence[Shares]) -> dict[Any, float]:
    """Prior times the product of belief / prior, normalised; the prior if nothing is left."""
    weights = {}
    for value, share in prior.items():
        weight = share
        for one in beliefs:
            weight *= one.get(value, 0.0) / share
        weights[value] = weight
    total = sum(weights.values())
    return {value: weight / total for value, weight in weights.items()} if total else dict(prior)


def by_candidates(prior: Shares, beliefs: Sequence[Shares]) -> dict[Any, float]:
    """The prior among the values that everyone leaves possible; the prior if there are none."""
    left = {value: share for value, share in prior.items() if all(one.get(value, 0.0) > 0 for one in beliefs)}
    total = sum(left.values())
    return {value: left.get(value, 0.0) / total for value in prior} if total else dict(prior)


def worlds(truth: Sequence[Any], partitions: Sequence[Sequence[int]]) -> Iterator[tuple[Any, ...]]:
    """All ways to give everyone a value such that every group of every partition has the values it has in truth."""
    persons = range(len(truth))
    held = {
        (at, group): Counter(truth[row] for row in persons if partition[row] == group)
        for at, partition in enumerate(partitions)
        for group in set(partition)
    }

    def dealt(row: int) -> Iterator[tuple[Any, ...]]:
        if row == len(truth):
            yield ()
            return
        own = [held[at, partition[row]] for at, partition in enumerate(partitions)]
        for value in sorted(set(truth)):
            if all(left[value] for left in own):
                for left in own:
                    left[value] -= 1
                for rest in dealt(row + 1):
                    yield (value, *rest)
                for left in own:
                    left[value] += 1

    return dealt(0)


def in_worlds(found: Sequence[tuple[Any, ...]], row: int, value: Any) -> float:
    """The share of worlds in which a person has a value."""
    return sum(world[row] == value for world in found) / len(found)


def beside(
    groups: Sequence[int], known: Sequence[Any], sensitive_attribute: Sequence[Any], row: int, value: Any
) -> float:
    """The share of a value among the rows of a person's group that have the person's known value."""
    alike = [
        sensitive_attribute[other]
        for other in range(len(groups))
        if groups[other] == groups[row] and known[other] == known[row]
    ]
    return alike.count(value) / len(alike)
