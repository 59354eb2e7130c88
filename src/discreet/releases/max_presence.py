"""The most that all groups of a release say together about the presence of anyone, in the table or not.

Each group lists values per quasi-identifier (or per block of these), and covers every combination of them. What the
covering groups say together is 1 - (1 - p1)(1 - p2)..., so that the combination with the largest sum of -log(1 - p) is
looked for, among far more combinations than could be gone through. The groups that show one value more are fewer; so
the largest sum over one value of any one block bounds what a combination of the values chosen so far can come to. The
search goes on where that bound is largest. It ends with the largest sum, or, when it has looked at as much as it may,
with the bound that no combination goes beyond.
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
from discreet.kernels.presence import covering
from discreet.kernels.presence import value_index as appearing
from discreet.kernels.presence.value_index import Shown

kernels = cast(Any, covering)

BUDGET = 50_000_000
"""How many entries of lists the search looks at before it is content with a bound."""
PUSH = 100
"""How many entries could be looked at in the time that it takes to remember one more choice of values."""
ENTRIES = 16_000_000
"""How many entries the lists of boxes may have, about, before values that are near each other are taken for one."""
ROUNDING = 1e-12
"""By what share sums of the same weights may differ; a chance that is closer to 1 counts as certainty."""
CERTAIN = -math.log(2.0 * ROUNDING)
"""The sum from which on there is no doubt."""


class PresenceBound(NamedTuple):
    """The largest belief in anyone's presence: some combination is believed in with ``reached``, none beyond ``bound``.

    The two are the same where the search came to its end.
    """

    reached: float
    bound: float

    @property
    def exact(self) -> bool:
        """Whether the bound is reached."""
        return self.bound <= self.reached * (1.0 + SLACK)


class ValueLists(NamedTuple):
    """Which groups cover which values."""

    shown: Shown
    firsts: NDArray[np.int64]
    """The first value of each block, and the number of all values."""
    apart: bool = True
    """Whether every value is one of its own; else a value may stand for several that are covered by some groups."""


def most_believed(
    lists: ValueLists,
    chances: NDArray[np.float64],
    known: float = 0.0,
    limit: float | None = None,
    budget: int = BUDGET,
) -> PresenceBound:
    """The largest belief in the presence of anyone, by all groups together that cover them with these chances.

    ``known`` is a belief that is reached by someone. With a ``limit`` the search only tells whether anyone is believed
    in more than that: it ends with the first who is, or with the limit itself for a bound.

    >>> shown = cast(Any, appearing).index_groups(np.array([0, 2, 0, 1, 3]), np.array([0, 0, 1, 1, 1], np.int32), 2, 4)
    >>> most_believed(ValueLists(shown, np.array([0, 2, 4])), np.array([0.5, 0.5]))
    PresenceBound(reached=0.5, bound=0.5)
    """
    if not len(chances) or chances.max() <= 0.0 or not np.diff(lists.firsts).all():
        return PresenceBound(known, known)  # nobody has a value of each block
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
        if len(chosen) == search.blocks - 1 and lists.apart:  # a value of the last block completes a combination
            best = max(best, float(sums.max()))
            continue
        further = np.flatnonzero(sums > enough)
        search.looked_at += PUSH * len(further)
        for value in further.tolist():
            heapq.heappush(choices, (-float(sums[value]), depth - 1, (*chosen, (block, value))))
    else:
        bound = 0.0  # all that was left out is no more than the best
    if best >= CERTAIN:
        return PresenceBound(1.0, 1.0)
    return PresenceBound(-math.expm1(-best), -math.expm1(-max(best, floor, bound)))


Chosen = tuple[tuple[int, int], ...]
"""Blocks, and the place of the value that was chosen among those of each."""


class _Search:
    """What is added up over and over again, and how much was looked at so far."""

    def __init__(self, lists: ValueLists, chances: NDArray[np.float64]) -> None:
        self.lists, self.weights, self.looked_at = lists, -np.log1p(-chances), 0
        self.total = float(self.weights.sum())
        self.blocks = len(lists.firsts) - 1
        values, shown = int(lists.firsts[-1]), lists.shown
        turn = np.argsort(shown.groups, kind="stable")
        self.entries = np.repeat(np.arange(values), np.diff(shown.starts))[turn]
        self.starts = np.searchsorted(shown.groups[turn], np.arange(len(chances) + 1))
        self.found, self.held = np.empty(len(chances), np.int64), np.empty(values)

    def sums(self, chosen: Chosen) -> tuple[int, NDArray[np.float64]]:
        """Of the blocks without a chosen value the one that bounds most, and the sums of its values."""
        firsts = self.lists.firsts
        still = np.ones(self.blocks, np.bool_)
        still[[block for block, _ in chosen]] = False
        fixed = np.array([firsts[block] + value for block, value in chosen], np.int64)
        block, _, looked_at = kernels.weigh_values(
            fixed, still, self.lists.shown, self.starts, self.entries, self.weights, firsts, self.found, self.held
        )
        self.looked_at += looked_at
        return block, self.held[firsts[block] : firsts[block + 1]].copy()

    def straight(self) -> float:
        """What the combination comes to that takes the largest sum of every block in turn."""
        chosen: Chosen = ()
        largest = 0.0
        for _ in range(self.blocks):
            block, sums = self.sums(chosen)
            chosen, largest = (*chosen, (block, int(sums.argmax()))), float(sums.max())
        return largest


def lists_of_boxes(described: Boxes, sizes: Sequence[int]) -> ValueLists:
    """The codes that boxes admit, as lists; codes that the same boxes admit are one value.

    ``sizes``: how many codes each axis has. Where lists would be too long, neighbouring codes become one value, which
    a box lists when it admits any of them: what is said of these bounds what is said of each.

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
            own = np.unique(place[listed])
            values.append(own + firsts[-1])
            groups.append(np.full(len(own), group))
        firsts.append(firsts[-1] + len(cuts))
    every, owners = np.concatenate(values), np.concatenate(groups)
    turn = np.argsort(owners, kind="stable")
    shown = cast(Any, appearing).index_groups(every[turn], owners[turn].astype(np.int32), number, firsts[-1])
    return ValueLists(shown, np.array(firsts), apart)
