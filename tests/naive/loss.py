"""Losses by their definitions, from the original values of the rows of each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass
class Domain:
    """What one attribute's losses are measured by: exactly one of the first three is given."""

    bounds: tuple[float, float] | None = None
    order: Sequence[str] | None = None
    tree: Sequence[Sequence[str]] | None = None
    """One row per leaf: the leaf, the labels above it, the root."""
    as_set: bool = False


def attribute_ail(values: Sequence[Any], domain: Domain) -> float:
    """Eq. 2 and 3: what the values of one attribute in a group give up; None is a missing number."""
    if domain.tree is None:
        return _extent(values, domain)
    leaves = _leaves(values, domain.tree)
    return 0.0 if len(leaves) == 1 else len(leaves) / len(domain.tree)


def attribute_ncp(values: Sequence[Any], domain: Domain) -> float:
    """The normalized certainty penalty of the values of one attribute in a group."""
    if domain.tree is None:
        return _extent(values, domain)
    admitted = set(values) if domain.as_set else _leaves(values, domain.tree)
    return (len(admitted) - 1) / (len(domain.tree) - 1) if len(domain.tree) > 1 else 0.0


def average(groups: Sequence[Sequence[Sequence[Any]]], domains: Sequence[Domain], withheld: int, measure: Any) -> float:
    """Eq. 4 and 5 with equal weights; withheld rows at loss 1. A group is a list of rows."""
    total, rows = float(withheld), withheld
    for group in groups:
        rows += len(group)
        for axis, domain in enumerate(domains):
            total += len(group) * measure([row[axis] for row in group], domain) / len(domains)
    return total / rows


def _extent(values: Sequence[Any], domain: Domain) -> float:
    missing = [value for value in values if value is None]
    if missing:
        return 0.0 if len(missing) == len(values) else 1.0
    if domain.order is not None:
        ranks = [list(domain.order).index(value) for value in values]
        return (max(ranks) - min(ranks)) / (len(domain.order) - 1) if len(domain.order) > 1 else 0.0
    assert domain.bounds is not None
    low, high = domain.bounds
    return (max(values) - min(values)) / (high - low) if high > low else 0.0


def _leaves(values: Sequence[str], tree: Sequence[Sequence[str]]) -> set[str]:
    """The leaves below the lowest common ancestor."""
    for level in range(len(tree[0])):
        above = {row[level] for row in tree if row[0] in values}
        if len(above) == 1:
            return {row[0] for row in tree if row[level] in above}
    raise AssertionError("the root is above all")
