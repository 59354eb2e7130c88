"""Estimate how many rows of a generalized release satisfy a query, from its descriptions.

Where the rows of a group lie in its box is unknown, so they are assumed to be spread evenly over it, as in Section 6.2
of "Publishing Microdata with a Robust Privacy Guarantee" (PVLDB 2012). The estimate is the sum over groups of

    (rows of the group whose sensitive value and other columns satisfy their conditions)
    x (the share of the group's box that satisfies the conditions on quasi-identifiers),

and the share of a box is the product of its shares on the attributes:

- an interval of numbers: if all published ends of this attribute are whole numbers, its values are taken to be whole,
  and the share is that of the whole numbers admitted; otherwise it is the share of the length, in which a single number
  has share 0 (an interval that is one point is admitted or not);
- an interval of ordered values: the share of these values;
- a label, or ``*`` of names: the share of the leaves below; a set: the share of its values;
- a number published by labels: the share of the leaves below; ``*`` of other numbers: the share of the domain;
- ``(missing)`` of a numeric or ordered attribute satisfies no condition; ``*`` is assumed to hide known values.

Withheld rows are not in the release and not in the estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.kernels import box_shares
from discreet.principles.counts import Counts
from discreet.releases.attributes import Attribute
from discreet.releases.boxes import ranges
from discreet.releases.columns import ordered_values
from discreet.releases.labels import Regions
from discreet.table.combinations import ranked_combinations
from discreet.table.date_numbers import written
from discreet.table.grouping import MOST_CELLS
from discreet.table.query import Condition, OneOf, Query, marked, runs
from discreet.table.table import Column
from discreet.table.texts import LARGEST_WHOLE, MISSING
from discreet.table.unnamed import OTHERS, UNNAMED

if TYPE_CHECKING:
    from discreet.releases.described import DescribedRelease

kernels = cast(Any, box_shares)

Conditions = tuple[Condition, ...]
Shares = Callable[[Conditions], NDArray[np.float64]]
"""The share of each text of an attribute that satisfies some conditions."""

ESTIMATORS = {"even": "the rows of a group are spread evenly over its box, as in the paper"}
BATCH = 1 << 22
"""How many shares are kept in memory at a time."""


class Cells(NamedTuple):
    """The groups, with those of the same description merged."""

    texts: NDArray[np.int32]
    """``texts[axis, cell]``: the index of the cell's text of a quasi-identifier."""
    of_row: NDArray[np.int32]
    """The cell of each published row."""
    counts: Counts
    """How often each sensitive value occurs in each cell, or is expected to occur."""
    expected: Callable[[NDArray[Any]], NDArray[Any]] = np.asarray
    """Maps the numbers of rows published under each cell to the numbers expected to lie there."""


def collapse(release: DescribedRelease) -> Cells:
    """Return the cells of a release; estimates need nothing else, and there are often far fewer cells than groups."""
    columns, sizes = [of.of_cell for of in release.texts], [len(of.texts) for of in release.texts]
    _, first, cell_of = ranked_combinations(columns, sizes, release.groups)
    described = np.array([of_group[first] for of_group in columns], np.int32).reshape(len(columns), len(first))
    of_row = cell_of.astype(np.int32)[release.group_of]
    return Cells(described, of_row, Counts.of_rows(of_row, release.sensitive_codes, len(first), len(release.values)))


def estimates(release: DescribedRelease, queries: Sequence[Query]) -> NDArray[np.float64]:
    """Estimate how many published rows satisfy each query, with rows spread evenly over the boxes of their groups."""
    cells = release.cells
    axis_of = {attribute.name: axis for axis, attribute in enumerate(release.quasi)}
    shares_by = [
        (_of_numbers if attribute.kind == "numeric" and attribute.hierarchy is None else _of_values)(attribute, regions)
        for attribute, regions in zip(release.quasi, release.descriptions.regions, strict=True)
    ]
    # few conditions are distinct, and each is evaluated once for many queries: rows per cell, and shares per text
    held: dict[Conditions, NDArray[np.float64]] = {}
    shares: dict[tuple[int, Conditions], NDArray[np.float64]] = {}
    result = np.zeros(len(queries))
    start, size, asked = 0, 0, list[tuple[Conditions, list[tuple[int, Conditions]]]]()
    for at, query in enumerate(queries, 1):
        described = [(axis_of[name], given) for name, given in query.by_attribute.items() if name in axis_of]
        carried = tuple(condition for condition in query.conditions if condition.attribute not in axis_of)
        asked.append((carried, described))
        if carried not in held:
            held[carried] = rows_held(release, carried)
            size += len(cells.counts)
        for axis, conditions in described:
            if (axis, conditions) not in shares:
                shares[axis, conditions] = shares_by[axis](conditions)
                size += len(shares[axis, conditions])
        if at == len(queries) or size >= BATCH:
            result[start:at] = _weighed(cells, held, shares, asked)
            start, size, asked, held, shares = at, 0, [], {}, {}
    return result


