"""What an adversary believes who knows the tree, and in which leaf of it a person is.

Possible are all ways to give every person one row such that a row of a node is the row of someone in that node, and all
are equally likely. In each of them the rows of a node go to persons who have come there from below without a row, and
these persons are exchangeable: nothing tells them apart any more. So, with arriving_N persons at a node of rows_N rows,
a person who arrives gets a row of value v there with the chance rows_N(v) / arriving_N, and goes on to the parent with
1 - rows_N / arriving_N. From the leaf up, with reach = 1 at first:

    belief(v) += reach x rows_N(v) / arriving_N;   reach x= 1 - rows_N / arriving_N

This depends on counts only, so whoever is in doubt about a person's leaf believes a mixture of such beliefs, and what
bounds each of them bounds the mixture. Where all rows stand under leaves, it is the share of v in the group.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.principles.counts import Counts
from discreet.releases.nested.tree import Tree


def believed(tree: Tree, own: NDArray[Any]) -> NDArray[np.float64]:
    """Per node: the chance that the row of a person with this leaf is among some rows; ``own`` counts these per node.

    A second axis of ``own`` tells several kinds of rows apart. From the roots down, as a node passes what is believed
    at its parent on to those who go on to it.

    >>> tree = Tree(np.array([-1, 0, 0]), persons=np.array([0, 2, 2]), rows=np.array([2, 1, 1]))
    >>> believed(tree, np.array([1, 1, 0])).tolist()  # a rare value: one row of it above, one under the first leaf
    [0.5, 0.75, 0.25]
    """
    wide = (-1,) + (1,) * (own.ndim - 1)
    arriving = np.maximum(1, tree.arriving)
    result = np.asarray(own / arriving.reshape(wide), np.float64)
    on = (tree.arriving - tree.rows) / arriving
    for level in tree.levels[1:]:
        result[level] += on[level].reshape(wide) * result[tree.parents[level]]
    return result


def expected(tree: Tree, counts: Counts) -> Counts:
    """Per node: the sensitive values that the persons with this leaf are expected to have; those of rows are given.

    What a promise bounds is their share among these persons, which is what is believed of each of them.
    """
    amounts = believed(tree, counts.matrix())
    amounts *= tree.persons[:, None]
    nodes, values = np.nonzero(amounts)
    starts = np.searchsorted(nodes, np.arange(len(tree.persons) + 1))
    return Counts(starts, values.astype(np.int32), amounts[nodes, values], counts.width, tree.persons)
