"""Attributes of which a person may have several values: each value becomes an attribute of its own, yes or no.

This is the bitmap transformation of "CODIP" (Definition 2). It loses nothing: the derived attributes say who has which
values. A person without any of them is one with an empty cell, which is not a missing one.

The values of a person come from one cell with a separator, from a list (Parquet, Arrow, pandas, polars), or from those
rows of a second table that have the person's identifier.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table.layout import Layout
from discreet.table.persons import meant
from discreet.table.raw_column import RawColumn
from discreet.table.sources import as_source
from discreet.table.table import Derived

MOST_VALUES = 200
"""The largest number of different values: each becomes an attribute about which promises are kept."""
HAS, HAS_NOT = "yes", "no"


@dataclass(frozen=True, eq=False)
class Holdings:
    """Who has which value of an attribute: pairs of a row and a value, in any order, possibly repeated."""

    attribute: str
    rows: int
    row: NDArray[np.int64]
    value: NDArray[np.int64]
    values: tuple[str, ...]

    def columns(self) -> Iterator[tuple[Derived, RawColumn]]:
        """The derived attributes, in the order of their names."""
        if not self.values:
            raise DiscreetError(
                f"column {self.attribute!r} lists no value in any row, so there is nothing to protect; leave it out"
            )
        if len(self.values) > MOST_VALUES:
            raise DiscreetError(
                f"column {self.attribute!r} lists {len(self.values):,} different values, each of which would become an "
                f"attribute of its own; group them into at most {MOST_VALUES}"
            )
        for number in sorted(range(len(self.values)), key=self.values.__getitem__):
            has = np.zeros(self.rows, np.int32)
            has[self.row[self.value == number]] = 1
            derived = Derived(self.attribute, self.values[number])
            if has.all():  # everyone has it: a coded column has no value that does not occur
                yield derived, RawColumn(derived.name, has - 1, pa.array([HAS]), None, categories=True)
            else:
                yield derived, RawColumn(derived.name, has, pa.array([HAS_NOT, HAS]), None, categories=True)


def _from_cells(column: RawColumn, separator: str | None, marks: Collection[str] = ()) -> Holdings:
    """What the cells of a column list: texts with a separator, or lists; ``marks`` among them are no values."""
    cells: Sequence[Sequence[str]]
    if column.lists is not None:
        cells = column.lists
    elif not separator:
        raise DiscreetError(
            f"column {column.name!r} holds single values, not lists; name what separates several values in a cell, as "
            f"in {argument('lists', {column.name: ';'})}"
        )
    else:
        no_values = {"", *marks}
        cells = [
            [part.strip() for part in text.split(separator) if part.strip() not in no_values] for text in column.texts
        ]
    # the last is the cell of -1, an empty one
    lists = pa.array([*map(list, cells), []], pa.list_(pa.string())).take(pa.array(column.codes % (len(cells) + 1)))
    listed = pc.list_flatten(lists).dictionary_encode()
    row, value = (array.to_numpy().astype(np.int64) for array in (pc.list_parent_indices(lists), listed.indices))
    return Holdings(column.name, len(column.codes), row, value, tuple(listed.dictionary.to_pylist()))


def _from_rows(person: RawColumn, other_person: RawColumn, value: RawColumn, source: str) -> Holdings:
    """What the rows of a second table list, for the persons of the first; ``source`` is the second one's name."""
    rows = len(person.codes)
    distinct: dict[str, int] = {}
    codes = [
        np.array([*(distinct.setdefault(text, len(distinct)) for text in column.texts), -1], np.int32)[column.codes]
        for column in (person, other_person)
    ]
    numbers = meant(RawColumn(person.name, np.concatenate(codes), pa.array(list(distinct), pa.string()), None))
    if bool((numbers[:rows] < 0).any()):
        raise DiscreetError(
            f"row {int(np.argmax(numbers[:rows] < 0)) + 1} has no {person.name!r} by which its values in {source} "
            "could be found; fill it in"
        )
    home = np.full(int(numbers.max(initial=-1)) + 2, -1, np.int64)  # the last is that of -1
    home[numbers[:rows]] = np.arange(rows)
    if bool((home[numbers[:rows]] != np.arange(rows)).any()):
        twice = int(np.argmax(home[numbers[:rows]] != np.arange(rows)))
        raise DiscreetError(
            f"{person.texts[person.codes[twice]]!r} occurs in several rows of {person.name!r}, so it is not certain "
            f"whose values those in {source} are; give one row per person"
        )
    home[-1] = -1
    row = home[numbers[rows:]]
    strange = np.flatnonzero(row < 0)
    if len(strange):
        whose = other_person.codes[strange[0]]
        shown = "names nobody" if whose < 0 else f"is about {other_person.texts[whose]!r}, who is not in the table"
        raise DiscreetError(
            f"{len(strange):,} of the rows of {source} cannot be assigned to a person: "
            f"row {strange[0] + 1} {shown}; leave such rows out, or add the person"
        )
    listed = _from_cells(replace(value, lists=tuple((text.strip(),) for text in value.texts)), None)
    return Holdings(value.name, rows, row[listed.row], listed.value, listed.values)


