"""Intersection: the groups of several releases of the same table, laid across each other.

To know a person's group in each release is to know a *cell*: everyone with the same groups. All ways to give the
people values that agree with the counts of every group, in every release, are taken for equally likely; the expected
number of persons of a cell with each value is then about

    as even as possible, so that the cells of every group add up to its counts, and the values of a cell to its people

which is found by scaling in turns (iterative proportional fitting). It is exact where cells leave no choice, and for
large groups; in small ones it is close (tests compare it with all worlds). Two releases with the same groups say no
more than one, unlike with `composition`, so single beliefs are judged against the bounds of the promise, too.

The other tables of a projected release are about other attributes, whose counts bind nothing here. An attacker who
knows how often values go together (see ``links``) takes a value for the likelier in a cell, the more often it goes with
what the other table says of it, and scales to the counts of the person's own table.

A person whose group is not certain in some release is a cell of its own, in one more group there with all that is left
by the others, and begins with the odds that this release says (as with `composition`); a group with members who are not
certain counts in proportion to those who are. So single beliefs are judged only about persons whose groups are certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.attacks.attack import Insight
from discreet.adversary.attacks.composition import Combination, Composition, Said, leave_one_value, links
from discreet.adversary.attacks.target import Floats, Target
from discreet.releases.grouped import GroupedRelease
from discreet.releases.release import Release
from discreet.table.combinations import numbered, ranked

ROUNDS, SETTLED = 100, 1e-7
"""How often cells are scaled at most, and the largest change of a share at which that ends."""
MOST_CELLS = 1 << 25
"""How many pairs of a cell and a value are kept in memory at most."""


@dataclass(frozen=True)
class Intersection(Combination):
    """Guess by what the groups of several releases leave possible together.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> first, second = (dc.publish(patients(), dc.LDiversity(l), scheme=dc.Mondrian()) for l in (2, 3))
    >>> evidence = dc.attack(first, patients(), "intersection", others=[second]).evidence[0]
    >>> evidence.rate >= evidence.details["alone"][1]
    True
    """

    name: ClassVar[str] = "intersection"

    def refusal(self, target: Target) -> str | None:
        """Only groups can be laid across each other."""
        releases = [target.release, *target.others, *(link.release for link in links(target))]
        if any(release.grouped is None for release in releases):
            return "it lays groups across each other, and in one of these formats persons are in no groups"
        if target.everyone.lines * target.width > MOST_CELLS:
            return "there are too many persons with different quasi-identifiers, times values, to be kept in memory"
        return super().refusal(target)

    def learn(self, target: Target) -> Insight:
        """Find the cells, and scale."""
        linked = links(target)
        if target.strangers or not (target.others or linked):  # in no cell; the original itself
            return Composition().learn(target)
        everyone, lines, line_of = target.everyone, target.everyone.lines, target.line_of
        counted = [_Groups.of(everyone.release, everyone.group_of, everyone.beliefs)]
        for other in target.others:
            counted.append(_Groups.of(other, everyone.groups_in(other), partial(everyone.beliefs_by, other)))
        tables = [_Groups.of(link.release, everyone.groups_in(link.release), everyone.beliefs) for link in linked]
        doubtful = np.logical_or.reduce([groups.doubtful for groups in counted])
        of_line = [groups.of_line for groups in (*counted, *tables)] + [np.where(doubtful, np.arange(lines) + 1, 0)]
        sizes = [int(groups.max(initial=0)) + 1 for groups in of_line]
        _, first, cell_of = ranked(numbered(of_line, sizes, lines))
        persons = np.bincount(cell_of, everyone.persons).astype(np.float64)
        usual = np.maximum(target.prior, np.finfo(float).tiny)
        start = np.ones((len(first), target.width))
        for groups in counted:
            at = np.flatnonzero(groups.doubtful[first])
            if len(at):
                start[at] *= groups.said(slice(0, lines))[first[at]] / usual
        for groups, link in zip(tables, linked, strict=True):
            start *= (groups.shares() @ link.shares / usual)[groups.of_line[first]]
        total = target.as_published(target.whole.counts, 0.0)
        bound = [(groups.of_line[first], groups.counted(target, persons, first, total)) for groups in counted]
        cells = fitted(start, persons, bound, target)
        several = (bound[0][1] > 0.0).sum(axis=1)[bound[0][0]] > 1
        exposed = int(persons[((cells > 0.0).sum(axis=1) == 1) & several].sum())

        def beliefs(part: slice) -> Floats:
            lines = cells[cell_of[line_of[part]]]
            lines[~lines.any(axis=1)] = target.prior
            return np.asarray(lines / lines.sum(axis=1, keepdims=True))

        return Insight(
            beliefs,
            details={"cells": len(first), "exposed": exposed, "group_certain": int(persons[~doubtful[first]].sum())},
            remark=leave_one_value(exposed),
            exact=~doubtful[line_of],
        )


class _Groups(NamedTuple):
    """The groups of a release, and one more for people whose group is not certain."""

    release: GroupedRelease
    of_line: NDArray[np.int64]
    """Per line of the people: their group; the number of groups if it is not certain."""
    doubtful: NDArray[np.bool_]
    """Per line of the people: whether that is so."""
    said: Said
    """What the release says about the people, in the values of the one under attack."""

    @classmethod
    def of(cls, release: Release, groups: NDArray[np.int64], said: Said) -> _Groups:
        assert release.grouped is not None, "refused otherwise"
        return cls(release.grouped, np.where(groups < 0, release.grouped.groups, groups), groups < 0, said)

    def shares(self) -> Floats:
        """The share of each value in each group, and in all of them for people whose group is not certain."""
        counts = self.release.counts.matrix().astype(np.float64)
        counts = np.vstack([counts, counts.sum(axis=0)])
        return np.asarray(counts / np.maximum(1.0, counts.sum(axis=1, keepdims=True)))

    def counted(self, target: Target, persons: Floats, first: NDArray[np.intp], total: Floats) -> Floats:
        """How many of the people of each group have each value, in the values of the target's release."""
        members = np.bincount(self.of_line[first], persons, self.release.groups + 1)
        counts = target.in_own_values(self.release, self.shares()) * members[:, None]
        rest = np.maximum(0.0, total - counts[:-1].sum(axis=0))
        rest[rest < 1e-6] = 0.0  # what rounding leaves of values that are all accounted for
        counts[-1] = rest * (members[-1] / max(rest.sum(), np.finfo(float).tiny))
        return counts


def fitted(start: Floats, persons: Floats, bound: list[tuple[NDArray[np.int64], Floats]], target: Target) -> Floats:
    """Scale cells in turns until those of each group add up to its counts, and every one to its persons."""
    from scipy.sparse import csr_array

    cells = start
    sums: list[Any] = []
    for groups, counts in bound:
        cells = cells * (counts[groups] > 0.0)
        at = (np.ones(len(groups)), (groups, np.arange(len(groups))))
        sums.append(csr_array(at, shape=(len(counts), len(groups))))
    before = cells
    for step in range(ROUNDS):
        target.tell(step / ROUNDS)
        for (groups, counts), summing in zip(bound, sums, strict=True):
            held = summing @ cells
            cells = cells * np.divide(counts, held, out=np.zeros_like(held), where=held > 0.0)[groups]
        held = cells.sum(axis=1, keepdims=True)
        cells = cells * np.divide(persons[:, None], held, out=np.zeros_like(held), where=held > 0.0)
        change = np.abs(cells - before).max(axis=1, initial=0.0) / np.maximum(persons, 1.0)
        if step and float(change.max(initial=0.0)) < SETTLED:
            break
        before = cells
    return cells
