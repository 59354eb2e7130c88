"""Exact answers to many count queries: one bit per row, and the bits of all conditions of a query joined by AND.

Per column there is a stack of bitmaps, each marking the rows whose code lies below some edge. A range of codes is the
difference of two of them, so that a query costs a few passes over a bit per row, however wide its ranges are. A column
of very many values has edges at only some of its codes; the few rows between an edge and the code wanted are marked
one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.table.query import Condition, Query, lacking, marked, runs
from discreet.table.table import Column, Table

EDGES = 512
"""The most edges of a column."""
STACK = 1 << 25
"""The most bytes of a column's stack."""
RUNS = 32
"""A condition with more runs of codes than this is looked up row by row."""


class Bitmaps:
    """The columns of a table as bitmaps, each made when it is first asked about.

    >>> sex = Column("sex", "ordinal", np.array([0, 1, 0], np.int32), np.array(["f", "m"], object))
    >>> from discreet.table.query import OneOf
    >>> Bitmaps(Table(3, (), sex)).counts([Query(OneOf("sex", "f")), Query()]).tolist()
    [2, 3]
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self._stacks: dict[str, _Stack] = {}

    def counts(self, queries: Sequence[Query]) -> NDArray[np.int64]:
        """How many rows satisfy each query."""
        return np.array([self._count(query) for query in queries], np.int64)

    def _count(self, query: Query) -> int:
        kept: NDArray[np.uint64] | None = None
        for name, conditions in query.by_attribute.items():
            if name not in self._stacks:
                column = self.table.column(name)
                self._stacks[name] = _Stack(column, lacking(self.table, column))
            held = self._stacks[name].rows(conditions)
            kept = held if kept is None else kept & held
        return self.table.rows if kept is None else int(np.bitwise_count(kept).sum(dtype=np.int64))


class _Stack:
    """One column: ``stack[at]`` marks the rows whose code is below ``edges[at]``."""

    def __init__(self, column: Column, lacking: NDArray[np.int64] | None) -> None:
        self.column = column
        number = len(column.values)
        codes = column.codes
        if lacking is not None:
            codes = codes.copy()
            codes[lacking] = number  # below no edge
        self.codes = codes
        words = -(-len(codes) // 64)
        most = max(2, min(EDGES, STACK // (8 * max(1, words))))
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
        """The rows that satisfy all conditions, as bits; not to be written to."""
        if conditions not in self._runs:
            self._runs[conditions] = runs(conditions, self.column.values, self.column.meaning)
        ends = self._runs[conditions].tolist()
        if len(ends) > 2 * RUNS:
            # a row that lacks a number bears the code after the last
            return _packed(marked(self._runs[conditions], len(self.column.values) + 1)[self.codes], self.stack.shape[1])
        # rows below the first end, then those below the second one without them, and so on: runs do not overlap
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
    """One bit per mark."""
    result = np.zeros(8 * words, np.uint8)
    packed = np.packbits(marks)
    result[: len(packed)] = packed
    return result.view(np.uint64)
