"""Presence: which of some people are in the table.

*Presence* (delta-presence; Nergiz, Atzori and Clifton, SIGMOD 2007): the adversary has a list of people among whom
those of the table are. A group of |G| rows that may hold m of them holds each with |G| / m, and all groups together
that may hold a person do so with 1 - (1 - p1)(1 - p2)... . As many people as are in the table are claimed to be in it,
those believed in most, by lot among equals. Without a population one is drawn: the people of the table and as many
others, whose quasi-identifiers are drawn one by one from those in the table.

*Corners*: descriptions are as narrow as possible, so that rows lie at the ends of intervals. The adversary, who knows
nobody, picks one combination of ends from each group, and claims that somebody in the table has it (see
`discreet.releases.corners`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import codes_in, quasi_column, usable_rows
from discreet.adversary.attacks.attack import Attack
from discreet.adversary.attacks.evidence import Evidence, Hurt
from discreet.adversary.attacks.target import Floats, Target
from discreet.adversary.presence.population import kinds_in, population_column
from discreet.errors import DiscreetError
from discreet.kernels.boxes.boxes import Boxes
from discreet.principles.wording import percent
from discreet.releases.boxes import boxes_in, occurring
from discreet.table.combinations import numbered, ranked
from discreet.table.table import Column

ABOUT = "who is in the table"
ROUNDS = 20
"""How often people are drawn anew who turned out to be in the table."""


class Crowd(NamedTuple):
    """People, some of whom are in the table."""

    kinds: tuple[Column, ...]
    """One column per quasi-identifier: kinds of people, all different."""
    kind_of: NDArray[np.intp]
    """Per person: the kind."""
    row_of: NDArray[np.int64]
    """Per person: the row of the original, or -1 for somebody who is not in it."""

    @classmethod
    def of(cls, target: Target) -> Crowd:
        """The population, or one drawn for the target."""
        rows = usable_rows(target.original)
        if target.population is None:
            quasi = _quasi(target)
            strangers = _strangers(quasi, rows, target.random)
            columns = [
                replace(column, codes=np.concatenate([column.codes[rows], codes]))
                for column, codes in zip(quasi, strangers, strict=True)
            ]
            return cls.listed(columns, np.concatenate([rows, np.full(len(strangers[0]), -1)]))
        columns = [population_column(attribute, target.population) for attribute in target.release.quasi]
        has, wanted, _ = kinds_in(target.population, target.original, target.release.quasi)
        # the first people of a kind in the population stand for the rows of that kind
        people, mine = np.argsort(has, kind="stable"), rows[np.argsort(wanted[rows], kind="stable")]
        first = np.searchsorted(has[people], wanted[mine])
        row_of = np.full(len(has), -1)
        row_of[people[first + np.arange(len(mine)) - np.searchsorted(wanted[mine], wanted[mine])]] = mine
        return cls.listed(columns, row_of)

    @classmethod
    def listed(cls, columns: Sequence[Column], row_of: NDArray[np.int64]) -> Crowd:
        """People given one by one."""
        _, first, kind_of = ranked(_keys(columns, [column.codes for column in columns]))
        return cls(tuple(replace(column, codes=column.codes[first]) for column in columns), kind_of, row_of)

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Per person: whether in the table."""
        return self.row_of >= 0

    def claimed(self, believed: Floats, random: np.random.Generator) -> NDArray[np.intp]:
        """As many people as are in the table: those whose kind is believed in most, by lot among equals."""
        lot = random.permutation(len(self.kind_of))
        return lot[np.argsort(-believed[self.kind_of[lot]], kind="stable")[: int(self.inside.sum())]]


@dataclass(frozen=True)
class Presence(Attack):
    """Claim that the people whom groups most probably hold are in the table.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> found = dc.attack(dc.publish(patients(), dc.LDiversity(3), "anatomy"), patients(), "presence").evidence[0]
    >>> found.rate, found.baseline
    (1.0, 0.5)
    """

    name: ClassVar[str] = "presence"
    about_values: ClassVar[bool] = False

    def refusal(self, target: Target) -> str | None:
        """There must be somebody who is not in the table."""
        if target.population is not None:
            return None
        quasi = _quasi(target)
        codes = [column.codes for column in quasi]
        if len(np.unique(_keys(quasi, codes))) < math.prod(len(np.unique(column)) for column in codes):
            return None
        return "every combination of values that occur is in the table, so that nobody is absent; give a population"

    def measure(self, target: Target, ceiling: Target | None = None, outsiders: Target | None = None) -> Evidence:
        """Claim the people believed in most, by the release and by the original itself."""
        crowd, finder = Crowd.of(target), target.release.lookup()
        target.tell(0.1)
        with np.errstate(divide="ignore"):
            people = [replace(column, codes=column.codes[crowd.kind_of]) for column in crowd.kinds]
            chances = finder.sizes / finder.crowd(people)
        target.tell(0.5)
        believed = finder.find(crowd.kinds, np.minimum(1.0, chances)).together
        target.tell(0.9)
        claimed = crowd.claimed(believed, target.random)
        number, everyone = len(claimed), len(crowd.kind_of)
        share = np.bincount(crowd.kind_of, crowd.inside) / np.bincount(crowd.kind_of)
        hits, beliefs = crowd.inside[claimed], believed[crowd.kind_of[claimed]]
        baseline = number / everyone
        remark = f"Of {everyone:,} people, as many as are in the table are claimed to be in it"
        remark += "." if target.population is not None else "; the others were drawn from the values that occur in it."
        alpha = min((part.most_presence for part in target.promised), default=1.0)
        if alpha < 1.0:
            about = f"The promise of at most {percent(alpha)} is about all combinations of values"
            remark += f" {about}; an attacker with a list of people may believe more."
        return Evidence(
            str(self),
            ABOUT,
            victims=number,
            successes=int(hits.sum()),
            baseline=baseline,
            ceiling=float(crowd.inside[crowd.claimed(share, target.random)].mean()),
            redrawn=float(beliefs.mean()),
            gain=float(believed.max()) / baseline,
            hurt=Hurt.worst(hits, crowd.row_of[claimed], beliefs, np.full(number, baseline)),
            details={"people": everyone, "unbelieved": int((believed[crowd.kind_of] == 0.0).sum())},
            remark=remark,
        )


