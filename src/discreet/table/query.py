"""Count queries: the number of rows that satisfy all conditions, each on one attribute.

A missing value of a numeric or ordinal attribute satisfies no condition. A missing value of a categorical attribute is
the value ``(missing)``, which can be queried like any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time
from decimal import Decimal
from numbers import Real
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.options import brief, checked, several
from discreet.table.date_numbers import Meaning, Notation, given_text, moment
from discreet.table.fit import Fit
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column, Table, as_name
from discreet.table.texts import MISSING, is_number, near, number_text
from discreet.table.unnamed import UNNAMED, is_unnamed

NUMBERS = frozenset(("numeric", "date", "datetime"))
"""The kinds of columns whose values are stored as numbers."""
VALUES = (str, float, int, Real, Decimal, date, time, np.bool_, np.datetime64)
"""The types of what the values of a column can be compared with, the usual ones first."""


@dataclass(frozen=True)
class Range:
    """The condition that an attribute lies from ``low`` to ``high``, both included unless open; ``None`` is no bound.

    Bounds are numbers for a numeric attribute, dates for one of dates, and values of the attribute for an ordinal one.
    """

    attribute: str
    low: float | str | None = None
    high: float | str | None = None
    low_open: bool = False
    high_open: bool = False
    placed: bool = field(default=False, repr=False)
    """Whether the bounds are places of the cells of a column with a floor, as releases count them."""

    def __post_init__(self) -> None:
        """Refuse bounds that no value can be compared with."""
        _check_comparable(as_name(self.attribute), [end for end in (self.low, self.high) if end is not None])
        for name, given in (("low_open", self.low_open), ("high_open", self.high_open)):
            if given is not False:  # the usual case, of which workloads have many thousands
                object.__setattr__(self, name, checked(name, given, bool))

    def ends(self, kind: Meaning = "numeric") -> tuple[float, float]:
        """Return the smallest and the largest number admitted; an open end moves to the next floating-point number.

        >>> Range("age", 20).ends(), Range("born", "1970-01-03").ends("date")
        ((20.0, inf), (2.0, inf))
        """
        low = _end(self.attribute, self.low, -math.inf, kind)
        high = _end(self.attribute, self.high, math.inf, kind)
        if math.isnan(low) or math.isnan(high):
            return math.inf, -math.inf
        return (
            math.nextafter(low, math.inf) if self.low_open else low,
            math.nextafter(high, -math.inf) if self.high_open else high,
        )

    def admits(self, values: NDArray[np.generic], kind: Meaning) -> NDArray[np.bool_]:
        """Mark the attribute's values (in their order) that satisfy the condition; a missing value never does.

        >>> Range("age", 20, 30, high_open=True).admits(np.array([19, 20, 30]), "numeric").tolist()
        [False, True, False]
        """
        if kind == "categorical":
            raise DiscreetError(
                f"column {self.attribute!r} has no order; ask for values with = or IN instead of a range"
            )
        if kind in NUMBERS:
            numbers = np.asarray(values, np.float64)
            smallest, largest = self.ends(kind)
            return np.asarray((numbers >= smallest) & (numbers <= largest))
        texts = [str(value) for value in values.tolist()]
        places = np.arange(len(texts), dtype=np.float64)
        places[[text == MISSING for text in texts]] = math.nan
        low = _place(self.attribute, texts, self.low, -math.inf)
        high = _place(self.attribute, texts, self.high, math.inf)
        above = places > low if self.low_open else places >= low
        below = places < high if self.high_open else places <= high
        return np.asarray(above & below)


@dataclass(frozen=True)
class OneOf:
    """The condition that an attribute has one of these values."""

    attribute: str
    values: tuple[float | str, ...]
    placed: bool = field(default=False, repr=False)
    """Whether the values are places of the cells of a column with a floor."""

    def __post_init__(self) -> None:
        """Accept a single value or a list."""
        object.__setattr__(self, "values", several(self.values))
        _check_comparable(as_name(self.attribute), self.values)

    def numbers(self, kind: Meaning = "numeric") -> NDArray[np.float64]:
        """Return the distinct values as numbers, ascending, for a numeric attribute."""
        given = np.unique([number_given(self.attribute, value, kind) for value in self.values])
        return np.asarray(given[~np.isnan(given)], np.float64)

    def admits(self, values: NDArray[np.generic], kind: Meaning) -> NDArray[np.bool_]:
        """Mark the attribute's values that satisfy the condition; requested values it does not have match nothing.

        >>> OneOf("sex", ("f",)).admits(np.array(["f", "m"], object), "categorical").tolist()
        [True, False]
        """
        if kind in NUMBERS:
            return np.isin(np.asarray(values, np.float64), self.numbers(kind))
        wanted = set(map(as_text, self.values))
        if kind == "ordinal":
            wanted.discard(MISSING)
        return np.array([str(value) in wanted for value in values.tolist()], dtype=np.bool_)


Condition = Range | OneOf


@dataclass(frozen=True)
class Query:
    """``SELECT COUNT(*)`` of the rows that satisfy every condition.

    >>> Query((Range("age", 20, 30), OneOf("sex", "f"))).by_attribute["sex"]
    (OneOf(attribute='sex', values=('f',)),)
    """

    conditions: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        """Accept a single condition or a list."""
        object.__setattr__(self, "conditions", several(self.conditions))
        for condition in self.conditions:
            if not isinstance(condition, Condition):
                raise DiscreetError(
                    f"{brief(condition)} is not a condition; give one such as Range('age', 20, 30) or OneOf('sex', 'f')"
                )

    @property
    def by_attribute(self) -> dict[str, tuple[Condition, ...]]:
        """The conditions by attribute; all of them must hold."""
        parts: dict[str, tuple[Condition, ...]] = {}
        for condition in self.conditions:
            parts[condition.attribute] = (*parts.get(condition.attribute, ()), condition)
        return parts

    def count(self, table: Table) -> int:
        """Count the rows of a table that satisfy the query, exactly."""
        return int(self.satisfied(table).sum())

    def satisfied(self, table: Table) -> NDArray[np.bool_]:
        """Mark the rows of a table that satisfy all conditions.

        An unusable row lacks some number, but the table does not record which one: it satisfies no condition on a
        numeric attribute. Read with ``missing="value"`` to have such rows counted by the values they do have.
        """
        keep = np.ones(table.rows, np.bool_)
        for condition in by_leaves(table.columns, self).conditions:
            column = table.column(condition.attribute)
            keep &= condition.admits(column.values, column.meaning)[column.codes]
            unusable = lacking(table, column)
            if unusable is not None:
                keep[unusable] = False
        return keep


class HasTree(Protocol):
    """A column of a table, or an attribute of a release."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def kind(self) -> str:
        """Its kind."""

    @property
    def hierarchy(self) -> Hierarchy | None:
        """Its hierarchy, if it has one."""

    @property
    def floor(self) -> str | None:
        """The smallest detail in which it is published, if that was given."""

    @property
    def fit(self) -> Fit | None:
        """What was done to its numbers, if anything."""

    @property
    def notation(self) -> Notation:
        """How its numbers are written."""

    @property
    def meaning(self) -> Meaning:
        """Its kind as users know it."""

    @property
    def domain(self) -> tuple[float, float] | None:
        """The range of its numbers."""


