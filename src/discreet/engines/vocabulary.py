"""The values of all columns of a table, with their counts: what is known of it after one pass."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.engines.engine import Dictionary, Rows
from discreet.errors import DiscreetError
from discreet.principles.prior import Prior
from discreet.releases.partition import GROUP, PublishedRows
from discreet.releases.passthrough import check_unlisted
from discreet.table.read import table_of
from discreet.table.sources import Source
from discreet.table.spec import TableSpec
from discreet.table.table import Column, Table


class Coded(NamedTuple):
    """Some rows of the table, as the columns of the vocabulary code them."""

    quasi: NDArray[np.int32]
    """One line per row, one column per quasi-identifier."""
    sensitive: NDArray[np.int32]
    lots: NDArray[np.float64]
    """A number from 0 to 1 for each row, by lot."""
    numbers: NDArray[np.int64]
    """The number of each row in the table, or none of any."""

    def take(self, rows: NDArray[Any]) -> Coded:
        """Return some of the rows."""
        numbers = self.numbers[rows] if len(self.numbers) else self.numbers
        return Coded(self.quasi[rows], self.sensitive[rows], self.lots[rows], numbers)


def coded(codes: Sequence[NDArray[np.int32]], rows: Rows) -> Coded:
    """Return rows as the columns of a vocabulary with these codes code them."""
    own = [code[places] for code, places in zip(codes, rows.places, strict=True)]
    numbers = np.zeros(0, np.int64) if rows.numbers is None else rows.numbers
    return Coded(np.column_stack(own[:-1]), own[-1], rows.lots, numbers)


def together(some: Sequence[Coded], quasi: int) -> Coded:
    """Return rows that come in pieces, with so many quasi-identifiers, as one piece."""
    nobody = Coded(np.zeros((0, quasi), np.int32), np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.int64))
    return Coded(*(np.concatenate(each) for each in zip(nobody, *some, strict=True)))


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """A table in which every value occurs, and how many rows of the original have it.

    Its columns have the kinds, orders, hierarchies and domains of the original's, because these follow from the values
    that occur and from what is declared.
    """

    table: Table
    """Its rows are nobody's."""
    codes: list[NDArray[np.int32]]
    """Per column, quasi-identifiers first: the code of each place in its dictionary."""
    counts: list[NDArray[np.int64]]
    """Per column: how many rows have each code."""

    @classmethod
    def of(
        cls, dictionaries: Sequence[Dictionary], spec: TableSpec, untyped: bool = False, published: bool = True
    ) -> Vocabulary:
        """Return the vocabulary of a table with these dictionaries, of its quasi-identifiers and its sensitive
        attribute, read as a spec says; if it is ``untyped``, texts may stand for numbers.

        The columns are as they are ``published``, or as they were read.
        """
        height = max(len(each.values) for each in dictionaries)
        if height == 0:
            raise DiscreetError("the table has no rows, so there is nothing to publish; check the input")
        columns = [
            each.values.take(pa.array(np.minimum(np.arange(height), len(each.values) - 1))) for each in dictionaries
        ]
        names = (*spec.roles.quasi, *spec.roles.sensitive)
        try:
            as_named = replace(spec, identifiers=(), header=None, columns=(), table=None, query=None)
            read = table_of(Source(pa.table(columns, names=list(names)), untyped), as_named)
        except DiscreetError as fault:  # no row of the original is at that place
            raise DiscreetError(re.sub(r" in row [\d,]+", "", str(fault)), fault.field) from None
        if read.unusable is not None:
            raise DiscreetError(
                f"rows with missing numbers in {next(iter(read.lacking))!r} would be withheld, which this engine "
                f"does not do; say {argument('missing', 'value')}, or {argument('engine', 'memory')}"
            )
        # notes are on the numbers of rows with a value, which are others here
        read = replace(read, notes=(), reading=spec.recorded())
        if published:
            read = replace(read, quasi=PublishedRows(read, np.zeros(height, np.int32)).columns)
        if any(column.name == GROUP for column in read.columns):
            raise DiscreetError(f"a column is called {GROUP!r}, the name of the column that a release adds; rename it")
        codes = [column.codes[: len(of.values)] for column, of in zip(read.columns, dictionaries, strict=True)]
        counts = [
            np.bincount(code, of.rows, len(column.values)).astype(np.int64)
            for column, code, of in zip(read.columns, codes, dictionaries, strict=True)
        ]
        made = cls(read, codes, counts)
        if not published:
            return made
        for column, each in zip(read.quasi, counts, strict=False):
            check_unlisted(column, partial(_alone, each), made.rows)
        return made

    @property
    def rows(self) -> int:
        """How many rows the original has."""
        return int(self.counts[-1].sum())

    @property
    def prior(self) -> Prior:
        """The exact prior of the original."""
        return replace(Prior.of(self.table), counts=self.counts[-1])

    def with_rows(self, quasi: NDArray[np.int32], sensitive: NDArray[np.int32]) -> Table:
        """Return some rows of the original, given their codes, as a table."""

        def holding(column: Column, codes: NDArray[np.int32]) -> Column:
            return replace(column, codes=np.ascontiguousarray(codes))

        columns = tuple(holding(column, quasi[:, at]) for at, column in enumerate(self.table.quasi))
        own = (holding(self.table.sensitive[0], sensitive),)
        return replace(self.table, rows=len(sensitive), quasi=columns, sensitive=own)


def _alone(counts: NDArray[np.int64]) -> int:
    return int((counts == 1).sum())
