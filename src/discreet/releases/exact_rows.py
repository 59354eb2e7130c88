"""Rows published with unchanged quasi-identifiers: anyone who knows a person's values can find them among the rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.principles import wording
from discreet.releases.attributes import Attribute, numbers_given, texts_given
from discreet.releases.bit_counts import Tally, Words
from discreet.releases.boxes import columns_at, shares
from discreet.releases.canonical import by_number, line_keys, line_order, renumbered, taken_in
from discreet.releases.columns import ExactColumn, value_name
from discreet.releases.lookup import Lookup, Matches
from discreet.releases.max_presence import PresenceBound
from discreet.releases.release import Release
from discreet.table.combinations import distinct, looked_up, numbered
from discreet.table.query import Condition
from discreet.table.table import Column


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ExactRowsRelease(Release):
    """A release that publishes the quasi-identifiers of every row unchanged."""

    exact_quasi: ClassVar[bool] = True

    exact: tuple[ExactColumn, ...]
    """For each quasi-identifier, its distinct published values and the code of each published row."""
    sensitive_columns: tuple[ExactColumn, ...] = ()
    """The sensitive values that are published with the rows, in formats that do so."""
    others: tuple[ExactColumn, ...] = ()
    """Kept columns, published beside the quasi-identifiers."""

    @property
    def rows(self) -> int:
        """The number of published rows."""
        return len(self.exact[0].codes)

    @cached_property
    def columns(self) -> dict[str, ExactColumn]:
        """The columns of the table of rows, by name."""
        names = [
            attribute.name for attribute in self.attributes if attribute.role != "sensitive" or self.sensitive_columns
        ]
        return dict(zip(names, (*self.exact, *self.sensitive_columns, *self.others), strict=True))

    def in_order(self) -> Self:
        """The same release with its rows in canonical order; the trace, if there is one, tells the rows of people."""
        order = line_order(None, line_keys([*self.columns.values()], self.rows))
        if order is None:
            return self
        return replace(
            self,
            exact=taken_in(order, self.exact),
            sensitive_columns=taken_in(order, self.sensitive_columns),
            others=taken_in(order, self.others),
            trace=renumbered(by_number(order, np.arange(len(order))), self.trace),
        )

    @property
    def kept_rows(self) -> tuple[NDArray[np.int64], tuple[ExactColumn, ...]]:
        """Rows are known by their quasi-identifiers."""
        return (self.keys() if self.others else np.zeros(0, np.int64)), self.others

    def named_rows(self, random: np.random.Generator) -> tuple[ExactColumn, ...]:
        """All rows."""
        return self.exact

    @cached_property
    def tally(self) -> Tally:
        """The rows, prepared for counting."""
        return Tally(self.columns, np.zeros(self.rows, np.int32), 1)

    def bits(self, conditions: Iterable[Condition]) -> list[Words]:
        """The rows that satisfy each condition on a column of the table of rows, as bits of the tally."""
        result = []
        for condition in conditions:
            name, meaning = condition.attribute, self.asked(condition).meaning
            result.append(self.tally.bits(name, condition.admits(self.columns[name].values, meaning)))
        return result

    def keys(self, people: Sequence[Column] = ()) -> NDArray[np.int64]:
        """Numbers for the published rows, then for people, that are equal exactly if all quasi-identifiers are."""
        codes = []
        for at, (attribute, exact) in enumerate(zip(self.quasi, self.exact, strict=True)):
            of_people = [codes_found(attribute, exact, column.values)[column.codes] for column in people[at : at + 1]]
            codes.append(np.concatenate([exact.codes.astype(np.int64), *of_people]) + 1)
        return numbered(codes, [len(exact.values) + 1 for exact in self.exact], len(codes[0]))

    def lookup(self) -> Lookup:
        """The look-up of people among the published rows."""
        return ByRows(self)

    def beliefs(
        self, points: Mapping[str, ArrayLike], withheld: ArrayLike | None = None, *, attribute: str | None = None
    ) -> NDArray[np.float64]:
        """An adversary's beliefs in each sensitive value of a person with these quasi-identifiers.

        Each row with the values of a point is equally likely to be the person's, and the result is the mean over these
        rows of what is believed of a row.
        """
        release = self.about(attribute)
        assert isinstance(release, ExactRowsRelease)
        keys = release.keys(columns_at(release.quasi, points))
        lines, of_point = np.unique(keys[release.rows :], return_inverse=True)
        line_of, on_line = looked_up(lines, keys[: release.rows])
        rows = np.flatnonzero(on_line)
        return shares(release.believed_counts(RowsAt(rows, line_of[rows], len(lines)))[of_point], withheld)

    @abstractmethod
    def believed_counts(self, rows: RowsAt) -> NDArray[np.float64]:
        """For each line of rows and each sensitive value, the sum of an attacker's beliefs that its rows have it."""

    def estimated_counts(self, rows: RowsAt) -> NDArray[np.float64]:
        """For each line of rows and each sensitive value, how many of its rows are estimated to have it."""
        return self.believed_counts(rows)

    def contingency(self, column: Column, *, spread: bool = True) -> NDArray[np.float64]:
        """How many rows have each value of a quasi-identifier with each sensitive value (``Release.contingency``)."""
        axis = next(at for at, attribute in enumerate(self.quasi) if attribute.name == column.name)
        exact = self.exact[axis]
        counts = self.estimated_counts(RowsAt(np.arange(self.rows), exact.codes, len(exact.values)))
        return lines_at(counts, codes_found(self.quasi[axis], exact, column.values))