def by_leaves(columns: Iterable[HasTree], asked: Query) -> Query:
    """Replace the labels of hierarchies in the conditions of a query by the values below them; values stay.

    Conditions on columns with a floor become ones on places of their cells; numbers in conditions on
    columns in bins become bins, and bounds beyond a limit are refused.
    A label with values below it that have no name stays, too: the query that counts knows them.

    >>> from discreet.table.table import Column
    >>> tree = Hierarchy.from_rows("zip", [("531", "53*", "*"), ("532", "53*", "*"), ("601", "60*", "*")])
    >>> zips = Column("zip", "categorical", np.zeros(1, np.int32), np.array(tree.leaves), tree)
    >>> by_leaves([zips], Query(OneOf("zip", ("53*", "601")))).conditions
    (OneOf(attribute='zip', values=('531', '532', '601')),)
    """
    columns = list(columns)
    if any(each.fit is not None for each in columns):
        from discreet.table.fitted_query import of_fitted

        asked = of_fitted(columns, asked)
    if any(each.floor is not None for each in columns):
        from discreet.table.floored_query import in_cells

        asked = in_cells(columns, asked)
    trees = {each.name: each.hierarchy for each in columns if each.kind != "numeric" and each.hierarchy is not None}
    if not trees:
        return asked

    def replaced(condition: Condition) -> Condition:
        tree = trees.get(condition.attribute)
        if tree is None or not isinstance(condition, OneOf):
            return condition
        values: list[float | str] = []
        for value in condition.values:
            below = tree.below(str(value))
            values += [value] if any(leaf.startswith(UNNAMED) for leaf in below) else below or [value]
        return replace(condition, values=tuple(dict.fromkeys(values)))

    return Query(tuple(map(replaced, asked.conditions)))


