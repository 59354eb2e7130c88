"""Sensitive counts of groups without the zeros: no more groups and values occur together than there are rows.

Counts are whole numbers, or expected ones: what someone believes about the persons of a group, added up. Of the latter
only bounds on shares are judged. Such a bound says nothing that a whole number is needed for, and what is expected of
several groups together, or of persons whose group is in doubt, keeps it when each does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.kernels.judging import CAPS, FLOORS, Rules, strains
from discreet.table.combinations import distinct


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each sensitive value occurs in each group.

    Group ``g`` contains ``values[starts[g]:starts[g + 1]]``, with the frequencies in ``amounts``.

    >>> counts = Counts.of([[2, 0, 1], [0, 0, 4]], 3)
    >>> counts.sizes.tolist(), counts.values.tolist(), counts.line(1).tolist()
    ([3, 4], [0, 2, 2], [0, 0, 4])
    """

    starts: NDArray[np.int64]
    values: NDArray[np.int32]
    amounts: NDArray[Any]
    """Whole numbers, or floating-point ones where they are only expected; none is 0."""
    width: int
    """How many sensitive values there are in all."""
    members: NDArray[np.int64] | None = None
    """How many persons each group has, where values are counted by persons, who may have several, or where amounts are
    only expected; else None."""

    @classmethod
    def of(cls, counts: ArrayLike | Counts, width: int) -> Counts:
        """The counts of a matrix with one line per group and one column per value."""
        if isinstance(counts, Counts):
            return counts
        matrix = np.asarray(counts)
        if matrix.ndim != 2 or matrix.shape[1] != width or matrix.dtype.kind not in "iu":
            raise DiscreetError(
                f"groups are judged by whole-number counts of the {width} values of the sensitive attribute, one line "
                f"per group, not by an array of shape {matrix.shape} and type {matrix.dtype}"
            )
        lines, values = np.nonzero(matrix)
        starts = np.searchsorted(lines, np.arange(len(matrix) + 1))
        return cls(starts, values.astype(np.int32), matrix[lines, values].astype(np.int64), width)

    @classmethod
    def of_rows(cls, groups: NDArray[np.integer], values: NDArray[np.integer], number: int, width: int) -> Counts:
        """The counts of rows whose groups (0 to ``number - 1``) and sensitive values are given.

        >>> Counts.of_rows(np.array([1, 0, 1, 1]), np.array([2, 0, 2, 1]), 2, 3).amounts.tolist()
        [1, 1, 2]
        """
        cells = groups.astype(np.int64) * width + values
        if number * width <= max(1 << 20, 4 * len(cells)):
            amounts = np.bincount(cells, minlength=number * width)
            present = np.flatnonzero(amounts)
            amounts = amounts[present]
        else:
            present, amounts = np.unique(cells, return_counts=True)
        starts = np.searchsorted(present, np.arange(number + 1) * width)
        return cls(starts, (present % width).astype(np.int32), amounts.astype(np.int64), width)

    @classmethod
    def of_persons(
        cls,
        groups: NDArray[np.integer],
        persons: NDArray[np.integer],
        values: NDArray[np.integer],
        number: int,
        width: int,
    ) -> Counts:
        """How many persons of each group have each value in any of their rows, given each row's group and person.

        >>> rows = np.array([0, 0, 0]), np.array([0, 0, 1]), np.array([1, 0, 1])
        >>> counts = Counts.of_persons(*rows, 1, 2)
        >>> counts.line(0).tolist(), counts.sizes.tolist()
        ([1, 2], [2])
        """
        everyone = int(persons.max(initial=-1)) + 1
        members = distinct(groups.astype(np.int64) * everyone + persons)
        place = np.searchsorted(members, groups.astype(np.int64) * everyone + persons)
        held = distinct(place * width + values)
        counts = cls.of_rows(members[held // width] // everyone, held % width, number, width)
        return replace(counts, members=np.bincount(members // everyone, minlength=number).astype(np.int64))

    def __len__(self) -> int:
        """How many groups there are, also empty ones."""
        return len(self.starts) - 1

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """The group that each amount belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each group, or of persons where values are counted by these."""
        if self.members is not None:
            return self.members
        if self.whole:
            ends = np.append(0, np.cumsum(self.amounts))
            return np.asarray(ends[self.starts[1:]] - ends[self.starts[:-1]], np.int64)
        return np.bincount(self.groups, weights=self.amounts, minlength=len(self)).astype(np.int64)

    @property
    def shares(self) -> NDArray[np.float64]:
        """Each amount as a share of its group."""
        return np.asarray(self.amounts / self.sizes[self.groups], dtype=np.float64)

    @property
    def whole(self) -> bool:
        """Whether amounts are counted, and not only expected."""
        return self.amounts.dtype.kind in "iu"

    def strains(self, rules: Rules) -> NDArray[np.float64]:
        """How close each group comes to breaking the rules: they hold up to 1; a group without rows has strain 0."""
        if not self.whole and not bool(np.isin(rules.kinds, (CAPS, FLOORS)).all()):
            raise DiscreetError(
                "beliefs that are not counts of rows can only be judged by bounds on the shares of values; ask for "
                "beta-likeness, for l-diversity of the kind frequency, or for delta-disclosure"
            )
        counts, result = np.zeros(self.width, self.amounts.dtype), np.empty(len(self.starts) - 1)
        strains(self.starts, self.values, self.amounts, self.sizes, rules, counts, result)
        return result

    def only(self, groups: NDArray[np.integer]) -> Counts:
        """Some of the groups, by their places.

        >>> Counts.of([[2, 0], [1, 3], [0, 4]], 2).only(np.array([2, 1])).matrix().tolist()
        [[0, 4], [1, 3]]
        """
        numbers = np.diff(self.starts)[groups]
        ends = np.cumsum(numbers)
        inside = np.arange(int(numbers.sum())) + np.repeat(self.starts[groups] - ends + numbers, numbers)
        members = None if self.members is None else self.members[groups]
        return Counts(np.append(0, ends), self.values[inside], self.amounts[inside], self.width, members)

    def line(self, group: int) -> NDArray[Any]:
        """The counts of one group, zeros included."""
        line = np.zeros(self.width, self.amounts.dtype)
        inside = slice(self.starts[group], self.starts[group + 1])
        line[self.values[inside]] = self.amounts[inside]
        return line

    def matrix(self) -> NDArray[Any]:
        """All counts, zeros included: one line per group, one column per value."""
        matrix = np.zeros((len(self), self.width), self.amounts.dtype)
        matrix[self.groups, self.values] = self.amounts
        return matrix

    def nonempty(self) -> Counts:
        """The groups that have rows."""
        kept = np.flatnonzero(np.diff(self.starts))
        return self if len(kept) == len(self) else self.only(kept)

    def under(self, nodes: NDArray[np.int32]) -> Counts:
        """The same counts by the node above each value."""
        width = int(nodes.max()) + 1
        cells, place = np.unique(self.groups * width + nodes[self.values], return_inverse=True)
        amounts = np.bincount(place, self.amounts, len(cells)).astype(self.amounts.dtype)
        starts = np.searchsorted(cells, np.arange(len(self) + 1) * width)
        return Counts(starts, (cells % width).astype(np.int32), amounts, width, self.members)
