"""Rows that are not published: those that cannot be, and those that would cost more than they are worth.

An adversary who finds no group for a victim knows that the victim was withheld, and the withheld rows' sensitive values
are the difference between the public prior and what is published. So they must keep the promise as a group of their
own. It follows that they could always be published as one more group, at a loss of at most 1 each: withholding can make
a search for low loss easier, but it cannot lower the minimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.kernels.removals import best_removals
from discreet.options import checked
from discreet.principles import wording
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.schemes.cuts.top_down import Partition, Problem
from discreet.table.table import Table

Rows = NDArray[np.int64]


def check_share(most: float) -> None:
    """Raise an error unless ``most`` is a share of rows."""
    if not 0.0 <= checked("most_withheld", most, float) <= 1.0:
        raise DiscreetError(f"most_withheld={most!r} is not a share of rows; give a number from 0 to 1")


def check_withheld(table: Table, withheld: int, most: float) -> None:
    """Raise an error if too many rows were withheld because numbers are missing.

    This is asked of a finished release, so that the share of rows that the error advises to allow is known to suffice.
    """
    missing = 0 if table.unusable is None else len(table.unusable)
    if not missing or withheld <= most * table.rows:
        return
    if withheld == missing:
        told = f"have a missing number{_columns_at_fault(table)} and would be withheld"
    else:
        told = (
            f"would be withheld: {wording.rows(missing)} for missing numbers"
            f"{_columns_at_fault(table)}, the others so that the withheld rows keep the promise as one group"
        )
    raise _too_many(table, withheld, told, most)


def _columns_at_fault(table: Table) -> str:
    """Return the columns in which numbers are missing, those with the most first."""
    order = sorted(table.lacking.items(), key=lambda one: -one[1])
    return f" ({', '.join(f'{name!r}: {count:,}' for name, count in order)})" if order else ""


def _too_many(table: Table, rows: int, told: str, most: float) -> DiscreetError:
    """Return an error that leaves the decision to the user, the mildest way out first."""
    share = rows / table.rows
    worst = max(
        (name for name in table.lacking if name in table.quasi_names), key=table.lacking.__getitem__, default=""
    )
    drop = f"drop {worst!r} from the quasi-identifiers, " if worst else ""
    enough = min(1.0, math.ceil(share * 100) / 100)
    return DiscreetError(
        f"{rows:,} of {wording.rows(table.rows)} ({wording.percent(share)}) {told}, more than {wording.percent(most)} "
        f"of the table; choose {argument('missing', 'value')} to treat missing as a value of its own and withhold "
        f"none for it, {drop}or allow as many with {argument('most_withheld', enough)}"
    )


def unusable_rows(table: Table, principle: Principle, prior: Prior, rng: np.random.Generator) -> Rows:
    """Return the rows that must be withheld for missing values, and as few others as make them keep the promise."""
    for rows in sets_to_withhold(table, prior, rng):
        counts = np.bincount(table.classes[rows], minlength=len(prior.counts))
        if len(rows) == 0 or principle.holds(counts[None, :], prior)[0]:
            return rows
    assert table.unusable is not None
    has = np.bincount(table.classes[table.unusable], minlength=len(prior.counts))
    raise cannot_withhold(table.unusable, f"as one group they break the promise. {principle.explain(has, prior)}")


def cannot_withhold(unusable: Rows, why: str) -> DiscreetError:
    """Return the error that rows cannot be withheld, with the way out."""
    return DiscreetError(
        f"{wording.rows(len(unusable))} with missing values cannot be withheld: {why} Treat missing as a value of its "
        f"own instead ({argument('missing', 'value')}), or drop the column with the missing values."
    )


def sets_to_withhold(table: Table, prior: Prior, rng: np.random.Generator) -> Iterator[Rows]:
    """Yield the rows that must be withheld for missing values, first alone and then with more and more others.

    The others are drawn at random from the sensitive values that the unusable rows lack most, compared with the prior.
    """
    if table.unusable is None or len(table.unusable) == 0:
        yield np.zeros(0, np.int64)
        return
    unusable = np.asarray(table.unusable, dtype=np.int64)
    yield unusable
    has = np.bincount(table.classes[unusable], minlength=len(prior.counts))
    order = np.delete(np.arange(table.rows), unusable)
    order = order[rng.permutation(len(order))]
    order = order[np.argsort(table.classes[order], kind="stable")]
    free = prior.counts - has
    rank = np.arange(len(order)) - np.repeat(np.cumsum(free) - free, free)
    size, limit = len(unusable), min(max(4 * len(unusable), 1000), table.rows // 2)
    while (size := size + max(1, size // 20)) <= limit:
        wanted = _whole_numbers(np.maximum(prior.frequencies * size - has, 0.0), size - len(unusable))
        yield np.sort(np.concatenate([unusable, order[rank < wanted[table.classes[order]]]]))


def _whole_numbers(shares: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Return whole numbers in proportion to ``shares`` that add up to ``total``."""
    if total == 0 or shares.sum() == 0:
        return np.zeros(len(shares), np.int64)
    running = np.cumsum(shares) * (total / shares.sum())
    parts: Rows = np.diff(np.rint(running), prepend=0.0).astype(np.int64)
    return parts


