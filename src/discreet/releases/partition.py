"""Partitions of a table into groups of rows: what may be published as one, and how its groups are numbered."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.randomness import permutation
from discreet.releases.generalization import Values
from discreet.releases.passthrough import check_kept, check_quasi
from discreet.table.table import Table

GROUP, PARENT = "group", "parent"
"""The columns that releases add: the number of a row's group and, of groups in a tree, that of the group above."""


def persons_entry(table: Table, published: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the manifest entry about the persons of a table, if these may have several rows."""
    if table.person is None:
        return {}
    shown = int((np.bincount(table.person[published], minlength=table.persons) > 0).sum())
    return {"persons": {"published": shown, "withheld": table.persons - shown}}


def check_one_row_each(table: Table, format: str, several: bool = False) -> None:
    """Raise an error unless a table has one sensitive attribute, or also ``several``, and one row per person."""
    if table.secret is None:
        raise DiscreetError(f"a {format} release needs a sensitive attribute: without one there is nothing to protect")
    if len(table.sensitive) > 1 and not several:
        names = ", ".join(column.name for column in table.sensitive)
        raise DiscreetError(f"a {format} release can have one sensitive attribute, not {names}; publish one of them")
    if table.person is not None:
        raise DiscreetError(
            f"a {format} release is about persons with one row each, and the table was read with a column that tells "
            "the persons of rows; leave it out, or choose a scheme that publishes groups"
        )


def check_partition(table: Table, groups: NDArray[Any], values: str) -> None:
    """Raise an error for groups that are not a partition of the table, or that cannot be published."""
    if groups.shape != (table.rows,) or groups.dtype.kind not in "iu":
        raise DiscreetError(f"a partition needs one group number for each of the {table.rows:,} rows")
    if values not in get_args(Values):
        raise DiscreetError(f"values can be published as interval, label or set, not as {values!r}")
    if not bool((groups >= 0).any()):
        raise DiscreetError(
            "every row is withheld, so there is nothing to publish; allow less to be withheld or weaken the promise"
        )
    if table.unusable is not None and bool((groups[table.unusable] >= 0).any()):
        raise DiscreetError("rows with missing values are to be withheld, but the partition publishes some of them")
    check_kept(table)
    check_quasi(table)
    if any(column.name == GROUP for column in table.columns):
        raise DiscreetError(f"a column is called {GROUP!r}, the name of the column that a release adds; rename it")


def numbered_anew(groups: NDArray[Any], seeded: np.random.Generator | None) -> tuple[NDArray[np.int32], int]:
    """Return the groups under random published numbers, which are independent of the given ones, and their count.

    -1 stays.
    """
    places, number = dense_groups(groups)
    ids = permutation(number, seeded).astype(np.int32)
    return np.where(places < 0, np.int32(-1), ids[places]), number


def dense_groups(groups: NDArray[Any]) -> tuple[NDArray[np.int32], int]:
    """Number the groups 0, 1, 2, ... without gaps and return their count; -1 stays."""
    largest = int(groups.max())
    if largest < 4 * len(groups) + 16:
        used = np.bincount(groups[groups >= 0], minlength=largest + 1) > 0
        place = np.cumsum(used, dtype=np.int32) - np.int32(1)
        return np.where(groups < 0, np.int32(-1), place[groups]), int(used.sum())
    found, places = np.unique(groups, return_inverse=True)
    below = int((found < 0).sum())
    return np.maximum(places - below, -1).astype(np.int32), len(found) - below
