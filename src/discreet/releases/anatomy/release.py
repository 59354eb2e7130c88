"""An anatomy release: unchanged quasi-identifiers and counts of sensitive values per group, in two tables.

``table`` contains the quasi-identifiers of every row and the number of its group; ``sensitive`` counts the sensitive
values of every group. Nothing links a row of a group to one of its values: rows, counts and the numbers of the groups
are in an order that follows from what is published (see ``releases.canonical``). The belief in a sensitive value is its
share in the group. Presence in the table is not hidden at all.

Several sensitive attributes are counted in tables of their own, ``sensitive_1``, ``sensitive_2``, ..., over the same
groups. The files stay the same whatever row of a group has which of its values, of each attribute independently of the
others. So the belief in a value is its share in the group for each attribute, also to a reader of all tables; and as
all tables have the same groups, knowing which values go together excludes none of them for one person of a group more
than for another.

The format is that of Anatomy (Xiao and Tao, VLDB 2006); with one group it is the Baseline of "Publishing Microdata
with a Robust Privacy Guarantee" (PVLDB 2012).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.principles.counts import Counts
from discreet.releases import canonical, reading
from discreet.releases.anatomy.groups import Groups
from discreet.releases.assumptions import CHOSEN, COUNTED, FOR_RECIPIENTS, KEPT_BY_GROUPS, ONE_RELEASE, SHUFFLED
from discreet.releases.columns import ExactColumn, column_array
from discreet.releases.counted import (
    Counted,
    CountingRelease,
    check_countable,
    counted_in_groups,
    extents,
)
from discreet.releases.exact_rows import ExactRowsRelease, RowsAt
from discreet.releases.folder import Home
from discreet.releases.grouped import GroupedRowsRelease, Members
from discreet.releases.partition import GROUP, PublishedRows
from discreet.releases.statement import Stated, Statement
from discreet.releases.uncertainty import tells
from discreet.table.combinations import distinct, places_among, ranked
from discreet.table.query import Query
from discreet.table.table import Column, Table
from discreet.table.total import amounts

EXACT = (
    "Every published row is a row of the original with its quasi-identifiers as they were; an attacker who knows "
    "someone's quasi-identifiers can tell that the person is in the table. Only the sensitive value is protected."
)
ASSUMPTIONS = (
    EXACT,
    COUNTED,
    SHUFFLED,
    KEPT_BY_GROUPS,
    ONE_RELEASE,
)
ESTIMATORS = {"shares": "every row has each sensitive value with its share of the row's group, as in the paper"}
CELLS = 1 << 24
"""The largest table of points and sensitive values in which expected counts are kept for a batch of queries."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnatomyRelease(CountingRelease, GroupedRowsRelease, ExactRowsRelease):
    """An anatomy release, made by a scheme (``from_groups``) or loaded from a folder (``load``).

    The belief in a value, given a row, is the value's share in the row's group.
    """

    format: ClassVar[str] = "anatomy"
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS
    estimators = ESTIMATORS
    described_exactly: ClassVar[tuple[str, ...]] = (FOR_RECIPIENTS, CHOSEN)
    contents: ClassVar[Mapping[str, str]] = {"table": "a line for each published row, with the number of its group"}
    counts_own_rows: ClassVar[bool] = True
    """Whether what is counted in a group are the values of its rows."""

    @classmethod
    def from_groups(cls, table: Table, groups: NDArray[np.int32], **stated: Unpack[Stated]) -> Self:
        """Publish a partition: ``groups[row]`` is the group of a row, as any number, or -1 if the row is withheld."""
        return cls._of_groups(table, groups, Statement(**stated)).in_order()

    @classmethod
    def _of_groups(cls, table: Table, groups: NDArray[np.int32], statement: Statement) -> Self:
        """The release of a partition, in the order of the table and of the given numbers of groups."""
        rows = PublishedRows.of_groups(table, groups)
        check_countable(table, "an anatomy release")
        return cls(
            manifest=rows.manifest(cls, statement, groups=rows.groups),
            attributes=rows.attributes,
            exact=rows.exact,
            ids=np.arange(rows.groups),
            group_of=rows.group_of,
            others=rows.others,
            trace=rows.places,
            counted=counted_in_groups(rows),
        )

    def in_order(self) -> Self:
        """Return the same release with its rows and the numbers of its groups in canonical order."""
        numbers = self._numbers()
        group_of = canonical.renumbered(numbers, self.group_of)
        order = canonical.line_order(group_of, self._line_keys)
        if order is None and bool((numbers == np.arange(self.groups)).all()):
            return self
        return self._rearranged(numbers, order)

    def _numbers(self) -> NDArray[np.int64]:
        """The numbers of the groups in canonical order."""
        return canonical.group_numbers(canonical.content_ranks(self.groups, self._contents))

    @property
    def _contents(self) -> list[NDArray[Any] | canonical.Lines]:
        """What is published with each group: its rows, and the counts of its sensitive values."""
        return [canonical.Lines(self.group_of, self._line_keys), *self.counted_lines]

    @cached_property
    def _line_keys(self) -> NDArray[np.int64]:
        """A number for each row, in the order of what is published with it."""
        return canonical.line_keys((*self.exact, *self.others), self.rows)

    def _rearranged(self, numbers: NDArray[np.int64], order: NDArray[np.int64] | None) -> Self:
        """The same release with other numbers of its groups, and its rows in an order."""
        group_of = canonical.renumbered(numbers, self.group_of)
        return replace(
            self,
            exact=canonical.taken_in(order, self.exact),
            others=canonical.taken_in(order, self.others),
            group_of=group_of if order is None else group_of[order],
            trace=canonical.renumbered(numbers, self.trace),
            counted=self.counted_by(numbers),
        )

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> Self:
        """Load the release in a folder whose manifest has been read."""
        attributes = reading.read_attributes(manifest)
        sensitive_columns, sensitive, lines, ending = reading.counted_tables(
            home, attributes, manifest, ["table", *cls.more_tables]
        )
        table, names = f"table.{ending}", [attribute.name for attribute in attributes if attribute.role != "sensitive"]
        columns = reading.read_columns(home / table, [GROUP, *names])
        faults: list[str] = []
        of_rows = columns[GROUP][1].astype(np.int64)
        ids = distinct(np.concatenate([of_rows, *(each[GROUP][1].astype(np.int64) for each in lines)]))
        group_of = places_among(ids, of_rows).astype(np.int32)
        reading.check_rows(table, len(of_rows), manifest, faults)
        reading.check_groups(table, ids, manifest, faults)
        exact, others = reading.read_exact(attributes, columns, faults)
        sizes = np.bincount(group_of, minlength=len(ids)) if cls.counts_own_rows else None
        counted = tuple(
            reading.read_counted(*each, ids, faults, sizes, table)
            for each in zip(sensitive_columns, sensitive, lines, strict=True)
        )
        return cls(
            manifest=manifest,
            attributes=attributes,
            exact=exact,
            ids=ids,
            group_of=group_of,
            others=others,
            faults=tuple(faults),
            counted=counted,
        )

    def tables(self, numbers: bool = True) -> dict[str, pa.Table]:
        """The published tables: ``table`` with the rows, and those of sensitive values."""
        ids = pa.array(self.ids) if numbers else pa.array(self.ids).cast(pa.string())
        columns: list[Any] = [pa.DictionaryArray.from_arrays(pa.array(self.group_of), ids)]
        columns += [column_array(column, numbers) for column in self.columns.values()]
        return {"table": pa.table(columns, names=[GROUP, *self.columns]), **self.sensitive_tables(numbers)}

    def drawn_columns(self, random: np.random.Generator) -> tuple[ExactColumn, ...]:
        """The published rows, with the sensitive values of every group dealt to its rows."""
        return (*self.exact, *self.dealt_columns(self.group_of, random), *self.others)

    def description(self, group: int) -> dict[str, str]:
        """The extent of each quasi-identifier in the group at an index of ``ids``, so that readers can recognise it."""
        rows = np.flatnonzero(self.group_of == group)
        return extents((attribute, of, rows) for attribute, of in zip(self.quasi, self.exact, strict=True))

    @property
    def expected_values(self) -> tuple[Counted, ...]:
        """What is believed of each group's rows, per sensitive attribute: that they have the values counted in it."""
        return self.counted

    def believed_counts(self, rows: RowsAt) -> NDArray[np.float64]:
        """The shares of the values in the groups of the rows, added up."""
        borne = bearers(rows.lines, self.group_of[rows.rows], (rows.number, self.groups))
        return np.asarray((borne @ shares_in(self.expected_values[0].counts)).toarray(), np.float64)

    def certain_groups(self, people: Sequence[Column]) -> NDArray[np.int64]:
        """The group in which all rows with a person's quasi-identifiers are; -1 if there are several or none."""
        rows, of_person, number = self._matched(people)
        first, last = np.full(number, self.groups), np.full(number, -1)
        np.minimum.at(first, rows, self.group_of)
        np.maximum.at(last, rows, self.group_of)
        return np.where(first == last, first, -1)[of_person]

    def members(self, people: Sequence[Column], numbers: NDArray[np.int64]) -> Members:
        """The people with the quasi-identifiers of each row, in its group, as often as there are rows."""
        rows, of_person, number = self._matched(people)
        line = np.full(number, -1, np.int64)
        line[of_person] = np.arange(len(of_person))
        known = line[rows] >= 0
        pairs, times = np.unique(line[rows][known] * self.groups + self.group_of[known], return_counts=True)
        return Members.of(pairs // self.groups, pairs % self.groups, times)

    def _matched(self, people: Sequence[Column]) -> tuple[NDArray[np.intp], NDArray[np.intp], int]:
        """Numbers for rows and people that are equal exactly if all quasi-identifiers are, and how many there are."""
        combinations, places = np.unique(self.keys(people), return_inverse=True)
        return places[: self.rows], places[self.rows :], len(combinations)

    def known_values(self, name: str) -> NDArray[Any]:
        """The published values of a column, in their order."""
        values = self.sensitive_values(name)
        return self.columns[name].values if values is None else values

    @cached_property
    def _in_groups(self) -> Groups:
        """The rows by combinations of quasi-identifiers and groups."""
        return Groups(self)

    def certain_bounds(self, queries: Sequence[Query]) -> NDArray[np.float64]:
        """Return how many rows satisfy each query for certain, and how many may, by the counts of all groups."""
        bounds = [self._in_groups.bounds(query) for query in queries]
        return np.array(bounds, np.float64).reshape(len(bounds), 2)

    def standard_errors(self, queries: Sequence[Query]) -> NDArray[np.float64] | None:
        """Return the standard error of each estimate, if the groups tell how strong the association in them may be."""
        return self._in_groups.standard_errors(queries) if tells(self.manifest, self.groups) else None

    def _estimates(self, queries: Sequence[Query], estimator: str) -> NDArray[np.float64]:
        """The expected number of published rows that satisfy each query.

        Conditions on quasi-identifiers and kept columns are evaluated exactly; each row that satisfies them counts with
        the share of its group that satisfies the condition on the sensitive attribute. Of several sensitive attributes
        the shares are multiplied, as if they were independent within the group.

        Rows with the same combination of values are handled together. If combinations and sensitive values are few
        enough, expected counts are accumulated over the sensitive values beforehand, so that a range costs no more than
        a single value.
        """
        return self._expected(queries)

    def exact_sums(self, name: str, queries: Sequence[Query]) -> NDArray[np.float64] | None:
        """Return the expected sum of a column of the table of rows over the rows that satisfy each query."""
        return self._expected(queries, name) if name in self.columns else None

    def _expected(self, queries: Sequence[Query], added: str | None = None) -> NDArray[np.float64]:
        """Return how many rows are expected to satisfy each query, or the sum of what they have in a column."""
        _, first, of_row = ranked(canonical.line_keys([*self.columns.values()], self.rows))
        codes = {name: column.codes[first] for name, column in self.columns.items()}
        borne = bearers(of_row, self.group_of, (len(first), self.groups))
        of_sensitive = zip(self.sensitive, self.expected_values, strict=True)
        sensitive_columns = {attribute.name: _Shares(counted, borne) for attribute, counted in of_sensitive}
        sizes = np.bincount(of_row, minlength=len(first)).astype(np.float64)
        worth = np.ones(len(first))
        if added is not None:
            worth = np.nan_to_num(amounts(self.attribute(added), self.columns[added].values))[codes[added]]
        results = np.empty(len(queries))
        for at, query in enumerate(queries):
            keep = np.ones(len(first), np.bool_)
            wanted: dict[str, NDArray[np.bool_]] = {}
            for condition in query.conditions:
                name, attribute = condition.attribute, self.asked(condition)
                admitted = condition.admits(self.known_values(name), attribute.meaning)
                if name in codes:
                    keep &= admitted[codes[name]]
                else:
                    wanted[name] = wanted[name] & admitted if name in wanted else admitted
            expected = sizes if not wanted else None
            if len(wanted) == 1:
                ((name, values),) = wanted.items()
                expected = sensitive_columns[name].expected(values)
            if expected is not None:
                results[at] = expected @ (worth * keep)
            else:
                share = np.prod([sensitive_columns[name].of_groups(values) for name, values in wanted.items()], axis=0)
                held = keep[of_row]
                results[at] = share[self.group_of[held]] @ worth[of_row[held]]
        return results


class _Shares:
    """The shares of an attribute's values in each group, and what these make of the rows of each combination."""

    def __init__(self, counted: Counted, bearers: Any) -> None:
        self.values, self.shares, self.bearers = counted.values, shares_in(counted.counts), bearers

    @cached_property
    def sums(self) -> NDArray[np.float64] | None:
        """Per value and combination, the expected rows with any value before it; None if they are too many."""
        number, wide = self.bearers.shape[0], len(self.values) + 1
        if number * wide > CELLS:
            return None
        sums = np.zeros((wide, number))
        np.cumsum((self.bearers @ self.shares).toarray().T, axis=0, out=sums[1:])
        return sums

    def expected(self, values: NDArray[np.bool_]) -> NDArray[np.float64] | None:
        """Per combination, the expected rows with these values; None if that would take too much memory."""
        if self.sums is None:
            return None
        edges = np.flatnonzero(np.diff(values, prepend=False, append=False))
        return np.asarray(self.sums[edges[1::2]].sum(axis=0) - self.sums[edges[::2]].sum(axis=0), np.float64)

    def of_groups(self, values: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Per group, the share of its rows with these values."""
        return np.asarray(self.shares @ values.astype(np.float64), np.float64)


def bearers(place_of_row: NDArray[Any], group_of: NDArray[np.int32], shape: tuple[int, int]) -> Any:
    """The number of rows of each combination in each group, as a sparse matrix."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(group_of)), (place_of_row, group_of)), shape=shape)


def shares_in(counts: Counts) -> Any:
    """The share of each sensitive value in each group, as a sparse matrix."""
    from scipy.sparse import csr_array

    return csr_array((counts.shares, counts.values, counts.starts), shape=(len(counts), counts.width))
