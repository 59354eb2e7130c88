"""Rows that leave a group at the end of its box: boxes shrink, and every group still keeps what is promised."""

from __future__ import annotations

import numpy as np

from discreet.kernels.removals import exchange
from discreet.kernels.row_moves import move_rows
from discreet.schemes.cuts.top_down import Partition, Problem

_ROUNDS = 5
"""Later rounds exchange few rows."""
_MOST_GROUPS = 20_000
"""A limit, because every row at an end of a box is compared with every group."""
_MOST_COUNTS = 10_000_000
"""A limit on the memory for the counts of all values in all groups."""


def settle_rows(problem: Problem, partition: Partition, effort: int) -> Partition:
    """Return a partition that costs at most as much: rows moved to other groups, and exchanged between groups.

    ``effort`` bounds how often a row that might move is compared with a group.
    """
    while effort > 0:
        partition, moved, tried = _moved(problem, partition, effort)
        partition = exchange_rows(problem, partition)
        effort -= tried
        if not moved:
            break
    return partition


def _moved(problem: Problem, partition: Partition, effort: int) -> tuple[Partition, int, int]:
    """Return a partition with rows moved between groups, how many, and the comparisons made."""
    number, width = len(partition.starts), len(problem.limits.caps)
    if problem.axes.by_size or number > _MOST_GROUPS or number * width > _MOST_COUNTS:
        return partition, 0, 0
    groups = partition.groups
    moved, saved, tried = move_rows(
        problem.points, problem.classes, groups, number, problem.axes, problem.rules, width, effort
    )
    rows = np.argsort(groups, kind="stable").astype(np.int32)
    starts = np.flatnonzero(np.diff(groups[rows], prepend=-1))
    return Partition(rows, starts, partition.cost - saved), moved, tried


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
