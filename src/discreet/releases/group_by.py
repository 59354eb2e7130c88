"""GROUP BY counts from a release of any format: one estimate per cell, over the values known from the release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from discreet.errors import DiscreetError
from discreet.options import brief
from discreet.table.grouping import GroupBy

if TYPE_CHECKING:
    from discreet.releases.release import Release


def grouped_estimates(release: Release, counts: GroupBy) -> pa.Table:
    """The cells with a nonzero estimate, as a table."""
    if not isinstance(counts, GroupBy):
        raise DiscreetError(
            f"{brief(counts)} asks for no counts by group; give GroupBy('sex'), for example, or SQL as text"
        )
    kinds = {attribute.name: attribute.meaning for attribute in release.attributes}
    for name in counts.attributes:
        release.attribute(name)  # rejects columns that there are not
    release.estimates([counts.query])  # rejects conditions the release cannot answer, before any cells are built
    grid = counts.grid({name: release.known_values(name) for name in counts.attributes}, kinds)
    grid, estimates = grid.counts(release.estimates)
    listed = np.flatnonzero(estimates) if counts.attributes else np.arange(1)
    notations = {attribute.name: attribute.notation for attribute in release.attributes}
    answer = counts.answer(grid.cells(listed), estimates[listed], notations)
    notes = release.notes(counts.query, counts.attributes)
    return answer.replace_schema_metadata({"notes": "\n".join(notes)}) if notes else answer
