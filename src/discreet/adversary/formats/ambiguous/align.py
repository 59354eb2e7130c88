"""An ambiguous release aligned with its original, so that the two can be compared row by row and group by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.adversary.alignment import quasi_column, usable_rows
from discreet.adversary.checks.counted import AlignedCounts, claims
from discreet.releases.ambiguous.beliefs import Located
from discreet.releases.ambiguous.release import AmbiguousRelease
from discreet.releases.columns import value_name
from discreet.table.combinations import numbered
from discreet.table.table import Column, Table


@dataclass(frozen=True, eq=False)
class AlignedAmbiguous(AlignedCounts[AmbiguousRelease]):
    """An ambiguous release aligned with its original."""

    columns: tuple[Column, ...]
    """The original's quasi-identifiers, in the order of the release."""
    located: Located
    """The original's rows, looked up in the auxiliary tables."""


def align(release: AmbiguousRelease, original: Table) -> AlignedAmbiguous:
    """Align a release with its original; reject an original that was read differently than the release states.

    The counts are those of the first sensitive attribute; ``each_attribute`` has those of all.
    """
    columns = tuple(quasi_column(attribute, original) for attribute in release.quasi)
    located = release.lists.located(columns)
    return AlignedAmbiguous(release, original, *claims(release, original), usable_rows(original), columns, located)


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
