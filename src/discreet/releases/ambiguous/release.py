"""An ambiguous release: every quasi-identifier in a table of its own, sensitive values counted per group.

An auxiliary table lists, once per group, the values of a quasi-identifier (or of a few that are published together)
that the group's rows hold; ``sensitive`` holds, for every group, how many of its rows have which sensitive value.
Nothing says which values belong to the same row: every table has an order of its own, and the numbers of the groups are
drawn anew. So a group of |G| rows shows as many combinations of values as the product of its entries in the auxiliary
tables, any |G| of which may be its rows, and each is believed to be one with |G| / product, or 1 if that is less.

The format is that of "Ambiguity: Hide the Presence of Individuals and Their Privacy with Low Information Loss" (COMAD
2008), whose Theorem 5.1 counts all choices of |G| combinations. It holds no less for an adversary who rules out the
choices in which some published value is missing: exchanging two values of an auxiliary table turns every choice that is
left into another one, and any combination into any other, so all combinations are believed in alike; and these beliefs
add up to |G|, or to less if two rows may be equal. Groups are independent of each other: of several that show all of a
person's values at least one holds the person with 1 - (1 - p1)(1 - p2)... .
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.principles.counts import Counts
from discreet.principles.principle import Principle
from discreet.randomness import permutation
from discreet.releases.ambiguous.blocks import Blocks, as_blocks, check_publishable, table_names
from discreet.releases.ambiguous.estimate import Estimator
from discreet.releases.anatomy.release import COUNT, extents
from discreet.releases.attributes import Attribute, as_shown, describe
from discreet.releases.columns import ExactColumn, column_array, exact_column
from discreet.releases.generalized.release import GROUP, check_partition, numbered_anew
from discreet.releases.lookup import Lookup
from discreet.releases.release import Release, new_manifest
from discreet.table.combinations import numbered
from discreet.table.query import Query
from discreet.table.table import Table

if TYPE_CHECKING:
    from discreet.kernels.presence.value_index import Shown
    from discreet.releases.ambiguous.lookup import ByLists

FORMAT = "ambiguous"
SENSITIVE = "sensitive"
ASSUMPTIONS = (
    "An auxiliary table lists every value that some row of a group holds, once per group however many rows hold it; "
    "which values of different auxiliary tables belong to the same row is not published.",
    "Whoever finds all values of a person in a group believes the person to be in the table with at most the number of "
    "the group's rows divided by the number of combinations of its values, since all combinations are equally likely. "
    "Someone who knows that some values are more common than others may believe more in common combinations.",
    "A person whose values are together in no group is not among the published rows: absence is not hidden.",
    "Every sensitive value of a group's rows is counted in the group; which row has which value is not published.",
    "The orders of the tables and the numbers of the groups carry no information.",
    "What is promised about sensitive values is kept by every group and by the withheld rows taken as one group.",
    "The promise covers this one release of the table, not what several releases of it say together.",
)


class Auxiliary(NamedTuple):
    """One auxiliary table: which values, or combinations of the values of a block, the rows of each group hold."""

    groups: NDArray[np.int32]
    """Per entry: its group, as a place in the release's ``ids``, ascending."""
    columns: tuple[ExactColumn, ...]
    """Per attribute of the block: its distinct published values, and which one each entry holds."""


