"""What the values of a column are, and the role that it seems to have by its name and values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.table.table import Column
from discreet.table.texts import MISSING, is_number

TOP = 5
"""How many of the most frequent values are listed."""
_IDENTIFIERS = r"(^|_)(id|name|names|surname|firstname|lastname|ssn|email|mail|phone|passport|iban|address|record)(_|$)"
_SENSITIVE = (
    r"disease|diagnos|illness|condition|icd|hiv|drug|medication|treatment|salary|income|wage|earning|pay|pincp|"
    r"occupation|religion|politic|party|orientation|crime|offence|offense|debt|grade|score"
)
_QUASI = (
    r"age|birth|dob|sex|gender|zip|postcode|postal|puma|city|town|county|state|region|country|nation|race|ethnic|hisp|"
    r"marital|msp|married|education|edu|school|degree|workclass|work_class|household|children|language|height|weight"
)


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


def _plain(name: str) -> str:
    """Return a name in lower case, its words joined by underscores."""
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())


def _amounts(column: ColumnProfile) -> bool:
    """Whether a column of texts contains numbers with a decimal comma, which identify nobody."""
    return all(is_number(share.value.replace(",", ".", 1)) for share in column.top if share.value != MISSING)


def _names_somebody(column: ColumnProfile, rows: int) -> bool:
    """Whether a column looks like case or person numbers: very many codes with digits, each in few rows."""
    many = column.kind == "categorical" and column.distinct >= max(20, rows / 10)
    few = column.top[0].rows <= max(5, rows // 20)
    return many and few and all(re.fullmatch(r"[^\W\d]{0,8}[-_ /.]?\d{2,}", share.value) for share in column.top)


def suggest(columns: Sequence[ColumnProfile], rows: int, *, person_known: bool = False) -> Roles:
    """Guess roles: columns with (nearly) as many values as rows are identifiers, others are guessed by common names.

    >>> from discreet.datasets import patients
    >>> table = patients(keep=["weight"])
    >>> roles = suggest([describe(column) for column in table.columns], table.rows)
    >>> roles.quasi, roles.sensitive
    (('age', 'sex', 'zip', 'weight'), 'disease')
    """
    identifiers, quasi, sensitive, unsure = [], [], [], []
    for column in columns:
        name = _plain(column.name)
        every = column.distinct >= max(20, 0.9 * rows) and column.kind == "categorical" and not _amounts(column)
        if every or re.search(_IDENTIFIERS, name):
            identifiers.append(column.name)
        elif re.search(rf"({_SENSITIVE})", name):
            sensitive.append(column.name)
        elif column.distinct > 1 and re.search(rf"(^|_)({_QUASI})|({_QUASI})(p|_|$)", name):
            quasi.append(column.name)
        elif not person_known and _names_somebody(column, rows):
            identifiers.append(column.name)
        else:
            unsure.append(column.name)
    if not quasi:  # column names in another language reveal nothing, so all remaining columns are proposed
        quasi, unsure = unsure, []
    again = {column.name for column in columns if column.distinct < rows - column.missing}
    repeated = [name for name in identifiers if name in again]
    return Roles(
        tuple(name for name in identifiers if name not in repeated),
        tuple(quasi),
        sensitive[0] if sensitive else None,
        (*sensitive[1:], *repeated[1:], *unsure),
        repeated[0] if repeated else None,
    )
