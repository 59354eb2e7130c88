"""How an adversary finds the groups that may contain a person, in every format of release.

Each release provides a look-up: by descriptions (generalized), by lists of values (ambiguous), or by rows published
unchanged (anatomy, randomised). It finds the groups that may contain given people, and counts the people that each
group may contain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.principles.counts import Counts
from discreet.progress import Tell, no_progress
from discreet.releases.attributes import Attribute
from discreet.releases.canonical import line_keys
from discreet.releases.max_presence import PresenceBound
from discreet.table.table import Column


class Matches(NamedTuple):
    """For each of some people, what the groups that may contain them imply about their presence."""

    groups: NDArray[np.int64]
    """How many groups may hold the person."""
    largest: NDArray[np.float64]
    """The largest chance that any one of these groups contains the person."""
    together: NDArray[np.float64]
    """The chance that at least one of these groups contains the person, if groups are independent."""

    def of(self, places: NDArray[np.intp]) -> Matches:
        """The matches at these places, in their order."""
        return Matches(self.groups[places], self.largest[places], self.together[places])


class Lookup(ABC):
    """An adversary's look-up of people in the groups of a release. People are rows of columns, one column per
    quasi-identifier in the order of the release."""

    certain = False
    """Whether everyone found is in the table for certain."""
    quasi: tuple[Attribute, ...]
    sizes: NDArray[np.int64]
    """How many rows each group has."""
    ids: NDArray[np.int64] | None
    """The published number of each group, where they have one."""

    @abstractmethod
    def combinations(self, original: Sequence[Column]) -> NDArray[np.float64]:
        """The number of combinations of values, all equally likely, that each group's rows may have."""

    def chances(self, original: Sequence[Column]) -> NDArray[np.float64]:
        """The strongest belief, by each group alone, in the presence of anyone whom it may contain."""
        return self.average_chances(original)

    def average_chances(self, original: Sequence[Column]) -> NDArray[np.float64]:
        """The belief, by each group alone, in a combination of values on average."""
        with np.errstate(divide="ignore", invalid="ignore"):  # faulty files may list no values for a group
            return np.asarray(np.nan_to_num(np.minimum(1.0, self.sizes / self.combinations(original))))

    @property
    @abstractmethod
    def known_chances(self) -> NDArray[np.float64]:
        """The belief, by each group alone, in the presence of anyone whom it may contain, from the files alone."""

    @abstractmethod
    def _find(self, people: Sequence[Column], chances: NDArray[np.float64]) -> Matches:
        """``find`` for people who are all different."""

    @abstractmethod
    def anyone(
        self, original: Sequence[Column], chances: NDArray[np.float64], known: float, limit: float | None = None
    ) -> PresenceBound:
        """The largest combined belief in anyone's presence, over all combinations of occurring values.

        ``chances`` are those of the groups; ``known`` is a belief already reached. With a ``limit``, the search only
        decides whether any belief exceeds it.
        """

    @abstractmethod
    def crowd(self, people: Sequence[Column]) -> NDArray[np.int64]:
        """Per group: how many of these people it may hold."""

    def summed(self, people: Sequence[Column], rows: NDArray[np.intp], counts: Counts) -> NDArray[np.float64] | None:
        """For each of some people and each sensitive value, the sum of the amounts in the groups that may contain the
        person; None if groups have no values of their own."""
        return None

    @abstractmethod
    def description(self, group: int) -> dict[str, str]:
        """What is published of the quasi-identifiers of a group."""

    @abstractmethod
    def named(self, group: int) -> str:
        """A group in words."""

    def find_weighed(
        self, people: Sequence[Column], chances: NDArray[np.float64], tell: Tell = no_progress
    ) -> tuple[Matches, NDArray[np.float64] | None]:
        """The same as ``find``; and, where groups list values one by one, the largest belief of an adversary for whom
        values are likelier the more groups list them."""
        return self.find(people, chances), None

    def find(self, people: Sequence[Column], chances: NDArray[np.float64]) -> Matches:
        """Match people with groups, given each group's chance to contain a person whom it may contain."""
        keys = line_keys(people, len(people[0].codes))
        _, first, of_person = np.unique(keys, return_index=True, return_inverse=True)
        return self._find([replace(column, codes=column.codes[first]) for column in people], chances).of(of_person)
