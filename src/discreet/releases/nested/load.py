"""Read the tree of a nested release back from its folder, and report its inconsistencies in sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.generalized.load import read_texts
from discreet.releases.nested.release import NODES, PARENT, PERSONS, NestedRelease
from discreet.releases.nested.tree import Tree
from discreet.releases.partition import GROUP

N = TypeVar("N", bound=NestedRelease)


def with_tree(release: N, home: Home) -> N:
    """Return a release whose rows have been read, with the tree from its table of nodes."""
    if len(release.secrets) != 1:
        raise DiscreetError(f"the manifest of a nested release must list one sensitive attribute; {DAMAGED}")
    path = next(home / name for name in release.manifest["tables"] if name.startswith(f"{NODES}."))
    columns = read_texts(path, [GROUP, PARENT, PERSONS])
    groups, parents, persons = (
        _numbers(path.name, name, [columns[name][0][code] for code in columns[name][1].tolist()])
        for name in (GROUP, PARENT, PERSONS)
    )
    roots = parents == -1
    faults: list[str] = []
    if len(groups) != release.groups or bool((groups != release.ids).any()):
        faults.append(f"{path.name} must list every node that has rows in the table once, in order.")
        empty = np.zeros(release.groups, np.int64)
        return replace(
            release, parents=empty.astype(np.int32) - 1, persons=empty, sound=False, faults=(*release.faults, *faults)
        )
    places = np.minimum(np.searchsorted(groups, parents), max(0, len(groups) - 1))
    strange = np.flatnonzero(~roots & (groups[places] != parents)) if len(groups) else roots[:0]
    if len(strange):
        faults.append(f"Node {groups[strange[0]]} has the parent {parents[strange[0]]}, which is no node.")
    if len(few := np.flatnonzero(persons < 0)):
        faults.append(f"Node {groups[few[0]]} has a negative number of persons.")
    above = np.where(roots, -1, places).astype(np.int32)
    if not faults:
        faults += Tree(above, persons, release.sizes).faults(groups.tolist())
    return replace(release, parents=above, persons=persons, sound=not faults, faults=(*release.faults, *faults))


def _numbers(file: str, name: str, texts: list[str]) -> NDArray[np.int64]:
    """Convert texts to whole numbers; the empty parent of a root becomes -1."""
    try:
        if name != PARENT and "" in texts:
            raise ValueError
        return np.array([-1 if text == "" else _whole(text) for text in texts], np.int64)
    except (ValueError, OverflowError):
        raise DiscreetError(
            f"the column {name!r} of {file!r} does not hold a whole number in every row; publish the release again"
        ) from None


def _whole(text: str) -> int:
    number = int(text)
    if abs(number) >= 1 << 53:
        raise ValueError(text)
    return number