def _weighed(
    cells: Cells,
    held: dict[Conditions, NDArray[np.float64]],
    shares: dict[tuple[int, Conditions], NDArray[np.float64]],
    asked: list[tuple[Conditions, list[tuple[int, Conditions]]]],
) -> NDArray[np.float64]:
    """For each query, the rows of all cells, each times the shares of its texts that the query asks for."""
    place = {conditions: at for at, conditions in enumerate(held)}
    firsts = np.cumsum([0, *map(len, shares.values())])
    first = dict(zip(shares, firsts.tolist(), strict=False))
    lines = np.full((len(asked), len(cells.texts)), -1, np.int64)
    for line, (_, described) in zip(lines, asked, strict=True):
        for axis, conditions in described:
            line[axis] = first[axis, conditions]
    result, held_at = np.empty(len(asked)), np.array([place[carried] for carried, _ in asked])
    flat = np.concatenate([np.zeros(0), *shares.values()])
    kernels.weigh(np.stack(list(held.values())), held_at, flat, lines, cells.texts, result)
    return result


def rows_held(release: DescribedRelease, conditions: Conditions) -> NDArray[np.float64]:
    """Return how many rows of each cell satisfy conditions on columns that are published unchanged."""
    cells = release.cells
    sensitive_columns = [attribute.name for attribute in release.sensitive]
    sensitive_attribute = sensitive_columns[0] if sensitive_columns else None
    carried = [*sensitive_columns[1:], *(each.name for each in release.attributes if each.role == "other")]
    others = dict(zip(carried, (*release.sensitive_columns[1:], *release.others), strict=True))
    on_secret = tuple(condition for condition in conditions if condition.attribute == sensitive_attribute)
    kind = release.sensitive_attribute.meaning if sensitive_columns else "categorical"
    mask = marked(runs(on_secret, release.values, kind), len(release.values))
    rows: NDArray[np.bool_] | None = None
    for condition in conditions:
        name, attribute = condition.attribute, release.asked(condition)
        if name == sensitive_attribute:
            continue
        keep = condition.admits(others[name].values, attribute.meaning)[others[name].codes]
        rows = keep if rows is None else rows & keep
    if rows is None:
        result = np.empty(len(cells.counts))
        kernels.admitted_amounts(cells.counts.starts, cells.counts.values, cells.counts.amounts, mask, result)
        return result
    rows &= mask[release.sensitive_codes]
    counted = np.bincount(cells.of_row[rows], minlength=len(cells.counts))
    return np.asarray(cells.expected(counted), np.float64)


def values_within(attribute: Attribute, regions: Regions) -> NDArray[Any]:
    """Return all values, in their order, that the texts of a quasi-identifier may stand for, as shares count them."""
    if attribute.kind != "numeric" or attribute.hierarchy is not None:
        values = _listed(attribute)
        if attribute.kind != "categorical":
            return values
        named = [value for value in values.tolist() if not value.startswith(UNNAMED)]
        return np.array([*named, *([OTHERS] if len(named) < len(values) else [])], object)
    (bottom, top), step = _domain_and_step(attribute, regions)
    if not step:
        raise DiscreetError(
            f"column {attribute.name!r} holds numbers that are not whole, and of these only intervals are published; "
            "ask for single counts with a range of it instead of grouping by it"
        )
    if top - bottom >= MOST_CELLS:
        raise DiscreetError(
            f"column {attribute.name!r} may hold any {'whole number' if attribute.notation == 'number' else 'moment'} "
            f"from {written(bottom, attribute.notation)} to {written(top, attribute.notation)}, more than "
            f"{MOST_CELLS:,}; ask for single counts with a range of it instead of grouping by it"
        )
    return np.arange(bottom, top + 1)


def _domain_and_step(attribute: Attribute, regions: Regions) -> tuple[tuple[float, float], float]:
    """Return the range of an attribute's numbers, and 1 if all published ones are whole numbers, else 0."""
    ends = np.concatenate((regions.low, regions.high))
    ends = ends[np.isfinite(ends)]
    domain = attribute.domain or (float(ends.min(initial=np.inf)), float(ends.max(initial=-np.inf)))
    ends = np.concatenate((ends, domain))
    return domain, 1.0 if bool(np.all((ends == np.floor(ends)) & (np.abs(ends) <= LARGEST_WHOLE))) else 0.0


