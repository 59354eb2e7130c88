"""Presence against a known population (delta-presence; Nergiz, Atzori and Clifton, SIGMOD 2007).

Whoever has a list of everyone who could be in the table finds, for a group of |G| rows, the people it may hold: each of
them is in it with |G| divided by their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.formats.generalized.align import as_published, combined, places_in, usable_rows
from discreet.errors import DiscreetError
from discreet.principles import wording
from discreet.principles.wording import percent
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn
from discreet.releases.lookup import Lookup
from discreet.table.table import Column, Table


@dataclass(frozen=True)
class BeliefRange:
    """The smallest and the largest belief about any of some people."""

    smallest: float
    largest: float

    @classmethod
    def of(cls, beliefs: NDArray[np.float64]) -> BeliefRange:
        """The range of some beliefs; nobody is believed in when there are none."""
        return cls(float(beliefs.min(initial=1.0)), float(beliefs.max())) if len(beliefs) else cls(0.0, 0.0)

    def __str__(self) -> str:
        """From the one to the other."""
        return f"{percent(self.smallest)} to {percent(self.largest)}"


@dataclass(frozen=True)
class Population:
    """How strongly people of a population are believed to be in the table."""

    people: int
    uncovered: int
    """How many of them no published group may hold; they are believed absent, or withheld."""
    group: BeliefRange
    """Over the population, by the one group that says most about each person."""
    combined: BeliefRange
    """The same by all groups that may hold the person together."""
    group_original: BeliefRange
    """Over the rows of the original that some group may hold."""
    combined_original: BeliefRange

    @property
    def sentence(self) -> str:
        """The finding in words."""
        return (
            f"Of the {self.people:,} people of the population, each is believed to be in the table with {self.group} "
            f"by one group and {self.combined} by all groups that may hold the person; those who are in it with "
            f"{self.group_original} and {self.combined_original}. No group may hold {self.uncovered:,} of them."
        )


def in_population(finder: Lookup, original: Sequence[Column], population: Table) -> Population:
    """The beliefs about everyone in a population, and about the rows of the original."""
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
    found, own = finder.find(people, chances), finder.find(original, chances)
    held = own.groups > 0
    return Population(
        population.rows,
        int((found.groups == 0).sum()),
        BeliefRange.of(found.largest),
        BeliefRange.of(found.together),
        BeliefRange.of(own.largest[held]),
        BeliefRange.of(own.together[held]),
    )


def see_that_all_are_in(population: Table, original: Table, quasi: Sequence[Attribute]) -> None:
    """Refuse a population that lacks rows of the original: what it says about everyone else is not so then."""
    columns = [original.column(attribute.name) for attribute in quasi]
    parts = []
    for attribute, column in zip(quasi, columns, strict=True):
        values = column.values.astype(np.float64) if column.kind == "numeric" else column.values
        among = population_column(attribute, population)
        parts.append((among, places_in(ExactColumn(values, column.codes), among), column.codes))
    has, wanted, kinds = combined(population.rows, original.rows, parts)
    usable = usable_rows(original)  # nobody knows the missing number of another
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


def population_column(attribute: Attribute, population: Table) -> Column:
    """The population's column of a published quasi-identifier."""
    column = next((one for one in population.columns if one.name == attribute.name), None)
    if column is None:
        raise DiscreetError(
            f"the population has no column {attribute.name!r}, which the release has as a quasi-identifier; give a "
            "table with all quasi-identifiers"
        )
    if column.meaning != attribute.meaning:
        raise DiscreetError(
            f"column {attribute.name!r} was published as {attribute.meaning}, but the population was read with it as "
            f"{column.meaning}; read it {as_published(attribute)}"
        )
    return column