def check_several(
    lists: Mapping[str, str], join: Mapping[str, tuple[Any, str]], sensitive: Collection[str], said: Collection[str]
) -> None:
    """Refuse what cannot be meant: several values of something else, two sources of values, a kind of a list."""
    for name in (*lists, *join):
        if name not in sensitive:
            raise DiscreetError(
                f"only sensitive attributes may have several values, and {name!r} is not one; add it to "
                f"{argument('sensitive')}, or give one value per person"
            )
        if name in said:
            raise DiscreetError(
                f"a kind, a domain, dates or a hierarchy is given for {name!r}, of which persons have several values; "
                "each value becomes an attribute that is yes or no, so leave that out"
            )
        if name in lists and name in join:
            raise DiscreetError(
                f"the values of {name!r} come from its cells or from a second table, not from both; leave one out"
            )


def check_replaced(join: Mapping[str, tuple[Any, str]], names: Collection[str]) -> None:
    """Refuse to take from a second table what the first one, with columns of these names, has already.

    >>> check_replaced({"ill": ("visits.csv", "id")}, ["id", "age", "ill"])  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    discreet.errors.DiscreetError: the table has a column 'ill' already, which the values from 'visits.csv' would
    replace; leave join out to protect the column as it is, or rename one of the two
    """
    for name, (source, _) in join.items():
        if name in names:
            raise DiscreetError(
                f"the table has a column {name!r} already, which the values from {_called(source)} would replace; "
                f"leave {argument('join')} out to protect the column as it is, or rename one of the two"
            )


def _called(source: Any) -> str:
    """A second table in messages."""
    return f"'{source}'" if isinstance(source, (str, PathLike)) else "the second table"


def derived_columns(
    columns: Mapping[str, RawColumn],
    sensitive: Sequence[str],
    lists: Mapping[str, str],
    join: Mapping[str, tuple[Any, str]],
    layout: Layout,
) -> dict[str, list[tuple[Derived, RawColumn]]]:
    """The derived attributes of every multi-valued one.

    A second table has this ``layout``, but names its columns itself.
    """
    single = next((name for name in columns if columns[name].lists is not None and name not in sensitive), None)
    if single is not None:
        raise DiscreetError(
            f"column {single!r} holds lists, and only sensitive attributes may have several values; turn them into "
            "text or numbers, or leave the column out"
        )
    derived = {}
    for name in sensitive:
        if name in join:
            source, key = join[name]
            shown = _called(source)
            try:
                with as_source(source) as other:
                    _, second = other.fetch((key, name), (key, name), layout.with_header())
            except DiscreetError as fault:
                raise DiscreetError(f"the values of {name!r} cannot be read from {shown}: {fault}") from None
            if second[name].lists is not None or second[key].lists is not None:
                raise DiscreetError(f"{shown} holds lists; give one value in each of its rows")
            derived[name] = list(_from_rows(columns[key], second[key], second[name], shown).columns())
        elif name in lists or columns[name].lists is not None:
            derived[name] = list(_from_cells(columns[name], lists.get(name), layout.marks).columns())
    return derived


def check_clashes(names: Sequence[str], origins: Mapping[str, Derived]) -> None:
    """Refuse a derived attribute with the name of another column."""
    for name, origin in origins.items():
        if names.count(name) > 1:
            raise DiscreetError(
                f"the value {origin.value!r} of {origin.attribute!r} would become the attribute {name!r}, which exists "
                "already; rename that column, or write the value differently"
            )
