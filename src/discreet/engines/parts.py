"""The parts of a table: every row in the file of its part, and the exact counts of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from discreet.engines.engine import Rows
from discreet.engines.tree import Grower, Node, Places, assign
from discreet.engines.vocabulary import Coded, coded, together

BATCH = 1 << 18
"""The rows of a file that are read at once, where not all are needed."""


@dataclass(frozen=True, eq=False)
class Part:
    """A part of the table, in one or several files."""

    files: tuple[Path, ...]
    counts: NDArray[np.int64]
    """How many of its rows have each sensitive value."""

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return int(self.counts.sum())


@dataclass(frozen=True)
class Shelf:
    """A folder with files of coded rows."""

    folder: Path
    columns: int
    """How many codes a row has."""
    traced: bool = False
    """Whether the number of each row follows its codes, in 64 bits."""

    def load(self, part: Part) -> Coded:
        """Return all rows of a part."""
        nobody = np.zeros(0, np.int32)
        return self._rows(np.concatenate([nobody, *(np.fromfile(file, np.int32) for file in part.files)]), None)

    def stream(self, part: Part, lot: int) -> Iterator[Coded]:
        """Yield the rows of a part, some at a time; ``lot`` decides about their lots."""
        rng = np.random.default_rng(lot)
        for file in part.files:
            with file.open("rb") as opened:
                while len(words := np.fromfile(opened, np.int32, BATCH * self._words)):
                    yield self._rows(words, rng)

    @property
    def _words(self) -> int:
        return self.columns + 2 * self.traced

    def _rows(self, words: NDArray[np.int32], rng: np.random.Generator | None) -> Coded:
        lines = words.reshape(-1, self._words)
        numbers = np.ascontiguousarray(lines[:, self.columns :]).view(np.int64).ravel()
        lots = np.zeros(0) if rng is None else rng.random(len(lines))
        return Coded(lines[:, : self.columns - 1], lines[:, self.columns - 1], lots, numbers)

    def _lines(self, rows: Coded) -> NDArray[np.int32]:
        more = [rows.numbers.view(np.int32).reshape(-1, 2)] if self.traced else []
        return np.column_stack([rows.quasi, rows.sensitive, *more])

    def put(self, rows: Coded, parts: NDArray[np.int32], files: Sequence[Path]) -> None:
        """Append each row to the file of its part."""
        lines = self._lines(rows)[np.argsort(parts, kind="stable")]
        sizes = np.bincount(parts, minlength=len(files))
        ends = np.cumsum(sizes)
        for file, start, end in zip(files, (ends - sizes).tolist(), ends.tolist(), strict=True):
            if end > start:
                with file.open("ab") as opened:
                    lines[start:end].tofile(opened)

    def divide(self, rows: Iterable[Coded], tree: Node, places: Places, width: int) -> list[Part]:
        """Put rows into new files, one for each part of a tree, and return these parts; there are ``width`` sensitive
        values."""
        number, mark = sum(1 for _ in tree.leaves()), uuid4().hex
        files = [self.folder / f"rows-{at}-{mark}" for at in range(number)]
        counts = np.zeros((number, width), np.int64)
        for some in rows:
            parts = assign(tree, places.along(some))
            counts += np.bincount(parts * np.int64(width) + some.sensitive, minlength=counts.size).reshape(counts.shape)
            self.put(some, parts, files)
        return [Part((file,) if own.any() else (), own) for file, own in zip(files, counts, strict=True)]


@dataclass(frozen=True, eq=False)
class Divider:
    """Puts rows, wherever they are, into the files of the parts of a tree.

    The files of every call have names of their own, and only what calls return is looked at: files of a call that was
    given up belong to no part.
    """

    shelf: Shelf
    codes: list[NDArray[np.int32]]
    """Per column: the code of each place in its dictionary."""
    tree: Node
    places: Places
    width: int

    def __call__(self, rows: Iterator[Rows]) -> list[Part]:
        """Return the parts, with those of the rows that are in these."""
        return self.shelf.divide((coded(self.codes, some) for some in rows), self.tree, self.places, self.width)


@dataclass(frozen=True, eq=False)
class Counter:
    """Counts the rows in the files of a part: per column how many have each code."""

    shelf: Shelf
    widths: tuple[int, ...]

    def __call__(self, part: Part) -> list[NDArray[np.int64]]:
        """Return the counts of each column."""
        counts = [np.zeros(width, np.int64) for width in self.widths]
        for rows in self.shelf.stream(part, 0):
            for own, codes in zip(counts, (*rows.quasi.T, rows.sensitive), strict=True):
                own += np.bincount(codes, minlength=len(own))
        return counts


def joined(found: Iterable[list[Part]]) -> list[Part]:
    """Return parts that were divided in several calls."""
    return [
        Part(tuple(file for part in same for file in part.files), np.sum([part.counts for part in same], axis=0))
        for same in zip(*found, strict=True)
    ]


def merged(node: Node, parts: list[Part], keeps: Callable[[NDArray[np.int64]], bool]) -> list[Part]:
    """Return the parts of a tree, those that break the promise merged with their neighbours until they keep it."""
    if node.cut is None:
        return [parts[node.number]]
    halves = [part for half in node.halves for part in merged(half, parts, keeps) if part.rows]
    if all(keeps(part.counts) for part in halves):
        return halves
    files = tuple(file for part in halves for file in part.files)
    return [Part(files, np.sum([part.counts for part in halves], axis=0))]


def refined(
    part: Part,
    shelf: Shelf,
    grower: Grower,
    sample: int,
    rng: np.random.Generator,
    keeps: Callable[[NDArray[np.int64]], bool],
) -> list[Part]:
    """Divide a part that has more rows than fit into memory again, by stratified cuts; it stays if that fails."""
    share, lot = min(1.0, sample / part.rows), int(rng.integers(2**63))
    drawn = []
    for rows in shelf.stream(part, lot):  # of a part that is its own sample every value is halved exactly
        chosen = rng.random(len(rows.lots)) < share
        drawn.append(rows.take(chosen))
    tree = grower.tree(grower.places.along(together(drawn, shelf.columns - 1)))
    if tree.cut is None:
        return [part]
    halves = shelf.divide(shelf.stream(part, lot), tree, grower.places, len(part.counts))
    found = merged(tree, halves, keeps)
    lost = part if len(found) > 1 else found[0]
    for file in lost.files:
        file.unlink()
    return found if len(found) > 1 else [part]