@dataclass(frozen=True, eq=False, repr=False)
class AmbiguousRelease(Release):
    """What leaves the house, as made by a scheme (``from_groups``) or as found in a folder (``load``)."""

    format: ClassVar[str] = FORMAT
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS
    hides_presence: ClassVar[bool] = True

    manifest: dict[str, Any]
    attributes: tuple[Attribute, ...]
    blocks: Blocks
    """The names of the quasi-identifiers that each auxiliary table holds: one, unless some are published together."""
    auxiliaries: tuple[Auxiliary, ...]
    ids: NDArray[np.int64]
    """The published number of each group."""
    values: NDArray[Any]
    """The sensitive values, in the order of the columns of ``counts``."""
    counts: Counts
    """How often each sensitive value occurs in each group."""
    orders: tuple[NDArray[np.int64], ...]
    """The order in which the lines of each auxiliary table, and then of the sensitive one, are published."""
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
        blocks: Sequence[Sequence[str]] | None = None,
        seeded: np.random.Generator | None = None,
    ) -> AmbiguousRelease:
        """Publish a partition: ``groups[row]`` is any number of a group, or -1 for a row that is withheld.

        ``blocks`` names quasi-identifiers that are published together. The orders of the tables and the numbers of
        groups come from the operating system, unless a ``seeded`` generator is given; the manifest then warns that this
        is an experiment.
        """
        groups = np.asarray(groups)
        check_partition(table, groups, "interval")
        check_publishable(table)
        assert table.sensitive is not None, "a table without one is refused"
        named = as_blocks(table.quasi_names, blocks)
        places, number = numbered_anew(groups, seeded)
        published = places >= 0
        rows = np.flatnonzero(published)
        columns = [as_shown(column, published) for column in table.quasi]
        quasi = [describe(column, "quasi") for column in columns]
        secret = describe(as_shown(table.sensitive, None), "sensitive", True)
        payloads = {
            column.name: exact_column(column, attribute, rows) for column, attribute in zip(columns, quasi, strict=True)
        }
        auxiliaries = tuple(make_auxiliary(places[rows], number, [payloads[name] for name in block]) for block in named)
        shown = exact_column(table.sensitive, secret, rows)
        counts = Counts.of_rows(places[rows], shown.codes, number, len(shown.values))
        manifest = new_manifest(
            FORMAT,
            scheme=scheme,
            options=options or {},
            promise=promise,
            attributes=(*quasi, secret),
            rows=len(rows),
            withheld=table.rows - len(rows),
            assumptions=cls.assumed((*quasi, secret), promise),
            seeded=seeded is not None,
            groups=number,
            auxiliaries=[
                {"table": stem, "attributes": list(block)}
                for stem, block in zip(table_names(named), named, strict=True)
            ],
        )
        lengths = [*(len(auxiliary.groups) for auxiliary in auxiliaries), len(counts.values)]
        return cls(
            manifest,
            (*quasi, secret),
            named,
            auxiliaries,
            np.arange(number),
            shown.values,
            counts,
            tuple(permutation(length, seeded) for length in lengths),
            trace=places,
        )

    @classmethod
    def load(cls, home: Path, manifest: dict[str, Any]) -> AmbiguousRelease:
        """The release in a folder whose manifest has been read."""
        from discreet.releases.ambiguous.load import load_ambiguous

        return load_ambiguous(home, manifest)

    def lookup(self) -> Lookup:
        """How people are looked up in it."""
        return self.lists

    @cached_property
    def lists(self) -> ByLists:
        """The same: by the values that groups list."""
        from discreet.releases.ambiguous.lookup import ByLists

        return ByLists(self)

    def tables(self, numbers: bool) -> dict[str, pa.Table]:
        """The published tables, each in a random order of its own: an auxiliary one per block, and ``sensitive``."""
        ids = pa.array(self.ids) if numbers else pa.array(self.ids).cast(pa.string())

        def group_column(groups: NDArray[Any]) -> Any:
            return pa.DictionaryArray.from_arrays(pa.array(groups.astype(np.int32)), ids)

        result = {}
        stems = [entry["table"] for entry in self.manifest["auxiliaries"]]
        for stem, block, auxiliary, order in zip(stems, self.blocks, self.auxiliaries, self.orders[:-1], strict=True):
            columns: list[Any] = [
                column_array(column._replace(codes=column.codes[order]), numbers) for column in auxiliary.columns
            ]
            result[stem] = pa.table([*columns, group_column(auxiliary.groups[order])], names=[*block, GROUP])
        order, counts = self.orders[-1], self.counts
        amounts = pa.array(counts.amounts[order])
        held: list[Any] = [
            group_column(counts.groups[order]),
            column_array(ExactColumn(self.values, counts.values[order], self.sensitive.notation), numbers),
            amounts if numbers else amounts.cast(pa.string()),
        ]
        result[SENSITIVE] = pa.table(held, names=[GROUP, self.sensitive.name, COUNT])
        return result

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
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each group has."""
        return self.counts.sizes

    @property
    def rows(self) -> int:
        """How many rows are published."""
        return int(self.sizes.sum())

    @cached_property
    def combinations(self) -> NDArray[np.float64]:
        """How many combinations of values each group shows: the product of its entries in the auxiliary tables."""
        product = np.ones(self.groups)
        for auxiliary in self.auxiliaries:
            product *= np.bincount(auxiliary.groups, minlength=self.groups)
        return product

    @cached_property
    def presences(self) -> NDArray[np.float64]:
        """Per group: the belief that someone all of whose values it shows is one of its rows."""
        with np.errstate(divide="ignore"):
            return np.minimum(1.0, self.sizes / self.combinations)

    @cached_property
    def listed(self) -> tuple[Shown, NDArray[np.int64]]:
        """Which groups list which values, those of all blocks numbered through, and the first value of each block."""
        from discreet.releases.ambiguous.beliefs import listed

        return listed(self)

    def description(self, group: int) -> dict[str, str]:
        """The extent of the quasi-identifiers of the group at a place of ``ids``, to recognise it by."""
        kinds = {attribute.name: attribute for attribute in self.quasi}
        return extents(
            (kinds[name], column, np.flatnonzero(auxiliary.groups == group))
            for block, auxiliary in zip(self.blocks, self.auxiliaries, strict=True)
            for name, column in zip(block, auxiliary.columns, strict=True)
        )

    # --------------------------------------------------------------------------------------------------------- asking

    def presence(self, points: Mapping[str, ArrayLike], *, combined: bool = False) -> NDArray[np.float64]:
        """The belief that a person with these quasi-identifiers is in the table at all, one number per point.

        By the one group that shows all of the person's values; if there are several, by the one that says most, or with
        ``combined`` by all of them together. Where no group shows all values, 0, or NaN when rows are withheld, of
        which nothing is known.
        """
        from discreet.releases.ambiguous.beliefs import presence_at

        return presence_at(self, points, combined)

    def beliefs(self, points: Mapping[str, ArrayLike], withheld: ArrayLike | None = None) -> NDArray[np.float64]:
        """What an adversary who knows these quasi-identifiers believes about the value of a person in the table.

        The distributions of the groups that show all of the person's values, each weighed by the belief that the
        person's row is in it. Where no group does, the person was withheld: then the belief is the distribution of the
        ``withheld`` counts (in the order of ``values``), or NaN when these are not known.
        """
        from discreet.releases.ambiguous.beliefs import beliefs_at

        return beliefs_at(self, points, withheld)

    def known_values(self, name: str) -> NDArray[Any]:
        """The published values of a column, in their order."""
        for block, auxiliary in zip(self.blocks, self.auxiliaries, strict=True):
            if name in block:
                return np.asarray(auxiliary.columns[block.index(name)].values)
        return self.values

    @cached_property
    def weights(self) -> Sequence[NDArray[np.float64]]:
        """Per auxiliary table: the share of its group's rows that each entry is believed to stand for."""
        from discreet.releases.ambiguous.weights import LikelyShares

        return LikelyShares(self)

    def estimates(self, queries: Sequence[Query], estimator: Estimator = "auto") -> NDArray[np.float64]:
        """How many published rows satisfy each query, values of different auxiliary tables being independent.

        How many of a group's rows hold each of the values that it shows is not published: the same number, or more for
        values that are common (see ``ambiguous_estimating``).
        """
        from discreet.releases.ambiguous.estimate import expected_counts

        return expected_counts(self, queries, estimator)


def make_auxiliary(groups: NDArray[np.int32], number: int, payloads: Sequence[ExactColumn]) -> Auxiliary:
    """The distinct pairs of a group and values of a block, in ascending order."""
    sizes = [number, *(max(1, len(payload.values)) for payload in payloads)]
    keys = numbered([groups, *(payload.codes for payload in payloads)], sizes, len(groups))
    if math.prod(sizes) > 1 << 62:  # the keys are ranks then, which tell nothing of what they stand for
        _, first = np.unique(keys, return_index=True)
        return Auxiliary(groups[first], tuple(payload._replace(codes=payload.codes[first]) for payload in payloads))
    keys = np.sort(keys)
    keys = keys[np.diff(keys, prepend=-1) > 0]
    columns: list[ExactColumn] = []
    for payload, size in zip(reversed(payloads), reversed(sizes), strict=False):
        keys, codes = np.divmod(keys, size)
        columns.insert(0, payload._replace(codes=codes.astype(np.int32)))
    return Auxiliary(keys.astype(np.int32), tuple(columns))
