"""Merging groups that break a promise with their neighbours until every group keeps it: of rows, and of persons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.kernels.boxes.boxes import NO_HIGH, NO_LOW, spans
from discreet.principles import wording
from discreet.principles.counts import Counts
from discreet.principles.per_attribute import apart
from discreet.principles.persons import Judged, broken_by_persons, require_persons, rules_about
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.releases.partition import dense_groups
from discreet.schemes.buckets.drawing import along_curve
from discreet.schemes.withholding import cannot_withhold
from discreet.table.persons import one_row_each
from discreet.table.table import Column, Table


class JudgedAttribute(NamedTuple):
    """The sensitive values of rows, and what is promised about them."""

    sensitive_codes: NDArray[np.int32]
    promise: Principle
    prior: Prior

    def broken(self, groups: NDArray[np.int32], number: int) -> NDArray[np.bool_]:
        """Return which groups break the promise."""
        counts = Counts.of_rows(groups, self.sensitive_codes, number, len(self.prior.counts))
        return ~self.promise.holds(counts, self.prior)


def merge_broken(
    groups: NDArray[np.int32], curve: NDArray[np.float64], attributes: Sequence[JudgedAttribute]
) -> NDArray[np.int32]:
    """Merge groups that break a promise with their neighbours along the curve until every group keeps all of them.

    All rows as one group must keep the promises about each attribute.

    >>> from discreet.principles import parse
    >>> flu, prior = np.array([0, 1, 0, 1], np.int32), Prior([2, 2], ("flu", "cold"))
    >>> ill = JudgedAttribute(flu, parse("t-closeness(t=0.1)"), prior)
    >>> merge_broken(np.array([0, 1, 2, 2], np.int32), np.arange(4.0), [ill]).tolist()
    [0, 0, 1, 1]
    """
    while True:
        number = int(groups.max()) + 1
        broken = np.any([attribute.broken(groups, number) for attribute in attributes], axis=0)
        if not broken.any():
            return groups
        sizes = np.bincount(groups, minlength=number)
        along = np.argsort(np.bincount(groups, weights=curve, minlength=number) / sizes, kind="stable")
        joins = np.zeros(number, np.bool_)  # whether a group is merged with the one before it
        for at in np.flatnonzero(broken[along]).tolist():
            if not joins[at] and not (at + 1 < number and joins[at + 1]):
                joins[at + 1 if at + 1 < number else at] = True
        place = np.empty(number, np.int32)
        place[along] = np.cumsum(~joins) - 1
        groups = place[groups]


Division = Callable[[Table], NDArray[np.int32]]
"""Maps a table with one row per person to the group of every row, -1 if withheld."""


def groups_of_persons(table: Table, principle: Principle, divide: Division) -> NDArray[np.int32]:
    """Return the group of every row, one per person, such that rows and persons of every group keep the promise.

    Why the promise is kept: persons are divided by one representative row each, which only serves to find good groups,
    and their rows follow them. The result is judged by all rows, and groups that break the promise are merged with
    their neighbours until none does: the promise is monotone, and all persons together keep it.
    """
    assert table.person is not None
    require_persons(principle, table)
    groups = divide(one_row_each(table))[table.person]
    _check_withheld_persons(principle, table, groups)
    return _merged_persons(table, groups, principle)


def confirm_persons(table: Table, groups: NDArray[np.int32], principle: Principle) -> None:
    """Confirm the promise about persons with several rows: each person is in one group, which keeps it by persons."""
    assert table.person is not None
    group_of = np.empty(table.persons, np.int32)
    group_of[table.person] = groups
    number = int(groups.max()) + 2
    kept = all(
        bool((Judged.of(view, groups + 1, number).strains(rules_about(promise, view)) <= 1.0).all())
        for promise, view in apart(principle, table)
    )
    if not bool((group_of[table.person] == groups).all()) or not kept:
        raise AssertionError(f"the partition breaks {principle} about persons; nothing was published")


def _check_withheld_persons(principle: Principle, table: Table, groups: NDArray[np.int32]) -> None:
    for promise, view in apart(principle, table):
        withheld = Judged.of(view, np.where(groups < 0, 0, -1), 1)
        if withheld.strains(rules_about(promise, view))[0] <= 1.0:
            continue
        why = broken_by_persons(promise, withheld.by_persons, 0, Prior.of_persons(view))
        persons = wording.counted(int(withheld.by_persons.sizes[0]), "person")
        raise cannot_withhold(persons, f"as one group they break the promise ({why}).")


def _merged_persons(table: Table, groups: NDArray[np.int32], principle: Principle) -> NDArray[np.int32]:
    """Merge groups that break the promise with the next ones along a curve until they keep it."""
    if groups.max() < 0:
        return groups  # nothing is left to publish; the caller refuses that
    places, number = dense_groups(groups)
    each = [(Judged.of(view, places, number), rules_about(promise, view)) for promise, view in apart(principle, table)]
    broken = np.max([judged.strains(rules) for judged, rules in each], axis=0) > 1.0
    if not broken.any():
        return groups

    def kept(some: list[int]) -> bool:
        return all(
            Judged(_sum(judged.by_rows, some), _sum(judged.by_persons, some)).strains(rules)[0] <= 1.0
            for judged, rules in each
        )

    _, _, order = neighbours_in_order(table.quasi, places, number)
    lots: list[list[int]] = []
    waiting: list[int] = []
    for group in order.tolist():
        if waiting or broken[group]:
            waiting.append(group)
            if kept(waiting):
                lots.append(waiting)
                waiting = []
        else:
            lots.append([group])
    while waiting and not kept(waiting):
        if not lots:
            raise DiscreetError(
                "without the persons that have to be withheld, the table cannot keep the promise; treat missing as a "
                f"value of its own instead ({argument('missing', 'value')})"
            )
        waiting = lots.pop() + waiting
    lots += [waiting] if waiting else []
    home = np.empty(number, np.int32)
    for lot, members in enumerate(lots):
        home[members] = lot
    return np.where(places < 0, np.int32(-1), home[places])


def _sum(counts: Counts, some: list[int]) -> Counts:
    """Return the counts of some groups taken as one; nobody may be in two of them."""
    parts = counts.only(np.array(some))
    members = None if parts.members is None else parts.members.sum(keepdims=True)
    line = np.bincount(parts.values, parts.amounts, parts.width).astype(np.int64)
    return replace(Counts.of(line[None], parts.width), members=members)


def neighbours_in_order(
    columns: tuple[Column, ...], places: NDArray[np.int32], number: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Return the smallest and largest codes of each group, and the groups in an order with neighbours near each other.

    The order is that along a curve through the centres of their boxes.
    """
    low, high = np.empty((number, len(columns)), np.int32), np.empty((number, len(columns)), np.int32)
    for j, column in enumerate(columns):
        ends = np.full(number, NO_LOW, np.int32), np.full(number, NO_HIGH, np.int32)
        spans(np.ascontiguousarray(column.codes, dtype=np.int32), places, *ends)
        low[:, j], high[:, j] = ends
    wide = np.array([max(1, len(column.values) - 1) for column in columns])
    rank, _ = along_curve((low.astype(np.float64) + high) / (2.0 * wide))
    return low, high, np.argsort(rank)
