"""Who is in a group in which everybody has the same value, so that anyone who finds the group knows it.

Promises that are not about values, such as k-anonymity, allow this, and so do some that are. The withheld rows are one
more group, since what is published tells which values they have together.

Where every row is published with its quasi-identifiers, the rows with equal ones take the place of a group. A
randomised value is certain if, by the printed probabilities and the prior, all but a billionth of the belief is in one
original value; of withheld rows nothing is said then. Kept columns are counted by their published values: no promise
covers them. In a synthetic release nothing is certain of anybody, because its rows are nobody's; nor is a kept column
of a matched release, which does not tell which row is whose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.principles import Principle
from discreet.principles.counts import Counts
from discreet.releases.columns import value_name
from discreet.releases.release import Release
from discreet.table.multivalued import HAS
from discreet.table.table import Column, Table
from discreet.table.texts import MISSING

ACCURATE = 1e-9
"""By how much of a group expected counts may be off."""


@dataclass(frozen=True)
class Certain:
    """How many people are in groups in which everybody has the same value of a sensitive attribute."""

    attribute: str
    people: int
    among: int
    """How many people there are in all."""
    noun: str = "person"
    """Who is counted: persons, or rows if persons have several and nobody can tell which."""

    @property
    def sentence(self) -> str:
        """The number in words.

        >>> Certain("disease", 22, 418).sentence
        "22 of 418 people are in groups in which everybody has the same value of 'disease'"
        """
        nouns = {"person": "people", "row": "rows"}
        verb = "is in a group" if self.people == 1 else "are in groups"
        whose = "everybody has" if self.noun == "person" else "all have"
        among = f"{self.people:,} of {self.among:,} {nouns[self.noun]}"
        return f"{among} {verb} in which {whose} the same value of {self.attribute!r}"

    @property
    def learnt(self) -> str:
        """Who learns the value."""
        return "anyone who finds their group knows it"


@dataclass(frozen=True)
class ByRows(Certain):
    """How many people have quasi-identifiers of which all rows show the same value."""

    @property
    def sentence(self) -> str:
        """The number in words.

        >>> ByRows("pay", 22, 418).sentence
        "for 22 of 418 people, the rows with their quasi-identifiers leave only one value of 'pay'"
        """
        nouns = {"person": "people", "row": "rows"}
        among = f"{self.people:,} of {self.among:,} {nouns[self.noun]}"
        return f"for {among}, the rows with their quasi-identifiers leave only one value of {self.attribute!r}"

    @property
    def learnt(self) -> str:
        """Who learns the value."""
        return "anyone who knows these learns it"


def certain(
    column: Column | None,
    counts: Counts,
    left: NDArray[np.int64] | Counts,
    noun: str = "person",
    alone: bool = False,
) -> list[Certain]:
    """Count those in groups with one value, of a column that has several; ``left`` are the counts of withheld rows.

    If each group is what one person is believed to have, it counts ``alone``. That a value is missing tells nothing,
    and of several values of a person only those that somebody has.

    >>> ill = Column("ill", "categorical", np.array([0, 1, 1, 1]), np.array(["flu", "HIV"], object))
    >>> certain(ill, Counts.of([[1, 1], [0, 2]], 2), np.array([0, 0]))
    [Certain(attribute='ill', people=2, among=4, noun='person')]
    """
    if column is None or len(np.unique(column.codes)) < 2:
        return []
    tells = np.array([text != MISSING if column.derived is None else text == HAS for text in column.texts], np.bool_)
    people = among = 0
    for each in (counts, left if isinstance(left, Counts) else Counts.of(left[None], counts.width)):
        sizes = np.minimum(each.sizes, 1) if alone and each is counts else each.sizes
        full = each.amounts >= each.sizes[each.groups] * (1.0 - ACCURATE)
        people += int(sizes[np.unique(each.groups[full & tells[each.values]])].sum())
        among += int(sizes.sum())
    return [Certain(column.name, people, among, noun)] if people else []


def shown(
    attribute: str, values: NDArray[np.int64], places: NDArray[np.int64], noun: str, by: type[Certain] = ByRows
) -> list[Certain]:
    """Count the rows in whose place all rows show the same value, ``-1`` for none; ``by`` what places are.

    >>> shown("pay", np.array([0, 0, 1, -1, 1]), np.array([7, 7, 3, 3, 4]), "person")
    [ByRows(attribute='pay', people=3, among=5, noun='person')]
    """
    _, at = np.unique(places, return_inverse=True)
    low, high = np.full(at.max(initial=-1) + 1, np.iinfo(np.int64).max), np.full(at.max(initial=-1) + 1, -1)
    np.minimum.at(low, at, values)
    np.maximum.at(high, at, values)
    people = int(((low == high) & (low >= 0))[at].sum())
    return [by(attribute, people, len(values), noun)] if people else []


def kept(release: Release, original: Table) -> list[Certain]:
    """Count, of each kept column that has several values, those whose published rows leave one; missing tells none."""
    release = release.projections[0]
    places, columns = release.kept_rows
    names = [attribute.name for attribute in release.attributes if attribute.role == "other"]
    by = ByRows if release.exact_quasi else Certain
    noun = "person" if original.person is None else "row"
    found: list[Certain] = []
    if release.faults:
        return found
    for name, column in zip(names, columns, strict=bool(columns)):
        tells = np.array([value_name(value, column.notation) != MISSING for value in column.values], np.bool_)
        values = np.where(tells[column.codes], column.codes, -1).astype(np.int64)
        if len(np.unique(values)) > 1:
            found += shown(name, values, places, noun, by)
    return found


def told(each: Sequence[Certain], promises: Sequence[Principle], original: Table) -> list[Check]:
    """Return the remark on everybody whose value is certain, if there is anybody.

    The verdict tells it too if nothing is promised about the values; otherwise it names what is promised about them.
    That no promise covers kept columns is said anyway.
    """
    if not each:
        return []
    about = {part.about for part in promises if part.about_values} | {column.name for column in original.other}
    unsaid = "; ".join(one.sentence for one in each if not about & {None, one.attribute})
    alike: dict[str, list[str]] = {}
    for one in each:
        alike.setdefault(one.learnt, []).append(one.sentence)
    sentences = "; ".join(f"{'; '.join(sentences)}: {learnt}" for learnt, sentences in alike.items())
    return [Check("certain", True, f"{sentences[0].upper()}{sentences[1:]}.", caveat=unsaid)]
