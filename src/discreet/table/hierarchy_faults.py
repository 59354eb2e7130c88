"""What makes the rows of a hierarchy unusable: each fault in a sentence, of which the first or all are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.table.texts import MISSING, ROOT
from discreet.table.unnamed import MEANT_BY_OTHERS, OTHERS, UNNAMED

Rows = Sequence[tuple[str, ...]]
"""One row per leaf: the leaf first, then its ancestor at each level."""


class Fault(NamedTuple):
    """A fault of a hierarchy."""

    sort: str
    """What is wrong, which several faults may share."""
    sentence: str
    label: str = ""
    """The leaf or label that it is about, if it is about one."""


def refuse(faults: Iterable[Fault]) -> None:
    """Raise an error about the first fault, if there is one."""
    for fault in faults:
        raise DiscreetError(fault.sentence)


def all_faults(attribute: str, rows: Rows, start: int = 1) -> list[Fault]:
    """Return every fault of the rows of a hierarchy, which are counted from ``start``.

    >>> rows = [("Lyon", "FR"), ("Nice", ""), ("Lyon", "DE"), ("Bonn",)]
    >>> [fault.sort for fault in all_faults("city", rows)]
    ['blank label', 'unequal depth', 'duplicate leaf']
    """
    found = list(cell_faults(attribute, rows, False, start))
    width = usual_width(rows)
    sound = {number: row for number, row in enumerate(rows, start) if len(row) == width and all(map(str.strip, row))}
    if sound:
        whole = rooted(list(sound.values()))
        found += leaf_faults(attribute, whole, list(sound))
        found += parent_faults(attribute, whole)
        found += extent_faults(attribute, whole, *levels(whole), {fault.label for fault in found})
    return found


def usual_width(rows: Rows) -> int:
    """Return the number of cells that most rows have.

    >>> usual_width([("Lyon",), ("Nice", "FR"), ("Bonn", "DE")])
    2
    """
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0


def rooted(rows: Rows) -> list[tuple[str, ...]]:
    """Return the rows with the root ``*`` above them, unless all end in one label.

    >>> rooted([("Lyon", "FR"), ("Bonn", "DE")])
    [('Lyon', 'FR', '*'), ('Bonn', 'DE', '*')]
    """
    if len(rows[0]) == 1 or len({row[-1] for row in rows}) > 1:
        return [(*row, ROOT) for row in rows]
    return list(rows)


def levels(rows: Rows) -> tuple[tuple[tuple[str, ...], ...], NDArray[np.int32]]:
    """Return the labels of every level, in pre-order, and the ancestor of every leaf at every level."""
    # Sorting leaves by the first appearance of their ancestors, topmost first, yields the pre-order.
    width, keys = len(rows[0]), []
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
    return tuple(labels), ancestors


def cell_faults(attribute: str, rows: Rows, unnamed: bool, start: int = 1) -> Iterator[Fault]:
    """Yield rows of another length than most, and labels that cannot be; leaves may be ``unnamed``."""
    if not rows or not rows[0]:
        sentence = f"the hierarchy of {attribute!r} has no leaves; give one row per value, the value first"
        yield Fault("no leaves", sentence)
        return
    width = usual_width(rows)
    usual = next(row for row in rows if len(row) == width)
    for number, row in enumerate(rows, start):
        if len(row) != width:
            name = row[0] if row else ""
            yield Fault(
                "unequal depth",
                f"the hierarchy of {attribute!r} has levels of unequal depth: the leaf {name!r} (row {number}) has "
                f"{len(row)} levels where {usual[0]!r} has {width}; repeat a label to fill the gap",
                name,
            )
        for level, label in enumerate(row):
            if not label.strip():
                yield Fault(
                    "blank label",
                    f"the hierarchy of {attribute!r} has an empty label at level {level} of the leaf {row[0]!r} "
                    f"(row {number}); name it, or repeat the label below",
                )
            nul = "\0" in label and not (unnamed and label.startswith(UNNAMED))
            if nul or (not label.isascii() and any("\ud800" <= sign <= "\udfff" for sign in label)):
                yield Fault(
                    "unreadable label",
                    f"the hierarchy of {attribute!r} has the label {label!r} (row {number}), which is not a text that "
                    "a file can hold; give it another",
                    label,
                )
            if label == OTHERS:
                yield Fault(
                    "reserved label",
                    f"the hierarchy of {attribute!r} has the label '{OTHERS}' (row {number}), which stands for "
                    f"{MEANT_BY_OTHERS}; rename it in the hierarchy and in the data",
                    label,
                )
            if label == MISSING != row[0]:
                yield Fault(
                    "reserved label",
                    f"the hierarchy of {attribute!r} calls a node above the leaf {row[0]!r} (row {number}) "
                    f"'{MISSING}', which says in a release that a value is missing; give the node another label",
                    label,
                )


def leaf_faults(attribute: str, rows: Rows, numbers: Sequence[int] | None = None) -> Iterator[Fault]:
    """Yield the leaves that stand in two rows; ``numbers`` are those of the rows if some were left out."""
    seen: dict[str, int] = {}
    for at, row in enumerate(rows):
        before = seen.setdefault(row[0], at)
        if before != at:
            parent, other = rows[before][1], row[1]
            parents = "" if parent == other else f", with two parents {parent!r} and {other!r}"
            first, second = (place + 1 if numbers is None else numbers[place] for place in (before, at))
            yield Fault(
                "duplicate leaf",
                f"the hierarchy of {attribute!r} has the duplicate leaf {row[0]!r} (rows {first} and {second})"
                f"{parents}; keep one of them",
                row[0],
            )


def parent_faults(attribute: str, rows: Rows) -> Iterator[Fault]:
    """Yield the nodes above the leaves that have two parents, each once."""
    for level in range(1, len(rows[0]) - 1):
        parents: dict[str, str | None] = {}
        for row in rows:
            parent = parents.setdefault(row[level], row[level + 1])
            if parent is not None and parent != row[level + 1]:
                parents[row[level]] = None
                yield Fault(
                    "two parents",
                    f"the hierarchy of {attribute!r} gives {row[level]!r} (level {level}) two parents, {parent!r} and "
                    f"{row[level + 1]!r}; keep one, or give the two nodes different labels",
                    row[level],
                )


def extent_faults(
    attribute: str,
    rows: Rows,
    labels: Sequence[tuple[str, ...]],
    ancestors: NDArray[np.int32],
    known: Collection[str] = (),
) -> Iterator[Fault]:
    """Yield the labels that two nodes have, each once, but those with a ``known`` fault.

    A published label must determine the leaves it covers: nodes may share a label only if they cover the same leaves.
    """
    extents: dict[str, tuple[int, int]] = {}
    told = set(known)
    for level, names in enumerate(labels):
        bounds = np.searchsorted(ancestors[level], np.arange(len(names) + 1)).tolist()
        for node, name in enumerate(names):
            extent = (bounds[node], bounds[node + 1])
            if extents.setdefault(name, extent) == extent or name in told:
                continue
            told.add(name)
            if _is_own_ancestor(name, rows):
                yield Fault(
                    "cycle",
                    f"the hierarchy of {attribute!r} has a cycle: {name!r} is its own ancestor; "
                    "give the upper node another label",
                    name,
                )
                continue
            yield Fault(
                "same label",
                f"the hierarchy of {attribute!r} uses the label {name!r} for two different sets of leaves; "
                "give one of them another label",
                name,
            )


def _is_own_ancestor(name: str, rows: Rows) -> bool:
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
