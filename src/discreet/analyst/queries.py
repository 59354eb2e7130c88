"""Exact answers to many count queries on the original, and relative errors of estimates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.options import checked
from discreet.table.bitmaps import Bitmaps
from discreet.table.query import Query
from discreet.table.table import Table


def check_number(number: int) -> None:
    """Raise an error for a workload without queries."""
    if checked("number", number, int) < 1:
        raise DiscreetError(f"a workload needs at least one query, not {number}")


def exact_counts(table: Table, queries: Sequence[Query]) -> NDArray[np.int64]:
    """How many rows of a table satisfy each query.

    >>> from discreet.datasets import patients
    >>> from discreet.table.query import Range
    >>> exact_counts(patients(), [Query(Range("age", 0, 200)), Query(Range("age", 0, 0))]).tolist()
    [48, 0]
    """
    return Bitmaps(table).counts(queries)


def relative_errors(estimated: ArrayLike, exact: ArrayLike) -> NDArray[np.float64]:
    """The distances of estimates from exact counts, relative to the exact counts; NaN where an exact count is zero.

    >>> relative_errors([3.0, 5.0, 1.0], [2, 5, 0]).tolist()
    [0.5, 0.0, nan]
    """
    truth = np.asarray(exact, np.float64)
    away = np.abs(np.asarray(estimated, np.float64) - truth)
    errors: NDArray[np.float64] = np.divide(away, truth, out=np.full(truth.shape, np.nan), where=truth > 0)
    return errors
