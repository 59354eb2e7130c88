"""The groups of an ambiguous release: built from buckets of sensitive values; rows left over are placed afterwards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.families.ambiguity.kernels import mending, picking, placing
from discreet.families.ambiguity.kernels.picking import GroupTerms
from discreet.families.ambiguity.kernels.placing import GroupLists, listed
from discreet.families.ambiguity.terms import Aim, CodedRows
from discreet.kernels.exchange import exchange
from discreet.kernels.judging import SLACK
from discreet.principles.counts import Counts
from discreet.progress import Progress, no_progress
from discreet.randomness import generator, permutation
from discreet.schemes.merge_broken import JudgedAttribute
from discreet.table.combinations import narrow, numbered

MANY = 0.1
"""Below this alpha a row must show many combinations."""
NOT_WORTH = {True: 0.05, False: 0.4}
"""Above this share, rows left over are not placed one by one as long as another manner may do better; for groups of
rows near each other, and for others."""
DRAWS = 1 << 16
"""How many random numbers are drawn for exchanging rows, which uses them in turn."""
TRIES = 64
"""With how many groups a group that breaks a promise is tried to be joined at a time, or a row put into."""
VISITS = 50_000_000
"""The approximate number of rows of groups that are visited in total to place the rows left over."""


class Manner(NamedTuple):
    """A way of searching for groups."""

    near: bool
    """Whether groups take rows near each other, or those that show the most new values."""
    window: int
    """How many rows are considered for each row that is picked."""
    reach: float = 1.0
    """The share of alpha that groups of rows near each other aim at; they may exceed it."""
    rounds: int = 1
    """How many rounds of rows groups begin with."""


@dataclass(frozen=True, eq=False)
class GroupSearch:
    """Rows to put into groups, what groups must keep, and where chance comes from."""

    rows: CodedRows
    aim: Aim
    seeded: np.random.Generator | None
    progress: Progress = no_progress

    @cached_property
    def first_size(self) -> tuple[int, int]:
        """How many rows groups begin with, and how many of these may have the same sensitive value.

        This is the smallest size that beta and ``needed`` allow, if the most frequent value is spread over this many
        groups. If its share is close to beta and 1 / beta is not whole, larger groups are needed to contain it. The
        most frequent value of each further attribute must fit likewise.
        """
        rows, aim = self.rows, self.aim
        n = len(rows)
        sizes = np.arange(min(aim.needed, n), n + 1)
        fits, quotas = np.ones(len(sizes), np.bool_), []
        for sensitive_codes, share in zip((rows.sensitive_codes, *rows.others), (aim.beta, *aim.others), strict=True):
            quotas.append(np.floor(share * sizes + SLACK).astype(np.int64))
            fits &= quotas[-1] * (n // sizes) >= int(np.bincount(sensitive_codes).max())
        at = int(fits.argmax())
        return int(sizes[at]), int(quotas[0][at])

    def build(self, manner: Manner, placing: float | None = None) -> NDArray[np.int32]:
        """Return the groups found in one manner, with the rows left over placed where they fit.

        Rows left over are placed only if they are at most a share of ``placing`` (default: ``NOT_WORTH``).
        """
        rows, aim = self.rows, self.aim
        self.progress("building groups", 0.0)
        size, quota = self.first_size
        order = self._order(manner)
        codes, sensitive_codes = np.ascontiguousarray(rows.codes[order]), rows.sensitive_codes[order]
        groups = np.full(len(rows), -1, np.int32)
        left, number = np.arange(len(rows)), 0
        # the rows that the first pass leaves over may still form wider groups
        for wide in (False, True) if manner.near else (True,):
            alpha = aim.alpha if wide else aim.alpha * manner.reach
            terms = GroupTerms(alpha, aim.beta, size, quota, manner.rounds, manner.window, not wide)
            if wide and len(left) < len(rows):
                left = left[np.argsort(sensitive_codes[left], kind="stable")]
            built, more = picking.build_groups(codes[left], sensitive_codes[left], rows.values, rows.width, terms)
            groups[left] = np.where(built < 0, -1, built + number)
            number += more
            left = left[built < 0]
            self.progress("building groups", 0.5 if manner.near and not wide else 1.0)
            if len(left) < size:
                break
        most = placing if placing is not None else NOT_WORTH[manner.near]
        if number and 0 < len(left) <= most * len(rows):
            lists = listed(codes, sensitive_codes, groups, number, rows.values)
            self._place(lists, groups, np.sort(left), manner.near)
            self.progress("placing residues", 1.0)
        result = np.empty(len(rows), np.int32)
        result[order] = groups
        if number and len(rows.others):
            self._spread_others(result, number)
            self.progress("spreading values", 1.0)
        return result

    def _order(self, manner: Manner) -> NDArray[np.int64]:
        """Return the rows in the order in which they are considered: random but for what groups are to share."""
        rows, order = self.rows, permutation(len(self.rows), self.seeded)
        if manner.near:
            entropies = np.array([_entropy(column) for column in rows.codes.T])
            rising = _sorted_by(entropies, self.first_size[0] * manner.rounds, self.aim.alpha * manner.reach)
            columns = [rows.codes[:, j] - rows.firsts[j] for j in rising]
            keys = numbered(columns, rows.numbers[rising].tolist(), len(rows))
        else:
            keys = narrow(rows.sensitive_codes, rows.width)
        return order[np.argsort(keys[order], kind="stable")]

    def _spread_others(self, groups: NDArray[np.int32], number: int) -> None:
        """Change groups until they also keep what is promised about the further sensitive attributes.

        First rows with the same value of the first attribute change places, so that no value of another is repeated
        more often than it may be; then groups that break a promise, or by these changes alpha, are joined with others.
        Rows of groups that this does not mend are put where they fit, or are in none.
        """
        rows, aim = self.rows, self.aim
        inside = np.flatnonzero(groups >= 0)
        published, sensitive_codes = groups[inside], np.ascontiguousarray(rows.others[:, inside])
        sizes = np.bincount(published, minlength=number)
        allowed = np.stack([np.floor(sizes * share + SLACK).astype(np.int64) for share in aim.others])
        draws = (self.seeded or generator()).random(DRAWS)
        exchange(published, number, rows.sensitive_codes[inside], sensitive_codes, allowed, draws)
        groups[inside] = published
        every = np.vstack([rows.sensitive_codes[None], rows.others]).astype(np.int64)
        firsts = np.concatenate([[0], np.cumsum(every.max(axis=1) + 1)])
        terms = mending.Rows(rows.codes, every + firsts[:-1, None], np.array([aim.beta, *aim.others]), aim.alpha)
        turn = permutation(number, self.seeded)
        mending.mend(terms, groups, number, turn, rows.values, int(firsts[-1]), TRIES)

    def _place(self, lists: GroupLists, groups: NDArray[np.int32], left: NDArray[np.int64], near: bool) -> None:
        """Find groups for the rows left over, trying the nearest in the order of the rows first."""
        alpha, beta, number = self.aim.alpha, self.aim.beta, len(lists.sizes)
        inside = np.flatnonzero(groups >= 0)
        starts = groups[inside[np.minimum(np.searchsorted(inside, left), len(inside) - 1)]].astype(np.int64)
        if not near and len(left) <= len(inside):
            starts = permutation(len(inside), self.seeded)[: len(left)] % number
        turn = np.arange(len(left)) if near else permutation(len(left), self.seeded)
        left, starts = left[turn], starts[turn]
        visits = VISITS * number // len(groups)  # placed rows make groups longer to visit
        for lacking in (True, False, False):  # a group that has grown may have room for rows that it had no room for
            placing.place_rows(left, starts, lists, groups, alpha, beta, max(4, visits // (3 * len(left))), lacking)
        still = groups[left] < 0
        if still.any():
            tries = max(1, visits // (placing.OTHERS * int(still.sum())))
            placing.join_groups(left[still], starts[still], lists, groups, alpha, beta, tries, self.rows.values)


def _sorted_by(entropies: NDArray[np.float64], size: int, alpha: float) -> NDArray[np.intp]:
    """Return the blocks by which rows are sorted, the least informative first, for groups of ``size`` rows.

    Rows next to each other are then equal in the first blocks. A row that must show many combinations needs rows that
    differ in several blocks: the last blocks are left out as soon as these alone would show twice as many as needed.
    """
    rising = np.argsort(entropies, kind="stable")
    product = 1.0
    for at in range(len(rising) - 1, 0, -1) if alpha < MANY else ():
        product *= min(float(size), math.exp(entropies[rising[at]]))
        if product >= 2.0 * size / alpha:
            return rising[:at]
    return rising


def _entropy(codes: NDArray[np.int32]) -> float:
    """Return the entropy of the values of a block."""
    held = np.bincount(codes - codes.min()).astype(np.float64)
    held = held[held > 0] / len(codes)
    return float(-(held * np.log(held)).sum())


def withhold_with_groups(groups: NDArray[np.int32], attributes: Sequence[JudgedAttribute]) -> NDArray[np.int32]:
    """Return the groups without those that must be withheld so that all withheld rows as one group keep the promise
    about every sensitive attribute."""
    inside = groups >= 0
    if not inside.any():
        return groups
    number = int(groups.max()) + 1
    gone = np.zeros(number, np.bool_)
    withheld = [np.bincount(each.sensitive_codes[~inside], minlength=len(each.prior.counts)) for each in attributes]
    counts = [
        Counts.of_rows(groups[inside], each.sensitive_codes[inside], number, len(each.prior.counts))
        for each in attributes
    ]

    def broken() -> int | None:
        """Return the first attribute about which the withheld rows break the promise."""
        kept = (each.promise.holds(line[None], each.prior)[0] for each, line in zip(attributes, withheld, strict=True))
        return next((at for at, holds in enumerate(kept) if not holds), None)

    while (at := broken()) is not None and not gone.all():
        # first the groups with the smallest share of the value that is too frequent among the withheld rows
        within, worst = counts[at], int(withheld[at].argmax())
        amounts = np.zeros(number)
        amounts[within.groups[within.values == worst]] = within.amounts[within.values == worst]
        turn = np.lexsort((within.sizes, amounts / np.maximum(1, within.sizes), gone))
        for g in turn[: int((~gone).sum())]:
            gone[g] = True
            withheld = [line + each.line(int(g)) for line, each in zip(withheld, counts, strict=True)]
            if int(withheld[at].argmax()) != worst or broken() != at:
                break
    result = groups.copy()
    result[inside & gone[np.maximum(groups, 0)]] = -1
    return result
