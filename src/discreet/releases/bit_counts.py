"""Count each published sensitive value among the rows that satisfy conditions, for many queries.

Rows are sorted by sensitive value, with one bit each, and every value starts a new word of 64 bits. For each code of a
column there is a line of bits that marks the rows with smaller codes. So the rows between two codes are the difference
of two lines, rows that satisfy several conditions are the intersection of their bits, and the counts of the sensitive
values are the numbers of bits in consecutive runs of words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.releases.columns import ExactColumn

LINES_BYTES = 1 << 27
"""The memory limit for the lines of one column; columns with more values are compared row by row instead."""

Words = NDArray[np.uint64]


class Tally:
    """Rows with coded columns and a sensitive value each, prepared for counting.

    >>> age = ExactColumn(np.array([20.0, 30.0, 40.0]), np.array([0, 1, 1, 2], np.int32))
    >>> tally = Tally({"age": age}, np.array([0, 1, 0, 1]), 2)
    >>> tally.counts([tally.bits("age", np.array([False, True, True]))]).tolist()
    [1, 2]
    """

    def __init__(self, columns: Mapping[str, ExactColumn], classes: NDArray[Any], width: int) -> None:
        """``classes`` run from 0 to width - 1."""
        held = np.bincount(classes, minlength=width)
        words = -(-held // 64)
        starts = np.cumsum(words) - words
        order = np.argsort(classes, kind="stable")
        rank = np.arange(len(classes)) - np.repeat(np.cumsum(held) - held, held)
        self.rows, self.width = len(classes), width
        self._words = int(words.sum())
        self._held = held.astype(np.int64)
        self._present = np.flatnonzero(held)
        self._starts = starts[self._present]
        self._place = np.empty(len(classes), np.int64)
        self._place[order] = 64 * np.repeat(starts, held) + rank
        self._columns = columns
        self._laid: dict[str, NDArray[np.int32]] = {}
        self._lines: dict[str, Words | None] = {}

    def bits(self, name: str, admitted: NDArray[np.bool_]) -> Words:
        """The rows whose code in a column is admitted, as bits."""
        if name not in self._lines:
            self._lines[name] = self._prefixes(name)
        lines = self._lines[name]
        if lines is None:
            return self._packed(np.append(admitted, False)[self._in_order(name)])
        edges = np.flatnonzero(np.diff(admitted, prepend=False, append=False))
        if len(edges) == 2:
            return np.asarray(lines[edges[0]] ^ lines[edges[1]])
        return np.asarray(np.bitwise_xor.reduce(lines[edges], axis=0))

    def counts(self, conditions: list[Words]) -> NDArray[np.int64]:
        """The count of each sensitive value among the rows that satisfy all conditions."""
        if not conditions:
            return self._held.copy()
        common = conditions[0]
        for condition in conditions[1:]:
            common = common & condition
        result = np.zeros(self.width, np.int64)
        if self._words:
            result[self._present] = np.add.reduceat(np.bitwise_count(common), self._starts, dtype=np.int64)
        return result

    def _prefixes(self, name: str) -> Words | None:
        """For each code, and one beyond the last, the rows with smaller codes; ``None`` if that takes too much."""
        size = len(self._columns[name].values)
        if (size + 1) * self._words * 8 > LINES_BYTES:
            return None
        codes = self._in_order(name)
        return np.array([self._packed(codes < code) for code in range(size + 1)], np.uint64).reshape(size + 1, -1)

    def _in_order(self, name: str) -> NDArray[np.int32]:
        """The codes of a column in the order of the bits; bits without a row get a code beyond the last."""
        if name not in self._laid:
            column = self._columns[name]
            laid = np.full(64 * self._words, len(column.values), np.int32)
            laid[self._place] = column.codes
            self._laid[name] = laid
        return self._laid[name]

    def _packed(self, bits: NDArray[np.bool_]) -> Words:
        return np.packbits(bits).view(np.uint64)