class ByRows(Lookup):
    """Look-up in rows with unchanged quasi-identifiers; rows with the same values form one group."""

    certain = True

    def __init__(self, release: ExactRowsRelease) -> None:
        """Count the published rows of each combination of quasi-identifiers."""
        self.release, self.quasi, self.ids = release, release.quasi, None
        self.borne, self.sizes = np.unique(release.keys(), return_counts=True)

    def combinations(self, original: Sequence[Column]) -> NDArray[np.float64]:
        """One per group: the combination that its rows have in common."""
        return np.ones(len(self.sizes))

    @property
    def known_chances(self) -> NDArray[np.float64]:
        """Presence is certain."""
        return np.ones(len(self.sizes))

    def _places(self, people: Sequence[Column]) -> NDArray[np.intp]:
        """The group with each person's quasi-identifiers, or -1 if there is none."""
        keys = self.release.keys(people)
        rows = len(keys) - len(people[0].codes)
        # with many columns the keys are comparable only within one call; groups are numbered in ascending order of keys
        places, borne = looked_up(distinct(keys[:rows]), keys[rows:])
        return np.where(borne, places, -1)

    def _find(self, people: Sequence[Column], chances: NDArray[np.float64]) -> Matches:
        at = self._places(people)
        chance = np.where(at < 0, 0.0, chances[at])
        return Matches((at >= 0).astype(np.int64), chance, chance)

    def anyone(
        self, original: Sequence[Column], chances: NDArray[np.float64], known: float, limit: float | None = None
    ) -> PresenceBound:
        """The largest chance of any group: only persons with published values are found."""
        largest = float(chances.max(initial=known))
        return PresenceBound(largest, largest)

    def crowd(self, people: Sequence[Column]) -> NDArray[np.int64]:
        """The number of people with each published combination."""
        at = self._places(people)
        return np.bincount(at[at >= 0], minlength=len(self.sizes))

    def description(self, group: int) -> dict[str, str]:
        """The quasi-identifiers that the rows of a group have in common."""
        row = int(np.argmax(self.release.keys() == self.borne[group]))
        return {
            attribute.name: value_name(exact_column.values[exact_column.codes[row]], exact_column.notation)
            for attribute, exact_column in zip(self.quasi, self.release.exact, strict=True)
        }

    def named(self, group: int) -> str:
        """The size of a group and the quasi-identifiers of its rows, in words."""
        texts = ", ".join(f"{name} {text}" for name, text in self.description(group).items())
        return f"the {wording.rows(int(self.sizes[group]))} with {texts}"


class RowsAt(NamedTuple):
    """Published rows on lines: one for each combination of quasi-identifiers, or for each value of one of these."""

    rows: NDArray[np.intp]
    """The rows that are on a line."""
    lines: NDArray[np.integer]
    """The line of each of them."""
    number: int
    """How many lines there are."""


def crossed(lines: NDArray[Any], number: int, codes: NDArray[Any], width: int) -> NDArray[np.int64]:
    """How many rows on each of this many lines have each of ``width`` codes.

    >>> crossed(np.array([0, 0, 2]), 3, np.array([1, 1, 0]), 2).tolist()
    [[0, 2], [0, 0], [1, 0]]
    """
    return np.bincount(lines.astype(np.int64) * width + codes, minlength=number * width).reshape(number, width)


def lines_at(held: NDArray[Any], codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """The lines at these places, zeros for the place -1.

    >>> lines_at(np.array([[1.0, 2.0]]), np.array([-1, 0])).tolist()
    [[0.0, 0.0], [1.0, 2.0]]
    """
    return np.vstack([held, np.zeros((1, held.shape[1]))]).astype(np.float64)[codes]


def codes_found(attribute: Attribute, exact_column: ExactColumn, given: NDArray[Any]) -> NDArray[np.int64]:
    """The codes of the values of columns among the published ones; -1 for a value that no row has."""
    if attribute.kind != "numeric":
        place = {str(value): code for code, value in enumerate(exact_column.values.tolist())}
        return np.array([place.get(text, -1) for text in texts_given(given)], np.int64)
    numbers = given.astype(np.float64) if given.dtype.kind in "biuf" else numbers_given(attribute, given)
    known = exact_column.values.astype(np.float64)
    skip = int(np.isnan(known[:1]).any())  # a missing number comes first
    places = np.searchsorted(known[skip:], numbers) + skip
    hit = np.append(known, np.nan)[places] == numbers
    return np.where(hit, places, np.where(np.isnan(numbers) & bool(skip), 0, -1)).astype(np.int64)
