"""How small the groups of a release are: in small ones, few people hide each other, and ends of intervals are theirs.

This is for the publisher, as it follows from the original, too; the release does not have it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.predicates import singled_at_ends
from discreet.principles.wording import counted, rows
from discreet.releases.release import Release
from discreet.table.table import Table

SMALL = 5
"""Groups of fewer rows are small."""


def groups_of(release: Release) -> NDArray[np.int64] | None:
    """How many rows each group of one table has; None if rows can be told apart anyway, or are in no groups."""
    grouped = release.grouped
    return None if grouped is None or release.exact_quasi or release.hides_presence else grouped.counts.sizes


@dataclass(frozen=True)
class GroupSizes:
    """The sizes of groups whose members have one description."""

    smallest: int
    small: int
    """How many groups have fewer than `SMALL` rows."""
    groups: int
    singled: int = 0
    """In how many groups the box and one end of an interval fit exactly one row of the original."""
    snapped: bool = False
    """Whether intervals end on a public grid."""

    @classmethod
    def of(cls, release: Release, original: Table) -> GroupSizes | None:
        """The sizes of a release's groups; None if rows can be told apart anyway, or are in no groups.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> sizes = GroupSizes.of(dc.publish(patients(), "k-anonymity(k=6)", "mondrian"), patients())
        >>> sizes.small, sizes.singled, sizes.groups
        (0, 4, 6)
        """
        each = [(part, sizes) for part in release.projections if (sizes := groups_of(part)) is not None]
        sizes = np.concatenate([np.zeros(0, np.int64), *(sizes for _, sizes in each)])
        if not len(sizes):
            return None
        singled = sum(singled_at_ends(part, original) for part, _ in each)
        snapped = any(attribute.unit is not None for attribute in release.quasi)
        return cls(int(sizes.min()), int((sizes < SMALL).sum()), len(sizes), singled, snapped)

    @property
    def sentence(self) -> str:
        """What it says, in a sentence.

        >>> print(GroupSizes(2, 76, 95).sentence)
        The smallest group has 2 rows; 76 of 95 groups have fewer than 5.
        >>> print(GroupSizes(5, 0, 95, 40).sentence.partition(". ")[2])
        In 40 of 95 the description and one end of an interval fit exactly one row (singling out): snap=true, if
        the scheme has it, or a larger k of k-anonymity makes these fewer.
        """
        text = f"The smallest group has {rows(self.smallest)}"
        if self.small:
            text += f"; {self.small:,} of {counted(self.groups, 'group')} have fewer than {SMALL}"
        if not self.singled:
            return f"{text}."
        way = "" if self.snapped else "snap=true, if the scheme has it, or "
        return (
            f"{text}. In {self.singled:,} of {self.groups:,} the description and one end of an interval fit exactly "
            f"one row (singling out): {way}a larger k of k-anonymity makes these fewer."
        )

    def as_dict(self) -> dict[str, Any]:
        """The figures, ready for JSON."""
        return asdict(self)
