"""Promises judged the slow way: fractions, loops and linear programming, straight from the definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
from scipy.optimize import linprog

SLACK = Fraction(1, 10**9)
Counts = Sequence[int]
Ground = Callable[[int, int], Fraction]


def precise(function: str, value: Fraction | float) -> Fraction:
    """``ln`` or ``exp`` to 40 digits, so that its error never decides a comparison."""
    exact = Fraction(value)
    with localcontext() as context:
        context.prec = 40
        return Fraction(getattr(Decimal(exact.numerator) / Decimal(exact.denominator), function)())


def shares(counts: Counts) -> list[Fraction]:
    return [Fraction(int(count), int(sum(counts))) for count in counts]


def by_node(counts: Counts, nodes: Sequence[int]) -> list[int]:
    return [sum(c for c, n in zip(counts, nodes, strict=True) if n == node) for node in range(max(nodes) + 1)]


# -------------------------------------------------------------------------------------------------- one promise each


def k_anonymity(group: Counts, k: int) -> bool:
    return sum(group) >= k


def distinct(group: Counts, needed: int) -> bool:
    return len([count for count in group if count]) >= needed


def entropy(group: Counts) -> Fraction:
    return -sum((q * precise("ln", q) for q in shares(group) if q), Fraction(0))


def entropic(group: Counts, needed: float) -> bool:
    return entropy(group) + SLACK >= precise("ln", needed)


def recursive(group: Counts, needed: int, c: float) -> bool:
    ranked = sorted((int(count) for count in group), reverse=True)
    return ranked[0] <= Fraction(c) * sum(ranked[needed - 1 :]) - SLACK


def frequency(group: Counts, needed: float) -> bool:
    return all(count <= sum(group) / Fraction(needed) + SLACK for count in group)


def cap(p: Fraction, beta: float, variant: str) -> Fraction:
    """The function f of the beta-likeness paper."""
    if p == 0:
        return Fraction(0)
    gain = min(Fraction(beta), -precise("ln", p)) if variant == "enhanced" else Fraction(beta)
    return (1 + gain) * p


def beta_likeness(group: Counts, prior: Counts, beta: float, variant: str, negative: float | None = None) -> bool:
    size = sum(group)
    for count, p in zip(group, shares(prior), strict=True):
        if count > cap(p, beta, variant) * size + SLACK:
            return False
        if negative is not None and count + SLACK < (1 - Fraction(negative)) * p * size:
            return False
    return True


def delta_disclosure(group: Counts, prior: Counts, delta: float) -> bool:
    size = sum(group)
    for count, p in zip(group, shares(prior), strict=True):
        if p == 0:
            if count > 0:
                return False
        elif not precise("exp", -delta) * p * size + SLACK <= count <= precise("exp", delta) * p * size - SLACK:
            return False
    return True


# ------------------------------------------------------------------------------------------- earth mover's distance


def equal(i: int, j: int) -> Fraction:
    return Fraction(int(i != j))


def ordered(prior: Counts) -> Ground:
    """How many values of the whole table lie between two; values that it does not hold stand with the one before."""
    held = [count > 0 for count in prior]
    place = [max(0, sum(held[: i + 1]) - 1) for i in range(len(held))]
    return lambda i, j: Fraction(abs(place[i] - place[j]), max(1, sum(held) - 1))


def hierarchical(tree: Sequence[Sequence[int]]) -> Ground:
    """The level of the lowest common ancestor, divided by the height."""
    height = len(tree) - 1
    return lambda i, j: Fraction(next(level for level in range(height + 1) if tree[level][i] == tree[level][j]), height)


def emd(group: Counts, prior: Counts, ground: Ground) -> float:
    """The least work that turns one distribution into the other, as a linear programme over all flows."""
    q, p = shares(group), shares(prior)
    m = len(q)
    cost = [float(ground(i, j)) for i in range(m) for j in range(m)]
    leave = np.kron(np.eye(m), np.ones(m))
    arrive = np.kron(np.ones(m), np.eye(m))
    solved = linprog(cost, A_eq=np.vstack([leave, arrive]), b_eq=[float(x) for x in q + p], method="highs")
    assert solved.success, solved.message
    return float(solved.fun)


# --------------------------------------------------------------------------------------------------- divergences


def kullback_leibler(p: Sequence[float], q: Sequence[float]) -> float:
    """In bits."""
    return sum(a * float(np.log2(a / b)) for a, b in zip(p, q, strict=True) if a)


def jensen_shannon(p: Sequence[float], q: Sequence[float]) -> float:
    """In bits."""
    middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    return (kullback_leibler(p, middle) + kullback_leibler(q, middle)) / 2


# ------------------------------------------------------------------------------------------------------- buckets


def fewest_runs(counts: Counts, caps: Sequence[float]) -> int:
    """The fewest runs, in ascending order of cap, none larger than its smallest cap: by trying every split."""
    rows = sum(counts)
    order = sorted(range(len(counts)), key=lambda i: (caps[i], counts[i], i))
    for cuts in range(len(order)):
        for places in combinations(range(1, len(order)), cuts):
            edges = [0, *places, len(order)]
            runs = [order[a:b] for a, b in pairwise(edges)]
            if all(len(run) == 1 or fits(run, counts, caps, rows) for run in runs):
                return len(runs)
    raise AssertionError("single values always are runs")


def dp_partition(counts: Counts, caps: Sequence[float]) -> list[int]:
    """Function DPpartition of the beta-likeness paper, line by line, with any caps and with <= for <."""
    m, rows = len(counts), sum(counts)
    order = sorted(range(m), key=lambda i: (caps[i], counts[i], i))
    fewest, first = [0], [0]
    for e in range(1, m + 1):
        fewest.append(fewest[e - 1] + 1)
        first.append(e)
        b = e - 1
        while b > 0 and fits(order[b - 1 : e], counts, caps, rows):
            if fewest[b - 1] + 1 < fewest[e]:
                fewest[e] = fewest[b - 1] + 1
                first[e] = b
            b -= 1
    buckets, e = [0] * m, m
    while e > 0:
        for i in order[first[e] - 1 : e]:
            buckets[i] = fewest[e] - 1
        e = first[e] - 1
    return buckets


def fits(run: Sequence[int], counts: Counts, caps: Sequence[float], rows: int) -> bool:
    return sum(counts[i] for i in run) <= min(Fraction(caps[i]) for i in run) * rows + SLACK
