"""How good counts from a release are: the median error of random ones, beside what one group would have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.analyst.queries import relative_errors
from discreet.analyst.workload import run, workload
from discreet.principles.wording import percent
from discreet.releases.bit_counts import exact_counts
from discreet.releases.release import Release
from discreet.table.query import Query
from discreet.table.table import Table

NUMBER, SELECTIVITY, SEED = 1_000, 0.1, 0
"""How many counts are asked, and which share of the rows each is expected to select."""
LISTED = 5_000_000
"""About how many categories all conditions may list together: with very many there are fewer counts."""


@dataclass(frozen=True)
class Quality:
    """The median relative errors of random counts; None where no count can be judged.

    Each has conditions on two quasi-identifiers, if there are two, and on a sensitive attribute.
    """

    median_error: float | None
    """Of counts that are estimated from the release."""
    baseline_error: float | None
    """Of the same counts from exact quasi-identifiers and the sensitive values of the whole table, apart: what one
    group tells, and so what could be published under any promise. None if nothing is sensitive."""
    counts: int
    """How many counts were judged: those of at least one row."""

    @property
    def sentence(self) -> str | None:
        """What it says, in a sentence; None if there is nothing to say.

        >>> print(Quality(0.057, 0.11, 1000).sentence)
        Counts are off by 5.7 % (median of 1,000 random ones); one group with exact quasi-identifiers would have 11.0 %.
        """
        if self.median_error is None:
            return None
        text = f"Counts are off by {percent(self.median_error)} (median of {self.counts:,} random ones)"
        if self.baseline_error is None:
            return f"{text}."
        return f"{text}; one group with exact quasi-identifiers would have {percent(self.baseline_error)}."

    def as_dict(self) -> dict[str, Any]:
        """The figures, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Asked:
    """The random counts by which releases of a table are judged, the same for all of them."""

    queries: Sequence[Query]
    exact: NDArray[np.int64]
    """How many rows of the table satisfy each query."""

    @classmethod
    def of(cls, table: Table) -> Asked:
        """Draw the counts."""
        most = min(2, len(table.quasi))
        widest = max([1, *(len(column.values) for column in table.columns if column.kind != "numeric")])
        number = max(NUMBER // 10, min(NUMBER, LISTED // widest))
        queries = workload(table, dimensionality=most, selectivity=SELECTIVITY, number=number, seed=SEED)
        return cls(queries, exact_counts(table, queries))

    def baseline_error(self, table: Table) -> float | None:
        """The median error of these counts from one group; None if nothing is sensitive or no count can be judged."""
        if not table.sensitive or not self.exact.any():
            return None
        names = {column.name for column in table.sensitive}
        by_quasi, by_value = (
            exact_counts(table, [_only(query, names, sensitive) for query in self.queries])
            for sensitive in (False, True)
        )
        return float(np.nanmedian(relative_errors(by_quasi * (by_value / table.rows), self.exact)))


def quality(release: Release, table: Table) -> Quality:
    """How good counts from a release of a table are.

    >>> import discreet as dc
    >>> from discreet.datasets import census
    >>> table = census(500)
    >>> found = quality(dc.publish(table, dc.BetaLikeness(2), "baseline"), table)
    >>> abs(found.median_error - found.baseline_error) < 1e-9
    True
    """
    asked = Asked.of(table)
    found = run(release, table, asked.queries, asked.exact)
    if found.dropped == found.queries:
        return Quality(None, None, 0)
    median = None if math.isnan(found.median) else found.median
    return Quality(median, asked.baseline_error(table), found.queries - found.dropped)


def _only(query: Query, names: set[str], sensitive: bool) -> Query:
    """The conditions of a query on the sensitive attributes of these names, or on others."""
    return Query(tuple(each for each in query.conditions if (each.attribute in names) is sensitive))
