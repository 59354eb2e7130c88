"""A generalized release: rows in groups, each group under one description of its quasi-identifiers.

Within a group nobody can tell which row is whose: the rows are shuffled, and group numbers are drawn at random. So what
is published about a person is the group, and the belief in a sensitive value is its share in the group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.principles.principle import Principle
from discreet.randomness import permutation
from discreet.releases.assumptions import DESCRIBED, KEPT_BY_GROUPS, ONE_RELEASE, SHUFFLED, TRUE_VALUES
from discreet.releases.attributes import Attribute, as_shown, describe
from discreet.releases.columns import ExactColumn, exact_column, taken
from discreet.releases.described import DescribedRelease
from discreet.releases.descriptions import Texts
from discreet.releases.folder import Home
from discreet.releases.generalization import Values, exact_texts, generalize
from discreet.releases.partition import check_partition, numbered_anew, persons_entry
from discreet.releases.release import new_manifest
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
