"""The table that schemes and audits work on: coded columns, each with a role and a kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.options import brief, checked, several
from discreet.table.date_numbers import Meaning, Notation, meaning_of, written
from discreet.table.fit import Fit
from discreet.table.floors import cells_in
from discreet.table.hierarchy import Hierarchy
from discreet.table.texts import MISSING, near

if TYPE_CHECKING:
    from discreet.table.notes import Note

Kind = Literal["numeric", "ordinal", "categorical"]


@dataclass(frozen=True)
class Derived:
    """Where the attribute "has this value" comes from, if persons may have several values of an attribute."""

    attribute: str
    value: str

    @property
    def name(self) -> str:
        """The name of the derived attribute.

        >>> Derived("diagnosis", "asthma").name
        'diagnosis_asthma'
        """
        return f"{self.attribute}_{self.value}"


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute, dictionary coded: the value of row ``r`` is ``values[codes[r]]``.

    ``values`` are distinct, in the order of the kind: ascending numbers (numeric), declared order (ordinal), the leaves
    of ``hierarchy`` in pre-order (categorical; the hierarchy is flat if none was given). A numeric or ordinal attribute
    may treat missing as a value of its own: then ``missing`` is 0, the code below all others, and ``values[0]`` is NaN
    (numeric) or the text ``(missing)`` (ordinal). With a hierarchy, codes are ranks of its leaves, whatever the kind.

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
    """Whether the user declared the values (as leaves of a hierarchy, or as ordered categories). Only then are values
    public that do not occur in any row."""
    declared_domain: bool = False
    """Whether the user declared the domain; otherwise it is the observed range."""
    notation: Notation = "number"
    """How the numbers of a numeric attribute are written: dates are numbers too."""
    derived: Derived | None = None
    """The attribute and the value that it stands for, if it says who has which value of a multi-valued one."""
    recipe: Mapping[str, Any] | None = None
    """The recipe that its hierarchy follows from, if it has one."""
    floor: str | None = None
    """The smallest detail in which it is published, if that was given: see `discreet.table.floors`."""
    fit: Fit | None = None
    """What was done to its numbers, if anything: see `discreet.table.fit`."""
    weight: float = 1.0
    """How much its loss counts among those of the quasi-identifiers: see `discreet.table.spared`."""

    @property
    def meaning(self) -> Meaning:
        """The kind as users know it, in which dates differ from numbers."""
        return meaning_of(self.kind, self.notation)

    @property
    def points(self) -> NDArray[Any]:
        """The values as users know them: of cells their first numbers."""
        cells = cells_in(self.notation)
        return self.values if cells is None else cells.first(self.values)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The values as text: whole numbers without a decimal point, missing as ``(missing)``."""
        if self.kind != "numeric":
            return tuple(self.values.tolist())
        return tuple(
            MISSING if code == self.missing else written(value, self.notation)
            for code, value in enumerate(self.values.tolist())
        )

    def __repr__(self) -> str:
        """Show name, kind and size, not the values."""
        return f"Column({self.name!r}, {self.meaning}, {len(self.values)} values, {len(self.codes)} rows)"


