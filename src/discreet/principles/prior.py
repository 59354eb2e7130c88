"""The prior: how the sensitive values are distributed in the whole table, which everyone is assumed to know."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.principles.counts import Counts
from discreet.table.date_numbers import Notation
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column, Kind, Table
from discreet.table.texts import LARGEST_WHOLE, MISSING


@dataclass(frozen=True, eq=False)
class Prior:
    """The counts of the sensitive values in the whole table, and the properties of the attribute.

    A table without a sensitive attribute has a prior with ``attribute=None`` that counts all rows under one empty
    value. k-anonymity accepts it; every other promise rejects it.

    >>> prior = Prior(np.array([2, 3, 5]), ("flu", "cold", "cough"))
    >>> prior.rows, prior.frequencies.tolist()
    (10, [0.2, 0.3, 0.5])
    """

    counts: NDArray[np.int64]
    """How many rows have each value; 0 for values that the hierarchy declares but the table does not contain."""
    values: tuple[str, ...]
    """The values as texts, in the order of their codes."""
    kind: Kind = "categorical"
    hierarchy: Hierarchy | None = None
    attribute: str | None = "sensitive"
    """The name of the sensitive attribute; ``None`` when the table has none."""
    numbers: NDArray[np.float64] | None = None
    """The values as numbers if the attribute is numeric, NaN where one is missing. Parsed from ``values`` by default;
    ``None`` if they are not numbers."""
    notation: Notation = "number"
    """How the numbers are written. Dates are numbers of days, or of seconds if they include a time of day."""
    persons: int | None = None
    """The number of persons, if ``counts`` counts persons (who may have several values); ``None`` if it counts rows."""
    remembered: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    """A cache of what promises have computed about the values."""

    def __post_init__(self) -> None:
        """Check that there is one nonnegative count for each value, and at least one row."""
        counts = np.array(self.counts, dtype=np.int64)
        if counts.ndim != 1 or len(counts) != len(self.values) or (counts < 0).any():
            raise DiscreetError(f"column '{self.attribute}' needs one count of at least 0 for each of its values")
        if counts.sum() == 0:
            raise DiscreetError("the table has no rows, so there is nothing to publish; check the input")
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)
        if self.numbers is None and self.kind == "numeric":
            with suppress(ValueError):
                numbers = [np.nan if text == MISSING else float(text) for text in self.values]
                object.__setattr__(self, "numbers", np.array(numbers, dtype=np.float64))

    @classmethod
    def of(cls, table: Table) -> Prior:
        """The prior of a table: counts over all its rows, including those that will be withheld.

        With several sensitive attributes this is the prior of the first; use ``of_column`` for the others.
        """
        column = table.sensitive_attribute
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
        return cls(counts, column.texts, column.kind, column.hierarchy, column.name, numbers, column.notation)

    @classmethod
    def of_persons(cls, table: Table) -> Prior:
        """The prior counted by persons: how many have each value in any of their rows."""
        assert table.person is not None
        held = Counts.of_persons(
            np.zeros(table.rows, np.int64), table.person, table.sensitive_codes, 1, len(Prior.of(table).values)
        )
        return replace(Prior.of(table), counts=held.line(0), persons=table.persons)

    @property
    def rows(self) -> int:
        """The number of rows in the whole table, or of persons if values are counted by persons."""
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
        """The code of the rarest value that occurs in the table."""
        return int(np.where(self.counts > 0, self.counts, self.rows + 1).argmin())

    def without_numbers(self, promise: str) -> str | None:
        """Why a promise about numbers does not fit, in a sentence; ``None`` if the attribute is numeric."""
        if self.numbers is not None:
            return None
        return (
            f"{promise} is about numbers and the sensitive attribute '{self.attribute}' is {self.kind}; declare it "
            f"numeric, or ask for beta-likeness or t-closeness"
        )

    def require_numbers(self, promise: str) -> NDArray[np.float64]:
        """The values as numbers; raises ``DiscreetError`` if the attribute is not numeric or has an infinite value."""
        if self.numbers is None:
            raise DiscreetError(str(self.without_numbers(promise)))
        if np.isinf(self.numbers).any():
            raise DiscreetError(
                f"{promise} needs finite numbers and the sensitive attribute '{self.attribute}' holds an infinite one; "
                f"leave out that row"
            )
        return self.numbers

    def nodes(self, level: int, promise: str) -> NDArray[np.int32]:
        """The node above each value at a level of the hierarchy; raises if there is no such level below the root."""
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


def whole(numbers: NDArray[np.float64]) -> bool:
    """Whether all numbers, missing ones aside, are whole and small enough for exact sums and differences.

    >>> whole(np.array([1.0, np.nan, -(2.0**53)])), whole(np.array([0.5])), whole(np.array([2.0**60]))
    (True, False, False)
    """
    known = numbers[~np.isnan(numbers)]
    return bool(((known == np.floor(known)) & (np.abs(known) <= LARGEST_WHOLE)).all())
