"""The largest combined belief in anyone's presence, over all persons inside or outside the table.

Each group lists values per quasi-identifier (or per block of them) and covers every combination of its values. The
groups that cover a person together imply the belief 1 - (1 - p1)(1 - p2)..., so we look for the combination with the
largest sum of -log(1 - p); there are far too many to enumerate. Choosing a further value only removes groups. So, given
the values chosen so far, the largest sum over the values of any one further block is an upper bound for every
completion. The search expands the choice with the largest bound first. It ends with the largest sum or, once its budget
is used up, with a bound that no combination exceeds.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.boxes.boxes import Boxes
from discreet.kernels.judging import SLACK
from discreet.kernels.presence import coverage
from discreet.kernels.presence import value_index as appearing
from discreet.kernels.presence.value_index import Shown

kernels = cast(Any, coverage)

BUDGET = 50_000_000
"""How many list entries the search reads before it settles for a bound."""
PUSH = 100
"""The cost of storing one more choice of values, in list entries read in the same time."""
ENTRIES = 16_000_000
"""The approximate number of entries in the lists of boxes above which neighbouring values are merged."""
ROUNDING = 1e-12
"""The relative error of sums of the same weights; a chance closer to 1 than this counts as certainty."""
CERTAIN = -math.log(2.0 * ROUNDING)
"""The sum from which presence counts as certain."""


class PresenceBound(NamedTuple):
    """The largest belief in anyone's presence: some combination has belief ``reached``, none exceeds ``bound``.

    The two are equal if the search was completed.
    """

    reached: float
    bound: float

    @property
    def exact(self) -> bool:
        """Whether the bound is reached, up to rounding."""
        return self.bound <= self.reached * (1.0 + SLACK)


class ValueLists(NamedTuple):
    """The groups that cover each value."""

    shown: Shown
    firsts: NDArray[np.int64]
    """The first value of each block, followed by the number of all values."""
    apart: bool = True
    """False if values were merged: then a group lists a value as soon as it covers any of the merged ones."""


def most_believed(
    lists: ValueLists,
    chances: NDArray[np.float64],
    known: float = 0.0,
    limit: float | None = None,
    budget: int = BUDGET,
) -> PresenceBound:
    """The largest combined belief in anyone's presence, given each group's chance to contain a person it covers.

    ``known`` is a belief that someone is known to reach. With a ``limit``, the search only decides whether any belief
    exceeds it: it stops at the first that does, or returns the limit itself as the bound.

    >>> shown = cast(Any, appearing).index_groups(np.array([0, 2, 0, 1, 3]), np.array([0, 0, 1, 1, 1], np.int32), 2, 4)
    >>> most_believed(ValueLists(shown, np.array([0, 2, 4])), np.array([0.5, 0.5]))
    PresenceBound(reached=0.5, bound=0.5)
    """
    if not len(chances) or chances.max() <= 0.0 or not np.diff(lists.firsts).all():
        return PresenceBound(known, known)  # no group has a chance, or a block has no values
    if known >= 1.0:
        return PresenceBound(1.0, 1.0)
    search = _Search(lists, np.minimum(chances, 1.0 - ROUNDING))
    best = -math.log1p(-known)
    if lists.apart:
        best = max(best, search.straight())
    floor = 0.0 if limit is None else -math.log1p(-min(limit, 1.0 - ROUNDING))
    choices: list[tuple[float, int, Chosen]] = [(-search.total, 0, ())]
    bound = 0.0
    while choices:
        bound = -choices[0][0]
        enough = max(best, floor) * (1.0 + ROUNDING)
        if bound <= enough or search.looked_at > budget or best >= CERTAIN:
            break
        if limit is not None and best > floor * (1.0 + ROUNDING):
            break
        _, depth, chosen = heapq.heappop(choices)
        if len(chosen) == search.blocks:
            break
        block, sums = search.sums(chosen)
        if len(chosen) == search.blocks - 1 and lists.apart:  # the last block completes the combination
            best = max(best, float(sums.max()))
            continue
        further = np.flatnonzero(sums > enough)
        search.looked_at += PUSH * len(further)
        for value in further.tolist():
            heapq.heappush(choices, (-float(sums[value]), depth - 1, (*chosen, (block, value))))
    else:
        bound = 0.0  # everything left out is at most the best
    if best >= CERTAIN:
        return PresenceBound(1.0, 1.0)
    return PresenceBound(-math.expm1(-best), -math.expm1(-max(best, floor, bound)))


Chosen = tuple[tuple[int, int], ...]
"""Pairs of a block and the index of the value chosen in it."""


class _Search:
    """The weights and lists of the search, and the number of entries read so far."""

    def __init__(self, lists: ValueLists, chances: NDArray[np.float64]) -> None:
        self.lists, self.weights, self.looked_at = lists, -np.log1p(-chances), 0
        self.total = float(self.weights.sum())
        self.blocks = len(lists.firsts) - 1
        values, shown = int(lists.firsts[-1]), lists.shown
        turn = np.argsort(shown.groups, kind="stable")
        self.entries = np.repeat(np.arange(values), np.diff(shown.starts))[turn]
        self.starts = np.searchsorted(shown.groups[turn], np.arange(len(chances) + 1))
        self.covering, self.held = np.empty(len(chances), np.int64), np.empty(values)

    def sums(self, chosen: Chosen) -> tuple[int, NDArray[np.float64]]:
        """The block, among those without a chosen value, that gives the tightest bound, and the sums of its values."""
        firsts = self.lists.firsts
        still = np.ones(self.blocks, np.bool_)
        still[[block for block, _ in chosen]] = False
        fixed = np.array([firsts[block] + value for block, value in chosen], np.int64)
        block, _, looked_at = kernels.weigh_values(
            fixed, still, self.lists.shown, self.starts, self.entries, self.weights, firsts, self.covering, self.held
        )
        self.looked_at += looked_at
        return block, self.held[firsts[block] : firsts[block + 1]].copy()

    def straight(self) -> float:
        """The sum of the greedy combination, which takes the value with the largest sum in one block after another."""
        chosen: Chosen = ()
        largest = 0.0
        for _ in range(self.blocks):
            block, sums = self.sums(chosen)
            chosen, largest = (*chosen, (block, int(sums.argmax()))), float(sums.max())
        return largest


def lists_of_boxes(described: Boxes, sizes: Sequence[int]) -> ValueLists:
    """The codes that boxes admit, as lists; codes admitted by the same boxes become one value.

    ``sizes`` are the numbers of codes of the axes. If lists would get too long, neighbouring codes are merged to one
    value, which a box lists if it admits any of them: a belief in the merged value bounds the belief in each.

    >>> low, high = np.array([[0], [3]], np.int32), np.array([[4], [9]], np.int32)
    >>> described = Boxes(low, high, low * 0 - 1, np.zeros(1, np.int64), np.zeros(0, np.int32))
    >>> lists_of_boxes(described, [10]).shown.starts.tolist()
    [0, 1, 3, 4]
    """
    number, axes = described.low.shape
    most = max(16, ENTRIES // max(1, number * axes))
    values, groups, firsts, apart = [], [], [0], True
    for axis, size in enumerate(sizes):
        low, high = described.low[:, axis].astype(np.int64), described.high[:, axis].astype(np.int64)
        which = described.set_at[:, axis]
        gaps = np.flatnonzero(which >= 0)
        if len(gaps):
            cuts = np.arange(size)
        else:
            some = low <= high
            cuts = np.unique(np.concatenate([[0], low[some], high[some] + 1]))
            cuts = cuts[cuts < max(1, size)]
        if len(cuts) > most:
            cuts, apart = cuts[np.linspace(0, len(cuts) - 1, most).astype(np.int64)], False
        place = np.repeat(np.arange(len(cuts)), np.diff(np.append(cuts, size)))
        plain = np.flatnonzero((which < 0) & (low <= high))
        begin, end = place[low[plain]], place[high[plain]]
        many = end - begin + 1
        within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        values.append(np.repeat(begin, many) + within + firsts[-1])
        groups.append(np.repeat(plain, many))
        for group in gaps.tolist():
            listed = described.members[described.starts[which[group]] : described.starts[which[group] + 1]]
            merged = np.unique(place[listed])
            values.append(merged + firsts[-1])
            groups.append(np.full(len(merged), group))
        firsts.append(firsts[-1] + len(cuts))
    every, owners = np.concatenate(values), np.concatenate(groups)
    turn = np.argsort(owners, kind="stable")
    shown = cast(Any, appearing).index_groups(every[turn], owners[turn].astype(np.int32), number, firsts[-1])
    return ValueLists(shown, np.array(firsts), apart)
