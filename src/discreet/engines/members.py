"""The rows of the original, in the order of the groups that a trace says, when both are larger than memory.

The trace becomes a file with a number for every row. The rows are put into files for ranges of groups, each of which
fits into memory, where it is sorted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from discreet.engines.engine import Engine, Rows
from discreet.engines.parts import Part, Shelf
from discreet.engines.vocabulary import Coded, Vocabulary, coded, together
from discreet.errors import DiscreetError
from discreet.principles import wording
from discreet.releases.partition import GROUP
from discreet.table.paths import opened

Ints = NDArray[np.int64]
UNSAID, WITHHELD = -2, -1
"""The group of a row that the trace does not name, and of one that it says to be withheld."""
RANGE_ROWS = 1 << 20
"""About as many rows are sorted at once, unless a group has more."""


def read_trace(path: Path, rows: int, folder: Path) -> tuple[Ints, list[str]]:
    """Return the group of every row as a trace says, in a file of the folder, and the trace's faults."""
    groups = np.memmap(folder / "trace", np.int64, "w+", shape=(rows,))
    groups[:] = UNSAID
    outside, again = 0, -1
    types = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(("row", GROUP), pa.int64()), include_columns=["row", GROUP]
    )
    try:
        with opened(path, f"'{path}' for the trace") as file:
            for batch in pyarrow.csv.open_csv(file, convert_options=types):
                numbers, own = (batch.column(at).fill_null(-1).to_numpy() for at in range(2))
                known = (numbers >= 0) & (numbers < rows)
                outside += int((~known).sum())
                numbers, own = numbers[known], own[known]
                ordered = np.sort(numbers)
                twice = [*numbers[groups[numbers] != UNSAID][:1], *ordered[1:][np.diff(ordered) == 0][:1]]
                again = int(twice[0]) if twice and again < 0 else again
                groups[numbers] = np.maximum(own, WITHHELD)
    except (pa.ArrowException, KeyError, UnicodeDecodeError) as fault:
        raise DiscreetError(
            f"the trace '{path}' cannot be read as a table with the columns row and {GROUP} "
            f"({str(fault).splitlines()[0]}); name the file that publishing wrote, or audit without it"
        ) from None
    unsaid, withheld = (sum(int((some == mark).sum()) for some in _pieces(groups)) for mark in (UNSAID, WITHHELD))
    said = {
        f"has {wording.rows(outside)} that the original does not have": outside,
        f"names input row {again:,} more than once": again >= 0,
        f"does not name {wording.rows(unsaid)} of the original": unsaid,
        f"withholds {wording.rows(withheld)}, but the release withholds none": withheld,
    }
    return groups, [f"the trace {fault}" for fault, found in said.items() if found]


def _pieces(groups: Ints) -> Iterator[Ints]:
    """Yield the groups of some rows after the other: they are in a file."""
    for at in range(0, len(groups), RANGE_ROWS):
        yield np.asarray(groups[at : at + RANGE_ROWS])


@dataclass
class Members:
    """Rows in the order of their groups, loaded as far as they are needed."""

    shelf: Shelf
    files: list[Path]
    strays: int
    """How many rows are in groups that no release of so many rows has, by the trace."""
    held: Coded
    """Rows that are loaded and were not asked for yet; their numbers are those of their groups."""
    waiting: Iterator[Path] = field(init=False)

    def __post_init__(self) -> None:
        self.waiting = iter(self.files)

    @classmethod
    def of(cls, engine: Engine, vocabulary: Vocabulary, groups: Ints, folder: Path) -> Members:
        """Return the rows that a trace puts into groups."""
        number = max(0, min(int(groups.max()) + 1, len(groups)))
        sizes, strays = np.zeros(number, np.int64), 0
        for some in _pieces(groups):
            strays += int((some >= number).sum())
            named, amounts = np.unique(some[(some >= 0) & (some < number)], return_counts=True)
            sizes[named] += amounts
        of_group = (np.maximum(np.cumsum(sizes) - 1, 0) // RANGE_ROWS).astype(np.int32)
        shelf = Shelf(folder, len(vocabulary.counts), traced=True)
        files = [folder / f"members-{at}" for at in range(int(of_group.max(initial=-1)) + 1)]

        def put(rows: Iterator[Rows]) -> None:
            for some in rows:
                assert some.numbers is not None, "an engine that numbers no rows has no trace"
                named = groups[some.numbers]
                here = (named >= 0) & (named < number)
                own = coded(vocabulary.codes, some).take(here)._replace(numbers=named[here])
                shelf.put(own, of_group[own.numbers], files)

        names = [column.name for column in vocabulary.table.columns]
        for _ in engine.over_rows(names, 0, put, lambda rows: None):
            pass
        return cls(shelf, [file for file in files if file.exists()], strays, together([], len(names) - 1))

    def until(self, group: int) -> tuple[Coded, Ints]:
        """Return the rows of groups up to this one that were not returned before, and their groups."""
        while not len(self.held.numbers) or self.held.numbers[-1] <= group:
            file = next(self.waiting, None)
            if file is None:
                break
            more = self.shelf.load(Part((file,), np.zeros(0, np.int64)))
            file.unlink()
            order = np.argsort(more.numbers, kind="stable")
            more = Coded(more.quasi[order], more.sensitive[order], np.zeros(len(order)), more.numbers[order])
            self.held = together([self.held, more], more.quasi.shape[1])
        end = int(np.searchsorted(self.held.numbers, group, side="right"))
        some, self.held = (self.held.take(rows) for rows in np.split(np.arange(len(self.held.numbers)), [end]))
        return some, some.numbers

    def rest(self) -> int:
        """Return how many rows nobody asked for."""
        left = len(self.held.numbers)
        for file in self.waiting:
            left += len(self.shelf.load(Part((file,), np.zeros(0, np.int64))).numbers)
            file.unlink()
        return left
