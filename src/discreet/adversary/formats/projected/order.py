"""Check that neither places nor group numbers link the rows of different tables.

Tables are shuffled independently. If two had the same order, lines at the same place would belong to one person; if
two had the same groups under the same numbers, numbers would tell which groups correspond. So lines at the same place
(and groups with the same number) are paired, and the check counts how many pairs may belong to one person: their
descriptions have values in common, and some row of the original has both their sensitive values. Given one table, the
other is in random order, so that the number of such pairs has a known mean (see ``checks.coincidences``).

A test of so few pairs may miss tables that are lined up in part. So the check also tells which share of the lines would
have to be lined up for it to notice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned, places_in, quasi_column
from discreet.adversary.check import Check
from discreet.adversary.checks.coincidences import arrangements, exceeding, fitting
from discreet.adversary.checks.order import Finding, as_far_as_told, limit_of, revealing
from discreet.adversary.formats.orders import AT_FAULT
from discreet.principles.wording import percent
from discreet.table.combinations import numbered
from discreet.table.table import Table

LINES = 600
"""How many lines, or groups, of two tables are compared at most."""
EFFORT = 4_000_000
"""How many pairs of lines are compared at most, of all pairs of tables."""


class Pairs(NamedTuple):
    """Pairs of lines at the same place, or of groups with the same number."""

    what: str
    hits: int
    """How many of them may belong together."""
    among: NDArray[np.int64]
    """Per line of one table: how many of those of the other may belong to it."""
    lines: bool

    def tests(self, hits: int) -> list[Finding]:
        """Return how surprising so many hits would be, by two bounds."""
        mean = float(self.among.sum()) / max(1, len(self.among))
        return [Finding(self.what, surprise) for surprise in (exceeding(hits, mean), fitting(hits, self.among))]

    def found(self, hits: int, limit: float) -> bool:
        """Whether so many hits would be too surprising."""
        return any(test.surprise > limit for test in self.tests(hits))

    def noticed(self, limit: float) -> float | None:
        """Return the smallest share of pairs whose being lined up would be noticed; None if not even all would be."""
        number = len(self.among)
        if not number or not self.found(number, limit):
            return None
        low, high = 0, number  # so many hits are noticed at the end, and none at the start
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.found(middle, limit) else (middle, high)
        mean = float(self.among.sum()) / number
        return max(0.0, high - mean) / max(1.0, number - mean)


def order_across(tables: Sequence[Aligned]) -> Check:
    """Check that lines and groups of different tables belong together no more often than by chance."""
    if any(one.release.faults for one in tables):
        return AT_FAULT
    pairs = list(combinations(enumerate(tables, 1), 2))
    most = min(LINES, math.isqrt(EFFORT // len(pairs)))
    return _judged(
        [
            look
            for (one, first), (other, second) in pairs
            for look in _linked(f"tables {one} and {other}", first, second, most)
        ]
    )


def order_across_exact(tables: Sequence[Any], original: Table) -> Check:
    """Check the same of tables whose quasi-identifiers are as they were: lines with the same ones belong together."""
    if any(release.faults for release in tables):
        return AT_FAULT
    columns = []
    for at, attribute in enumerate(tables[0].quasi):
        column = quasi_column(attribute, original)
        columns.append(np.concatenate([places_in(one.exact[at], column)[one.exact[at].codes] for one in tables]))
    widths = [int(column.max(initial=0)) + 1 for column in columns]
    both = np.unique(numbered(columns, widths, len(columns[0])), return_inverse=True)[1]
    of = np.split(both, np.cumsum([one.rows for one in tables[:-1]]))
    found = []
    for (one, first), (other, second) in combinations(enumerate(of, 1), 2):
        rows = min(len(first), len(second))
        what = f"the lines of tables {one} and {other} at the same place belong together"
        held = np.bincount(second[:rows], minlength=int(both.max(initial=-1)) + 1)
        for arranged in arrangements(np.arange(rows)):
            found.append(Pairs(what, int((first[:rows] == second[arranged]).sum()), held[first[:rows]], True))
        pair = tables[one - 1].grouped, tables[other - 1].grouped
        if None not in pair:
            together = _shared(first, pair[0].group_of, second, pair[1].group_of)
            found.append(
                _pairs(f"the groups of tables {one} and {other} with the same number overlap", together, False)
            )
    return _judged(found)


def _shared(
    first: NDArray[np.int64], groups: NDArray[np.int32], second: NDArray[np.int64], others: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Return, for each pair of a group of one table and one of another, whether lines of theirs are alike."""
    from scipy.sparse import csr_array

    number = min(int(groups.max(initial=-1)), int(others.max(initial=-1)), LINES - 1) + 1
    kinds = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
    each = []
    for lines, of in ((first, groups), (second, others)):
        kept = np.flatnonzero(of < number)
        each.append(csr_array((np.ones(len(kept)), (of[kept], lines[kept])), shape=(number, kinds)))
    return np.asarray((each[0] @ each[1].T).toarray() > 0)


def _judged(found: Sequence[Pairs]) -> Check:
    """Return whether any pairs belong together more often than by chance."""
    findings = [test for look in found for test in look.tests(look.hits)]
    told = "Lines of different tables at the same place, and groups with the same number, belong together no more often"
    shares = [look.noticed(limit_of(findings)) for look in found if look.lines]
    return revealing(findings) or Check("order", True, f"{told} than by chance, {_power(shares)}.")


def _power(shares: Sequence[float | None]) -> str:
    """Return what the test would notice, by the share of the lines that would have to be lined up in each test."""
    known = [share for share in shares if share is not None]
    if len(known) < len(shares) or not known:
        return "but with so few lines, or so wide groups, tables in the same order cannot be told from random ones"
    return as_far_as_told(f"tables would be found of which {percent(max(known))} of the lines are in the same order")


def _linked(which: str, one: Aligned, other: Aligned, most: int) -> Iterator[Pairs]:
    """Yield the tests of two tables, on ``most`` lines."""
    pairs = numbered([one.had, other.had], [one.kinds + 1, other.kinds + 1], len(one.had))
    held = np.unique(pairs)
    rows = min(len(one.shown), len(other.shown))
    first = np.arange(min(rows, most))
    for second in arrangements(np.arange(rows), most):
        groups = one.release.group_of[first], other.release.group_of[second]
        together = _overlap(one, other, *groups)
        keys = one.shown[first][:, None] * (other.kinds + 1) + other.shown[second][None, :]
        together &= np.isin(keys, held)
        yield _pairs(f"the lines of {which} at the same place belong together", together, True)
    number = np.arange(min(one.release.groups, other.release.groups, most))
    yield _pairs(f"the groups of {which} with the same number overlap", _overlap(one, other, number, number), False)


def _pairs(what: str, together: NDArray[np.bool_], lines: bool) -> Pairs:
    """Return how many pairs on the diagonal belong together, and how many could."""
    return Pairs(what, int(together.diagonal().sum()), together.sum(axis=1), lines)


def _overlap(
    one: Aligned, other: Aligned, groups: NDArray[np.integer], others: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """Return, for each pair of a group of one table and one of another, whether their ranges overlap everywhere."""
    low, high = one.boxes.low[groups], one.boxes.high[groups]
    bottom, top = other.boxes.low[others], other.boxes.high[others]
    found = np.ones((len(groups), len(others)), np.bool_)
    for axis in range(low.shape[1]):
        found &= (low[:, None, axis] <= top[None, :, axis]) & (bottom[None, :, axis] <= high[:, None, axis])
    return found
