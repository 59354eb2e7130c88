"""Marginals: how many rows of the whole table have which values of each quasi-identifier, beside boxes.

Why they break no promise about sensitive values: such a promise is judged for an adversary who knows everybody's
quasi-identifiers. Marginals follow from these alone, so they tell this adversary nothing.

Why k-anonymity stays: marginals do not depend on which row of a group has which quasi-identifiers. Take any table that
agrees with all that is published, and exchange the quasi-identifiers of two rows of a group: the other table agrees as
well. So whoever one row of a group may belong to, all its rows may, and there are at least k of them. Besides, every
count is of at least k rows.

They do tell who is in the table: somebody with a value that is counted alone is. So promises about presence are
refused.

The counts of a column are those of its *cells*. Values that lie in an order are merged with their neighbours until each
cell has enough rows; categories, and values that are published by labels, are counted by the nodes of their hierarchy:
a node that has enough rows apart from those of its counted descendants is counted with these rows only. So every row is
in one cell, the narrowest that admits it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.releases.attributes import Attribute
from discreet.releases.descriptions import Texts
from discreet.releases.folder import DAMAGED
from discreet.releases.generalization import generalize
from discreet.releases.labels import Nodes, Regions, parse
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column

MARGINALS = "marginals"
"""The name of the table, and of the entry of the manifest that says how many rows a cell has at least."""
COLUMNS = ("attribute", "value", "count")
MOST = 1_000
"""About how many cells a column has at most; with more, what is published would be nearly the column itself."""
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

    @classmethod
    def of(cls, columns: Sequence[Column], attributes: Sequence[Attribute], least: int) -> Marginals:
        """Count the rows of quasi-identifiers, in canonical order.

        >>> column = Column("age", "numeric", np.arange(8, dtype=np.int32) // 2, np.array([17, 20, 31, 99]))
        >>> marginals = Marginals.of([column], [Attribute("age", "quasi", "numeric")], least=3)
        >>> marginals.cells, [counts.tolist() for counts in marginals.counts]
        ((('[17, 20]', '[31, 99]'),), [[4, 4]])
        """
        counted = [_counted(*both, least) for both in zip(columns, attributes, strict=True)]
        cells, counts = zip(*(each if len(each[0]) > 1 else _NOTHING for each in counted), strict=True)
        return cls(cells, counts, least).in_order()

    def in_order(self) -> Marginals:
        """Return them with the cells of each quasi-identifier sorted by their texts."""
        orders = [sorted(range(len(texts)), key=texts.__getitem__) for texts in self.cells]
        cells = tuple(tuple(texts[at] for at in order) for texts, order in zip(self.cells, orders, strict=True))
        counts = tuple(numbers[order] for numbers, order in zip(self.counts, orders, strict=True))
        return Marginals(cells, counts, self.least)

    def table(self, attributes: Sequence[Attribute]) -> pa.Table:
        """Return the table that is published."""
        names = [each.name for each, texts in zip(attributes, self.cells, strict=True) for _ in texts]
        texts = [text for each in self.cells for text in each]
        counts = np.concatenate([np.zeros(0, np.int64), *self.counts])
        columns = [pa.array(names, pa.string()), pa.array(texts, pa.string()), pa.array(counts)]
        return pa.table(columns, names=list(COLUMNS))

    @classmethod
    def load(
        cls, attributes: Sequence[Attribute], lines: Sequence[Sequence[Any]], least: Any, faults: list[str]
    ) -> Marginals:
        """Return the marginals in the lines of a file; what cannot be is a fault."""
        if type(least) is not int or least < 1:
            raise DiscreetError(
                f"the manifest does not say how many rows a count of {MARGINALS} has at least; {DAMAGED}"
            )
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
        return cls(cells, tuple(np.array(found[each.name][1], np.int64) for each in attributes), least)

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
    by_label = attribute.hierarchy is not None or attribute.recipe is not None
    if by_label and column.hierarchy is not None:
        found = list(_nodes(column.hierarchy, rows, least))
        return tuple(text for text, _ in found), np.array([count for _, count in found], np.int64)
    missing = 0 if column.missing is None else int(rows[column.missing])
    if 0 < missing < least:
        return _NOTHING
    apart = np.full(len(rows), -1, np.int32)
    occurring = np.flatnonzero(rows)
    if column.missing is not None:
        occurring = occurring[occurring != column.missing]
    apart[occurring] = _runs(rows[occurring], least)
    if missing:
        apart[column.missing] = apart.max() + 1
    cells = int(apart.max(initial=-1)) + 1
    texts: Texts = generalize(column, apart[column.codes], cells, "interval")
    counts = np.bincount(apart[column.codes], minlength=cells).astype(np.int64)
    return tuple(texts.texts[at] for at in texts.of_cell.tolist()), counts


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


def stated_least(manifest: Mapping[str, Any]) -> int | None:
    """Return how many rows each count has at least, by a manifest; None if the release has no marginals."""
    entry = manifest.get(MARGINALS)
    return None if entry is None else entry.get("least", 0) if isinstance(entry, dict) else 0
