"""An anatomy release: unchanged quasi-identifiers and counts of sensitive values per group, in two tables.

``table`` contains the quasi-identifiers of every row and the number of its group; ``sensitive`` counts the sensitive
values of every group. Nothing links a row of a group to one of its values: rows, counts and the numbers of the groups
are in an order that follows from what is published (see ``releases.canonical``). The belief in a sensitive value is its
share in the group. Presence in the table is not hidden at all.

Several sensitive attributes are counted in tables of their own, ``sensitive_1``, ``sensitive_2``, ..., over the same
groups. The files stay the same whatever row of a group has which of its values, of each attribute independently of the
others. So the belief in a value is its share in the group for each attribute, also by whoever reads all tables; and as
all tables have the same groups, knowing which values go together excludes none of them for one person of a group more
than for another.

The format is that of Anatomy (Xiao and Tao, VLDB 2006); with one group it is the Baseline of "Publishing Microdata
with a Robust Privacy Guarantee" (PVLDB 2012).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.principles.counts import Counts
from discreet.releases.assumptions import COUNTED, KEPT_BY_GROUPS, ONE_RELEASE, SHUFFLED
from discreet.releases.attributes import Attribute
from discreet.releases.canonical import (
    Lines,
    content_ranks,
    group_numbers,
    line_keys,
    line_order,
    renumbered,
    taken_in,
)
from discreet.releases.columns import ExactColumn, column_array
from discreet.releases.counted import Counted, CountingRelease, check_countable, counted_in_groups, extents
from discreet.releases.exact_rows import ExactRowsRelease
from discreet.releases.folder import Home
from discreet.releases.grouped import GroupedRowsRelease, Members
from discreet.releases.partition import GROUP, PublishedRows, check_partition, dense_groups
from discreet.releases.statement import Stated, Statement
from discreet.table.query import Query
from discreet.table.table import Column, Table

FORMAT = "anatomy"
ASSUMPTIONS = (
    "Every published row is a row of the original with its quasi-identifiers as they were; whoever knows someone's "
    "quasi-identifiers can tell that the person is in the table. Only the sensitive value is protected.",
    COUNTED,
    SHUFFLED,
    KEPT_BY_GROUPS,
    ONE_RELEASE,
)


@dataclass(frozen=True, eq=False, repr=False)
class AnatomyRelease(CountingRelease, GroupedRowsRelease, ExactRowsRelease):
    """An anatomy release, made by a scheme (``from_groups``) or loaded from a folder (``load``)."""

    format: ClassVar[str] = FORMAT
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS

    manifest: dict[str, Any]
    attributes: tuple[Attribute, ...]
    exact: tuple[ExactColumn, ...]
    ids: NDArray[np.int64]
    """The published number of each group."""
    group_of: NDArray[np.int32]
    """For each published row its group, as an index into ``ids``."""
    values: NDArray[Any]
    """The sensitive values, in the order of the columns of ``counts``; of the first attribute, if there are several."""
    counts: Counts
    """How often each of them occurs in each group."""
    others: tuple[ExactColumn, ...] = ()
    faults: tuple[str, ...] = ()
    """Sentences on inconsistencies in the files; always empty for a release made in this process."""
    trace: NDArray[np.int32] | None = None
    """Private: the published number of every input row's group, -1 if withheld. Known to the publisher, never saved."""
    further: tuple[Counted, ...] = ()
    """The sensitive attributes after the first."""

    # -------------------------------------------------------------------------------------------------------- making

    @classmethod
    def from_groups(
        cls,
        table: Table,
        groups: NDArray[np.int32],
        **stated: Unpack[Stated],
    ) -> AnatomyRelease:
        """Publish a partition: ``groups[row]`` is the group of a row, as any number, or -1 if the row is withheld.

        If the groups come from a ``seeded`` generator, the manifest warns that this is an experiment.
        """
        groups = np.asarray(groups)
        check_partition(table, groups)
        check_countable(table, "an anatomy release")
        places, number = dense_groups(groups)
        rows = PublishedRows(table, places)
        group_of = places[rows.rows]
        first, *further = counted_in_groups(group_of, number, rows.secrets)
        return cls(
            rows.manifest(cls, Statement(**stated), groups=number),
            rows.attributes,
            rows.exact,
            np.arange(number),
            group_of,
            *first,
            rows.others,
            trace=places,
            further=tuple(further),
        ).in_order()

    def in_order(self) -> AnatomyRelease:
        """Return the same release with its rows and the numbers of its groups in canonical order."""
        keys = line_keys((*self.exact, *self.others), self.rows)
        contents = [Lines(self.group_of, keys), *self.counted_lines]
        numbers = group_numbers(content_ranks(self.groups, contents))
        group_of = renumbered(numbers, self.group_of)
        order = line_order(group_of, keys)
        if order is None and bool((group_of == self.group_of).all()):
            return self
        first, *further = self.counted_by(numbers)
        return replace(
            self,
            exact=taken_in(order, self.exact),
            others=taken_in(order, self.others),
            group_of=group_of if order is None else group_of[order],
            values=first.values,
            counts=first.counts,
            further=tuple(further),
            trace=renumbered(numbers, self.trace),
        )

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> AnatomyRelease:
        """Load the release in a folder whose manifest has been read."""
        from discreet.releases.anatomy.load import load_anatomy

        return load_anatomy(home, manifest)

    def tables(self, numbers: bool) -> dict[str, pa.Table]:
        """The published tables: ``table`` with the rows, and those of sensitive values."""
        ids = pa.array(self.ids) if numbers else pa.array(self.ids).cast(pa.string())
        columns: list[Any] = [pa.DictionaryArray.from_arrays(pa.array(self.group_of), ids)]
        columns += [column_array(payload, numbers) for payload in self.unchanged.values()]
        return {"table": pa.table(columns, names=[GROUP, *self.unchanged]), **self.sensitive_tables(numbers)}

    # ------------------------------------------------------------------------------------------------------- counting

    def _with(self, attributes: tuple[Attribute, ...], at: int) -> Self:
        values, counts = self.counted[at]
        return replace(self, attributes=attributes, values=values, counts=counts, further=())

    def description(self, group: int) -> dict[str, str]:
        """The extent of each quasi-identifier in the group at an index of ``ids``, so that readers can recognise it."""
        rows = np.flatnonzero(self.group_of == group)
        return extents((attribute, of, rows) for attribute, of in zip(self.quasi, self.exact, strict=True))

    # --------------------------------------------------------------------------------------------------------- asking

    def beliefs(
        self, points: Mapping[str, ArrayLike], withheld: ArrayLike | None = None, *, attribute: str | None = None
    ) -> NDArray[np.float64]:
        """An adversary's beliefs in each sensitive value of a person with these quasi-identifiers.

        ``points`` contains original values, one array per quasi-identifier. Each row with the values of a point is
        equally likely to be the person's, and the belief in a value, given the row, is the value's share in the row's
        group; the result is the mean over these rows. If no row has the values, the person was withheld: then the
        belief is the distribution of the ``withheld`` counts (in the order of ``values``), or NaN if these are not
        known. ``attribute`` names another sensitive attribute than the first.
        """
        from discreet.releases.anatomy.beliefs import beliefs_at

        return beliefs_at(self.about(attribute), points, withheld)

    def certain_groups(self, people: Sequence[Column]) -> NDArray[np.int64]:
        """The group in which all rows with a person's quasi-identifiers are; -1 if there are several or none."""
        from discreet.releases.anatomy.beliefs import certain_groups

        return certain_groups(self, people)

    def members(self, people: Sequence[Column], numbers: NDArray[np.int64]) -> Members:
        """The people with the quasi-identifiers of each row, in its group, as many as there are rows."""
        from discreet.releases.anatomy.beliefs import members

        return members(self, people)

    def contingency(self, column: Column, *, spread: bool = True) -> NDArray[np.float64]:
        """Count each row with the shares of the sensitive values in its group (see ``Release.contingency``)."""
        from discreet.releases.anatomy.beliefs import contingency

        return contingency(self, column)

    def known_values(self, name: str) -> NDArray[Any]:
        """The published values of a column, in their order."""
        values = self.sensitive_values(name)
        return self.unchanged[name].values if values is None else values

    def estimates(self, queries: Sequence[Query]) -> NDArray[np.float64]:
        """The expected number of published rows that satisfy each query.

        Conditions on quasi-identifiers and kept columns are evaluated exactly; each row that satisfies them counts with
        the share of its group that satisfies the condition on the sensitive attribute. Of several sensitive attributes
        the shares are multiplied, as if they were independent within the group.
        """
        from discreet.releases.anatomy.beliefs import expected_counts

        return expected_counts(self, queries)
