"""How the rows under a description lie in it: evenly, or as the counts of whole columns say.

Estimates need the share of each description that satisfies a condition. Where only boxes are published, rows are
assumed to be spread evenly over them. Where the rows of a column are counted as well (``marginals``), they are spread
such that all boxes together have these counts: the weights of the column's cells are fitted in turns (proportional
fitting), beginning with their counts, so that inside every box rows lie as they do in the column as a whole.

The values of a column are a line of *atoms*: the leaves of its hierarchy or its ordered values, or intervals of
numbers. A description admits a run of atoms, those at its ends in part, or a set of leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import box_shares
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ordered_values
from discreet.releases.labels import Regions
from discreet.table.decimals import Ruler
from discreet.table.query import Condition, OneOf, marked, runs
from discreet.table.texts import LARGEST_WHOLE, MISSING

kernels = cast(Any, box_shares)

Numbers = NDArray[np.float64]
Conditions = tuple[Condition, ...]
Shares = Callable[[Conditions], Numbers]
"""The share of each text of an attribute that satisfies some conditions."""

ROUNDS = 30
"""The rounds of proportional fitting."""


class Counted(NamedTuple):
    """How many rows of a whole column lie in each of some cells, and how many under each of the texts in boxes."""

    regions: Regions
    counts: NDArray[np.int64]
    rows: Numbers
    """The rows, or expected persons, under each text."""


def shares_of(attribute: Attribute, regions: Regions, counted: Counted | None = None) -> Shares:
    """Return the function for shares of texts that stand for ``regions`` of a quasi-identifier."""
    by_numbers = attribute.kind == "numeric" and attribute.hierarchy is None
    if counted is None:
        return (_even_numbers if by_numbers else _of_values)(attribute, regions)
    inside = (_fitted_numbers if by_numbers else _of_values)(attribute, regions, counted)
    known = known_shares(regions, counted)

    def shares(conditions: Conditions) -> Numbers:
        return inside(conditions) * known

    return shares


def counted_shares(attribute: Attribute, regions: Regions, counted: Counted) -> Shares:
    """Return the function for the shares of the counted cells, not of texts, with the rows of each spread evenly."""
    cells = counted.regions
    if attribute.kind == "numeric" and attribute.hierarchy is None:
        _, ruler = domain_and_ruler(attribute, regions, counted)
        line, cell_of = _atoms(cells, ruler)
        parts = _even_parts(attribute, line.low, line.high, ruler)
        sizes = np.maximum(line.high - line.low + ruler.gap, np.finfo(float).tiny)
    else:
        values = listed_values(attribute)
        cell_of, sizes = listed_extents(attribute, cells, values).narrowest(len(values)), np.ones(len(values))

        def parts(conditions: Conditions) -> Numbers:
            standing_in = tuple(attribute.standing_in(condition) for condition in conditions)
            return marked(runs(standing_in, values, attribute.meaning), len(values)).astype(np.float64)

    inside = cell_of >= 0
    whole = np.bincount(cell_of[inside], sizes[inside], len(counted.counts))

    def shares(conditions: Conditions) -> Numbers:
        part = np.bincount(cell_of[inside], (sizes * parts(conditions))[inside], len(counted.counts))
        return np.asarray(np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0.0))

    return shares


def known_shares(regions: Regions, counted: Counted) -> Numbers:
    """Return the share of the rows of each text that have a value: of ``*`` those beyond missing ones with no text."""
    apart = counted.regions.missing & (counted.regions.low > counted.regions.high)
    shown = counted.rows[regions.missing & ~regions.whole].sum()
    anywhere = counted.rows[regions.whole].sum()
    hidden = max(0.0, float(counted.counts[apart].sum()) - shown)
    share = 1.0 - min(1.0, hidden / anywhere) if anywhere > 0.0 else 1.0
    return np.where(regions.whole, share, 1.0)


# ---------------------------------------------------------------------------------------------------------- fitting


class Places(NamedTuple):
    """Points between atoms or inside of them: before a point lie all atoms before ``at``, and a share of that one."""

    at: NDArray[np.int64]
    share: Numbers

    def below(self, weights: Numbers) -> Numbers:
        """Return the weight below each point."""
        whole = np.concatenate(([0.0], np.cumsum(weights)))
        return np.asarray(whole[self.at] + np.append(weights, 0.0)[self.at] * self.share)


class Sets(NamedTuple):
    """The texts that admit atoms with gaps between them, and which."""

    texts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    members: NDArray[np.int64]
    """Those of each text, one after the other."""

    @classmethod
    def of(cls, sets: Mapping[int, NDArray[np.int64]]) -> Sets:
        """Collect them by the numbers of their texts.

        >>> Sets.of({3: np.array([0, 2])}).sums(np.array([1.0, 5.0, 2.0]))
        array([3.])
        """
        sizes = np.array([len(members) for members in sets.values()], np.int64)
        return cls(np.array(list(sets), np.int64), sizes, np.concatenate([np.zeros(0, np.int64), *sets.values()]))

    def sums(self, weights: Numbers) -> Numbers:
        """Return the weight of the atoms of each of these texts."""
        if not len(self.texts):
            return np.zeros(0)
        return np.add.reduceat(weights[self.members], np.cumsum(self.sizes) - self.sizes)


class Extents(NamedTuple):
    """The atoms that each text admits: between two points, or those of a set."""

    begin: Places
    end: Places
    sets: Sets

    def within(self, weights: Numbers) -> Numbers:
        """Return the weight of the atoms that each text admits."""
        result = np.maximum(0.0, self.end.below(weights) - self.begin.below(weights))
        result[self.sets.texts] = self.sets.sums(weights)
        return result

    def narrowest(self, atoms: int) -> NDArray[np.int64]:
        """Return, for each atom, the one of these texts that admits the fewest atoms beside it; -1 if none does."""
        found, sizes = np.full(atoms, -1, np.int64), self.within(np.ones(atoms))
        first, after = (ends.at + ends.share.astype(np.int64) for ends in (self.begin, self.end))
        sets = dict(
            zip(self.sets.texts.tolist(), np.split(self.sets.members, np.cumsum(self.sets.sizes)[:-1]), strict=False)
        )
        for text in np.argsort(-sizes, kind="stable").tolist():
            found[sets.get(text, np.arange(first[text], after[text]))] = text
        return found

    def covered(self, amounts: Numbers, atoms: int) -> Numbers:
        """Return the sum of the amounts of all texts at each atom, each as far as the text admits the atom."""
        in_sets = np.repeat(amounts[self.sets.texts], self.sets.sizes)
        result = np.bincount(self.sets.members, in_sets, atoms).astype(np.float64)
        amounts = amounts.copy()
        amounts[self.sets.texts] = 0.0
        for sign, (at, share) in ((1.0, self.end), (-1.0, self.begin)):
            here = np.bincount(at, amounts, atoms)
            beyond = np.cumsum(here[::-1])[::-1] - here
            result += sign * (beyond + np.bincount(at, amounts * share, atoms))
        return result


def fitted(
    extents: Extents, rows: Numbers, cell_of: NDArray[np.int64], counts: Numbers, sizes: Numbers | None = None
) -> Numbers:
    """Return weights of atoms under which the rows of all texts together have the counts of the cells.

    ``cell_of`` is the cell of each atom, -1 for one where there are no rows; inside a cell atoms weigh by their sizes.

    >>> begin, end = Places(np.array([0, 1]), np.zeros(2)), Places(np.array([1, 1]), np.ones(2))
    >>> halves = Extents(begin, end, Sets.of({}))
    >>> weights = fitted(halves, np.array([6.0, 2.0]), np.arange(2), np.array([3.0, 5.0]))
    >>> (6 * weights[0] / weights.sum()).round(6)
    np.float64(3.0)
    """
    inside, cells = cell_of >= 0, len(counts)
    weights = np.ones(len(cell_of)) if sizes is None else np.where(sizes > 0.0, sizes, 1.0)
    weights[~inside] = 0.0
    together = np.bincount(cell_of[inside], weights[inside], cells)
    weights[inside] *= (counts / np.where(together > 0.0, together, 1.0))[cell_of[inside]]
    placed = extents.within(weights) > 0.0
    wanted = counts * (rows[placed].sum() / max(1.0, counts.sum()))
    for _ in range(ROUNDS):
        within = extents.within(weights)
        amounts = np.divide(rows, within, out=np.zeros(len(rows)), where=placed & (within > 0.0))
        had = np.bincount(cell_of[inside], (weights * extents.covered(amounts, len(weights)))[inside], cells)
        factors = np.divide(wanted, had, out=np.ones(cells), where=had > 0.0)
        weights[inside] *= factors[cell_of[inside]]
    return weights


# ---------------------------------------------------------------------------------------------------------- numbers


def domain_and_ruler(
    attribute: Attribute, regions: Regions, counted: Counted | None = None
) -> tuple[tuple[float, float], Ruler]:
    """Return the range of an attribute's numbers, and the ruler that these are on.

    Its step is stated; if not, numbers are taken to be whole if all published ones are, and else to be anywhere.
    """
    several = (regions,) if counted is None else (regions, counted.regions)
    ends = np.concatenate([end for each in several for end in (each.low, each.high)])
    ends = ends[np.isfinite(ends)]
    domain = attribute.domain or (float(ends.min(initial=np.inf)), float(ends.max(initial=-np.inf)))
    if attribute.spacing is not None:
        return domain, Ruler.of(attribute.spacing)
    ends = np.concatenate((ends, domain))
    whole = bool(np.all((ends == np.floor(ends)) & (np.abs(ends) <= LARGEST_WHOLE)))
    return domain, Ruler.of(1.0 if whole else None)


@dataclass(frozen=True)
class Line:
    """Disjoint intervals of numbers in ascending order, the atoms of a numeric attribute.

    On a ruler with steps an interval has a share of its weight at each place; without, it is spread over the length,
    and an interval of length 0 has all of it at one point.
    """

    low: Numbers
    """Where each begins, as a place on the ruler."""
    high: Numbers
    ruler: Ruler

    def upto(self, points: Numbers, inclusive: bool = True) -> Places:
        """Return the places of points, below which lie the numbers up to them, or only those less."""
        gap = self.ruler.gap
        points = self.ruler.down(points) if inclusive else self.ruler.up(points) - gap
        at = np.searchsorted(self.low, points, side="right" if inclusive or gap else "left") - 1
        first = np.maximum(at, 0)
        size = self.high[first] - self.low[first] + gap
        with np.errstate(invalid="ignore"):
            part = (points - self.low[first] + gap) / np.where(size > 0.0, size, 1.0)
        share = np.where(size > 0.0, np.clip(part, 0.0, 1.0), 1.0)
        return Places(first.astype(np.int64), np.where(at < 0, 0.0, share))

    def within(self, low: Numbers, high: Numbers, weights: Numbers) -> Numbers:
        """Return the weight from one number to another, both included."""
        known = low <= high
        low, high = np.where(known, low, 0.0), np.where(known, high, 0.0)
        both = self.upto(high).below(weights) - self.upto(low, inclusive=False).below(weights)
        return np.where(known, np.maximum(0.0, both), 0.0)


def _even_numbers(attribute: Attribute, regions: Regions) -> Shares:
    """Return the function for shares of intervals of numbers."""
    domain, ruler = domain_and_ruler(attribute, regions)
    low = ruler.up(np.where(regions.whole, domain[0], regions.low))
    high = ruler.down(np.where(regions.whole, domain[1], regions.high))
    return _even_parts(attribute, low, high, ruler)


def _even_parts(attribute: Attribute, low: Numbers, high: Numbers, ruler: Ruler) -> Shares:
    """Return the function for shares of intervals from one place of a ruler to another."""

    def shares(conditions: Conditions) -> Numbers:
        first, last, points = asked_numbers(attribute, conditions)
        if points is not None:
            return _points(low, high, ruler, points)
        result = np.empty(len(low))
        kernels.overlaps(low, high, ruler.gap, float(ruler.up(first)), float(ruler.down(last)), result)
        return result

    return shares


def _fitted_numbers(attribute: Attribute, regions: Regions, counted: Counted) -> Shares:
    """Return the function for shares of intervals of numbers that lie as the cells of the column count them."""
    line, weights = fitted_line(attribute, regions, counted)
    ruler, low, high = line.ruler, regions.low, regions.high
    known = low <= high
    within = np.where(known, line.within(low, high, weights), 0.0)
    evenly = _even_numbers(attribute, regions)

    def shares(conditions: Conditions) -> Numbers:
        first, last, points = asked_numbers(attribute, conditions)
        if points is None:
            wanted = line.within(np.maximum(low, first), np.minimum(high, last), weights)
        else:
            points = points[ruler.on(points)]
            above = np.concatenate(([0.0], np.cumsum(line.within(points, points, weights))))
            after, before = np.searchsorted(points, high, "right"), np.searchsorted(points, low, "left")
            wanted = above[np.maximum(after, before)] - above[before]
        return np.where(within > 0.0, wanted / np.where(within > 0.0, within, 1.0), evenly(conditions))

    return shares


def fitted_line(attribute: Attribute, regions: Regions, counted: Counted) -> tuple[Line, Numbers]:
    """Return the atoms of a column of numbers, and their weights as the cells of the column count them."""
    _, ruler = domain_and_ruler(attribute, regions, counted)
    line, cell_of = _atoms(counted.regions, ruler)
    known = regions.low <= regions.high
    begin = line.upto(np.where(known, regions.low, 0.0), inclusive=False)
    end = line.upto(np.where(known, regions.high, 0.0))
    rows = np.where(known, counted.rows, 0.0)
    sizes = line.high - line.low + ruler.gap
    counts = counted.counts.astype(np.float64)
    return line, fitted(Extents(begin, end, Sets.of({})), rows, cell_of, counts, sizes)


def _atoms(cells: Regions, ruler: Ruler) -> tuple[Line, NDArray[np.int64]]:
    """Return the intervals that cells of numbers are made of, and the cell of each: single numbers lie inside runs."""
    known, gap = np.flatnonzero(cells.low <= cells.high), ruler.gap
    lowest, highest = ruler.up(cells.low), ruler.down(cells.high)
    alone = known[lowest[known] == highest[known]]
    alone = alone[np.argsort(lowest[alone])]
    points = lowest[alone]
    low, high, cell_of = [points], [points], [alone]
    for cell in np.setdiff1d(known, alone).tolist():
        bottom, top = float(lowest[cell]), float(highest[cell])
        inside = points[(points >= bottom) & (points <= top)]
        begins, ends = np.r_[bottom, inside + gap], np.r_[inside - gap, top]
        kept = begins <= ends if gap else begins < ends
        low.append(begins[kept])
        high.append(ends[kept])
        cell_of.append(np.full(int(kept.sum()), cell, np.int64))
    lows, highs, cells_of = (np.concatenate(each) for each in (low, high, cell_of))
    order = np.lexsort((highs, lows))  # a single number before the run that begins there
    return Line(lows[order], highs[order], ruler), cells_of[order].astype(np.int64)


def asked_numbers(attribute: Attribute, conditions: Conditions) -> tuple[float, float, Numbers | None]:
    """Return the range of numbers that satisfy all conditions, and which ones if they are listed."""
    first, last = -np.inf, np.inf
    points: Numbers | None = None
    for condition in conditions:
        if isinstance(condition, OneOf):
            numbers = condition.numbers(attribute.meaning)
            points = numbers if points is None else np.intersect1d(points, numbers)
        else:
            start, end = condition.ends(attribute.meaning)
            first, last = max(first, start), min(last, end)
    return first, last, None if points is None else points[(points >= first) & (points <= last)]


def _points(low: Numbers, high: Numbers, ruler: Ruler, points: Numbers) -> Numbers:
    """Return the shares of single numbers in intervals of places: 0 where lengths are measured and it has one."""
    points = ruler.down(points[ruler.on(points)])
    inside = np.searchsorted(points, high, side="right") - np.searchsorted(points, low, side="left")
    known = low <= high
    size = np.ones(len(low))
    size[known] = high[known] - low[known] + 1.0
    return np.where(known & ((ruler.gap > 0.0) | (low == high)), inside / size, 0.0)


# ----------------------------------------------------------------------------------------------------------- values


def listed_values(attribute: Attribute) -> NDArray[Any]:
    """Return the values of an attribute that the manifest lists, in their order."""
    if attribute.kind != "numeric":
        return np.array(ordered_values(attribute), object)
    assert attribute.hierarchy is not None, "only numbers with a hierarchy are listed"
    return np.sort(np.array([float(leaf) for leaf in attribute.hierarchy.leaves if leaf != MISSING]))


def listed_extents(attribute: Attribute, regions: Regions, values: NDArray[Any]) -> Extents:
    """Return which of the listed values each text stands for."""
    known = regions.low <= regions.high
    low, high = np.where(regions.whole, 0.0, regions.low), np.where(regions.whole, 0.0, regions.high)
    low, high = np.where(known, low, 0.0), np.where(known, high, -1.0)
    if attribute.kind == "numeric":
        low = np.where(known, np.searchsorted(values, low, side="left"), 0)
        high = np.where(known, np.searchsorted(values, high, side="right") - 1, -1)
    first = np.where(regions.whole, 0, low).astype(np.int64)
    after = np.where(regions.whole, len(values), high + 1).astype(np.int64)
    return extents_of(first, after - 1, regions.sets)


def extents_of(first: NDArray[Any], last: NDArray[Any], sets: Mapping[int, NDArray[np.int64]]) -> Extents:
    """The runs of atoms from the first to the last, none if that is before it, and sets of some of them."""
    begin, end = (
        Places(np.maximum(0, ends - 1), np.minimum(ends, 1).astype(np.float64))
        for ends in (np.asarray(first, np.int64), np.asarray(last, np.int64) + 1)
    )
    return Extents(begin, end, Sets.of({text: np.asarray(ranks, np.int64) for text, ranks in sets.items()}))


def _of_values(attribute: Attribute, regions: Regions, counted: Counted | None = None) -> Shares:
    """Return the function for shares of texts that stand for some of the attribute's listed values."""
    values = listed_values(attribute)
    extents = listed_extents(attribute, regions, values)
    weights = np.ones(len(values))
    if counted is not None:
        weights = weights_of_values(attribute, extents, counted, values)
    within = extents.within(weights)
    evenly = extents.within(np.ones(len(values))) if counted is not None else within

    def shares(conditions: Conditions) -> Numbers:
        standing_in = tuple(attribute.standing_in(condition) for condition in conditions)
        mask = marked(runs(standing_in, values, attribute.meaning), len(values))
        result = extents.within(weights * mask) / np.where(within > 0.0, within, 1.0)
        if counted is None:
            return result
        return np.where(within > 0.0, result, extents.within(mask.astype(float)) / np.maximum(1.0, evenly))

    return shares


def weights_of_values(attribute: Attribute, extents: Extents, counted: Counted, values: NDArray[Any]) -> Numbers:
    """Return the weights of listed values, which belong to the narrowest of the counted cells that admits them."""
    cells = listed_extents(attribute, counted.regions, values)
    return fitted(extents, counted.rows, cells.narrowest(len(values)), counted.counts.astype(np.float64))
