"""A generalized release: rows in groups, each group under one description of its quasi-identifiers.

Within a group nobody can tell which row is whose: the rows are shuffled, and group numbers are drawn at random. So what
is published about a person is the group, and the belief in a sensitive value is its share in the group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.principles.counts import Counts
from discreet.principles.principle import Principle
from discreet.randomness import permutation
from discreet.releases.assumptions import KEPT_BY_GROUPS, ONE_RELEASE, SHUFFLED, TRUE_VALUES
from discreet.releases.attributes import Attribute, as_shown, describe
from discreet.releases.columns import ExactColumn, column_array, exact_column, taken
from discreet.releases.descriptions import Descriptions, Texts
from discreet.releases.folder import Home
from discreet.releases.generalized.describe import Values, exact_texts, generalize
from discreet.releases.grouped import Combined, GroupedRowsRelease
from discreet.releases.lookup import Lookup
from discreet.releases.passthrough import check_kept, check_quasi
from discreet.releases.release import new_manifest
from discreet.table.combinations import numbered, ranked
from discreet.table.query import Query
from discreet.table.table import Column, Table

if TYPE_CHECKING:
    from discreet.releases.generalized.estimate import Cells

FORMAT = "generalized"
GROUP = "group"
ASSUMPTIONS = (
    TRUE_VALUES,
    "All rows of a group have quasi-identifiers that its description admits; which row is whose is not published.",
    SHUFFLED,
    KEPT_BY_GROUPS,
    "The promise bounds what the groups say; it does not bound what the choice of these groups rather than others may "
    "tell an adversary who knows the algorithm.",
    ONE_RELEASE,
)
SIDE_BY_SIDE = (
    "What is promised about a sensitive attribute bounds what is learnt of it by whoever knows quasi-identifiers. The "
    "sensitive values of a row stand side by side: whoever also knows one of a person's may learn the others."
)
"""An assumption stated if several attributes are sensitive."""
SEVERAL_ROWS = (
    "A person may have several rows; all of them are in one group, or all are withheld. The promise is kept by the "
    "rows of every group and by its persons, each counted once for every value that any of the person's rows has, "
    "against the same counts in the whole original. It does not bound what an adversary learns who also knows how "
    "many rows a person has and how the values of a person depend on each other."
)
"""An assumption stated if a person may have several rows."""
PRESENCE = (
    "Descriptions are as narrow as possible, so that some row lies at each end of an interval. A promise about "
    "presence covers whoever knows this, and takes all tables that have these descriptions, of values that occur in "
    "the original, as equally likely. It does not bound the belief of an adversary who has other reasons to think that "
    "some combinations of values are likelier."
)
"""An assumption stated if a promise is about presence."""


@dataclass(frozen=True, eq=False, repr=False)
class GeneralizedRelease(GroupedRowsRelease):
    """The published release, as made by a scheme (``from_groups``) or as found in a folder (``load``)."""

    format: ClassVar[str] = FORMAT
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS
    about_persons: ClassVar[bool] = True
    more_tables: ClassVar[tuple[str, ...]] = ()
    """Further tables of a format built on this one."""

    manifest: dict[str, Any]
    attributes: tuple[Attribute, ...]
    texts: tuple[Texts, ...]
    """Per quasi-identifier: its distinct published texts, and the index of each group's text."""
    ids: NDArray[np.int64]
    """The published number of each group."""
    group_of: NDArray[np.int32]
    """Per published row: its group, as an index into ``ids``."""
    secrets: tuple[ExactColumn, ...]
    """The published values of each sensitive attribute; beliefs are about the first unless another is named."""
    others: tuple[ExactColumn, ...]
    faults: tuple[str, ...] = ()
    """Faults of the files, in sentences; always empty for a release that was not loaded."""
    trace: NDArray[np.int32] | None = None
    """Private: the published number of every input row's group, -1 if withheld. Known only to the maker, and never
    saved."""

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
        values: Values = "interval",
        seeded: np.random.Generator | None = None,
    ) -> Self:
        """Publish a partition: ``groups[row]`` is an arbitrary number of the row's group, or -1 to withhold the row.

        The order of rows and the numbers of groups come from the operating system's randomness, unless a ``seeded``
        generator is given; the manifest then warns that this is an experiment.
        """
        groups = np.asarray(groups)
        check_partition(table, groups, values)
        places, number = numbered_anew(groups, seeded)

        def described(column: Column) -> Texts:
            return generalize(column, places, number, values)

        return cls._of_places(
            table,
            places,
            number,
            described,
            promise=promise,
            scheme=scheme,
            options=options,
            labels=values == "label",
            seeded=seeded,
        )

    @classmethod
    def _of_places(
        cls,
        table: Table,
        places: NDArray[np.int32],
        number: int,
        described: Callable[[Column], Texts],
        *,
        promise: Principle,
        scheme: str,
        options: Mapping[str, Any] | None,
        labels: bool,
        seeded: np.random.Generator | None,
    ) -> Self:
        """Return the release whose rows have these published groups (-1: withheld), ``described`` per attribute."""
        published = places >= 0
        rows = permutation(len(places), seeded)
        if not published.all():
            rows = rows[published[rows]]
        group_of = taken(places, rows, number)
        quasi = [as_shown(column, published) for column in table.quasi]
        attributes = [describe(column, "quasi", labels) for column in quasi]
        attributes += [describe(as_shown(column, None), "sensitive", True) for column in table.sensitive]
        attributes += [describe(column, "other") for column in table.other]
        manifest = new_manifest(
            cls.format,
            scheme=scheme,
            options=options or {},
            promise=promise,
            attributes=attributes,
            rows=len(rows),
            withheld=table.rows - len(rows),
            assumptions=cls.assumed(attributes, promise, table.person is not None),
            seeded=seeded is not None,
            groups=number,
            **persons_entry(table, published),
        )
        return cls(
            manifest,
            tuple(attributes),
            tuple(described(column) for column in quasi),
            np.arange(number),
            group_of,
            tuple(
                exact_column(column, attribute, rows)
                for column, attribute in zip(table.sensitive, attributes[len(table.quasi) :], strict=False)
            ),
            tuple(exact_column(column, None, rows) for column in table.other),
            trace=places,
        )

    @classmethod
    def assumed(cls, attributes: Sequence[Attribute], promise: Principle, persons: bool = False) -> tuple[str, ...]:
        """Return the assumptions, including those that apply to some releases only."""
        always, rest = len(cls.assumptions), super().assumed(attributes, promise, persons)
        several = [attribute.role for attribute in attributes].count("sensitive") > 1
        told = [SIDE_BY_SIDE] if several else []
        told += [SEVERAL_ROWS] if persons else []
        told += [PRESENCE] if any(part.hides_presence for part in promise.parts) else []
        return (*rest[:always], *told, *rest[always:])

    # ------------------------------------------------------------------------------------------------ saving, loading

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> Self:
        """Return the release in a folder whose manifest has been read."""
        from discreet.releases.generalized.load import load_generalized

        return load_generalized(home, manifest, cls)

    def lookup(self) -> Lookup:
        """Return the lookup of people by descriptions."""
        from discreet.releases.generalized.lookup import ByBoxes

        return ByBoxes(self)

    @property
    def columns(self) -> list[str]:
        """The columns of the published table."""
        return [GROUP, *(attribute.name for attribute in self.attributes)]

    def tables(self, numbers: bool) -> dict[str, pa.Table]:
        """Return the one published table."""
        ids = pa.array(self.ids)
        if numbers:
            columns: list[Any] = [ids.take(pa.array(self.group_of))]
        else:
            columns = [pa.DictionaryArray.from_arrays(pa.array(self.group_of), ids.cast(pa.string()))]
        for texts, of_group in self.texts:
            columns.append(pa.DictionaryArray.from_arrays(pa.array(of_group[self.group_of]), pa.array(texts)))
        columns += [column_array(payload, numbers) for payload in self._payloads]
        return {"table": pa.table(columns, names=self.columns)}

    @property
    def _payloads(self) -> tuple[ExactColumn, ...]:
        return (*self.secrets, *self.others)

    # ------------------------------------------------------------------------------------------------------- counting

    @property
    def values(self) -> NDArray[Any]:
        """The sensitive values, in the order of the columns of ``counts``; one empty value if nothing is sensitive."""
        return self.secrets[0].values if self.secrets else np.array([""], object)

    @property
    def classes(self) -> NDArray[np.int32]:
        """Per published row: its sensitive value, as an index into ``values``."""
        return self.secrets[0].codes if self.secrets else np.zeros(self.rows, np.int32)

    @cached_property
    def counts(self) -> Counts:
        """How often each sensitive value occurs in each group."""
        return Counts.of_rows(self.group_of, self.classes, self.groups, len(self.values))

    @property
    def combined(self) -> Combined:
        """The combinations of sensitive values in each group, as its rows have them."""
        columns = [secret.codes for secret in self.secrets]
        _, first, of_row = ranked(numbered(columns, [len(secret.values) for secret in self.secrets], self.rows))
        counts = Counts.of_rows(self.group_of, of_row, self.groups, len(first))
        return Combined(np.array([codes[first] for codes in columns], np.int64), counts)

    def about(self, attribute: str | None) -> GeneralizedRelease:
        """Return what is published about one sensitive attribute, without the others and without kept columns."""
        at = self._place(attribute)
        attributes = (*self.quasi, self.sensitive[at])
        return replace(self, attributes=attributes, secrets=(self.secrets[at],), others=())

    @cached_property
    def descriptions(self) -> Descriptions:
        """The groups as cells."""
        return Descriptions(self.quasi, self.texts, self.sizes)

    def description(self, group: int) -> dict[str, str]:
        """Return the published quasi-identifiers of the group at an index of ``ids``."""
        return self.descriptions.text(group)

    def beliefs(
        self, points: Mapping[str, ArrayLike], withheld: ArrayLike | None = None, *, attribute: str | None = None
    ) -> NDArray[np.float64]:
        """Return the beliefs of an adversary who knows these quasi-identifiers and matches them with the descriptions.

        ``points`` contains original values, one array per quasi-identifier. Every row of every group whose description
        admits a point is equally likely to be its row. A point that no group admits was withheld: its belief is the
        distribution of the ``withheld`` counts (in the order of ``values``), or NaN if these are unknown.
        ``attribute`` names another sensitive attribute than the first; ``known_values`` tells its values.
        """
        from discreet.releases.boxes import mixtures_at, shares

        return shares(mixtures_at(self if attribute is None else self.about(attribute), points), withheld)

    def presence(self, points: Mapping[str, ArrayLike], *, combined: bool = False) -> NDArray[np.float64]:
        """Return the belief that a person with these quasi-identifiers is in the table at all, one number per point.

        The belief by a group that admits the person is its rows divided by the combinations of values that its
        description admits (see ``releases.presence``). If several groups do, the strongest belief is returned; with
        ``combined``, that by all of them together. If none does, the belief is 0, or NaN if rows are withheld, because
        nothing is known about these.
        """
        from discreet.releases.presence import presence_by_boxes

        return presence_by_boxes(self, points, combined)

    @cached_property
    def cells(self) -> Cells:
        """The groups as estimates use them: those with the same description merged."""
        from discreet.releases.generalized.estimate import collapse

        return collapse(self)

    def contingency(self, column: Column, *, spread: bool = True) -> NDArray[np.float64]:
        """Count rows by the values that their descriptions admit (see ``Release.contingency``)."""
        from discreet.releases.generalized.contingency import contingency

        return contingency(self, column, spread)

    def beside(self, name: str, known: str) -> GeneralizedRelease | None:
        """Return what is published about one sensitive attribute beside another that is known of everyone.

        Every group falls into one for each value of the known attribute in it.
        """
        names = [attribute.name for attribute in self.sensitive]
        if name == known or name not in names or known not in names:
            return None
        attribute, payload = self.sensitive[names.index(known)], self.secrets[names.index(known)]
        pairs, group_of = np.unique(
            self.group_of.astype(np.int64) * len(payload.values) + payload.codes, return_inverse=True
        )
        groups, values = np.divmod(pairs, len(payload.values))
        texts = [Texts(words, of_group[groups]) for words, of_group in self.texts]
        texts.append(Texts(exact_texts(attribute, payload), values.astype(np.int32)))
        tree = attribute.hierarchy if attribute.kind == "categorical" else None  # others are written without labels
        alone = self.about(name)
        return replace(
            alone,
            attributes=(*self.quasi, replace(attribute, role="quasi", hierarchy=tree), *alone.sensitive),
            texts=tuple(texts),
            ids=np.arange(len(pairs)),
            group_of=group_of.astype(np.int32),
            trace=None,
        )

    def known_values(self, name: str) -> NDArray[Any]:
        """Return the values of a column, in their order: those published unchanged, else all that its texts admit.

        Raises an error for numbers that are not whole, because their texts only state intervals.
        """
        from discreet.releases.generalized.estimate import values_within

        rest = [attribute for attribute in self.attributes if attribute.role != "quasi"]
        for attribute, payload in zip(rest, self._payloads, strict=True):
            if attribute.name == name:
                return np.asarray(payload.values)
        at = next(at for at, attribute in enumerate(self.quasi) if attribute.name == name)
        return values_within(self.quasi[at], self.descriptions.regions[at])

    def estimates(self, queries: Sequence[Query]) -> NDArray[np.float64]:
        """Estimate how many rows satisfy each query, with the rows of a group spread evenly over its box.

        `discreet.releases.generalized.estimate` defines the share of a box that a query covers; withheld rows are not
        estimated.
        """
        from discreet.releases.generalized.estimate import estimates

        return estimates(self, queries)


