"""What a release discloses about who is in the table, and whether promises about this are kept.

The belief that a person is in the table has two readings. By *group*: the adversary finds the one group that may
contain the person, and takes all tables that it admits for equally likely; of a group with a description, which is as
narrow as possible, the strongest belief in any combination counts for all of them (`discreet.releases.corners`).
*Combined*: at least one of all groups that may contain the person does, with probability 1 - (1 - p1)(1 - p2)... . An
audit reports both, whichever is promised, and the strongest belief that is justified about anyone, in the table or not;
for releases that list values also the belief of an adversary for whom common values are likelier than rare ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import quasi_column
from discreet.adversary.case import Case
from discreet.adversary.check import Check
from discreet.adversary.verdict import PromiseVerdict
from discreet.kernels.judging import SLACK
from discreet.principles import Principle
from discreet.principles.counts import Counts
from discreet.principles.wording import percent
from discreet.progress import Tell, no_progress
from discreet.releases.lookup import Lookup
from discreet.releases.release import Release
from discreet.table.table import Column, Table

if TYPE_CHECKING:
    from discreet.adversary.presence.population import Population

LOOKED_AT = 2000
"""How many rows are looked at: those believed in most, because the bound on the quotient grows with this belief."""
CERTAIN = 1.0 - 1e-15
STRANGER = "someone who is not in the original, with values that occur in it, would be believed to be in the table"


@dataclass(frozen=True)
class PresenceFindings:
    """How much a release discloses about who is in the table."""

    certain: bool
    """Whether quasi-identifiers are published unchanged, so that presence is not hidden at all."""
    group: float
    """The strongest belief that any one group justifies."""
    combined: float
    """The strongest belief about any row of the original that all groups together justify."""
    anyone: float
    """An upper bound on the combined belief about anyone, in the table or not, with any occurring values."""
    anyone_reached: bool
    """Whether this bound is reached by someone; otherwise the strongest belief was not found."""
    weighed: float | None
    """The strongest belief about any row of the original, by one group, of an adversary for whom a value is the
    likelier the more groups list it; None if the release lists no values."""
    average: float
    """The strongest belief that any one group justifies in a combination on average; less than ``group`` if
    descriptions are as narrow as possible, which makes some likelier, such as those of ends of intervals."""
    rows: int
    """The number of original rows that were looked up."""
    covered: int
    """How many of them some group admits."""
    most_groups: int
    """The largest number of groups that admit the same person."""
    alpha: float | None = None
    """The strongest promise about presence; the next three count the original rows beyond it."""
    above_group: int = 0
    above_combined: int = 0
    above_weighed: int | None = None
    together: float | None = None
    """The strongest promise about the combined belief."""
    population: Population | None = None
    some_row: float | None = None
    """The strongest belief found that some row with a person's values has a sensitive value, given that there is such a
    row: more than any group's share where groups overlap. None if it was not looked for."""
    own_row: float | None = None
    """What is promised about the value of a person's own row, but not about that of some row with the same values."""


