"""Count rows that satisfy conditions, for many queries: one bit per row.

Each column has a stack of bitmaps, each of which marks the rows whose code is below some edge. A range of codes is the
difference of two of them, and rows that satisfy several conditions are the intersection of their bits: a query costs a
few passes over one bit per row, however wide its ranges are. A column with very many values has edges at only some of
its codes; the few rows between an edge and the requested code are marked one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.releases.columns import ExactColumn
from discreet.table.query import Condition, Query, lacking, marked, runs
from discreet.table.table import Table

EDGES = 512
"""The maximum number of edges of a column."""
STACK_BYTES = 1 << 26
"""The maximum size of a column's stack."""
RUNS = 32
"""Conditions with more runs of codes than this are looked up row by row."""

Words = NDArray[np.uint64]


class CodeBits:
    """The bitmaps of one column: ``stack[at]`` marks the rows whose code is below ``edges[at]``.

    >>> np.unpackbits(CodeBits(np.array([0, 3, 1, 2]), 3).within(np.array([1, 3])).view(np.uint8))[:4].tolist()
    [0, 0, 1, 1]
    """

    def __init__(self, codes: NDArray[np.integer], number: int) -> None:
        """Codes are below ``number``, which stands for rows that are in no range."""
        self.codes, self.number = codes, number
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

    def within(self, ends: NDArray[np.int64]) -> Words:
        """The rows whose code is in one of some ascending ranges, each given as its first code and the one after it.

        The caller must not modify the result.
        """
        if len(ends) > 2 * RUNS:
            return _packed(marked(ends, self.number + 1)[self.codes], self.stack.shape[1])
        # ranges do not overlap and their ends ascend, so XOR of the rows below each end leaves exactly the ranges
        held = self._below(int(ends[0])) if len(ends) else self.stack[0]
        for end in ends[1:].tolist():
            held = held ^ self._below(end)
        return held

    def _below(self, code: int) -> Words:
        if self.order is None:
            below: Words = self.stack[code]
            return below
        at = int(np.searchsorted(self.edges, code, side="right")) - 1
        held: Words = self.stack[at]
        rest = self.order[self.starts[self.edges[at]] : self.starts[code]]
        if len(rest):
            held = held.copy()
            np.bitwise_or.at(held.view(np.uint8), rest >> 3, (128 >> (rest & 7)).astype(np.uint8))
        return held


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


class Tally:
    """Rows with coded columns and a class each, such as a sensitive value, prepared for counting each class.

    Rows are sorted by class, and every class starts a new word of 64 bits.

    >>> age = ExactColumn(np.array([20.0, 30.0, 40.0]), np.array([0, 1, 1, 2], np.int32))
    >>> tally = Tally({"age": age}, np.array([0, 1, 0, 1]), 2)
    >>> tally.counts([tally.bits("age", np.array([False, True, True]))]).tolist()
    [1, 2]
    """

    def __init__(self, columns: Mapping[str, ExactColumn], sensitive_codes: NDArray[Any], width: int) -> None:
        """``sensitive_codes`` run from 0 to width - 1."""
        held = np.bincount(sensitive_codes, minlength=width)
        words = -(-held // 64)
        starts = np.cumsum(words) - words
        order = np.argsort(sensitive_codes, kind="stable")
        rank = np.arange(len(sensitive_codes)) - np.repeat(np.cumsum(held) - held, held)
        self._words = int(words.sum())
        self._held = held.astype(np.int64)
        self._present = np.flatnonzero(held)
        self._starts = starts[self._present]
        self._place = np.empty(len(sensitive_codes), np.int64)
        self._place[order] = 64 * np.repeat(starts, held) + rank
        self._columns = columns
        self._bits: dict[str, CodeBits] = {}

    def bits(self, name: str, admitted: NDArray[np.bool_]) -> Words:
        """The rows whose code in a column is admitted, as bits."""
        if name not in self._bits:
            column = self._columns[name]
            laid = np.full(64 * self._words, len(column.values), np.int32)  # bits without a row are in no range
            laid[self._place] = column.codes
            self._bits[name] = CodeBits(laid, len(column.values))
        return self._bits[name].within(np.flatnonzero(np.diff(admitted, prepend=False, append=False)))

    def counts(self, conditions: list[Words]) -> NDArray[np.int64]:
        """The count of each class among the rows that satisfy all conditions."""
        if not conditions:
            return self._held.copy()
        common = conditions[0]
        for condition in conditions[1:]:
            common = common & condition
        result = np.zeros(len(self._held), np.int64)
        if self._words:
            result[self._present] = np.add.reduceat(np.bitwise_count(common), self._starts, dtype=np.int64)
        return result


def _packed(marks: NDArray[np.bool_], words: int) -> Words:
    """Pack one bit per mark into 64-bit words."""
    result = np.zeros(8 * words, np.uint8)
    packed = np.packbits(marks)
    result[: len(packed)] = packed
    return result.view(np.uint64)
