"""Two schemes: one that groups rows, and so needs no format of its own, and one that makes separate releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.extend import (
    Counts,
    GroupingScheme,
    GroupingTask,
    Principle,
    Prior,
    Progress,
    Refusal,
    Release,
    Scheme,
    Table,
    Values,
    feasible,
    generator,
    published_rows,
)
from discreet_toy.separate import SeparateRelease


@dataclass(frozen=True, kw_only=True)
class Halves(GroupingScheme):
    """Two groups, up to and above the median of the first quasi-identifier, or one if either would break the promise.

    Why the promise is kept: the halves are published only if both keep it; otherwise all rows are one group, and tables
    whose rows as a whole break the promise are refused.
    """

    name: ClassVar[str] = "halves"

    values: Values = "interval"
    random_state: int | None = None

    def groups(self, task: GroupingTask) -> NDArray[np.int32]:
        """The half of every row, or 0 for all rows."""
        codes = task.table.quasi[0].codes[task.rows]
        half = (codes > np.median(codes)).astype(np.int32)
        counts = Counts.of_rows(half, task.sensitive_codes, 2, len(task.prior.counts))
        return half if bool(task.principle.holds(counts, task.prior).all()) else np.zeros_like(half)


@dataclass(frozen=True, kw_only=True)
class Separate(Scheme):
    """Publishes quasi-identifiers and sensitive values in separate tables.

    Why the promise is kept: whoever is found in the table may have any of its sensitive values, so that the belief in
    each is its share in the whole table, which is judged before anything is published. Chance only decides which rows
    are withheld along with those that lack values.
    """

    name: ClassVar[str] = "separate"
    format: ClassVar[type[Release]] = SeparateRelease

    random_state: int | None = None

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Refuse to hide rows among others, because quasi-identifiers are published as they are."""
        if any(not part.about_values for part in principle.parts):
            return Refusal(f"scheme {self.name!r} publishes quasi-identifiers as they are", principle)
        return super().refusal(principle, prior)

    def release_of(self, table: Table, principle: Principle, progress: Progress | None = None) -> SeparateRelease:
        """Publish all rows that need not be withheld; raises if together they break the promise."""
        prior = feasible(self, table, principle)
        rows = published_rows(table, principle, prior, generator(self.random_state))
        return SeparateRelease.of_rows(table, rows, **self.statement(principle, self.random_state is not None))