class PresenceBeliefs:
    """The beliefs that a release justifies about the presence of everyone in the original."""

    def __init__(self, release: Release, original: Sequence[Column], tell: Tell = no_progress) -> None:
        """Look up all rows of the original."""
        finder = release.lookup()
        self.finder, self.original = finder, original
        self.chances, self.average = finder.chances(original), finder.average_chances(original)
        self.worst = int(np.argmax(self.chances)) if len(self.chances) else None
        """The group that justifies the strongest belief."""
        self.rows, self.weighed = finder.find_weighed(original, self.chances, tell)
        """Per row of the original: the groups that admit it and the beliefs in its presence, also weighed by values."""
        self.some_row = {} if finder.certain else self._some_row(release)
        self.anyone = finder.anyone(original, self.chances, self.together)

    @property
    def together(self) -> float:
        """The strongest belief about any row of the original that all groups together justify."""
        return float(self.rows.together.max(initial=0.0))

    def _some_row(self, release: Release) -> dict[str, float]:
        """Return, per sensitive attribute, the strongest belief that some row with a person's values has a value."""
        strongest: dict[str, float] = {}
        # what several tables say of one attribute is said by its own groups, not by those that people are looked up in
        for attribute in release.sensitive if len(release.projections) == 1 else ():
            grouped = release.about(attribute.name).grouped
            if grouped is not None:
                together = self.rows.together
                belief = strongest_in_some_row(self.finder, self.original, self.chances, grouped.counts, together)
                strongest |= {} if belief is None else {attribute.name: belief}
        return strongest

    def _overlap(self, parts: Sequence[Principle]) -> tuple[float | None, float | None]:
        """Return the strongest of these beliefs, compared with what is promised about the value of a person's own row,
        and that promise."""
        bounds = [(part.own_row_only, part.about) for part in parts if part.own_row_only is not None]
        compared = [
            (belief, bound)
            for name, belief in self.some_row.items()
            for bound, about in bounds
            if about in (None, name)
        ]
        if compared:
            return max(compared, key=lambda pair: pair[0] / pair[1])
        return max(self.some_row.values(), default=None), min((bound for bound, _ in bounds), default=None)

    def settle(self, alpha: float) -> None:
        """Search again if it is still open whether the belief about anyone exceeds ``alpha``."""
        if self.anyone.reached <= alpha < self.anyone.bound:
            reached = self.anyone.reached
            again = self.finder.anyone(self.original, self.chances, reached, alpha)
            self.anyone = min(self.anyone, again, key=lambda searched: searched.bound - searched.reached)

    def presence(self, parts: Sequence[Principle], population: Table | None) -> PresenceFindings:
        """Return the figures, relative to the strongest of the given promises."""
        alpha = min((part.most_presence for part in parts), default=None)
        together = min((part.most_presence for part in parts if part.combined_presence), default=None)
        weighed, limit = self.weighed, 1.0 if alpha is None else alpha
        return PresenceFindings(
            self.finder.certain,
            float(self.chances.max(initial=0.0)),
            self.together,
            self.anyone.bound,
            self.anyone.exact,
            None if weighed is None else float(weighed.max(initial=0.0)),
            float(self.average.max(initial=0.0)),
            len(self.rows.groups),
            int((self.rows.groups > 0).sum()),
            int(self.rows.groups.max(initial=0)),
            alpha,
            _above(self.rows.largest, limit),
            _above(self.rows.together, limit),
            None if weighed is None or alpha is None else _above(weighed, alpha),
            together,
            self._of(population),
            *self._overlap(parts),
        )

    def _of(self, population: Table | None) -> Population | None:
        """Return what is believed about a population, if there is one."""
        if population is None:
            return None
        from discreet.adversary.presence.population import in_population  # imported late: few give one

        return in_population(self.finder, self.original, population)


def strongest_in_some_row(
    finder: Lookup,
    original: Sequence[Column],
    chances: NDArray[np.float64],
    counts: Counts,
    together: NDArray[np.float64],
) -> float | None:
    """The strongest belief found that some row with a person's values has a sensitive value, given that there is one.

    A person's own row is in one group, and a value's share of that group bounds the belief that the row has it. But
    several groups may hold rows with the person's values. If they do so with p1, p2, ... and a value has shares q1, q2,
    ... of them, some such row has the value with 1 - (1 - p1 q1)(1 - p2 q2)..., and there is some such row with
    A = 1 - (1 - p1)(1 - p2)... . The quotient is what is believed of "someone like this who is in the table has the
    value", and may exceed every share; see `AlphaBeta` for the bound on it.

    ``together`` is the belief in the presence of every row of the original. None if groups have no values of their own.
    """
    rows = np.argsort(-together, kind="stable")[:LOOKED_AT]
    shares = np.minimum(CERTAIN, chances[counts.groups] * counts.shares)
    summed = finder.summed(original, rows, replace(counts, amounts=-np.log1p(-shares), members=None))
    if summed is None or not len(rows):
        return None
    there = together[rows]
    some = -np.expm1(-summed.max(axis=1))
    return float(np.divide(some, there, out=np.zeros(len(rows)), where=there > 0.0).max())


