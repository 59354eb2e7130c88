"""`believed`: what an attacker who knows a person's quasi-identifiers believes about the person, by a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.adversary.attacks.target import check_attackable, missing_from
from discreet.errors import DiscreetError
from discreet.jobs.audit import read_compared
from discreet.principles.wording import rows
from discreet.progress import Progress, Remarks, no_progress
from discreet.releases import load
from discreet.releases.release import Release
from discreet.table.date_numbers import written
from discreet.table.table import Table
from discreet.table.texts import MISSING

SHOWN = 8
"""How many values are shown, the most believed in first."""


@dataclass(frozen=True)
class Belief:
    """How strongly a value is believed in."""

    value: str
    belief: float
    share: float
    """Its share of the whole table, which is what would be believed without knowing the person's group."""
    true: bool
    """Whether it is the person's."""


@dataclass(frozen=True)
class Believed:
    """What is believed about one sensitive attribute of a person."""

    attribute: str
    beliefs: tuple[Belief, ...]
    """The strongest, and that in the person's own value."""
    others: int
    """How many further values are believed in less."""
    withheld: bool
    """Whether nothing published may be about the person, so that it is known that the row was withheld."""


@dataclass(frozen=True)
class PersonView:
    """A row of the original, and what the release says to somebody who knows its quasi-identifiers."""

    row: int
    """Counted from 1."""
    known: Mapping[str, str]
    """The quasi-identifiers."""
    believed: tuple[Believed, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        return asdict(self)


def believed(
    folder: str,
    original: str,
    row: int,
    *,
    reading: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> PersonView:
    """Say what a release makes of one row of its original, counted from 1; ``reading`` has keys of a job.

    It tells values of the original: what it returns is for the publisher alone.
    """
    progress = progress or no_progress
    progress("reading", 0.0)
    release = load(folder)
    table = read_compared(folder, original, None, reading or {}, Remarks()).original
    check_attackable(release, table)
    if not 1 <= row <= table.rows:
        raise DiscreetError(
            f"there is no row {row:,}: the table has {rows(table.rows)}; name one from 1 to {table.rows:,}"
        )
    progress("believing", 0.5)
    at = row - 1
    known = {column.name: column.texts[column.codes[at]] for column in table.quasi}
    return PersonView(row, known, tuple(_about(release, table, at, each.name) for each in release.sensitive))


def _about(release: Release, table: Table, at: int, name: str) -> Believed:
    release, column = release.about(name), table.column(name)
    points = {each.name: each.points[each.codes[at : at + 1]] for each in table.quasi}
    own = column.texts[column.codes[at]]
    notation = release.attribute(name).notation
    texts = [_text(value, notation) for value in release.values.tolist()]
    (alone,) = release.beliefs(points)
    (line,) = release.beliefs(points, missing_from(release, column))
    counts = dict(zip(column.texts, np.bincount(column.codes, minlength=len(column.texts)).tolist(), strict=True))
    order = np.argsort(-np.nan_to_num(line), kind="stable").tolist()
    shown = [place for rank, place in enumerate(order) if rank < SHOWN or texts[place] == own]
    beliefs = tuple(
        Belief(texts[place], float(line[place]), counts.get(texts[place], 0) / table.rows, texts[place] == own)
        for place in shown
        if line[place] > 0.0
    )
    more = int((line > 0.0).sum()) - len(beliefs)
    return Believed(name, beliefs, more, bool(np.isnan(alone).any()))


def _text(value: Any, notation: Any) -> str:
    if isinstance(value, str):
        return value
    return MISSING if value != value else written(float(value), notation)
