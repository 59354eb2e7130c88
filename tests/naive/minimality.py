"""What is believed by someone who knows the algorithm, by definition: every way to hand out the values is a world."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations


def beliefs(
    values: Sequence[Hashable], likely: Callable[[tuple[Hashable, ...]], Mapping[Hashable, Fraction]], seen: Hashable
) -> list[dict[Hashable, Fraction]]:
    """Per person: the chance of every value after ``seen``, where ``likely`` tells how likely what is seen of a world.

    Persons with equal values are told apart here: every world is met equally often then.
    """
    total = Fraction(0)
    found: list[dict[Hashable, Fraction]] = [{} for _ in values]
    for world in permutations(values):
        weight = likely(world).get(seen, Fraction(0))
        total += weight
        for belief, value in zip(found, world, strict=True):
            belief[value] = belief.get(value, Fraction(0)) + weight
    return [{value: share / total for value, share in belief.items()} for belief in found]
