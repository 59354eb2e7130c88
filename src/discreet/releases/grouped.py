"""What releases have in common whose rows are in numbered groups."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.principles.counts import Counts
from discreet.releases.folder import Home
from discreet.releases.release import Release
from discreet.table.table import Column


class Members(NamedTuple):
    """People who are known to be in a group."""

    lines: NDArray[np.int64]
    """The line of the people, in ascending order of groups."""
    groups: NDArray[np.int64]
    numbers: NDArray[np.float64]
    """How many persons of the group have these quasi-identifiers."""

    @classmethod
    def of(cls, lines: NDArray[np.int64], groups: NDArray[np.int64], numbers: NDArray[Any]) -> Members:
        """In ascending order of groups."""
        order = np.argsort(groups, kind="stable")
        return cls(lines[order], groups[order], numbers[order].astype(np.float64))


class Combined(NamedTuple):
    """Which values of several sensitive attributes go together in the rows of each group."""

    codes: NDArray[np.int64]
    """Per attribute and combination: the value, as an index into those of the attribute."""
    counts: Counts
    """How often each combination occurs in each group."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GroupedRelease(Release):
    """A release whose rows are in numbered groups."""

    ids: NDArray[np.int64]
    """The published number of each group."""

    if TYPE_CHECKING:  # a field in some formats, whose dataclasses would take a property for its default

        @property
        def counts(self) -> Counts:
            """How often each sensitive value occurs in each group."""

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.ids)

    @property
    def grouped(self) -> GroupedRelease | None:
        """The release itself."""
        return self

    @cached_property
    def published(self) -> NDArray[np.int64]:
        """How many published rows have each sensitive value."""
        counts = self.counts
        return np.bincount(counts.values, counts.amounts, counts.width).astype(np.int64)

    @property
    def combined(self) -> Combined | None:
        """The combinations of sensitive values in each group; ``None`` if it is not published which go together."""
        return None

    def certain_groups(self, people: Sequence[Column]) -> NDArray[np.int64]:
        """The group of each person whose quasi-identifiers (one column each) only one group admits; -1 for the others.

        If rows are withheld, such a person may also be among these.
        """
        marks = np.arange(1, self.groups + 1) / (self.groups + 1)
        matches = self.lookup().find(people, marks)
        return np.where(matches.groups == 1, np.rint(matches.largest * (self.groups + 1)).astype(np.int64) - 1, -1)

    def members(self, people: Sequence[Column], numbers: NDArray[np.int64]) -> Members:
        """The people of whom it is certain in which group they are, given how many persons each line stands for."""
        groups = self.certain_groups(people)
        lines = np.flatnonzero(groups >= 0)
        return Members.of(lines, groups[lines], numbers[lines])

    @abstractmethod
    def description(self, group: int) -> dict[str, str]:
        """The quasi-identifiers of the group at an index of ``ids``, so that readers can recognise it."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GroupedRowsRelease(GroupedRelease):
    """A release that publishes the group of every row."""

    more_tables: ClassVar[tuple[str, ...]] = ()
    """Further tables of a format built on another."""

    group_of: NDArray[np.int32]
    """For each published row its group, as an index into ``ids``."""

    @property
    def rows(self) -> int:
        """The number of published rows."""
        return len(self.group_of)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each group."""
        return np.bincount(self.group_of, minlength=self.groups).astype(np.int64)

    def second_table(self, home: Home, stem: str) -> Path:
        """The file of a further table of a format built on another."""
        name: str = next(name for name in self.manifest["tables"] if name.startswith(f"{stem}."))
        return home / name
