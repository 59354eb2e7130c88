"""The prior: how the sensitive values are distributed in the whole table, which everyone is assumed to know."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.principles.counts import Counts
from discreet.table.hierarchy import Hierarchy
from discreet.table.moments import Notation, written
from discreet.table.table import Column, Kind, Table
from discreet.table.texts import LARGEST_WHOLE

MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class Prior:
    """The counts of the sensitive values in the whole table, and what is known about the values.

    A table without a sensitive attribute has a prior with ``attribute=None`` and all rows under one nameless value:
    enough for k-anonymity, and refused by every other promise.

    >>> prior = Prior(np.array([2, 3, 5]), ("flu", "cold", "cough"))
    >>> prior.rows, prior.frequencies.tolist()
    (10, [0.2, 0.3, 0.5])
    """

    counts: NDArray[np.int64]
    """How many rows hold each value; 0 for values that a hierarchy declares and the table does not hold."""
    values: tuple[str, ...]
    """The values as texts, in the order of their codes."""
    kind: Kind = "categorical"
    hierarchy: Hierarchy | None = None
    attribute: str | None = "sensitive"
    """The name of the sensitive attribute; ``None`` when the table has none."""
    numbers: NDArray[np.float64] | None = None
    """The values as numbers when the attribute is numeric, NaN where one is missing; read from ``values`` when they are
    not given, and ``None`` when those are no numbers."""
    notation: Notation = "number"
    """How the numbers are written: those of dates are days, or seconds where there is a time of day."""
    persons: int | None = None
    """How many persons there are, where values are counted by persons, who may have several; else None."""
    remembered: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    """What promises have found out about the values, and would have to again."""

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        counts = np.array(self.counts, dtype=np.int64)
        if counts.ndim != 1 or len(counts) != len(self.values) or (counts < 0).any():
            raise DiscreetError(f"column '{self.attribute}' needs one count of at least 0 for each of its values")
        if counts.sum() == 0:
            raise DiscreetError("the table has no rows, so there is nothing to publish; check the input")
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)
        if self.numbers is None and self.kind == "numeric":
            object.__setattr__(self, "numbers", _numbers(self.values))

    @classmethod
    def of(cls, table: Table) -> Prior:
        """The prior of a table: of all its rows, including those that will be withheld.

        Where several attributes are sensitive, that of the first; see ``of_column`` for the others.
        """
        column = table.sensitive
        return cls(np.array([table.rows]), ("",), attribute=None) if column is None else cls.of_column(column)

    @classmethod
    def of_column(cls, column: Column) -> Prior:
        """The prior of one sensitive attribute."""
        counts = np.bincount(column.codes, minlength=len(column.values))
        numbers = None
        if column.kind == "numeric" and column.values.dtype.kind in "iuf":
            numbers = column.values.astype(np.float64)
            if column.missing is not None:
                numbers[column.missing] = np.nan
        return cls(counts, _texts(column), column.kind, column.hierarchy, column.name, numbers, column.notation)

    @classmethod
    def of_persons(cls, table: Table) -> Prior:
        """The prior that counts persons: how many have each value in any of their rows."""
        assert table.person is not None
        held = Counts.of_persons(
            np.zeros(table.rows, np.int64), table.person, table.classes, 1, len(Prior.of(table).values)
        )
        return replace(Prior.of(table), counts=held.line(0), persons=table.persons)

    @property
    def rows(self) -> int:
        """How many rows the whole table has, or persons where values are counted by these."""
        return int(self.counts.sum()) if self.persons is None else self.persons

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """The share of each value in the whole table."""
        return np.asarray(self.counts / self.rows, dtype=np.float64)

    @property
    def most_frequent(self) -> int:
        """The code of the most frequent value."""
        return int(self.counts.argmax())

    @property
    def rarest(self) -> int:
        """The code of the rarest value that the table holds."""
        return int(np.where(self.counts > 0, self.counts, self.rows + 1).argmin())

    def require_numbers(self, promise: str) -> NDArray[np.float64]:
        """The values as numbers, refused when the attribute is not numeric."""
        if self.numbers is None:
            raise DiscreetError(
                f"{promise} is about numbers and the sensitive attribute '{self.attribute}' is {self.kind}; declare it "
                f"numeric, or ask for beta-likeness or t-closeness"
            )
        if np.isinf(self.numbers).any():
            raise DiscreetError(
                f"{promise} needs finite numbers and the sensitive attribute '{self.attribute}' holds an infinite one; "
                f"leave out that row"
            )
        return self.numbers

    def nodes(self, level: int, promise: str) -> NDArray[np.int32]:
        """The node above each value at a level of the hierarchy, refused when there is no such level below the root."""
        if self.hierarchy is None or self.hierarchy.ancestors.shape[1] != len(self.values):
            raise DiscreetError(
                f"{promise} needs a hierarchy of the sensitive attribute '{self.attribute}'; declare one, "
                f"or ask for the promise on its values"
            )
        if level >= self.hierarchy.height:
            inner = self.hierarchy.height - 1
            has = "no level" if inner <= 0 else "one level" if inner == 1 else f"{inner} levels"
            raise DiscreetError(
                f"{promise} needs level {level} of the hierarchy of the sensitive attribute '{self.attribute}', which "
                f"has {has} between its values and its root; declare a deeper hierarchy, or ask for the promise on "
                f"its values"
            )
        return np.array(self.hierarchy.ancestors[level], dtype=np.int32)

    def by_node(self, counts: NDArray[Any], level: int, promise: str) -> NDArray[Any]:
        """Counts per value (one line per group) added up to counts per node of a level of the hierarchy."""
        nodes = self.nodes(level, promise)
        starts = np.flatnonzero(np.r_[True, nodes[1:] != nodes[:-1]])  # a node covers consecutive values
        sums = np.empty((len(counts), len(starts)), dtype=counts.dtype)
        sums[:, nodes[starts]] = np.add.reduceat(counts, starts, axis=1)
        return sums


def whole(numbers: NDArray[np.float64]) -> bool:
    """Whether all numbers that are not missing are whole and exact, as are their sums and differences then.

    >>> whole(np.array([1.0, np.nan, -(2.0**53)])), whole(np.array([0.5])), whole(np.array([2.0**60]))
    (True, False, False)
    """
    known = numbers[~np.isnan(numbers)]
    return bool(((known == np.floor(known)) & (np.abs(known) <= LARGEST_WHOLE)).all())


def _numbers(texts: tuple[str, ...]) -> NDArray[np.float64] | None:
    """The numbers that texts mean; none when one of them means no number."""
    try:
        return np.array([np.nan if text == MISSING else float(text) for text in texts], dtype=np.float64)
    except ValueError:
        return None


def _texts(column: Column) -> tuple[str, ...]:
    """The values of a column as a reader would write them: whole numbers without a fraction."""
    texts = []
    for value in column.values.tolist():
        if value is None or value != value:
            texts.append(MISSING)
        else:
            texts.append(written(value, column.notation) if column.kind == "numeric" else str(value))
    return tuple(texts)
