"""A format: the quasi-identifiers of all rows in one table, and the sensitive values of all rows, counted, in another.

It builds on the neutral base of formats that publish quasi-identifiers unchanged, which finds people among the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.extend import (
    COUNT,
    EXACT_ROWS,
    NO_ORDER,
    ONE_RELEASE,
    Attribute,
    ExactColumn,
    ExactRowsRelease,
    Home,
    PublishedRows,
    Query,
    RowsAt,
    Stated,
    Statement,
    Table,
    check_countable,
    check_partition,
    column_array,
    count_lines,
    ending_of,
    line_keys,
    line_order,
    read_amounts,
    read_exact,
    read_sensitive,
    read_texts,
    row_attributes,
    taken_in,
)

TABLES = ("table", "sensitive")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SeparateRelease(ExactRowsRelease):
    """Rows without their sensitive values, and the sensitive values of all rows, counted."""

    format: ClassVar[str] = "separate"
    assumptions: ClassVar[tuple[str, ...]] = (
        EXACT_ROWS,
        "Any published row may have any of the sensitive values that are counted; the promise is kept by the counts of "
        "all published rows and by those of the withheld rows.",
        NO_ORDER,
        ONE_RELEASE,
    )

    manifest: dict[str, Any]
    attributes: tuple[Attribute, ...]
    exact: tuple[ExactColumn, ...]
    others: tuple[ExactColumn, ...]
    values: NDArray[Any]
    counts: NDArray[np.int64]
    """How many published rows have each of ``values``."""
    faults: tuple[str, ...] = ()
    trace: NDArray[np.int32] | None = None

    # ---------------------------------------------------------------------------------------- making, saving, loading

    @classmethod
    def of_rows(cls, table: Table, published: NDArray[np.int64], **stated: Unpack[Stated]) -> SeparateRelease:
        """Publish some rows of a table."""
        trace = np.full(table.rows, -1, np.int32)
        trace[published] = 0
        check_partition(table, trace)
        check_countable(table, "a separate release")
        rows = PublishedRows(table, trace)
        (sensitive_attribute,) = rows.sensitive_columns
        return cls(
            manifest=rows.manifest(cls, Statement(**stated)),
            attributes=rows.attributes,
            exact=rows.exact,
            others=rows.others,
            values=sensitive_attribute.values,
            counts=np.bincount(sensitive_attribute.codes, minlength=len(sensitive_attribute.values)),
            trace=trace,
        ).in_order()

    def in_order(self) -> SeparateRelease:
        """The same release with its rows sorted, which tells nothing; counts are written by value anyway."""
        order = line_order(None, line_keys(tuple(self.columns.values()), self.rows))
        return replace(self, exact=taken_in(order, self.exact), others=taken_in(order, self.others))

    def tables(self, numbers: bool = True) -> dict[str, pa.Table]:
        """The two tables."""
        rows = [column_array(column, numbers) for column in self.columns.values()]
        held = np.flatnonzero(self.counts).astype(np.int32)
        values = column_array(ExactColumn(self.values, held, self.sensitive_attribute.notation), numbers)
        counted = pa.table([values, pa.array(self.counts[held])], names=[self.sensitive_attribute.name, COUNT])
        return dict(zip(TABLES, (pa.table(rows, names=list(self.columns)), counted), strict=True))

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> SeparateRelease:
        """Load both tables; what does not fit together is a fault, which the audit reports."""
        attributes, ending, faults = row_attributes(manifest), ending_of(manifest, TABLES), list[str]()
        unchanged = [attribute for attribute in attributes if attribute.role != "sensitive"]
        columns = read_texts(home / f"table.{ending}", [attribute.name for attribute in unchanged])
        exact, others = read_exact(unchanged, columns, faults)
        (sensitive_attribute,) = [attribute for attribute in attributes if attribute.role == "sensitive"]
        lines = read_texts(home / f"sensitive.{ending}", [sensitive_attribute.name, COUNT])
        shown = read_sensitive(sensitive_attribute, *lines[sensitive_attribute.name], faults)
        amounts = read_amounts(*lines[COUNT], "sensitive")
        counts = count_lines(np.zeros(len(amounts), np.int64), shown, amounts, 1, faults).line(0)
        rows, stated = len(exact[0].codes), manifest["rows"]["published"]
        if not rows == counts.sum() == stated:
            faults.append(f"There are {rows:,} rows and {counts.sum():,} values, and the manifest says {stated:,}.")
        return cls(
            manifest=manifest,
            attributes=attributes,
            exact=exact,
            others=others,
            values=shown.values,
            counts=counts[: len(shown.values)],
            faults=tuple(faults),
        )

    # -------------------------------------------------------------------------------------------------- what they say

    @property
    def published(self) -> NDArray[np.int64]:
        """How many published rows have each sensitive value."""
        return self.counts

    @property
    def shares(self) -> NDArray[np.float64]:
        """The belief in each sensitive value of anyone who is in the table."""
        return np.asarray(self.counts / max(1, self.counts.sum()), np.float64)

    def believed_counts(self, rows: RowsAt) -> NDArray[np.float64]:
        """The shares of all values, once for every row."""
        return np.bincount(rows.lines, minlength=rows.number)[:, None] * self.shares

    def known_values(self, name: str) -> NDArray[Any]:
        """The published values of a column."""
        return self.values if name == self.sensitive_attribute.name else self.columns[name].values

    def _estimates(self, queries: Sequence[Query], estimator: str) -> NDArray[np.float64]:
        """The rows that satisfy all conditions on unchanged columns, times the share of the values that are asked for.

        Nothing links the two tables, so that they are taken to be independent.
        """
        answers = []
        for query in queries:
            rows, wanted = np.ones(self.rows, np.bool_), np.ones(len(self.values), np.bool_)
            for condition in query.conditions:
                attribute = self.asked(condition)
                admitted = condition.admits(self.known_values(attribute.name), attribute.meaning)
                if attribute.role == "sensitive":
                    wanted &= admitted
                else:
                    rows &= admitted[self.columns[attribute.name].codes]
            answers.append(rows.sum() * self.shares[wanted].sum())
        return np.array(answers, np.float64)
