"""Exact answers to many count queries on the original, and relative errors of estimates.

Counting uses one bit per row: the conditions of a query are joined by bitwise AND. Each column has a stack of bitmaps,
each of which marks the rows whose code is below some edge. A range of codes is the difference of two bitmaps, so a
query costs a few passes over one bit per row, however wide its ranges are. A column with very many values has edges at
only some of its codes; the few rows between an edge and the requested code are marked one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.table.query import Condition, Query, lacking, marked, runs
from discreet.table.table import Column, Table

EDGES = 512
"""The maximum number of edges of a column."""
STACK_BYTES = 1 << 25
"""The maximum size of a column's stack."""
RUNS = 32
"""Conditions with more runs of codes than this are looked up row by row."""


def exact_counts(table: Table, queries: Sequence[Query]) -> NDArray[np.int64]:
    """How many rows of a table satisfy each query.

    >>> from discreet.datasets import patients
    >>> from discreet.table.query import Range
    >>> exact_counts(patients(), [Query(Range("age", 0, 200)), Query(Range("age", 0, 0))]).tolist()
    [48, 0]
    """
    stacks: dict[str, _Stack] = {}
    counts = np.full(len(queries), table.rows, np.int64)
    for at, query in enumerate(queries):
        kept: NDArray[np.uint64] | None = None
        for name, conditions in query.by_attribute.items():
            if name not in stacks:
                column = table.column(name)
                stacks[name] = _Stack(column, lacking(table, column))
            held = stacks[name].rows(conditions)
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


class _Stack:
    """The bitmaps of one column: ``stack[at]`` marks the rows whose code is below ``edges[at]``."""

    def __init__(self, column: Column, lacking: NDArray[np.int64] | None) -> None:
        self.column = column
        number = len(column.values)
        codes = column.codes
        if lacking is not None:
            codes = codes.copy()
            codes[lacking] = number  # not below any edge
        self.codes = codes
        words = -(-len(codes) // 64)
        most = max(2, min(EDGES, STACK_BYTES // (8 * max(1, words))))
        self.edges = np.arange(number + 1)
        self.order: NDArray[np.int64] | None = None
        if number + 1 > most:
            self.starts = np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=number)[:number])))
            self.order = np.argsort(codes, kind="stable")
            inner = np.searchsorted(self.starts, np.linspace(0, self.starts[-1], most), side="left")
            self.edges = np.unique(np.concatenate(([0, number], inner)))
        self.stack = np.empty((len(self.edges), words), np.uint64)
        for at, edge in enumerate(self.edges.tolist()):
            self.stack[at] = _packed(codes < edge, words)
        self._runs: dict[tuple[Condition, ...], NDArray[np.int64]] = {}

    def rows(self, conditions: tuple[Condition, ...]) -> NDArray[np.uint64]:
        """Return the rows that satisfy all conditions, as bits; the caller must not modify them."""
        if conditions not in self._runs:
            self._runs[conditions] = runs(conditions, self.column.values, self.column.meaning)
        ends = self._runs[conditions].tolist()
        if len(ends) > 2 * RUNS:
            # a row that lacks a number has the code after the last
            return _packed(marked(self._runs[conditions], len(self.column.values) + 1)[self.codes], self.stack.shape[1])
        # Runs do not overlap and their ends ascend, so XOR of the rows below each end leaves exactly the runs.
        held = self._below(ends[0]) if ends else self.stack[0]
        for end in ends[1:]:
            held = held ^ self._below(end)
        return held

    def _below(self, code: int) -> NDArray[np.uint64]:
        if self.order is None:
            below: NDArray[np.uint64] = self.stack[code]
            return below
        at = int(np.searchsorted(self.edges, code, side="right")) - 1
        held: NDArray[np.uint64] = self.stack[at]
        rest = self.order[self.starts[self.edges[at]] : self.starts[code]]
        if len(rest):
            held = held.copy()
            np.bitwise_or.at(held.view(np.uint8), rest >> 3, (128 >> (rest & 7)).astype(np.uint8))
        return held


def _packed(marks: NDArray[np.bool_], words: int) -> NDArray[np.uint64]:
    """Pack one bit per mark into 64-bit words."""
    result = np.zeros(8 * words, np.uint8)
    packed = np.packbits(marks)
    result[: len(packed)] = packed
    return result.view(np.uint64)
