"""Rows published with unchanged quasi-identifiers: anyone who knows a person's values can find them among the rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.principles import wording
from discreet.releases.attributes import Attribute, numbers_given, points_given, texts_given
from discreet.releases.boxes import shares
from discreet.releases.columns import ExactColumn, value_name
from discreet.releases.lookup import Lookup, Matches
from discreet.releases.max_presence import PresenceBound
from discreet.releases.release import Release
from discreet.table.combinations import distinct, numbered
from discreet.table.table import Column


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ExactRowsRelease(Release):
    """A release that publishes the quasi-identifiers of every row unchanged."""

    exact_quasi: ClassVar[bool] = True

    exact: tuple[ExactColumn, ...]
    """For each quasi-identifier, its distinct published values and the code of each published row."""
    others: tuple[ExactColumn, ...] = ()
    """Kept columns, published beside the quasi-identifiers."""

    @property
    def rows(self) -> int:
        """The number of published rows."""
        return len(self.exact[0].codes)

    @cached_property
    def unchanged(self) -> dict[str, ExactColumn]:
        """The columns that are published unchanged, by name."""
        names = [attribute.name for attribute in self.attributes if attribute.role != "sensitive"]
        return dict(zip(names, (*self.exact, *self.others), strict=True))

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

        ``points`` contains original values, one array per quasi-identifier. Each row with the values of a point is
        equally likely to be the person's, and the result is the mean over these rows of what is believed of a row. If
        no row has the values, the person was withheld: then the belief is the distribution of the ``withheld`` counts
        (in the order of ``values``), or NaN if these are not known. ``attribute`` names another sensitive attribute
        than the first.
        """
        release = self.about(attribute)
        assert isinstance(release, ExactRowsRelease)
        rows = rows_at(release.quasi, release.exact, points)
        result = np.zeros((len(rows.known), len(release.values)))
        result[rows.known] = release._believed(rows)[rows.places]
        return shares(result, withheld)

    @abstractmethod
    def _believed(self, rows: RowsAt) -> NDArray[np.float64]:
        """For each line of rows, the sum of what is believed of its rows."""

    def presence(self, points: Mapping[str, ArrayLike], *, combined: bool = False) -> NDArray[np.float64]:
        """The belief that a person with these quasi-identifiers is in the table at all, one number per point.

        Presence is certain: 1 if some row has these values. Otherwise it is 0, or NaN if rows are withheld, as these
        may have any values. ``combined`` changes nothing.
        """
        rows = rows_at(self.quasi, self.exact, points)
        borne = np.zeros(len(rows.known), np.bool_)
        borne[rows.known] = (np.bincount(rows.lines, minlength=rows.number) > 0)[rows.places]
        return np.where(borne, 1.0, np.nan if self.withheld else 0.0)

    def contingency(self, column: Column, *, spread: bool = True) -> NDArray[np.float64]:
        """How many rows have each value of a quasi-identifier with each sensitive value (``Release.contingency``)."""
        axis = next(at for at, attribute in enumerate(self.quasi) if attribute.name == column.name)
        exact = self.exact[axis]
        return lines_at(self._crossed(exact), codes_found(self.quasi[axis], exact, column.values))

    @abstractmethod
    def _crossed(self, exact: ExactColumn) -> NDArray[Any]:
        """How many rows have, or are estimated to have, each value of a quasi-identifier with each sensitive value."""


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

    def _places(self, people: Sequence[Column]) -> NDArray[np.intp]:
        """The group with each person's quasi-identifiers, or -1 if there is none."""
        keys = self.release.keys(people)
        rows = len(keys) - len(people[0].codes)
        # with many columns the keys are comparable only within one call; groups are numbered in ascending order of keys
        borne = distinct(keys[:rows])
        at = np.minimum(np.searchsorted(borne, keys[rows:]), max(0, len(borne) - 1))
        return np.where(borne[at] == keys[rows:], at, -1)

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
            attribute.name: value_name(payload.values[payload.codes[row]], payload.notation)
            for attribute, payload in zip(self.quasi, self.release.exact, strict=True)
        }

    def named(self, group: int) -> str:
        """The size of a group and the quasi-identifiers of its rows, in words."""
        texts = ", ".join(f"{name} {text}" for name, text in self.description(group).items())
        return f"the {wording.rows(int(self.sizes[group]))} with {texts}"


class RowsAt(NamedTuple):
    """Published rows that have the quasi-identifiers of some points, which are lines here: one for each combination."""

    known: NDArray[np.bool_]
    """Per point: whether all its values are published."""
    places: NDArray[np.intp]
    """The line of each point that is known."""
    rows: NDArray[np.intp]
    """The rows that are on a line."""
    lines: NDArray[np.intp]
    """The line of each of them."""
    number: int
    """How many lines there are."""


def rows_at(quasi: Sequence[Attribute], exact: Sequence[ExactColumn], points: Mapping[str, ArrayLike]) -> RowsAt:
    """The rows with the quasi-identifiers of points, among those published unchanged or as if they were."""
    columns = codes_at(quasi, exact, points)
    known = np.all([column >= 0 for column in columns], axis=0)
    both = [np.concatenate([of.codes, at[known]]) for of, at in zip(exact, columns, strict=True)]
    keys = numbered(both, [len(of.values) for of in exact], len(both[0]))
    rows = len(exact[0].codes)
    lines, places = np.unique(keys[rows:], return_inverse=True)
    at = np.searchsorted(lines, keys[:rows])
    hit = np.flatnonzero(lines[np.minimum(at, len(lines) - 1)] == keys[:rows]) if len(lines) else at[:0]
    return RowsAt(known, places, hit, at[hit], len(lines))


def crossed(lines: NDArray[Any], number: int, codes: NDArray[Any], width: int) -> NDArray[np.int64]:
    """How many rows on each of so many lines have each of ``width`` codes.

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


def codes_at(
    quasi: Sequence[Attribute], exact: Sequence[ExactColumn], points: Mapping[str, ArrayLike]
) -> list[NDArray[np.int64]]:
    """The codes of points among the published values of each quasi-identifier; -1 for a value that no row has."""
    if not quasi:
        raise DiscreetError("a release without quasi-identifiers cannot be matched with anyone")
    given = points_given(quasi, points)
    return [codes_found(*each) for each in zip(quasi, exact, given, strict=True)]


def codes_found(attribute: Attribute, payload: ExactColumn, given: NDArray[Any]) -> NDArray[np.int64]:
    """The codes of original values among the published ones; -1 for a value that no row has."""
    if attribute.kind != "numeric":
        place = {str(value): code for code, value in enumerate(payload.values.tolist())}
        return np.array([place.get(text, -1) for text in texts_given(given)], np.int64)
    numbers = numbers_given(attribute, given)
    known = payload.values.astype(np.float64)
    skip = int(len(known) > 0 and bool(np.isnan(known[0])))
    places = np.minimum(np.searchsorted(known[skip:], numbers) + skip, max(0, len(known) - 1))
    hit = known[places] == numbers if len(known) else np.zeros(len(numbers), np.bool_)
    hit |= np.isnan(numbers) & bool(skip)
    return np.where(hit, np.where(np.isnan(numbers), 0, places), -1).astype(np.int64)
