"""Who is in a group in which everybody has the same value, so that whoever finds the group knows it.

Promises that are not about values, such as k-anonymity, allow this, and so do some that are. The withheld rows are one
more group, since what is published tells which values they have together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.principles import Principle
from discreet.principles.counts import Counts
from discreet.table.multivalued import HAS
from discreet.table.table import Column
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


def told(each: Sequence[Certain], promises: Sequence[Principle]) -> list[Check]:
    """Return the remark on everybody whose value is certain, if there is anybody.

    The verdict tells it too if nothing is promised about the values; otherwise it names what is promised about them.
    """
    if not each:
        return []
    about = {part.about for part in promises if part.about_values}
    unsaid = "; ".join(one.sentence for one in each if not about & {None, one.attribute})
    sentences = "; ".join(one.sentence for one in each)
    return [Check("certain", True, f"{sentences}: whoever finds their group knows it.", caveat=unsaid)]