def costly_rows(
    problem: Problem, partition: Partition, principle: Principle, prior: Prior, has: Rows, room: int
) -> Rows:
    """Return up to ``room`` rows whose removal saves more than their own loss of 1 each, those that save most first.

    ``has`` are the counts of the rows already withheld. The returned rows keep the promise together with them, and
    every group keeps it without these rows; if no such rows are found, none are returned.
    """
    if problem.axes.by_size or room <= 0:
        return np.zeros(0, np.int64)
    found, savings = _tempting(problem, partition, room)
    order = np.argsort(-savings, kind="stable")
    found = found[order][: 4 * room]
    caps = problem.limits.caps
    size = min(room, len(found))
    while size > 0:
        chosen = _within_caps(problem.classes[found], caps, has, size)
        rows = found[chosen][:size]
        rows = _without_broken_groups(problem, partition, principle, prior, rows)
        counts = has + np.bincount(problem.classes[rows], minlength=len(caps))
        if len(rows) and principle.holds(counts[None, :], prior)[0]:
            return rows
        size = min(size - 1, int(0.9 * size))
    return np.zeros(0, np.int64)


def _tempting(problem: Problem, partition: Partition, room: int) -> tuple[Rows, NDArray[np.float64]]:
    """Return rows whose removal lowers their group's cost, and their savings; one row per group and round."""
    rows = partition.rows.copy()
    starts, ends = partition.starts.copy(), np.append(partition.starts[1:], len(rows))
    m = len(problem.limits.caps)
    found: list[Rows] = [np.zeros(0, np.int64)]
    savings: list[NDArray[np.float64]] = [np.zeros(0)]
    total = 0
    while total < 4 * room:
        place, saving = best_removals(
            problem.points, problem.classes, rows, starts, ends, problem.axes, problem.rules, m, 1.0
        )
        useful = np.flatnonzero(place >= 0)
        if len(useful) == 0:
            break
        gone = place[useful]
        found.append(rows[gone].astype(np.int64))
        savings.append(saving[useful])
        rows[gone] = rows[ends[useful] - 1]
        starts, ends = starts[useful], ends[useful] - 1
        total += len(useful)
    return np.concatenate(found), np.concatenate(savings)


def _within_caps(classes: NDArray[np.int32], caps: NDArray[np.float64], has: Rows, size: int) -> NDArray[np.bool_]:
    """Return which rows to keep so that no value exceeds its cap in a withheld set of ``size`` more rows."""
    allowed = np.floor(caps * (has.sum() + size) + 1e-9).astype(np.int64) - has
    order = np.argsort(classes, kind="stable")
    counts = np.bincount(classes, minlength=len(caps))
    rank = np.empty(len(classes), np.int64)
    rank[order] = np.arange(len(classes)) - np.repeat(np.cumsum(counts) - counts, counts)
    fits: NDArray[np.bool_] = rank < allowed[classes]
    return fits


def _without_broken_groups(
    problem: Problem, partition: Partition, principle: Principle, prior: Prior, rows: Rows
) -> Rows:
    """Return the rows that can all be removed without their groups breaking the promise."""
    groups = partition.groups
    m = len(problem.limits.caps)
    touched, index = np.unique(groups[rows], return_inverse=True)
    place = np.full(len(partition.starts), -1, np.int64)
    place[touched] = np.arange(len(touched))
    inside = np.flatnonzero(place[groups] >= 0)
    counts = np.bincount(place[groups[inside]] * m + problem.classes[inside], minlength=len(touched) * m)
    counts = counts - np.bincount(index * m + problem.classes[rows], minlength=len(touched) * m)
    return rows[principle.holds(counts.reshape(-1, m), prior)[index]]
