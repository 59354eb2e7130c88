"""What groups of an ambiguous release must keep, and whether they do, judged from the values of their rows alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.families.ambiguity.blocks import Blocks
from discreet.families.ambiguity.kernels import placing
from discreet.kernels.judging import SLACK
from discreet.kernels.presence import value_index as appearing
from discreet.releases.max_presence import BUDGET, PresenceBound, ValueLists, most_believed
from discreet.table.combinations import distinct, ranked_combinations
from discreet.table.table import Table
from discreet.table.texts import number_text


@dataclass(frozen=True)
class Aim:
    """What groups must keep."""

    alpha: float
    """The strongest belief in presence that each group may justify."""
    beta: float
    smallest: int = 1
    """The smallest number of rows in a group."""
    together: float | None = None
    """The strongest belief that all groups covering a person may justify together; None if only alpha counts."""
    others: tuple[float, ...] = ()
    """What ``beta`` is for each further sensitive attribute; it is no smaller."""

    @property
    def needed(self) -> int:
        """The smallest number of rows of a group; at ceil(1 / beta) rows, all their sensitive values must differ."""
        return max(self.smallest, math.ceil(1.0 / self.beta - SLACK))


@dataclass(frozen=True, eq=False)
class CodedRows:
    """The rows to publish, as the kernels represent them."""

    codes: NDArray[np.int32]
    """Per row and block: the number of its value; numbers are unique over all blocks."""
    sensitive_codes: NDArray[np.int32]
    firsts: NDArray[np.int64]
    """Where the numbers of each block's values begin, and where the last block's end."""
    width: int
    """How many sensitive values there are."""
    others: NDArray[np.int32]
    """Per further sensitive attribute and row: its value."""

    @classmethod
    def of(cls, table: Table, rows: NDArray[np.int64], blocks: Blocks, lead: int = 0) -> CodedRows:
        """Return the given rows of a table, coded by the blocks of quasi-identifiers published together.

        Of several sensitive attributes the one at ``lead`` is the one that groups are built for.
        """
        codes = np.empty((len(rows), len(blocks)), np.int32)
        firsts = [0]
        for j, block in enumerate(blocks):
            columns = [table.column(name) for name in block]
            sizes = [len(column.values) for column in columns]
            known, _, places = ranked_combinations([column.codes[rows] for column in columns], sizes, len(rows))
            codes[:, j] = places + firsts[-1]
            firsts.append(firsts[-1] + len(known))
        first, *further = [table.sensitive[lead], *(one for at, one in enumerate(table.sensitive) if at != lead)]
        others = np.array([column.codes[rows] for column in further], np.int32).reshape(len(further), len(rows))
        return cls(codes, first.codes[rows], np.array(firsts), len(first.values), others)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """How many different values each block has."""
        return np.diff(self.firsts)

    @property
    def combinations(self) -> float:
        """The number of combinations of the blocks' values."""
        return float(np.prod(self.numbers.astype(np.float64)))

    @property
    def values(self) -> int:
        """The number of values of all blocks."""
        return int(self.firsts[-1])

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.sensitive_codes)


def lowest_alpha(rows: CodedRows, aim: Aim) -> float:
    """Return a lower bound on alpha: every group has |G| / (the product of its numbers of values) at least this large.

    A group of |G| rows shows at most min(|G|, d) of a block's d values. The quotient does not grow with |G| up to the
    largest d, and grows beyond it; so it is smallest there, or at the smallest size that beta allows if that is larger.
    """
    size = max(aim.needed, int(rows.numbers.max()))
    return size / rows.combinations


def presences(rows: CodedRows, groups: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return, per group, the belief in presence by this group alone; 0 for a group number that no row has."""
    number = int(groups.max(initial=-1)) + 1
    lists = placing.listed(rows.codes, rows.sensitive_codes, groups, number, rows.values)
    product = lists.shown.astype(np.float64).prod(axis=1)
    beliefs: NDArray[np.float64] = np.minimum(1.0, lists.sizes / np.maximum(1.0, product))
    return beliefs


def anyones_presence(
    rows: CodedRows, groups: NDArray[np.int32], limit: float | None = None, budget: int = BUDGET
) -> PresenceBound:
    """Return the strongest combined belief in anyone's presence by all groups that cover them."""
    number = int(groups.max(initial=-1)) + 1
    inside = np.flatnonzero(groups >= 0)
    entries = [distinct(groups[inside].astype(np.int64) * rows.values + column) for column in rows.codes[inside].T]
    listed = np.sort(np.concatenate(entries))
    shown = appearing.index_groups(listed % rows.values, (listed // rows.values).astype(np.int32), number, rows.values)
    return most_believed(ValueLists(shown, rows.firsts), presences(rows, groups), limit=limit, budget=budget)


def kept_together(rows: CodedRows, groups: NDArray[np.int32], aim: Aim, budget: int = BUDGET) -> bool:
    """Whether it is proved that all groups together justify no stronger belief about anyone than ``aim.together``."""
    limit = aim.together
    if limit is None or limit >= 1.0:
        return True
    return anyones_presence(rows, groups, limit, budget).bound <= limit * (1.0 + SLACK)


def kept_as_one(rows: CodedRows, aim: Aim) -> bool:
    """Whether all rows as one group keep alpha and are enough rows."""
    alpha = aim.alpha if aim.together is None else min(aim.alpha, aim.together)
    return len(rows) >= aim.needed and (alpha >= 1.0 or len(rows) <= alpha * rows.combinations + SLACK)


def confirm_presence(rows: CodedRows, groups: NDArray[np.int32], aim: Aim) -> None:
    """Judge once more what is about to be published: a fault in a scheme must not become a broken promise."""
    broken = bool((presences(rows, groups) > aim.alpha + SLACK).any())
    # groups withheld since the first proof change the search, so it gets a larger budget
    if broken or not kept_together(rows, groups, aim, 10 * BUDGET):
        raise AssertionError(f"the partition breaks alpha={number_text(aim.alpha)}; nothing was published")
