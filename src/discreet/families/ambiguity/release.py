"""An ambiguous release: every quasi-identifier in a table of its own, sensitive values counted per group.

An auxiliary table lists, once per group, the values of a quasi-identifier (or of a few that are published together)
that occur in the group's rows; ``sensitive`` counts the sensitive values of every group. Nothing links the values of
one row: lines, and the numbers of the groups, are in an order that follows from what is published (see
``releases.canonical``). So the number of combinations that a group of |G| rows covers is the product of its numbers of
entries in the auxiliary tables. Any |G| of these combinations may be its rows, and each is believed to be one of them
with |G| / product, or 1 if that is less.

The format is that of "Ambiguity: Hide the Presence of Individuals and Their Privacy with Low Information Loss" (COMAD
2008), whose Theorem 5.1 counts all choices of |G| combinations. The belief is no larger for an adversary who rules out
the choices in which some published value does not occur. Swapping two values of an auxiliary table maps each remaining
choice to another remaining one, and such swaps take any combination to any other; so all combinations are believed in
equally. These beliefs add up to |G|, or to less if two rows may be equal. Groups are independent: if several cover a
person's values, at least one contains the person with 1 - (1 - p1)(1 - p2)... .

Several sensitive attributes are counted in tables of their own, ``sensitive_1``, ``sensitive_2``, ..., over the same
groups and beside the same auxiliary tables. Any rows that a group may have can have its values of each attribute in
every order. So the tables say nothing about presence but |G|, in which they agree, and the belief in a value of a
person who is in the group is its share there, for each attribute. Both remain true for an attacker who knows which
values of different attributes go together, or how often: that excludes some orders, but if it admits one, it also
admits all that result from exchanging rows, and in these every row of the group has each line of values equally often.
With other groups for each attribute this would be wrong: of the rows 11, 22, 33 and 44 (two quasi-identifiers), the
groups {11, 22} and {33, 44} hide each among four combinations, and so do {11, 33} and {22, 44}; but no other rows fit
both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.families.ambiguity.blocks import Blocks, as_blocks, check_publishable, table_names
from discreet.families.ambiguity.estimate import ENOUGH, ESTIMATORS, contingency, expected_counts
from discreet.families.ambiguity.lookup import ByLists, listed
from discreet.families.ambiguity.weights import LikelyShares
from discreet.kernels.presence.value_index import Shown
from discreet.releases import canonical, reading
from discreet.releases.assumptions import COUNTED, ONE_RELEASE
from discreet.releases.attributes import Attribute
from discreet.releases.boxes import columns_at, shares
from discreet.releases.columns import ExactColumn, column_array, read_sensitive
from discreet.releases.counted import Counted, CountingRelease, counted_in_groups, extents
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.lookup import Lookup
from discreet.releases.partition import GROUP, PublishedRows
from discreet.releases.statement import Stated, Statement
from discreet.table.combinations import distinct, numbered, places_among, ranked
from discreet.table.query import Query
from discreet.table.table import Column, Table

ASSUMPTIONS = (
    "An auxiliary table lists every value that occurs in a group once, however many rows of the group have it; which "
    "values of different auxiliary tables belong to the same row is not published.",
    "An adversary who finds all values of a person in a group, and takes all combinations of the group's values as "
    "equally likely, believes that the person is in the table with at most the number of the group's rows divided by "
    "the number of these combinations. An adversary who knows that some values are more common than others may "
    "believe more in common combinations.",
    "What several groups tell together is reckoned as if two persons could have the same values; an adversary who "
    "knows that no two rows agree in all quasi-identifiers may believe more. Presence is that among the published "
    "rows: withheld ones may belong to anyone.",
    "A person whose values do not all occur in one group is not among the published rows: absence is not hidden.",
    COUNTED,
    "The orders of the tables and the numbers of the groups carry no information.",
    "What is promised about sensitive values is kept by every group and by the withheld rows taken as one group. It is "
    "about a person's own row; that some row with the person's values has a value may be believed more strongly where "
    "several groups list these values, unless the promise says association=combined.",
    ONE_RELEASE,
)


class Auxiliary(NamedTuple):
    """One auxiliary table: the values, or combinations of values of a block, that occur in the rows of each group."""

    groups: NDArray[np.int32]
    """For each entry its group, as an index into the release's ``ids``, ascending."""
    columns: tuple[ExactColumn, ...]
    """For each attribute of the block, its distinct published values and the code of each entry."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AmbiguousRelease(CountingRelease):
    """An ambiguous release, made by a scheme (``from_groups``) or loaded from a folder (``load``)."""

    format: ClassVar[str] = "ambiguous"
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS
    estimators = ESTIMATORS
    hides_presence: ClassVar[bool] = True
    contents: ClassVar[Mapping[str, str]] = {
        "auxiliary": "the values of an attribute in each group, each once, however many rows have it"
    }

    blocks: Blocks
    """The names of the quasi-identifiers in each auxiliary table: one, unless some are published together."""
    auxiliaries: tuple[Auxiliary, ...]

    # -------------------------------------------------------------------------------------------------------- making

    @classmethod
    def from_groups(
        cls,
        table: Table,
        groups: NDArray[np.int32],
        *,
        blocks: Sequence[Sequence[str]] | None = None,
        **stated: Unpack[Stated],
    ) -> Self:
        """Publish a partition: ``groups[row]`` is the group of a row, as any number, or -1 if the row is withheld.

        ``blocks`` names quasi-identifiers that are published together.
        """
        rows = PublishedRows.of_groups(table, groups)
        check_publishable(table)
        named = as_blocks(table.quasi_names, blocks)
        columns = dict(zip(table.quasi_names, rows.exact, strict=True))
        entries = [
            {"table": stem, "attributes": list(block)} for stem, block in zip(table_names(named), named, strict=True)
        ]
        return cls(
            manifest=rows.manifest(cls, Statement(**stated), groups=rows.groups, auxiliaries=entries),
            attributes=rows.attributes,
            blocks=named,
            auxiliaries=tuple(
                make_auxiliary(rows.group_of, rows.groups, [columns[name] for name in block]) for block in named
            ),
            ids=np.arange(rows.groups),
            trace=rows.places,
            counted=counted_in_groups(rows),
        ).in_order()

    @classmethod
    def refusal_as_part(cls) -> str | None:
        """Another table would say more about the same rows: see the end of the module's description."""
        return "its lists and another table together tell who is in the table, which it is there to hide"

    def in_order(self) -> Self:
        """Return the same release with the numbers of its groups in canonical order, as lines always are.

        The content of a group is what all tables list of it.
        """
        entries = [
            canonical.Lines(groups, canonical.line_keys(columns, len(groups))) for groups, columns in self.auxiliaries
        ]
        numbers = canonical.group_numbers(canonical.content_ranks(self.groups, [*entries, *self.counted_lines]))
        if bool((numbers[1:] > numbers[:-1]).all()):
            return self
        auxiliaries = []
        for auxiliary, lines in zip(self.auxiliaries, entries, strict=True):
            groups = canonical.renumbered(numbers, auxiliary.groups)
            order = canonical.line_order(groups, lines.keys)
            auxiliaries.append(
                Auxiliary(groups if order is None else groups[order], canonical.taken_in(order, auxiliary.columns))
            )
        trace = canonical.renumbered(numbers, self.trace)
        return replace(self, auxiliaries=tuple(auxiliaries), trace=trace, counted=self.counted_by(numbers))

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> Self:
        """Load the release in a folder whose manifest has been read."""
        attributes = reading.read_attributes(manifest)
        stems, blocks = _auxiliaries(manifest, attributes)
        sensitive_columns, tables, of_sensitive, ending = reading.counted_tables(home, attributes, manifest, stems)
        if any(attribute.role == "other" for attribute in attributes):
            raise DiscreetError(
                "the manifest of the release must list quasi-identifiers and then sensitive attributes, and no others; "
                f"{DAMAGED}"
            )
        names = [f"{stem}.{ending}" for stem in stems]
        read = [reading.read_columns(home / name, [*block, GROUP]) for name, block in zip(names, blocks, strict=True)]
        for name, columns in zip(names, read, strict=True):
            # a group without values is a fault, but nobody can be looked up in no values
            if len(columns[GROUP][1]) == 0:
                raise DiscreetError(f"{name!r} of the release has no rows; {DAMAGED}")
        faults: list[str] = []
        ids = distinct(np.concatenate([distinct(columns[GROUP][1]) for columns in (*of_sensitive, *read)]))
        reading.check_groups(tables[0], ids, manifest, faults)
        counted: list[Counted] = []
        for name, sensitive_attribute, lines in zip(tables, sensitive_columns, of_sensitive, strict=True):
            first = (counted[0].counts.sizes, tables[0]) if counted else ()
            counted.append(reading.read_counted(sensitive_attribute, name, lines, ids, faults, *first))
        counts = counted[0].counts
        reading.check_rows(tables[0], int(counts.sizes.sum()), manifest, faults, "counts")
        kinds = {attribute.name: attribute for attribute in attributes}
        auxiliaries = []
        for name, block, columns in zip(names, blocks, read, strict=True):
            exact_columns = [read_sensitive(kinds[each], *columns[each], faults) for each in block]
            groups = places_among(ids, columns[GROUP][1]).astype(np.int32)
            auxiliary = make_auxiliary(groups, len(ids), exact_columns)
            if len(auxiliary.groups) < len(groups):
                faults.append(f"{name} lists a value of a group more than once.")
            _check_entries(name, auxiliary, counts.sizes, ids, faults)
            auxiliaries.append(auxiliary)
        return cls(
            manifest=manifest,
            attributes=attributes,
            blocks=blocks,
            auxiliaries=tuple(auxiliaries),
            ids=ids,
            faults=tuple(faults),
            counted=tuple(counted),
        )

    def lookup(self) -> Lookup:
        """The look-up of people in the auxiliary tables."""
        return self.lists

    @cached_property
    def lists(self) -> ByLists:
        """The look-up, which remembers whom it was last asked for."""
        return ByLists(self)

    def tables(self, numbers: bool = True) -> dict[str, pa.Table]:
        """The published tables: an auxiliary table per block, and ``sensitive``, one per sensitive attribute."""
        ids = pa.array(self.ids) if numbers else pa.array(self.ids).cast(pa.string())

        result = {}
        stems = [entry["table"] for entry in self.manifest["auxiliaries"]]
        for stem, block, auxiliary in zip(stems, self.blocks, self.auxiliaries, strict=False):
            columns: list[Any] = [column_array(column, numbers) for column in auxiliary.columns]
            groups = pa.DictionaryArray.from_arrays(pa.array(auxiliary.groups), ids)
            result[stem] = pa.table([*columns, groups], names=[*block, GROUP])
        return result | self.sensitive_tables(numbers)

    # ------------------------------------------------------------------------------------------------------- counting

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each group."""
        return self.counts.sizes

    @property
    def rows(self) -> int:
        """The number of published rows."""
        return int(self.sizes.sum())

    @cached_property
    def combinations(self) -> NDArray[np.float64]:
        """For each group the number of combinations it covers: the product of its entries in the auxiliary tables."""
        product = np.ones(self.groups)
        for auxiliary in self.auxiliaries:
            product *= np.bincount(auxiliary.groups, minlength=self.groups)
        return product

    @cached_property
    def presences(self) -> NDArray[np.float64]:
        """For each group the belief that a person all of whose values it lists is one of its rows."""
        with np.errstate(divide="ignore"):
            return np.minimum(1.0, self.sizes / self.combinations)

    @cached_property
    def listed(self) -> tuple[Shown, NDArray[np.int64]]:
        """The groups that list each value (numbered across all blocks), and the first value of each block."""
        return listed(self)

    def named_rows(self, random: np.random.Generator) -> tuple[ExactColumn, ...]:
        """A combination of each group: a line of each auxiliary table, by lot."""
        columns: dict[str, ExactColumn] = {}
        for block, auxiliary in zip(self.blocks, self.auxiliaries, strict=True):
            lot = random.permutation(len(auxiliary.groups))
            lines = lot[np.unique(auxiliary.groups[lot], return_index=True)[1]]
            columns |= dict(zip(block, canonical.taken_in(lines, auxiliary.columns), strict=True))
        return tuple(columns[attribute.name] for attribute in self.quasi)

    def drawn_columns(self, random: np.random.Generator) -> tuple[ExactColumn, ...]:
        """Rows of each group with values that it lists, of every table independently of the others, as in estimates."""
        from discreet.releases.drawn import in_turn, picked

        group_of = np.repeat(np.arange(self.groups), self.sizes)
        columns: dict[str, ExactColumn] = {}
        for at, (block, (groups, held)) in enumerate(zip(self.blocks, self.auxiliaries, strict=True)):
            weights = self.weights[at] if self._usual_estimator == "weighted" else np.ones(len(groups))
            first, after = np.searchsorted(groups, group_of), np.searchsorted(groups, group_of, side="right")
            lines = picked(weights, first, after, in_turn(group_of, random))
            columns |= dict(zip(block, canonical.taken_in(lines, held), strict=True))
        return (*(columns[each.name] for each in self.quasi), *self.dealt_columns(group_of, random))

    def description(self, group: int) -> dict[str, str]:
        """The extent of each quasi-identifier in the group at an index of ``ids``, so that readers can recognise it."""
        kinds = {attribute.name: attribute for attribute in self.quasi}
        return extents(
            (kinds[name], column, np.flatnonzero(auxiliary.groups == group))
            for block, auxiliary in zip(self.blocks, self.auxiliaries, strict=True)
            for name, column in zip(block, auxiliary.columns, strict=True)
        )

    # --------------------------------------------------------------------------------------------------------- asking

    def beliefs(
        self, points: Mapping[str, ArrayLike], withheld: ArrayLike | None = None, *, attribute: str | None = None
    ) -> NDArray[np.float64]:
        """An adversary's beliefs in each sensitive value of a person in the table with these quasi-identifiers.

        The distributions of the groups that list all of the person's values, each weighted by the belief that the
        person's row is in it.
        """
        release, people = self.about(attribute), columns_at(self.quasi, points)
        counts, every = release.counts, np.arange(len(people[0].codes))
        weighted = replace(counts, amounts=release.presences[counts.groups] * counts.shares)
        return shares(release.lists.summed(people, every, weighted), withheld)

    def known_values(self, name: str) -> NDArray[Any]:
        """The published values of a column, in their order."""
        for block, auxiliary in zip(self.blocks, self.auxiliaries, strict=True):
            if name in block:
                return np.asarray(auxiliary.columns[block.index(name)].values)
        values = self.sensitive_values(name)
        return self.values if values is None else values

    def contingency(self, column: Column, *, spread: bool = True) -> NDArray[np.float64]:
        """Count the rows of each group for the values that it lists (see ``Release.contingency``).

        With ``spread``, the rows of a group are spread over its values as in estimates: more for common values if there
        are enough groups to tell.
        """
        return contingency(self, column, spread)

    @cached_property
    def weights(self) -> Mapping[int, NDArray[np.float64]]:
        """For each auxiliary table, the share of its group's rows that each entry is estimated to have."""
        return LikelyShares(self)

    def _estimates(self, queries: Sequence[Query], estimator: str) -> NDArray[np.float64]:
        """The expected number of published rows that satisfy each query (see ``estimate``)."""
        return expected_counts(self, queries, estimator)

    @property
    def _usual_estimator(self) -> str:
        """Weighted, if there are enough groups to tell from which entries are common."""
        return "weighted" if self.groups >= ENOUGH else "product"


