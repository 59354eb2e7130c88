"""The groups of an ambiguous release: built from buckets of sensitive values, with residues placed and all judged."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.ambiguity import picking, placing
from discreet.kernels.ambiguity.picking import Terms
from discreet.kernels.judging import SLACK
from discreet.principles.counts import Counts
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress
from discreet.randomness import permutation
from discreet.schemes.ambiguity.terms import Aim, CodedRows
from discreet.table.combinations import numbered

MANY = 0.1
"""An alpha below which a row has to show many combinations."""
NOT_WORTH = {True: 0.05, False: 0.4}
"""The share of the rows above which those left over are not placed one by one, while another manner may do better: of
groups of rows near each other, and of others."""
VISITS = 50_000_000
"""How many rows of groups are looked at in all, about, to find places for the rows that are left over."""


def first_size(rows: CodedRows, aim: Aim) -> tuple[int, int]:
    """With how many rows groups begin, and how many of these may hold the same sensitive value.

    As few as beta and the smallest size allow, if the most frequent value can be dealt out to so many groups; where it
    comes close to a share of beta and 1 / beta is not whole, it takes larger groups to hold it.
    """
    n, most = len(rows), int(np.bincount(rows.classes).max())
    sizes = np.arange(min(aim.needed, n), n + 1)
    quotas = np.floor(aim.beta * sizes + SLACK).astype(np.int64)
    at = int((quotas * (n // sizes) >= most).argmax())
    return int(sizes[at]), int(quotas[at])


class Manner(NamedTuple):
    """How groups are looked for."""

    near: bool
    """Whether they take rows that lie near each other, or those that show most new values."""
    window: int
    """How many rows are looked at for each one that is picked."""
    reach: float = 1.0
    """How far below alpha groups of rows near each other try to stay, though they need not."""
    rounds: int = 1
    """With how many rounds of rows they begin."""


def build(
    rows: CodedRows,
    aim: Aim,
    manner: Manner,
    seeded: np.random.Generator | None,
    progress: Progress | None,
    placing: float | None = None,
) -> NDArray[np.int32]:
    """Groups that are looked for in one manner, and the rows that were left over, if they are no more than a share of
    ``placing`` (or as many as it is worth), put where they fit."""
    tell = progress or (lambda stage, share: None)
    tell("building groups", 0.0)
    size, quota = first_size(rows, aim)
    order = permutation(len(rows), seeded)
    if manner.near:
        entropies = np.array([_entropy(column) for column in rows.codes.T])
        rising = _sorted_by(entropies, size * manner.rounds, aim.alpha * manner.reach)
        columns = [rows.codes[:, j] - rows.firsts[j] for j in rising]
        keys = numbered(columns, rows.numbers[rising].tolist(), len(rows))
        order = order[np.argsort(keys[order], kind="stable")]
    else:
        order = order[np.argsort(rows.classes[order], kind="stable")]
    codes, classes = np.ascontiguousarray(rows.codes[order]), rows.classes[order]
    groups = np.full(len(rows), -1, np.int32)
    left, number = np.arange(len(rows)), 0
    # what the first pass leaves over may still make groups that are wider
    for wide in (False, True) if manner.near else (True,):
        alpha = aim.alpha if wide else aim.alpha * manner.reach
        terms = Terms(alpha, aim.beta, size, quota, manner.rounds, manner.window, not wide)
        if wide and len(left) < len(rows):
            left = left[np.argsort(classes[left], kind="stable")]
        found, more = cast(Any, picking).build_groups(codes[left], classes[left], rows.values, rows.width, terms)
        groups[left] = np.where(found < 0, -1, found + number)
        number += more
        left = left[found < 0]
        tell("building groups", 0.5 if manner.near and not wide else 1.0)
        if len(left) < size:
            break
    most = placing if placing is not None else NOT_WORTH[manner.near]
    if number and 0 < len(left) <= most * len(rows):
        _place(codes, classes, groups, number, np.sort(left), aim, rows.values, manner.near, seeded)
        tell("placing residues", 1.0)
    result = np.empty(len(rows), np.int32)
    result[order] = groups
    return result


def _place(
    codes: NDArray[np.int32],
    classes: NDArray[np.int32],
    groups: NDArray[np.int32],
    number: int,
    left: NDArray[np.int64],
    aim: Aim,
    values: int,
    near: bool,
    seeded: np.random.Generator | None,
) -> None:
    """Find groups for the rows that are left over, nearest first in the order of the rows."""
    kernels = cast(Any, placing)
    lists = kernels.listed(codes, classes, groups, number, values)
    inside = np.flatnonzero(groups >= 0)
    starts = groups[inside[np.minimum(np.searchsorted(inside, left), len(inside) - 1)]].astype(np.int64)
    if not near:
        starts = permutation(len(inside), seeded)[: len(left)] % number if len(left) <= len(inside) else starts
    turn = np.arange(len(left)) if near else permutation(len(left), seeded)
    left, starts = left[turn], starts[turn]
    visits = VISITS * number // len(groups)  # the rows that are placed make groups longer to look at
    for lacking in (True, False, False):  # a group that has grown may have room for what it had none for
        tries = max(4, visits // (3 * len(left)))
        kernels.place_rows(left, starts, lists, groups, aim.alpha, aim.beta, tries, lacking)
    still = groups[left] < 0
    if still.any():
        tries = max(1, visits // (placing.OTHERS * int(still.sum())))
        kernels.join_groups(left[still], starts[still], lists, groups, aim.alpha, aim.beta, tries, values)


def _sorted_by(entropies: NDArray[np.float64], size: int, alpha: float) -> NDArray[np.intp]:
    """The blocks by which rows are sorted, those that say least first, for groups of ``size`` rows.

    Rows next to each other are then equal in the first ones. Where a row has to show many combinations it takes rows
    that differ in several blocks: the last ones are left out when together they would show twice as many as needed.
    """
    rising = np.argsort(entropies, kind="stable")
    product = 1.0
    for at in range(len(rising) - 1, 0, -1) if alpha < MANY else ():
        product *= min(float(size), math.exp(entropies[rising[at]]))
        if product >= 2.0 * size / alpha:
            return rising[:at]
    return rising


def _entropy(codes: NDArray[np.int32]) -> float:
    """How much the values of a block say."""
    held = np.bincount(codes - codes.min()).astype(np.float64)
    held = held[held > 0] / len(codes)
    return float(-(held * np.log(held)).sum())


def withhold_with_groups(
    groups: NDArray[np.int32], classes: NDArray[np.int32], principle: Principle, prior: Prior
) -> NDArray[np.int32]:
    """The same groups without as many of them as the rows in none need to keep the promise as one group."""
    width = len(prior.counts)
    held = np.bincount(classes[groups < 0], minlength=width)
    inside = groups >= 0
    if not inside.any() or principle.holds(held[None], prior)[0]:
        return groups
    counts = Counts.of_rows(groups[inside], classes[inside], int(groups.max()) + 1, width)
    gone = np.zeros(len(counts), np.bool_)
    while not principle.holds(held[None], prior)[0] and not gone.all():
        # the groups that hold least of the value that the withheld rows have too much of, the smallest of them first
        worst = int(held.argmax())
        amounts = np.zeros(len(counts))
        amounts[counts.groups[counts.values == worst]] = counts.amounts[counts.values == worst]
        turn = np.lexsort((counts.sizes, amounts / np.maximum(1, counts.sizes), gone))
        for g in turn[: int((~gone).sum())]:
            gone[g] = True
            held = held + counts.line(int(g))
            if int(held.argmax()) != worst or principle.holds(held[None], prior)[0]:
                break
    result = groups.copy()
    result[inside & gone[np.maximum(groups, 0)]] = -1
    return result
