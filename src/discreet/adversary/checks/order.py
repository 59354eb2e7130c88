"""Check that the order of lines and the numbers of groups carry no information.

Lines are published in a random order, and groups under random numbers. If either followed the input, or a sensitive
value that is not published beside them, anyone who knows the order of the input could link lines to persons, and no
promise would bound what is learnt. So every table with shuffled lines is tested against the places in the input of the
rows that a line may stand for, and against their sensitive values; group numbers are tested against the places of their
rows. ``permutations`` and ``coincidences`` compute how surprising an order is. Tables whose order follows from their
content are not tested here: ``spelling`` writes them anew and compares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.adversary.checks.coincidences import matches, runs, shifts
from discreet.adversary.checks.permutations import MOST, Ints, dense, neighbours, stretches, trend

Floats = NDArray[np.float64]
LEVEL = 1e-6
"""Upper bound on the probability that a release in random order is rejected."""
ROWS = "the rows of the input"
VALUES = "the sensitive values of the rows"


class Lines(NamedTuple):
    """The lines of one table in the order of its file, and the rows of the original that may stand behind them."""

    table: str
    says: Ints
    """Per line: a number for its label, which is what it says of the rows behind it; ``rows`` has the same numbers."""
    groups: Ints | None
    """Per line: its group, if the table has groups."""
    rows: Ints
    """Per row that may be behind some line, in the order of the input: the label of such a line."""
    places: Ints
    """Per such row: its place in the input."""
    secrets: Ints | None
    """Per such row: its sensitive value, numbered in the order of values."""
    shown: Ints | None = None
    """Per line: the sensitive value published with it."""
    near: Floats | None = None
    """Per line: the approximate place in the input of rows like it, where labels do not determine one."""
    alike: tuple[tuple[Ints, Ints], ...] = ()
    """Pairs of the labels of lines and of rows, where these are equally many, so that a line can be in its row's place.

    The most specific labels come first.
    """


INPUT, BY_VALUE, BY_GROUP = "in the order of the input", "sorted by value", "sorted by group"
"""Orders for which the check reports whether it would detect them."""


class Finding(NamedTuple):
    """One test of an order."""

    what: str
    surprise: float
    order: str = ""
    """The non-random order that this test can detect, if it is one of the three above."""
    whole: float = 0.0
    """The surprise that lines in exactly that order would cause."""


def order(tables: Iterable[Lines], further: Iterable[Finding] = ()) -> Check:
    """Check that neither the lines of the tables nor the numbers of their groups are in an informative order.

    Tables may be made one at a time; ``further`` findings are asked for after the last.
    """
    looks = [[*_of_lines(_fewer(lines)), *_of_places(lines)] for lines in tables]
    more = list(further)
    found = [*more, *(one for look in looks for one in look)]
    failed, limit = revealing(found), limit_of(found)
    if failed is not None:
        return failed
    told = "Neither the order of lines nor the numbers of groups follow the input or the sensitive values"
    seen: list[str] = []
    unseen: list[str] = []
    for kind in (INPUT, BY_VALUE, BY_GROUP):
        of_tables = [[one.whole for one in (*look, *more) if one.order == kind] for look in looks]
        least = min((max(wholes) for wholes in of_tables if wholes), default=0.0 if kind == INPUT else None)
        if least is not None:
            (seen if least > limit else unseen).append(kind)
    if not seen:
        few = "but with so few lines, sorted ones cannot be told from random ones"
        return Check("order", True, f"{told}, {few}.")
    found_ones = f"lines {_any_of(seen)} would be found"
    missed = f", lines {_any_of(unseen)} would not" if unseen else ""
    return Check("order", True, f"{told}, {as_far_as_told(found_ones + missed)}.")


def limit_of(found: Sequence[Finding]) -> float:
    """Return the surprise that none of so many tests of a random order exceeds, but for a chance of ``LEVEL``."""
    return math.log(max(1, len(found)) / LEVEL)


def revealing(found: Sequence[Finding]) -> Check | None:
    """Return the check that fails because an order is too surprising; None if there is none."""
    worst = max(found, key=lambda one: one.surprise, default=Finding("", 0.0))
    if worst.surprise <= limit_of(found):
        return None
    chance = f"by chance that happens less than once in 10^{worst.surprise / math.log(10.0):.0f} releases"
    return Check("order", False, f"The order reveals more than the tables: {worst.what}; {chance}.")


def as_far_as_told(power: str) -> str:
    """Return what a finding rests on that no order is surprising, given what would be found."""
    rate = "a random order is mistaken for one of these less than once in a million times"
    return f"as far as a statistical test can tell: at this size {power}; {rate}"


def _any_of(names: list[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _of_places(lines: Lines) -> Iterator[Finding]:
    """Yield the tests for lines in the places of their rows, or in the places of a moved input."""
    where = f"the lines of {lines.table} stand where such rows stand in the input"
    for says, rows in lines.alike:
        yield Finding(f"{where}, as it is or rearranged", matches(says, rows), INPUT, matches(rows, rows))
    for says, rows in lines.alike[:1]:
        yield Finding(f"{where} moved by some rows", shifts(says, rows))


def _of_lines(lines: Lines) -> Iterator[Finding]:
    """Yield all tests of the lines of a table and of its group numbers."""
    says, rows = numbered_together(lines.says, lines.rows)
    held = np.bincount(rows, minlength=int(says.max(initial=0)) + 1)

    def means(of_rows: Floats | Ints) -> Floats:
        """Return the mean over the rows of each label; labels without rows come last."""
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(np.bincount(rows, of_rows, minlength=len(held)) / held, nan=float(len(of_rows)))

    # per key: its name, its values, the order that it can detect, and its values for lines in that order
    stood = means(lines.places)[says] if lines.near is None else lines.near
    keys: list[tuple[str, Floats | Ints, str, Floats | Ints]] = [(ROWS, stood, "", stood[:0])]
    if not lines.alike and lines.near is None:
        first = np.full(len(held), np.inf)
        first[rows[::-1]] = lines.places[::-1]  # reversed, so that the first row of each label is written last
        keys[0] = (ROWS, stood, INPUT, stood[np.argsort(first[says], kind="stable")])
    if lines.secrets is not None:
        of_said = means(lines.secrets)
        by_value = np.sort(of_said[says])
        if len(rows) == len(says):
            by_value = of_said[rows[np.argsort(lines.secrets, kind="stable")]]
        keys.append((VALUES, of_said[says], "" if lines.shown is not None else BY_VALUE, by_value))
    if lines.shown is not None:
        keys.append(("the sensitive values", lines.shown, BY_VALUE, np.sort(lines.shown)))
        alike = f"lines of {lines.table} stand beside lines with the same sensitive value"
        yield Finding(alike, runs(lines.shown), BY_VALUE, runs(np.sort(lines.shown)))
    for of, given, order_of, ordered in keys:
        key = dense(given)  # the tests use only the order of the keys
        yield Finding(f"the lines of {lines.table} follow {of}", trend(key).surprise, order_of, trend(ordered).surprise)
        yield Finding(f"lines of {lines.table} that stand together are alike by {of}", stretches(key))
        if lines.groups is not None:
            yield Finding(f"the lines of the groups of {lines.table} follow {of}", trend(key, lines.groups).surprise)
    yield Finding(f"lines of {lines.table} stand beside the one whose row is the next of the input", neighbours(stood))
    if lines.groups is not None:
        alike = f"lines of {lines.table} stand beside lines of their group"
        yield Finding(alike, runs(lines.groups), BY_GROUP, runs(np.sort(lines.groups)))
        yield from of_groups(dense(lines.groups), stood)


def of_groups(groups: Ints, stood: Floats) -> Iterator[Finding]:
    """Yield the tests of group numbers against the first place, and the mean place, of each group's rows."""
    first = np.full(int(groups.max(initial=-1)) + 1, np.inf)
    np.minimum.at(first, groups, stood)
    means = np.bincount(groups, stood) / np.bincount(groups)
    for of, key in (("the first of their rows", first), ("their rows", means)):
        yield Finding(f"the numbers of groups follow the places of {of} in the input", trend(key).surprise)
        yield Finding(f"groups whose numbers are near have {of} near in the input", stretches(key))
        yield Finding(f"groups with {of} next to each other in the input have the next numbers", neighbours(key))


