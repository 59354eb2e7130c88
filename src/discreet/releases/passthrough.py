"""Checks of columns that are published unchanged: kept columns, which no promise covers, and disguised identifiers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from discreet.errors import DiscreetError
from discreet.principles.wording import listed
from discreet.table.combinations import distinct
from discreet.table.table import Column, Table

FEW = 20
"""Up to this many rows with unique values do not make an identifier: a small table may have one row of every kind."""


def check_kept(table: Table) -> None:
    """Raise if a kept column identifies persons, that is, if most rows have a unique value.

    >>> from discreet.datasets import patients
    >>> check_kept(patients(keep=["weight"]))
    """
    for column in table.other:
        alone = _alone(table, column)
        if 2 * alone > table.rows:
            raise DiscreetError(
                f"the column {column.name!r} cannot be published as it is, because {alone:,} of its {table.rows:,} "
                "rows hold a value that nobody else has, so it identifies persons; leave it out, or make it a "
                f"quasi-identifier{' with a hierarchy' if column.kind == 'categorical' else ''}"
            )


def check_quasi(table: Table) -> None:
    """Raise if a quasi-identifier identifies persons: most rows have a unique category and no hierarchy is above it.

    Under any scheme the manifest lists all categories, and only ``*`` could generalize them. Numbers and ordered values
    can become intervals, and a hierarchy provides labels; declared categories are public already.

    >>> from discreet.datasets import patients
    >>> check_quasi(patients())
    """
    for column in table.quasi:
        notes = [f"; {note}" for note in table.notes if note.about([column.name])]
        check_unlisted(column, partial(_alone, table, column), table.rows, "".join(notes))


def check_unlisted(column: Column, alone: Callable[[], int], rows: int, notes: str = "") -> None:
    """Raise if a quasi-identifier is a category that identifies persons: so many of the rows hold a value ``alone``."""
    tree = column.hierarchy
    if column.kind != "categorical" or column.declared_values or (tree is not None and tree.height > 1):
        return
    number = alone()
    if number > FEW and 2 * number > rows:
        raise DiscreetError(
            f"{number:,} of the {rows:,} rows hold a value of the quasi-identifier {column.name!r} that nobody else "
            "has, so it identifies persons, and the release would list all of them; leave it out, or give it a "
            f"hierarchy that lists all values that could occur{notes}"
        )


def _alone(table: Table, column: Column) -> int:
    """The number of rows whose value no other person has."""
    width = len(column.values)
    if table.person is None:
        return int((np.bincount(column.codes, minlength=width) == 1).sum())
    holders = np.bincount(distinct(table.person.astype(np.int64) * width + column.codes) % width, minlength=width)
    return int((holders[column.codes] == 1).sum())


def kept_sentence(names: Sequence[str]) -> str:
    """A sentence that warns readers of a release about columns published unchanged.

    >>> kept_sentence(["weight"])
    "The column 'weight' is published as it is; the promise does not cover what it reveals."
    """
    if len(names) == 1:
        return f"The column {names[0]!r} is published as it is; the promise does not cover what it reveals."
    shown = listed(map(repr, names))
    return f"The columns {shown} are published as they are; the promise does not cover what they reveal."


def kept_assumptions(table: Table) -> tuple[str, ...]:
    """The sentences about kept columns for a manifest; empty if there are none."""
    return (kept_sentence([column.name for column in table.other]),) if table.other else ()
