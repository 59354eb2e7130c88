"""Rows drawn from a release: one value of every column, in place of descriptions and of counts per group.

What is drawn is a function of the files and of coins, so it tells nothing that the files do not tell. It is drawn from
the model by which counts are estimated (`Release.estimate`): over many draws, the mean count of the rows that satisfy a
query is the estimate. In particular

- the values of a group, or of the persons below a node, are dealt to its rows at random, each as often as published;
- a row under a description has a value of each quasi-identifier from it, independently of the others: as the counts of
  the whole column say (``releases.spread``), or evenly where there are none;
- a number in a cell of a floor is any number of the cell.

The values of rows under one text are spread over it as evenly as chance allows (``in_turn``). This changes no mean, and
makes counts of drawn rows vary less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.options import Interval, checked
from discreet.principles.counts import Counts
from discreet.randomness import generator
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn, coded_numbers, column_array
from discreet.releases.frames import single_values
from discreet.releases.labels import Regions
from discreet.releases.spread import (
    Counted,
    Extents,
    domain_and_ruler,
    fitted_line,
    known_shares,
    listed_extents,
    listed_values,
    weights_of_values,
)
from discreet.table.decimals import Ruler
from discreet.table.floors import cells_in
from discreet.table.texts import MISSING
from discreet.table.unnamed import is_unnamed

if TYPE_CHECKING:
    from discreet.releases.release import Release

Numbers = NDArray[np.float64]
Rows = Annotated[int, Interval(0, 2**31 - 1)]
"""How many rows can be drawn at a time."""


def drawn_rows(release: Release, n: int | None, random_state: int | None) -> pa.Table:
    """Draw whole releases, and of the last one as many rows as are still wanted."""
    wanted, seed = checked("n", n, Rows | None), checked("random_state", random_state, int | None)
    if release.faults:
        raise DiscreetError(f"no rows can be drawn from a release whose files are faulty: {release.faults[0]}")
    random, parts = generator(seed), list[pa.Table]()
    wanted = release.rows if wanted is None else wanted
    while wanted or not parts:
        whole = release.drawn_columns(random)
        typed = zip(release.attributes, whole, strict=True)
        part = pa.table({attribute.name: _typed(attribute, column, random) for attribute, column in typed})
        if wanted < part.num_rows:
            part = part.take(pa.array(np.sort(random.permutation(part.num_rows)[:wanted])))
        elif not part.num_rows:
            raise DiscreetError("no rows can be drawn from a release that publishes none; publish it again")
        parts.append(part)
        wanted -= part.num_rows
    return pa.concat_tables(parts).unify_dictionaries() if len(parts) > 1 else parts[0]


def _typed(attribute: Attribute, column: ExactColumn, random: np.random.Generator) -> Any:
    """Return a column of drawn values in the type that frames have for it; what has no name in the release is null."""
    cells = cells_in(column.notation)
    if cells is not None:
        places = column.values[column.codes]
        first, last = (cells.ruler.down(ends(places)) for ends in (cells.first, cells.last))
        numbers = cells.ruler.numbers(_between(first, last, cells.ruler, random.random(len(places))))
        column = ExactColumn(*coded_numbers(numbers), cells.base)
    held = column_array(column, numbers=True)
    named = np.array([not is_unnamed(str(value)) for value in column.values.tolist()], np.bool_)
    if not named.all():
        places = pa.array(np.cumsum(named, dtype=np.int32) - 1, mask=~named)
        held = pa.DictionaryArray.from_arrays(places.take(held.indices), held.dictionary.filter(pa.array(named)))
    return single_values(attribute, pa.chunked_array([held]), column.notation)


def in_turn(groups: NDArray[Any], random: np.random.Generator) -> Numbers:
    """Return a random number from 0 to 1 for each member of some groups, those of one group far from each other.

    Of a group of m members one number, at random, lies in each m-th part. Each is by itself uniform.

    >>> numbers = in_turn(np.array([0, 1, 0, 0]), np.random.default_rng(1))
    >>> sorted(np.floor(3 * numbers[[0, 2, 3]]).astype(int).tolist())
    [0, 1, 2]
    """
    sizes = np.bincount(groups)
    place = np.empty(len(groups), np.int64)
    place[_shuffled(groups, random)] = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    numbers = (place + random.random(len(groups))) / np.maximum(1, sizes)[groups]
    return np.asarray(np.minimum(numbers, np.nextafter(1.0, 0.0)))


def _shuffled(groups: NDArray[Any], random: np.random.Generator) -> NDArray[np.intp]:
    """Return members by their groups, in random order within each."""
    return np.lexsort((random.random(len(groups)), groups))


def dealt(counts: Counts, group_of: NDArray[Any], random: np.random.Generator) -> NDArray[np.int32]:
    """Return a value for each row of some groups, such that every group has each value as often as it is counted.

    >>> counts = Counts.of([[2, 1], [0, 1]], 2)
    >>> values = dealt(counts, np.array([0, 1, 0, 0]), np.random.default_rng(1))
    >>> int(values[1]), sorted(values[[0, 2, 3]].tolist())
    (1, [0, 0, 1])
    """
    values = np.empty(len(group_of), np.int32)
    values[_shuffled(group_of, random)] = np.repeat(counts.values, counts.amounts)
    return values


def picked(weights: Numbers, first: NDArray[np.int64], after: NDArray[np.int64], numbers: Numbers) -> NDArray[np.int64]:
    """Return for each row one of the places from ``first`` to before ``after``, with a chance in proportion to its
    weight, given a uniform number; -1 where there are none.

    >>> picked(np.array([1.0, 3.0, 0.0, 2.0]), np.array([0, 0, 2]), np.array([2, 2, 2]), np.array([0.2, 0.3, 0.5]))
    array([ 0,  1, -1])
    """
    upto = np.concatenate(([0.0], np.cumsum(weights)))
    wanted = upto[first] + numbers * (upto[after] - upto[first])
    at = np.searchsorted(upto, wanted, side="right") - 1
    return np.where(first < after, np.clip(at, first, after - 1), -1)


def described_values(
    attribute: Attribute,
    regions: Regions,
    texts: NDArray[Any],
    counted: Counted | None,
    random: np.random.Generator,
) -> ExactColumn:
    """Return a value of a quasi-identifier for each row, given the text that it is published under."""
    hidden = np.zeros(len(texts), np.bool_)  # of * some values are missing, if so many are counted
    if counted is not None:
        hidden = random.random(len(texts)) >= known_shares(regions, counted)[texts]
    if attribute.kind == "numeric" and attribute.hierarchy is None:
        numbers = _numbers(attribute, regions, texts, counted, random)
        return ExactColumn(*coded_numbers(np.where(hidden, np.nan, numbers)), attribute.notation)
    values, codes = _listed(attribute, regions, texts, counted, random)
    if attribute.kind != "categorical":  # of which a missing value is one of the listed
        codes = np.where(hidden | (codes < 0), len(values), codes)
        values = np.append(values, np.array([np.nan if attribute.kind == "numeric" else MISSING], values.dtype))
    return ExactColumn(values, codes.astype(np.int32))


def _between(low: Numbers, high: Numbers, ruler: Ruler, shares: Numbers) -> Numbers:
    """Return the places at shares of the way from one place to another, on a ruler with steps that of a step."""
    if not ruler.scale:
        return low + shares * (high - low)
    return np.minimum(low + np.floor(shares * (high - low + 1.0)), high)


def _numbers(
    attribute: Attribute,
    regions: Regions,
    texts: NDArray[Any],
    counted: Counted | None,
    random: np.random.Generator,
) -> Numbers:
    """Return numbers in the intervals of texts; NaN under a text that stands for missing ones."""
    shares, known = in_turn(texts, random), (regions.low <= regions.high)[texts]
    (bottom, top), ruler = domain_and_ruler(attribute, regions)
    low = ruler.up(np.where(regions.whole, bottom, regions.low))[texts]
    high = ruler.down(np.where(regions.whole, top, regions.high))[texts]
    low, high = np.where(known, low, 0.0), np.where(known, high, 0.0)
    numbers = ruler.numbers(_between(low, high, ruler, shares))
    if counted is not None:
        line, weights = fitted_line(attribute, regions, counted)
        low, high = (np.where(regions.low <= regions.high, ends, 0.0) for ends in (regions.low, regions.high))
        before = line.upto(low, inclusive=False).below(weights)
        within = line.upto(high).below(weights) - before
        upto = np.concatenate(([0.0], np.cumsum(weights)))
        wanted = before[texts] + shares * within[texts]
        at = np.clip(np.searchsorted(upto, wanted, side="right") - 1, 0, len(weights) - 1)
        part = np.clip((wanted - upto[at]) / np.where(weights[at] > 0.0, weights[at], 1.0), 0.0, 1.0)
        fitted = line.ruler.numbers(_between(line.low[at], line.high[at], line.ruler, part))
        fitted = np.clip(fitted, low[texts], high[texts])
        numbers = np.where(within[texts] > 0.0, fitted, numbers)
    return np.where(known, numbers, np.nan)


def _listed(
    attribute: Attribute,
    regions: Regions,
    texts: NDArray[Any],
    counted: Counted | None,
    random: np.random.Generator,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the listed values of a quasi-identifier, and for each row the place of one that its text admits; -1 if it
    admits only missing ones."""
    values, shares = listed_values(attribute), in_turn(texts, random)
    extents = listed_extents(attribute, regions, values)
    first, after, members = _runs(extents, len(values))
    weights = np.ones(len(values))
    if counted is not None:
        weights = weights_of_values(attribute, extents, counted, values)
    codes = picked(weights[members], first[texts], after[texts], shares)
    if counted is not None and not (fits := extents.within(weights)[texts] > 0.0).all():
        codes = np.where(fits, codes, picked(np.ones(len(members)), first[texts], after[texts], shares))
    return values, np.where(codes < 0, -1, np.append(members, -1)[codes])


def _runs(extents: Extents, values: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the values that texts admit as runs of one list: all values, then those of each set with gaps."""
    first, after = (ends.at + ends.share.astype(np.int64) for ends in (extents.begin, extents.end))
    ends = values + np.cumsum(extents.sets.sizes)
    first[extents.sets.texts], after[extents.sets.texts] = ends - extents.sets.sizes, ends
    return first, after, np.concatenate([np.arange(values), extents.sets.members])
