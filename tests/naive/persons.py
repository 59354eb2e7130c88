"""Promises about persons with several rows, from the definition: sets of people, fractions, and nothing clever."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

SLACK = Fraction(1, 10**8)


def shares(rows: list[tuple[object, object]]) -> dict[object, Fraction]:
    """Per value the share of the persons who have it in any row; ``rows`` are pairs of a person and a value."""
    persons = {person for person, _ in rows}
    held = Counter(value for _, value in set(rows))
    return {value: Fraction(number, len(persons)) for value, number in held.items()}


def row_shares(rows: list[tuple[object, object]]) -> dict[object, Fraction]:
    return {value: Fraction(number, len(rows)) for value, number in Counter(value for _, value in rows).items()}


def keeps_k(rows, k):
    return len({person for person, _ in rows}) >= k


def keeps_l(rows, l):  # noqa: E741 - its name in the literature
    both = [*shares(rows).values(), *row_shares(rows).values()]
    return all(share <= Fraction(1, l) + SLACK for share in both)


def keeps_beta(rows, everyone, beta):
    for of in (shares, row_shares):
        prior = of(everyone)
        for value, share in of(rows).items():
            p = prior[value]
            bound = p * (1 + min(Fraction(beta), Fraction(-math.log(p))))
            if share > bound + SLACK:
                return False
    return True