def texts_of(condition: Condition) -> list[str]:
    """Return the values that a condition names, as texts.

    >>> texts_of(Range("age", 20, None)), texts_of(OneOf("sex", ("f", "m")))
    (['20'], ['f', 'm'])
    """
    named = condition.values if isinstance(condition, OneOf) else (condition.low, condition.high)
    return [as_text(value) for value in named if value is not None]


def as_text(value: float | str) -> str:
    """Return a value of a condition as it is written in a column of texts."""
    return value if isinstance(value, str) else number_text(value)


def as_query(given: object) -> Query:
    """Return the argument if it is a query; refuse anything else."""
    if not isinstance(given, Query):
        raise DiscreetError(
            f"{brief(given)} is not a query; give one such as Query(Range('age', 20, 30)), or SQL as text"
        )
    return given


def _check_comparable(attribute: str, values: Iterable[object]) -> None:
    """Refuse what cannot be a value of any column."""
    for value in values:
        if not isinstance(value, VALUES):
            raise DiscreetError(
                f"column {attribute!r} cannot be compared with {brief(value)}; give a number, a text or a date"
            )


def lacking(table: Table, column: Column) -> NDArray[np.int64] | None:
    """Return the rows whose code in a column may not represent a real value; None if there are none."""
    numbers = column.kind == "numeric" or column.fit is not None
    return table.unusable if numbers and column.missing is None else None


def runs(conditions: Sequence[Condition], values: NDArray[np.generic], kind: Meaning) -> NDArray[np.int64]:
    """Return the values of an attribute (in their order) that satisfy all conditions on it, as runs of indices.

    The result alternates the start of a run and the first index after it. Ranges of numbers are found by binary search,
    since there may be many numbers; a missing number comes before all others.

    >>> runs([OneOf("sex", ("f", "x"))], np.array(["f", "m", "x"], object), "categorical").tolist()
    [0, 1, 2, 3]
    >>> runs([Range("age", 20, 30), Range("age", 25)], np.array([np.nan, 19, 20, 30, 31]), "numeric").tolist()
    [3, 4]
    """
    if kind in NUMBERS and all(isinstance(condition, Range) for condition in conditions):
        skip = int(len(values) > 0 and bool(np.isnan(cast(Any, values[0]))))
        ends = [condition.ends(kind) for condition in conditions if isinstance(condition, Range)]
        low, high = max((low for low, _ in ends), default=-math.inf), min((high for _, high in ends), default=math.inf)
        first = skip + int(np.searchsorted(values[skip:], low, side="left"))
        after = skip + int(np.searchsorted(values[skip:], high, side="right"))
        if not conditions:
            first = 0
        return np.array([first, after] if first < after else [], np.int64)
    keep = np.ones(len(values), np.bool_)
    for condition in conditions:
        keep &= condition.admits(values, kind)
    return np.flatnonzero(np.diff(keep, prepend=False, append=False))


def marked(ends: NDArray[np.int64], number: int) -> NDArray[np.bool_]:
    """Mark the members of runs among ``number`` values."""
    marks = np.zeros(number, np.bool_)
    for first, after in ends.reshape(-1, 2).tolist():
        marks[first:after] = True
    return marks


def number_given(attribute: str, value: float | str, kind: Meaning = "numeric") -> float:
    """Convert a value of a condition to a number: for columns of dates, the number of the date.

    >>> number_given("age", "1e2"), number_given("born", "1970-01-02", "date")
    (100.0, 1.0)
    """
    if kind in ("date", "datetime"):
        value = given_text(value)
        try:
            return moment(value, cast(Notation, kind)) if isinstance(value, str) else float(value)
        except (ValueError, TypeError):
            raise DiscreetError(
                f"column {attribute!r} holds dates, and {value!r} is not one; compare it with a date such as "
                "'1970-12-31'"
            ) from None
    # float() would also accept True, 1_0 and nan
    if isinstance(value, bool | np.bool_) or (isinstance(value, str) and not is_number(value.strip())):
        raise DiscreetError(f"column {attribute!r} holds numbers, and {value!r} is not one; compare it with a number")
    return float(value)


def _end(attribute: str, value: float | str | None, otherwise: float, kind: Meaning) -> float:
    return otherwise if value is None else number_given(attribute, value, kind)


def _place(attribute: str, known: list[str], value: float | str | None, otherwise: float) -> float:
    if value is None:
        return otherwise
    text = as_text(value)
    if text not in known or text == MISSING:
        named = [value for value in known if value != MISSING and not is_unnamed(value)]
        raise DiscreetError(f"column {attribute!r} has no value {text!r}; {near(text, named)}")
    return float(known.index(text))
