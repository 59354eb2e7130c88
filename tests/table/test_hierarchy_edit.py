"""Changes of a hierarchy change what they say, and leave a tree that can be used."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.table.hierarchy import Hierarchy
from discreet.table.hierarchy_edit import grouped, renamed, taken_out
from discreet.table.hierarchy_faults import all_faults

Row = tuple[str, ...]


def ways(rows: list[Row]) -> dict[str, list[str]]:
    """The nodes above each leaf, each once."""
    return {row[0]: list(dict.fromkeys(row)) for row in rows}


def children(rows: list[Row]) -> dict[str, set[str]]:
    """The nodes directly below each node."""
    found: dict[str, set[str]] = {}
    for way in ways(rows).values():
        for below, above in pairwise(way):
            found.setdefault(above, set()).add(below)
    return found


@given(seed=st.integers(0, 100_000))
def test_any_changes_leave_a_tree_with_the_same_leaves(seed: int) -> None:
    chance = np.random.default_rng(seed)
    leaves = [f"v{at}" for at in range(int(chance.integers(2, 9)))]
    rows: list[Row] = [(leaf, "*") for leaf in leaves]
    for step in range(8):
        below, before = children(rows), ways(rows)
        groups = sorted(below.keys() - {"*"})
        kind = chance.integers(0, 3) if groups else 0
        name = f"g{step}"
        if kind == 0:
            parent = str(chance.choice(sorted(below)))
            members = sorted(below[parent])
            chosen = set(chance.choice(members, int(chance.integers(1, len(members) + 1)), replace=False).tolist())
            rows = grouped(rows, chosen, name)
            assert children(rows)[name] == chosen
            assert children(rows)[parent] == below[parent] - chosen | {name}
        elif kind == 1:
            old = str(chance.choice(groups))
            rows = renamed(rows, old, name)
            assert ways(rows) == {leaf: [name if each == old else each for each in way] for leaf, way in before.items()}
        else:
            old = str(chance.choice(groups))
            rows = taken_out(rows, old)
            assert ways(rows) == {leaf: [each for each in way if each != old] for leaf, way in before.items()}
        assert not all_faults("q", rows)
        tree = Hierarchy.from_rows("q", rows)
        assert sorted(tree.leaves) == sorted(leaves)
        assert tree.height == max(len(way) for way in ways(rows).values()) - 1, "no level more than the longest way has"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: grouped(rows, set(), "x"), "nothing is chosen"),
        (lambda rows: grouped(rows, {"a"}, " "), "has no name"),
        (lambda rows: grouped(rows, {"a"}, "b"), "'b' is a value or a group already"),
        (lambda rows: grouped(rows, {"a", "c"}, "x"), "lies in different groups ('*', 'AB')"),
        (lambda rows: grouped(rows, {"*"}, "x"), "is no node"),
        (lambda rows: renamed(rows, "a", "x"), "'a' is no group"),
        (lambda rows: renamed(rows, "AB", "AB"), "'AB' is a value or a group already"),
        (lambda rows: taken_out(rows, "*"), "'*' is no group"),
    ],
)
def test_what_cannot_be_changed_is_refused(change: object, words: str) -> None:
    with pytest.raises(DiscreetError) as refused:
        change([("a", "AB", "*"), ("b", "AB", "*"), ("c", "c", "*")])  # type: ignore[operator]
    assert words in str(refused.value)
