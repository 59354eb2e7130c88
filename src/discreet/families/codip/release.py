"""A projected release: several tables over the same quasi-identifiers, each with some of the sensitive attributes.

Every table is a release of its own, of the same rows: a generalized one, or one of another format, whose tables have
the number of the part in their names (``table_2``, ``sensitive_2``). The order of a table and the numbers of its groups
follow from what it publishes by itself (see ``releases.canonical``), so nothing but the quasi-identifiers links the
rows of one with those of another. A projected release therefore mostly asks its parts; only counts over attributes of
different tables are its own.

Not every format may be one of several. A release that hides who is in the table would be undone by another one of the
same people, as both say something about the same rows (see ``families.ambiguity.release``); and where only a private
trace tells which rows may be whose, a release of several tables would need one of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.principles.wording import listed
from discreet.releases.assumptions import COARSER, DESCRIBED, ONE_RELEASE
from discreet.releases.attributes import Attribute
from discreet.releases.box_lookup import ByBoxes
from discreet.releases.columns import ExactColumn
from discreet.releases.descriptions import Descriptions
from discreet.releases.folder import Home
from discreet.releases.grouped import GroupedRelease
from discreet.releases.lookup import Lookup
from discreet.releases.partition import GROUP
from discreet.releases.passthrough import kept_sentence
from discreet.releases.release import AUTO, COMMON, Release, check_names, new_manifest
from discreet.releases.statement import Stated, Statement
from discreet.table.query import Query
from discreet.table.table import Column, Table

if TYPE_CHECKING:
    from discreet.releases.frames import Form

ASSUMPTIONS = (
    "Every table has one row for each published row of the original; its sensitive values are published as they were, "
    "and none was invented.",
    DESCRIBED,
    "The order of the rows and the numbers of the groups carry no information, in any table: which rows of different "
    "tables belong to one person is not published.",
    "The promise is kept by every table by itself: against the distribution of its sensitive attributes in the whole "
    "original, withheld rows included, by every group and by the withheld rows taken as one group.",
    "An attacker who takes the tables to be independent given the quasi-identifiers learns no more about an attribute "
    "from all of them than from its own.",
    "The promise does not bound what is learnt by an attacker who knows which values of attributes in different tables "
    "go together: where the groups of two tables overlap only in part, that may tell a person's values.",
    "The sensitive values of a row of one table stand side by side: an attacker who knows one of a person's may "
    "learn the others in that table, and no others.",
    "The promise bounds what the groups say; it does not bound what the choice of these groups and tables rather than "
    "others may tell an adversary who knows the algorithm.",
    ONE_RELEASE,
)

OF_ANY_FORMAT = (
    "Every table is a release by itself, of the format that its entry among the parts names; what may be assumed about "
    "it is stated there.",
    "The order of the rows and the numbers of the groups carry no information, in any table.",
    "The promise is kept by every table by itself.",
    *ASSUMPTIONS[4:5],
    "The promise does not bound what is learnt by an attacker who knows which values of attributes in different tables "
    "go together.",
    "The promise does not bound what the choice of these tables rather than others may tell an adversary who knows the "
    "algorithm.",
    *ASSUMPTIONS[-1:],
)
"""The assumptions where not all tables are generalized releases."""
EXACT = (
    "Quasi-identifiers are published as they are in every table, so rows of different tables with the same ones may be "
    "taken to belong to the same people."
)
UNNAMED = "generalized"
"""The format of tables whose entries among the parts name none."""
OF_PARTS = ("sensitive", "format", "scheme", "assumptions")
"""The entries about a part that are not copied from its own manifest."""

FIRST = "That is in the first table only; in two it would tell which rows belong together."


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ProjectedRelease(Release):
    """The published release, as made by a scheme (``from_parts``) or as found in a folder (``load``)."""

    format: ClassVar[str] = "projected"
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS

    parts: tuple[Release, ...]
    """What each table publishes, as a release of its own."""

    def __post_init__(self) -> None:
        """The faults are those of all tables; the private trace has a column per table."""
        traces = [part.trace for part in self.parts if part.trace is not None]
        whole = len(traces) == len(self.parts)
        object.__setattr__(self, "trace", np.column_stack(traces) if whole else None)
        object.__setattr__(self, "faults", tuple(fault for part in self.parts for fault in part.faults))

    # -------------------------------------------------------------------------------------------------------- making

    @classmethod
    def from_parts(
        cls,
        parts: Sequence[Release],
        *,
        sensitive: Sequence[str] = (),
        **stated: Unpack[Stated],
    ) -> Self:
        """Publish releases of the same rows together; ``sensitive`` is the order of the attributes in the original.

        Columns published unchanged may be in the first of them only: in two tables they would tell which rows belong
        together.

        >>> import discreet as dc
        >>> from dataclasses import replace
        >>> from discreet.datasets import census_arrow
        >>> table = dc.read(census_arrow(300), quasi=["age", "gender"], sensitive=["salary", "occupation"])
        >>> cuts = dc.Cuts(marginals="none")
        >>> parts = [cuts.publish(replace(table, sensitive=(each,)), dc.LDiversity(2)) for each in table.sensitive]
        >>> release = dc.ProjectedRelease.from_parts(parts, promise=dc.LDiversity(2), scheme="mine")
        >>> release, sorted(release.tables(numbers=False))
        (<projected release of 300 rows, 0 withheld: l-diversity(l=2)>, ['table_1', 'table_2'])
        """
        parts = _described_alike(parts)
        _check_parts(parts)
        named = {attribute.name: attribute for part in parts for attribute in part.sensitive}
        first = parts[0]
        others = [attribute for attribute in first.attributes if attribute.role == "other"]
        attributes = (*first.quasi, *(named[name] for name in sensitive or named), *others)
        manifest = new_manifest(
            cls.format,
            Statement(**stated),
            attributes=attributes,
            rows=first.rows,
            withheld=first.withheld,
            assumptions=assumed_of(parts),
            reading=first.manifest.get("reading"),
            parts=[part_entry(part) for part in parts],
        )
        return cls(manifest=manifest, attributes=attributes, parts=tuple(parts)).in_order()

    @classmethod
    def refusal_as_part(cls) -> str | None:
        """Tables are not nested."""
        return "it has several tables itself"

    def in_order(self) -> Self:
        """Return the same release with every table in canonical order."""
        parts = tuple(part.in_order() for part in self.parts)
        same = all(ordered is part for ordered, part in zip(parts, self.parts, strict=True))
        return self if same else replace(self, parts=parts)

    # ------------------------------------------------------------------------------------------------ saving, loading

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> Self:
        """Return the release in a folder whose manifest has been read."""
        from discreet.families.codip.load import load_projected

        return load_projected(home, manifest, cls)

    def tables(self, numbers: bool = True) -> dict[str, pa.Table]:
        """Return the tables of all parts, numbered from 1."""
        return _numbered(part.tables(numbers) for part in self.parts)

    def drawn_columns(self, random: np.random.Generator) -> tuple[ExactColumn, ...]:
        """Raise an error: nothing tells which rows of different tables belong together."""
        raise DiscreetError(
            "nothing tells which rows of the tables of a projected release belong together, so rows can be drawn from "
            f"one table at a time only, as in release.about({self.sensitive[0].name!r}).draw()"
        )

    def typed_tables(self, form: Form) -> dict[str, pa.Table]:
        """Return the tables of all parts as each of them describes its columns."""
        return _numbered(part.typed_tables(form) for part in self.parts)

    def revealed(self, original: Table) -> Self:
        """Return the release with all tables as who has the original reads them."""
        return replace(super().revealed(original), parts=tuple(part.revealed(original) for part in self.parts))

    def traced_to(self, order: NDArray[np.int64]) -> Self:
        """Return the release with the traces of all tables for the rows as they were."""
        return replace(self, parts=tuple(part.traced_to(order) for part in self.parts))

    def trace_columns(self, trace: NDArray[np.int32]) -> dict[str, Any]:
        """The group of every input row in each table."""
        return {
            f"{GROUP}_{at}": pa.array(np.ascontiguousarray(groups), mask=groups < 0)
            for at, groups in enumerate(trace.T, 1)
        }

    # -------------------------------------------------------------------------------------------------- what it tells

    @property
    def projections(self) -> tuple[Release, ...]:
        """What each table publishes, as a release of its own."""
        return self.parts

    @property
    def randomised(self) -> Mapping[str, str]:
        """The columns of all tables that hold randomised values."""
        return {column: name for part in self.parts for column, name in part.randomised.items()}

    @property
    def rows(self) -> int:
        """The number of published rows, which is that of every table."""
        return self.parts[0].rows

    @property
    def groups(self) -> int:
        """The number of groups of all tables."""
        return sum(int(part.manifest.get("groups", 0)) for part in self.parts)

    def about(self, attribute: str | None) -> Release:
        """Return what the table with this sensitive attribute publishes about it alone; that of the first if None."""
        name = self.sensitive[self._place(attribute)].name
        part = next(part for part in self.parts if name in [attribute.name for attribute in part.sensitive])
        return part.about(name)

    @cached_property
    def _first(self) -> Release:
        """What is published about the first sensitive attribute."""
        return self.about(None)

    @property
    def values(self) -> NDArray[Any]:
        """The values of the first sensitive attribute."""
        return self._first.values

    @property
    def published(self) -> NDArray[np.int64] | None:
        """How many published rows have each of them."""
        return self._first.published

    @property
    def grouped(self) -> GroupedRelease | None:
        """The table of the first sensitive attribute."""
        return self._first.grouped

    def contingency(self, column: Column, *, spread: bool = True) -> NDArray[np.float64]:
        """How often values of a quasi-identifier go with those of the first sensitive attribute, by its table."""
        return self._first.contingency(column, spread=spread)

    def beliefs(
        self, points: Mapping[str, ArrayLike], withheld: ArrayLike | None = None, *, attribute: str | None = None
    ) -> NDArray[np.float64]:
        """Return the beliefs about one sensitive attribute, the first unless it is named, from its own table.

        See ``beliefs`` of its format.
        """
        return (self._first if attribute is None else self.about(attribute)).beliefs(points, withheld)

    def presence(self, points: Mapping[str, ArrayLike], *, combined: bool = False) -> NDArray[np.float64]:
        """Return the strongest belief, by any one table, that a person with these quasi-identifiers is in it."""
        return np.asarray(np.max([part.presence(points, combined=combined) for part in self.parts], axis=0))

    def lookup(self) -> Lookup:
        """Return the lookup of people in the groups of all tables; by one of them where rows are as they were."""
        described = [part.descriptions for part in self.parts if part.descriptions is not None]
        return ByBoxes(Descriptions.joined(described)) if len(described) == len(self.parts) else self.parts[0].lookup()

    def conditioned_on(self, name: str, known: str) -> Release | None:
        """Return what the table with both attributes publishes; None if they are in different tables."""
        return next((view for part in self.parts if (view := part.conditioned_on(name, known)) is not None), None)

    def known_values(self, name: str) -> NDArray[Any]:
        """Return the values of a column that its table reveals; of a quasi-identifier, those that the first reveals."""
        for part in self.parts:
            if any(attribute.name == name for attribute in part.attributes):
                return part.known_values(name)
        raise KeyError(name)

    @property
    def estimators(self) -> Mapping[str, str]:
        """Those that all tables have."""
        first, *others = self.parts
        return {
            name: what for name, what in first.estimators.items() if all(name in each.estimators for each in others)
        }

    @property
    def _usual_estimator(self) -> str:
        """The usual one of the tables, if it is the same for all."""
        usual = {part.estimator_named() for part in self.parts}
        return usual.pop() if len(usual) == 1 else AUTO

    def _estimates(self, queries: Sequence[Query], estimator: str) -> NDArray[np.float64]:
        """Estimate how many rows satisfy each query.

        A count whose conditions on sensitive attributes all fall into one table is estimated by that table, and one
        without such conditions by the mean over all tables. Otherwise nothing tells how values of different tables go
        together. The estimate then takes the attributes of different tables to be independent among the rows that
        satisfy the conditions on quasi-identifiers: of these rows, each table tells the share that satisfies the
        conditions on its own attributes, and the shares are multiplied.
        """
        for name in {name for query in queries for name in query.by_attribute}:
            self.attribute(name)
        part_of = self._part_of
        asked = [{part_of[name] for name in query.by_attribute if name in part_of} for query in queries]
        across = [at for at, numbers in enumerate(asked) if len(numbers) != 1]
        result = np.empty(len(queries))
        among = np.empty((len(self.parts), len(across)))
        shares = np.ones(len(across))
        for number, part in enumerate(self.parts):
            alone = [at for at, numbers in enumerate(asked) if numbers == {number}]
            result[alone] = part.estimates([queries[at] for at in alone], estimator)
            among[number] = part.estimates([self._only(queries[at]) for at in across], estimator)
            mine = [place for place, at in enumerate(across) if number in asked[at]]
            matching = part.estimates([self._only(queries[across[place]], number) for place in mine], estimator)
            whole = among[number, mine]
            shares[mine] *= np.divide(matching, whole, out=np.zeros(len(mine)), where=whole > 0.0)
        result[across] = among.mean(axis=0) * shares
        return result

    @cached_property
    def _part_of(self) -> dict[str, int]:
        """The number of the part of every column that is in one table only."""
        return {
            attribute.name: number
            for number, part in enumerate(self.parts)
            for attribute in part.attributes
            if attribute.role != "quasi"
        }

    def _only(self, query: Query, number: int = -1) -> Query:
        """The conditions of a query on quasi-identifiers and, if a part is given by its number, on its attributes."""
        return Query(tuple(each for each in query.conditions if self._part_of.get(each.attribute, number) == number))

    def notes_on(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the note that counts by these columns take attributes of different tables to be independent."""
        apart: dict[int, dict[str, None]] = {}
        for name in names:
            if name in self._part_of:
                apart.setdefault(self._part_of[name], {})[name] = None
        if len(apart) < 2:
            return ()
        return (
            f"{listed(listed(map(repr, columns)) for columns in apart.values())} are in different tables of the "
            "release, so that the estimate takes them to be independent among the rows that satisfy the conditions on "
            "quasi-identifiers",
        )