def judge_presence(
    case: Case[Any], verdicts: list[PromiseVerdict], population: Table | None, tell: Tell
) -> tuple[list[PromiseVerdict], PresenceFindings | None]:
    """The verdicts on sensitive values completed by what was promised about presence, and what the release reveals.

    Nothing is looked at, and None returned, unless the format hides presence or a promise or a population asks for it;
    nor where rows are drawn, which say nothing certain about who is in the table.
    """
    release, names = case.release, [column.name for column in case.original.sensitive]
    hiding = [part for part in case.parts if part.hides_presence]
    # verdicts on one of several sensitive attributes name it
    named = {str(part): part for whole in hiding for part in (whole, *map(whole.naming, names))}
    parts = [named.get(kept.promise) for kept in verdicts]
    asked = release.hides_presence or population is not None or any(part is not None for part in parts)
    if not asked or not release.quasi or not release.of_people:
        return verdicts, None
    beliefs = PresenceBeliefs(release, [quasi_column(attribute, case.original) for attribute in release.quasi], tell)
    for part in parts:
        if part is not None and part.combined_presence:
            beliefs.settle(part.most_presence)
    judged = [
        verdict if part is None else hidden(part, beliefs, verdict)
        for part, verdict in zip(parts, verdicts, strict=True)
    ]
    return judged, beliefs.presence([part for part in parts if part is not None], population)


def hidden(part: Principle, beliefs: PresenceBeliefs, values: PromiseVerdict) -> PromiseVerdict:
    """Judge a promise about presence and sensitive values; ``values`` is the verdict on its part about values."""
    judged = math.isfinite(values.strain)
    broken, reached, what = _judged(part, beliefs)
    if not judged and not (broken and beliefs.finder.certain):
        return values
    if not broken:
        sentence = f"{values.sentence} PresenceFindings: {what}."
    elif values.holds:
        sentence = f"{part} is broken: {what}. What it says about sensitive values is kept."
    elif judged:
        sentence = f"{values.sentence} It is also broken about presence: {what}."
    else:
        sentence = f"{part} is broken: {what}."
    strain = max(values.strain if judged else 0.0, reached / part.most_presence)
    finder, worst = beliefs.finder, beliefs.worst
    if strain > values.strain and worst is not None and finder.ids is not None:
        # report the group that discloses most about presence
        number, size = int(finder.ids[worst]), int(finder.sizes[worst])
        values = replace(values, group=number, size=size, description=finder.description(worst))
    return replace(
        values,
        holds=values.holds and not broken,
        strain=strain if broken or not values.holds else min(1.0, strain),
        achieved=reached,
        broken=values.broken + broken,
        sentence=sentence,
    )


def _judged(part: Principle, beliefs: PresenceBeliefs) -> tuple[int, float, str]:
    """Return how many groups (or rows, for combined beliefs) break a promise about presence, the belief, and why."""
    if part.combined_presence and not beliefs.finder.certain:
        return _judged_together(part.most_presence, beliefs)
    broken = _above(beliefs.chances, part.most_presence)
    limit, worst = percent(part.most_presence), beliefs.worst
    by_group = 0.0 if worst is None else float(beliefs.chances[worst])
    if beliefs.finder.certain:
        what = (
            "quasi-identifiers are published unchanged, so an attacker who knows a person's knows for certain whether "
            f"the person is in the table, {f'and at most {limit} is promised' if broken else 'which alpha=1 allows'}"
        )
        return broken, by_group, what
    who = "no group" if worst is None else beliefs.finder.named(worst)
    uneven = worst is not None and by_group > beliefs.average[worst] * (1.0 + SLACK)
    how_many = f"{broken:,} of {len(beliefs.chances):,} groups go beyond it" if broken else "no group goes beyond it"
    what = (
        f"an attacker who finds a person in {who} believes with {'up to ' if uneven else ''}{percent(by_group)} that "
        f"the person is in the table, and {limit} is allowed; {how_many}"
    )
    return broken, by_group, what


