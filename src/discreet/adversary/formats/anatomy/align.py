"""An anatomy release aligned with its original, so that the two can be compared row by row and group by group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.adversary.alignment import ComparedRows, rows_compared, usable_rows
from discreet.adversary.checks.counted import AlignedCounts, claims
from discreet.adversary.formats.anatomy.support import Margins
from discreet.principles.counts import Counts
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.table.table import Table


@dataclass(frozen=True, eq=False)
class AlignedAnatomy(AlignedCounts[AnatomyRelease]):
    """An anatomy release aligned with its original, both in the codes of the original."""

    rows: ComparedRows


def align(release: AnatomyRelease, original: Table) -> AlignedAnatomy:
    """Align a release with its original; reject an original that was read differently than the release states.

    The counts are those of the first sensitive attribute; ``each_attribute`` has those of all.
    """
    counts = claims(release, original)
    return AlignedAnatomy(release, original, *counts, usable_rows(original), rows_compared(release, original))


def margins(aligned: AlignedAnatomy) -> Margins | None:
    """Return the counts that must fit together: by combination and value, combination and group, group and value.

    The withheld rows are one more group, the last one, with all usable rows that are not published. None if more is
    published than the original has, which other checks report.
    """
    column = aligned.original.secret
    assert column is not None
    width, groups, rows = len(column.values), aligned.release.groups, aligned.rows
    if aligned.strange or bool((rows.shown >= rows.kinds).any()):
        return None
    had, classes = rows.had[aligned.usable], column.codes[aligned.usable].astype(np.int64)
    spare = np.bincount(had, minlength=rows.kinds) - np.bincount(rows.shown, minlength=rows.kinds)
    unseen = np.bincount(classes, minlength=width) - aligned.published
    if bool((spare < 0).any() or (unseen < 0).any()):
        return None
    in_group = Counts.of_rows(rows.shown, aligned.release.group_of, rows.kinds, groups + 1)
    points = np.concatenate([in_group.groups, np.flatnonzero(spare)])
    of_group = np.concatenate([in_group.values, np.full(int((spare > 0).sum()), groups)])
    amounts = np.concatenate([in_group.amounts, spare[spare > 0]])
    order = np.lexsort((of_group, points))
    demand = np.concatenate([aligned.counts.groups, np.full(int((unseen > 0).sum()), groups)])
    return Margins(
        Counts.of_rows(had, classes, rows.kinds, width),
        Counts(
            np.searchsorted(points[order], np.arange(rows.kinds + 1)),
            of_group[order].astype(np.int32),
            amounts[order],
            groups + 1,
        ),
        Counts(
            np.searchsorted(demand, np.arange(groups + 2)),
            np.concatenate([aligned.counts.values, np.flatnonzero(unseen)]).astype(np.int32),
            np.concatenate([aligned.counts.amounts, unseen[unseen > 0]]),
            width,
        ),
    )
