"""Random trees of plain cuts, with rows lifted at random, for the tests of nested releases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import discreet as dc
from discreet.families.lifting.tree import Tree, expected
from discreet.principles.counts import Counts
from discreet.principles.prior import Prior
from discreet.table.read import read
from discreet.table.table import Table


@dataclass
class Grown:
    """Persons in a tree, and the nodes of their rows."""

    table: Table
    parents: NDArray[np.int64]
    leaf_of: NDArray[np.int64]
    node_of: NDArray[np.int64]

    def release(self, promise: dc.Principle, **how: object) -> dc.NestedRelease:
        return dc.NestedRelease.from_tree(
            self.table,
            self.parents,
            self.leaf_of,
            self.node_of,
            promise=promise,
            scheme="grown",
            **how,  # type: ignore[arg-type]
        )

    def tree(self) -> Tree:
        return Tree.of_rows(self.parents, self.leaf_of, self.node_of)

    def counts(self) -> Counts:
        kept, width = self.node_of >= 0, len(Prior.of(self.table).values)
        return Counts.of_rows(self.node_of[kept], self.table.sensitive_codes[kept], len(self.parents), width)

    def strain(self, promise: dc.Principle) -> float:
        return float(promise.strain(expected(self.tree(), self.counts()), Prior.of(self.table)).max())


def people(rng: np.random.Generator, rows: int, values: int = 4, kept: bool = False) -> Table:
    """A table of ages, cities and diseases, which depend on age; maybe with a column that is kept."""
    age = rng.integers(20, 60, rows)
    disease = np.minimum(values - 1, rng.integers(0, values, rows) + (age > 45))
    columns: dict[str, object] = {
        "age": age,
        "city": [["Bonn", "Essen", "Jena", "Gera"][at] for at in rng.integers(0, 4, rows)],
        "disease": [f"d{at}" for at in disease],
    }
    if kept:
        columns["ward"] = [f"w{at}" for at in rng.integers(0, 2, rows)]
    tree = {"West": ["Bonn", "Essen"], "East": ["Jena", "Gera"]}
    how = {"keep": ["ward"]} if kept else {}
    return read(pa.table(columns), quasi=["age", "city"], sensitive="disease", hierarchies={"city": tree}, **how)  # type: ignore[arg-type]


def grown(rng: np.random.Generator, table: Table, least: int = 3, lifted: float = 0.3, withheld: float = 0.0) -> Grown:
    """A tree of plain cuts down to about ``least`` persons; each row is lifted so often as a coin says."""
    leaf_of = np.zeros(table.rows, np.int64)
    parents = [-1]
    waiting = [0]
    while waiting:
        node = waiting.pop()
        inside = np.flatnonzero(leaf_of == node)
        codes = table.quasi[int(rng.integers(len(table.quasi)))].codes
        found = np.unique(codes[inside])
        if len(inside) < 2 * least or len(found) < 2:
            continue
        cut = found[int(rng.integers(1, len(found)))]
        for side in (inside[codes[inside] < cut], inside[codes[inside] >= cut]):
            leaf_of[side] = len(parents)
            waiting.append(len(parents))
            parents.append(node)
    above = np.array(parents)
    node_of, up = leaf_of.copy(), np.ones(table.rows, np.bool_)
    while up.any():
        up &= (rng.random(table.rows) < lifted) & (above[node_of] >= 0)
        node_of[up] = above[node_of[up]]
    gone = rng.random(table.rows) < withheld
    if table.unusable is not None:
        gone[table.unusable] = True
    return Grown(table, above, np.where(gone, -1, leaf_of), np.where(gone, -1, node_of))


def kept_to(promise: dc.Principle, one: Grown) -> Grown:
    """The same tree with its worst leaves made one with all that hangs on their parents, until the promise is kept.

    Or as one group, which may not keep it either.
    """
    while one.strain(promise) > 1.0 and len(set(one.leaf_of.tolist()) - {-1}) > 1:
        above, tree = one.parents, one.tree()
        strains = promise.strain(expected(tree, one.counts()), Prior.of(one.table))
        below = max(0, int(above[int(np.argmax(strains))]))
        inside = np.zeros(len(above) + 1, np.bool_)  # and a place for -1
        inside[below] = True
        for level in tree.levels[1:]:
            inside[level] |= inside[above[level]]
        leaf_of, node_of = (np.where(inside[of], below, of) for of in (one.leaf_of, one.node_of))
        one = Grown(one.table, above, leaf_of, node_of)
    return one
