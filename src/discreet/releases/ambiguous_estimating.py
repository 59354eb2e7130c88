"""How many rows of an ambiguous release satisfy a query, as far as its separate tables let one say.

Within a group nothing is known about which values belong to the same row, so they are taken to be independent. The
estimate is the sum over groups of

    (rows of the group whose sensitive value satisfies its conditions)
    x (for each auxiliary table: the share of the group's rows that satisfies the conditions on its attributes),

as in Example 6.1 of "Ambiguity: Hide the Presence of Individuals and Their Privacy with Low Information Loss" (COMAD
2008); its Algorithm 1 adds what has to be multiplied. How many of a group's rows hold each of its entries is not
published. It is taken to be

``product``   the same for all entries, as in the paper: the share is that of the entries;
``weighted``  more for entries that are common in the table, each at least once. How common an entry is, is judged from
              the groups that show it, see `discreet.releases.ambiguous_weights`;
``auto``      weighted if there are 100 groups or more to judge from, which is then far closer to the truth in most
              workloads (`python -m benchmarks ambiguity`), and else as in the paper.

Withheld rows are not in the release and not in the estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.releases.payload import Payload
from discreet.table.moments import Meaning
from discreet.table.query import Condition, Query
from discreet.table.texts import near

if TYPE_CHECKING:
    from discreet.releases.ambiguous import AmbiguousRelease

Estimator = Literal["auto", "product", "weighted"]
Conditions = tuple[tuple[Condition, ...], ...]
"""The conditions on each attribute of a table."""

ENOUGH = 100
"""How many groups it takes to judge from them how common an entry is."""
LINES = 1 << 24
"""How many shares are remembered at a time, over all tables."""
MARKS = 1 << 26
"""How many marks of entries that satisfy conditions on one attribute are remembered at a time, per table."""


def expected_counts(
    release: AmbiguousRelease, queries: Sequence[Query], estimator: Estimator = "auto"
) -> NDArray[np.float64]:
    """How many published rows are expected to satisfy each query."""
    if estimator not in get_args(Estimator):
        raise DiscreetError(f"estimator={estimator!r} is not known; choose {', '.join(get_args(Estimator))}")
    weighted = estimator == "weighted" or (estimator == "auto" and release.groups >= ENOUGH)
    kinds = {attribute.name: attribute.meaning for attribute in release.attributes}
    most = max(1, LINES // max(1, release.groups * (len(release.blocks) + 1)))  # lines of each table
    counts = release.counts
    secret = (Payload(release.values, counts.values),)
    own = (release.sensitive.name,)
    tables = [_Table(own, secret, kinds, counts.groups, counts.amounts, release.groups, most, False)]
    for at, (block, auxiliary) in enumerate(zip(release.blocks, release.auxiliaries, strict=True)):
        each = release.weights[at] if weighted else np.ones(len(auxiliary.groups))
        tables.append(_Table(block, auxiliary.columns, kinds, auxiliary.groups, each, release.groups, most, True))
    sizes = release.sizes.astype(np.float64)
    results, expected = np.empty(len(queries)), np.empty(release.groups)
    for at, query in enumerate(queries):
        asked = query.by_attribute
        for name in asked:
            if name not in kinds:
                raise DiscreetError(f"there is no column {name!r} in the release; {near(name, kinds)}")
        lines = [line for table in tables if (line := table.line(asked)) is not None]
        if release.sensitive.name not in asked:
            lines.insert(0, sizes)
        expected[:] = lines[0]
        for line in lines[1:]:
            np.multiply(expected, line, out=expected)
        results[at] = expected.sum()
    return results


class _Table:
    """One published table: what its lines that satisfy some conditions weigh in each group."""

    def __init__(
        self,
        names: tuple[str, ...],
        columns: tuple[Payload, ...],
        kinds: dict[str, Meaning],
        groups: NDArray[np.integer],
        weights: NDArray[np.float64] | NDArray[np.int64],
        number: int,
        most: int,
        shares: bool,
    ) -> None:
        """``most``: how many lines to remember; ``shares``: whether weights are shares of all weights of the group."""
        self.names, self.columns, self.kinds, self.number, self.most = names, columns, kinds, number, most
        self.groups = groups.astype(np.intp)
        self.weights = weights.astype(np.float64)
        self.totals = np.bincount(self.groups, self.weights, minlength=number) if shares else None
        self._lines: dict[Conditions, NDArray[np.float64]] = {}
        self._masks: dict[tuple[Condition, ...], NDArray[np.bool_]] = {}

    def line(self, asked: dict[str, tuple[Condition, ...]]) -> NDArray[np.float64] | None:
        """The weight of every group under the conditions on this table, None when there are none; not to be written to.

        Few conditions are distinct, so each is put into numbers once, however many queries ask for it.
        """
        conditions = tuple(asked.get(name, ()) for name in self.names)
        if not any(conditions):
            return None
        if conditions not in self._lines:
            if len(self._lines) >= self.most:
                self._lines.clear()
            self._lines[conditions] = self._weigh(conditions)
        return self._lines[conditions]

    def _weigh(self, conditions: Conditions) -> NDArray[np.float64]:
        kept = [self._kept(at, of) for at, of in enumerate(conditions) if of]
        lines = np.flatnonzero(np.logical_and.reduce(kept) if len(kept) > 1 else kept[0])
        found = np.bincount(self.groups[lines], self.weights[lines], minlength=self.number).astype(np.float64)
        if self.totals is None:
            return found
        return np.divide(found, self.totals, out=np.zeros(self.number), where=self.totals > 0)

    def _kept(self, at: int, conditions: tuple[Condition, ...]) -> NDArray[np.bool_]:
        """The entries that satisfy the conditions on one attribute, of which many pairs may be made."""
        if conditions not in self._masks:
            if len(self._masks) * len(self.groups) >= MARKS:
                self._masks.clear()
            column, kind = self.columns[at], self.kinds[self.names[at]]
            admitted = np.ones(len(column.values), np.bool_)
            for condition in conditions:
                admitted &= condition.admits(column.values, kind)
            self._masks[conditions] = admitted[column.codes]
        return self._masks[conditions]
