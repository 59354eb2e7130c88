"""Promises about persons who may have several rows each.

Two beliefs about a person are bounded, and both are judged. By *rows*: an adversary who looks for one particular row of
a person in a group believes in a value as much as its share of the group's rows. By *persons*: all rows of a person are
in one group, so the persons of a group are interchangeable, and an adversary who knows that someone is among them
believes in a value as much as the share of these persons who have it in any row. A person may have several values, so
the shares by persons may sum to more than 1; then only promises that bound each value separately can be judged.

Both shares in a union of groups lie between the shares in its parts, as long as nobody has rows in both parts. So a
promise that is monotone by rows is monotone by persons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.kernels.judging import Rules
from discreet.principles.counts import Counts
from discreet.principles.per_attribute import apart
from discreet.principles.principle import Principle, Reach, main_parameter
from discreet.principles.prior import Prior
from discreet.principles.wording import percent
from discreet.table.persons import several_values
from discreet.table.table import Table
from discreet.table.texts import number_text


class Judged(NamedTuple):
    """The counts of the same groups by rows and by persons."""

    by_rows: Counts
    by_persons: Counts

    @classmethod
    def of(cls, table: Table, groups: NDArray[np.integer], number: int) -> Judged:
        """Count rows by their groups, numbered from 0 to ``number - 1``; rows with group -1 are left out."""
        assert table.person is not None
        inside = np.flatnonzero(groups >= 0)
        width = len(table.prior_counts)
        at, persons, values = groups[inside], table.person[inside], table.sensitive_codes[inside]
        return cls(Counts.of_rows(at, values, number, width), Counts.of_persons(at, persons, values, number, width))

    def strains(self, rules: Sequence[Rules]) -> NDArray[np.float64]:
        """The larger strain of each group: against the rules about rows, or against those about persons."""
        return np.maximum(self.by_rows.strains(rules[0]), self.by_persons.strains(rules[1]))


def rules_about(principle: Principle, table: Table) -> tuple[Rules, Rules]:
    """The rules for counts by rows, and the rules for counts by persons."""
    return principle.rules(Prior.of(table)), principle.rules(Prior.of_persons(table))


def require_persons(principle: Principle, table: Table) -> None:
    """Raise if a promise cannot be judged by persons, or if the whole table, counted by persons, breaks it."""
    for promise, alone in apart(principle, table):
        _require_persons(promise, alone)


def _require_persons(principle: Principle, table: Table) -> None:
    several = 0 if table.sensitive_attribute is None else several_values(table, table.sensitive_attribute)
    whole = Judged.of(table, np.zeros(table.rows, np.int64), 1).by_persons
    prior = Prior.of_persons(table)
    for part in principle.parts:
        if not part.monotone:
            raise DiscreetError(
                f"{part} is not kept by unions of groups that keep it, so it is not made about persons with several "
                "rows; give one row per person"
            )
        if several and not part.bounds_each_value:
            assert table.sensitive_attribute is not None
            raise DiscreetError(
                f"{part} is about one value per person, and {several:,} of {table.persons:,} persons have different "
                f"values of {table.sensitive_attribute.name!r} in different rows; ask for beta-likeness without a "
                "level or for l-diversity of kind frequency, which bound each value on its own, or give one row per "
                "person"
            )
        if part.strain(whole, prior)[0] > 1.0:
            raise DiscreetError(
                f"this table cannot keep {part} about persons: {broken_by_persons(part, whole, 0, prior)}; the "
                f"strongest that it can keep is {_kept(part, part.achieved(whole, prior))}"
            )


def reachable_by_persons(part: Principle, table: Table) -> Reach:
    """The strongest promise of a kind that persons with several rows can keep, counted by rows and by persons.

    A promise about persons is monotone, so no grouping keeps a stronger one than all persons as one group.

    >>> from discreet.principles import LDiversity
    >>> from discreet.table.table import Column
    >>> flu = Column("flu", "categorical", np.array([0, 0, 0, 1], np.int32), np.array(["no", "yes"], object))
    >>> table = Table(4, (), flu, person=np.array([0, 0, 1, 1], np.int32))
    >>> reachable_by_persons(LDiversity(1.0), table).sentence
    'All 2 persons as one group keep l=1 counted by persons, and l=1.333 counted by rows; both are promised.'
    """
    try:
        part.require(Prior.of(table))
        require_persons(part, table)
    except DiscreetError as refusal:
        return Reach(False, None, f"{refusal}.")
    whole = Judged.of(table, np.zeros(table.rows, np.int64), 1)
    by_rows = part.achieved(whole.by_rows, Prior.of(table))
    by_persons = part.achieved(whole.by_persons, Prior.of_persons(table))
    each = _kept(part, by_persons), _kept(part, by_rows)
    kept = f"{each[0]} counted by persons, and {each[1]} counted by rows; both are promised"
    if each[0] == each[1]:
        kept = f"{each[0]}, counted by persons and by rows"
    strongest = (min if part.larger_is_stronger else max)(by_rows, by_persons)
    return Reach(True, strongest, f"All {table.persons:,} persons as one group keep {kept}.")


def counted_parameter(part: Principle) -> str:
    """The name of the parameter that counts tell about: of alpha-beta its beta, as alpha needs quasi-identifiers."""
    return "beta" if part.hides_presence else main_parameter(str(part))


def _kept(part: Principle, reached: float) -> str:
    """What is kept of a kind of promise, rounded to the side on which it is kept."""
    name = counted_parameter(part)
    if reached == (math.inf if part.larger_is_stronger else 0.0):
        return f"any {name}"
    least = math.floor(reached * 1000.0 + 1e-7) if part.larger_is_stronger else math.ceil(reached * 1000.0 - 1e-7)
    return f"{name}={number_text(least / 1000.0)}"


def broken_by_persons(part: Principle, counts: Counts, group: int, prior: Prior) -> str:
    """How one group, counted by persons, breaks a promise, phrased as the end of a sentence."""
    line, size = counts.line(group), int(counts.sizes[group])
    has = "1 person" if size == 1 else f"{size:,} persons"
    caps = part.caps(prior)
    if caps is not None:
        over = np.where(line > 0, line / np.maximum(caps, 1e-300), 0.0)
        worst = int(over.argmax())
        if line[worst] > caps[worst] * size:
            verb, share = "has" if line[worst] == 1 else "have", percent(line[worst] / size)
            return (
                f"{line[worst]:,} of {has} {verb} {prior.values[worst]!r} in some row ({share}), and "
                f"{percent(float(caps[worst]))} is allowed"
            )
    return f"it has {has}"