def _judged_together(alpha: float, beliefs: PresenceBeliefs) -> tuple[int, float, str]:
    """The same for a promise about what all groups that may hold a person reveal together."""
    rows = _above(beliefs.rows.together, alpha)
    limit, together, anyone = percent(alpha), beliefs.together, beliefs.anyone
    what = "combining all groups that may hold a person, "
    if rows:
        what += f"{rows:,} of the {len(beliefs.rows.groups):,} rows of the original are believed to be in the table "
        return rows, together, f"{what}with more than {limit}, the worst with {percent(together)}"
    if _above(np.array([anyone.reached]), alpha):
        what += f"{STRANGER} "
        return 1, anyone.reached, f"{what}with {percent(anyone.reached)}, and {limit} is allowed"
    what += f"nobody in the original is believed to be in the table with more than {percent(together)}, "
    if _above(np.array([anyone.bound]), alpha):
        what += f"and {limit} is allowed; for anyone else it is known to be at most {percent(anyone.bound)}"
    else:
        what += f"nor anyone else with more than {percent(anyone.bound)}, " if anyone.bound > together else ""
        what += f"and {limit} is allowed"
    return 0, anyone.reached, what


def _above(beliefs: NDArray[np.float64], alpha: float) -> int:
    """Count the beliefs above ``alpha`` by more than the rounding error of sums of logarithms; 1 bounds nothing."""
    return 0 if alpha >= 1.0 else int((beliefs > alpha * (1.0 + SLACK)).sum())


def remarks(presence: PresenceFindings) -> list[Check]:
    """Return remarks on presence beyond the promises, as findings that break no promise."""
    sentences: dict[str, str] = {}
    alpha, promised = presence.alpha, presence.together
    if alpha is not None and alpha != promised and presence.above_combined > presence.above_group:
        others = "the promise covers what one group reveals; presence=combined would cover this too"
        if promised is not None:
            others = f"that is promised of what one group reveals, and {percent(promised)} of what all reveal together"
        sentences["all groups"] = (
            f"An adversary who combines all groups that may hold a person believes {presence.above_combined:,} of the "
            f"{presence.rows:,} rows of the original to be in the table with more than {percent(alpha)}, the worst "
            f"with {percent(presence.combined)}; {others}."
        )
    if presence.anyone > presence.combined * (1.0 + SLACK) and presence.anyone_reached:
        sentences["anyone"] = (
            f"{STRANGER.capitalize()} with {percent(presence.anyone)} by all groups together, more than anyone who is "
            "in it."
        )
    elif presence.anyone > presence.combined * (1.0 + SLACK):
        sentences["anyone"] = (
            f"Nobody, in the original or not, is believed to be in the table with more than {percent(presence.anyone)} "
            "by all groups together; this is an upper bound that may not be reached."
        )
    if presence.weighed is not None:
        beyond = ""
        if alpha is not None:
            beyond = f", and {presence.above_weighed:,} of {presence.rows:,} rows with more than {percent(alpha)}"
        sentences["common values"] = (
            "An adversary who takes a value as the likelier the more groups list it believes one row of the original "
            f"to be in the table with {percent(presence.weighed)} by a single group{beyond}; the promise counts all "
            "combinations of a group's values as equally likely and does not bound this."
        )
    elif presence.group > presence.average * (1.0 + SLACK):
        sentences["ends"] = (
            "Descriptions are as narrow as possible, so that some row lies at each end of an interval, or on a grid in "
            "the cell there. An attacker who knows this believes in one combination of ends with "
            f"{percent(presence.group)}, where the numbers of rows and combinations alone justify "
            f"{percent(presence.average)}; promises about presence are judged by the former."
        )
    some_row = presence.some_row or 0.0
    if presence.own_row is not None and some_row > presence.own_row * (1.0 + SLACK):
        sentences["overlap"] = (
            f"The bound of {percent(presence.own_row)} on sensitive values is about a person's own row. Groups overlap "
            "here: that some row with the values of one person of the original has a certain sensitive value, if there "
            f"is such a row at all, is believed with {percent(some_row)}; association=combined would bound this too."
        )
    if presence.population is not None:
        sentences["population"] = presence.population.sentence
    return [Check(name, True, sentence) for name, sentence in sentences.items()]
