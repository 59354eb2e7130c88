"""A generalized release: rows in groups, each group under one description of its quasi-identifiers.

Within a group nobody can tell which row is whose: rows and group numbers are in an order that follows from what is
published (see ``releases.canonical``). So what is published about a person is the group, and the belief in a sensitive
value is its share in the group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.options import checked
from discreet.principles.principle import Principle
from discreet.releases import canonical, reading
from discreet.releases.assumptions import CHOSEN, DESCRIBED, KEPT_BY_GROUPS, ONE_RELEASE, SHUFFLED, TRUE_VALUES
from discreet.releases.attributes import Attribute
from discreet.releases.box_uncertainty import has_misfit, misfit, stated
from discreet.releases.columns import read_sensitive
from discreet.releases.described import DescribedRelease
from discreet.releases.descriptions import Texts
from discreet.releases.folder import Home
from discreet.releases.generalization import Values, exact_texts, generalize
from discreet.releases.grid import stepped, widened
from discreet.releases.marginals import ASSUMED, MARGINALS, Marginals
from discreet.releases.marginals import COLUMNS as MARGINAL_COLUMNS
from discreet.releases.partition import GROUP, PublishedRows
from discreet.releases.statement import Stated, Statement
from discreet.table.combinations import distinct, places_among
from discreet.table.table import Column, Table

ASSUMPTIONS = (
    TRUE_VALUES,
    DESCRIBED,
    SHUFFLED,
    KEPT_BY_GROUPS,
    CHOSEN,
    ONE_RELEASE,
)
SIDE_BY_SIDE = (
    "What is promised about a sensitive attribute bounds what an attacker learns of it who knows quasi-identifiers. "
    "The sensitive values of a row stand side by side: an attacker who also knows one of a person's may learn the "
    "others."
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
    "presence covers an adversary who knows this, and takes all tables that have these descriptions, of values that "
    "occur in the original, as equally likely. It does not bound the belief of an adversary who has other reasons to "
    "think that some combinations of values are likelier."
)
"""An assumption stated if a promise is about presence."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GeneralizedRelease(DescribedRelease):
    """The published release, as made by a scheme (``from_groups``) or as found in a folder (``load``)."""

    format: ClassVar[str] = "generalized"
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS
    takes_marginals: ClassVar[bool] = True
    about_persons: ClassVar[bool] = True

    @classmethod
    def from_groups(
        cls,
        table: Table,
        groups: NDArray[np.int32],
        *,
        values: Values = "interval",
        **stated: Unpack[Stated],
    ) -> Self:
        """Publish a partition: ``groups[row]`` is an arbitrary number of the row's group, or -1 to withhold the row."""
        return cls._of_groups(table, groups, values, Statement(**stated)).in_order()

    @classmethod
    def _of_groups(cls, table: Table, groups: NDArray[np.int32], values: Values, statement: Statement) -> Self:
        """Return the release of a partition, in the order of the table and of the given numbers of groups."""
        checked("values", values, Values)
        rows = PublishedRows.of_groups(table, groups, labels=values == "label")
        return cls._of_rows(rows, lambda column: generalize(column, rows.places, rows.groups, values), statement)

    @classmethod
    def _of_rows(cls, rows: PublishedRows, described: Callable[[Column], Texts], statement: Statement) -> Self:
        """Return the release of rows in groups, ``described`` per attribute, in the order of the table."""
        texts = tuple(described(column) for column in rows.columns)
        attributes = rows.described_by(texts)
        return cls(
            manifest=rows.manifest(cls, statement, attributes, groups=rows.groups),
            attributes=attributes,
            texts=texts,
            ids=np.arange(rows.groups),
            group_of=rows.group_of,
            sensitive_columns=rows.sensitive_columns,
            others=rows.others,
            trace=rows.places,
        )

    def with_texts(self, attributes: tuple[Attribute, ...], texts: tuple[Texts, ...]) -> Self:
        """Return the same groups under other descriptions, with the attributes as the manifest has them then."""
        manifest = {**self.manifest, "attributes": [attribute.as_dict() for attribute in attributes]}
        return replace(self, manifest=manifest, attributes=attributes, texts=texts)

    def snapped(self, table: Table, every: bool = True) -> Self:
        """Return the release of a table with the ends of intervals on a public grid, of ``every`` attribute that has
        one, or of those only that have more than a few values.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> table = patients()
        >>> narrow = dc.publish(table, dc.KAnonymity(48), "mondrian(snap=false)")
        >>> narrow.texts[0].texts, narrow.snapped(table).texts[0].texts
        (('[19, 74]',), ('[16, 79]',))
        """
        columns = self._shown(table)
        described = [widened(*each, every) for each in zip(self.quasi, self.texts, columns, strict=True)]
        quasi = [stepped(attribute, column) for (attribute, _), column in zip(described, columns, strict=True)]
        texts = tuple(of for _, of in described)
        return self.with_texts((*quasi, *self.attributes[len(quasi) :]), texts).in_order()

    def stepped(self, table: Table) -> Self:
        """Return the release of a table with the decimal place on which numbers lie that intervals are published of."""
        quasi = [stepped(*each) for each in zip(self.quasi, self._shown(table), strict=True)]
        return self.with_texts((*quasi, *self.attributes[len(quasi) :]), self.texts)

    def _shown(self, table: Table) -> list[Column]:
        """The quasi-identifiers of the published rows: decimal places must not tell of the numbers of others."""
        columns = [table.column(attribute.name) for attribute in self.quasi]
        if self.withheld and self.trace is not None:
            shown = self.trace.reshape(table.rows, -1)[:, 0] >= 0
            columns = [replace(column, codes=column.codes[shown]) for column in columns]
        return columns

    def with_marginals(self, table: Table, least: int) -> Self:
        """Return the release of a whole table with the counts of its quasi-identifiers, of at least so many rows each.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> table = patients()
        >>> dc.publish(table, dc.KAnonymity(4)).with_marginals(table, 10).marginals.cells[1]
        ('F', 'M')
        """
        if self.withheld or table.person is not None:
            whose = "persons who have several rows" if table.person is not None else "rows that are withheld"
            raise DiscreetError(
                f"counts of quasi-identifiers would also count {whose}; say marginals=none"
                + (f", or withhold none ({argument('missing', 'value')})" if self.withheld else "")
            )
        labels = any(each.kind != "categorical" and (each.hierarchy or each.recipe) for each in self.quasi)
        rows = PublishedRows(table, np.zeros(table.rows, np.int32), labels)

        def on_grids(attributes: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
            both = zip(attributes, self.attributes, strict=False)
            return tuple(replace(each, domain=own.domain, unit=own.unit, step=own.step) for each, own in both)

        marginals = Marginals.of(rows.columns, on_grids(rows.quasi), least)
        named = rows.described_by(
            [Texts((*of.texts, *cells), of.of_cell) for of, cells in zip(self.texts, marginals.cells, strict=True)]
        )
        named = on_grids(named)
        made = replace(self, attributes=named, marginals=marginals)
        if has_misfit(made):
            revealed = replace(made, attributes=(*on_grids(rows.quasi), *named[len(rows.quasi) :]))
            marginals = replace(marginals, misfit=stated(misfit(revealed, table)))
        manifest: dict[str, Any] = {}
        for key, entry in self.manifest.items():
            manifest |= {MARGINALS: marginals.entry, key: entry} if key == "tables" else {key: entry}
        manifest["attributes"] = [attribute.as_dict() for attribute in named]
        manifest["assumptions"] = [*self.manifest["assumptions"], ASSUMED]
        return replace(made, manifest=manifest, marginals=marginals)

    def in_order(self) -> Self:
        """Return the same release with its rows and the numbers of its groups in canonical order."""
        if self.marginals is not None and (ordered := self.marginals.in_order()).cells != self.marginals.cells:
            return replace(self, marginals=ordered).in_order()
        numbers = self._numbers()
        group_of = numbers[self.group_of].astype(np.int32)
        order = canonical.line_order(group_of, self._line_keys)
        if order is None and bool((group_of == self.group_of).all()):
            return self
        return self._rearranged(numbers, order)

    @property
    def _contents(self) -> list[NDArray[Any] | canonical.Lines]:
        """What is published with each group: its description, and its rows."""
        return [*map(canonical.text_ranks, self.texts), canonical.Lines(self.group_of, self._line_keys)]

    @cached_property
    def _line_keys(self) -> NDArray[np.int64]:
        """A number for each row, in the order of what is published with it besides its description."""
        return canonical.line_keys(self._exact_columns, self.rows)

    def _numbers(self) -> NDArray[np.int64]:
        """The number of each group in canonical order."""
        return canonical.group_numbers(canonical.content_ranks(self.groups, self._contents))

    def _rearranged(self, numbers: NDArray[np.int64], order: NDArray[np.int64] | None) -> Self:
        """Return the same release with other numbers of its groups, and its rows in an order."""
        group_of = canonical.renumbered(numbers, self.group_of)
        return replace(
            self,
            texts=tuple(Texts(words, canonical.by_number(numbers, of_group)) for words, of_group in self.texts),
            group_of=group_of if order is None else group_of[order],
            sensitive_columns=canonical.taken_in(order, self.sensitive_columns),
            others=canonical.taken_in(order, self.others),
            trace=canonical.renumbered(numbers, self.trace),
        )

    @classmethod
    def _further_assumptions(cls, several: bool, promise: Principle, persons: bool) -> list[str]:
        presence = any(part.hides_presence for part in promise.parts)
        applying = ((several, SIDE_BY_SIDE), (persons, SEVERAL_ROWS), (presence, PRESENCE))
        return [sentence for applies, sentence in applying if applies]

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> Self:
        """Return the release in a folder whose manifest has been read; its inconsistencies are faults."""
        attributes = reading.read_attributes(manifest)
        beside = cls.more_tables if manifest.get(MARGINALS) is None else (*cls.more_tables, MARGINALS)
        ending = reading.ending_of(manifest, ("table", *beside))
        name = f"table.{ending}"
        columns = reading.read_columns(home / name, [GROUP, *(attribute.name for attribute in attributes)])
        faults: list[str] = []
        release = cls.of_columns(columns, manifest, attributes)
        reading.check_rows(name, release.rows, manifest, faults)
        reading.check_groups(name, release.ids, manifest, faults)
        faults += release.faults
        if MARGINALS in beside:
            lines = reading.read_lines(home / f"{MARGINALS}.{ending}", list(MARGINAL_COLUMNS))
            lines[2] = reading.whole_numbers(lines[2], MARGINAL_COLUMNS[2], f"{MARGINALS}.{ending}").tolist()
            marginals = Marginals.load(release.quasi, lines, manifest[MARGINALS], faults)
            release = replace(release, marginals=marginals)
        return replace(release, faults=tuple(faults))

    @classmethod
    def of_columns(cls, columns: reading.Columns, manifest: dict[str, Any], attributes: tuple[Attribute, ...]) -> Self:
        """Return the release whose table has these columns; inconsistencies among them are faults."""
        faults: list[str] = []
        numbers = columns[GROUP][1].astype(np.int64)
        ids = distinct(numbers)
        group_of = places_among(ids, numbers).astype(np.int32)
        quasi, sensitive_columns = (
            [each for each in attributes if each.role == role] for role in ("quasi", "sensitive")
        )
        release = cls(
            manifest=manifest,
            attributes=attributes,
            texts=tuple(_described(each, *columns[each.name], ids, group_of, faults) for each in quasi),
            ids=ids,
            group_of=group_of,
            sensitive_columns=tuple(read_sensitive(each, *columns[each.name], faults) for each in sensitive_columns),
            others=reading.read_others(attributes, columns),
        )
        # report unreadable texts now, not when they are first needed
        _ = release.descriptions.regions
        return replace(release, faults=tuple(faults))

    def about(self, attribute: str | None) -> GeneralizedRelease:
        """Return what is published about one sensitive attribute, without the others and without kept columns."""
        at = self._place(attribute)
        attributes = (*self.quasi, self.sensitive[at])
        return replace(self, attributes=attributes, sensitive_columns=(self.sensitive_columns[at],), others=())

    def conditioned_on(self, name: str, known: str) -> GeneralizedRelease | None:
        """Return what is published about one sensitive attribute beside another that is known of everyone.

        Every group falls into one for each value of the known attribute in it.
        """
        names = [attribute.name for attribute in self.sensitive]
        if name == known or name not in names or known not in names:
            return None
        attribute, exact_column = self.sensitive[names.index(known)], self.sensitive_columns[names.index(known)]
        pairs, group_of = np.unique(
            self.group_of.astype(np.int64) * len(exact_column.values) + exact_column.codes, return_inverse=True
        )
        groups, values = np.divmod(pairs, len(exact_column.values))
        texts = [Texts(words, of_group[groups]) for words, of_group in self.texts]
        texts.append(Texts(exact_texts(attribute, exact_column), values.astype(np.int32)))
        tree = attribute.hierarchy if attribute.kind == "categorical" else None  # others are written without labels
        alone = self.about(name)
        return replace(
            alone,
            attributes=(*self.quasi, replace(attribute, role="quasi", hierarchy=tree), *alone.sensitive),
            texts=tuple(texts),
            marginals=None,
            ids=np.arange(len(pairs)),
            group_of=group_of.astype(np.int32),
            trace=None,
        )


def _described(
    attribute: Attribute,
    words: list[str],
    codes: NDArray[Any],
    ids: NDArray[np.int64],
    group_of: NDArray[np.int32],
    faults: list[str],
) -> Texts:
    """Return the text of each group on one attribute; rows that differ from their group's text are a fault."""
    codes = codes.astype(np.int32)
    of_group = np.zeros(len(ids), np.int32)
    of_group[group_of] = codes
    differ = np.flatnonzero(of_group[group_of] != codes)
    if len(differ):
        row = differ[0]
        group = group_of[row]
        number = len(np.unique(group_of[differ]))
        faults.append(
            f"Rows of one group must share one description, but group {ids[group]} has both {words[codes[row]]!r} and "
            f"{words[of_group[group]]!r} in column {attribute.name!r}"
            + (f", and so have {number - 1:,} other groups." if number > 1 else ".")
        )
    return Texts(tuple(words), of_group)
