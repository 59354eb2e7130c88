"""How an adversary finds the groups that may hold a person, in every format of release.

A release tells its look-up: by descriptions (generalized), by lists of values (ambiguous), by rows published as they
are (anatomy, randomised). Each tells which groups may hold given people, and how many of these each group may hold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.progress import Tell, silent
from discreet.releases.attributes import Attribute
from discreet.releases.max_presence import PresenceBound
from discreet.table.combinations import numbered
from discreet.table.table import Column


class Matches(NamedTuple):
    """What the groups that may hold people say about each of them."""

    groups: NDArray[np.int64]
    """How many groups may hold the person."""
    largest: NDArray[np.float64]
    """The largest chance that any one of them does."""
    together: NDArray[np.float64]
    """The chance that at least one of them does, each on its own."""

    def of(self, places: NDArray[np.intp]) -> Matches:
        """The same for each of these people."""
        return Matches(self.groups[places], self.largest[places], self.together[places])


class Lookup(ABC):
    """The groups of a release as an adversary looks people up in them; people are rows of columns, one column per
    quasi-identifier in the order of the release."""

    certain = False
    """Whether whoever is found is in the table for sure."""
    quasi: tuple[Attribute, ...]
    sizes: NDArray[np.int64]
    """How many rows each group has."""
    ids: NDArray[np.int64] | None
    """The published number of each group, where they have one."""

    @abstractmethod
    def combinations(self, original: Sequence[Column]) -> NDArray[np.float64]:
        """Per group: how many combinations of values its rows may hold, any of them as likely as the others."""

    @abstractmethod
    def _find(self, people: Sequence[Column], chances: NDArray[np.float64]) -> Matches:
        """What groups with these chances say about people, all different."""

    @abstractmethod
    def anyone(
        self, original: Sequence[Column], chances: NDArray[np.float64], known: float, limit: float | None = None
    ) -> PresenceBound:
        """The largest belief in anyone, of values that occur, that groups with these chances justify together.

        ``known`` is one of the beliefs that they do. With a ``limit``, only whether any is larger than that.
        """

    @abstractmethod
    def crowd(self, people: Sequence[Column]) -> NDArray[np.int64]:
        """Per group: how many of these people it may hold."""

    @abstractmethod
    def description(self, group: int) -> dict[str, str]:
        """What is published of the quasi-identifiers of a group."""

    @abstractmethod
    def named(self, group: int) -> str:
        """A group in words."""

    def find_weighed(
        self, people: Sequence[Column], chances: NDArray[np.float64], tell: Tell = silent
    ) -> tuple[Matches, NDArray[np.float64] | None]:
        """The same as ``find``; and, where groups list values one by one, the largest belief of an adversary for whom
        values are likelier the more groups list them."""
        return self.find(people, chances), None

    def find(self, people: Sequence[Column], chances: NDArray[np.float64]) -> Matches:
        """What groups with these chances say about people."""
        keys = numbered([one.codes for one in people], [len(one.values) for one in people], len(people[0].codes))
        _, first, of_person = np.unique(keys, return_index=True, return_inverse=True)
        return self._find([replace(one, codes=one.codes[first]) for one in people], chances).of(of_person)
