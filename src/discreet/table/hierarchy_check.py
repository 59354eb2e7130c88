"""Checks the file of a hierarchy, alone or beside the column that it is for, and outlines its tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.table.hierarchy import Hierarchy
from discreet.table.hierarchy_faults import Fault, all_faults
from discreet.table.hierarchy_sources import csv_lines, header_faults, recipe_of, source_rows
from discreet.table.raw_column import RawColumn
from discreet.table.texts import MISSING, canonical

SHOWN = 5
"""How many values or levels a remark names."""


class Node(NamedTuple):
    """A line of the outline of a tree."""

    label: str
    depth: int
    """How many other nodes are above it."""
    leaves: int
    """How many leaves it covers."""
    rows: int | None
    """In how many rows of the column they stand; None without a column."""
    leaf: bool


@dataclass(frozen=True, eq=False)
class Examined:
    """What is wrong with a hierarchy, what is odd about it, and its tree."""

    faults: tuple[Fault, ...]
    """Why it cannot be used; of each sort there may be many."""
    remarks: tuple[str, ...]
    """What does not hinder its use, but may not be meant."""
    tree: Hierarchy | None
    """None if there are faults in the file itself, or if it is a recipe and there is no column."""
    nodes: tuple[Node, ...]
    """The outline of the tree, from the root on."""

    @property
    def usable(self) -> bool:
        """Whether a table can be published with it."""
        return not self.faults


def examine(attribute: str, path: Path, column: RawColumn | None = None) -> Examined:
    """Find every fault of the file of a hierarchy; beside a column, also the values that it lacks."""
    values = None if column is None else [text for text in column.texts if text != MISSING]
    if recipe_of(attribute, path) is not None:
        return _examine_recipe(attribute, path, column, values)
    faults, remarks, header = list[Fault](), list[str](), 0
    if path.suffix.lower() == ".toml":
        rows = source_rows(attribute, path, None)
    else:
        rows = csv_lines(attribute, path)
        faults += header_faults(attribute, path, rows, values or ())
        if not faults and values is None and list(header_faults(attribute, path, rows, [row[0] for row in rows[1:]])):
            remarks.append(
                f"the first line, which begins with {rows[0][0]!r}, may be a header: none of its labels stands "
                "elsewhere; delete it if it is one"
            )
    header = len(faults)
    rows = rows[header:]
    faults += all_faults(attribute, rows, 1 + header)
    tree = None if faults else Hierarchy.from_rows(attribute, rows)
    if column is not None:
        faults += _lacking(column, rows)
    if tree is None:
        return Examined(tuple(faults), tuple(remarks), None, ())
    remarks += _equal_levels(tree)
    remarks += [] if column is None else _unused(tree, column)
    return Examined(tuple(faults), tuple(remarks), tree, tuple(outline(tree, column)))


def _examine_recipe(attribute: str, path: Path, column: RawColumn | None, values: list[str] | None) -> Examined:
    """Examine a recipe; without a column only its options."""
    if values is None or column is None:
        source_rows(attribute, path, ["0"])
        remark = "a recipe has a tree only beside the values of a column; name a table and its column to have it drawn"
        return Examined((), (remark,), None, ())
    if not values:
        raise DiscreetError(f"column {attribute!r} holds no value that the recipe could be applied to")
    tree = Hierarchy.of(attribute, path, values)
    return Examined((), tuple(_equal_levels(tree)), tree, tuple(outline(tree, column)))


def _lacking(column: RawColumn, rows: Sequence[tuple[str, ...]]) -> Iterator[Fault]:
    """Yield the values of a column that are no leaves, in the order of the rows."""
    leaves = {row[0] for row in rows if row}
    spelled = {canonical(leaf) for leaf in leaves}
    labels = {label for row in rows for label in row[1:]}
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.texts))
    first = _first_rows(column)
    for code in np.argsort(first, kind="stable").tolist():
        text = column.texts[code]
        if text == MISSING or text in leaves or canonical(text) in spelled:
            continue
        others = "" if counts[code] < 2 else f" and {counts[code] - 1:,} more"
        what = "a label of its hierarchy and not one of its leaves" if text in labels else "not a leaf of its hierarchy"
        yield Fault(
            "missing leaf",
            f"column {column.name!r} holds {text!r} in row {first[code] + 1}{others}, which is {what}; add it to the "
            "hierarchy, or correct the value",
            text,
        )


def _first_rows(column: RawColumn) -> NDArray[np.int64]:
    """Return the first row of each distinct value."""
    first = np.zeros(len(column.texts), np.int64)
    rows = np.flatnonzero(column.codes >= 0)[::-1]
    first[column.codes[rows]] = rows  # of several, the last to be assigned stays
    return first


def _equal_levels(tree: Hierarchy) -> Iterator[str]:
    """Remark on levels between leaves and root that group the values exactly as the level below."""
    sizes = [len(labels) for labels in tree.labels]
    equal = [level for level in range(1, tree.height) if sizes[level] == sizes[level - 1]]
    if len(equal) == 1:
        below = "the leaves" if equal == [1] else f"level {equal[0] - 1}"
        yield f"level {equal[0]} groups exactly as {below}; leave it out, unless its labels are to be published"
    elif equal:
        yield (
            f"levels {_named(map(str, equal), len(equal))} group exactly as the level below them; leave them out, "
            "unless their labels are to be published"
        )


def _named(texts: Iterable[str], number: int) -> str:
    """List the first of some texts, and say how many more there are."""
    return ", ".join(islice(texts, SHOWN)) + (f" and {number - SHOWN:,} more" if number > SHOWN else "")


def _unused(tree: Hierarchy, column: RawColumn) -> Iterator[str]:
    """Remark on leaves that the column does not hold, which a release lists all the same."""
    held = {tree.find(text) for text in column.texts}
    unused = [leaf for rank, leaf in enumerate(tree.leaves) if rank not in held and leaf != MISSING]
    if unused:
        named = _named(map(repr, unused), len(unused))
        are = "leaf does" if len(unused) == 1 else "leaves do"
        yield (
            f"{len(unused):,} {are} not stand in column {column.name!r}: {named}; a release lists every leaf as a "
            "value that could occur, so correct what is misspelt and keep the others"
        )


def outline(tree: Hierarchy, column: RawColumn | None = None) -> Iterator[Node]:
    """Yield the nodes of a tree from the root on; a label that is repeated to fill a gap is one node.

    >>> tree = Hierarchy.from_rows("city", [("Lyon", "FR"), ("Nice", "FR"), ("Bonn", "Bonn")])
    >>> [(node.label, node.depth, node.leaves) for node in outline(tree)]
    [('*', 0, 3), ('FR', 1, 2), ('Lyon', 2, 1), ('Nice', 2, 1), ('Bonn', 1, 1)]
    """
    counts = None if column is None else _rows_of_leaves(tree, column)
    top = tree.height
    sizes = [tree.node_sizes(level).tolist() for level in range(top + 1)]
    rows = [
        None if counts is None else np.bincount(line, counts, len(labels)).astype(np.int64).tolist()
        for line, labels in zip(tree.ancestors, tree.labels, strict=True)
    ]
    before = [-1] * (top + 1)
    for line in tree.ancestors.T.tolist():
        depth, above = 0, None
        for level in range(top, -1, -1):
            node = line[level]
            label = tree.labels[level][node]
            if label == above:
                continue
            if node != before[level]:
                before[level] = node
                number = rows[level]
                leaf = label == tree.labels[0][line[0]] and sizes[level][node] == 1
                yield Node(label, depth, sizes[level][node], None if number is None else number[node], leaf)
            depth, above = depth + 1, label


def _rows_of_leaves(tree: Hierarchy, column: RawColumn) -> NDArray[np.float64]:
    """Return in how many rows each leaf stands; missing values count for their leaf, if there is one."""
    ranks = np.array([*(tree.find(text) for text in column.texts), tree.find(MISSING)], np.int64)[column.codes]
    return np.bincount(ranks[ranks >= 0], minlength=len(tree.leaves)).astype(np.float64)
