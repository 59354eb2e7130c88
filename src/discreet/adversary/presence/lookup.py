"""How an adversary finds the groups that may hold a person, in every format of release.

Three ways: by descriptions (generalized), by lists of values (ambiguous), by rows published as they are (anatomy,
perturbed). Each tells which groups may hold given people, and how many of these each group may hold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.case import Tell, silent
from discreet.kernels.boxes.search import tally
from discreet.kernels.presence import covering
from discreet.kernels.presence import value_index as appearing
from discreet.kernels.presence.value_index import Shown
from discreet.principles import wording
from discreet.releases.ambiguous.beliefs import Located, located
from discreet.releases.ambiguous.release import AmbiguousRelease
from discreet.releases.anatomy.beliefs import codes_found
from discreet.releases.attributes import Attribute
from discreet.releases.generalized.boxes import boxes_in, plant, points_of
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.max_presence import PresenceBound, ValueLists, lists_of_boxes, most_believed
from discreet.releases.presence import PublishesRows, combinations_in, covered, occurring
from discreet.releases.randomised.base import value_name
from discreet.releases.release import Release
from discreet.table.combinations import distinct, numbered
from discreet.table.table import Column

appearing_kernels, covering_kernels = cast(Any, appearing), cast(Any, covering)


LINES = 1 << 13
"""How many people are looked up before it is told how far that is."""


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

    def find(self, people: Sequence[Column], chances: NDArray[np.float64]) -> Matches:
        """What groups with these chances say about people."""
        keys = numbered([one.codes for one in people], [len(one.values) for one in people], len(people[0].codes))
        _, first, of_person = np.unique(keys, return_index=True, return_inverse=True)
        return self._find([replace(one, codes=one.codes[first]) for one in people], chances).of(of_person)


class ByBoxes(Lookup):
    """By the descriptions of a generalized release."""

    def __init__(self, release: GeneralizedRelease) -> None:
        """The groups of a release, each on its own even where descriptions are the same."""
        self.release, self.quasi, self.sizes, self.ids = release, release.quasi, release.sizes, release.ids

    def combinations(self, original: Sequence[Column]) -> NDArray[np.float64]:
        """The combinations that its description admits, of values that occur in the original."""
        return combinations_in(boxes_in(self.release, original), occurring(original))

    def _find(self, people: Sequence[Column], chances: NDArray[np.float64]) -> Matches:
        return Matches(*covered(boxes_in(self.release, people), people, chances))

    def anyone(
        self, original: Sequence[Column], chances: NDArray[np.float64], known: float, limit: float | None = None
    ) -> PresenceBound:
        """Over all combinations that descriptions admit."""
        lists = lists_of_boxes(boxes_in(self.release, original), [len(column.values) for column in original])
        return most_believed(lists, chances, known, limit)

    def crowd(self, people: Sequence[Column]) -> NDArray[np.int64]:
        """How many people each description admits."""
        points, groups = points_of(people), self.release.groups
        forest = plant(points, np.ones(len(points), np.int64), np.array([0, len(points)]))
        needs = np.full(groups, len(points) + 1)
        described = boxes_in(self.release, people)
        found = tally(forest, described, np.arange(groups), np.zeros(groups, np.int64), needs)
        return np.asarray(found, np.int64)

    def description(self, group: int) -> dict[str, str]:
        """Its texts."""
        return self.release.description(group)

    def named(self, group: int) -> str:
        """Its number, its size and its description."""
        told = ", ".join(f"{name} {text}" for name, text in self.description(group).items())
        return f"group {self.release.ids[group]} ({wording.rows(int(self.sizes[group]))}, {told})"


class ByLists(Lookup):
    """By the auxiliary tables of an ambiguous release."""

    def __init__(self, release: AmbiguousRelease) -> None:
        """The groups of a release."""
        self.release, self.quasi, self.sizes, self.ids = release, release.quasi, release.sizes, release.ids

    def combinations(self, original: Sequence[Column]) -> NDArray[np.float64]:
        """The combinations of the values that it lists."""
        return self.release.combinations

    def located(self, people: Sequence[Column]) -> Located:
        """People looked up in the auxiliary tables."""
        column_of = {column.name: column for column in people}

        def codes_of(attribute: Any, payload: Any) -> NDArray[np.int64]:
            column = column_of[attribute.name]
            return codes_found(attribute, payload, column.values)[column.codes]

        return located(self.release, codes_of)

    def _find(self, people: Sequence[Column], chances: NDArray[np.float64]) -> Matches:
        lines, of_person, shown, _ = self.located(people)
        times, largest, logs = appearing_kernels.cover(lines, shown, self.release.groups, chances)
        return Matches(times, largest, 0.0 - np.expm1(logs)).of(of_person)

    def anyone(
        self, original: Sequence[Column], chances: NDArray[np.float64], known: float, limit: float | None = None
    ) -> PresenceBound:
        """Over all combinations of values that are listed."""
        shown, firsts = self.release.listed
        return most_believed(ValueLists(shown, firsts), chances, known, limit)

    def crowd(self, people: Sequence[Column]) -> NDArray[np.int64]:
        """How many people have all of their values in each group."""
        lines, of_person, shown, _ = self.located(people)
        amounts = np.bincount(of_person, minlength=len(lines))
        return np.asarray(covering_kernels.crowds(lines, amounts, shown, self.release.groups), np.int64)

    def find_weighed(
        self, people: Sequence[Column], chances: NDArray[np.float64], tell: Tell = silent
    ) -> tuple[Matches, NDArray[np.float64]]:
        """The same as ``find``; and the largest belief of an adversary for whom values are likelier the more groups
        list them.

        Each row of a group then holds a combination with the product of its values' shares in the group's lists, a
        value weighing as much as there are groups that list it.
        """
        lines, of_person, shown, firsts = self.located(people)
        lines, of_line = _without_everywhere(lines, shown, firsts, self.release.groups)
        of_person = of_line[of_person]
        many = np.diff(shown.starts).astype(np.float64)
        rooms = np.ones(self.release.groups)
        for first, last in pairwise(firsts.tolist()):
            inside = slice(shown.starts[first], shown.starts[last])
            own = np.repeat(many[first:last], many[first:last].astype(np.int64))
            rooms *= np.bincount(shown.groups[inside], weights=own, minlength=self.release.groups)
        likely = np.divide(self.sizes, rooms, out=np.zeros(len(rooms)), where=rooms > 0)
        weights = np.prod(many[lines], axis=1)
        parts = []
        for start in range(0, max(1, len(lines)), LINES):
            tell(start / max(1, len(lines)))
            some = slice(start, start + LINES)
            parts.append(
                covering_kernels.beliefs(lines[some], weights[some], shown, self.release.groups, chances, likely)
            )
        times, largest, logs, weighed = (np.concatenate(one) for one in zip(*parts, strict=True))
        return Matches(times, largest, 0.0 - np.expm1(logs)).of(of_person), np.asarray(weighed[of_person], np.float64)

    def description(self, group: int) -> dict[str, str]:
        """The extent of its lists."""
        return self.release.description(group)

    def named(self, group: int) -> str:
        """Its number, its size and how many combinations of values it shows."""
        combinations = self.release.combinations[group]
        return (
            f"group {self.release.ids[group]} ({wording.rows(int(self.sizes[group]))}, {combinations:,.0f} "
            f"{'combination' if combinations == 1 else 'combinations'} of values)"
        )


def _without_everywhere(
    lines: NDArray[np.int64], shown: Shown, firsts: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Distinct lines of values, where values that all groups show are taken for the first such one of their block:
    whoever holds one is found in the same groups as with another. Returns the lines, and the one of every given line.
    """
    alike = np.arange(firsts[-1])
    for first, last in pairwise(firsts.tolist()):
        everywhere = first + np.flatnonzero(np.diff(shown.starts[first : last + 1]) == groups)
        alike[everywhere] = everywhere[:1]
    taken = np.where(lines < 0, -1, np.append(alike, -1)[lines])
    keys = numbered([column + 1 for column in taken.T], [int(firsts[-1]) + 1] * taken.shape[1], len(taken))
    _, at, of_line = np.unique(keys, return_index=True, return_inverse=True)
    return np.ascontiguousarray(taken[at]), of_line