def _strangers(quasi: Sequence[Column], rows: NDArray[np.intp], random: np.random.Generator) -> list[NDArray[np.int32]]:
    """As many people as there are rows: every value of theirs occurs in the table, but they are not in it."""
    codes = [column.codes[rows] for column in quasi]
    strangers: list[list[NDArray[np.int32]]] = []
    left = len(rows)
    for _ in range(ROUNDS):
        drawn = [column[random.integers(0, len(rows), left)] for column in codes]
        keys = _keys(quasi, codes, drawn)
        absent = ~np.isin(keys[len(rows) :], keys[: len(rows)])
        strangers.append([column[absent] for column in drawn])
        left -= int(absent.sum())
        if not left:
            break
    return [np.concatenate(columns) for columns in zip(*strangers, strict=True)]


def _quasi(target: Target) -> list[Column]:
    """The original's quasi-identifiers, in the order of the release."""
    return [quasi_column(attribute, target.original) for attribute in target.release.quasi]


def _keys(columns: Sequence[Column], *people: Sequence[NDArray[np.int32]]) -> NDArray[np.int64]:
    """Number the combinations of codes in these columns, alike for all lists of people."""
    codes = [np.concatenate(parts) for parts in zip(*people, strict=True)]
    return numbered(codes, [len(column.values) for column in columns], len(codes[0]))


@dataclass(frozen=True)
class Corners(Attack):
    """Claim of a combination of ends, one of each group, that somebody in the table has it.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> found = dc.attack(dc.publish(patients(), dc.KAnonymity(2), "mondrian"), patients(), "corners").evidence[0]
    >>> found.rate > found.baseline
    True
    """

    name: ClassVar[str] = "corners"
    about_values: ClassVar[bool] = False

    def refusal(self, target: Target) -> str | None:
        """Only groups with intervals have ends."""
        if target.release.descriptions is None or target.release.grouped is None:
            return "rows are not published in groups under one description each, so that there are no ends to pick"
        if not _ends(target)[0].any():
            return "no group is published with an interval of several values"
        return None

    def measure(self, target: Target, ceiling: Target | None = None, outsiders: Target | None = None) -> Evidence:
        """Pick ends where there are any, and values at random elsewhere; compare with values at random."""
        quasi, (ends, boxes) = _quasi(target), _ends(target)
        groups = np.flatnonzero(ends.any(axis=1))
        finder = target.release.lookup()
        picked = []
        for axis, mask in enumerate(occurring(quasi, target.release.quasi)):
            upper = target.random.random(len(groups)) < 0.5
            codes = np.where(upper, boxes.high[groups, axis], boxes.low[groups, axis])
            free = np.flatnonzero(~ends[groups, axis])
            codes[free] = [target.random.choice(_admitted(boxes, group, axis, mask)) for group in groups[free].tolist()]
            picked.append(codes)
            target.tell((axis + 1) / (len(quasi) + 3))
        keys = _keys(quasi, picked, [column.codes for column in quasi])
        rows, first = np.unique(keys[len(groups) :], return_index=True)
        at = np.minimum(np.searchsorted(rows, keys[: len(groups)]), len(rows) - 1)
        hits = rows[at] == keys[: len(groups)]
        target.tell((len(quasi) + 1) / (len(quasi) + 3))
        believed, average = finder.chances(quasi)[groups], finder.average_chances(quasi)[groups]
        target.tell((len(quasi) + 2) / (len(quasi) + 3))
        alpha = min((part.most_presence for part in target.promised), default=1.0)
        return Evidence(
            str(self),
            "a combination of values that somebody in the table has",
            of="groups",
            victims=len(groups),
            successes=int(hits.sum()),
            baseline=float(average.mean()),
            ceiling=1.0,
            redrawn=float(believed.mean()),
            bound=alpha if alpha < 1.0 else None,
            strain=float(believed.max()) / alpha if alpha < 1.0 else None,
            gain=float((believed / average).max()),
            hurt=Hurt.worst(hits, first[at], believed, average),
            remark="One combination of ends of intervals is picked from each group; to an attacker who does not know "
            "that intervals are as narrow as possible, any combination of values would be as good.",
        )


def _ends(target: Target) -> tuple[NDArray[np.bool_], Boxes]:
    """Per group and attribute: whether it is an interval of several values; and the boxes."""
    described = target.release.descriptions
    assert described is not None, "refused otherwise"
    ends = [
        np.array([text.startswith("[") for text in texts.texts], np.bool_)[texts.of_cell] for texts in described.texts
    ]
    return np.stack(ends, axis=1), boxes_in(described, _quasi(target))


def _admitted(boxes: Boxes, group: int, axis: int, occurs: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The codes that a group admits, of those that occur."""
    codes = codes_in(boxes, group, axis)
    admitted = np.asarray(codes[occurs[codes]], np.intp)
    if not len(admitted):
        raise DiscreetError("there are groups that no row of the original fits into; give the table that was published")
    return admitted
