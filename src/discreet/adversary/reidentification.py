"""How likely it is that an attacker who looks for a person by the quasi-identifiers picks the right row.

These are the three usual risks of disclosure control (El Emam, "Guide to the De-Identification of Personal Health
Information", CRC Press 2013), which follow from the sizes of *classes*: rows with the same quasi-identifiers, as they
are in the original or as they are described in a release.

    prosecutor   knows that the person is in the table: 1 / (rows of the class)
    journalist   does not know that, and has a list of the population: 1 / (people of the population who fit the class)
    marketer     wants to match as many as possible: the share of the rows that are expected to be matched correctly

Without a list of the population, that of the marketer is that of people who are all in the table, and so is the mean of
the prosecutor's. The risks say nothing about sensitive values, which promises bound, and nothing about ends of
intervals, which the attack singling-out tries.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.group_sizes import SMALL, groups_of
from discreet.adversary.predicates import Ground, fitting
from discreet.kernels.boxes.boxes import Boxes
from discreet.randomness import generator
from discreet.releases.boxes import boxes_in
from discreet.releases.release import Release
from discreet.table.combinations import numbered, ranked
from discreet.table.table import Table


@dataclass(frozen=True)
class Risks:
    """The risks of rows in classes of some sizes."""

    highest: float
    """The prosecutor's risk of a row in the smallest class."""
    mean: float
    """The prosecutor's risk of a row on average: classes per row."""
    smallest: int
    classes: int
    small: int
    """How many classes have fewer than `SMALL` rows."""
    journalist: float | None = None
    """The highest risk against a list of the population; None without one."""
    marketer: float | None = None
    """The share of rows that such a list is expected to match correctly; None without one."""

    @classmethod
    def of(cls, sizes: NDArray[np.int64], fit: NDArray[np.int64] | None = None) -> Risks | None:
        """The risks of classes with these numbers of rows, and of people in a population; None if there are no rows.

        >>> risks = Risks.of(np.array([1, 3, 4]), np.array([2, 6, 8]))
        >>> risks.highest, risks.mean, risks.small, risks.journalist, risks.marketer
        (1.0, 0.375, 3, 0.5, 0.1875)
        """
        held = sizes > 0
        if not held.any():
            return None
        sizes = sizes[held]
        smallest, classes, rows = int(sizes.min()), len(sizes), int(sizes.sum())
        risks = cls(1.0 / smallest, classes / rows, smallest, classes, int((sizes < SMALL).sum()))
        if fit is None:
            return risks
        people = np.maximum(fit[held], 1)
        return replace(risks, journalist=1.0 / int(people.min()), marketer=float((sizes / people).sum()) / rows)

    def as_dict(self) -> dict[str, Any]:
        """The figures, ready for JSON."""
        return asdict(self)


class Reidentification(NamedTuple):
    """The risks of a table before and after it is published."""

    before: Risks | None
    """By exact quasi-identifiers; None without the original."""
    after: Risks | None
    """By published descriptions; None if there are no classes of rows that could be anybody's."""
    reason: str
    """Why there are none, in a sentence; otherwise what the risks after publication are about."""
    population: int | None = None
    """How many people the list of the population has."""


EXACT = "Quasi-identifiers are published as they are, so who is in the table is as easy to find as in the original."
DESCRIBED = "A class after publication is a group of the release, whose rows have one description."


def reidentification(
    release: Release, original: Table | None = None, population: Table | None = None
) -> Reidentification:
    """The risks before (with the original) and after publication; of several tables, those of the riskiest.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> found = reidentification(dc.publish(patients(), "k-anonymity(k=6)", "mondrian"), patients())
    >>> found.before.highest, found.after.highest <= 1 / 6
    (1.0, True)
    """
    people = None if population is None else population.rows
    if "persons" in release.manifest or (original is not None and original.person is not None):
        return Reidentification(None, None, "Persons have several rows, and the usual risks are about single rows.")
    before = ground = None
    if original is not None and release.quasi:
        release = release.revealed(original)
        ground = Ground.of(release, original, population)
        before = Risks.of(*_exact(ground))
    if not release.quasi:
        return Reidentification(None, None, "There are no quasi-identifiers to find anybody by.")
    if not release.of_people:
        return Reidentification(before, None, "Published rows are drawn at random and belong to nobody.", people)
    found: list[Risks | None] = []
    for part in release.projections:
        if part.exact_quasi:
            found.append(_named(part) if population is None else before)
        elif groups_of(part) is not None:
            found.append(Risks.of(*_described(part, ground)))
    risks = [risk for risk in found if risk is not None]
    if not risks:
        reason = "No class of rows is published: a row, or a value of it, may belong to several descriptions."
        return Reidentification(before, None, reason, people)
    exact = any(part.exact_quasi for part in release.projections)
    worst = max(risks, key=lambda risk: (risk.highest, risk.mean))
    return Reidentification(before, worst, EXACT if exact else DESCRIBED, people)


def _exact(ground: Ground) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """The classes of rows with the same quasi-identifiers, and how many of the population have these."""
    points = ground.points[:, :-1]
    everyone = points[:0] if ground.everyone is None else ground.everyone
    both = np.concatenate([points, everyone])
    numbers = numbered(list(both.T), [len(column.values) for column in ground.columns[:-1]], len(both))
    known, _, of_row = ranked(numbers)
    sizes = np.bincount(of_row[: len(points)], minlength=len(known))
    if ground.everyone is None:
        return sizes, None
    return sizes, np.bincount(of_row[len(points) :], minlength=len(known))


def _named(release: Release) -> Risks | None:
    """The risks of rows whose quasi-identifiers are published as they are."""
    columns = release.named_rows(generator())
    if not columns:
        return None
    rows = len(columns[0].codes)
    numbers = numbered([column.codes for column in columns], [len(column.values) for column in columns], rows)
    return Risks.of(np.bincount(ranked(numbers)[2]))


def _described(release: Release, ground: Ground | None) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """The groups of a release, and how many of the population each description admits."""
    sizes = groups_of(release)
    assert sizes is not None, "only these have classes"
    if ground is None or ground.everyone is None or release.descriptions is None:
        return sizes, None
    boxes: Boxes = boxes_in(release.descriptions, ground.columns[:-1])
    return sizes, fitting(boxes, ground.everyone)