@dataclass(frozen=True, eq=False)
class Table:
    """Rows about persons: quasi-identifiers, sensitive attributes, and other columns that are published unchanged.

    Each row is a person, unless ``person`` is given. Schemes that protect only one sensitive attribute refuse a table
    with several. A single column may be given for ``sensitive``.

    >>> sex = Column("sex", "ordinal", np.array([0, 1, 0], np.int32), np.array(["f", "m"], object))
    >>> Table(3, (), sex).prior_counts.tolist()
    [2, 1]
    """

    rows: int
    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    other: tuple[Column, ...] = ()
    unusable: NDArray[np.int64] | None = None
    """The rows that must be withheld (missing numbers under the policy ``withhold``), ascending; None if there are
    none. They are counted among the rows of the table."""
    lacking: Mapping[str, int] = field(default_factory=dict)
    """Per column that causes rows to be withheld: how many rows miss a number in it."""
    notes: tuple[Note, ...] = ()
    """Notes on columns that may have been read with the wrong kind."""
    person: NDArray[np.int32] | None = None
    """Per row: the number of its person, from 0 without gaps; None if every row is a different person."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """What was said to read the source, for releases to record, see ``TableSpec.recorded``."""
    unseen: tuple[str, ...] = ()
    """The marks of missing values in ``reading`` that no cell of the columns holds."""

    def __post_init__(self) -> None:
        """Check that the columns fit together."""
        given: object = self.sensitive
        if given is None or isinstance(given, Column):
            object.__setattr__(self, "sensitive", () if given is None else (given,))
        hints = {"rows": int, **dict.fromkeys(("quasi", "sensitive", "other"), Sequence[Column])}
        for name, hint in hints.items():
            value = checked(name, getattr(self, name), hint, "let discreet.read make the table")
            object.__setattr__(self, name, value)
        if self.person is not None and len(self.person) != self.rows:
            raise DiscreetError(
                f"{len(self.person):,} rows have a person, but the table has {self.rows:,} rows; give every row its "
                "person"
            )
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
        return (*self.quasi, *self.sensitive, *self.other)

    @property
    def sensitive_attribute(self) -> Column | None:
        """The sensitive attribute, the first if there are several; None if there is none."""
        return self.sensitive[0] if self.sensitive else None

    @property
    def persons(self) -> int:
        """How many persons the rows are about."""
        return self.rows if self.person is None else int(self.person.max(initial=-1)) + 1

    @property
    def quasi_names(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers, in order."""
        return tuple(column.name for column in self.quasi)

    @property
    def sensitive_codes(self) -> NDArray[np.int32]:
        """The code of every row's (first) sensitive value; zeros if there is no sensitive attribute."""
        return (
            np.zeros(self.rows, dtype=np.int32) if self.sensitive_attribute is None else self.sensitive_attribute.codes
        )

    @property
    def prior_counts(self) -> NDArray[np.int64]:
        """How often every sensitive value occurs in the whole table, including rows that are withheld later."""
        values = 1 if self.sensitive_attribute is None else len(self.sensitive_attribute.values)
        return np.bincount(self.sensitive_codes, minlength=values).astype(np.int64)

    def reordered(self, order: NDArray[np.int64]) -> Table:
        """Return the table with its rows in another order, or some of them; persons are numbered as they appear."""

        def taken(columns: tuple[Column, ...]) -> tuple[Column, ...]:
            return tuple(replace(column, codes=column.codes[order]) for column in columns)

        person, unusable = self.person, self.unusable
        if person is not None:
            _, first, place = np.unique(person[order], return_index=True, return_inverse=True)
            person = np.argsort(np.argsort(first))[place].astype(np.int32)
        if unusable is not None:
            unusable = np.flatnonzero(np.isin(order, unusable))
        quasi, sensitive, other = map(taken, (self.quasi, self.sensitive, self.other))
        return replace(
            self, rows=len(order), quasi=quasi, sensitive=sensitive, other=other, person=person, unusable=unusable
        )

    def column(self, name: str) -> Column:
        """Return the column with this name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise DiscreetError(
            f"there is no column {name!r} in the table; {near(name, [column.name for column in self.columns])}"
        )

    def __repr__(self) -> str:
        """Show one line per column: its role, kind and size."""
        roles = ["quasi"] * len(self.quasi) + ["sensitive"] * len(self.sensitive) + ["other"] * len(self.other)
        width = max((len(column.name) for column in self.columns), default=0)
        about = "" if self.person is None else f" about {self.persons:,} persons"
        lines = [f"Table of {self.rows:,} rows{about}"]
        for role, column in zip(roles, self.columns, strict=True):
            line = f"  {role:<9}  {column.name:<{width}}  {column.meaning:<11}  {len(column.values):,} values"
            if column.domain is not None:
                line += " in " + " to ".join(written(end, column.notation) for end in column.domain)
            if column.hierarchy is not None and column.hierarchy.height > 1:
                line += f", hierarchy of height {column.hierarchy.height}"
            lines.append(line)
        if self.unusable is not None:
            lines.append(f"  {len(self.unusable):,} rows to be withheld for missing values")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


def as_name(given: object, key: str = "") -> str:
    """Return the argument if it is a text, which may be the name of a column; refuse anything else.

    ``key`` names the argument in the refusal.
    """
    if not isinstance(given, str):
        example = f", as in {argument(key, ['age', 'sex'])}" if key else ""
        raise DiscreetError(f"{brief(given)} is not a column name; name columns by text{example}")
    return given


def as_names(given: Any, key: str = "") -> tuple[str, ...]:
    """Return one or several names of columns as a tuple; refuse anything else.

    >>> as_names("age"), as_names(["age", "sex"])
    (('age',), ('age', 'sex'))
    """
    return tuple(as_name(name, key) for name in several(given))


def as_table(given: object) -> Table:
    """Return the argument if it is a Table; refuse anything else, whose columns have no roles yet."""
    if not isinstance(given, Table):
        raise DiscreetError(
            f"a table with roles is needed here, not {type(given).__name__}; read it first, as in "
            "discreet.read(source, quasi=['age'], sensitive='disease')"
        )
    return given