def persons_entry(table: Table, published: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the manifest entry about the persons of a table, if these may have several rows."""
    if table.person is None:
        return {}
    shown = int((np.bincount(table.person[published], minlength=table.persons) > 0).sum())
    return {"persons": {"published": shown, "withheld": table.persons - shown}}


def check_one_row_each(table: Table, format: str, several: bool = False) -> None:
    """Raise an error unless a table has one sensitive attribute, or also ``several``, and one row per person."""
    if table.secret is None:
        raise DiscreetError(f"a {format} release needs a sensitive attribute: without one there is nothing to protect")
    if len(table.sensitive) > 1 and not several:
        names = ", ".join(column.name for column in table.sensitive)
        raise DiscreetError(f"a {format} release can have one sensitive attribute, not {names}; publish one of them")
    if table.person is not None:
        raise DiscreetError(
            f"a {format} release is about persons with one row each, and the table was read with a column that tells "
            "the persons of rows; leave it out, or choose a scheme that publishes groups"
        )


def check_partition(table: Table, groups: NDArray[Any], values: str) -> None:
    """Raise an error for groups that are not a partition of the table, or that cannot be published."""
    if groups.shape != (table.rows,) or groups.dtype.kind not in "iu":
        raise DiscreetError(f"a partition needs one group number for each of the {table.rows:,} rows")
    if values not in get_args(Values):
        raise DiscreetError(f"values can be published as interval, label or set, not as {values!r}")
    if not bool((groups >= 0).any()):
        raise DiscreetError(
            "every row is withheld, so there is nothing to publish; allow less to be withheld or weaken the promise"
        )
    if table.unusable is not None and bool((groups[table.unusable] >= 0).any()):
        raise DiscreetError("rows with missing values are to be withheld, but the partition publishes some of them")
    check_kept(table)
    check_quasi(table)
    if any(column.name == GROUP for column in table.columns):
        raise DiscreetError(f"a column is called {GROUP!r}, the name of the column that a release adds; rename it")


def numbered_anew(groups: NDArray[Any], seeded: np.random.Generator | None) -> tuple[NDArray[np.int32], int]:
    """Return the groups under random published numbers, which are independent of the given ones, and their count.

    -1 stays.
    """
    places, number = dense_groups(groups)
    ids = permutation(number, seeded).astype(np.int32)
    return np.where(places < 0, np.int32(-1), ids[places]), number


def dense_groups(groups: NDArray[Any]) -> tuple[NDArray[np.int32], int]:
    """Number the groups 0, 1, 2, ... without gaps and return their count; -1 stays."""
    largest = int(groups.max())
    if largest < 4 * len(groups) + 16:
        used = np.bincount(groups[groups >= 0], minlength=largest + 1) > 0
        place = np.cumsum(used, dtype=np.int32) - np.int32(1)
        return np.where(groups < 0, np.int32(-1), place[groups]), int(used.sum())
    found, places = np.unique(groups, return_inverse=True)
    below = int((found < 0).sum())
    return np.maximum(places - below, -1).astype(np.int32), len(found) - below
