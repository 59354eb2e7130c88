"""What formats share that publish some rows of a table, as a rule in groups: the rows, their columns, the manifest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.releases.attributes import Attribute, as_shown, describe
from discreet.releases.columns import ExactColumn, exact_column
from discreet.releases.descriptions import Texts
from discreet.releases.labels import told
from discreet.releases.passthrough import check_kept, check_quasi
from discreet.releases.release import Release, new_manifest
from discreet.releases.statement import Statement
from discreet.table.combinations import ranks
from discreet.table.table import Column, Table

GROUP, PARENT = "group", "parent"
"""The columns that releases add: the number of a row's group and, of groups in a tree, that of the group above."""


@dataclass(frozen=True, eq=False)
class PublishedRows:
    """The rows of a table that a release publishes, in the order of the table, and what its manifest says of them."""

    table: Table
    places: NDArray[np.int32]
    """Per row of the table: a number that is not negative, such as its group, or -1 if it is withheld."""
    labels: bool = False
    """Whether numbers and ordered values may be described by the labels of a hierarchy."""
    all_public: bool = False
    """Whether the values and ends of quasi-identifiers are public even where no published row shows them."""

    @classmethod
    def of_groups(cls, table: Table, groups: ArrayLike, labels: bool = False) -> PublishedRows:
        """Return the rows of a partition, given any number of each row's group, -1 to withhold the row."""
        given = np.asarray(groups)
        check_partition(table, given)
        return cls(table, dense_groups(given)[0], labels)

    @cached_property
    def published(self) -> NDArray[np.bool_]:
        """Which rows of the table are published."""
        return self.places >= 0

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """The published rows."""
        return np.flatnonzero(self.published)

    @property
    def group_of(self) -> NDArray[np.int32]:
        """The group of each published row."""
        return self.places[self.rows]

    @cached_property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.places.max(initial=-1)) + 1

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The quasi-identifiers, without what only withheld rows would show."""
        return tuple(as_shown(column, None if self.all_public else self.published) for column in self.table.quasi)

    @cached_property
    def quasi(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers as the manifest describes them."""
        return tuple(describe(column, "quasi", self.labels) for column in self.columns)

    @cached_property
    def sensitive(self) -> tuple[Attribute, ...]:
        """The sensitive attributes as the manifest describes them."""
        return tuple(describe(as_shown(column, None), "sensitive", True) for column in self.table.sensitive)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """All attributes as the manifest describes them."""
        return (*self.quasi, *self.sensitive, *(describe(column, "other") for column in self.table.other))

    @property
    def exact(self) -> tuple[ExactColumn, ...]:
        """The published quasi-identifiers as they were."""
        return tuple(exact_column(*both, self.rows) for both in zip(self.columns, self.quasi, strict=True))

    @property
    def sensitive_columns(self) -> tuple[ExactColumn, ...]:
        """The published sensitive values."""
        return tuple(exact_column(*both, self.rows) for both in zip(self.table.sensitive, self.sensitive, strict=True))

    @property
    def others(self) -> tuple[ExactColumn, ...]:
        """The published values of kept columns."""
        return tuple(exact_column(column, None, self.rows) for column in self.table.other)

    def described_by(self, texts: Sequence[Texts]) -> tuple[Attribute, ...]:
        """Return all attributes as the manifest describes them, quasi-identifiers published with these texts."""
        quasi = (
            each.naming(told(of.texts, each.kind == "ordinal")) for each, of in zip(self.quasi, texts, strict=True)
        )
        return (*quasi, *self.attributes[len(self.quasi) :])

    def manifest(
        self, kind: type[Release], statement: Statement, attributes: tuple[Attribute, ...] | None = None, **more: Any
    ) -> dict[str, Any]:
        """Return the manifest of a release of a format; ``more`` are the entries that the format adds."""
        attributes = self.attributes if attributes is None else attributes
        person = self.table.person if kind.about_persons else None
        if person is not None:  # who may have several rows
            shown = int((np.bincount(person[self.published], minlength=self.table.persons) > 0).sum())
            more["persons"] = {"published": shown, "withheld": self.table.persons - shown}
        return new_manifest(
            kind.format,
            statement,
            attributes=attributes,
            rows=len(self.rows),
            withheld=self.table.rows - len(self.rows),
            assumptions=kind.assumed(attributes, statement.promise, person is not None, statement.options),
            reading=self.table.reading,
            **more,
        )


def check_one_row_each(table: Table, format: str, several: bool = False) -> None:
    """Raise an error unless a table has one sensitive attribute, or also ``several``, and one row per person."""
    if table.sensitive_attribute is None:
        raise DiscreetError(f"a {format} release needs a sensitive attribute: without one there is nothing to protect")
    if len(table.sensitive) > 1 and not several:
        names = ", ".join(column.name for column in table.sensitive)
        raise DiscreetError(f"a {format} release can have one sensitive attribute, not {names}; publish one of them")
    if table.person is not None:
        raise DiscreetError(
            f"a {format} release is about persons with one row each, and the table was read with a column that tells "
            "the persons of rows; leave it out, or choose a scheme that publishes groups"
        )


def check_partition(table: Table, groups: NDArray[Any]) -> None:
    """Raise an error for groups that are not a partition of the table, or that cannot be published."""
    if groups.shape != (table.rows,) or groups.dtype.kind not in "iu":
        raise DiscreetError(f"a partition needs one group number for each of the {table.rows:,} rows")
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


def dense_groups(groups: NDArray[Any]) -> tuple[NDArray[np.int32], int]:
    """Number the groups 0, 1, 2, ... without gaps and return their count; -1 stays."""
    places, kept = np.full(len(groups), -1, np.int32), groups >= 0
    places[kept] = ranks(groups[kept])
    return places, int(places.max(initial=-1)) + 1
