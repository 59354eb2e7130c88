"""The groups of a part, as they are published: their descriptions, and the sensitive values of their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from discreet.engines.parts import Part, Shelf
from discreet.engines.vocabulary import Vocabulary
from discreet.principles.counts import Counts
from discreet.principles.principle import Principle
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn, exact_column
from discreet.releases.descriptions import Texts
from discreet.releases.generalization import generalize
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.grid import stepped, widened
from discreet.releases.partition import PublishedRows, dense_groups
from discreet.releases.statement import Statement
from discreet.schemes.cuts.scheme import Cuts
from discreet.schemes.grouping import GroupingTask
from discreet.schemes.row_order import row_order
from discreet.table.write import PIECE_ROWS

MEMBERS = "members"
"""The column with the sensitive values of a group's rows: their numbers in ascending order, four bytes each, so that
groups in the order of these bytes are in canonical order."""
WHOSE = "whose"
"""The column with the place of the numbers of a group's rows among those of its part, if there is to be a trace."""
LONGEST = 1 << 40
"""More than a part has rows: the number of the part is counted in these."""


class Described(NamedTuple):
    """The groups of a part."""

    file: Path
    groups: int
    """How many they are."""
    named: tuple[set[str], ...]
    """Per quasi-identifier: their texts, before they are widened."""


@dataclass(frozen=True, eq=False)
class Describer:
    """Forms the groups of parts, and knows how they are published."""

    vocabulary: Vocabulary
    scheme: Cuts
    principle: Principle
    shelf: Shelf

    @cached_property
    def rows(self) -> PublishedRows:
        """What a manifest says of the columns."""
        table = self.vocabulary.table
        return PublishedRows(table, np.zeros(table.rows, np.int32), self.scheme.values == "label")

    @cached_property
    def sensitive(self) -> ExactColumn:
        """The sensitive values as they are published; its codes are those of the values in the vocabulary's order."""
        column = self.vocabulary.table.sensitive[0]
        every = replace(column, codes=np.arange(len(column.values), dtype=np.int32))
        return exact_column(every, self.rows.sensitive[0], np.arange(len(column.values)))

    @property
    def columns(self) -> list[str]:
        """The columns of a file of groups."""
        return [*(f"q{at}" for at in range(len(self.rows.quasi))), MEMBERS]

    def widened(self, attribute: Attribute, texts: Texts, at: int) -> tuple[Attribute, Texts]:
        """Return an attribute and its texts as the scheme publishes intervals."""
        column = self.vocabulary.table.quasi[at]
        if self.scheme.snap is not False:
            attribute, texts = widened(attribute, texts, column, self.scheme.snap is True)
        return stepped(attribute, column), texts

    def __call__(self, given: tuple[int, Part, np.random.Generator]) -> Described:
        """Form the groups of a part, which has a number, and write them to a file."""
        place, part, rng = given
        coded = self.shelf.load(part)
        table = self.vocabulary.with_rows(coded.quasi, coded.sensitive)
        order = row_order(table, self.scheme.random_state)
        table = table.reordered(order)
        prior, every = self.vocabulary.prior, np.arange(table.rows)
        found = self.scheme.groups(GroupingTask(table, self.principle, prior, every, rng))
        groups, number = dense_groups(found)
        counts = Counts.of_rows(groups, table.sensitive_codes, number, len(prior.counts))
        if groups.min() < 0 or not self.principle.holds(counts, prior).all():
            raise AssertionError(f"a group breaks {self.principle}; nothing was published")
        columns, named = [], []
        for at, (attribute, column) in enumerate(zip(self.rows.quasi, table.quasi, strict=True)):
            texts = generalize(column, groups, number, self.scheme.values)
            named.append(set(texts.texts))
            _, texts = self.widened(attribute, texts, at)
            columns.append(pa.DictionaryArray.from_arrays(pa.array(texts.of_cell), pa.array(texts.texts, pa.string())))
        columns.append(_listed(groups, self.sensitive.codes[table.sensitive_codes], number))
        names = self.columns
        if self.shelf.traced:
            sizes = np.bincount(groups, minlength=number)
            columns.append(pa.array(place * LONGEST + np.cumsum(sizes) - sizes))
            coded.numbers[order][np.argsort(groups, kind="stable")].tofile(self.shelf.folder / f"{WHOSE}-{place}")
            names = [*names, WHOSE]
        file = self.shelf.folder / f"groups-{uuid4().hex}.parquet"
        pq.write_table(pa.table(columns, names=names), file, store_schema=False)
        return Described(file, number, tuple(named))

    def release(self, statement: Statement, found: Sequence[Described]) -> GeneralizedRelease:
        """Return a release of the groups of all parts that has its manifest, and no rows yet."""
        groups, texts = sum(part.groups for part in found), zip(*(part.named for part in found), strict=True)
        named = [Texts(tuple(sorted(set().union(*each))), np.zeros(0, np.int32)) for each in texts]
        described = self.rows.described_by(named)
        nothing = Texts((), np.zeros(0, np.int32))
        quasi = [self.widened(attribute, nothing, at)[0] for at, attribute in enumerate(described[: len(named)])]
        attributes = (*quasi, *described[len(named) :])
        manifest = self.rows.manifest(GeneralizedRelease, statement, attributes, groups=groups)
        manifest["rows"] = {"published": self.vocabulary.rows, "withheld": 0}
        empty = np.zeros(0, np.int32)
        return GeneralizedRelease(
            manifest=manifest,
            attributes=attributes,
            texts=tuple(nothing for _ in quasi),
            ids=np.zeros(0, np.int64),
            group_of=empty,
            sensitive_columns=(self.sensitive._replace(codes=empty),),
            others=(),
        )


