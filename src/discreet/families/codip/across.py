"""What the tables of a projected release tell together, to adversaries whom no promise about each table bounds.

The adversaries know everyone's quasi-identifiers and, as the strongest may, everyone's group in each table.

- *Background join*: one sensitive value of a person is known. Where another attribute stands beside it, the rows of the
  group with the known value tell the other; in another table they tell nothing more. This is compared with what would
  be known if all attributes stood side by side in the same groups.
- *Intersection* without further knowledge: a value is believed by its share in the group, in each table by itself, and
  a pair of values of different tables by the product of their shares. So no belief exceeds that of a single table, as
  Theorem 2 of the paper says.
- *Intersection with knowledge of what goes together*: of a person's possible values only those remain that go, in some
  row of the original, with a possible value of each attribute in other tables. Anyone who knows how often values go
  together believes in each the more, the more often it goes with what the other table says of the person; such beliefs
  are scaled so that those of all persons in a group add up to its published counts. Theorem 2 covers neither. Where all
  tables have the same groups neither tells anything: persons of one group are then alike in every table.

Findings are remarks: they say what is not promised, and how much it is. They are about tables whose persons are in
groups; of others, such as tables with randomised values, it is only said that they were not looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.adversary.checks.trace import traced
from discreet.families.codip.release import ProjectedRelease
from discreet.kernels.judging import SLACK
from discreet.principles import wording
from discreet.principles.wording import percent
from discreet.releases.exact_rows import crossed
from discreet.table.combinations import numbered, ranks
from discreet.table.dependency import mutual_information
from discreet.table.table import Column, Table

EACH = (
    "it is kept by each table by itself, against an attacker who does not know which values of attributes in different "
    "tables go together"
)
UNCHECKED = "What the tables reveal together was not checked"
ROUNDS = 10
"""How often beliefs are scaled to the counts of their groups."""


class HeldAttribute(NamedTuple):
    """One sensitive attribute of the published rows."""

    name: str
    part: int
    codes: NDArray[np.int64]
    """Per row: its value."""
    groups: NDArray[np.int64]
    """Per row: its group in the attribute's table."""
    counts: NDArray[np.int64]
    """Per group and value: how many rows have it."""


class TableIntersection(NamedTuple):
    """What an attacker learns who intersects tables."""

    single: float
    """The largest belief in a value by its own table."""
    pair: float
    """The largest belief in two values of different tables, taken to be independent."""
    narrowed: int
    """How many persons have fewer possible values of some attribute than their group, by what goes together."""
    certain: int
    """How many persons have one possible value left of an attribute of which their group has several."""
    beyond: int
    """How many persons are believed, by how often values go together, to have some value with more than any group of
    its table justifies."""


def across(release: ProjectedRelease, original: Table, trace: NDArray[Any] | None) -> list[Check]:
    """Return remarks on what the tables tell together."""
    alone = [part.format for part in release.parts if part.grouped is None]
    if alone:
        sentence = (
            f"{UNCHECKED}: that is done for tables whose persons are in groups, each of whose rows may be anyone's in "
            f"it, and in a table of the format {alone[0]} they are not."
        )
        return [Check("together", True, sentence, caveat=EACH)]
    held = held_by(release, original, trace)
    if held is None:
        sentence = f"{UNCHECKED}, because only the trace says who is in which groups."
        return [Check("together", True, sentence, caveat=EACH)]
    after, before = background(held)
    sentence = (
        f"An attacker who knows one sensitive value of a person, and the person's groups, is certain of another, which "
        f"the whole group does not share, in {percent(after)} of all cases; if all attributes were in one table, with "
        f"the groups of the known one, it would be {percent(before)}."
    )
    return [Check("background", True, sentence), _intersection_check(held)]


def held_by(release: ProjectedRelease, original: Table, trace: NDArray[Any] | None) -> list[HeldAttribute] | None:
    """Return the sensitive attributes of the published rows, whose groups the trace tells; None if it does not."""
    tables = [part.grouped for part in release.parts if part.grouped is not None]
    if trace is None or trace.ndim != 2 or trace.shape[1] != len(tables):
        return None
    groups = [traced(part, original.rows, of_row) for part, of_row in zip(tables, trace.T, strict=True)]
    first, held = groups[0], []
    for at, (part, places) in enumerate(zip(tables, groups, strict=True)):
        if first is None or places is None or bool(((places < 0) != (first < 0)).any()):
            return None
        rows = np.flatnonzero(places >= 0)
        if len(rows) != part.rows:
            return None
        for attribute in part.sensitive:
            column: Column = original.column(attribute.name)
            codes, of_row, width = column.codes[rows].astype(np.int64), places[rows], len(column.values)
            held.append(HeldAttribute(attribute.name, at, codes, of_row, crossed(of_row, part.groups, codes, width)))
    return held


def background(held: list[HeldAttribute]) -> tuple[float, float]:
    """Return how often knowing one value of a person makes another certain: as published, and side by side.

    Means over all ordered pairs of attributes and all persons. What all rows of a group have in common is no finding,
    as it is known without any value; and a value that is known tells nothing about attributes of other tables.
    """
    after, before, pairs = 0.0, 0.0, 0
    for known in held:
        several = _rows_alike(known._replace(codes=np.zeros_like(known.codes)))
        for asked in held:
            if asked is known:
                continue
            pairs += 1
            alone = several == _rows_alike(known._replace(codes=asked.codes))
            certain = ~alone & (_rows_alike(known) == _rows_alike(known, asked.codes))
            share = float(certain.mean())
            before += share
            after += share if asked.part == known.part else 0.0
    return after / max(1, pairs), before / max(1, pairs)


