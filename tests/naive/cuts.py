"""Cuts by brute force: every position, every way of moving rows, in plain Python."""

from __future__ import annotations

from itertools import product

from discreet.kernels.costs import Axes

SLACK = 1e-9


def interval_cost(axes: Axes, j: int, codes: list[int]) -> float:
    """What a set of codes costs on one axis: the extent of positions, or the lowest node above all of them."""
    offset, card = int(axes.offsets[j]), int(axes.cards[j])
    if len(set(codes)) == 1:
        return 0.0
    if axes.levels[j] == 0:
        places = [float(axes.costs[offset + code]) for code in codes]
        return min(1.0, max(places) - min(places))
    for level in range(int(axes.levels[j])):
        at = offset + level * card
        if len({int(axes.ancestors[at + code]) for code in codes}) == 1:
            return float(axes.costs[at + codes[0]])
    return 1.0


def group_cost(axes: Axes, points: list[list[int]]) -> float:
    """The loss of a group, summed over its rows."""
    if axes.by_size:
        return float(len(points) ** 2)
    per_row = sum(
        float(axes.weights[j]) * interval_cost(axes, j, [point[j] for point in points]) for j in range(len(points[0]))
    )
    return len(points) * per_row


def keeps_caps(sensitive_codes: list[int], caps: list[float]) -> bool:
    """Whether no value exceeds its share."""
    return all(sensitive_codes.count(i) <= caps[i] * len(sensitive_codes) + SLACK for i in range(len(caps)))


def plain_cuts(points: list[list[int]], sensitive_codes: list[int], axes: Axes, caps: list[float]) -> list[float]:
    """The costs of all plain cuts whose halves keep the caps."""
    costs = []
    for j in range(len(points[0])):
        for code in sorted({point[j] for point in points})[1:]:
            left = [r for r, point in enumerate(points) if point[j] < code]
            right = [r for r, point in enumerate(points) if point[j] >= code]
            if all(keeps_caps([sensitive_codes[r] for r in half], caps) for half in (left, right)):
                costs.append(sum(group_cost(axes, [points[r] for r in half]) for half in (left, right)))
    return costs


def fewest_moves(left: list[int], right: list[int], caps: list[float]) -> int | None:
    """The fewest rows that must change sides, sizes unchanged, so that both sides keep the caps; None if none will do.

    ``left`` and ``right`` count the rows of every value on either side.
    """
    size_left, size_right = sum(left), sum(right)
    best: int | None = None
    for x in product(*(range(a + b + 1) for a, b in zip(left, right, strict=True))):
        if sum(x) != size_left:
            continue
        rest = [a + b - c for a, b, c in zip(left, right, x, strict=True)]
        if all(c <= cap * size_left + SLACK for c, cap in zip(x, caps, strict=True)) and all(
            c <= cap * size_right + SLACK for c, cap in zip(rest, caps, strict=True)
        ):
            moves = sum(max(0, a - c) for a, c in zip(left, x, strict=True))
            best = moves if best is None else min(best, moves)
    return best
