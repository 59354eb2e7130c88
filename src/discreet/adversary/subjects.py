"""What promises are judged about: the groups of a release, or whoever else it says something of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Grouped
from discreet.principles import wording
from discreet.principles.counts import Counts


@dataclass(frozen=True, eq=False)
class Subjects:
    """Groups of rows or of persons, each with what the release says of its sensitive values.

    >>> two = Subjects(Counts.of([[1, 1], [3, 0]], 2), np.array([7, 9]), lambda at: {"age": ["17", "30"][at]})
    >>> two.named(1), len(two)
    ('group 9 (3 rows, age 30)', 2)
    """

    counts: Counts
    """How often each has every sensitive value, or is expected to, by the values of the original."""
    ids: NDArray[np.int64]
    """Their published numbers."""
    description: Callable[[int], dict[str, str]]
    """What is published of the quasi-identifiers of the one at a place."""
    noun: str = "group"
    """What one of them is called in sentences."""
    many: str = "groups"
    """What all of them are called."""
    whom: Callable[[int], str] = wording.rows
    """How many rows or persons one has, in words."""

    @classmethod
    def groups(cls, release: Grouped, counts: Counts) -> Subjects:
        """The groups of a release."""
        return cls(counts, release.ids, release.description)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.counts)

    def named(self, at: int) -> str:
        """One of them in words."""
        told = ", ".join(f"{name} {text}" for name, text in self.description(at).items())
        return f"{self.noun} {self.ids[at]} ({self.whom(int(self.counts.sizes[at]))}, {told})"