def _of_numbers(attribute: Attribute, regions: Regions) -> Shares:
    """Return the function for shares of intervals of numbers."""
    domain, step = _domain_and_step(attribute, regions)
    low, high = np.where(regions.whole, domain[0], regions.low), np.where(regions.whole, domain[1], regions.high)

    def shares(conditions: Conditions) -> NDArray[np.float64]:
        first, last = -np.inf, np.inf
        points: NDArray[np.float64] | None = None
        for condition in conditions:
            if isinstance(condition, OneOf):
                numbers = condition.numbers(attribute.meaning)
                points = numbers if points is None else np.intersect1d(points, numbers)
            else:
                start, end = condition.ends(attribute.meaning)
                first, last = max(first, start), min(last, end)
        if points is not None:
            return _points(low, high, step, points[(points >= first) & (points <= last)])
        first, last = (np.ceil(first), np.floor(last)) if step else (first, last)
        result = np.empty(len(low))
        kernels.overlaps(low, high, step, first, last, result)
        return result

    return shares


def _points(
    low: NDArray[np.float64], high: NDArray[np.float64], step: float, points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the shares of single numbers in intervals: 0 where lengths are measured and the interval has one."""
    if step:
        points = points[points == np.floor(points)]
    inside = np.searchsorted(points, high, side="right") - np.searchsorted(points, low, side="left")
    known = low <= high
    size = np.ones(len(low))
    size[known] = high[known] - low[known] + 1.0
    return np.where(known & ((step == 1.0) | (low == high)), inside / size, 0.0)


def _listed(attribute: Attribute) -> NDArray[Any]:
    """Return the values of an attribute that the manifest lists, in their order."""
    if attribute.kind != "numeric":
        return np.array(ordered_values(attribute), object)
    assert attribute.hierarchy is not None, "only numbers with a hierarchy are listed"
    return np.sort(np.array([float(leaf) for leaf in attribute.hierarchy.leaves if leaf != MISSING]))


def _of_values(attribute: Attribute, regions: Regions) -> Shares:
    """Return the function for shares of texts that stand for some of the attribute's listed values."""
    values = _listed(attribute)
    known = regions.low <= regions.high
    low, high = np.where(regions.whole, 0.0, regions.low), np.where(regions.whole, 0.0, regions.high)
    low, high = np.where(known, low, 0.0), np.where(known, high, -1.0)
    if attribute.kind == "numeric":
        low = np.where(known, np.searchsorted(values, low, side="left"), 0)
        high = np.where(known, np.searchsorted(values, high, side="right") - 1, -1)
    first = np.where(regions.whole, 0, low).astype(np.int64)
    after = np.where(regions.whole, len(values), high + 1).astype(np.int64)
    sizes = np.maximum(1, after - first).astype(np.float64)
    members = [np.asarray(ranks) for ranks in regions.sets.values()]
    gapped = np.array(list(regions.sets), np.int64)
    if members:
        sizes[gapped] = [len(ranks) for ranks in members]
        flat = np.concatenate(members)
        starts = np.concatenate(([0], np.cumsum([len(ranks) for ranks in members])[:-1]))

    def shares(conditions: Conditions) -> NDArray[np.float64]:
        standing_in = tuple(attribute.standing_in(condition) for condition in conditions)
        mask = marked(runs(standing_in, values, attribute.meaning), len(values))
        below = np.concatenate(([0], np.cumsum(mask)))
        inside = np.maximum(0, below[after] - below[first])
        if members:
            inside[gapped] = np.add.reduceat(mask[flat].astype(np.int64), starts)
        return np.asarray(inside / sizes)

    return shares


def contingency(release: DescribedRelease, column: Column, spread: bool) -> NDArray[np.float64]:
    """One line per value of the column, one column per sensitive value (see ``Release.contingency``)."""
    from scipy.sparse import csr_array

    axis = next(at for at, attribute in enumerate(release.quasi) if attribute.name == column.name)
    cells, size = release.cells, len(column.values)
    first, last, gaps = ranges(release.quasi[axis], release.descriptions.regions[axis], column)
    # an interval is one run of codes, and a set with gaps one for each of its codes
    plain = np.setdiff1d(np.arange(len(first)), list(gaps))
    sizes = [len(codes) for codes in gaps.values()]
    text_of = np.concatenate([plain, np.repeat(np.array(list(gaps), np.int64), sizes)])
    begin, end = (np.concatenate([ends[plain], *gaps.values()]).astype(np.int64) for ends in (first, last))
    share = np.ones(len(first))
    if spread:
        share /= np.maximum(1, np.bincount(text_of, end - begin + 1, len(first)))
    # a run begins to count at its first code and ends after its last, so that sums over codes count it inside
    counts, signs = cells.counts, np.repeat([1.0, -1.0], len(text_of))
    steps = csr_array((signs, (np.r_[begin, end + 1], np.tile(text_of, 2))), shape=(size + 1, len(first)))
    texts = cells.texts[axis][counts.groups]
    held = csr_array((counts.amounts * share[texts], (texts, counts.values)), shape=(len(first), counts.width))
    result = np.cumsum((steps @ held).toarray(), axis=0)[:size]
    # runs that have ended may leave rounding errors behind
    return np.where(result < 1e-9, 0.0, result)
