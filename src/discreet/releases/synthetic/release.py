"""A synthetic release: rows drawn from a noisy model of the table, none of which is anybody's.

Its one table, ``table``, has a column for every quasi-identifier and every sensitive attribute. The manifest states
under ``privacy`` what was spent: ``epsilon``, and where the lists of values and the ends of numbers came from
(``domains``: ``declared`` by the publisher, or ``observed`` in the table). There is no trace, since no row leads back
to a person, and nothing in the files can show that the noise was added: it has to be believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.releases.assumptions import NO_ORDER
from discreet.releases.attributes import Attribute, as_shown, describe
from discreet.releases.bit_counts import Tally
from discreet.releases.canonical import line_keys, line_order, taken_in
from discreet.releases.columns import ExactColumn, column_array, exact_column
from discreet.releases.exact_rows import codes_at, codes_found, crossed, lines_at, rows_at
from discreet.releases.folder import Home
from discreet.releases.lookup import Lookup
from discreet.releases.release import Release, new_manifest
from discreet.releases.statement import Stated, Statement
from discreet.table.query import Query
from discreet.table.table import Column, Table

Domains = Literal["declared", "observed"]
TABLE = "table"
ASSUMPTIONS = (
    "No row belongs to anybody: rows were drawn from a model of the original, whose counts were made noisy. Whether "
    "somebody's values are among the rows says nothing certain about who is in the original.",
    "The promise is epsilon-differential privacy: for any two tables with the same number of rows that differ in one "
    "row, in any of its values, no set of outcomes is likelier from one than from the other by more than the factor "
    "e^epsilon.",
    "So it bounds what is learnt because of one row: to someone who knows all other rows, the odds of any two values "
    "of that row change by at most e^epsilon. It does not bound what is learnt about a person from the rows of others, "
    "and so not the belief in a sensitive value; nor is it about persons who have several rows.",
    "Taken as public, and not covered: the columns with their kinds, whether their numbers are whole and whether "
    "values may be missing; the lists of values, hierarchies and ends of numbers that the manifest states; and the "
    "number of rows.",
    "The noise was drawn as stated, nobody can repeat it, and nothing else was published of it. No file can show this; "
    "it has to be believed.",
    NO_ORDER,
    "Several releases of the same people add up: their epsilons together are the epsilon of all of them.",
)


class Privacy(NamedTuple):
    """What a release says of how it was drawn."""

    epsilon: float
    domains: Domains
    """Whether the publisher declared the lists of values and the ends of numbers, or they were taken from the table."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SyntheticRelease(Release):
    """A synthetic release, made of drawn rows (``of_rows``) or loaded from a folder (``load``)."""

    format: ClassVar[str] = "synthetic"
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS
    of_people: ClassVar[bool] = False

    manifest: dict[str, Any]
    attributes: tuple[Attribute, ...]
    exact: tuple[ExactColumn, ...]
    """For each quasi-identifier, its values and the code of each row."""
    secrets: tuple[ExactColumn, ...]
    """The same for each sensitive attribute."""
    privacy: Privacy
    faults: tuple[str, ...] = ()
    trace: NDArray[np.int32] | None = None
    """Always ``None``."""

    # --------------------------------------------------------------------------------------------------------- making

    @classmethod
    def of_rows(
        cls,
        rows: Table,
        privacy: Privacy,
        **stated: Unpack[Stated],
    ) -> Self:
        """Publish drawn rows, given as a table whose columns list the values and ends that are public.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> told = {"promise": dc.DifferentialPrivacy(1), "scheme": "by-hand"}
        >>> dc.SyntheticRelease.of_rows(patients(), Privacy(1.0, "observed"), **told)
        <synthetic release of 48 rows, 0 withheld: differential-privacy(epsilon=1)>
        """
        quasi = [describe(as_shown(column, None), "quasi", True) for column in rows.quasi]
        sensitive = [describe(as_shown(column, None), "sensitive", True) for column in rows.sensitive]
        attributes = (*quasi, *sensitive)
        every = np.arange(rows.rows)
        manifest = new_manifest(
            cls.format,
            Statement(**stated),
            attributes=attributes,
            rows=rows.rows,
            withheld=0,
            assumptions=cls.assumed(attributes, stated["promise"]),
            privacy=privacy._asdict(),
        )
        return cls(
            manifest=manifest,
            attributes=attributes,
            exact=tuple(exact_column(*both, every) for both in zip(rows.quasi, quasi, strict=True)),
            secrets=tuple(exact_column(*both, every) for both in zip(rows.sensitive, sensitive, strict=True)),
            privacy=privacy,
        ).in_order()

    def in_order(self) -> Self:
        """The same rows in canonical order."""
        order = line_order(None, line_keys((*self.exact, *self.secrets), self.rows))
        return (
            self
            if order is None
            else replace(self, exact=taken_in(order, self.exact), secrets=taken_in(order, self.secrets))
        )

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> SyntheticRelease:
        """Load the release in a folder whose manifest has been read."""
        from discreet.releases.synthetic.load import load_synthetic

        return load_synthetic(home, manifest)

    def lookup(self) -> Lookup:
        """The look-up of people among the drawn rows, as if these were people's."""
        from discreet.releases.exact_rows import ByRows

        return ByRows(self)

    def tables(self, numbers: bool) -> dict[str, pa.Table]:
        """The table of rows."""
        columns = [column_array(payload, numbers) for payload in (*self.exact, *self.secrets)]
        return {TABLE: pa.table(columns, names=[attribute.name for attribute in self.attributes])}

    # --------------------------------------------------------------------------------------------------------- asking

    @property
    def rows(self) -> int:
        """The number of drawn rows."""
        return len(self.secrets[0].codes)

    @property
    def values(self) -> NDArray[Any]:
        """The values of the first sensitive attribute, in the order of the columns of beliefs."""
        return np.asarray(self.secrets[0].values)

    def about(self, attribute: str | None) -> SyntheticRelease:
        """What is published about one sensitive attribute, without the others; about the first if None."""
        at = self._place(attribute)
        if len(self.secrets) == 1:
            return self
        return replace(self, attributes=(*self.quasi, self.sensitive[at]), secrets=(self.secrets[at],))

    def knowing(self, column: Column) -> SyntheticRelease:
        """The same rows, with the numbers of the original among the values that might have been drawn."""
        (secret,) = self.secrets
        if column.kind != "numeric":
            return self
        values = np.unique(np.concatenate([secret.values, column.values.astype(np.float64)]))
        if np.isnan(values[-1]):  # a missing number comes first
            values = np.roll(values, 1)
        at = codes_found(self.secret, ExactColumn(values, secret.codes, secret.notation), secret.values)
        return replace(self, secrets=(secret._replace(values=values, codes=at[secret.codes].astype(np.int32)),))

    def beside(self, name: str, known: str) -> SyntheticRelease | None:
        """What is published about one sensitive attribute beside another that is known of everyone."""
        names = [attribute.name for attribute in self.sensitive]
        if name == known or name not in names or known not in names:
            return None
        at, alone = names.index(known), self.about(name)
        taken = replace(self.sensitive[at], role="quasi")
        return replace(alone, attributes=(*self.quasi, taken, *alone.sensitive), exact=(*self.exact, self.secrets[at]))

    def beliefs(
        self, points: Mapping[str, ArrayLike], withheld: ArrayLike | None = None, *, attribute: str | None = None
    ) -> NDArray[np.float64]:
        """The beliefs in each sensitive value of whoever takes the drawn rows as if they were people's.

        That is the distribution among the rows with the quasi-identifiers of a point, and NaN if there are none: then
        they say nothing about such a person in particular.
        """
        release = self.about(attribute)
        (secret,), found = release.secrets, rows_at(release.quasi, release.exact, points)
        counts = crossed(found.lines, found.number, secret.codes[found.rows], len(secret.values))
        result = np.full((len(found.known), len(secret.values)), np.nan)
        with np.errstate(invalid="ignore"):
            result[found.known] = (counts / counts.sum(axis=1, keepdims=True))[found.places]
        return result

    def contingency(self, column: Column, *, spread: bool = True) -> NDArray[np.float64]:
        """How many drawn rows have each value of a quasi-identifier with each sensitive value."""
        axis = next(at for at, attribute in enumerate(self.quasi) if attribute.name == column.name)
        exact, secret = self.exact[axis], self.secrets[0]
        counts = crossed(exact.codes, len(exact.values), secret.codes, len(secret.values))
        return lines_at(counts, codes_found(self.quasi[axis], exact, column.values))

    def presence(self, points: Mapping[str, ArrayLike], *, combined: bool = False) -> NDArray[np.float64]:
        """NaN for every point: drawn rows say nothing certain about who is in the table."""
        return np.full(len(codes_at(self.quasi, self.exact, points)[0]), np.nan)

    def known_values(self, name: str) -> NDArray[Any]:
        """The values of a column in their order."""
        return np.asarray(self._columns[name].values)

    def estimates(self, queries: Sequence[Query]) -> NDArray[np.float64]:
        """The number of drawn rows that satisfy each query, which estimates that of the original.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> scheme = dc.PrivBayes(domains="observed", random_state=1)
        >>> drawn = scheme.publish(patients(), dc.DifferentialPrivacy(2))
        >>> drawn.estimate("SELECT COUNT(*) FROM t WHERE sex IN ('F', 'M')")
        48.0
        """
        return np.array([self._count(query) for query in queries], np.float64)

    def notes_on(self, names: Sequence[str]) -> tuple[str, ...]:
        """A sentence on what the counts rest on."""
        return ("the rows were drawn from noisy counts, and belong to nobody",)

    def _count(self, query: Query) -> int:
        conditions = []
        for condition in query.conditions:
            attribute = self.asked(condition)
            admitted = condition.admits(self._columns[attribute.name].values, attribute.meaning)
            conditions.append(self._tally.bits(attribute.name, admitted))
        return int(self._tally.counts(conditions)[0])

    @cached_property
    def _columns(self) -> dict[str, ExactColumn]:
        names = [attribute.name for attribute in self.attributes]
        return dict(zip(names, (*self.exact, *self.secrets), strict=True))

    @cached_property
    def _tally(self) -> Tally:
        codes = {name: column.codes for name, column in self._columns.items()}
        sizes = {name: len(column.values) for name, column in self._columns.items()}
        return Tally(codes, sizes, np.zeros(self.rows, np.int32), 1)
