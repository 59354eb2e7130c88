"""What the lines of releases say of the rows behind them, for the audit of their order; and of what rows they are.

With the trace a line is known to stand for one of the rows of its group that agree with all it says. Without it, for
any row that agrees; of a generalized release only so much is looked at as can be looked at quickly.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check, Grouped
from discreet.adversary.checks.coincidences import arrangements, fitting
from discreet.adversary.checks.order import INPUT, Finding, Lines, numbered_together, of_groups, order
from discreet.adversary.checks.permutations import MOST, Ints, dense
from discreet.adversary.formats.anatomy.align import AlignedAnatomy
from discreet.adversary.formats.generalized.align import Aligned, usable_rows
from discreet.adversary.formats.randomised.align import Matched
from discreet.kernels.boxes.boxes import admitted
from discreet.table.table import Table

TABLE = "the table"
LOOSELY = (
    "Without the trace nobody knows which rows are in which group, so that lines which follow the input but loosely "
    "may go unseen."
)
LIFTED = (
    "Nobody knows which of the rows of a node are whose, not even by the trace, so that lines which follow the input "
    "but loosely may go unseen."
)
SHARED = 1048573
"""So many numbers are there at most for what lines say in the places of rows; a prime."""
FEW = 512
"""Up to so many rows, it is counted which lines admit which."""
AT_FAULT = Check("order", True, "The order of lines was not looked at, as the tables are at fault.")


def order_of_generalized(aligned: Aligned, trace: NDArray[Any] | None) -> Check:
    """Whether the order of a generalized table, and the numbers of its groups, tell nothing."""
    release = aligned.release
    if release.faults:
        return AT_FAULT
    groups, shown = release.group_of.astype(np.int64), None
    if release.secrets:
        shown = aligned.class_of[release.classes]
    traced = traced_rows(release, len(aligned.had), trace)
    if traced is not None:
        return order([_by_group(groups, aligned.shown, aligned.had, aligned.kinds, traced, None, shown)])
    return _by_boxes(aligned, groups, shown, [], LOOSELY)


def order_of_nested(aligned: Aligned, trace: NDArray[Any] | None) -> Check:
    """Whether the order of rows under nodes, and the numbers of these, tell nothing; a trace only tells leaves."""
    release = aligned.release
    if release.faults or not release.secrets:
        return AT_FAULT
    traced = traced_rows(release, len(aligned.had), trace)
    more = [] if traced is None else list(of_groups(dense(traced[1]), traced[0].astype(np.float64)))
    shown = aligned.class_of[release.classes]
    return _by_boxes(aligned, release.group_of.astype(np.int64), shown, more, LIFTED)


def _by_boxes(aligned: Aligned, groups: Ints, shown: Ints | None, more: list[Finding], beyond: str) -> Check:
    """The order of lines of which it is not known whose rows they are; ``beyond`` tells what may go unseen."""
    rows = aligned.usable
    alike: tuple[tuple[Ints, Ints], ...] = ()
    if len(rows) == aligned.release.rows:
        alike = ((aligned.shown, aligned.had[rows]),)
        more = [*more, *_in_their_places(aligned)]
    lines = Lines(TABLE, aligned.shown, groups, aligned.had[rows], rows, None, shown, _near(aligned), alike)
    check = order([lines], more)
    return replace(check, sentence=f"{check.sentence} {beyond}") if check.holds else check


def order_of_anatomy(aligned: AlignedAnatomy, trace: NDArray[Any] | None) -> Check:
    """Whether the order of the rows of an anatomy release, and the numbers of its groups, tell nothing."""
    release, column = aligned.release, aligned.original.secret
    if release.faults or column is None:
        return AT_FAULT
    groups, codes = release.group_of.astype(np.int64), column.codes.astype(np.int64)
    traced = traced_rows(release, len(aligned.had), trace)
    if traced is not None:
        return order([_by_group(groups, aligned.shown, aligned.had, aligned.kinds, traced, codes)])
    rows = aligned.usable
    alike = ((aligned.shown, aligned.had[rows]),) if len(rows) == release.rows else ()
    return order([Lines(TABLE, aligned.shown, groups, aligned.had[rows], rows, codes[rows], alike=alike)])


def order_of_randomised(matched: Matched, original: Table, trace: NDArray[Any] | None) -> Check:
    """Whether the order of rows with randomised sensitive values tells nothing."""
    release = matched.release
    if release.faults or not matched.check.holds:
        return AT_FAULT
    classes, published = original.classes.astype(np.int64), release.shown.codes.astype(np.int64)
    says, said = matched.shown, matched.had
    rows = usable_rows(original) if trace is None else np.flatnonzero(trace >= 0)
    alike = ((says, said[rows]),) if len(rows) == release.rows else ()
    if trace is not None:  # every line is some row's own
        says, said = np.arange(release.rows), trace.astype(np.int64)
    return order([Lines(TABLE, says, None, said[rows], rows, classes[rows], published, alike=alike)])


def traced_rows(
    release: Grouped, rows: int, trace: NDArray[Any] | None
) -> tuple[NDArray[np.intp], NDArray[np.int64]] | None:
    """The rows that a trace publishes and the numbers of their groups; none without a trace, or when it is at fault."""
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
    """Lines that say which group they are in, and all else that is published of their rows as it is."""
    kept, places = traced
    wide = max(kinds, int(shown.max(initial=0))) + 1
    own = None if secrets is None else secrets[kept]
    says, said = groups * wide + shown, places * wide + had[kept]
    # of very many lines some that say different things may share a number, which is quicker than to number them all
    both = numbered_together(says, said) if len(says) <= MOST else (_shared(says), _shared(said))
    alike = (both, (shown, had[kept]), (groups, places))
    return Lines(TABLE, says, groups, said, kept, own, published, alike=alike)


def _shared(numbers: Ints) -> Ints:
    """The rest of each by ``SHARED``; NumPy divides by one number many times faster than it tells the rest."""
    return numbers - numbers // SHARED * SHARED


# ----------------------------------------------------------------------------------- generalized, without the trace


def _near(aligned: Aligned) -> NDArray[np.float64]:
    """Per line: where rows stand whose values it admits, on average over its columns."""
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
    """The first and the last code that each group admits; none when the last is below the first."""
    low = np.maximum(aligned.boxes.low[:, axis].astype(np.int64), 0)
    high = np.minimum(aligned.boxes.high[:, axis].astype(np.int64), len(aligned.columns[axis].values) - 1)
    low = np.minimum(low, len(aligned.columns[axis].values))
    return low, np.maximum(high, low - 1)


def _in_their_places(aligned: Aligned) -> list[Finding]:
    """How many lines stand where the input has a row that they may stand for, in whatever way it was arranged."""
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
    """As many rows as each line admits by any one column, which are no fewer than it may stand for."""
    groups, rows = aligned.release.group_of, aligned.usable
    most = np.bincount(aligned.had[rows], minlength=aligned.kinds + 1)[aligned.shown]
    for axis, column in enumerate(aligned.columns):
        held = np.concatenate([[0], np.cumsum(np.bincount(column.codes[rows], minlength=len(column.values)))])
        low, high = _ends(aligned, axis)
        most = np.minimum(most, (held[high + 1] - held[low])[groups])
    return most.astype(np.int64)


def _admitted_rows(aligned: Aligned) -> Ints:
    """How many rows each line may stand for."""
    rows, number = aligned.usable, len(aligned.usable)
    fits = aligned.shown[:, None] == aligned.had[rows][None, :]
    lines = np.repeat(aligned.release.group_of.astype(np.intp), number)
    for axis, column in enumerate(aligned.columns):
        fits &= admitted(aligned.boxes, lines, axis, np.tile(column.codes[rows], number)).reshape(number, number)
    return np.asarray(fits.sum(axis=1, dtype=np.int64))
