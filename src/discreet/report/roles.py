"""What the values of a column are, and the role that it seems to have by its name and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.table.column_names import names_identifier, names_quasi, names_sensitive
from discreet.table.table import Column
from discreet.table.texts import MISSING, is_number
from discreet.table.whose import looks_like_codes, says_whose

TOP = 5
"""How many of the most frequent values are listed."""


@dataclass(frozen=True)
class Share:
    """A value with its frequency."""

    value: str
    rows: int
    share: float


@dataclass(frozen=True)
class ColumnProfile:
    """The statistics of one column."""

    name: str
    role: str
    kind: str
    distinct: int
    """The number of different values that occur, not counting a missing one."""
    missing: int
    low: str | None
    high: str | None
    top: tuple[Share, ...]
    rarest: Share


@dataclass(frozen=True)
class Roles:
    """Guesses at the roles of columns, from their names and numbers of values."""

    identifiers: tuple[str, ...]
    quasi: tuple[str, ...]
    sensitive: str | None
    unsure: tuple[str, ...]
    person: str | None = None
    """An identifier that repeats: rows with the same value may belong to one person."""


def describe(column: Column, role: str = "other") -> ColumnProfile:
    """Compute the statistics of one column."""
    counts = np.bincount(column.codes, minlength=len(column.values))
    texts = column.texts
    seen = np.flatnonzero(counts)
    known = [code for code in seen.tolist() if texts[code] != MISSING]
    missing = int(counts.sum()) - int(counts[known].sum())
    ordered = column.kind != "categorical" and known
    order = seen[np.argsort(-counts[seen], kind="stable")]

    def share(code: int) -> Share:
        return Share(texts[code], int(counts[code]), float(counts[code] / len(column.codes)))

    return ColumnProfile(
        column.name,
        role,
        column.meaning,
        len(known),
        missing,
        texts[known[0]] if ordered else None,
        texts[known[-1]] if ordered else None,
        tuple(share(code) for code in order[:TOP].tolist()),
        share(int(order[-1])),
    )


def _amounts(column: ColumnProfile) -> bool:
    """Whether a column of texts contains numbers with a decimal comma, which identify nobody."""
    return all(is_number(share.value.replace(",", ".", 1)) for share in column.top if share.value != MISSING)


def _codes(column: ColumnProfile, rows: int) -> bool:
    """Whether the values of a column look like case or person numbers."""
    texts = [share.value for share in column.top]
    return column.kind == "categorical" and looks_like_codes(texts, column.distinct, column.top[0].rows, rows)


def suggest(
    columns: Sequence[ColumnProfile], rows: int, *, person_known: bool = False, whose: str | None = None
) -> Roles:
    """Guess roles: columns with (nearly) as many values as rows are identifiers, others are guessed by common names.

    ``whose`` is the column that seems to tell whose row it is, by a note on the table.

    >>> from discreet.datasets import patients
    >>> table = patients(keep=["weight"])
    >>> roles = suggest([describe(column) for column in table.columns], table.rows)
    >>> roles.quasi, roles.sensitive
    (('age', 'sex', 'zip', 'weight'), 'disease')
    """
    identifiers, quasi, sensitive, unsure = [], [], [], []
    for column in columns:
        name, named = column.name, names_identifier(column.name) or says_whose(column.name, column.distinct, rows)
        every = column.distinct >= max(20, 0.9 * rows) and column.kind == "categorical" and not _amounts(column)
        if every or named or name == whose:
            identifiers.append(name)
        elif names_sensitive(name):
            sensitive.append(name)
        elif column.distinct > 1 and names_quasi(name):
            quasi.append(name)
        elif not person_known and _codes(column, rows):
            identifiers.append(name)
        else:
            unsure.append(name)
    if not quasi:  # column names in another language reveal nothing, so all remaining columns are proposed
        quasi, unsure = unsure, []
    again = {column.name for column in columns if column.distinct < rows - column.missing}
    repeated = sorted((name for name in identifiers if name in again), key=lambda name: name != whose)
    return Roles(
        tuple(name for name in identifiers if name not in repeated),
        tuple(quasi),
        sensitive[0] if sensitive else None,
        (*sensitive[1:], *repeated[1:], *unsure),
        repeated[0] if repeated else None,
    )
