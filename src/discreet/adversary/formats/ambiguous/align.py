"""An ambiguous release aligned with its original, so that the two can be compared row by row and group by group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.formats.anatomy.align import claims
from discreet.adversary.formats.generalized.align import quasi_column, usable_rows
from discreet.principles.counts import Counts
from discreet.releases.ambiguous.beliefs import Located
from discreet.releases.ambiguous.release import AmbiguousRelease
from discreet.releases.columns import value_name
from discreet.table.combinations import numbered
from discreet.table.table import Column, Table


class AlignedAmbiguous(NamedTuple):
    """An ambiguous release aligned with its original."""

    release: AmbiguousRelease
    original: Table
    columns: tuple[Column, ...]
    """The original's quasi-identifiers, in the order of the release."""
    located: Located
    """The original's rows, looked up in the auxiliary tables."""
    counts: Counts
    """The counts of all groups by the original's values, ascending; values unknown to the original are left out."""
    strange: int
    """How many rows are counted with a value unknown to the original."""
    published: NDArray[np.int64]
    """How often each sensitive value of the original is counted."""
    usable: NDArray[np.intp]
    """The publishable original rows: those without a missing number that the reader was told to withhold."""

    @property
    def secret(self) -> Column:
        """The original's sensitive attribute, the first if there are several."""
        return self.original.sensitive[0]

    @property
    def classes(self) -> NDArray[np.int32]:
        """Its value in every original row."""
        return self.secret.codes


def align(release: AmbiguousRelease, original: Table) -> AlignedAmbiguous:
    """Align a release with its original; reject an original that was read differently than the release states.

    The counts are those of the first sensitive attribute; ``each_attribute`` has those of all.
    """
    columns = tuple(quasi_column(attribute, original) for attribute in release.quasi)
    located = release.lists.located(columns)
    return AlignedAmbiguous(release, original, columns, located, *claims(release, original), usable_rows(original))


def value_named(aligned: AlignedAmbiguous, value: int) -> str:
    """Return a listed value, or a combination of values published together, in words."""
    firsts = aligned.located.firsts
    block = int(np.searchsorted(firsts, value, side="right")) - 1
    columns = aligned.release.auxiliaries[block].columns
    keys = numbered([one.codes for one in columns], [len(one.values) for one in columns], len(columns[0].codes))
    # values are numbered in the order of their keys
    entry = int(np.argmax(keys == np.unique(keys)[value - firsts[block]]))
    told: list[str] = []
    for name, column in zip(aligned.release.blocks[block], columns, strict=True):
        held: Any = column.values[column.codes[entry]]
        told.append(f"{name} {value_name(held, column.notation)}")
    return ", ".join(told)
