"""What releases have in common that count the values of sensitive attributes per group, each in a table of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.principles.counts import Counts
from discreet.principles.principle import Principle
from discreet.principles.wording import listed
from discreet.releases.attributes import Attribute
from discreet.releases.canonical import Lines, by_number
from discreet.releases.columns import ExactColumn, column_array, value_name
from discreet.releases.grouped import GroupedRelease
from discreet.releases.labels import braces, interval
from discreet.releases.partition import GROUP, PublishedRows
from discreet.table.table import Table
from discreet.table.texts import MISSING

COUNT = "count"
APART = (
    "Every sensitive attribute is counted in a table of its own; which values of different attributes belong to one "
    "row is not published. The promise bounds what is learnt about each attribute by itself."
)
"""An assumption stated if several attributes are sensitive."""


class Counted(NamedTuple):
    """One sensitive attribute: its published values, and how often each occurs in each group."""

    values: NDArray[Any]
    counts: Counts


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CountingRelease(GroupedRelease):
    """A release that counts sensitive values per group; several attributes over the same groups."""

    contents: ClassVar[Mapping[str, str]] = {"sensitive": "how many rows of each group have which sensitive value"}

    counted: tuple[Counted, ...]
    """Every sensitive attribute."""

    @property
    def values(self) -> NDArray[Any]:
        """The values of the first sensitive attribute, in the order of the columns of ``counts``."""
        return self.counted[0].values

    @property
    def counts(self) -> Counts:
        """How often each of them occurs in each group."""
        return self.counted[0].counts

    @classmethod
    def _further_assumptions(cls, several: bool, promise: Principle, persons: bool) -> list[str]:
        return [APART] if several else []

    def about(self, attribute: str | None) -> Self:
        """What is published about one sensitive attribute, without the others; about the first if None."""
        at = self._place(attribute)
        if len(self.counted) == 1:
            return self
        kept = tuple(each for each in self.attributes if each.role != "sensitive" or each is self.sensitive[at])
        return replace(self, attributes=kept, counted=self.counted[at : at + 1])

    def notes_on(self, names: Sequence[str]) -> tuple[str, ...]:
        """The note that counts by several sensitive attributes take these to be independent."""
        asked = [attribute.name for attribute in self.sensitive if attribute.name in names]
        if len(asked) < 2:
            return ()
        return (
            f"{listed(map(repr, asked))} are counted in different tables of the release, so that the estimate takes "
            "them to be independent within each group",
        )

    def sensitive_values(self, name: str) -> NDArray[Any] | None:
        """The published values of a sensitive attribute; None if there is none of this name."""
        named = zip(self.sensitive, self.counted, strict=True)
        return next((counted.values for attribute, counted in named if attribute.name == name), None)

    def dealt_columns(self, group_of: NDArray[Any], random: np.random.Generator) -> tuple[ExactColumn, ...]:
        """Sensitive values for the rows of groups, of each attribute as often as they are counted there."""
        from discreet.releases.drawn import dealt

        return tuple(
            ExactColumn(values, dealt(counts, group_of, random), attribute.notation)
            for attribute, (values, counts) in zip(self.sensitive, self.counted, strict=True)
        )

    @property
    def counted_lines(self) -> list[Lines]:
        """The lines of the tables of sensitive values: values with their counts."""
        return [
            Lines(counts.groups, counts.values * (counts.amounts.max(initial=0) + 1) + counts.amounts)
            for _, counts in self.counted
        ]

    def counted_by(self, numbers: NDArray[np.int64]) -> tuple[Counted, ...]:
        """The sensitive attributes with other numbers of the groups."""
        places = by_number(numbers, np.arange(self.groups))
        return tuple(Counted(values, counts.only(places)) for values, counts in self.counted)

    def sensitive_tables(self, numbers: bool) -> dict[str, pa.Table]:
        """The tables of sensitive values, their lines by group and value."""
        ids = pa.array(self.ids) if numbers else pa.array(self.ids).cast(pa.string())
        tables = {}
        for at, (name, attribute) in enumerate(zip(sensitive_names(len(self.sensitive)), self.sensitive, strict=True)):
            values, counts = self.counted[at]
            amounts = pa.array(counts.amounts)
            held: list[Any] = [
                pa.DictionaryArray.from_arrays(pa.array(counts.groups.astype(np.int32)), ids),
                column_array(ExactColumn(values, counts.values, attribute.notation), numbers),
                amounts if numbers else amounts.cast(pa.string()),
            ]
            tables[name] = pa.table(held, names=[GROUP, attribute.name, COUNT])
        return tables


def counted_in_groups(rows: PublishedRows) -> tuple[Counted, ...]:
    """How often the values of each sensitive attribute occur in groups of rows."""
    return tuple(
        Counted(values, Counts.of_rows(rows.group_of, codes, rows.groups, len(values)))
        for values, codes, _ in rows.sensitive_columns
    )


def sensitive_names(number: int) -> list[str]:
    """The names of the tables of this many sensitive attributes.

    >>> sensitive_names(1), sensitive_names(2)
    (['sensitive'], ['sensitive_1', 'sensitive_2'])
    """
    return ["sensitive"] if number == 1 else [f"sensitive_{at}" for at in range(1, number + 1)]


def extents(columns: Iterable[tuple[Attribute, ExactColumn, NDArray[np.intp]]]) -> dict[str, str]:
    """The values in some lines of columns, in words: smallest and largest if they are ordered, else a few of them."""
    result: dict[str, str] = {}
    for attribute, exact_column, lines in columns:
        held = exact_column.values[np.unique(exact_column.codes[lines])].tolist()
        texts = [value_name(value, exact_column.notation) for value in held]
        if not texts:
            continue
        if attribute.kind != "categorical" and MISSING not in texts:
            result[attribute.name] = interval(texts[0], texts[-1])
        else:
            more = f" and {len(texts) - 3:,} more" if len(texts) > 3 else ""
            result[attribute.name] = braces(texts[:3]) + more
    return result


def check_countable(table: Table, what: str) -> None:
    """Raise if a table has no sensitive attribute, or one whose name clashes with the column of counts."""
    if not table.sensitive:
        raise DiscreetError(f"{what} counts the values of a sensitive attribute and the table has none")
    if any(column.name == COUNT for column in table.sensitive):
        raise DiscreetError(f"a sensitive attribute is called {COUNT!r}, as is a column that a release adds; rename it")
