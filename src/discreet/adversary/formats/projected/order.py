"""Check that neither places nor group numbers link the rows of different tables.

Tables are shuffled independently. If two had the same order, lines at the same place would belong to one person; if
two had the same groups under the same numbers, numbers would tell which groups correspond. So lines at the same place
(and groups with the same number) are paired, and the check counts how many pairs may belong to one person: their
descriptions have values in common, and some row of the original has both their sensitive values. Given one table, the
other is in random order, so that the number of such pairs has a known mean (see ``checks.coincidences``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.adversary.checks.coincidences import arrangements, exceeding, fitting
from discreet.adversary.checks.order import LEVEL, Finding
from discreet.adversary.formats.generalized.align import Aligned, align
from discreet.adversary.formats.orders import AT_FAULT
from discreet.releases.projected.release import ProjectedRelease
from discreet.table.combinations import numbered
from discreet.table.table import Table

LINES = 600
"""How many lines, or groups, of two tables are compared at most."""
EFFORT = 4_000_000
"""How many pairs of lines are compared at most, of all pairs of tables."""


def order_across(release: ProjectedRelease, original: Table) -> Check:
    """Check that lines and groups of different tables belong together no more often than by chance."""
    if release.faults:
        return AT_FAULT
    tables = []
    for part in release.parts:
        names = [one.name for one in part.sensitive]
        some = tuple(column for column in original.sensitive if column.name in names)
        alone = replace(part, attributes=(*part.quasi, *part.sensitive), others=())
        tables.append(align(alone, replace(original, sensitive=some, other=())))
    pairs = list(combinations(enumerate(tables, 1), 2))
    most = min(LINES, math.isqrt(EFFORT // len(pairs)))
    found = [
        finding
        for (one, first), (other, second) in pairs
        for finding in _linked(f"tables {one} and {other}", first, second, most)
    ]
    worst = max(found, key=lambda finding: finding.surprise)
    if worst.surprise > math.log(len(found) / LEVEL):
        chance = f"by chance that happens less than once in 10^{worst.surprise / math.log(10.0):.0f} releases"
        return Check("order", False, f"The order tells more than the tables say: {worst.what}; {chance}.")
    told = "Lines of different tables at the same place, and groups with the same number, belong together no more often"
    return Check("order", True, f"{told} than by chance.")


def _linked(which: str, one: Aligned, other: Aligned, most: int) -> Iterator[Finding]:
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
        yield from _tests(f"the lines of {which} at the same place belong together", together)
    number = np.arange(min(one.release.groups, other.release.groups, most))
    yield from _tests(f"the groups of {which} with the same number overlap", _overlap(one, other, number, number))


def _tests(what: str, together: NDArray[np.bool_]) -> Iterator[Finding]:
    """Yield how surprising it is that so many pairs on the diagonal belong together."""
    hits = int(together.diagonal().sum())
    yield Finding(what, exceeding(hits, float(together.mean(axis=1).sum())))
    yield Finding(what, fitting(hits, together.sum(axis=1)))


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
