"""Presence against a known population (delta-presence; Nergiz, Atzori and Clifton, SIGMOD 2007).

An adversary with a list of everyone who could be in the table finds the people whom a group of |G| rows may contain;
each of them is in it with probability |G| divided by their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import combined, places_in, same_kind, usable_rows
from discreet.errors import DiscreetError
from discreet.principles import wording
from discreet.principles.wording import percent
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn
from discreet.releases.lookup import Lookup
from discreet.table.table import Column, Table


@dataclass(frozen=True)
class BeliefRange:
    """The weakest and the strongest belief about a set of people."""

    smallest: float
    largest: float

    @classmethod
    def of(cls, beliefs: NDArray[np.float64]) -> BeliefRange:
        """Return the range of some beliefs; 0 to 0 if there are none."""
        return cls(float(beliefs.min(initial=1.0)), float(beliefs.max())) if len(beliefs) else cls(0.0, 0.0)

    def __str__(self) -> str:
        """Return the range in words."""
        low, high = percent(self.smallest), percent(self.largest)
        return low if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class Population:
    """How strongly the people of a population are believed to be in the table."""

    people: int
    uncovered: int
    """How many people no published group admits; they are believed to be absent, or withheld."""
    group: BeliefRange
    """Over the population: the belief by the one group that discloses most about each person."""
    combined: BeliefRange
    """Over the population: the belief by all groups that admit the person together."""
    group_original: BeliefRange
    """Over the rows of the original that some group admits."""
    combined_original: BeliefRange

    @property
    def sentence(self) -> str:
        """The finding in words."""
        return (
            f"The {self.people:,} people of the population are believed to be in the table with {self.group} each, "
            f"judged by one group, and {self.combined}, judged by all groups that may hold the person; those who are "
            f"in it with {self.group_original} and {self.combined_original}. No group may hold {self.uncovered:,} of "
            "them."
        )


def in_population(finder: Lookup, original: Sequence[Column], population: Table) -> Population:
    """Return the beliefs about everyone in a population, and about the rows of the original."""
    people = [population_column(attribute, population) for attribute in finder.quasi]
    crowd = finder.crowd(people)
    short = np.flatnonzero(crowd < finder.sizes)
    if len(short):
        group = int(short[np.argmax((finder.sizes - crowd)[short])])
        raise DiscreetError(
            f"the population does not contain the published rows: {finder.named(group)} can only hold "
            f"{wording.rows(int(crowd[group]))} of it; give a population of which the table is a part"
        )
    chances = finder.sizes / crowd
    everyone, inside = finder.find(people, chances), finder.find(original, chances)
    held = inside.groups > 0
    return Population(
        population.rows,
        int((everyone.groups == 0).sum()),
        BeliefRange.of(everyone.largest),
        BeliefRange.of(everyone.together),
        BeliefRange.of(inside.largest[held]),
        BeliefRange.of(inside.together[held]),
    )


def check_population_covers(population: Table, original: Table, quasi: Sequence[Attribute]) -> None:
    """Reject a population that lacks rows of the original: the beliefs about everyone else would be wrong."""
    columns = [original.column(attribute.name) for attribute in quasi]
    has, wanted, kinds = kinds_in(population, original, quasi)
    usable = usable_rows(original)  # a missing number cannot be matched
    short = np.bincount(wanted[usable], minlength=kinds + 1)
    short[:kinds] -= np.bincount(has, minlength=kinds)[:kinds]
    lacking = int(np.maximum(short, 0).sum())
    if lacking:
        row = int(usable[np.argmax(short[wanted[usable]] > 0)])
        who = ", ".join(f"{column.name} {column.texts[column.codes[row]]}" for column in columns)
        raise DiscreetError(
            f"the population does not contain the original: {wording.rows(lacking)} of the original, such as {who}, "
            f"{'is' if lacking == 1 else 'are'} not in it; give a population of which the table is a part"
        )


def kinds_in(
    population: Table, original: Table, quasi: Sequence[Attribute]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Number the kinds of people, alike in the population and in the original: per row of each, and how many."""
    parts = []
    for attribute in quasi:
        column = original.column(attribute.name)
        values = column.values.astype(np.float64) if column.kind == "numeric" else column.values
        among = population_column(attribute, population)
        parts.append((among, places_in(ExactColumn(values, column.codes), among), column.codes))
    return combined(population.rows, original.rows, parts)


def population_column(attribute: Attribute, population: Table) -> Column:
    """Return the population's column of a published quasi-identifier."""
    column = next((column for column in population.columns if column.name == attribute.name), None)
    if column is None:
        raise DiscreetError(
            f"the population has no column {attribute.name!r}, which the release has as a quasi-identifier; give a "
            "table with all quasi-identifiers"
        )
    same_kind(attribute, column, "population")
    return column
