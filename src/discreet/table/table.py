"""The table as algorithms see it: coded columns with a role and a kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.table.hierarchy import Hierarchy
from discreet.table.texts import MISSING, near, number_text

Kind = Literal["numeric", "ordinal", "categorical"]


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute, dictionary coded: row ``r`` holds ``values[codes[r]]``.

    ``values`` are distinct and in the order that belongs to the kind: ascending numbers (numeric), declared order
    (ordinal), the leaves of ``hierarchy`` in pre-order (categorical; the hierarchy is flat when none was given).
    A numeric or ordinal attribute may hold missing values as a value of their own: then ``missing`` is 0, the code
    that stands before the smallest one, and ``values[0]`` is NaN (numeric) or the text ``(missing)`` (ordinal).
    Where there is a hierarchy, codes are ranks of its leaves, whatever the kind.

    >>> Column("sex", "ordinal", np.array([0, 1, 0], np.int32), np.array(["f", "m"], object))
    Column('sex', ordinal, 2 values, 3 rows)
    """

    name: str
    kind: Kind
    codes: NDArray[np.int32]
    values: NDArray[Any]
    hierarchy: Hierarchy | None = None
    domain: tuple[float, float] | None = None
    missing: int | None = None
    declared_values: bool = False
    """Whether the user declared the values (the leaves of a hierarchy, the order of categories) rather than rows: only
    then are values public that no row shows."""
    declared_domain: bool = False
    """Whether the user declared the domain; else it is what was observed."""

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The values as they are written: whole numbers without a decimal point, missing as ``(missing)``."""
        if self.kind != "numeric":
            return tuple(self.values.tolist())
        texts = [number_text(value) for value in self.values.tolist()]
        if self.missing is not None:
            texts[self.missing] = MISSING
        return tuple(texts)

    def __repr__(self) -> str:
        """Name, kind and size, not the values."""
        return f"Column({self.name!r}, {self.kind}, {len(self.values)} values, {len(self.codes)} rows)"


@dataclass(frozen=True, eq=False)
class Table:
    """One row per person: quasi-identifiers, sensitive attributes, and what else is to be carried along.

    Where several attributes are sensitive, ``sensitive`` is the first and ``also_sensitive`` are the others; what
    protects one attribute refuses such a table.

    >>> sex = Column("sex", "ordinal", np.array([0, 1, 0], np.int32), np.array(["f", "m"], object))
    >>> Table(3, (), sex).prior_counts.tolist()
    [2, 1]
    """

    rows: int
    quasi: tuple[Column, ...]
    sensitive: Column | None
    other: tuple[Column, ...] = ()
    unusable: NDArray[np.int64] | None = None
    """Input rows that must be withheld (missing values under the policy ``withhold``), ascending, None when there are
    none; they are rows of the table like any other."""
    also_sensitive: tuple[Column, ...] = ()
    """The sensitive attributes besides the first."""

    def __post_init__(self) -> None:
        """See that the columns fit together."""
        if self.also_sensitive and self.sensitive is None:
            raise DiscreetError("a table without a sensitive attribute has no others either; name the first")
        names = [column.name for column in self.columns]
        for column in self.columns:
            if len(column.codes) != self.rows:
                raise DiscreetError(
                    f"column {column.name!r} has {len(column.codes):,} rows where the table has {self.rows:,}; "
                    "give every column as many"
                )
            if names.count(column.name) > 1:
                raise DiscreetError(f"column {column.name!r} is in the table twice; give it one role")

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns: quasi-identifiers, sensitive attributes, others."""
        return (*self.quasi, *self.all_sensitive, *self.other)

    @property
    def all_sensitive(self) -> tuple[Column, ...]:
        """The sensitive attributes, in order; none, or one, or several."""
        return () if self.sensitive is None else (self.sensitive, *self.also_sensitive)

    @property
    def quasi_names(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers, in order."""
        return tuple(column.name for column in self.quasi)

    @property
    def classes(self) -> NDArray[np.int32]:
        """The code of the sensitive value of every row; zeros when there is no sensitive attribute."""
        return np.zeros(self.rows, dtype=np.int32) if self.sensitive is None else self.sensitive.codes

    @property
    def prior_counts(self) -> NDArray[np.int64]:
        """How often every sensitive value occurs in the whole table, also those that are withheld later."""
        values = 1 if self.sensitive is None else len(self.sensitive.values)
        return np.bincount(self.classes, minlength=values).astype(np.int64)

    def column(self, name: str) -> Column:
        """The column of that name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise DiscreetError(
            f"there is no column {name!r} in the table; {near(name, [column.name for column in self.columns])}"
        )

    def __repr__(self) -> str:
        """One line per column: its role, kind and extent."""
        roles = ["quasi"] * len(self.quasi) + ["sensitive"] * len(self.all_sensitive) + ["other"] * len(self.other)
        width = max((len(column.name) for column in self.columns), default=0)
        lines = [f"Table of {self.rows:,} rows"]
        for role, column in zip(roles, self.columns, strict=True):
            line = f"  {role:<9}  {column.name:<{width}}  {column.kind:<11}  {len(column.values):,} values"
            if column.domain is not None:
                line += f" in {number_text(column.domain[0])} to {number_text(column.domain[1])}"
            if column.hierarchy is not None and column.hierarchy.height > 1:
                line += f", hierarchy of height {column.hierarchy.height}"
            lines.append(line)
        if self.unusable is not None:
            lines.append(f"  {len(self.unusable):,} rows to be withheld for missing values")
        return "\n".join(lines)


def as_table(given: object) -> Table:
    """What is given, if it is a table; columns of anything else have no roles yet."""
    if not isinstance(given, Table):
        raise DiscreetError(
            f"a table with roles is needed here, not {type(given).__name__}; read it first, as in "
            "discreet.read(source, quasi=['age'], sensitive='disease')"
        )
    return given
