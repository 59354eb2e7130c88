"""Anatomy by its definitions: beliefs, expected counts and possible assignments, row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

Row = tuple[Hashable, Hashable]
"""Quasi-identifiers and sensitive value."""


def belief(
    rows: Sequence[tuple[Hashable, int]], counts: Sequence[Sequence[int]], point: Hashable
) -> list[Fraction] | None:
    """The average of the distributions of the groups of all rows (point, group) that bear a point; None without any."""
    bearers = [group for own, group in rows if own == point]
    if not bearers:
        return None
    total = [Fraction(0)] * len(counts[0])
    for group in bearers:
        total = [a + Fraction(b, sum(counts[group])) for a, b in zip(total, counts[group], strict=True)]
    return [share / len(bearers) for share in total]


def expected(
    rows: Sequence[tuple[Hashable, int]],
    counts: Sequence[Sequence[int]],
    keep: Callable[[Hashable], bool],
    values: Sequence[bool],
) -> Fraction:
    """The expected number of rows that satisfy conditions on their own columns and on the sensitive value."""
    total = Fraction(0)
    for own, group in rows:
        if keep(own):
            total += Fraction(
                sum(n for n, wanted in zip(counts[group], values, strict=True) if wanted), sum(counts[group])
            )
    return total


def explicable(
    original: Sequence[Row], rows: Sequence[tuple[Hashable, int]], lines: Sequence[Counter[Hashable]]
) -> bool:
    """Whether original rows can be given to published rows (point, group) so that every group has the values counted.

    By trying every value for every published row in turn.
    """
    left = Counter(original)

    def place(at: int, wanted: list[Counter[Hashable]]) -> bool:
        if at == len(rows):
            return all(not +counter for counter in wanted)
        point, group = rows[at]
        for value in list(wanted[group]):
            if wanted[group][value] > 0 and left[point, value] > 0:
                wanted[group][value] -= 1
                left[point, value] -= 1
                if place(at + 1, wanted):
                    return True
                wanted[group][value] += 1
                left[point, value] += 1
        return False

    return place(0, [Counter(line) for line in lines])