def _numbered(tables: Iterable[Mapping[str, pa.Table]]) -> dict[str, pa.Table]:
    """Return the tables of several releases under one name each."""
    return {f"{name}_{number}": table for number, each in enumerate(tables, 1) for name, table in each.items()}


def part_entry(part: Release) -> dict[str, Any]:
    """Return what the manifest says about one table: of another format than the generalized one also which, and what
    may be assumed about it."""
    named: dict[str, Any] = {"sensitive": [attribute.name for attribute in part.sensitive]}
    more = {key: value for key, value in part.manifest.items() if key not in COMMON}
    scheme = {"scheme": part.manifest["scheme"]}
    if part.format == UNNAMED:
        return named | more | scheme
    return named | {"format": part.format} | more | scheme | {"assumptions": part.manifest["assumptions"]}


def assumed_of(parts: Sequence[Release]) -> tuple[str, ...]:
    """Return what readers may assume about these tables, and about columns published unchanged in the first."""
    sentences: tuple[str, ...] = ASSUMPTIONS
    if any(part.format != UNNAMED for part in parts):
        sentences = OF_ANY_FORMAT
        sentences += (EXACT,) if all(part.exact_quasi for part in parts) else ()
    kept = [attribute.name for attribute in parts[0].attributes if attribute.role == "other"]
    if any(each.floor is not None or each.fit is not None for part in parts for each in part.attributes):
        sentences += (COARSER,)
    return (*sentences, f"{kept_sentence(kept)} {FIRST}") if kept else sentences


