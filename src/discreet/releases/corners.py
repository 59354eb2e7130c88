"""What descriptions that are as narrow as possible disclose about presence: more about some combinations than others.

A group of |G| rows is published under the narrowest description that admits them. An attacker who knows this rules out
tables that a narrower one would admit: some row lies at each end of an interval, in at least two children of a node of
a hierarchy, at each value of a set. (Of an interval on a grid: in its first cell, and in its last.) If all remaining
tables are equally likely, some combinations of values are likelier to be in the table than the average, |G| / (number
of combinations).

*The likeliest combination* takes an end of every interval, and of every node a value of the child with the fewest
values. For an interval: exchange an inner value v with an end e in all rows of a table. A table that has a row at a
combination with v has, after the exchange, one at the same combination with e, and a row at every end that had one
before, and at e; so for every table with the former there is another with the latter. For a node: let u be a value of
a child B, and v one of a child A with at least as many values. Exchanging u and v maps tables with v to tables with u,
but for those whose rows are all in B afterwards: they had v or values of B only. Exchanged back, the tables with u that
are lost have u or values of A only, and there are at least as many of these. All values of a set are equally likely.

*Its probability* follows by inclusion and exclusion: the tables that leave an end untouched, two ends, and so on are
those of smaller boxes, and f(c) tables of |G| rows fit into a box of c combinations: binomial(c, |G|) if all rows
differ, c to the power of |G| if they may be equal. We take the larger of the two probabilities.

*A bound* where there are too many such boxes: let T be what the description says of some attributes, and U what it
says of the others. Then Pr[x | T and U] <= Pr[x and T] / (Pr[T] - Pr[not U]), and Pr[not U] is at most the sum over all
ways of leaving something untouched.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.releases.attributes import Attribute
from discreet.releases.boxes import boxes_in, occurring, ranges, values_in
from discreet.releases.descriptions import Descriptions, Texts
from discreet.releases.grid import Grid, ranked_numbers
from discreet.releases.labels import Nodes, Regions
from discreet.table.table import Column

WORK = 1 << 18
"""How many boxes times rows are summed for one group, at most; what is left is bounded."""
NEGLIGIBLE = 1e-10
"""A probability of leaving something untouched that needs no closer look."""
ROUNDING = 1e-15
"""The relative error of each factor of a probability."""
PRECISION = 1e-10
"""The relative error of a belief, above which it is computed in whole numbers."""
LARGE = 900
"""The number of bits from which on combinations are no longer counted one by one."""

Term = tuple[int, int, int]
"""A weight, a number of values of an attribute, and 1 if the likeliest value is among them, else 0."""


class Narrow(NamedTuple):
    """What the narrowest description says of one attribute.

    >>> Narrow.interval(4)
    Narrow(values=4, even=False, missed=((2, 3),), terms=((1, 4, 1), (-1, 3, 1), (-1, 3, 0), (1, 2, 0)))
    """

    values: int
    """How many values it admits."""
    even: bool
    """Whether all of them are equally likely."""
    missed: tuple[tuple[int, int], ...]
    """Pairs: in how many ways something is left untouched, and how many values are then left."""
    terms: tuple[Term, ...]
    """What has to be added up to count the tables that leave nothing untouched; nothing if that is too much."""

    @classmethod
    def nothing(cls, values: int) -> Narrow:
        """A description that says no more than which values it admits."""
        return cls(values, True, (), ((1, values, 1),))

    @classmethod
    def interval(cls, values: int, first: int = 1, last: int = 1) -> Narrow:
        """Some row lies at each of two ends, or in cells of so many values there, which do not overlap."""
        if values < 2:
            return cls.nothing(values)
        less, more = sorted((first, last))
        ends: tuple[Term, ...] = (
            *((1, values, 1), (-1, values - more, 1)),
            *((-1, values - less, 0), (1, values - first - last, 0)),
        )
        missed = ((2, values - 1),) if less == more == 1 else ((1, values - less), (1, values - more))
        return cls(values, first == last and first + last == values, missed, ends)

    @classmethod
    def node(cls, children: Iterable[int]) -> Narrow:
        """Not all rows lie in the same child; given is how many values each child has."""
        sizes = sorted(size for size in children if size > 0)
        if len(sizes) < 2:
            return cls.nothing(max(1, sum(sizes)))
        terms: list[Term] = [(1, sum(sizes), 1), (-1, sizes[0], 1)]
        terms += [(-sizes[1:].count(size), size, 0) for size in sorted(set(sizes[1:]))]
        missed = tuple((sizes.count(size), size) for size in sorted(set(sizes)))
        return cls(sum(sizes), len(missed) == 1, missed, tuple(terms))

    @classmethod
    def listed(cls, values: int) -> Narrow:
        """Some row has each of the values."""
        if values < 2:
            return cls.nothing(values)
        terms: list[Term] = []
        for out in range(values + 1) if 2 * values**2 <= WORK else ():  # a group has at least as many rows
            terms.append(((-1) ** out * math.comb(values - 1, out), values - out, 1))
            terms.append(((-1) ** out * (math.comb(values, out) - math.comb(values - 1, out)), values - out, 0))
        return cls(values, True, ((values, values - 1),), tuple(term for term in terms if term[0]))

    def chance_missed(self, rows: int) -> float:
        """A bound on the probability that ``rows`` rows at random leave something untouched."""
        return math.fsum(ways * (left / self.values) ** rows for ways, left in self.missed)


def strongest_beliefs(
    descriptions: Descriptions, original: Sequence[Column], enough: float = 0.0
) -> NDArray[np.float64]:
    """Per cell: the belief in the presence of the likeliest combination of values that occur, or a bound on it.

    Where it is clear that the belief is not above ``enough``, a bound is taken.
    """
    sizes = descriptions.sizes
    occurs = occurring(original, descriptions.quasi)
    values = values_in(boxes_in(descriptions, original), occurs)
    plain = np.minimum(1.0, sizes / np.prod(values, axis=1, dtype=np.float64))
    parts = zip(descriptions.quasi, descriptions.texts, descriptions.regions, original, occurs, strict=True)
    narrow = [narrow_texts(*texts) for texts in parts]
    of_cell = np.stack([texts.of_cell for texts in descriptions.texts], axis=1)
    missed = np.zeros(len(sizes))
    for axis, texts in enumerate(narrow):
        for ways, left in _ways_missed(texts)[of_cell[:, axis]].transpose(1, 2, 0):
            missed += ways * left**sizes
    result = np.where(missed < 1.0, np.minimum(1.0, plain / np.maximum(1e-300, 1.0 - missed)), 1.0)
    for cell in np.flatnonzero((missed > NEGLIGIBLE) & (result > enough) & (plain < 1.0)).tolist():
        axes = sorted(texts[text] for texts, text in zip(narrow, of_cell[cell].tolist(), strict=True))
        result[cell] = belief_in_likeliest(tuple(axes), int(sizes[cell]))
    return np.asarray(np.maximum(plain, result))


def _ways_missed(texts: Sequence[Narrow]) -> NDArray[np.float64]:
    """Per text and way of leaving something untouched: how many such ways there are, and the share of values left."""
    result = np.zeros((len(texts), max(len(narrow.missed) for narrow in texts), 2))
    for narrow, line in zip(texts, result, strict=True):
        line[: len(narrow.missed)] = [(ways, left / narrow.values) for ways, left in narrow.missed] or line[:0]
    return result


def narrow_texts(
    attribute: Attribute, texts: Texts, regions: Regions, column: Column, occurs: NDArray[np.bool_]
) -> list[Narrow]:
    """What each text of an attribute says, of the codes of a column that occur."""
    first, last, gaps = ranges(attribute, regions, column)
    nodes = None if attribute.hierarchy is None else Nodes(attribute.hierarchy)
    result = []
    cells = None
    if attribute.unit is not None:
        bounded = np.isfinite(regions.low) & np.isfinite(regions.high)
        cells = Grid.of(attribute).end_cells(*(np.where(bounded, end, 0.0) for end in (regions.low, regions.high)))
    for at, text in enumerate(texts.texts):
        codes = gaps.get(at, np.arange(first[at], last[at] + 1))
        codes = codes[occurs[codes]]
        if cells is not None and text.startswith("["):
            result.append(_between(ranked_numbers(attribute, column)[codes], cells[0][at], cells[1][at]))
        else:
            result.append(_narrow(attribute, nodes, text, codes, column))
    return result


def _between(numbers: NDArray[np.float64], end: float, begin: float) -> Narrow:
    """What an interval on a grid says, of these numbers in it: that some row lies in the first of its cells, which has
    this end, and one in the last, which begins there."""
    first, last = int((numbers <= end).sum()), int((numbers >= begin).sum())
    many = max(1, len(numbers))
    return Narrow.nothing(many) if end >= begin or not first or not last else Narrow.interval(many, first, last)


def _narrow(attribute: Attribute, nodes: Nodes | None, text: str, codes: NDArray[np.int64], column: Column) -> Narrow:
    """What one text says, of these codes."""
    many = max(1, len(codes))
    if many == 1:
        return Narrow.nothing(many)
    if attribute.kind != "categorical":
        if text.startswith("["):
            return Narrow.interval(many)
        if column.missing is not None and column.missing in codes:
            return Narrow.node((1, many - 1))  # something is missing, and something is not
    if nodes is None:
        return Narrow.nothing(many)
    tree = nodes.hierarchy
    ranks = np.array([tree.find(column.texts[code]) for code in codes.tolist()])
    if ranks.min() < 0:
        return Narrow.nothing(many)
    level, node = (int(at) for at in tree.lca(ranks.min(), ranks.max()))
    if text.startswith("{") and text != nodes.text(level, node):
        return Narrow.listed(many)
    _, children = np.unique(tree.ancestors[level - 1][ranks], return_counts=True)
    return Narrow.node(children.tolist())


# ------------------------------------------------------------------------------------------------------------ counting


@lru_cache(maxsize=1 << 14)
def belief_in_likeliest(axes: tuple[Narrow, ...], rows: int) -> float:
    """The belief that the likeliest combination is among those of this many rows, or a bound on it; at most 1.

    >>> round(belief_in_likeliest((Narrow.interval(4), Narrow.interval(4)), 2), 9)
    0.5
    >>> belief_in_likeliest((Narrow.nothing(8),), 2)
    0.25
    """
    combinations = math.prod(axis.values for axis in axes)
    if all(axis.even for axis in axes):  # all combinations are equally likely, and there are not more than rows
        return min(1.0, rows / combinations)
    boxes, beyond, whole = {(1, 1): 1}, 0.0, 1
    missed = sorted(((axis.chance_missed(rows), axis) for axis in axes), reverse=True)
    rest = math.fsum(chance for chance, _ in missed)
    for chance, axis in missed:
        if rest <= NEGLIGIBLE or not axis.terms or len(boxes) * len(axis.terms) * rows > WORK:
            beyond += chance
            whole *= axis.values
            continue
        rest -= chance
        more: dict[tuple[int, int], int] = {}
        for (size, inside), weight in boxes.items():
            for by, values, likeliest in axis.terms:
                key = size * values, inside * likeliest
                more[key] = more.get(key, 0) + weight * by
        boxes = {key: weight for key, weight in more.items() if weight and key[0]}
    boxes = {(size * whole, inside): weight for (size, inside), weight in boxes.items()}
    return max(_belief(boxes, combinations, rows, differ, beyond) for differ in (True, False))


def _belief(boxes: dict[tuple[int, int], int], combinations: int, rows: int, differ: bool, beyond: float) -> float:
    """The belief if all rows differ, or may be equal; ``beyond`` bounds the probability of tables not ruled out."""
    unit = max(1, combinations >> LARGE)  # sizes are counted in it, as they may be beyond the range of floats
    row, whole = 1 / unit, combinations / unit
    weights = np.array([float(weight) for weight in boxes.values()])
    inside = np.array([key[1] for key in boxes], np.float64)
    sizes = np.maximum([key[0] / unit for key in boxes], np.finfo(np.float64).tiny)
    logs = np.log1p((sizes - whole) / whole) * rows
    with np.errstate(divide="ignore", invalid="ignore"):
        if differ:
            steps = (sizes - whole)[:, None] / (whole - row * np.arange(rows))
            logs = np.where(sizes < rows * row, -np.inf, np.log1p(np.maximum(steps, -1.0)).sum(axis=1))
            having = rows * row / sizes
        else:
            having = -np.expm1(rows * np.log1p(-row / sizes))
    shares = np.exp(logs)
    error = float(np.abs(weights) @ shares) * ROUNDING * (rows + len(boxes))
    possible = float(weights @ shares) - error - beyond
    if possible + 2.0 * error < 0.0:
        return 1.0  # nothing is known
    if possible <= error / PRECISION:
        return _counted(boxes, combinations, rows, differ, beyond)
    return min(1.0, (float(weights @ (shares * inside * having)) + error) / possible)


def _counted(boxes: dict[tuple[int, int], int], combinations: int, rows: int, differ: bool, beyond: float) -> float:
    """The same in whole numbers, where almost everything cancels."""

    def tables(size: int) -> int:
        return math.comb(size, rows) if differ else int(size**rows)

    possible = sum(weight * tables(size) for (size, _), weight in boxes.items())
    if possible == 0:
        return 0.0  # no such table: this many rows that differ cannot touch everything, or cannot be told apart
    having = possible - sum(weight * tables(size - inside) for (size, inside), weight in boxes.items())
    # as a fraction, since the number of tables may be beyond the range of floats
    left = possible - math.ceil(Fraction(beyond * (1.0 + ROUNDING * rows)) * tables(combinations))
    return 1.0 if left <= having else having / left
