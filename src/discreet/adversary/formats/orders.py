"""The labels of lines, and of the rows behind them, for the audit of the order of each format.

With the trace, a line stands for one of the rows of its group that agree with its label. Without it, it stands for any
row that agrees; for a generalized release only quick tests are then made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned, usable_rows
from discreet.adversary.check import Check
from discreet.adversary.checks.coincidences import arrangements, fitting, runs
from discreet.adversary.checks.order import INPUT, Finding, Lines, numbered_together, of_groups, order
from discreet.adversary.checks.permutations import MOST, Ints, dense, trend
from discreet.kernels.boxes.boxes import admitted
from discreet.releases.described import DescribedRelease
from discreet.releases.grouped import GroupedRelease
from discreet.table.table import Table

TABLE = "the table"
LOOSELY = (
    "Without the trace it is unknown which rows are in which group, so lines that follow the input only loosely may "
    "go unnoticed."
)
LIFTED = (
    "Not even the trace says whose rows the rows of a node are, so lines that follow the input only loosely may go "
    "unnoticed."
)
SHARED = 1048573
"""The number of distinct labels is reduced to at most this many in very long tables; a prime."""
FEW = 512
"""Up to this many rows, the rows that each line admits are counted exactly."""
AT_FAULT = Check("order", True, "The order of lines was not checked, because the tables are faulty.")


def order_of_generalized(aligned: Aligned, trace: NDArray[Any] | None) -> Check:
    """Check that neither the order of a generalized table nor the numbers of its groups carry information."""
    release = aligned.release
    if release.faults:
        return AT_FAULT
    groups, shown = release.group_of.astype(np.int64), None
    if release.secrets:
        shown = aligned.class_of[release.classes]
    traced = traced_rows(release, len(aligned.had), trace)
    more = list(_of_other_values(release))
    if traced is not None:
        return order([_by_group(groups, aligned.shown, aligned.had, aligned.kinds, traced, None, shown)], more)
    return _by_boxes(aligned, groups, shown, more, LOOSELY)


def _of_other_values(release: DescribedRelease) -> Iterator[Finding]:
    """Yield the tests of lines against the values of sensitive attributes other than the first."""
    for attribute, payload in zip(release.sensitive[1:], release.secrets[1:], strict=True):
        if not len(payload.codes):
            continue
        codes = dense(payload.codes[:: -(-len(payload.codes) // MOST)].astype(np.int64))
        yield Finding(f"the lines of {TABLE} follow the values of {attribute.name!r}", trend(codes).surprise)
        yield Finding(f"lines of {TABLE} stand beside lines with the same {attribute.name!r}", runs(codes))


def order_of_nested(aligned: Aligned, trace: NDArray[Any] | None) -> Check:
    """Check that the order of rows and the numbers of nodes carry no information; a trace gives only leaves."""
    release = aligned.release
    if release.faults or not release.secrets:
        return AT_FAULT
    traced = traced_rows(release, len(aligned.had), trace)
    more = [] if traced is None else list(of_groups(dense(traced[1]), traced[0].astype(np.float64)))
    shown = aligned.class_of[release.classes]
    return _by_boxes(aligned, release.group_of.astype(np.int64), shown, more, LIFTED)


def _by_boxes(aligned: Aligned, groups: Ints, shown: Ints | None, more: list[Finding], beyond: str) -> Check:
    """Check the order of lines whose rows are unknown; ``beyond`` is a sentence on what may go undetected."""
    rows = aligned.usable
    alike: tuple[tuple[Ints, Ints], ...] = ()
    if len(rows) == aligned.release.rows:
        alike = ((aligned.shown, aligned.had[rows]),)
        more = [*more, *_in_their_places(aligned)]
    lines = Lines(TABLE, aligned.shown, groups, aligned.had[rows], rows, None, shown, _near(aligned), alike)
    check = order([lines], more)
    return replace(check, sentence=f"{check.sentence} {beyond}") if check.holds else check


def order_of_anatomy(views: Sequence[Any], trace: NDArray[Any] | None) -> Check:
    """Check that neither the row order of an anatomy release nor the numbers of its groups carry information.

    There is a view for each sensitive attribute, as lines must follow the values of none of them.
    """
    if any(view.release.faults for view in views):
        return AT_FAULT
    return order([_lines_of_anatomy(view, trace) for view in views])


def _lines_of_anatomy(aligned: Any, trace: NDArray[Any] | None) -> Lines:
    release, (column,) = aligned.release, aligned.original.sensitive
    groups, codes = release.group_of.astype(np.int64), column.codes.astype(np.int64)
    traced = traced_rows(release, len(aligned.had), trace)
    if traced is not None:
        return _by_group(groups, aligned.shown, aligned.had, aligned.kinds, traced, codes)
    rows = aligned.usable
    alike = ((aligned.shown, aligned.had[rows]),) if len(rows) == release.rows else ()
    return Lines(TABLE, aligned.shown, groups, aligned.had[rows], rows, codes[rows], alike=alike)


def order_of_randomised(matched: Any, original: Table, trace: NDArray[Any] | None) -> Check:
    """Check that the order of rows with randomised sensitive values carries no information."""
    release = matched.release
    if release.faults or not matched.check.holds:
        return AT_FAULT
    classes, published = original.classes.astype(np.int64), release.shown.codes.astype(np.int64)
    says, said = matched.shown, matched.had
    rows = usable_rows(original) if trace is None else np.flatnonzero(trace >= 0)
    alike = ((says, said[rows]),) if len(rows) == release.rows else ()
    if trace is not None:  # every line belongs to one row
        says, said = np.arange(release.rows), trace.astype(np.int64)
    return order([Lines(TABLE, says, None, said[rows], rows, classes[rows], published, alike=alike)])


def traced_rows(
    release: GroupedRelease, rows: int, trace: NDArray[Any] | None
) -> tuple[NDArray[np.intp], NDArray[np.int64]] | None:
    """Return the rows that a trace publishes, with their group numbers; None without a trace, or if it is at fault."""
    if trace is None or trace.shape != (rows,) or trace.dtype.kind not in "iu":
        return None
    kept = np.flatnonzero(trace >= 0)
    groups = trace[kept].astype(np.int64)
    return (kept, groups) if len(kept) == release.rows and int(groups.max(initial=-1)) < release.groups else None


def _by_group(
    groups: Ints,
    shown: Ints,
    had: Ints,
    kinds: int,
    traced: tuple[NDArray[np.intp], NDArray[np.int64]],
    secrets: Ints | None,
    published: Ints | None = None,
) -> Lines:
    """Return the lines labelled by their group and all values of their rows that are published unchanged."""
    kept, places = traced
    wide = max(kinds, int(shown.max(initial=0))) + 1
    own = None if secrets is None else secrets[kept]
    says, said = groups * wide + shown, places * wide + had[kept]
    # in very long tables different labels may share a number, which is quicker than numbering all of them
    both = numbered_together(says, said) if len(says) <= MOST else (_shared(says), _shared(said))
    alike = (both, (shown, had[kept]), (groups, places))
    return Lines(TABLE, says, groups, said, kept, own, published, alike=alike)


def _shared(numbers: Ints) -> Ints:
    """Return the numbers modulo ``SHARED``; NumPy divides by a scalar many times faster than it computes remainders."""
    return numbers - numbers // SHARED * SHARED


# ----------------------------------------------------------------------------------- generalized, without the trace


def _near(aligned: Aligned) -> NDArray[np.float64]:
    """Return, per line, the mean place of the rows whose values it admits, summed over columns."""
    rows = aligned.usable
    held = np.bincount(aligned.had[rows], minlength=aligned.kinds + 1)
    with np.errstate(invalid="ignore"):
        of_said = np.bincount(aligned.had[rows], rows, minlength=aligned.kinds + 1) / held
    near = np.nan_to_num(of_said[aligned.shown])
    for axis, column in enumerate(aligned.columns):
        codes = column.codes[rows]
        totals = [np.concatenate([[0.0], np.cumsum(np.bincount(codes, of, len(column.values)))]) for of in (None, rows)]
        low, high = _ends(aligned, axis)
        number, places = (total[high + 1] - total[low] for total in totals)
        near += (places / np.maximum(number, 1.0))[aligned.release.group_of]
    return near


def _ends(aligned: Aligned, axis: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last code that each group admits; the last is below the first if it admits none."""
    low = np.maximum(aligned.boxes.low[:, axis].astype(np.int64), 0)
    high = np.minimum(aligned.boxes.high[:, axis].astype(np.int64), len(aligned.columns[axis].values) - 1)
    low = np.minimum(low, len(aligned.columns[axis].values))
    return low, np.maximum(high, low - 1)


