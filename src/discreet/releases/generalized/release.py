"""A generalized release: rows in groups, each group under one description of its quasi-identifiers.

Within a group nobody can tell which row is whose: rows and group numbers are in an order that follows from what is
published (see ``releases.canonical``). So what is published about a person is the group, and the belief in a sensitive
value is its share in the group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from discreet.principles.principle import Principle
from discreet.releases.assumptions import DESCRIBED, KEPT_BY_GROUPS, ONE_RELEASE, SHUFFLED, TRUE_VALUES
from discreet.releases.attributes import Attribute
from discreet.releases.canonical import (
    Lines,
    by_number,
    content_ranks,
    group_numbers,
    line_keys,
    line_order,
    renumbered,
    taken_in,
    text_ranks,
)
from discreet.releases.columns import ExactColumn
from discreet.releases.described import DescribedRelease
from discreet.releases.descriptions import Texts
from discreet.releases.folder import Home
from discreet.releases.generalization import Values, check_values, exact_texts, generalize
from discreet.releases.partition import PublishedRows, check_partition, dense_groups
from discreet.releases.statement import Stated, Statement
from discreet.table.table import Column, Table

if TYPE_CHECKING:
    pass

FORMAT = "generalized"
ASSUMPTIONS = (
    TRUE_VALUES,
    DESCRIBED,
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
class GeneralizedRelease(DescribedRelease):
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
        values: Values = "interval",
        **stated: Unpack[Stated],
    ) -> Self:
        """Publish a partition: ``groups[row]`` is an arbitrary number of the row's group, or -1 to withhold the row.

        If they come from a ``seeded`` generator, the manifest warns that this is an experiment.
        """
        return cls._of_groups(table, groups, values, Statement(**stated)).in_order()

    @classmethod
    def _of_groups(cls, table: Table, groups: NDArray[np.int32], values: Values, statement: Statement) -> Self:
        """Return the release of a partition, in the order of the table and of the given numbers of groups."""
        groups = np.asarray(groups)
        check_values(values)
        check_partition(table, groups)
        places, number = dense_groups(groups)
        rows = PublishedRows(table, places, labels=values == "label")
        return cls._of_rows(rows, number, lambda column: generalize(column, places, number, values), statement)

    @classmethod
    def _of_rows(
        cls, rows: PublishedRows, number: int, described: Callable[[Column], Texts], statement: Statement
    ) -> Self:
        """Return the release of rows in groups, ``described`` per attribute, in the order of the table."""
        return cls(
            rows.manifest(cls, statement, groups=number),
            rows.attributes,
            tuple(described(column) for column in rows.columns),
            np.arange(number),
            rows.places[rows.rows],
            rows.secrets,
            rows.others,
            trace=rows.places,
        )

    def in_order(self) -> Self:
        """Return the same release with its rows and the numbers of its groups in canonical order."""
        numbers = self._numbers()
        group_of = numbers[self.group_of].astype(np.int32)
        order = line_order(group_of, self._line_keys)
        if order is None and bool((group_of == self.group_of).all()):
            return self
        return self._rearranged(numbers, order)

    @property
    def _contents(self) -> list[NDArray[Any] | Lines]:
        """What is published with each group: its description, and its rows."""
        return [*map(text_ranks, self.texts), Lines(self.group_of, self._line_keys)]

    @cached_property
    def _line_keys(self) -> NDArray[np.int64]:
        """A number for each row, in the order of what is published with it besides its description."""
        return line_keys(self._payloads, self.rows)

    def _numbers(self) -> NDArray[np.int64]:
        """The number of each group in canonical order."""
        return group_numbers(content_ranks(self.groups, self._contents))

    def _rearranged(self, numbers: NDArray[np.int64], order: NDArray[np.int64] | None) -> Self:
        """Return the same release with other numbers of its groups, and its rows in an order."""
        group_of = renumbered(numbers, self.group_of)
        return replace(
            self,
            texts=tuple(Texts(words, by_number(numbers, of_group)) for words, of_group in self.texts),
            group_of=group_of if order is None else group_of[order],
            secrets=taken_in(order, self.secrets),
            others=taken_in(order, self.others),
            trace=renumbered(numbers, self.trace),
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

    def about(self, attribute: str | None) -> GeneralizedRelease:
        """Return what is published about one sensitive attribute, without the others and without kept columns."""
        at = self._place(attribute)
        attributes = (*self.quasi, self.sensitive[at])
        return replace(self, attributes=attributes, secrets=(self.secrets[at],), others=())

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
