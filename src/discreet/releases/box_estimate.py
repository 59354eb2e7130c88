"""Estimate how many rows of a generalized release satisfy a query, from its descriptions.

Where the rows of a group lie in its box is unknown, so they are assumed to be spread evenly over it, as in Section 6.2
of "Publishing Microdata with a Robust Privacy Guarantee" (PVLDB 2012); or, where a release has marginals, as these say
(``releases.spread``). The estimate is the sum over groups of

    (rows of the group whose sensitive value and other columns satisfy their conditions)
    x (the share of the group's box that satisfies the conditions on quasi-identifiers),

and the share of a box is the product of its shares on the attributes, which without marginals are:

- an interval of numbers: if the manifest states the step of this attribute, the share of the numbers on the step; if it
  does not and all published ends are whole, the share of the whole numbers; otherwise the share of the length, in which
  a single number has share 0 (an interval that is one point is admitted or not);
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
from discreet.releases.labels import Regions
from discreet.releases.spread import Conditions, Extents, domain_and_ruler, extents_of, fitted, listed_values
from discreet.table.combinations import ranked_combinations
from discreet.table.date_numbers import written
from discreet.table.grouping import MOST_CELLS
from discreet.table.query import Query, marked, runs
from discreet.table.table import Column
from discreet.table.texts import number_text
from discreet.table.unnamed import OTHERS, UNNAMED

if TYPE_CHECKING:
    from discreet.releases.described import DescribedRelease

kernels = cast(Any, box_shares)

EVEN = {"even": "the rows of a group are spread evenly over its box, as in the paper"}
FITTED = {"fitted": "rows are spread over their boxes such that all boxes have the published counts of every column"}
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


def estimates(release: DescribedRelease, queries: Sequence[Query], evenly: bool) -> NDArray[np.float64]:
    """Estimate how many published rows satisfy each query, with rows spread over the boxes of their groups."""
    cells = release.cells
    axis_of = {attribute.name: axis for axis, attribute in enumerate(release.quasi)}
    shares_by = release.even_shares if evenly else release.fitted_shares
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
        values = listed_values(attribute)
        if attribute.kind != "categorical":
            return values
        named = [value for value in values.tolist() if not value.startswith(UNNAMED)]
        return np.array([*named, *([OTHERS] if len(named) < len(values) else [])], object)
    (bottom, top), ruler = domain_and_ruler(attribute, regions)
    if not ruler.scale:
        raise DiscreetError(
            f"column {attribute.name!r} holds numbers that are not whole, of which the release states no step but only "
            "intervals; ask for single counts with a range of it instead of grouping by it"
        )
    first, last = float(ruler.up(bottom)), float(ruler.down(top))
    if last - first >= MOST_CELLS:
        numbers = "whole number" if ruler.scale == 1 else f"multiple of {number_text(1 / ruler.scale)}"
        any_of = numbers if attribute.notation == "number" else "moment"
        lowest, highest = (written(end, attribute.notation) for end in (bottom, top))
        raise DiscreetError(
            f"column {attribute.name!r} may hold any {any_of} from {lowest} to {highest}, more than "
            f"{MOST_CELLS:,}; ask for single counts with a range of it instead of grouping by it"
        )
    return ruler.numbers(np.arange(first, last + 1))


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
    share, weights = np.ones(len(first)), np.ones(size)
    if spread:
        extents = extents_of(first, last, gaps)
        weights = _weights(release, axis, column, extents)
        within = extents.within(weights)
        share = np.divide(1.0, within, out=np.zeros(len(first)), where=within > 0.0)
    # a run begins to count at its first code and ends after its last, so that sums over codes count it inside
    counts, signs = cells.counts, np.repeat([1.0, -1.0], len(text_of))
    steps = csr_array((signs, (np.r_[begin, end + 1], np.tile(text_of, 2))), shape=(size + 1, len(first)))
    texts = cells.texts[axis][counts.groups]
    held = csr_array((counts.amounts * share[texts], (texts, counts.values)), shape=(len(first), counts.width))
    result = np.cumsum((steps @ held).toarray(), axis=0)[:size] * weights[:, None]
    # runs that have ended may leave rounding errors behind
    return np.where(result < 1e-9, 0.0, result)


def _weights(release: DescribedRelease, axis: int, column: Column, extents: Extents) -> NDArray[np.float64]:
    """How the rows in boxes lie in the values of a column: evenly, or as the counts of the whole column say."""
    counted, number = release.counted_rows(axis), len(column.values)
    if counted is None:
        return np.ones(number)
    cells = extents_of(*ranges(release.quasi[axis], counted.regions, column))
    return fitted(extents, counted.rows, cells.narrowest(number), counted.counts.astype(np.float64))
