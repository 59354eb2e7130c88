"""The beliefs of an adversary who knows the tree, and a person's leaf in it.

All assignments of one row to every person in which a row of a node belongs to someone in that node are equally likely.
In each of them the rows of a node go to persons who arrive there from below without a row, and these persons are
exchangeable: nothing distinguishes them any more. So, with arriving_N persons at a node of rows_N rows, a person who
arrives gets a row of value v there with probability rows_N(v) / arriving_N, and goes on to the parent with probability
1 - rows_N / arriving_N. From the leaf up, starting with reach = 1:

    belief(v) += reach x rows_N(v) / arriving_N;   reach x= 1 - rows_N / arriving_N

This depends on counts only, so the belief of an adversary who is in doubt about a person's leaf is a mixture of such
beliefs, and what bounds each of them bounds the mixture. If all rows are under leaves, it is the share of v in the
group.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.principles.counts import Counts
from discreet.releases.nested.tree import Tree


def believed(tree: Tree, counted: NDArray[Any]) -> NDArray[np.float64]:
    """Return, per node, the probability that the row of a person with this leaf is one of the rows that ``own`` counts.

    A second axis of ``own`` distinguishes several kinds of rows. Works from the roots down: persons who go on from a
    node have the belief of its parent.

    >>> tree = Tree(np.array([-1, 0, 0]), persons=np.array([0, 2, 2]), rows=np.array([2, 1, 1]))
    >>> believed(tree, np.array([1, 1, 0])).tolist()  # a rare value: one row of it above, one under the first leaf
    [0.5, 0.75, 0.25]
    """
    wide = (-1,) + (1,) * (counted.ndim - 1)
    arriving = np.maximum(1, tree.arriving)
    result = np.asarray(counted / arriving.reshape(wide), np.float64)
    on = (tree.arriving - tree.rows) / arriving
    for level in tree.levels[1:]:
        result[level] += on[level].reshape(wide) * result[tree.parents[level]]
    return result


def expected(tree: Tree, counts: Counts) -> Counts:
    """Return, per node, the expected sensitive values of the persons with this leaf; ``counts`` are those of its rows.

    A promise bounds their shares among these persons, which are the beliefs about each of them.
    """
    amounts = believed(tree, counts.matrix())
    amounts *= tree.persons[:, None]
    nodes, values = np.nonzero(amounts)
    starts = np.searchsorted(nodes, np.arange(len(tree.persons) + 1))
    return Counts(starts, values.astype(np.int32), amounts[nodes, values], counts.width, tree.persons)
