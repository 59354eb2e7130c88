"""Builds a tree in pre-order from leaf-first rows, and finds every fault of a hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.table.texts import MISSING

ROOT = "*"
"""The default label of the root, which stands for the whole domain."""


def arrange(
    attribute: str, leaf_rows: Iterable[Sequence[str]]
) -> tuple[tuple[tuple[str, ...], ...], NDArray[np.int32]]:
    """Return the labels of each level and the ancestors of every leaf.

    Leaves are in pre-order; siblings are in order of first appearance.

    >>> labels, ancestors = arrange("x", [("a", "A"), ("c", "B"), ("b", "A")])
    >>> labels
    (('a', 'b', 'c'), ('A', 'B'), ('*',))
    >>> ancestors.tolist()
    [[0, 1, 2], [0, 0, 1], [0, 0, 0]]
    """
    rows: list[tuple[str, ...]] = [tuple(row) for row in leaf_rows]
    _check_cells(attribute, rows)
    width = len(rows[0])
    if width == 1 or len({row[-1] for row in rows}) > 1:
        rows = [(*row, ROOT) for row in rows]
        width += 1
    _check_leaves(attribute, rows)
    _check_parents(attribute, rows)

    # Sorting leaves by the first appearance of their ancestors, topmost first, yields the pre-order.
    keys = []
    for level in range(width):
        seen: dict[str, int] = {}
        keys.append([seen.setdefault(row[level], len(seen)) for row in rows])
    order = np.lexsort(keys)

    labels: list[tuple[str, ...]] = []
    ancestors = np.empty((width, len(rows)), dtype=np.int32)
    for level, key in enumerate(keys):
        ordered = np.asarray(key)[order]
        starts = np.concatenate(([True], ordered[1:] != ordered[:-1]))
        ancestors[level] = np.cumsum(starts) - 1
        labels.append(tuple(rows[row][level] for row in order[starts].tolist()))
    _check_extents(attribute, rows, labels, ancestors)
    return tuple(labels), ancestors


def _check_cells(attribute: str, rows: list[tuple[str, ...]]) -> None:
    if not rows or not rows[0]:
        raise DiscreetError(f"the hierarchy of {attribute!r} has no leaves; give one row per value, the value first")
    width = len(rows[0])
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            name = row[0] if row else ""
            raise DiscreetError(
                f"the hierarchy of {attribute!r} has levels of unequal depth: the leaf {name!r} (row {number}) has "
                f"{len(row)} levels where {rows[0][0]!r} has {width}; repeat a label to fill the gap"
            )
        for level, label in enumerate(row):
            if not label.strip():
                raise DiscreetError(
                    f"the hierarchy of {attribute!r} has an empty label at level {level} of the leaf {row[0]!r} "
                    f"(row {number}); name it, or repeat the label below"
                )
            if not label.isascii() and any("\ud800" <= character <= "\udfff" for character in label):
                raise DiscreetError(
                    f"the hierarchy of {attribute!r} has the label {label!r} (row {number}), which is not a text that "
                    "a file can hold; give it another"
                )
            if label == MISSING != row[0]:
                raise DiscreetError(
                    f"the hierarchy of {attribute!r} calls a node above the leaf {row[0]!r} (row {number}) "
                    f"'{MISSING}', which says in a release that a value is missing; give the node another label"
                )


def _check_leaves(attribute: str, rows: list[tuple[str, ...]]) -> None:
    seen: dict[str, int] = {}
    for number, row in enumerate(rows, start=1):
        before = seen.setdefault(row[0], number)
        if before != number:
            parent, other = rows[before - 1][1], row[1]
            parents = "" if parent == other else f", with two parents {parent!r} and {other!r}"
            raise DiscreetError(
                f"the hierarchy of {attribute!r} has the duplicate leaf {row[0]!r} (rows {before} and {number})"
                f"{parents}; keep one of them"
            )


def _check_parents(attribute: str, rows: list[tuple[str, ...]]) -> None:
    for level in range(1, len(rows[0]) - 1):
        parents: dict[str, str] = {}
        for row in rows:
            parent = parents.setdefault(row[level], row[level + 1])
            if parent != row[level + 1]:
                raise DiscreetError(
                    f"the hierarchy of {attribute!r} gives {row[level]!r} (level {level}) two parents, {parent!r} and "
                    f"{row[level + 1]!r}; keep one, or give the two nodes different labels"
                )


def _check_extents(
    attribute: str, rows: list[tuple[str, ...]], labels: list[tuple[str, ...]], ancestors: NDArray[np.int32]
) -> None:
    # A published label must determine the leaves it covers: nodes may share a label only if they cover the same leaves.
    extents: dict[str, tuple[int, int]] = {}
    for level, names in enumerate(labels):
        bounds = np.searchsorted(ancestors[level], np.arange(len(names) + 1)).tolist()
        for node, name in enumerate(names):
            extent = (bounds[node], bounds[node + 1])
            if extents.setdefault(name, extent) == extent:
                continue
            if _is_own_ancestor(name, rows):
                raise DiscreetError(
                    f"the hierarchy of {attribute!r} has a cycle: {name!r} is its own ancestor; "
                    "give the upper node another label"
                )
            raise DiscreetError(
                f"the hierarchy of {attribute!r} uses the label {name!r} for two different sets of leaves; "
                "give one of them another label"
            )


def _is_own_ancestor(name: str, rows: list[tuple[str, ...]]) -> bool:
    above: dict[str, set[str]] = {}
    for row in rows:
        for child, parent in pairwise(row):
            if child != parent or child == name:
                above.setdefault(child, set()).add(parent)
    reached, waiting = set(), [name]
    while waiting:
        for parent in above.get(waiting.pop(), ()):
            if parent not in reached:
                reached.add(parent)
                waiting.append(parent)
    return name in reached
