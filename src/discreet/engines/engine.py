"""The contract of an engine: what happens to rows where they are, because there are too many of them here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


class Dictionary(NamedTuple):
    """The distinct values of a column in some order, and how many rows have each; a missing value may be one."""

    values: pa.Array
    rows: NDArray[np.int64]


class Rows(NamedTuple):
    """Some rows: the place of each cell's value in the dictionary of its column, and a number from 0 to 1 by lot."""

    places: list[NDArray[np.int32]]
    lots: NDArray[np.float64]


class Engine(Protocol):
    """A table that stays where it is. It must not change meanwhile; what is published is checked all the same."""

    def count(self, name: str) -> Dictionary:
        """Return the dictionary of a column, by which its cells are coded from then on."""

    def repeats(self, name: str) -> bool:
        """Return whether two rows have the same value in a column."""

    def rows(self, names: Sequence[str], salt: int, share: float = 1.0) -> Iterator[Rows]:
        """Yield the rows of columns that were counted, or about a share of them; salt decides about lots."""

    def in_order(self, files: Sequence[Path], names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the lines of Parquet files, sorted by these columns: texts by code points, bytes by bytes."""