class ByRows(Lookup):
    """By rows published with their quasi-identifiers as they are; rows that bear the same are one group here."""

    certain = True

    def __init__(self, release: PublishesRows) -> None:
        """The published combinations of quasi-identifiers, and how many rows bear each."""
        self.release, self.quasi, self.ids = release, release.quasi, None
        keys = self._keys([])
        self.borne, self.sizes = np.unique(keys, return_counts=True)

    def _keys(self, people: Sequence[Column]) -> NDArray[np.int64]:
        """Published rows, followed by people, as numbers that are equal exactly when all quasi-identifiers are."""
        codes, sizes = [], []
        for at, (attribute, payload) in enumerate(zip(self.release.quasi, self.release.exact, strict=True)):
            held = [payload.codes + np.int64(1)]
            if people:
                held.append(codes_found(attribute, payload, people[at].values)[people[at].codes] + 1)
            codes.append(np.concatenate(held))
            sizes.append(len(payload.values) + 1)
        return numbered(codes, sizes, len(codes[0]))

    def combinations(self, original: Sequence[Column]) -> NDArray[np.float64]:
        """One: the combination that its rows bear."""
        return np.ones(len(self.sizes))

    def _places(self, people: Sequence[Column]) -> NDArray[np.intp]:
        """The group that bears each person's quasi-identifiers, -1 for none."""
        keys = self._keys(people)
        rows = len(keys) - len(people[0].codes)
        # where columns are many, numbers mean the same only within one call: groups are in the order of their numbers
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
        """That of whoever bears what is published."""
        largest = float(chances.max(initial=known))
        return PresenceBound(largest, largest)

    def crowd(self, people: Sequence[Column]) -> NDArray[np.int64]:
        """How many people bear each published combination."""
        at = self._places(people)
        return np.bincount(at[at >= 0], minlength=len(self.sizes))

    def description(self, group: int) -> dict[str, str]:
        """What its rows bear."""
        row = int(np.argmax(self._keys([]) == self.borne[group]))
        return {
            attribute.name: value_name(payload.values[payload.codes[row]], payload.notation)
            for attribute, payload in zip(self.quasi, self.release.exact, strict=True)
        }

    def named(self, group: int) -> str:
        """Its size and what its rows bear."""
        told = ", ".join(f"{name} {text}" for name, text in self.description(group).items())
        return f"the {wording.rows(int(self.sizes[group]))} with {told}"


def lookup_for(release: Release) -> Lookup:
    """How people are looked up in a release."""
    if isinstance(release, GeneralizedRelease):
        return ByBoxes(release)
    if isinstance(release, AmbiguousRelease):
        return ByLists(release)
    return ByRows(cast("PublishesRows", release))
