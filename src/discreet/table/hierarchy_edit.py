"""Changes to a hierarchy: nodes brought together under a new one, groups renamed or taken out.

Each takes the rows of a usable hierarchy, a leaf and its ancestors, and returns them with as few levels as possible: a
node is at the level of its longest way down to a leaf, and labels are repeated to fill gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise

from discreet.errors import DiscreetError
from discreet.table.hierarchy_faults import rooted

Row = tuple[str, ...]
Path = list[str]
"""The nodes from a leaf to the root, each once."""


def grouped(rows: Sequence[Row], labels: Collection[str], name: str) -> list[Row]:
    """Return the rows with a new node above some nodes that have the same parent.

    >>> cities = grouped([("Lyon", "*"), ("Bonn", "*"), ("Nice", "*")], {"Lyon", "Nice"}, "FR")
    >>> cities
    [('Lyon', 'FR', '*'), ('Bonn', 'Bonn', '*'), ('Nice', 'FR', '*')]
    >>> grouped(cities, {"FR", "Bonn"}, "EU")
    [('Lyon', 'FR', 'EU', '*'), ('Bonn', 'Bonn', 'EU', '*'), ('Nice', 'FR', 'EU', '*')]
    """
    if not labels:
        raise DiscreetError("nothing is chosen to be grouped; mark the values or groups that belong together")
    _check_name(rows, name)
    parents = set[str]()

    def beneath(path: Path) -> Path:
        top = next((at for at in range(len(path) - 2, -1, -1) if path[at] in labels), None)
        if top is None:
            return path
        parents.add(path[top + 1])
        return [*path[: top + 1], name, *path[top + 1 :]]

    made = _changed(rows, beneath)
    if len(parents) != 1:
        lie = f"lies in different groups ({', '.join(sorted(map(repr, parents)))})" if parents else "is no node"
        raise DiscreetError(f"what is chosen {lie}; mark values or groups of one group, or take these groups out first")
    return made


def renamed(rows: Sequence[Row], label: str, name: str) -> list[Row]:
    """Return the rows with another name of a group.

    >>> renamed([("Lyon", "FR"), ("Bonn", "DE")], "FR", "France")
    [('Lyon', 'France', '*'), ('Bonn', 'DE', '*')]
    """
    _check_group(rows, label)
    _check_name(rows, name)
    return _changed(rows, lambda path: [name if each == label else each for each in path])


def taken_out(rows: Sequence[Row], label: str) -> list[Row]:
    """Return the rows without a group, whose members stand where it stood.

    >>> taken_out([("Lyon", "FR", "*"), ("Nice", "FR", "*"), ("Bonn", "DE", "*")], "FR")
    [('Lyon', 'Lyon', '*'), ('Nice', 'Nice', '*'), ('Bonn', 'DE', '*')]
    """
    _check_group(rows, label)
    return _changed(rows, lambda path: [each for each in path if each != label])


def _changed(rows: Sequence[Row], change: Callable[[Path], Path]) -> list[Row]:
    """Return the rows after a change to each path, filled up again."""
    paths = [change(list(dict.fromkeys(row))) for row in rooted(list(rows))]
    heights: dict[str, int] = {}
    for path in paths:
        for at, label in enumerate(path):
            heights[label] = max(at, heights.get(label, 0))
    settled = False
    while not settled:  # a node is above all that is below it, also on the ways of other leaves
        settled = True
        for path in paths:
            for below, above in pairwise(path):
                if heights[above] <= heights[below]:
                    heights[above], settled = heights[below] + 1, False
    return [_filled(path, heights) for path in paths]


def _filled(path: Path, heights: dict[str, int]) -> Row:
    """Return the row of a path, with labels repeated up to the next node above."""
    ends = [heights[label] for label in path[1:]]
    starts = [0, *ends]
    return tuple(
        label for label, start, end in zip(path, starts, [*ends, ends[-1] + 1], strict=True) for _ in range(end - start)
    )


def _check_name(rows: Sequence[Row], name: str) -> None:
    if not name.strip():
        raise DiscreetError("the group has no name; write one")
    if any(name in row for row in rows) or name != name.strip():
        raise DiscreetError(f"{name!r} is a value or a group already, or has blanks around it; choose another name")


def _check_group(rows: Sequence[Row], label: str) -> None:
    whole = rooted(list(rows))
    if label not in {other for row in whole for other in row[1:-1]} - {row[0] for row in whole} - {whole[0][-1]}:
        raise DiscreetError(f"{label!r} is no group of the hierarchy; choose one between the values and the root")