def make_auxiliary(groups: NDArray[np.int32], number: int, exact_columns: Sequence[ExactColumn]) -> Auxiliary:
    """The distinct pairs of a group and values of a block, in ascending order."""
    sizes = [number, *(len(exact_column.values) for exact_column in exact_columns)]
    _, first, _ = ranked(
        numbered([groups, *(exact_column.codes for exact_column in exact_columns)], sizes, len(groups))
    )
    return Auxiliary(groups[first], canonical.taken_in(first, exact_columns))


def _auxiliaries(manifest: Mapping[str, Any], attributes: tuple[Attribute, ...]) -> tuple[list[str], Blocks]:
    """The names of the auxiliary tables and the attributes in each of them."""
    try:
        entries = [(str(entry["table"]), tuple(map(str, entry["attributes"]))) for entry in manifest["auxiliaries"]]
    except (KeyError, TypeError):
        entries = []
    listed = sorted(name for _, block in entries for name in block)
    if listed != sorted(attribute.name for attribute in attributes if attribute.role == "quasi"):
        raise DiscreetError(
            f"the manifest of the release must name an auxiliary table for every quasi-identifier; {DAMAGED}"
        )
    return [stem for stem, _ in entries], tuple(block for _, block in entries)


def _check_entries(
    name: str, auxiliary: Auxiliary, sizes: NDArray[np.int64], ids: NDArray[np.int64], faults: list[str]
) -> None:
    """Report groups without entries, or with more entries than rows, in an auxiliary table."""
    entries = np.bincount(auxiliary.groups, minlength=len(sizes))
    wrong = np.flatnonzero((entries < 1) | (entries > sizes))
    if len(wrong):
        g = wrong[0]
        faults.append(
            f"A group must show between one value and as many as it has rows, but group {ids[g]} has {sizes[g]:,} rows "
            f"and {entries[g]:,} values in {name}"
            + (f", and {len(wrong) - 1:,} other groups are like that." if len(wrong) > 1 else ".")
        )
