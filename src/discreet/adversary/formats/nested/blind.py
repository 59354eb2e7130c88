"""Check that rows were lifted blindly, if the manifest states so: all rows of a value, or a sample of all others.

Of the values that still have rows below a node, each of its two children lifted the same share, rounded. So where D are
the rows of such a value below each child and L those at the node, L is x D summed over the children, with an x >= 0 of
each child that all these values have in common: a share r was lifted, and x = r / (1 - r). Rounding adds less than
1 + x for each child. Nodes without rows are not published, and their children are their parents', so there may be more
than two, and each is granted an x of its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.principles.counts import Counts
from discreet.releases.nested.release import NestedRelease

Ints = NDArray[np.int64]
BOTH = 2
"""A node is cut into so many."""


def blind(release: NestedRelease) -> Check:
    """Check that no node has rows that cannot have been lifted blindly."""
    rows = _dense(release.counts)
    below = np.zeros_like(rows)
    for level in reversed(release.tree.levels[1:]):
        np.add.at(below, release.parents[level], (rows + below)[level])
    children: dict[int, list[int]] = {}
    for child in np.flatnonzero(release.parents >= 0).tolist():
        children.setdefault(int(release.parents[child]), []).append(child)
    for node, own in children.items():
        # if the persons of one child are told of no more than the node, all its rows were lifted, of whatever value
        if release.persons[node] == 0 and not _sampled(rows[node], (rows + below)[own]):
            told = f"The manifest states lift=blind, but the rows of node {release.ids[node]} are neither all of their "
            return Check("lifting", False, f"{told}values nor a sample of all others below it.")
    return Check("lifting", True, "Every node has all rows of a value below it or a sample, as lift=blind states.")


def _dense(counts: Counts) -> Ints:
    """Return how often each value occurs at each node."""
    table = np.zeros((len(counts), counts.width), np.int64)
    np.add.at(table, (counts.groups, counts.values), counts.amounts)
    return table


def _sampled(lifted: Ints, below: Ints) -> bool:
    """Whether rows can be a sample of those of each value that has rows below, given by child."""
    from scipy.optimize import linprog

    open_values = np.flatnonzero(below.sum(axis=0))
    at, under = lifted[open_values], below[:, open_values].T
    share = at.sum() / under.sum()
    if bool((np.abs(at - share * under.sum(axis=1)) <= BOTH * (1.0 + share)).all()):
        return True
    sides, limits = np.concatenate([under - 1, -under - 1]), np.concatenate([at + BOTH, BOTH - at])
    found = linprog(np.zeros(len(below)), A_ub=sides, b_ub=limits, bounds=(0.0, None), method="highs")
    return bool(found.status != 2)  # 2: no x is possible
