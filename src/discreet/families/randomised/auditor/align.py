"""Rows with randomised sensitive values, aligned with original rows by all columns published unchanged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import ComparedRows, check_sensitive, places_in, rows_compared, usable_rows
from discreet.adversary.check import Check
from discreet.adversary.checks.totals import rows_of_original, withheld_fault
from discreet.adversary.checks.trace import place_rows, unexplained
from discreet.families.randomised.release.base import RandomisedRelease
from discreet.principles import wording
from discreet.principles.counts import Counts
from discreet.table.table import Table


class AlignedRandomised(NamedTuple):
    """A release with randomised sensitive values, aligned with its original."""

    release: RandomisedRelease
    class_of: NDArray[np.int64]
    """Per value of the prior: its code in the original, or the number of codes if it has none."""
    check: Check
    how: str
    """How the rows were aligned: by ``trace`` or ``assignment``."""
    before: Counts
    """Per combination of columns published unchanged, if all its rows are published: the counts of the original's
    values. With a trace, every row's place is known, and the combinations are replaced by the original values
    themselves."""
    after: Counts
    """Per such combination: the counts of the published values of the prior."""
    left: NDArray[np.int64]
    """Per value of the original: how many rows with it are certainly withheld."""
    choices: Counts
    """Per combination with withheld rows: how many more rows of each value may be withheld."""
    chosen: NDArray[np.int64]
    """Per such combination: how many more rows are withheld."""

    @property
    def open(self) -> int:
        """How many withheld rows have an unknown value."""
        return int(self.chosen.sum())

    @property
    def withheld(self) -> int:
        """How many rows are withheld."""
        return int(self.left.sum()) + self.open

    def in_prior(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return, per value of the prior, the number of it among those of the original's values; 0 if it has none."""
        return np.append(numbers, 0)[self.class_of]

    @property
    def in_places(self) -> Counts | None:
        """``before`` by the positions of values in the prior; None if the prior does not list all of them."""
        place = np.full(self.before.width + 1, -1, np.int32)
        place[self.class_of] = np.arange(len(self.class_of))
        return None if bool((place[self.before.values] < 0).any()) else self.before.under(place)


def align(
    release: RandomisedRelease, original: Table, trace: NDArray[Any] | None = None, faults: list[str] | None = None
) -> AlignedRandomised:
    """Match a release with its original; reject an original that was read differently than the release states."""
    check_sensitive(release, original)
    class_of = places_in(release.shown._replace(values=release.values), original.sensitive[0])
    rows = rows_compared(release, original)
    if trace is None:
        return AlignedRandomised(release, class_of, *_by_kinds(release, original, rows))
    return AlignedRandomised(release, class_of, *_by_trace(release, original, rows, trace, list(faults or ())))


def _by_kinds(release: RandomisedRelease, original: Table, compared: ComparedRows) -> tuple[Any, ...]:
    """Match rows by their combinations of values: as many of each as the original has, except for the withheld ones."""
    had, shown, kinds = compared
    rows = usable_rows(original)
    have = np.bincount(had[rows], minlength=kinds)
    show = np.bincount(shown, minlength=kinds + 1)
    width = len(original.prior_counts)
    whole = np.flatnonzero((show[:-1] == have) & (have > 0))
    place = np.full(kinds + 1, -1, np.int64)
    place[whole] = np.arange(len(whole))
    inside = rows[place[had[rows]] >= 0]
    before = Counts.of_rows(place[had[inside]], original.sensitive_codes[inside], len(whole), width)
    covered = np.flatnonzero((place[shown] >= 0) & (release.shown.codes < len(release.prior)))
    after = Counts.of_rows(place[shown[covered]], release.shown.codes[covered], len(whole), len(release.prior))
    # withheld are the unusable rows, and as many rows of every combination as are not published
    left = np.bincount(np.delete(original.sensitive_codes, rows), minlength=width)
    lacking = np.maximum(have - show[:-1], 0)
    some = rows[lacking[had[rows]] > 0]
    at, of = np.unique(had[some], return_inverse=True)
    counts = Counts.of_rows(of, original.sensitive_codes[some], len(at), width)
    least = np.maximum(0, counts.amounts - (counts.sizes - lacking[at])[counts.groups])
    np.add.at(left, counts.values, least)
    most = np.minimum(counts.amounts, lacking[at][counts.groups])
    choices = replace(counts, amounts=most - least)
    chosen = lacking[at] - np.bincount(counts.groups, least, len(at)).astype(np.int64)
    check, fault = rows_of_original(release, compared, rows), withheld_fault(release, original)
    if check.holds and fault is not None:
        check = Check("rows", False, fault)
    return check, "assignment", before, after, left, choices, chosen


def _by_trace(
    release: RandomisedRelease, original: Table, rows: ComparedRows, trace: NDArray[Any], faults: list[str]
) -> tuple[Any, ...]:
    """Match rows by the private trace, which gives every input row's place in the published table."""
    width, nobody = len(original.prior_counts), np.zeros(0, np.intp)
    kept, places = place_rows(release, np.arange(release.rows), original, trace, faults) or (nobody, nobody)
    if bool((np.bincount(places, minlength=release.rows) != 1).any()):
        faults.append("the trace does not name every published row once")
    differ = int((rows.shown[places] != rows.had[kept]).sum())
    if differ:
        faults.append(f"{wording.rows(differ)} are not published with their quasi-identifiers and other columns")
    withheld = np.bincount(np.delete(original.sensitive_codes, kept), minlength=width)
    codes = release.shown.codes[places]
    inside = np.flatnonzero(codes < len(release.prior))
    values = original.sensitive_codes[kept[inside]]
    before = Counts.of_rows(values, values, width, width)
    after = Counts.of_rows(values, codes[inside], width, len(release.prior))
    none = Counts.of_rows(values[:0], values[:0], 0, width), np.zeros(0, np.int64)
    sentence = (
        "By the private trace, every input row is published once or withheld, with its quasi-identifiers and other "
        "columns as they were."
    )
    check = Check("rows", not faults, unexplained(faults) if faults else sentence)
    return check, "trace", before, after, withheld, *none