def _in_their_places(aligned: Aligned) -> list[Finding]:
    """Test how many lines admit the row in their place of the input, in any of its arrangements."""
    groups, rows = aligned.release.group_of.astype(np.intp), aligned.usable
    most = _admitted_rows(aligned) if len(rows) <= FEW else _admitted_at_most(aligned)
    whole = fitting(len(rows), most)
    what = f"the lines of {TABLE} admit the rows that stand in their places in the input, as it is or rearranged"
    found = []
    for arranged in arrangements(rows):
        fits = np.flatnonzero(aligned.shown == aligned.had[arranged])
        for axis, column in enumerate(aligned.columns):
            fits = fits[admitted(aligned.boxes, groups[fits], axis, column.codes[arranged[fits]])]
        found.append(Finding(what, fitting(len(fits), most), INPUT, whole))
    return found


def _admitted_at_most(aligned: Aligned) -> Ints:
    """Return an upper bound on the rows that each line admits: the fewest that it admits by any single column."""
    groups, rows = aligned.release.group_of, aligned.usable
    most = np.bincount(aligned.had[rows], minlength=aligned.kinds + 1)[aligned.shown]
    for axis, column in enumerate(aligned.columns):
        held = np.concatenate([[0], np.cumsum(np.bincount(column.codes[rows], minlength=len(column.values)))])
        low, high = _ends(aligned, axis)
        most = np.minimum(most, (held[high + 1] - held[low])[groups])
    return most.astype(np.int64)


def _admitted_rows(aligned: Aligned) -> Ints:
    """Return how many rows each line admits."""
    rows, number = aligned.usable, len(aligned.usable)
    fits = aligned.shown[:, None] == aligned.had[rows][None, :]
    lines = np.repeat(aligned.release.group_of.astype(np.intp), number)
    for axis, column in enumerate(aligned.columns):
        fits &= admitted(aligned.boxes, lines, axis, np.tile(column.codes[rows], number)).reshape(number, number)
    return np.asarray(fits.sum(axis=1, dtype=np.int64))