def _described_alike(parts: Sequence[Release]) -> list[Release]:
    """Return the releases with quasi-identifiers described as they are together: what one names, all do."""
    quasi: dict[str, Attribute] = {}
    for part in parts:
        for attribute in part.quasi:
            quasi[attribute.name] = attribute.naming_also(quasi.get(attribute.name, attribute))
    return [replace(part, attributes=tuple(quasi.get(each.name, each) for each in part.attributes)) for part in parts]


def _check_parts(parts: Sequence[Release]) -> None:
    """Raise an error for releases that are not different attributes of the same rows."""
    if not parts:
        raise DiscreetError("a projected release needs at least one table")
    for part in parts:
        if (reason := part.refusal_as_part()) is not None:
            raise DiscreetError(
                f"a release of the format {part.format} cannot be one of several tables of the same people, because "
                f"{reason}; publish it by itself"
            )
        if part.marginals is not None:
            raise DiscreetError(
                "the tables of a projected release have no counts of quasi-identifiers; say marginals=none"
            )
    names = [attribute.name for part in parts for attribute in part.sensitive]
    if len(set(names)) < len(names) or not all(part.sensitive for part in parts):
        raise DiscreetError("every table of a projected release needs sensitive attributes, and each is in one table")
    for part in parts:
        check_names(part.randomised, (attribute.name for other in parts for attribute in other.attributes))
    first = parts[0]
    described = [attribute.as_dict() for attribute in first.quasi]
    for part in parts[1:]:
        alike = described == [attribute.as_dict() for attribute in part.quasi]
        if not alike or (part.rows, part.withheld) != (first.rows, first.withheld):
            raise DiscreetError("the tables of a projected release must publish the same rows and quasi-identifiers")
        if len(part.attributes) > len(part.quasi) + len(part.sensitive):
            raise DiscreetError(
                "only the first table of a projected release may have columns that are published unchanged"
            )
