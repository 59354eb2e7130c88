"""Columns published as they are besides the sensitive attribute: carried along, and outside every promise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.errors import DiscreetError
from discreet.table.table import Table


def check_kept(table: Table) -> None:
    """Refuse a kept column that tells persons apart: most of its rows hold a value of their own.

    >>> from discreet.datasets import patients
    >>> check_kept(patients(keep=["weight"]))
    """
    for column in table.other:
        alone = int((np.bincount(column.codes, minlength=len(column.values)) == 1).sum())
        if 2 * alone > table.rows:
            raise DiscreetError(
                f"the column {column.name!r} is to be published as it is, but {alone:,} of its {table.rows:,} rows "
                "hold a value that no other row has, so that it names a person as an identifier does; leave it out, or "
                "make it a quasi-identifier"
            )


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
