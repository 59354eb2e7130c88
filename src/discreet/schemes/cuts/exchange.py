"""Exchanges of rows with the same sensitive value between groups: boxes shrink, and no group's counts change."""

from __future__ import annotations

import numpy as np

from discreet.kernels.removing import exchange
from discreet.schemes.cuts.top_down import Partition, Problem

_ROUNDS = 5
"""Later rounds exchange few rows."""
_MOST_GROUPS = 20_000
"""A limit, because every row at an end of a box is compared with every group."""


def exchange_rows(problem: Problem, partition: Partition) -> Partition:
    """Return a partition into groups with the same counts that costs at most as much."""
    if problem.axes.by_size or len(partition.starts) > _MOST_GROUPS:
        return partition
    rows, cost = partition.rows.copy(), partition.cost
    ends = np.append(partition.starts[1:], len(rows))
    for _ in range(_ROUNDS):
        exchanged, saved = exchange(problem.points, problem.classes, rows, partition.starts, ends, problem.axes)
        cost -= saved
        if not exchanged:
            break
    return Partition(rows, partition.starts, cost)
