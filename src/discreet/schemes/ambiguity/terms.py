"""What groups of an ambiguous release have to keep, and whether they do: judged from the values of their rows alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.ambiguity import placing
from discreet.kernels.judging import SLACK
from discreet.kernels.presence import value_index as appearing
from discreet.principles.wording import exact
from discreet.releases.ambiguous.blocks import Blocks
from discreet.releases.max_presence import BUDGET, PresenceBound, ValueLists, most_believed
from discreet.table.combinations import distinct, numbered
from discreet.table.table import Table


@dataclass(frozen=True)
class Aim:
    """What groups have to keep."""

    alpha: float
    """What each group may say about presence."""
    beta: float
    smallest: int = 1
    """How many rows a group has at least."""
    together: float | None = None
    """What all groups that cover a person may say together; None when only each of them keeps alpha."""

    @property
    def needed(self) -> int:
        """How many rows a group has at least, of different sensitive values if no more."""
        return max(self.smallest, math.ceil(1.0 / self.beta - SLACK))


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows that are to be published, as the kernels see them."""

    codes: NDArray[np.int32]
    """Per row and block: its value, every value of every block having a number of its own."""
    classes: NDArray[np.int32]
    firsts: NDArray[np.int64]
    """Where the numbers of each block's values begin, and where they end."""
    width: int
    """How many sensitive values there are."""

    @classmethod
    def of(cls, table: Table, rows: NDArray[np.int64], blocks: Blocks) -> CodedRows:
        """These rows of a table, with those quasi-identifiers published together."""
        codes = np.empty((len(rows), len(blocks)), np.int32)
        firsts = [0]
        for j, block in enumerate(blocks):
            columns = [table.column(name) for name in block]
            keys = numbered([column.codes[rows] for column in columns], [len(c.values) for c in columns], len(rows))
            places, number = dense_codes(keys)
            codes[:, j] = places + firsts[-1]
            firsts.append(firsts[-1] + number)
        return cls(codes, table.classes[rows], np.array(firsts), len(table.prior_counts))

    @property
    def numbers(self) -> NDArray[np.int64]:
        """How many different values each block has."""
        return np.diff(self.firsts)

    @property
    def combinations(self) -> float:
        """How many combinations of their values there are."""
        return float(np.prod(self.numbers.astype(np.float64)))

    @property
    def values(self) -> int:
        """How many values all blocks have."""
        return int(self.firsts[-1])

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.classes)


def lowest_alpha(rows: CodedRows, aim: Aim) -> float:
    """An alpha below which no group can be: |G| / (the product of its numbers of values) is at least this.

    A group of |G| rows shows at most min(|G|, d) of a block's d values. The quotient does not grow with |G| up to the
    largest d, and grows beyond; so it is least there, or at the smallest size that beta allows if that is more.
    """
    size = max(aim.needed, int(rows.numbers.max()))
    return size / rows.combinations


def dense_codes(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Whole numbers replaced by their ranks, and how many different ones there are.

    >>> dense_codes(np.array([7, 3, 7]))[0].tolist()
    [1, 0, 1]
    """
    if len(keys) and keys.max() < 4 * len(keys) + 1024:
        used = np.bincount(keys) > 0
        return (np.cumsum(used) - 1)[keys], int(used.sum())
    found, places = np.unique(keys, return_inverse=True)
    return places, len(found)


def presences(rows: CodedRows, groups: NDArray[np.int32]) -> NDArray[np.float64]:
    """Per group (-1 for rows in none): the belief in presence by it alone; 0 for a number that no row has."""
    number = int(groups.max(initial=-1)) + 1
    lists = cast(Any, placing).listed(rows.codes, rows.classes, groups, number, rows.values)
    product = lists.shown.astype(np.float64).prod(axis=1)
    beliefs: NDArray[np.float64] = np.minimum(1.0, lists.sizes / np.maximum(1.0, product))
    return beliefs


def anyones_presence(
    rows: CodedRows, groups: NDArray[np.int32], limit: float | None = None, budget: int = BUDGET
) -> PresenceBound:
    """The largest belief in anyone's presence by all groups that cover them together; see ``releases.max_presence``."""
    number = int(groups.max(initial=-1)) + 1
    inside = np.flatnonzero(groups >= 0)
    entries = [distinct(groups[inside].astype(np.int64) * rows.values + column) for column in rows.codes[inside].T]
    listed = np.sort(np.concatenate(entries))
    shown = cast(Any, appearing).index_groups(
        listed % rows.values, (listed // rows.values).astype(np.int32), number, rows.values
    )
    return most_believed(ValueLists(shown, rows.firsts), presences(rows, groups), limit=limit, budget=budget)


def kept_together(rows: CodedRows, groups: NDArray[np.int32], aim: Aim, budget: int = BUDGET) -> bool:
    """Whether it is proved that all groups together say no more about anyone than they may."""
    limit = aim.together
    if limit is None or limit >= 1.0:
        return True
    return anyones_presence(rows, groups, limit, budget).bound <= limit * (1.0 + SLACK)


def kept_as_one(rows: CodedRows, aim: Aim) -> bool:
    """Whether all rows as one group keep alpha and are enough."""
    alpha = aim.alpha if aim.together is None else min(aim.alpha, aim.together)
    return len(rows) >= aim.needed and (alpha >= 1.0 or len(rows) <= alpha * rows.combinations + SLACK)


def confirm_presence(rows: CodedRows, groups: NDArray[np.int32], aim: Aim) -> None:
    """Judge once more what is about to be published: a fault in a scheme must not become a broken promise."""
    broken = bool((presences(rows, groups) > aim.alpha + SLACK).any())
    # groups that were withheld since may have made the search shorter
    if broken or not kept_together(rows, groups, aim, 10 * BUDGET):
        raise AssertionError(f"the partition breaks alpha={exact(aim.alpha)}; nothing was published")
