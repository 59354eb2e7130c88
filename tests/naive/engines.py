"""An engine whose rows are in memory: the contract in its plainest form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from discreet.engines.engine import Dictionary, Rows, Seen


class PlainEngine:
    """A table in memory."""

    name, what, numbers_rows = "plain", "the table", True

    def __init__(self, table: pa.Table, untyped: bool = False) -> None:
        self.table, self.schema, self.untyped = table.combine_chunks(), table.schema, untyped
        self.values: dict[str, pa.Array] = {}

    def count(self, name: str) -> Dictionary:
        counts = pc.value_counts(self.table.column(name).combine_chunks())
        self.values[name] = counts.field(0)
        return Dictionary(counts.field(0), counts.field(1).to_numpy())

    def repeats(self, name: str) -> bool:
        present = [value for value in self.table.column(name).to_pylist() if value is not None]
        return len(set(present)) < len(present)

    def sample(self, names: Sequence[str], salt: int, share: float) -> Iterator[Rows]:
        [rows] = self._rows(names, salt)
        chosen = np.random.default_rng((salt, 1)).random(len(rows.lots)) < share
        yield Rows([places[chosen] for places in rows.places], rows.lots[chosen])

    def over_rows(self, names: Sequence[str], salt: int, do: Callable[[Iterator[Rows]], Any], seen: Seen) -> Any:
        yield do(self._rows(names, salt))
        seen(self.table.num_rows)

    def over(self, items: Iterable[Any], do: Callable[[Any], Any]) -> Iterator[Any]:
        return map(do, items)

    def in_order(
        self, files: Sequence[Path], names: Sequence[str], beside: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        lines = [line for file in files for line in pq.read_table(file).select([*names, *beside]).to_pylist()]
        lines.sort(key=lambda line: [_plain(line[name]) for name in names])
        yield pa.RecordBatch.from_pylist(lines, pq.read_schema(files[0]))

    def check_unchanged(self) -> None:
        """Nobody can change it."""

    def _rows(self, names: Sequence[str], salt: int) -> Iterator[Rows]:
        places = []
        for name in names:
            known = {_key(value): place for place, value in enumerate(self.values[name].to_pylist())}
            cells = self.table.column(name).to_pylist()
            places.append(np.array([known[_key(cell)] for cell in cells], np.int32))
        rows = self.table.num_rows
        yield Rows(places, np.random.default_rng((salt, 0)).random(rows), np.arange(rows))


def _plain(cell: Any) -> Any:
    return cell.encode() if isinstance(cell, str) else cell


def _key(value: Any) -> Any:
    return "nan" if value != value else value
