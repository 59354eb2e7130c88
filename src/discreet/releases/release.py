"""The contract of a release of any format: tables and a manifest."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.options import brief, checked, several
from discreet.principles.principle import Principle
from discreet.principles.wording import listed, rows
from discreet.releases import folder as files
from discreet.releases.assumptions import COARSER, SEEDED, UNREPEATABLE
from discreet.releases.attributes import Attribute
from discreet.releases.boxes import columns_at
from discreet.releases.columns import ExactColumn
from discreet.releases.descriptions import Descriptions
from discreet.releases.folder import Home
from discreet.releases.lookup import Lookup
from discreet.releases.passthrough import kept_sentence
from discreet.releases.placement import replace_folder
from discreet.releases.statement import Statement
from discreet.table.date_numbers import Meaning
from discreet.table.grouping import GroupBy
from discreet.table.query import Condition, OneOf, Query, Range, as_query, by_leaves
from discreet.table.table import Column, Table
from discreet.table.texts import near
from discreet.table.write import digest, write_table
from discreet.version import __version__

if TYPE_CHECKING:
    from discreet.releases.frames import Form, Numbers, Sets
    from discreet.releases.grouped import GroupedRelease
    from discreet.releases.marginals import Marginals
    from discreet.releases.query_notes import Estimate
    from discreet.table.total import Total

    Question = Query | Total
    """What a release estimates: a count, or a sum or a mean."""

AUTO = "auto"
"""The name that leaves the choice of the estimator to the release."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Release(ABC):
    """A release, made by a scheme or loaded from a folder."""

    format: ClassVar[str]
    """The name of the format in the manifest."""
    assumptions: ClassVar[tuple[str, ...]]
    """Sentences for the manifest on what readers may assume about every release of the format."""

    described_exactly: ClassVar[tuple[str, ...]] = ()
    """Further ones on releases of schemes that were asked for exact descriptions in place of boxes."""

    exact_quasi: ClassVar[bool] = False
    """Whether quasi-identifiers are published unchanged."""
    hides_presence: ClassVar[bool] = False
    """Whether the format always leaves presence in doubt, so that audits report how much."""
    takes_marginals: ClassVar[bool] = False
    """Whether counts of quasi-identifiers may be published beside it."""
    about_persons: ClassVar[bool] = False
    """Whether the format supports promises about persons with several rows."""
    of_people: ClassVar[bool] = True
    """Whether published rows are people's; otherwise they are drawn, and no trace leads back to anyone."""

    contents: ClassVar[Mapping[str, str]] = {"table": "a line for each published row"}
    """What stands in each of its tables, by how the name of the file begins; a class says what its bases do not."""

    manifest: dict[str, Any]
    attributes: tuple[Attribute, ...]
    faults: tuple[str, ...] = ()
    """Sentences on inconsistencies in the files; always empty for a release made in this process."""
    trace: NDArray[np.int32] | None = None
    """Private: the published number of every input row's group, -1 if withheld. Known to the publisher, never saved.

    Of a matched release a matrix: the numbers of all rows that may be the person's."""
    confirm: Callable[[Path], None] | None = field(default=None, init=False)
    """Raises an error if the files in a folder do not keep what is promised; known to the publisher, until the release
    is changed in any way."""

    @classmethod
    @abstractmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> Release:
        """Load the release in a folder whose manifest has been read; inconsistencies are reported in ``faults``."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """The number of published rows."""

    if TYPE_CHECKING:  # a field in some formats, whose dataclasses would take a property for its default

        @property
        def values(self) -> NDArray[Any]:
            """The sensitive values, in the order of the columns of ``beliefs``."""

    @property
    def published(self) -> NDArray[np.int64] | None:
        """How many published rows have each of ``values``; ``None`` if that is not published."""
        return None

    @property
    def grouped(self) -> GroupedRelease | None:
        """The release itself if its persons are in groups, each of whose rows may be anyone's in it; else ``None``."""
        return None

    @property
    def descriptions(self) -> Descriptions | None:
        """The descriptions of the quasi-identifiers; ``None`` if the format does not describe them."""
        return None

    @property
    def marginals(self) -> Marginals | None:
        """How many rows have which values of each quasi-identifier, if that is published; only beside boxes."""
        return None

    @property
    def projections(self) -> tuple[Release, ...]:
        """The releases that it consists of, each of which describes every row once: itself, unless it has several."""
        return (self,)

    @property
    def kept_rows(self) -> tuple[NDArray[np.int64], tuple[ExactColumn, ...]]:
        """By what an attacker finds a person's rows, a number for each published row, and the kept columns, if any."""
        return np.zeros(0, np.int64), ()

    def named_rows(self, random: np.random.Generator) -> tuple[ExactColumn, ...]:
        """The rows whose quasi-identifiers it names, one column for each; drawn rows also have a sensitive attribute.

        Of lists of values, a combination of each group, by lot. Nothing where values are described.
        """
        return ()

    def conditioned_on(self, name: str, known: str) -> Release | None:
        """What is published about a sensitive attribute to an attacker who knows another one of each person.

        A release of the former alone, in which the latter is the last quasi-identifier; None if rows do not have both.
        """
        return None

    @abstractmethod
    def lookup(self) -> Lookup:
        """The look-up that finds the groups which may contain given people."""

    def __repr__(self) -> str:
        # short and without the trace, because notebooks store what they display
        promise = self.manifest.get("promise", "nothing")  # a loaded manifest may contain anything
        text = " & ".join(map(str, promise)) if isinstance(promise, list) else str(promise)
        return f"<{self.format} release of {rows(self.rows)}, {self.withheld:,} withheld: {text}>"

    @property
    def withheld(self) -> int:
        """The number of rows of the original that are not published, according to the manifest."""
        return int(self.manifest["rows"]["withheld"])

    @property
    def quasi(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers."""
        return tuple(attribute for attribute in self.attributes if attribute.role == "quasi")

    @property
    def sensitive(self) -> tuple[Attribute, ...]:
        """The sensitive attributes."""
        return tuple(attribute for attribute in self.attributes if attribute.role == "sensitive")

    @property
    def sensitive_attribute(self) -> Attribute:
        """The sensitive attribute, the first if there are several; for releases that have one."""
        return self.sensitive[0]

    @property
    def randomised(self) -> Mapping[str, str]:
        """The columns of the files that hold randomised values, each with the attribute whose values these were."""
        return {}

    def attribute(self, name: str) -> Attribute:
        """The attribute of this name, whatever its role; raises if there is none."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        if name in self.randomised:
            raise DiscreetError(
                f"column {name!r} holds randomised values, counts of which mislead; ask for {self.randomised[name]!r}, "
                "whose counts are estimated by undoing the randomisation"
            )
        known = [attribute.name for attribute in self.attributes]
        raise DiscreetError(f"there is no column {name!r} in the release; {near(name, known)}")

    def asked(self, condition: Condition) -> Attribute:
        """The attribute that a condition of a query is about; raises if there is none, or not in an order."""
        attribute = self.attribute(condition.attribute)
        if attribute.role == "other" and attribute.kind == "ordinal" and isinstance(condition, Range):
            raise DiscreetError(
                f"the order of the values of column {attribute.name!r} is not published; ask for values with = or IN"
            )
        return attribute

    def about(self, attribute: str | None) -> Release:
        """What is published about one sensitive attribute, as a release that has no other; about the first if None.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> dc.publish(patients(), dc.KAnonymity(4)).about("age")
        Traceback (most recent call last):
        discreet.errors.DiscreetError: 'age' is not a sensitive attribute of the release; it has 'disease'
        """
        self._place(attribute)
        return self  # a format that can have several sensitive attributes says otherwise

    def with_values(self, column: Column) -> Release:
        """The release to someone who knows which sensitive values there are: it lists them all, if it did not before.

        Formats that publish people's rows list every value that occurs anyway."""
        return self

    @classmethod
    def refusal_as_part(cls) -> str | None:
        """Why releases of the format cannot be one of several tables of the same people; None if they can."""
        return None

    def _place(self, attribute: str | None) -> int:
        """The place of a sensitive attribute among all of them, 0 if none is named; raises if it is not sensitive."""
        names = [sensitive.name for sensitive in self.sensitive]
        if attribute is None or attribute in names:
            return 0 if attribute is None else names.index(attribute)
        others = listed(map(repr, names)) if names else "none"
        raise DiscreetError(f"{attribute!r} is not a sensitive attribute of the release; it has {others}")

    @classmethod
    def assumed(
        cls,
        attributes: Sequence[Attribute],
        promise: Principle,
        persons: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[str, ...]:
        """What readers may assume about a release with these attributes, this promise and these options of its scheme;
        ``persons`` if the promise concerns persons who may have several rows."""
        kept = [attribute.name for attribute in attributes if attribute.role == "other"]
        several = [attribute.role for attribute in attributes].count("sensitive") > 1
        further = cls._further_assumptions(several, promise, persons)
        exact = isinstance(options, Mapping) and options.get("descriptions") == "exact"
        exactly = cls.described_exactly if exact else ()
        coarse = [COARSER] if any(each.floor is not None or each.fit is not None for each in attributes) else []
        return (*cls.assumptions, *exactly, *further, *coarse, *([kept_sentence(kept)] if kept else []))

    @classmethod
    def _further_assumptions(cls, several: bool, promise: Principle, persons: bool) -> list[str]:
        """The assumptions that apply to some releases of the format only: if ``several`` attributes are sensitive."""
        return []

    @abstractmethod
    def in_order(self) -> Release:
        """The same release with its lines and the numbers of its groups in canonical order; itself if they are.

        ``releases.canonical`` defines the order, and has what formats need for it.
        """

    @abstractmethod
    def tables(self, numbers: bool = True) -> dict[str, pa.Table]:
        """The tables by name; with ``numbers``, columns of numbers are typed as such, otherwise they are texts."""

    def to_arrow(
        self, numbers: Numbers = "bounds", sets: Sets = "text", random_state: int | None = None
    ) -> pa.Table | dict[str, pa.Table]:
        """The published table with a type for every column; of several tables a dict of them by name.

        Numbers, dates and ordered values that are published as intervals become two columns, ``age_lo``
        and ``age_hi``, both null for ``*`` and ``(missing)``. With ``numbers="middle"`` numbers and
        dates become one column of middles, with ``"text"`` they stay as published. Sets and labels of
        categories stay as published, too; with ``sets="lists"`` they become lists of the values, null
        where a value has no name in the release.
        With ``numbers="draw"`` it is a table of the rows of `draw`.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> table = dc.publish(patients(), dc.KAnonymity(4)).to_arrow()
        >>> table.schema.names, str(table.schema.field("age_lo").type)
        (['group', 'age_lo', 'age_hi', 'sex', 'zip_lo', 'zip_hi', 'disease'], 'int64')
        """
        from discreet.releases import frames

        return frames.framed(self, frames.Form.of(numbers, sets, random_state))

    def to_pandas(self, numbers: Numbers = "bounds", sets: Sets = "text", random_state: int | None = None) -> Any:
        """The same as `to_arrow`, as a frame of pandas, or a dict of frames."""
        from discreet.releases import frames

        return frames.framed(self, frames.Form.of(numbers, sets, random_state), frames.as_pandas())

    def to_polars(self, numbers: Numbers = "bounds", sets: Sets = "text", random_state: int | None = None) -> Any:
        """The same as `to_arrow`, as a frame of polars, or a dict of frames."""
        from discreet.releases import frames

        return frames.framed(self, frames.Form.of(numbers, sets, random_state), frames.as_polars())

    def draw(self, n: int | None = None, random_state: int | None = None) -> pa.Table:
        """Rows in the columns of the original, drawn from what the release says of them; as many as it publishes, if
        ``n`` does not say otherwise.

        They are drawn from the model by which counts are estimated, so that their counts are near to `estimates`. They
        say nothing that the release does not say. Without a ``random_state`` each call draws others.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> release = dc.publish(patients(), dc.KAnonymity(4))
        >>> release.draw(3, random_state=1).schema.names, release.draw().num_rows
        (['age', 'sex', 'zip', 'disease'], 48)
        """
        from discreet.releases.drawn import drawn_rows

        return drawn_rows(self, n, random_state)

    def drawn_columns(self, random: np.random.Generator) -> tuple[ExactColumn, ...]:
        """A value of every attribute for each published row, drawn from what the release says of it."""
        raise DiscreetError(
            f"rows cannot be drawn from a release of the format {self.format}; ask it for counts with estimate"
        )

    def typed_tables(self, form: Form) -> dict[str, pa.Table]:
        """The tables by name, with a type for every column."""
        from discreet.releases.frames import typed

        return typed(self, form)

    @abstractmethod
    def beliefs(
        self, points: Mapping[str, ArrayLike], withheld: ArrayLike | None = None, *, attribute: str | None = None
    ) -> NDArray[np.float64]:
        """The adversary's beliefs in each sensitive value, given a person's quasi-identifiers: one line per point.

        ``points`` contains original values, one array per quasi-identifier. The beliefs are about the sensitive
        attribute that is named, whose values are ``known_values(attribute)`` in their order; or else about the first,
        whose values are ``values``. A person whom nothing published may be about was withheld: the belief is then the
        distribution of the ``withheld`` counts (in the order of the values), or NaN if these are not known.
        """

    def presence(self, points: Mapping[str, ArrayLike], *, combined: bool = False) -> NDArray[np.float64]:
        """The belief that a person with these quasi-identifiers is in the table at all, one number per point.

        This is the largest belief from any one group that may contain the person; with ``combined``, the belief from
        all of them together. If no group may contain the person it is 0, or NaN if rows are withheld, because nothing
        is known about these.
        """
        lookup = self.lookup()
        matches = lookup.find(columns_at(self.quasi, points), lookup.known_chances)
        beliefs = matches.together if combined else matches.largest
        return np.where((matches.groups == 0) & (self.withheld > 0), np.nan, beliefs)

    @abstractmethod
    def known_values(self, name: str) -> NDArray[Any]:
        """The values of a column that the release reveals, in their order, possibly including a missing one."""

    def estimates(self, queries: Sequence[Question | str], estimator: str = AUTO) -> NDArray[np.float64]:
        """The estimated number of published rows that satisfy each query, or a sum or a mean over them; withheld rows
        are not estimated.

        Queries are what `estimate` takes. The estimator is one of ``estimators``; ``auto`` is the usual one.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> release = dc.publish(patients(), dc.KAnonymity(4))
        >>> release.estimates(["SELECT COUNT(*) FROM t WHERE age >= 0", dc.Query(dc.OneOf("sex", "F"))]).tolist()
        [48.0, 24.0]
        """
        named = self.estimator_named(estimator)
        asked = [self.resolved(query) for query in several(queries)]
        counts = [each for each in asked if isinstance(each, Query)]
        if len(counts) == len(asked):
            return self._estimates(counts, named)
        from discreet.releases.totals import answered

        return answered(self, asked, named)

    @abstractmethod
    def _estimates(self, queries: Sequence[Query], estimator: str) -> NDArray[np.float64]:
        """The estimates by one of ``estimators``, whose name was checked, or by ``auto`` if there are none."""

    def exact_sums(self, name: str, queries: Sequence[Query]) -> NDArray[np.float64] | None:
        """The estimated sum of a column over the rows that satisfy each query, where rows show their numbers and each
        counts in part; None where it follows from counts alone."""
        return None

    def certain_bounds(self, queries: Sequence[Query]) -> NDArray[np.float64] | None:
        """How many published rows satisfy each query for certain, and how many may: a line each; None if nothing is
        certain in this format."""
        return None

    def standard_errors(self, queries: Sequence[Query]) -> NDArray[np.float64] | None:
        """The standard error of each estimate by the usual estimator; NaN for a query that has none, and None if the
        release does not tell."""
        return None

    def estimator_named(self, name: str = AUTO) -> str:
        """The name of the estimator that this one stands for: ``auto`` for the usual one; raises if there is none."""
        if isinstance(name, str) and name in self.estimators:
            return name
        if name == AUTO:
            return self._usual_estimator
        known = listed([f"{known} ({what})" for known, what in self.estimators.items()])
        raise DiscreetError(
            f"a release of the format {self.format} has no estimator {brief(name)}; "
            + (f"it has {known}" if known else "leave it out, because it has none by name"),
            "estimator",
        )

    @property
    def estimators(self) -> Mapping[str, str]:
        """The ways to estimate counts, by name, each with what it is; the first is the usual one, in most formats."""
        return {}

    @property
    def _usual_estimator(self) -> str:
        """The one that ``auto`` stands for."""
        return next(iter(self.estimators), AUTO)

    def contingency(self, column: Column, *, spread: bool = True) -> NDArray[np.float64]:
        """How many published rows have each value of a quasi-identifier together with each sensitive value.

        One line for each of the values of ``column``, which is named like the quasi-identifier and may be from another
        table; one column for each of ``values``. A row whose description admits several of these values counts for each
        of them in equal parts or, without ``spread``, fully for each. A format that does not say otherwise is asked by
        count queries, which know no second way.
        """
        numeric = column.kind == "numeric"
        lines = [OneOf(column.name, (float(value) if numeric else str(value),)) for value in column.values.tolist()]
        name = self.sensitive_attribute.name
        wanted = [OneOf(name, (value if isinstance(value, str) else float(value),)) for value in self.values.tolist()]
        queries = [Query((line, value)) for line in lines for value in wanted]
        return self._estimates(queries, self._usual_estimator).reshape(len(lines), len(wanted))

    def notes_on(self, names: Sequence[str]) -> tuple[str, ...]:
        """Sentences on what estimates with conditions on these columns rest on, without a full stop."""
        return ()

    def notes(self, query: Query, grouped: Sequence[str] = ()) -> tuple[str, ...]:
        """Sentences on the answer to a query, grouped by some columns, that its number does not tell; without a full
        stop.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> dc.publish(patients(), dc.KAnonymity(4)).notes(dc.Query(dc.Range("age", 200)))
        ("column 'age' lies between 16 and 79 in the release, where no value satisfies the condition",)
        """
        from discreet.releases.query_notes import notes_on_values

        return (*notes_on_values(self, query), *self.notes_on([*query.by_attribute, *grouped]))

    def estimate(self, query: Question | str, estimator: str = AUTO) -> Estimate:
        """The estimated number of rows that satisfy a `Query` or a text ``SELECT COUNT(*) FROM t WHERE ...``, or a sum
        or a mean over them (`Total`, ``SELECT SUM(weight) FROM t``, ``SELECT AVG(age) FROM t WHERE ...``).

        It is a float with ``notes``, for example on conditions outside the domain of a column.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> dc.publish(patients(), dc.KAnonymity(4)).estimate("SELECT COUNT(*) FROM t WHERE age >= 0")
        48.0
        """
        from discreet.releases.query_notes import Estimate

        asked = self.resolved(query)
        notes = self.notes(asked) if isinstance(asked, Query) else self.notes(asked.query, [asked.measure.attribute])
        return Estimate.noted(float(self.estimates([asked], estimator)[0]), notes)

    def resolved(self, query: Question | str) -> Question:
        """A query, which may be SQL, with the values below each label of a hierarchy in place of the label."""
        if isinstance(query, str):
            return self.question(query)
        if not isinstance(query, Query):
            from discreet.table.total import Total  # imported late: most questions are counts

            if isinstance(query, Total):
                self.attribute(query.measure.attribute)
                return query.over(by_leaves(self.attributes, query.query))
        return by_leaves(self.attributes, as_query(query))

    def question(self, text: str) -> Question:
        """Parse SQL that asks for a count, a sum or a mean of this release."""
        from discreet.table.sql import parse_question

        asked = parse_question(text, self._nameable)
        for name in (asked if isinstance(asked, Query) else asked.query).by_attribute:
            self.attribute(name)
        return self.resolved(asked)

    def query(self, text: str) -> Query:
        """Parse an SQL count query about this release; a label of a hierarchy stands for the values below it."""
        from discreet.table.sql import parse_count

        asked = parse_count(text, self._nameable)
        for name in asked.by_attribute:
            self.attribute(name)
        return by_leaves(self.attributes, asked)

    @property
    def _nameable(self) -> dict[str, Meaning]:
        """The kinds of all columns, also of those with randomised values, to name which is refused with a reason."""
        kinds = {attribute.name: attribute.meaning for attribute in self.attributes}
        return {column: kinds[name] for column, name in self.randomised.items()} | kinds

    def group_by(self, counts: GroupBy | str, estimator: str = AUTO) -> pa.Table:
        """Estimate GROUP BY counts: a table with one line per cell.

        Accepts a `GroupBy` or a text ``SELECT sex, COUNT(*) FROM t WHERE ... GROUP BY sex``. Each cell is estimated by
        its own query, over the values that the release reveals; cells with an estimate of 0 are omitted. Notes, as on
        an `estimate`, are in the metadata of the table's schema under ``notes``, a line each.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> release = dc.publish(patients(), dc.KAnonymity(4))
        >>> release.group_by("SELECT sex, COUNT(*) FROM t GROUP BY sex").to_pydict()
        {'sex': ['F', 'M'], 'count': [24.0, 24.0]}
        """
        asked = self.grouping(counts) if isinstance(counts, str) else counts
        if not isinstance(asked, GroupBy):
            raise DiscreetError(
                f"{brief(counts)} asks for no counts by group; give GroupBy('sex'), for example, or SQL as text"
            )
        asked = replace(asked, query=by_leaves(self.attributes, asked.query))
        by = [self.attribute(name) for name in asked.attributes]
        ordered = {attribute.name: attribute for attribute in self.attributes if attribute.kind == "ordinal"}
        conditions = (
            ordered[each.attribute].standing_in(each) if each.attribute in ordered else each
            for each in asked.query.conditions
        )
        asked = replace(asked, query=Query(tuple(conditions)))
        named = self.estimator_named(estimator)
        self._estimates([asked.query], named)  # rejects conditions the release cannot answer, before cells are built
        values = {attribute.name: self.known_values(attribute.name) for attribute in by}
        grid = asked.grid(values, {attribute.name: attribute.meaning for attribute in self.attributes})
        cells_of, estimates = grid.counts(lambda queries: self._estimates(queries, named))
        cells = np.flatnonzero(estimates) if by else np.arange(1)
        if asked.measure is not None:
            from discreet.releases.totals import grouped

            estimates = grouped(self, asked.measure, grid, named)
        grid = cells_of
        notations = {attribute.name: attribute.notation for attribute in self.attributes}
        answer = asked.answer(grid.cells(cells), estimates[cells], notations)
        named_by = () if asked.measure is None else (asked.measure.attribute,)
        notes = self.notes(asked.query, (*asked.attributes, *named_by))
        return answer.replace_schema_metadata({"notes": "\n".join(notes)}) if notes else answer

    def grouping(self, text: str) -> GroupBy:
        """Parse an SQL GROUP BY count about this release."""
        from discreet.table.sql import parse_group_by

        asked = parse_group_by(text, self._nameable)
        measured = () if asked.measure is None else (asked.measure.attribute,)
        for name in (*measured, *asked.attributes, *asked.query.by_attribute):
            self.attribute(name)
        return replace(asked, query=by_leaves(self.attributes, asked.query))

    def revealed(self, original: Table) -> Self:
        """Return the release as who has the original reads it: with the names of values that stand in no cell."""
        columns = {column.name: column for column in original.columns}
        attributes = [
            attribute.revealed(columns[attribute.name]) if attribute.name in columns else attribute
            for attribute in self.attributes
        ]
        same = all(new is old for new, old in zip(attributes, self.attributes, strict=True))
        return self if same else replace(self, attributes=tuple(attributes))

    def traced_to(self, order: NDArray[np.int64]) -> Self:
        """Return the release with the trace of rows as they were before they were put into this order, which has the
        original row at each place."""
        if self.trace is None:
            return self
        trace = np.empty_like(self.trace)
        trace[order] = self.trace
        return replace(self, trace=trace)

    def trace_columns(self, trace: NDArray[np.int32]) -> dict[str, Any]:
        """The columns of the private file that stores the trace: the group of every input row, empty if withheld."""
        return {"group": pa.array(trace, mask=trace < 0)}

    def save(
        self,
        folder: str | os.PathLike[str],
        format: Literal["csv", "parquet"] = "csv",
        force: bool = False,
        audit: bool = True,
    ) -> Path:
        """Write the release to a folder in one step: afterwards it is complete, or nothing has changed.

        A folder that is not empty is replaced only with ``force``, and only if it contains a release and nothing else.
        What `discreet.publish` has made is audited from its files, against the table, before it takes its place; say
        ``audit=False`` to leave that to a later `discreet.audit`.
        """
        if not isinstance(format, str) or format not in ("csv", "parquet"):
            raise DiscreetError(f"a release is written as csv or parquet, not as {brief(format)}; choose one of them")

        confirm = self.confirm if checked("audit", audit, bool) else None

        def write(home: Path) -> None:
            written = {}
            for name, table in self.tables(numbers=format == "parquet").items():
                path = home / f"{name}.{format}"
                write_table(table, path, format)
                written[path.name] = {"sha256": digest(path)}
            files.write_manifest(home, {**self.manifest, "tables": written})
            if confirm is not None:
                confirm(home)

        return replace_folder(folder, write, checked("force", force, bool))


def check_names(randomised: Mapping[str, str], names: Iterable[str]) -> None:
    """Raise if a column that is to hold randomised values would have the name of another column."""
    for column in randomised.keys() & set(names):
        raise DiscreetError(
            f"the column {column!r} has the name under which the randomised values of {randomised[column]!r} are "
            "published; rename it, or leave it out"
        )


COMMON = (
    "discreet",
    "format",
    "format_version",
    "scheme",
    "promise",
    "attributes",
    "reading",
    "rows",
    "tables",
    "assumptions",
    "experimental_seed",
)
"""The entries of manifests that no format adds."""


def new_manifest(
    format: str,
    statement: Statement,
    *,
    attributes: Sequence[Attribute],
    rows: int,
    withheld: int,
    assumptions: Sequence[str],
    reading: Any = None,
    **more: Any,
) -> dict[str, Any]:
    """The entries of every manifest, and those that a format adds (``more``).

    ``reading`` is what was said to read the original; without it there is no such entry.
    """
    manifest: dict[str, Any] = {
        "discreet": __version__,
        "format": format,
        "format_version": files.FORMAT_VERSION,
        "scheme": statement.entry,
        "promise": [part.text for part in statement.promise.parts],
        "attributes": [attribute.as_dict() for attribute in attributes],
        **({"reading": reading} if reading else {}),
        "rows": {"published": rows, "withheld": withheld},
        **more,
        "tables": {},
        "assumptions": list(assumptions),
    }
    if statement.seeded is not None and statement.seeded is not False:
        manifest["assumptions"] = [SEEDED if each in UNREPEATABLE else each for each in assumptions]
        manifest["experimental_seed"] = True
    return manifest
