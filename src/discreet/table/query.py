"""Count queries: how many rows satisfy all of some conditions, each on one attribute."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.table.table import Kind, Table
from discreet.table.texts import number_text


@dataclass(frozen=True)
class Range:
    """The values of an attribute from ``low`` to ``high``, both included unless open.

    Numbers for a numeric attribute; values of the attribute, or ``None`` for no end, for an ordinal one.
    """

    attribute: str
    low: float | str | None = None
    high: float | str | None = None
    low_open: bool = False
    high_open: bool = False

    def admits(self, values: NDArray[np.generic], kind: Kind) -> NDArray[np.bool_]:
        """Which of an attribute's values (in their order) satisfy the condition; a missing one never does.

        >>> Range("age", 20, 30, high_open=True).admits(np.array([19, 20, 30]), "numeric").tolist()
        [False, True, False]
        """
        if kind == "categorical":
            raise DiscreetError(
                f"column {self.attribute!r} has no order; ask for values with = or IN instead of a range"
            )
        if kind == "numeric":
            places = np.asarray(values, np.float64)
            low, high = (
                _number(self.attribute, end, other) for end, other in ((self.low, -math.inf), (self.high, math.inf))
            )
        else:
            places = np.arange(len(values), dtype=np.float64)
            places[[str(value) == "(missing)" for value in values.tolist()]] = math.nan
            low, high = (
                _place(self.attribute, values, end, other)
                for end, other in ((self.low, -math.inf), (self.high, math.inf))
            )
        above = places > low if self.low_open else places >= low
        below = places < high if self.high_open else places <= high
        return np.asarray(above & below)


@dataclass(frozen=True)
class OneOf:
    """Any of these values of an attribute."""

    attribute: str
    values: tuple[float | str, ...]

    def admits(self, values: NDArray[np.generic], kind: Kind) -> NDArray[np.bool_]:
        """Which of an attribute's values satisfy the condition; a value that the attribute does not have admits none.

        >>> OneOf("sex", ("f",)).admits(np.array(["f", "m"], object), "categorical").tolist()
        [True, False]
        """
        if kind == "numeric":
            return np.isin(
                np.asarray(values, np.float64), [_number(self.attribute, value, math.nan) for value in self.values]
            )
        wanted = {value if isinstance(value, str) else number_text(value) for value in self.values}
        return np.array([str(value) in wanted for value in values.tolist()], dtype=np.bool_)


Condition = Range | OneOf


@dataclass(frozen=True)
class Query:
    """``SELECT COUNT(*)`` of the rows that satisfy every condition."""

    conditions: tuple[Condition, ...] = ()

    def count(self, table: Table) -> int:
        """The exact number of rows of a table; rows with a missing number satisfy no condition on it."""
        keep = np.ones(table.rows, np.bool_)
        for condition in self.conditions:
            column = table.column(condition.attribute)
            keep &= condition.admits(column.values, column.kind)[column.codes]
        return int(keep.sum())


def _number(attribute: str, value: float | str | None, otherwise: float) -> float:
    if value is None:
        return otherwise
    try:
        return float(value)
    except ValueError:
        raise DiscreetError(
            f"column {attribute!r} holds numbers, and {value!r} is none; compare it with a number"
        ) from None


def _place(attribute: str, values: NDArray[np.generic], value: float | str | None, otherwise: float) -> float:
    if value is None:
        return otherwise
    text = value if isinstance(value, str) else number_text(value)
    known = [str(one) for one in values.tolist()]
    if text not in known:
        raise DiscreetError(f"column {attribute!r} has no value {text!r}; it has {', '.join(known[:8])}")
    return float(known.index(text))
