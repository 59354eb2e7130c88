"""The contract of an engine: what happens to rows where they are, because there are too many of them here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import DiscreetError

T = TypeVar("T")
U = TypeVar("U")


Seen = Callable[[int], None]


class Dictionary(NamedTuple):
    """The distinct values of a column in some order, and how many rows have each; a missing value may be one."""

    values: pa.Array
    rows: NDArray[np.int64]


class Rows(NamedTuple):
    """Some rows, as the places of their cells' values in the dictionaries of their columns."""

    places: list[NDArray[np.int32]]
    lots: NDArray[np.float64]
    """A number from 0 to 1 for each row, by lot."""
    numbers: NDArray[np.int64] | None = None
    """Their numbers in the table, from 0, if the engine knows an order of rows."""


class Engine(Protocol):
    """A table that stays where it is. It must not change meanwhile; what is published is checked all the same."""

    name: str
    """What users call the engine."""
    what: str
    """What messages call the table."""
    schema: pa.Schema
    untyped: bool
    """Whether all cells are texts that may stand for numbers, as in CSV."""
    numbers_rows: bool
    """Whether it knows an order of rows, so that there can be a trace."""

    def count(self, name: str) -> Dictionary:
        """Return the dictionary of a column, by which its cells are coded from then on."""

    def repeats(self, name: str) -> bool:
        """Return whether two rows have the same value in a column."""

    def sample(self, names: Sequence[str], salt: int, share: float) -> Iterator[Rows]:
        """Yield about a share of the rows, by columns that were counted; salt decides about lots."""

    def over_rows(self, names: Sequence[str], salt: int, do: Callable[[Iterator[Rows]], T], seen: Seen) -> Iterator[T]:
        """Yield what a function returns for the rows: for all of them at once, or for some at a time, where they
        are. It may run more than once; ``seen`` is called with numbers of rows that went by."""

    def over(self, items: Iterable[T], do: Callable[[T], U]) -> Iterator[U]:
        """Yield what a function returns for each item, in their order; it may run elsewhere, and more than once."""

    def in_order(
        self, files: Sequence[Path], names: Sequence[str], beside: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """Yield the lines of Parquet files, sorted by these columns: texts by code points, bytes by bytes; and the
        columns ``beside`` them, by which they are not sorted."""

    def check_unchanged(self) -> None:
        """Raise an error if the table is seen not to be the one that was opened."""


def changed(what: str) -> DiscreetError:
    """Return what is said of a table that is not the one that was counted."""
    return DiscreetError(f"{what} changed while it was read; publish it when nobody writes to it")


def watched(rows: Iterable[Rows], seen: Seen) -> Iterator[Rows]:
    """Yield rows, and say how many went by."""
    for some in rows:
        yield some
        seen(len(some.lots))