def _listed(groups: NDArray[np.int32], values: NDArray[np.int32], number: int) -> pa.Array:
    """Return the sensitive values of each group, ascending, as bytes."""
    order = np.lexsort((values, groups))
    ends = np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=number))]) * 4
    data = values[order].astype(">u4").tobytes()
    return pa.Array.from_buffers(
        pa.large_binary(), number, [None, pa.py_buffer(ends.astype(np.int64).tobytes()), pa.py_buffer(data)]
    )


def pieces(batches: Iterator[pa.RecordBatch], release: GeneralizedRelease, numbers: bool) -> Iterator[pa.Table]:
    """Yield the table of a release, a piece at a time, from its groups in order."""
    first, some = 0, (few for batch in batches for few in _few_rows(batch))

    def tables() -> Iterator[pa.Table]:
        nonlocal first
        for few in some:
            made, first = _table(few, release, numbers, first)
            yield made

    return in_pieces(tables())


def in_pieces(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield the rows of tables in pieces of ``PIECE_ROWS``, and at last the rest of them."""
    waiting: list[pa.Table] = []
    held = 0
    for table in tables:
        waiting.append(table)
        held += table.num_rows
        if held >= PIECE_ROWS:
            whole = pa.concat_tables(waiting)
            full = held - held % PIECE_ROWS
            yield from (whole.slice(at, PIECE_ROWS).combine_chunks() for at in range(0, full, PIECE_ROWS))
            waiting, held = [whole.slice(full)], held - full
    if held:
        yield pa.concat_tables(waiting).combine_chunks()


def _few_rows(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield some groups after the other, of about as many rows as a piece or of one group: a group may be large."""
    lengths = pc.binary_length(batch.column(batch.num_columns - 1)).to_numpy()
    piece = np.cumsum(lengths // 4, dtype=np.int64) // PIECE_ROWS
    starts = np.flatnonzero(np.diff(piece, prepend=-1)).tolist()
    for start, end in zip(starts, [*starts[1:], batch.num_rows], strict=True):
        yield batch.slice(start, end - start)


def _table(batch: pa.RecordBatch, release: GeneralizedRelease, numbers: bool, first: int) -> tuple[pa.Table, int]:
    """Return the rows of some groups, the first of which has this number, and the number of the next one."""
    codes, sizes = _numbers(batch.column(batch.num_columns - 1))
    texts = []
    for at in range(batch.num_columns - 1):
        coded: Any = batch.column(at).dictionary_encode()
        texts.append(Texts(tuple(coded.dictionary.to_pylist()), coded.indices.to_numpy().astype(np.int32)))
    made = replace(
        release,
        texts=tuple(texts),
        ids=first + np.arange(len(sizes)),
        group_of=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        sensitive_columns=(release.sensitive_columns[0]._replace(codes=codes.astype(np.int32)),),
    )
    return made.tables(numbers)["table"], first + len(sizes)


def _numbers(lists: pa.Array) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the numbers in lists that are written as bytes, one after the other, and how many each list has."""
    lists = lists.cast(pa.large_binary())
    ends = np.frombuffer(lists.buffers()[1], np.int64)[lists.offset : lists.offset + len(lists) + 1]
    return np.frombuffer(lists.buffers()[2], ">u4")[ends[0] // 4 : ends[-1] // 4], np.diff(ends) // 4


def noted(batches: Iterator[pa.RecordBatch], folder: Path, trace: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
    """Yield groups in order without the places of their rows' numbers; note in a trace which group each row is in."""
    first, files = 0, dict[int, NDArray[np.int64]]()
    for batch in batches:
        _, sizes = _numbers(batch.column(batch.num_columns - 2))
        parts, starts = np.divmod(batch.column(batch.num_columns - 1).to_numpy(), LONGEST)
        for part in np.unique(parts).tolist():
            numbers = files.setdefault(part, np.memmap(folder / f"{WHOSE}-{part}", np.int64, "r"))
            here = np.flatnonzero(parts == part)
            ends = np.cumsum(sizes[here])
            places = np.repeat(starts[here] - ends + sizes[here], sizes[here]) + np.arange(ends[-1])
            trace[numbers[places]] = np.repeat(first + here, sizes[here])
        first += len(sizes)
        yield batch.select(range(batch.num_columns - 1))
