"""An anatomy release aligned with its original, so that the two can be compared row by row and group by group."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.formats.anatomy.support import Margins
from discreet.adversary.formats.generalized.align import (
    carried_column,
    check_sensitive,
    combined,
    places_in,
    quasi_column,
    usable_rows,
)
from discreet.principles.counts import Counts
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.releases.columns import ExactColumn
from discreet.releases.counted import CountingRelease
from discreet.table.table import Column, Table

if TYPE_CHECKING:
    from discreet.adversary.formats.ambiguous.align import AlignedAmbiguous

A = TypeVar("A", "AlignedAnatomy", "AlignedAmbiguous")


class AlignedAnatomy(NamedTuple):
    """An anatomy release aligned with its original, both in the codes of the original."""

    release: AnatomyRelease
    original: Table
    had: NDArray[np.int64]
    """Per original row: the number of its combination of quasi-identifiers and other columns published unchanged."""
    shown: NDArray[np.int64]
    """Per published row: the number of its combination; ``kinds`` or above if no original row has it."""
    kinds: int
    counts: Counts
    """The counts of all groups by the original's values; values unknown to the original are left out."""
    strange: int
    """How many rows are counted with a value unknown to the original."""
    published: NDArray[np.int64]
    """How often each sensitive value of the original is counted."""
    usable: NDArray[np.intp]
    """The publishable original rows: those without a missing number that the reader was told to withhold."""


def align(release: AnatomyRelease, original: Table) -> AlignedAnatomy:
    """Align a release with its original; reject an original that was read differently than the release states.

    The counts are those of the first sensitive attribute; ``each_attribute`` has those of all.
    """
    parts: list[tuple[Column, NDArray[np.int64], NDArray[np.int32]]] = []
    for attribute, payload in zip(release.quasi, release.exact, strict=True):
        of = quasi_column(attribute, original)
        parts.append((of, places_in(payload, of), payload.codes))
    others = (attribute for attribute in release.attributes if attribute.role == "other")
    for attribute, payload in zip(others, release.others, strict=True):
        carried = carried_column(attribute, original)
        parts.append((carried, places_in(payload, carried), payload.codes))
    had, shown, kinds = combined(original.rows, release.rows, parts)
    return AlignedAnatomy(release, original, had, shown, kinds, *claims(release, original), usable_rows(original))


def each_attribute(aligned: A) -> list[A]:
    """Return the same for every sensitive attribute as if it were the only one."""
    if len(aligned.original.sensitive) == 1:
        return [aligned]
    found: list[A] = []
    for column in aligned.original.sensitive:
        release, original = aligned.release.about(column.name), replace(aligned.original, sensitive=(column,))
        counts, strange, published = claims(release, original)
        found.append(
            aligned._replace(release=release, original=original, counts=counts, strange=strange, published=published)
        )
    return found


def claims(release: CountingRelease, original: Table) -> tuple[Counts, int, NDArray[np.int64]]:
    """Return the counts of the first sensitive attribute by the original's values.

    These are: the counts per group, values ascending, the number of rows counted with values unknown to the original,
    and the total of each value of the original.
    """
    check_sensitive(release, original)
    column = original.sensitive[0]
    width = len(column.values)
    counts = release.counts
    class_of = places_in(ExactColumn(release.values, np.zeros(0, np.int32)), column)[counts.values]
    known = np.flatnonzero(class_of < width)
    cells = counts.groups[known] * width + class_of[known]
    if bool((cells[1:] < cells[:-1]).any()):  # mostly the original has its values in the order of the release
        known = known[np.argsort(cells, kind="stable")]
    starts = np.searchsorted(counts.groups[known], np.arange(len(counts) + 1))
    return (
        Counts(starts, class_of[known].astype(np.int32), counts.amounts[known], width),
        int(counts.amounts.sum() - counts.amounts[known].sum()),
        np.bincount(class_of[known], weights=counts.amounts[known], minlength=width).astype(np.int64),
    )


def margins(aligned: AlignedAnatomy) -> Margins | None:
    """Return the counts that must fit together: by combination and value, combination and group, group and value.

    The withheld rows are one more group, the last one, with all usable rows that are not published. None if more is
    published than the original has, which other checks report.
    """
    column = aligned.original.secret
    assert column is not None
    width, groups = len(column.values), aligned.release.groups
    if aligned.strange or bool((aligned.shown >= aligned.kinds).any()):
        return None
    had, classes = aligned.had[aligned.usable], column.codes[aligned.usable].astype(np.int64)
    spare = np.bincount(had, minlength=aligned.kinds) - np.bincount(aligned.shown, minlength=aligned.kinds)
    unseen = np.bincount(classes, minlength=width) - aligned.published
    if bool((spare < 0).any() or (unseen < 0).any()):
        return None
    in_group = Counts.of_rows(aligned.shown, aligned.release.group_of, aligned.kinds, groups + 1)
    points = np.concatenate([in_group.groups, np.flatnonzero(spare)])
    of_group = np.concatenate([in_group.values, np.full(int((spare > 0).sum()), groups)])
    amounts = np.concatenate([in_group.amounts, spare[spare > 0]])
    order = np.lexsort((of_group, points))
    demand = np.concatenate([aligned.counts.groups, np.full(int((unseen > 0).sum()), groups)])
    return Margins(
        Counts.of_rows(had, classes, aligned.kinds, width),
        Counts(
            np.searchsorted(points[order], np.arange(aligned.kinds + 1)),
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
