"""How small the groups of a release are: in small ones, few people hide each other."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.principles.wording import counted, rows
from discreet.releases.release import Release

SMALL = 5
"""Groups of fewer rows are small."""


@dataclass(frozen=True)
class GroupSizes:
    """The sizes of groups whose members have one description."""

    smallest: int
    small: int
    """How many groups have fewer than `SMALL` rows."""
    groups: int

    @classmethod
    def of(cls, release: Release) -> GroupSizes | None:
        """The sizes of a release's groups; None if rows can be told apart anyway, or are in no groups.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> GroupSizes.of(dc.publish(patients(), "k-anonymity(k=6)")).small
        0
        """
        parts = [part.grouped for part in release.projections if not part.exact_quasi and not part.hides_presence]
        sizes = np.concatenate([np.zeros(0, np.int64), *(part.counts.sizes for part in parts if part is not None)])
        return cls(int(sizes.min()), int((sizes < SMALL).sum()), len(sizes)) if len(sizes) else None

    @property
    def sentence(self) -> str:
        """What it says, in a sentence.

        >>> print(GroupSizes(2, 76, 95).sentence)
        The smallest group has 2 rows; 76 of 95 groups have fewer than 5.
        """
        text = f"The smallest group has {rows(self.smallest)}"
        if not self.small:
            return f"{text}."
        return f"{text}; {self.small:,} of {counted(self.groups, 'group')} have fewer than {SMALL}."

    def as_dict(self) -> dict[str, Any]:
        """The figures, ready for JSON."""
        return asdict(self)
