"""What is published of columns as it is: columns carried along, outside every promise, and what names persons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.errors import DiscreetError
from discreet.table.combinations import distinct
from discreet.table.table import Column, Table

FEW = 20
"""So few rows with a value of their own tell nothing: a small table may well have one row of every kind."""


def check_kept(table: Table) -> None:
    """Refuse a kept column that tells persons apart: most of its rows hold a value of their own.

    >>> from discreet.datasets import patients
    >>> check_kept(patients(keep=["weight"]))
    """
    for column in table.other:
        alone = _alone(table, column)
        if 2 * alone > table.rows:
            raise DiscreetError(
                f"the column {column.name!r} is to be published as it is, but {alone:,} of its {table.rows:,} rows "
                "hold a value that nobody else has, so that it names a person as an identifier does; leave it out, or "
                f"make it a quasi-identifier{' with a hierarchy' if column.kind == 'categorical' else ''}"
            )


def check_quasi(table: Table) -> None:
    """Refuse a quasi-identifier that names persons: a category of its own for most rows, and no hierarchy above.

    Whatever the scheme, the manifest lists all categories, and nothing but ``*`` could be published instead of them.
    Numbers and ordered values become intervals, and a hierarchy says what to publish; whoever declares the categories
    has made them public.

    >>> from discreet.datasets import patients
    >>> check_quasi(patients())
    """
    for column in table.quasi:
        tree = column.hierarchy
        if column.kind != "categorical" or column.declared_values or (tree is not None and tree.height > 1):
            continue
        alone = _alone(table, column)
        if alone > FEW and 2 * alone > table.rows:
            notes = [f"; {note}" for note in table.notes if note.about([column.name])]
            raise DiscreetError(
                f"{alone:,} of the {table.rows:,} rows hold a value of the quasi-identifier {column.name!r} that "
                "nobody else has, so that it names a person as an identifier does, and the release would list all of "
                f"them; leave it out, or give it a hierarchy{''.join(notes)}"
            )


def _alone(table: Table, column: Column) -> int:
    """How many rows hold a value that nobody else has."""
    width = len(column.values)
    if table.person is None:
        return int((np.bincount(column.codes, minlength=width) == 1).sum())
    holders = np.bincount(distinct(table.person.astype(np.int64) * width + column.codes) % width, minlength=width)
    return int((holders[column.codes] == 1).sum())


def kept_sentence(names: Sequence[str]) -> str:
    """What the reader of a release must know about the columns that are published as they are.

    >>> kept_sentence(["weight"])
    "The column 'weight' is published as it is; the promise does not cover what it reveals."
    """
    shown = [repr(name) for name in names]
    if len(shown) == 1:
        return f"The column {shown[0]} is published as it is; the promise does not cover what it reveals."
    listed = f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f"The columns {listed} are published as they are; the promise does not cover what they reveal."


def kept_assumptions(table: Table) -> tuple[str, ...]:
    """The sentences about kept columns for a manifest: none when there are none."""
    return (kept_sentence([column.name for column in table.other]),) if table.other else ()
