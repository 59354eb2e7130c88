"""The Bayesian network of PrivBayes: attributes with their parents, noisy counts, and rows drawn from these.

After Zhang, Cormode, Procopiuc, Srivastava and Xiao, "PrivBayes: Private Data Release via Bayesian Networks" (SIGMOD
2014). Parents may be taken coarsely, as 16, 8 or 4 ranges of values in their order, so that a table has at most as many
cells as noise allows (the paper's usefulness theta: the average count is at least theta times the noise). How coarsely
depends on the numbers of values and rows alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.families.privbayes.chance import Seeded, choice, noise, rate_below
from discreet.progress import Tell, no_progress

Ints = NDArray[np.int64]
SHARE = Fraction(3, 10)
"""The share of epsilon that the network takes."""
THETA = 4.0
DEGREE = 2
"""The most parents of an attribute."""
COARSE = (16, 8, 4)
UNITS = 1000
"""Mutual information is rounded to a multiple of its sensitivity divided by this."""
ROUNDED = 2
"""By this many more units it may differ between neighbours: one for rounding, one for the error of floating point."""


@dataclass(frozen=True)
class Node:
    """An attribute of the network, with its parents by their place and the number of ranges they are taken in."""

    attribute: int
    parents: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Budget:
    """How epsilon is divided: among d - 1 choices of parents and d tables of counts."""

    choice: int
    """The rate of the exponential mechanism, per unit of its scores."""
    noise: int
    """The rate of the noise in each table, per row."""
    most: float
    """The most cells of a table in which the average count is THETA times the noise."""

    @classmethod
    def of(cls, epsilon: float, width: int, rows: int) -> Budget:
        """The rates that spend epsilon on this many attributes and rows (see ``PrivBayes``)."""
        given = Fraction(epsilon)
        network = given * SHARE if width > 1 else Fraction(0)
        tables = given - network
        return cls(
            rate_below(network / max(1, width - 1) / (2 * (UNITS + ROUNDED))),
            rate_below(tables / width / 2),
            rows * float(tables) / (2.0 * width * THETA),
        )


def network(codes: Sequence[Ints], sizes: Sequence[int], budget: Budget, seeded: Seeded, tell: Tell) -> list[Node]:
    """Attributes with parents among those before them; the first is any, whatever the table is."""
    rows, width = len(codes[0]), len(codes)
    first = choice(np.zeros(width, np.int64), budget.choice, seeded)
    nodes, known = [Node(first)], dict[Node, int]()
    while len(nodes) < width:
        before = [node.attribute for node in nodes]
        left = [at for at in range(width) if at not in before]
        sets = [parents for many in range(1, DEGREE + 1) for parents in combinations(before, many)]
        options = [Node(at, _levels(sizes, at, parents, budget.most)) for at in left for parents in sets]
        unit = sensitivity(rows) / UNITS
        for option in options:
            if option not in known:
                known[option] = round(information(codes, sizes, option) / unit)
        scores = np.array([known[option] for option in options], np.int64)
        nodes.append(options[choice(scores, budget.choice, seeded)])
        tell(len(nodes) / width)
    return nodes


def drawn(
    codes: Sequence[Ints],
    sizes: Sequence[int],
    budget: Budget,
    random: np.random.Generator,
    seeded: Seeded = None,
    tell: Tell = no_progress,
) -> list[Ints]:
    """As many rows as there are, drawn from the noisy counts of a network of these columns.

    What is drawn from noisy counts may be drawn in any way, because nothing else is known of the table by then.
    """
    rows = len(codes[0])
    result: list[Ints] = [np.zeros(rows, np.int64)] * len(codes)
    for node in network(codes, sizes, budget, seeded, tell):
        size = sizes[node.attribute]
        counts = counted(codes, sizes, node)
        noisy = np.maximum(0, counts + noise(budget.noise, counts.size, seeded).reshape(counts.shape))
        overall = noisy.sum(axis=0) if noisy.any() else np.ones(size, np.int64)
        noisy[noisy.sum(axis=1) == 0] = overall
        upto = np.cumsum(noisy)
        lines = _joined(result, sizes, node.parents, rows)
        before = np.where(lines > 0, upto[lines * size - 1], 0)
        marks = before + random.integers(0, upto[(lines + 1) * size - 1] - before)
        result[node.attribute] = np.searchsorted(upto, marks, side="right") - lines * size
    return result


def counted(codes: Sequence[Ints], sizes: Sequence[int], node: Node) -> Ints:
    """How many rows have each combination of the parents (a line each) with each value of an attribute."""
    size, many = sizes[node.attribute], math.prod(ranges for _, ranges in node.parents)
    of = _joined(codes, sizes, node.parents, len(codes[0]))
    return np.bincount(of * size + codes[node.attribute], minlength=many * size).reshape(many, size)


def information(codes: Sequence[Ints], sizes: Sequence[int], node: Node) -> float:
    """The mutual information of an attribute and its parents, in bits."""
    joint = counted(codes, sizes, node) / len(codes[0])
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    held = joint > 0
    return float((joint[held] * np.log2(joint[held] / apart[held])).sum())


def sensitivity(rows: int) -> float:
    """How much one of this many rows can change a mutual information, in bits (Lemma 1 of the paper).

    >>> sensitivity(1)
    1.0
    """
    if rows == 1:  # of one row it is always 0
        return 1.0
    return 2.0 / rows * math.log2((rows + 1) / 2.0) + (rows - 1) / rows * math.log2((rows + 1) / (rows - 1))


def _levels(sizes: Sequence[int], attribute: int, parents: tuple[int, ...], most: float) -> tuple[tuple[int, int], ...]:
    """Parents in as many ranges as noise allows: all values, else 16, 8 or 4 ranges each, else none."""
    for ranges in (max(sizes), *COARSE):
        taken = tuple((parent, min(sizes[parent], ranges)) for parent in parents)
        if sizes[attribute] * math.prod(many for _, many in taken) <= most:
            return taken
    return ()


def _joined(codes: Sequence[Ints], sizes: Sequence[int], parents: tuple[tuple[int, int], ...], rows: int) -> Ints:
    """Per row the number of its parents' combination of ranges."""
    keys = np.zeros(rows, np.int64)
    for parent, ranges in parents:
        keys = keys * ranges + codes[parent] * ranges // sizes[parent]
    return keys
