"""PrivBayes, as something to compare with: synthetic rows from a Bayesian network under differential privacy.

After Zhang, Cormode, Procopiuc, Srivastava and Xiao, "PrivBayes: Private Data Release via Bayesian Networks" (SIGMOD
2014). A network is grown attribute by attribute: the next one and its parents are drawn by the exponential mechanism,
which prefers pairs with much mutual information. Then the counts of each attribute with its parents get Laplace noise,
and as many rows as the original has are drawn from them.

*Why it is epsilon-differentially private*, for tables of the same number of rows that differ in one of them, taking the
lists of values as public: each of d - 1 draws of the network is (share x epsilon / (d - 1))-private, because one row
changes a mutual information by at most ``_sensitivity``; each of d tables of counts is ((1 - share) x epsilon / d)-
private, because one row changes two counts by 1; the rows are drawn from these alone. The epsilons add up.

Parents may be taken coarsely, as 16, 8 or 4 ranges of values in their order, so that a table has at most as many cells
as noise allows (the paper's usefulness theta: the average count is at least theta times the noise). Which level that is
depends on the numbers of values and rows alone.

This is *a different kind of promise* than those of releases, see `discreet.adversary.attacks.synthetic`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import discreet as dc

Ints = NDArray[np.int64]
SHARE = 0.3
"""The share of epsilon that the network takes."""
THETA = 4.0
DEGREE = 2
"""The most parents of an attribute."""
COARSE = (16, 8, 4)


@dataclass(frozen=True)
class Part:
    """An attribute of the network, with its parents by their place and the number of ranges they are taken in."""

    attribute: int
    parents: tuple[tuple[int, int], ...] = ()


def synthesized(table: dc.Table, epsilon: float, seed: int) -> dc.Table:
    """A synthetic table with the roles and kinds of this one, under so much differential privacy in total."""
    random = np.random.default_rng(seed)
    columns = (*table.quasi, *table.sensitive)
    codes = [column.codes.astype(np.int64) for column in columns]
    sizes = [len(column.values) for column in columns]
    drawn = sample(codes, sizes, epsilon, random)
    arrays = {column.name: pa.array(column.values[at].tolist()) for column, at in zip(columns, drawn, strict=True)}
    kinds: dict[str, list[str]] = {"numeric": [], "categorical": []}
    for column in columns:
        kinds.get(column.kind, []).append(column.name)
    trees = {column.name: column.hierarchy for column in columns if column.hierarchy and column.kind == "categorical"}
    orders = [column.name for column in columns if column.kind == "ordinal"]
    quasi, secret = list(table.quasi_names), table.sensitive[0].name
    return dc.read(pa.table(arrays), quasi=quasi, sensitive=secret, ordinal=orders, hierarchies=trees, **kinds)


def sample(codes: list[Ints], sizes: list[int], epsilon: float, random: np.random.Generator) -> list[Ints]:
    """Rows drawn from a noisy network of these columns of codes."""
    rows, width = len(codes[0]), len(codes)
    most = rows * (1.0 - SHARE) * epsilon / (2.0 * width * THETA)
    parts = _network(codes, sizes, SHARE * epsilon, most, random)
    drawn: list[Ints] = [np.zeros(rows, np.int64)] * width
    scale = 2.0 * width / ((1.0 - SHARE) * epsilon)
    for part in parts:
        size = sizes[part.attribute]
        of, many = _joined(codes, sizes, part.parents, rows)
        counts = np.bincount(of * size + codes[part.attribute], minlength=many * size).astype(np.float64)
        noisy = np.maximum(0.0, counts + random.laplace(0.0, scale, len(counts))).reshape(many, size)
        whole = noisy.sum(axis=0) if noisy.any() else np.ones(size)
        noisy[noisy.sum(axis=1) == 0.0] = whole
        upto = np.cumsum(noisy, axis=1)
        chosen, _ = _joined(drawn, sizes, part.parents, rows)
        marks = random.random(rows) * upto[chosen, -1]
        drawn[part.attribute] = np.minimum((upto[chosen] <= marks[:, None]).sum(axis=1), size - 1)
    return drawn


def _network(
    codes: list[Ints], sizes: list[int], epsilon: float, most: float, random: np.random.Generator
) -> list[Part]:
    """Attributes with parents among those before them, the first drawn at random."""
    rows, width = len(codes[0]), len(codes)
    parts = [Part(int(random.integers(width)))]
    while len(parts) < width:
        known = [part.attribute for part in parts]
        left = [at for at in range(width) if at not in known]
        options = [Part(at, _levels(sizes, at, parents, most)) for at in left for parents in _sets(known)]
        scores = np.array([_information(codes, sizes, one, rows) for one in options])
        weights = scores * epsilon / (width - 1) / (2.0 * _sensitivity(rows))
        chances = np.exp(weights - weights.max())
        parts.append(options[int(random.choice(len(options), p=chances / chances.sum()))])
    return parts


def _sets(known: list[int]) -> list[tuple[int, ...]]:
    return [some for many in range(1, DEGREE + 1) for some in combinations(known, many)] or [()]


def _levels(sizes: list[int], attribute: int, parents: tuple[int, ...], most: float) -> tuple[tuple[int, int], ...]:
    """Parents in as many ranges as noise allows: all values, else 16, 8 or 4 ranges each, else none."""
    for ranges in (max(sizes), *COARSE):
        taken = tuple((parent, min(sizes[parent], ranges)) for parent in parents)
        if sizes[attribute] * math.prod(many for _, many in taken) <= most:
            return taken
    return ()


def _joined(codes: list[Ints], sizes: list[int], parents: tuple[tuple[int, int], ...], rows: int) -> tuple[Ints, int]:
    """Per row the number of its parents' combination of ranges, and how many combinations there are."""
    keys, many = np.zeros(rows, np.int64), 1
    for parent, ranges in parents:
        keys = keys * ranges + codes[parent] * ranges // sizes[parent]
        many *= ranges
    return keys, many


def _information(codes: list[Ints], sizes: list[int], part: Part, rows: int) -> float:
    """The mutual information of an attribute and its parents, in bits."""
    of, many = _joined(codes, sizes, part.parents, rows)
    size = sizes[part.attribute]
    joint = np.bincount(of * size + codes[part.attribute], minlength=many * size).reshape(many, size) / rows
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    held = joint > 0
    return float((joint[held] * np.log2(joint[held] / apart[held])).sum())


def _sensitivity(rows: int) -> float:
    """How much one of so many rows can change a mutual information, in bits (Lemma 1 of the paper)."""
    return 2.0 / rows * math.log2((rows + 1) / 2.0) + (rows - 1) / rows * math.log2((rows + 1) / (rows - 1))
