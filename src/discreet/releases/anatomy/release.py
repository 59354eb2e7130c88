"""An anatomy release: quasi-identifiers as they are, sensitive values counted per group, in two tables.

``table`` holds the quasi-identifiers of every row and the number of its group; ``sensitive`` holds, for every group,
how many of its rows have which sensitive value. Nothing says which row of a group has which of its values: the rows
are shuffled, the counts are listed by group and value, and the numbers of the groups are drawn anew. The belief about
a sensitive value is its share in the group. Whether someone is in the table is not hidden at all.

The format is that of Anatomy (Xiao and Tao, VLDB 2006); with one group it is the Baseline of "Publishing Microdata
with a Robust Privacy Guarantee" (PVLDB 2012).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.principles.counts import Counts
from discreet.principles.principle import Principle
from discreet.randomness import permutation
from discreet.releases.attributes import Attribute, as_shown, describe
from discreet.releases.columns import ExactColumn, column_array, exact_column
from discreet.releases.generalized.release import GROUP, check_partition, numbered_anew
from discreet.releases.labels import braces, interval
from discreet.releases.lookup import Lookup
from discreet.releases.release import Release, new_manifest
from discreet.table.moments import written
from discreet.table.query import Query
from discreet.table.table import Table
from discreet.table.texts import MISSING

FORMAT = "anatomy"
COUNT = "count"
ASSUMPTIONS = (
    "Every published row is a row of the original with its quasi-identifiers as they were; whoever knows someone's "
    "quasi-identifiers can tell that the person is in the table. Only the sensitive value is protected.",
    "Every sensitive value of a group's rows is counted in the group; which row has which value is not published.",
    "The order of the rows and the numbers of the groups carry no information.",
    "The promise is kept against the distribution of the sensitive attribute in the whole original, withheld rows "
    "included, by every group and by the withheld rows taken as one group.",
    "The promise covers this one release of the table, not what several releases of it say together.",
)


@dataclass(frozen=True, eq=False, repr=False)
class AnatomyRelease(Release):
    """What leaves the house, as made by a scheme (``from_groups``) or as found in a folder (``load``)."""

    format: ClassVar[str] = FORMAT
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS
    exact_quasi: ClassVar[bool] = True

    manifest: dict[str, Any]
    attributes: tuple[Attribute, ...]
    exact: tuple[ExactColumn, ...]
    """Per quasi-identifier: its distinct published values, and which one each published row holds."""
    ids: NDArray[np.int64]
    """The published number of each group."""
    group_of: NDArray[np.int32]
    """Per published row: its group, as a place in ``ids``."""
    values: NDArray[Any]
    """The sensitive values, in the order of the columns of ``counts``."""
    counts: Counts
    """How often each sensitive value occurs in each group."""
    others: tuple[ExactColumn, ...] = ()
    """Columns carried along, published beside the quasi-identifiers."""
    faults: tuple[str, ...] = ()
    """What is wrong with the files, in sentences; always empty for a release that was made here."""
    trace: NDArray[np.int32] | None = None
    """Private: the published number of every input row's group, -1 when withheld. Known to the maker, never saved."""

    # -------------------------------------------------------------------------------------------------------- making

    @classmethod
    def from_groups(
        cls,
        table: Table,
        groups: NDArray[np.int32],
        *,
        promise: Principle,
        scheme: str,
        options: Mapping[str, Any] | None = None,
        seeded: np.random.Generator | None = None,
    ) -> AnatomyRelease:
        """Publish a partition: ``groups[row]`` is any number of a group, or -1 for a row that is withheld.

        The order of rows and the numbers of groups come from the operating system, unless a ``seeded`` generator is
        given; the manifest then warns that this is an experiment.
        """
        groups = np.asarray(groups)
        check_partition(table, groups, "interval")
        check_countable(table, "an anatomy release")
        assert table.sensitive is not None, "a table without one is refused"
        places, number = numbered_anew(groups, seeded)
        published = places >= 0
        rows = np.flatnonzero(published)
        rows = rows[permutation(len(rows), seeded)]
        columns = [as_shown(column, published) for column in table.quasi]
        quasi = [describe(column, "quasi") for column in columns]
        secret = describe(as_shown(table.sensitive, None), "sensitive", True)
        attributes = (*quasi, secret, *(describe(column, "other") for column in table.other))
        manifest = new_manifest(
            FORMAT,
            scheme=scheme,
            options=options or {},
            promise=promise,
            attributes=attributes,
            rows=len(rows),
            withheld=table.rows - len(rows),
            assumptions=cls.assumed(attributes, promise),
            seeded=seeded is not None,
            groups=number,
        )
        shown = exact_column(table.sensitive, secret, rows)
        return cls(
            manifest,
            attributes,
            tuple(exact_column(column, attribute, rows) for column, attribute in zip(columns, quasi, strict=True)),
            np.arange(number),
            places[rows],
            shown.values,
            Counts.of_rows(places[rows], shown.codes, number, len(shown.values)),
            tuple(exact_column(column, None, rows) for column in table.other),
            trace=places,
        )

    @classmethod
    def load(cls, home: Path, manifest: dict[str, Any]) -> AnatomyRelease:
        """The release in a folder whose manifest has been read."""
        from discreet.releases.anatomy.load import load_anatomy

        return load_anatomy(home, manifest)

    def lookup(self) -> Lookup:
        """How people are looked up in it."""
        from discreet.releases.exact_rows import ByRows

        return ByRows(self)

    def tables(self, numbers: bool) -> dict[str, pa.Table]:
        """The published tables: ``table`` in a random order of rows, ``sensitive`` by group and value."""
        ids = pa.array(self.ids) if numbers else pa.array(self.ids).cast(pa.string())
        columns: list[Any] = [pa.DictionaryArray.from_arrays(pa.array(self.group_of), ids)]
        columns += [column_array(payload, numbers) for payload in (*self.exact, *self.others)]
        names = [GROUP, *(attribute.name for attribute in self.attributes if attribute.role != "sensitive")]
        held: list[Any] = [pa.DictionaryArray.from_arrays(pa.array(self.counts.groups), ids)]
        held += [column_array(ExactColumn(self.values, self.counts.values, self.sensitive.notation), numbers)]
        amounts = pa.array(self.counts.amounts)
        held += [amounts if numbers else amounts.cast(pa.string())]
        return {
            "table": pa.table(columns, names=names),
            "sensitive": pa.table(held, names=[GROUP, self.sensitive.name, COUNT]),
        }

    # ------------------------------------------------------------------------------------------------------- counting

    @property
    def sensitive(self) -> Attribute:
        """The sensitive attribute."""
        return next(attribute for attribute in self.attributes if attribute.role == "sensitive")

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.ids)

    @property
    def rows(self) -> int:
        """How many rows are published."""
        return len(self.group_of)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each group has."""
        return np.bincount(self.group_of, minlength=self.groups).astype(np.int64)

    def description(self, group: int) -> dict[str, str]:
        """The extent of the quasi-identifiers of the group at a place of ``ids``, to recognise it by."""
        rows = np.flatnonzero(self.group_of == group)
        return extents((attribute, of, rows) for attribute, of in zip(self.quasi, self.exact, strict=True))

    # --------------------------------------------------------------------------------------------------------- asking

    def beliefs(self, points: Mapping[str, ArrayLike], withheld: ArrayLike | None = None) -> NDArray[np.float64]:
        """What an adversary who knows these quasi-identifiers believes, having found the rows that bear them.

        ``points`` holds original values, one array per quasi-identifier. Each of the rows that bear a point is equally
        likely to be its row, and has each value as often as its group: the belief is the average over these rows. A
        point that no row bears was withheld: then the belief is the distribution of the ``withheld`` counts (in the
        order of ``values``), or NaN when these are not known.
        """
        from discreet.releases.anatomy.beliefs import beliefs_at

        return beliefs_at(self, points, withheld)

    def presence(self, points: Mapping[str, ArrayLike], *, combined: bool = False) -> NDArray[np.float64]:
        """The belief that a person with these quasi-identifiers is in the table at all, one number per point.

        Quasi-identifiers are published as they are, so presence is certain: 1 where some row bears them. Where none
        does, 0, or NaN when rows are withheld, of which nothing is known. ``combined`` changes nothing.
        """
        from discreet.releases.exact_rows import presence_of_rows

        return presence_of_rows(self, points)

    def known_values(self, name: str) -> NDArray[Any]:
        """The published values of a column, in their order."""
        if name == self.sensitive.name:
            return self.values
        own = [attribute.name for attribute in self.attributes if attribute.role != "sensitive"]
        return dict(zip(own, (*self.exact, *self.others), strict=True))[name].values

    def estimates(self, queries: Sequence[Query]) -> NDArray[np.float64]:
        """How many published rows satisfy each query: exact for the quasi-identifiers and other columns of a row, times
        the share of its group that satisfies the condition on the sensitive attribute."""
        from discreet.releases.anatomy.beliefs import expected_counts

        return expected_counts(self, queries)


def extents(columns: Iterable[tuple[Attribute, ExactColumn, NDArray[np.intp]]]) -> dict[str, str]:
    """What some lines of columns hold, in words: the smallest and largest value of ordered ones, else a few values."""
    told: dict[str, str] = {}
    for attribute, payload, lines in columns:
        held = payload.values[np.unique(payload.codes[lines])].tolist()
        known = [value for value in held if value == value]
        texts = [value if isinstance(value, str) else written(value, payload.notation) for value in known]
        texts = texts if len(texts) == len(held) else [MISSING, *texts]
        if not texts:
            continue
        few = len(texts) <= 3
        ordered = attribute.kind != "categorical" and MISSING not in texts
        told[attribute.name] = interval(texts[0], texts[-1]) if ordered else braces(texts[:3])
        if not few and not ordered:
            told[attribute.name] += f" and {len(texts) - 3:,} more"
    return told


def check_countable(table: Table, what: str) -> None:
    """Refuse a table without a sensitive attribute to count, or with one whose name the counts need."""
    if table.sensitive is None:
        raise DiscreetError(f"{what} counts the values of a sensitive attribute and the table has none")
    if table.sensitive.name == COUNT:
        raise DiscreetError(
            f"the sensitive attribute is called {COUNT!r}, like the column that a release adds; rename it"
        )
