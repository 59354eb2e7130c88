"""The subjects of a promise: the groups of a release, or the persons it describes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import in_words
from discreet.principles import wording
from discreet.principles.counts import Counts
from discreet.releases.grouped import GroupedRelease


@dataclass(frozen=True, eq=False)
class Subjects:
    """Groups of rows or of persons, each with its published distribution of sensitive values.

    >>> two = Subjects(Counts.of([[1, 1], [3, 0]], 2), np.array([7, 9]), lambda at: {"age": ["17", "30"][at]})
    >>> two.named(1), len(two)
    ('group 9 (3 rows, age 30)', 2)
    """

    counts: Counts
    """Per subject: the count, or expected count, of every sensitive value of the original."""
    ids: NDArray[np.int64]
    """The published numbers of the subjects."""
    description: Callable[[int], dict[str, str]]
    """Returns the published quasi-identifiers of the subject at a position."""
    noun: str = "group"
    """The word for one subject in sentences."""
    many: str = "groups"
    """The word for several subjects."""
    whom: Callable[[int], str] = wording.rows
    """Puts the number of rows or persons of a subject into words."""
    this: str = ""
    """The word for one subject after "this", if it is not ``noun``."""

    @classmethod
    def groups(cls, release: GroupedRelease, counts: Counts) -> Subjects:
        """Return the groups of a release as subjects."""
        return cls(counts, release.ids, release.description)

    def __len__(self) -> int:
        """How many subjects there are."""
        return len(self.counts)

    def named(self, at: int) -> str:
        """Return one subject in words."""
        size = self.whom(int(self.counts.sizes[at]))
        return f"{self.noun} {self.ids[at]} ({size}, {in_words(self.description(at))})"