def numbered_together(says: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return the label numbers of lines and of rows, renumbered if gaps would make tables indexed by them large."""
    both = np.concatenate([says, rows])
    if int(both.max(initial=0)) >= 4 * len(both) + 16:
        both = dense(both)
    return both[: len(says)], both[len(says) :]


def _fewer(lines: Lines) -> Lines:
    """Select at most ``MOST`` lines, to keep the tests quick: those of the first groups, or lines at equal distances.

    The selection introduces no order: group numbers are as random as the groups' order, and so are places at equal
    distances.
    """
    number = len(lines.says)
    if number <= MOST:
        return lines
    chosen = np.arange(0, number, -(-number // MOST))
    if lines.groups is not None:
        sizes = np.bincount(lines.groups)
        last = int(np.searchsorted(np.cumsum(sizes), MOST, side="right"))
        chosen = np.flatnonzero(lines.groups < last) if last else chosen
    says = lines.says[chosen]
    kept = _said(lines.rows, says)
    return Lines(
        lines.table,
        says,
        None if lines.groups is None else lines.groups[chosen],
        lines.rows[kept],
        lines.places[kept],
        None if lines.secrets is None else lines.secrets[kept],
        None if lines.shown is None else lines.shown[chosen],
        None if lines.near is None else lines.near[chosen],
        lines.alike,
    )


def _said(rows: Ints, says: Ints) -> NDArray[np.intp]:
    """Return the rows whose label some line has."""
    last = int(says.max(initial=0))
    kept = np.flatnonzero(rows <= last)
    if last > 4 * len(rows) + 16:
        return kept[np.isin(rows[kept], says)]
    known = np.zeros(last + 1, np.bool_)
    known[says] = True
    return kept[known[rows[kept]]]
