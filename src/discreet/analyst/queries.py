"""Exact answers to many count queries on the original, and relative errors of estimates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.releases.bit_counts import CodeBits
from discreet.table.query import Condition, Query, lacking, runs
from discreet.table.table import Table


def exact_counts(table: Table, queries: Sequence[Query]) -> NDArray[np.int64]:
    """How many rows of a table satisfy each query.

    >>> from discreet.datasets import patients
    >>> from discreet.table.query import Range
    >>> exact_counts(patients(), [Query(Range("age", 0, 200)), Query(Range("age", 0, 0))]).tolist()
    [48, 0]
    """

    @cache
    def bits_of(name: str) -> CodeBits:
        column = table.column(name)
        codes = column.codes.copy()
        if (without := lacking(table, column)) is not None:
            codes[without] = len(column.values)  # in no range
        return CodeBits(codes, len(column.values))

    @cache
    def ends(name: str, conditions: tuple[Condition, ...]) -> NDArray[np.int64]:
        return runs(conditions, table.column(name).values, table.column(name).meaning)

    counts = np.full(len(queries), table.rows, np.int64)
    for at, query in enumerate(queries):
        kept: NDArray[np.uint64] | None = None
        for name, conditions in query.by_attribute.items():
            held = bits_of(name).within(ends(name, conditions))
            kept = held if kept is None else kept & held
        if kept is not None:
            counts[at] = np.bitwise_count(kept).sum(dtype=np.int64)
    return counts


def relative_errors(estimated: ArrayLike, exact: ArrayLike) -> NDArray[np.float64]:
    """The distances of estimates from exact counts, relative to the exact counts; NaN where an exact count is zero.

    >>> relative_errors([3.0, 5.0, 1.0], [2, 5, 0]).tolist()
    [0.5, 0.0, nan]
    """
    truth = np.asarray(exact, np.float64)
    away = np.abs(np.asarray(estimated, np.float64) - truth)
    errors: NDArray[np.float64] = np.divide(away, truth, out=np.full(truth.shape, np.nan), where=truth > 0)
    return errors
