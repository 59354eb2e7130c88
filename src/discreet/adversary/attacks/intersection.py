"""Intersection: the groups of several releases of the same table, laid across each other.

Whoever knows a person's group in each release knows a *cell*: everyone with the same groups. All ways to give the
people values that agree with the counts of every group, in every release, are taken for equally likely; the expected
number of persons of a cell with each value is then about

    as even as possible, so that the cells of every group add up to its counts, and the values of a cell to its people

which is found by scaling in turns (iterative proportional fitting). It is exact where cells leave no choice, and for
large groups; in small ones it is close (tests compare it with all worlds). Two releases with the same groups say no
more than one, unlike with `composition`, so single beliefs are judged against the bounds of the promise, too.

The other tables of a projected release are about other attributes, whose counts bind nothing here. Whoever knows how
often values go together (see `discreet.adversary.attacks.links`) takes a value for the likelier in a cell, the more
often it goes with what the other table says of it, and scales to the counts of the person's own table.

Persons whose group is not certain in some release are one more group there, with all that is left by the others; a
group with members who are not certain counts in proportion to those who are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.attacks.attack import Insight
from discreet.adversary.attacks.composition import Combination, Composition
from discreet.adversary.attacks.links import links
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
    >>> one, other = (dc.publish(patients(), dc.LDiversity(l), scheme=dc.Mondrian()) for l in (2, 3))
    >>> found = dc.attack(one, patients(), "intersection", others=[other]).evidence[0]
    >>> found.rate >= found.details["alone"][1]
    True
    """

    name: ClassVar[str] = "intersection"
    exact: ClassVar[bool] = True

    def refusal(self, target: Target) -> str | None:
        """Only groups can be laid across each other."""
        releases = [target.release, *target.others, *(link.release for link in links(target))]
        if any(one.grouped is None for one in releases):
            return "it lays groups across each other, and in one of these formats persons are in no groups"
        if len(target.everyone.people[0].codes) * target.width > MOST_CELLS:
            return "there are too many persons with different quasi-identifiers, times values, to be kept in memory"
        return super().refusal(target)

    def learn(self, target: Target) -> Insight:
        """Find the cells, and scale."""
        if target.strangers:  # whose values are in no cell
            return Composition().learn(target)
        everyone = target.everyone
        numbers = np.bincount(everyone.person_of, minlength=len(everyone.people[0].codes)).astype(np.float64)
        own = _Groups.of(target.release, everyone.group_of)
        same = [_Groups.of(one, everyone.groups_in(one)) for one in target.others]
        linked = [(_Groups.of(link.release, everyone.groups_in(link.release)), link) for link in links(target)]
        of_line = [groups.of_line for groups in (own, *same, *(one for one, _ in linked))]
        sizes = [int(one.max(initial=0)) + 1 for one in of_line]
        _, first, cell_of = ranked(numbered(of_line, sizes, len(numbers)))
        persons = np.asarray(np.bincount(cell_of, numbers), np.float64)
        total = target.as_published(target.whole.counts, 0.0)
        start = np.ones((len(first), target.width))
        for groups, link in linked:
            start *= (groups.shares() @ link.shares / np.maximum(target.prior, np.finfo(float).tiny))[
                groups.of_line[first]
            ]
        bound = [(groups.of_line[first], groups.counted(target, persons, first, total)) for groups in (own, *same)]
        cells = fitted(start, persons, bound, target)
        possible = (cells > 0.0).sum(axis=1)
        several = (bound[0][1] > 0.0).sum(axis=1)[bound[0][0]] > 1
        exposed = int(persons[(possible == 1) & several].sum())
        line_of = np.zeros(len(target.people[0].codes), np.intp)
        line_of[target.person_of] = everyone.person_of[target.rows]

        def beliefs(part: slice) -> Floats:
            lines = cells[cell_of[line_of[part]]]
            lines[~lines.any(axis=1)] = target.prior
            return np.asarray(lines / lines.sum(axis=1, keepdims=True))

        return Insight(
            beliefs,
            details={"cells": len(first), "exposed": exposed},
            remark=f"Together they leave one value of {exposed:,} persons for whom the first leaves several.",
        )


class _Groups(NamedTuple):
    """The groups of a release, and one more for people whose group is not certain."""

    release: GroupedRelease
    of_line: NDArray[np.int64]
    """Per line of the people: their group; the number of groups if it is not certain."""

    @classmethod
    def of(cls, release: Release, groups: NDArray[np.int64]) -> _Groups:
        assert release.grouped is not None, "refused otherwise"
        return cls(release.grouped, np.where(groups < 0, release.grouped.groups, groups))

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
