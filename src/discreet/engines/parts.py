"""The parts of a table: every row in the file of its part, and the exact counts of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.engines.tree import Grower, Node, Places, assign
from discreet.engines.vocabulary import Coded, Vocabulary, together

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


@dataclass(frozen=True, eq=False)
class Shelf:
    """A folder with files of coded rows."""

    folder: Path
    vocabulary: Vocabulary
    rng: np.random.Generator
    made: list[Path] = field(default_factory=list)

    @property
    def columns(self) -> int:
        """How many numbers a row has in a file: its codes."""
        return len(self.vocabulary.counts)

    def load(self, part: Part) -> Coded:
        """Return all rows of a part."""
        codes = np.concatenate([np.fromfile(file, np.int32) for file in part.files]).reshape(-1, self.columns)
        return Coded(codes[:, :-1], codes[:, -1], np.zeros(0))

    def stream(self, part: Part, lot: int) -> Iterator[Coded]:
        """Yield the rows of a part, some at a time; ``lot`` decides about their lots."""
        rng = np.random.default_rng(lot)
        for file in part.files:
            with file.open("rb") as opened:
                while len(codes := np.fromfile(opened, np.int32, BATCH * self.columns).reshape(-1, self.columns)):
                    yield Coded(codes[:, :-1], codes[:, -1], rng.random(len(codes)))

    def divide(self, rows: Iterable[Coded], tree: Node, places: Places) -> list[Part]:
        """Put rows into new files, one for each part of a tree, and return these parts."""
        number = sum(1 for _ in tree.leaves())
        files = [self.folder / f"rows-{len(self.made) + at}" for at in range(number)]
        self.made.extend(files)
        width = len(self.vocabulary.counts[-1])
        counts = np.zeros((number, width), np.int64)
        for some in rows:
            parts = assign(tree, places.along(some))
            counts += np.bincount(parts * np.int64(width) + some.sensitive, minlength=counts.size).reshape(counts.shape)
            order = np.argsort(parts, kind="stable")
            codes = np.column_stack([some.quasi, some.sensitive])[order]
            ends = np.cumsum(np.bincount(parts, minlength=number))
            for file, start, end in zip(files, [0, *ends[:-1].tolist()], ends.tolist(), strict=True):
                if end > start:
                    with file.open("ab") as opened:
                        codes[start:end].tofile(opened)
        return [Part((file,) if own.any() else (), own) for file, own in zip(files, counts, strict=True)]


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
    part: Part, shelf: Shelf, grower: Grower, sample: int, keeps: Callable[[NDArray[np.int64]], bool]
) -> list[Part]:
    """Divide a part that has more rows than fit into memory again, by stratified cuts; it stays if that fails."""
    share, lot = min(1.0, sample / part.rows), int(shelf.rng.integers(2**63))
    drawn = []
    for rows in shelf.stream(part, lot):  # of a part that is its own sample every value is halved exactly
        chosen = shelf.rng.random(len(rows.lots)) < share
        drawn.append(rows.take(chosen))
    tree = grower.tree(grower.places.along(together(drawn, shelf.columns - 1)))
    if tree.cut is None:
        return [part]
    found = merged(tree, shelf.divide(shelf.stream(part, lot), tree, grower.places), keeps)
    if len(found) > 1:
        for file in part.files:
            file.unlink()
        return found
    for file in found[0].files:
        file.unlink()
    return [part]
