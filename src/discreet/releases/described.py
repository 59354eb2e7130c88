"""What releases have in common whose rows are in groups with one description each.

Formats that publish rows under descriptions differ in whom a row may belong to. What their tables show is the same, and
is computed here: the counts of each group, beliefs by matching descriptions, and estimates of counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.principles.counts import Counts
from discreet.principles.wording import percent
from discreet.releases.box_estimate import EVEN, FITTED, Cells, collapse, contingency, estimates, values_within
from discreet.releases.box_lookup import ByBoxes
from discreet.releases.box_uncertainty import standard_errors
from discreet.releases.boxes import columns_at, mixed, shares
from discreet.releases.columns import ExactColumn, column_array
from discreet.releases.descriptions import Descriptions, Texts
from discreet.releases.grouped import Combined, GroupedRowsRelease
from discreet.releases.lookup import Lookup
from discreet.releases.marginals import MARGINALS, Marginals
from discreet.releases.partition import GROUP
from discreet.releases.spread import Counted, Shares, shares_of
from discreet.table.combinations import numbered, ranked
from discreet.table.query import Query
from discreet.table.table import Column

if TYPE_CHECKING:
    from discreet.releases.frames import Form

MOST_HIDDEN = 0.5
"""Answers about a column that a larger share of the rows is published without are said to rest on assumptions."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DescribedRelease(GroupedRowsRelease):
    """A release of rows in groups, each under one description of its quasi-identifiers."""

    contents: ClassVar[Mapping[str, str]] = {
        "table": "a line for each published row; rows with one number in group have one description",
        MARGINALS: "how many rows of the original have which value of each quasi-identifier",
    }

    texts: tuple[Texts, ...]
    """Per quasi-identifier: its distinct published texts, and the index of each group's text."""
    sensitive_columns: tuple[ExactColumn, ...]
    """The published values of each sensitive attribute; beliefs are about the first unless another is named."""
    others: tuple[ExactColumn, ...]
    """The published values of each column that is published unchanged."""
    marginals: Marginals | None = None
    """How many rows have which values of each quasi-identifier, if that is published beside the descriptions."""

    if TYPE_CHECKING:  # how a format keeps its own fields

        def about(self, attribute: str | None) -> DescribedRelease:
            """Return what is published about one sensitive attribute."""

    def lookup(self) -> Lookup:
        """Return the lookup of people by descriptions."""
        return ByBoxes(self.leaves)

    @property
    def columns(self) -> list[str]:
        """The columns of the published table."""
        return [GROUP, *(attribute.name for attribute in self.attributes)]

    def tables(self, numbers: bool = True) -> dict[str, pa.Table]:
        """Return the one published table."""
        ids = pa.array(self.ids)
        if numbers:
            columns: list[Any] = [ids.take(pa.array(self.group_of))]
        else:
            columns = [pa.DictionaryArray.from_arrays(pa.array(self.group_of), ids.cast(pa.string()))]
        for texts, of_group in self.texts:
            columns.append(pa.DictionaryArray.from_arrays(pa.array(of_group[self.group_of]), pa.array(texts)))
        columns += [column_array(exact_column, numbers) for exact_column in self._exact_columns]
        beside = {} if self.marginals is None else {MARGINALS: self.marginals.table(self.quasi)}
        return {"table": pa.table(columns, names=self.columns), **beside}

    @property
    def _exact_columns(self) -> tuple[ExactColumn, ...]:
        return (*self.sensitive_columns, *self.others)

    @property
    def kept_rows(self) -> tuple[NDArray[np.int64], tuple[ExactColumn, ...]]:
        """Rows are known by their group."""
        return self.group_of.astype(np.int64), self.others

    @property
    def values(self) -> NDArray[Any]:
        """The sensitive values, in the order of the columns of ``counts``; one empty value if nothing is sensitive."""
        return self.sensitive_columns[0].values if self.sensitive_columns else np.array([""], object)

    @property
    def sensitive_codes(self) -> NDArray[np.int32]:
        """Per published row: its sensitive value, as an index into ``values``."""
        return self.sensitive_columns[0].codes if self.sensitive_columns else np.zeros(self.rows, np.int32)

    @cached_property
    def counts(self) -> Counts:
        """How often each sensitive value occurs in each group."""
        return Counts.of_rows(self.group_of, self.sensitive_codes, self.groups, len(self.values))

    @property
    def combined(self) -> Combined:
        """The combinations of sensitive values in each group, as its rows have them."""
        columns = [sensitive_attribute.codes for sensitive_attribute in self.sensitive_columns]
        _, first, of_row = ranked(
            numbered(
                columns, [len(sensitive_attribute.values) for sensitive_attribute in self.sensitive_columns], self.rows
            )
        )
        counts = Counts.of_rows(self.group_of, of_row, self.groups, len(first))
        return Combined(np.array([codes[first] for codes in columns], np.int64), counts)

    @cached_property
    def descriptions(self) -> Descriptions:
        """The groups as cells."""
        return Descriptions(self.quasi, self.texts, self.sizes, self.ids)

    @property
    def leaves(self) -> Descriptions:
        """The cells that people are in, with their numbers of persons: the groups, unless rows may be elsewhere."""
        return self.descriptions

    @property
    def expected(self) -> Counts:
        """How often each sensitive value occurs, or is expected to occur, among the persons of each group."""
        return self.counts

    def description(self, group: int) -> dict[str, str]:
        """Return the published quasi-identifiers of the group at an index of ``ids``."""
        return self.descriptions.text(group)

    def drawn_columns(self, random: np.random.Generator) -> tuple[ExactColumn, ...]:
        """The published rows, each with values of the quasi-identifiers from the description of its person's group."""
        from discreet.releases.drawn import described_values

        of_person = self.drawn_groups(random)
        quasi = (
            described_values(attribute, regions, texts.of_cell[of_person], self.counted_rows(axis), random)
            for axis, (attribute, regions, texts) in enumerate(
                zip(self.quasi, self.descriptions.regions, self.texts, strict=True)
            )
        )
        return (*quasi, *self._exact_columns)

    def drawn_groups(self, random: np.random.Generator) -> NDArray[np.integer]:
        """The group of the person of each published row; drawn, where rows may be elsewhere than their persons."""
        return self.group_of

    def beliefs(
        self, points: Mapping[str, ArrayLike], withheld: ArrayLike | None = None, *, attribute: str | None = None
    ) -> NDArray[np.float64]:
        """Return the beliefs of an adversary who knows these quasi-identifiers and matches them with the descriptions.

        Every row of every group whose description admits a point is equally likely to be its row.
        """
        asked = self if attribute is None else self.about(attribute)
        return shares(mixed(asked.descriptions, columns_at(asked.quasi, points), asked.expected), withheld)

    @cached_property
    def cells(self) -> Cells:
        """The groups as estimates use them: those with the same description merged."""
        return collapse(self)

    def typed_tables(self, form: Form) -> dict[str, pa.Table]:
        """The one table of people; counts of whole columns are no frame of people."""
        return {name: table for name, table in super().typed_tables(form).items() if name != MARGINALS}

    @cached_property
    def even_shares(self) -> list[Shares]:
        """Per quasi-identifier, the function for the shares of its texts in which rows are spread evenly."""
        return [shares_of(*each) for each in zip(self.quasi, self.descriptions.regions, strict=True)]

    @cached_property
    def fitted_shares(self) -> list[Shares]:
        """The same where rows are spread as the counts of whole columns say."""
        found = list(self.even_shares)
        for axis, (attribute, regions) in enumerate(zip(self.quasi, self.descriptions.regions, strict=True)):
            if (counted := self.counted_rows(axis)) is not None:
                found[axis] = shares_of(attribute, regions, counted)
        return found

    def counted_rows(self, axis: int) -> Counted | None:
        """The counts of a quasi-identifier in the whole table, and the rows under its texts; None if it has none."""
        if self.marginals is None or not self.marginals.cells[axis]:
            return None
        regions = self.marginals.regions(axis, self.quasi[axis])
        rows = np.bincount(self.cells.texts[axis], self.cells.counts.sizes, len(self.texts[axis].texts))
        return Counted(regions, self.marginals.counts[axis], rows.astype(np.float64))

    def contingency(self, column: Column, *, spread: bool = True) -> NDArray[np.float64]:
        """Count rows by the values that their descriptions admit (see ``Release.contingency``)."""
        return contingency(self, column, spread)

    def known_values(self, name: str) -> NDArray[Any]:
        """Return the values of a column, in their order: those published unchanged, else all that its texts admit.

        Raises an error for numbers that are not whole and have no stated step: their texts only state intervals.
        """
        rest = [attribute for attribute in self.attributes if attribute.role != "quasi"]
        for attribute, exact_column in zip(rest, self._exact_columns, strict=True):
            if attribute.name == name:
                return np.asarray(exact_column.values)
        at = next(at for at, attribute in enumerate(self.quasi) if attribute.name == name)
        return values_within(self.quasi[at], self.descriptions.regions[at])

    def _estimates(self, queries: Sequence[Query], estimator: str) -> NDArray[np.float64]:
        """Estimate how many rows satisfy each query, with the rows of a group spread over its box.

        `discreet.releases.box_estimate` defines the share of a box that a query covers; withheld rows are not
        estimated.
        """
        return estimates(self, queries, evenly=estimator == "even")

    def certain_bounds(self, queries: Sequence[Query]) -> NDArray[np.float64]:
        """Return the rows whose descriptions lie within the conditions of each query, and of those that meet them."""
        from discreet.releases.box_bounds import bounds

        return bounds(self, queries)

    @cached_property
    def hidden_shares(self) -> list[float]:
        """Per quasi-identifier, the share of the published rows in which it is ``*``."""
        rows = zip(self.descriptions.regions, self.texts, strict=True)
        return [float(regions.whole[of.of_cell][self.group_of].mean()) if self.rows else 0.0 for regions, of in rows]

    def notes_on(self, names: Sequence[str]) -> tuple[str, ...]:
        """Sentences on columns that most rows are published without."""
        return tuple(
            f"column {attribute.name!r} is * in {percent(share)} of rows; how its values are spread there is assumed"
            for attribute, share in zip(self.quasi, self.hidden_shares, strict=True)
            if attribute.name in names and share > MOST_HIDDEN
        )

    def standard_errors(self, queries: Sequence[Query]) -> NDArray[np.float64] | None:
        """Return the standard error of each estimate, if the release says how far counts of its boxes are off."""
        if self.marginals is None or self.marginals.misfit is None:
            return None
        return standard_errors(self, queries, self.marginals.misfit)

    @property
    def estimators(self) -> Mapping[str, str]:
        """Evenly spread rows, and fitted ones where there are counts to fit them to."""
        return EVEN if self.marginals is None else FITTED | EVEN
