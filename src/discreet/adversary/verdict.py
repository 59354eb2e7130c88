"""Promises judged on a release: on every group or other subject, and on the withheld rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned
from discreet.adversary.check import Check, in_words
from discreet.errors import DiscreetError
from discreet.principles import Principle, Prior, wording
from discreet.principles.counts import Counts
from discreet.releases.grouped import GroupedRelease


@dataclass(frozen=True)
class PromiseVerdict:
    """The verdict of an audit on one promise."""

    promise: str
    holds: bool
    strain: float
    """How close the worst group comes to the bound: up to 1 the promise is kept, above 1 it is broken."""
    achieved: float | None
    """The strongest parameter that all groups and the withheld rows keep."""
    broken: int
    """How many groups break the promise; the withheld rows count as one group."""
    group: int | None
    """The published number of the worst group; None for the withheld rows, or when nothing could be judged."""
    size: int
    description: dict[str, str]
    sentence: str
    attribute: str | None = None
    """The sensitive attribute that the promise was judged on, where there are several."""
    limit: str | None = None
    """A sentence on what binds the closest group, where this is not the parameter given as ``achieved``."""
    average: float | None = None
    """The strongest parameter that each group keeps, on average over the groups; None where no groups were judged."""

    @classmethod
    def unjudged(cls, part: Principle | str, reason: str) -> PromiseVerdict:
        """Return the verdict on a promise that cannot be judged, and so is not shown to be kept."""
        sentence = f"{part} cannot be judged{reason}."
        return cls(str(part), False, math.inf, None, 0, None, 0, {}, sentence)

    @property
    def margin(self) -> float:
        """How much of the bound the worst group leaves unused; negative when the promise is broken."""
        return round(1.0 - self.strain, 8)  # comparisons allow a smaller slack than this


def counts_of(aligned: Aligned, width: int) -> Counts:
    """Return the counts of all groups by the original's ``width`` values; other published values are left out."""
    release = aligned.release
    sensitive_codes = aligned.class_of[release.sensitive_codes]
    known = np.flatnonzero(sensitive_codes < width)
    return Counts.of_rows(release.group_of[known], sensitive_codes[known], release.groups, width)


def judged(part: Principle, subjects: Subjects, prior: Prior, left: NDArray[np.int64]) -> PromiseVerdict:
    """Judge one promise on every subject, and on the withheld rows, whose counts are ``left``."""
    groups, withheld = subjects.counts, Counts.of(left[None], len(prior.values))
    judged = [counts for counts, rows in ((groups, len(groups)), (withheld, left.sum())) if rows]
    try:
        part.require(prior)
        strains = np.concatenate([np.zeros(0), *(part.strain(counts, prior) for counts in judged)])
        each = [part.achieved_each(counts, prior) for counts in judged]
    except DiscreetError as error:
        return PromiseVerdict.unjudged(part, f": {error}")
    broken, strain = int((strains > 1.0).sum()) + subjects.broken_beside, float(strains.max(initial=0.0))
    every = len(strains) + subjects.beside
    worst = int(np.argmax(strains)) if len(strains) else None
    if worst is None or worst == len(groups):
        worst, counts, size, description = None, withheld, int(left.sum()), dict[str, str]()
        who = f"the withheld rows ({size:,}) taken as one group" if size else f"no {subjects.noun}"
    else:
        counts = groups.only(np.array([worst]))
        size, description, who = int(counts.sizes[0]), subjects.description(worst), subjects.named(worst)
    one = subjects.this or subjects.noun
    alone = len(groups) + subjects.beside == 1 and not left.sum()
    if broken:
        explained = part.explain(counts, prior, "this group" if worst is None else f"this {one}")
        verb = "not shown to be kept" if part.only_sufficient else "broken"
        number = f"{broken:,} of {every:,} {subjects.many}; the worst is"
        sentence = f"{part} is {verb} by {f'the only {one}:' if alone else number} {who}. {explained}"
    else:
        number_of_groups = len(groups) + subjects.beside
        everyone = f"the only {one}" if number_of_groups == 1 else f"all {number_of_groups:,} {subjects.many}"
        closest = f"{' and by the withheld rows' if left.sum() else ''}; the closest to its bound, {who}, uses"
        uses = f": {who} uses" if alone else closest
        sentence = f"{part} is kept by {everyone}{uses} {wording.percent(strain)} of what it allows."
    limit = None if broken or not size else part.binding(counts.line(0), prior)
    if limit is not None:
        sentence += f" {limit}"
    weakest = part.weakest(np.concatenate(each)) if each else None
    average = float(each[0].mean()) if len(groups) and len(each[0]) else None
    group = None if worst is None else int(subjects.ids[worst])
    figures = strain, weakest, broken, group, size, description
    return PromiseVerdict(str(part), broken == 0, *figures, sentence, limit=limit, average=average)


def averages(parts: tuple[Principle, ...]) -> Check:
    """Check whether the promises also bound an adversary who finds a person's quasi-identifiers in several groups."""
    loose = [str(part) for part in parts if not part.monotone]
    if loose:
        sentence = (
            "A person's quasi-identifiers may occur in several groups, and the average of groups that keep "
            f"{', '.join(loose)} need not keep it: such a promise cannot be confirmed for this format."
        )
    else:
        sentence = (
            "An adversary who finds a person's quasi-identifiers in several groups believes their average, and these "
            "promises hold for averages of groups that keep them: there is nothing more to check."
        )
    return Check("unions", not loose, sentence)


def naming(attribute: str, parts: Sequence[Principle], kept: Sequence[PromiseVerdict]) -> list[PromiseVerdict]:
    """Return verdicts that name their sensitive attribute, where there are several."""
    return [
        replace(verdict, attribute=attribute, sentence=f"About {attribute!r}: {verdict.sentence}")
        if part.about_values
        else verdict
        for part, verdict in zip(parts, kept, strict=True)
    ]


def number_of(noun: str, number: int) -> str:
    """Return how many there are of something.

    >>> number_of("person", 1), number_of("person", 2000)
    ('1 person', '2,000 persons')
    """
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


@dataclass(frozen=True, eq=False)
class Subjects:
    """Groups of rows or of persons, each with its published distribution of sensitive values.

    >>> two = Subjects(Counts.of([[1, 1], [3, 0]], 2), np.array([7, 9]), lambda at: {"age": ["17", "30"][at]})
    >>> two.named(1)
    'group 9 (3 rows, age 30)'
    """

    counts: Counts
    """Per subject: the count, or expected count, of every sensitive value of the original."""
    ids: NDArray[np.int64]
    """The published numbers of the subjects."""
    description: Callable[[int], dict[str, str]]
    """Returns the published quasi-identifiers of the subject at a position."""
    noun: str = "group"
    """The word for one subject in sentences."""
    many: str = "groups"
    """The word for several subjects."""
    whom: Callable[[int], str] = wording.rows
    """Puts the number of rows or persons of a subject into words."""
    this: str = ""
    """The word for one subject after "this", if it is not ``noun``."""
    beside: int = 0
    """How many more were judged elsewhere, none of them closer to its bound."""
    broken_beside: int = 0
    """How many of these break the promise."""

    @classmethod
    def groups(cls, release: GroupedRelease, counts: Counts) -> Subjects:
        """Return the groups of a release as subjects."""
        return cls(counts, release.ids, release.description)

    def named(self, at: int) -> str:
        """Return one subject in words."""
        size = self.whom(int(self.counts.sizes[at]))
        return f"{self.noun} {self.ids[at]} ({size}, {in_words(self.description(at))})"
