"""Marginals: how many rows of the whole table have which values of each quasi-identifier, beside boxes.

Why they break no promise about sensitive values: such a promise is judged for an adversary who knows everybody's
quasi-identifiers. Marginals follow from these alone, so they tell this adversary nothing.

Why k-anonymity stays: marginals do not depend on which row of a group has which quasi-identifiers. Take any table that
agrees with all that is published, and exchange the quasi-identifiers of two rows of a group: the other table agrees as
well. So whoever one row of a group may belong to, all its rows may, and there are at least k of them. Besides, every
count is of at least k rows.

They do tell who is in the table: somebody with a value that is counted alone is. So promises about presence are
refused.

The counts of a column are those of its *cells*. A value that enough rows have is counted alone. Other numbers are
counted in runs, which begin and end on a grid that has nothing to do with anybody's number; other categories and
ordered values together. Where descriptions end on a grid (``discreet.releases.grid``), a number is counted alone only
if all numbers of its cell are, so that it stays open which of them an interval ends at; the others are counted in runs
of cells. Where there is a hierarchy, its nodes are counted: a node
that has enough rows apart from those of its counted descendants is counted with these rows only. So every row is in one
cell, the narrowest that admits it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.releases.attributes import Attribute
from discreet.releases.folder import DAMAGED
from discreet.releases.grid import Grid, end_text, ranked_numbers
from discreet.releases.labels import ANYTHING, Nodes, Regions, interval, parse, quoted
from discreet.table.date_numbers import written
from discreet.table.decimals import Ruler
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column
from discreet.table.texts import MISSING

MARGINALS = "marginals"
"""The name of the table, and of the entry of the manifest that says how many rows a cell has at least."""
COLUMNS = ("attribute", "value", "count")
MOST = 1_000
"""About how many values and runs of numbers a column has at most."""
ASSUMED = (
    "For each quasi-identifier it is counted how many rows of the original have which values; a count of a label, or "
    "of *, leaves out the rows that are counted under narrower ones. These counts follow from the quasi-identifiers "
    "alone and tell nothing else. They may tell that somebody is in the table."
)
"""The assumption stated beside those of the format."""


@dataclass(frozen=True, eq=False)
class Marginals:
    """The cells of each quasi-identifier, in the order of the release, and how many rows each has."""

    cells: tuple[tuple[str, ...], ...]
    """Per quasi-identifier the texts of its cells, as descriptions write them; none if a single cell has all rows."""
    counts: tuple[NDArray[np.int64], ...]
    least: int
    """How many rows a cell has at least."""
    misfit: float | None = None
    """How far counts of several quasi-identifiers are off, where that is published (`releases.box_uncertainty`)."""

    @classmethod
    def of(cls, columns: Sequence[Column], attributes: Sequence[Attribute], least: int) -> Marginals:
        """Count the rows of quasi-identifiers, in canonical order.

        >>> column = Column("age", "numeric", np.array([0, 0, 0, 1, 1, 2, 3, 3], np.int32), np.array([17, 20, 31, 99]))
        >>> marginals = Marginals.of([column], [Attribute("age", "quasi", "numeric", (17.0, 99.0))], least=2)
        >>> marginals.cells, [counts.tolist() for counts in marginals.counts]
        ((('17', '20', '[17, 99]'),), [[3, 2, 3]])
        """
        counted = [_counted(*both, least) for both in zip(columns, attributes, strict=True)]
        cells, counts = zip(*(each if len(each[0]) > 1 else _NOTHING for each in counted), strict=True)
        return cls(cells, counts, least).in_order()

    def in_order(self) -> Marginals:
        """Return them with the cells of each quasi-identifier sorted by their texts."""
        orders = [sorted(range(len(texts)), key=texts.__getitem__) for texts in self.cells]
        cells = tuple(tuple(texts[at] for at in order) for texts, order in zip(self.cells, orders, strict=True))
        counts = tuple(numbers[order] for numbers, order in zip(self.counts, orders, strict=True))
        return replace(self, cells=cells, counts=counts)

    def table(self, attributes: Sequence[Attribute]) -> pa.Table:
        """Return the table that is published."""
        names = [each.name for each, texts in zip(attributes, self.cells, strict=True) for _ in texts]
        texts = [text for each in self.cells for text in each]
        counts = np.concatenate([np.zeros(0, np.int64), *self.counts])
        columns = [pa.array(names, pa.string()), pa.array(texts, pa.string()), pa.array(counts)]
        return pa.table(columns, names=list(COLUMNS))

    @property
    def entry(self) -> dict[str, Any]:
        """What the manifest says about them."""
        return {"least": self.least} | ({} if self.misfit is None else {"misfit": self.misfit})

    @classmethod
    def load(
        cls, attributes: Sequence[Attribute], lines: Sequence[Sequence[Any]], entry: Any, faults: list[str]
    ) -> Marginals:
        """Return the marginals in the lines of a file, given what the manifest says; what cannot be is a fault."""
        entry = entry if isinstance(entry, dict) else {}
        least, misfit = entry.get("least"), entry.get("misfit")
        if type(least) is not int or least < 1:
            raise DiscreetError(
                f"the manifest does not say how many rows a count of {MARGINALS} has at least; {DAMAGED}"
            )
        if misfit is not None and not (type(misfit) in (int, float) and 0 <= misfit < math.inf):
            raise DiscreetError(f"the misfit of {MARGINALS} in the manifest is not a number; {DAMAGED}")
        found: dict[str, tuple[list[str], list[int]]] = {attribute.name: ([], []) for attribute in attributes}
        for name, text, count in zip(*lines, strict=True):
            if name not in found:
                raise DiscreetError(
                    f"the table of {MARGINALS} counts {name!r}, which is no quasi-identifier; {DAMAGED}"
                )
            found[name][0].append(text)
            found[name][1].append(int(count))
        for attribute in attributes:
            texts, counts = found[attribute.name]
            parse(attribute, texts)
            if texts and (len(set(texts)) < len(texts) or min(counts) < least):
                faults.append(
                    f"The counts of {attribute.name!r} in {MARGINALS} must be of different values, and of at least "
                    f"{least:,} rows each."
                )
        cells = tuple(tuple(found[attribute.name][0]) for attribute in attributes)
        numbers = tuple(np.array(found[each.name][1], np.int64) for each in attributes)
        return cls(cells, numbers, least, misfit)

    def regions(self, axis: int, attribute: Attribute) -> Regions:
        """Return which values each cell of a quasi-identifier admits."""
        return parse(attribute, self.cells[axis])

    def as_dict(self, attributes: Sequence[Attribute]) -> dict[tuple[str, str], int]:
        """Return the count of each cell, by the name of its attribute and its text."""
        return {
            (attribute.name, text): count
            for attribute, texts, counts in zip(attributes, self.cells, self.counts, strict=True)
            for text, count in zip(texts, counts.tolist(), strict=True)
        }


_NOTHING: tuple[tuple[str, ...], NDArray[np.int64]] = ((), np.zeros(0, np.int64))


def _counted(column: Column, attribute: Attribute, least: int) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the cells of a column and their counts; nothing if missing values are too few to be counted."""
    least = max(least, -(-len(column.codes) // MOST))
    rows = np.bincount(column.codes, minlength=len(column.values))
    tree = attribute.hierarchy or (column.hierarchy if attribute.recipe is not None else None)
    if tree is not None:
        found = list(_nodes(tree, _by_leaf(tree, column, rows), least))
    elif attribute.kind != "numeric" and attribute.unit is None:
        words = [MISSING if code == column.missing else quoted(text) for code, text in enumerate(column.texts)]
        frequent, rest = _frequent(rows, least)
        found = [(words[code], int(rows[code])) for code in frequent] + ([(ANYTHING, rest)] if rest else [])
    else:
        missing = 0 if column.missing is None else int(rows[column.missing])
        few = 0 < missing < least or len(column.codes) - missing < least
        if few or (attribute.kind == "numeric" and attribute.domain is None):
            return _NOTHING
        known = np.flatnonzero(rows)
        known = known[known != (-1 if column.missing is None else column.missing)]
        found = [(MISSING, missing)] if missing else []
        count = _numbers if attribute.unit is None else _on_grid
        found += count(ranked_numbers(attribute, column)[known], rows[known], least, attribute)
    return tuple(text for text, _ in found), np.array([count for _, count in found], np.int64)


def _by_leaf(tree: Hierarchy, column: Column, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of each leaf of a hierarchy, which may write numbers in another way than the column."""
    if tree is column.hierarchy:
        return rows
    ranks = np.array([tree.find(text) for text in column.texts], np.int64)
    known = ranks >= 0
    return np.bincount(ranks[known], rows[known], len(tree.leaves)).astype(np.int64)


def _frequent(rows: NDArray[np.int64], least: int) -> tuple[list[int], int]:
    """Return which values have enough rows to be counted alone, and the rows of all others: none, or enough as well.

    >>> _frequent(np.array([5, 1, 4, 1]), 3)
    ([0], 6)
    """
    frequent = np.flatnonzero(rows >= least).tolist()
    frequent.sort(key=lambda code: (-int(rows[code]), code))
    rest = int(rows.sum() - rows[frequent].sum())
    while frequent and 0 < rest < least:
        rest += int(rows[frequent.pop()])
    return sorted(frequent), rest


def _numbers(
    values: NDArray[np.float64], rows: NDArray[np.int64], least: int, attribute: Attribute
) -> list[tuple[str, int]]:
    """Return the cells of numbers: frequent ones alone, and the others in runs that begin and end on a grid."""
    assert attribute.domain is not None
    frequent, rest = _frequent(rows, least)
    found = [(written(values[at], attribute.notation), int(rows[at])) for at in frequent]
    if not rest:
        return found
    bottom, top = attribute.domain
    whole = bool(np.all(np.floor(values) == values)) and bottom == np.floor(bottom) and top == np.floor(top)
    ruler = Ruler.of(attribute.spacing or (1.0 if whole else None))
    first, last = ruler.down(bottom), ruler.down(top)
    step = grid_step(float(last - first), ruler.scale > 0)
    others = np.setdiff1d(np.arange(len(values)), frequent)
    after, counts = _closed(np.floor(ruler.down(values[others]) / step), rows[others], least)
    ends = after * step
    lows, highs = ruler.numbers(np.r_[first, ends]), ruler.numbers(np.r_[ends - ruler.gap, last])
    for low, high, count in zip(lows.tolist(), highs.tolist(), counts, strict=True):
        found.append((interval(*(written(end, attribute.notation) for end in (low, high))), count))
    return found


def _on_grid(
    values: NDArray[np.float64], rows: NDArray[np.int64], least: int, attribute: Attribute
) -> list[tuple[str, int]]:
    """Return the cells of numbers, or of places of ordered values, which fill the domain: each number by itself where
    all numbers of a narrowest cell of their grid have enough rows, and otherwise runs of cells."""
    grid = Grid.of(attribute)
    cell_of, step = grid.cells(values, MOST)
    number = max(grid.size // step, 1)
    frequent = np.bincount(cell_of, rows >= least, number).astype(np.int64)
    numbers = np.diff([*(np.arange(number) * step).tolist(), grid.size])
    apart = _filled(frequent == numbers, np.bincount(cell_of, rows, number).astype(np.int64), least)
    alone = apart[cell_of]
    found = [(end_text(attribute, value), int(count)) for value, count in zip(values[alone], rows[alone], strict=True)]
    for first, last in _stretches(~apart):
        inside = (cell_of >= first) & (cell_of <= last)
        after, counts = _closed(cell_of[inside], rows[inside], least)
        end = grid.size if last == number - 1 else (last + 1) * step
        places = np.array([first * step, *(after * step).tolist(), end], np.int64)
        lows, highs = grid.numbers(places[:-1]).tolist(), grid.numbers(places[1:] - 1).tolist()
        for low, high, count in zip(lows, highs, counts, strict=True):
            found.append((interval(end_text(attribute, low), end_text(attribute, high)), count))
    return found


def _filled(apart: NDArray[np.bool_], rows: NDArray[np.int64], least: int) -> NDArray[np.bool_]:
    """Return which cells stay apart, if whatever lies between them is to have enough rows: too few, or none, join the
    next cell, or the one before if there is none.

    >>> _filled(np.array([True, True, False, True, False]), np.array([9, 9, 1, 9, 5]), 3).tolist()
    [True, True, False, False, False]
    """
    apart = apart.copy()
    while True:
        short = [ends for ends in _stretches(~apart) if rows[ends[0] : ends[1] + 1].sum() < least]
        if not short or not apart.any():
            return apart
        for first, last in short:
            apart[last + 1 if last + 1 < len(apart) else first - 1] = False


def _stretches(marked: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first and the last place of each stretch of marked places.

    >>> _stretches(np.array([True, False, True, True]))
    [(0, 0), (2, 3)]
    """
    edges = np.flatnonzero(np.diff(marked, prepend=False, append=False))
    return list(zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True))


def _closed(square_of: NDArray[Any], rows: NDArray[np.int64], least: int) -> tuple[NDArray[Any], list[int]]:
    """Return the square after each run of squares that is closed, and how many rows each run has, the last included.

    >>> _closed(np.array([0, 0, 4, 9]), np.array([1, 2, 3, 1]), 3)
    (array([1]), [3, 4])
    """
    squares, place_of = np.unique(square_of, return_inverse=True)
    held = np.bincount(place_of, rows).astype(np.int64)
    runs = _runs(held, least)
    return squares[:-1][np.diff(runs) > 0] + 1, np.bincount(runs, held).astype(np.int64).tolist()


def grid_step(width: float, whole: bool) -> float:
    """Return the distance of the points of the grid for numbers over a width: the smallest 3 x 2^i, or 1 for whole
    numbers and for places on a ruler, with which they are at most a thousand.

    >>> grid_step(60.0, True), grid_step(400_000.0, True), grid_step(1.5, False) == 3 * 2.0**-10
    (1.0, 768.0, True)
    """
    wanted = width / MOST
    if (whole and wanted <= 1.0) or width == 0.0:
        return 1.0
    step = 3.0 * 2.0 ** (0 if whole else int(np.floor(np.log2(wanted / 3.0))) - 1)
    while step < wanted:
        step *= 2.0
    return step


def _runs(rows: NDArray[np.int64], least: int) -> NDArray[np.int32]:
    """Return the run of each of some values, in their order; every run has enough rows, if all together have.

    >>> _runs(np.array([3, 1, 1, 4, 1]), 3).tolist()
    [0, 1, 1, 1, 1]
    """
    upto = np.cumsum(rows)
    starts, done = [0], 0
    while True:
        after = int(np.searchsorted(upto, done + least)) + 1
        if after >= len(rows) or upto[-1] - upto[after - 1] < least:
            break
        starts.append(after)
        done = int(upto[after - 1])
    return (np.searchsorted(starts, np.arange(len(rows)), side="right") - 1).astype(np.int32)


def _nodes(tree: Hierarchy, rows: NDArray[np.int64], least: int) -> Iterator[tuple[str, int]]:
    """Yield the nodes that are counted, as published, each with its rows that no narrower one has.

    A node lists those of its children that have enough rows, and keeps the rows of the others. If these are too few, it
    keeps those of its smallest children as well.
    """
    nodes = Nodes(tree)
    upto = np.concatenate(([0], np.cumsum(rows)))

    def had(level: int, node: int) -> int:
        first, last = (ends[node] for ends in nodes.spans[level])
        return int(upto[last + 1] - upto[first])

    waiting = [(tree.height, 0)]
    while waiting:
        level, node = waiting.pop()
        first, last = (ends[node] for ends in nodes.spans[level])
        if level == 0 or first == last:
            yield nodes.text(level, node), had(level, node)
            continue
        children = np.unique(tree.ancestors[level - 1, first : last + 1]).tolist()
        apart = sorted(
            (child for child in children if had(level - 1, child) >= least),
            key=lambda child: (had(level - 1, child), child),
        )
        left = had(level, node) - sum(had(level - 1, child) for child in apart)
        while apart and 0 < left < least:
            left += had(level - 1, apart.pop(0))
        if left:
            yield nodes.text(level, node), left
        waiting += [(level - 1, child) for child in apart]