def _rows_alike(known: HeldAttribute, more: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Return, per row, how many rows of its group have its known value, and its value of another attribute."""
    columns = [known.groups, known.codes, *([] if more is None else [more])]
    places = ranks(numbered(columns, [int(column.max(initial=0)) + 1 for column in columns], len(known.codes)))
    return np.bincount(places)[places]


def intersection(held: list[HeldAttribute]) -> TableIntersection:
    """Return what is learnt by intersecting tables, with and without knowing what goes together."""
    rows = len(held[0].codes)
    narrowed, certain, beyond = (np.zeros(rows, np.bool_) for _ in range(3))
    tops = [(asked.counts / asked.counts.sum(axis=1, keepdims=True)).max(axis=1) for asked in held]
    pair = 0.0
    for asked, top in zip(held, tops, strict=True):
        others = [
            (other, least, _joint(asked, other))
            for other, least in zip(held, tops, strict=True)
            if other.part != asked.part
        ]
        possible = (asked.counts > 0)[asked.groups]
        had = possible.sum(axis=1)
        for other, least, joint in others:
            pair = max(pair, float((top[asked.groups] * least[other.groups]).max(initial=0.0)))
            possible &= (other.counts @ (joint > 0).T > 0)[other.groups]
        left = possible.sum(axis=1)
        narrowed |= left < had
        certain |= (left == 1) & (had > 1)
        closest = max(others, key=lambda known: mutual_information(known[2]), default=None)
        if closest is not None:
            beyond |= strongest_beliefs(asked, closest[0]) > top.max() + SLACK
    single = max(float(top.max(initial=0.0)) for top in tops)
    return TableIntersection(single, pair, *(int(some.sum()) for some in (narrowed, certain, beyond)))


def strongest_beliefs(asked: HeldAttribute, known: HeldAttribute) -> NDArray[np.float64]:
    """Return, per person, the strongest belief in a value of one attribute: see ``beliefs_given``."""
    beliefs, of_row = beliefs_given(asked, known)
    return np.asarray(beliefs.max(axis=1)[of_row], np.float64)


def beliefs_given(asked: HeldAttribute, known: HeldAttribute) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the beliefs in values of one attribute by an attacker who knows how often they go with those of another.

    Persons with the same groups in both tables are believed to have the same; so the result is the beliefs of each
    such kind of persons, and the kind of each. Those of a group add up to its counts.
    """
    joint = _joint(asked, known)
    lift = joint / np.maximum(1.0, joint.sum(axis=1, keepdims=True)) / np.maximum(1.0, joint.sum(axis=0))
    going = (known.counts / known.counts.sum(axis=1, keepdims=True)) @ lift.T
    width = len(known.counts)
    kinds, of_row, persons = np.unique(asked.groups * width + known.groups, return_inverse=True, return_counts=True)
    first, second = np.divmod(kinds, width)
    starts = np.searchsorted(first, np.arange(len(asked.counts)))
    beliefs = asked.counts[first] * going[second]
    for _ in range(ROUNDS):
        beliefs *= (persons / beliefs.sum(axis=1))[:, None]
        summed = np.add.reduceat(beliefs, starts, axis=0)
        beliefs *= np.divide(asked.counts, summed, out=np.zeros_like(summed), where=summed > 0.0)[first]
    return beliefs / beliefs.sum(axis=1, keepdims=True), of_row


def _joint(asked: HeldAttribute, known: HeldAttribute) -> NDArray[np.float64]:
    """Return how often each value of one attribute goes with each of another."""
    return crossed(asked.codes, asked.counts.shape[1], known.codes, known.counts.shape[1]).astype(np.float64)


def _intersection_check(held: list[HeldAttribute]) -> Check:
    learnt, rows = intersection(held), len(held[0].codes)
    sentence = (
        f"An attacker who intersects the tables and takes them to be independent believes in no value with more than "
        f"{percent(learnt.single)}, as by one table alone, and in no two values of different tables with more than "
        f"{percent(learnt.pair)}."
    )
    groups = [attribute.groups for attribute in held]
    sizes = [len(np.unique(of_row)) for of_row in groups]
    together = numbered(groups, [len(attribute.counts) for attribute in held], rows)
    if len({*sizes, len(np.unique(together))}) == 1:
        return Check("intersection", True, f"{sentence} All tables have the same groups, so nobody is narrowed down.")
    sentence += (
        f" No promise bounds an attacker who also knows which values of different tables go together: this rules "
        f"out values for {learnt.narrowed:,} of the {wording.rows(rows)}, and leaves one value for {learnt.certain:,}. "
        f"One who knows how often they go together believes in a value of {learnt.beyond:,} rows more strongly than "
        "any group of its table justifies. Aligned tables exclude both."
    )
    caveat = EACH
    if learnt.certain:
        caveat += f", which makes a value of {learnt.certain:,} of {wording.rows(rows)} certain"
    return Check("intersection", True, sentence, caveat=caveat)
