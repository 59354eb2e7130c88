"""(epsilon, m)-anonymity by its definition, in exact fractions, and by trying every partition of a tiny table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

Value = Fraction | None
"""A number, or ``None`` for a missing one."""
Width = Fraction


def near(x: Value, y: Value, kind: str, below: Width, above: Width) -> bool:
    """Whether y is in the neighbourhood of x; a relative one has the width ``below`` on both sides."""
    if x is None or y is None:
        return x is y
    if kind == "relative":
        return abs(y - x) <= below * abs(x)
    return x - below <= y <= x + above


def fullest(group: Sequence[Value], kind: str, below: Width, above: Width) -> int:
    """The most rows near to any one of them."""
    return max(sum(near(x, y, kind, below, above) for y in group) for x in group)


def holds(group: Sequence[Value], m: int, kind: str, below: Width, above: Width) -> bool:
    """Whether at most 1 / m of the rows are near to any one of them."""
    return fullest(group, kind, below, above) * m <= len(group)


def maxsize(group: Sequence[Value], kind: str, below: Width, above: Width) -> int:
    """Definition 11: the largest left or right covering set."""

    def at_most(x: Value, y: Value) -> bool:
        return x is None or (y is not None and x <= y)

    left = [sum(near(x, y, kind, below, above) and at_most(y, x) for y in group) for x in group]
    right = [sum(near(x, y, kind, below, above) and at_most(x, y) for y in group) for x in group]
    return max(left + right)


def partitions(rows: list[Value]) -> Iterator[list[list[Value]]]:
    """Every way to put rows into groups."""
    if not rows:
        yield []
        return
    head, *rest = rows
    for some in partitions(rest):
        yield [[head], *some]
        for at in range(len(some)):
            yield [*some[:at], [head, *some[at]], *some[at + 1 :]]


def feasible(rows: Sequence[Value], m: int, kind: str, below: Width, above: Width) -> bool:
    """Whether any partition keeps the promise: all are tried."""
    return any(
        all(holds(group, m, kind, below, above) for group in groups)
        for groups in partitions(list(rows))
        if all(len(group) >= m for group in groups)
    )


def strongest(rows: Sequence[Value], kind: str, below: Width, above: Width) -> int:
    """The largest m that some partition keeps: that of the best partition's worst group."""
    memo: dict[tuple[int, ...], int] = {}

    def best(groups: list[list[int]]) -> int:
        worst = len(rows)
        for group in groups:
            key = tuple(group)
            if key not in memo:
                held = [rows[at] for at in group]
                memo[key] = len(held) // fullest(held, kind, below, above)
            worst = min(worst, memo[key])
        return worst

    return max(best(groups) for groups in _index_partitions(len(rows)))


_KNOWN: dict[int, list[list[list[int]]]] = {}


def _index_partitions(n: int) -> list[list[list[int]]]:
    if n not in _KNOWN:
        numbers: list[Value] = [Fraction(at) for at in range(n)]
        found = partitions(numbers)
        _KNOWN[n] = [[sorted(int(one) for one in group if one is not None) for group in groups] for groups in found]
    return _KNOWN[n]


def feasible_together(
    columns: Sequence[Sequence[Value]], promises: Sequence[tuple[int, int, str, Width, Width]]
) -> bool:
    """Whether any partition keeps several promises, each (attribute, m, kind, below, above): all are tried."""
    memo: dict[tuple[int, ...], bool] = {}

    def kept(group: list[int]) -> bool:
        key = tuple(group)
        if key not in memo:
            memo[key] = all(
                holds([columns[attribute][row] for row in group], m, kind, below, above)
                for attribute, m, kind, below, above in promises
            )
        return memo[key]

    return any(all(kept(group) for group in groups) for groups in _index_partitions(len(columns[0])))
