"""Beliefs in a tree by the chances of a person's way up, in fractions: from the person's leaf to the root."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from naive.nested import path


def way_up(
    parents: Sequence[int], leaf_of: Sequence[int], node_of: Sequence[int], sensitive_codes: Sequence[int]
) -> dict[int, dict[int, Fraction]]:
    """Per leaf: what is believed of its persons. Rows with leaf -1 are withheld."""
    rows = {node: Counter[int]() for node in range(len(parents))}
    arriving, leaving = Counter[int](), Counter[int]()
    for leaf, node, value in zip(leaf_of, node_of, sensitive_codes, strict=True):
        if leaf < 0:
            continue
        rows[node][value] += 1
        way = path(parents, leaf)
        for step in way[: way.index(node) + 1]:  # the row's own person comes as far as its node
            arriving[step] += 1
            leaving[step] += step != node
    found = {}
    for leaf in set(leaf_of) - {-1}:
        reach, belief = Fraction(1), Counter[int]()
        for step in path(parents, leaf):
            if arriving[step] == 0:
                break
            for value, count in rows[step].items():
                belief[value] += reach * Fraction(count, arriving[step])  # type: ignore[assignment]
            reach *= Fraction(leaving[step], arriving[step])
        found[leaf] = dict(belief)
    return found  # type: ignore[return-value]
