"""A synthetic release: rows drawn from a noisy model of the table, none of which belongs to a person.

Its one table, ``table``, has a column for every quasi-identifier and every sensitive attribute. The manifest states
under ``privacy`` what was spent: ``epsilon``, and where the lists of values and the ends of numbers came from
(``domains``: ``declared`` by the publisher, or ``observed`` in the table). There is no trace, since no row leads back
to a person, and nothing in the files can show that the noise was added: that is an assumption.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self, Unpack, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.principles.differential_privacy import DifferentialPrivacy
from discreet.releases.assumptions import NO_ORDER, NOISE_DRAWN
from discreet.releases.attributes import points_given
from discreet.releases.columns import ExactColumn, coded_numbers, column_array, read_sensitive
from discreet.releases.exact_rows import ExactRowsRelease, RowsAt, crossed
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.partition import PublishedRows
from discreet.releases.reading import check_rows, ending_of, listed_attributes, read_texts
from discreet.releases.statement import Stated, Statement
from discreet.table.query import Query
from discreet.table.table import Column, Table

Domains = Literal["declared", "observed"]
TABLE = "table"
ESTIMATORS = {"drawn": "the drawn rows that satisfy the conditions"}
ASSUMPTIONS = (
    "All rows are synthetic: they were drawn from a model of the original, whose counts were made noisy. Whether "
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
    NOISE_DRAWN,
    NO_ORDER,
    "Several releases of the same people add up: their epsilons together are the epsilon of all of them.",
)


class Privacy(NamedTuple):
    """What a release says of how it was drawn."""

    epsilon: float
    domains: Domains
    """Whether the publisher declared the lists of values and the ends of numbers, or they were taken from the table."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SyntheticRelease(ExactRowsRelease):
    """A synthetic release, made of drawn rows (``of_rows``) or loaded from a folder (``load``); it has no trace."""

    format: ClassVar[str] = "synthetic"
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS
    estimators = ESTIMATORS
    exact_quasi: ClassVar[bool] = False
    of_people: ClassVar[bool] = False
    contents: ClassVar[Mapping[str, str]] = {"table": "synthetic rows"}

    privacy: Privacy

    @classmethod
    def of_rows(cls, rows: Table, privacy: Privacy, **stated: Unpack[Stated]) -> Self:
        """Publish drawn rows, given as a table whose columns list the values and ends that are public.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> stated = {"promise": dc.DifferentialPrivacy(1), "scheme": "by-hand"}
        >>> dc.SyntheticRelease.of_rows(patients(), Privacy(1.0, "observed"), **stated)
        <synthetic release of 48 rows, 0 withheld: differential-privacy(epsilon=1)>
        """
        drawn = PublishedRows(rows, np.zeros(rows.rows, np.int32), labels=True, all_public=True)
        return cls(
            manifest=drawn.manifest(cls, Statement(**stated), privacy=privacy._asdict()),
            attributes=drawn.attributes,
            exact=drawn.exact,
            sensitive_columns=drawn.sensitive_columns,
            privacy=privacy,
        ).in_order()

    @classmethod
    def of_table(cls, table: Table) -> Self:
        """Make a table attackable as a synthetic one that promises nothing known.

        What a differentially private table promises is that no person's row changes the probability of any outcome by
        more than a factor. That cannot be seen from the table: that it was drawn so is an assumption. Attacks guess as
        from published rows, and find what the model has learnt of everyone.

        >>> from discreet.datasets import patients
        >>> SyntheticRelease.of_table(patients()).rows
        48
        """
        unknown = Privacy(float("inf"), "observed")
        made = cls.of_rows(table, unknown, promise=DifferentialPrivacy(1.0), scheme="none")
        return replace(made, manifest={**made.manifest, "promise": []})

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> Self:
        """Load the release in a folder whose manifest has been read."""
        both = {"quasi", "sensitive"}
        attributes = listed_attributes(
            manifest, lambda roles: set(roles) == both, "sensitive attributes, and no others"
        )
        name = f"{TABLE}.{ending_of(manifest, [TABLE])}"
        faults: list[str] = []
        privacy = _privacy(manifest.get("privacy"), faults)
        columns = read_texts(home / name, [attribute.name for attribute in attributes])
        read = [read_sensitive(attribute, *columns[attribute.name], faults) for attribute in attributes]
        quasi = sum(attribute.role == "quasi" for attribute in attributes)
        check_rows(name, len(read[0].codes), manifest, faults)
        if withheld := manifest["rows"]["withheld"]:
            faults.append(f"The manifest says that {withheld:,} rows are withheld, but no synthetic row can be.")
        return cls(
            manifest=manifest,
            attributes=attributes,
            exact=tuple(read[:quasi]),
            sensitive_columns=tuple(read[quasi:]),
            privacy=privacy,
            faults=tuple(faults),
        )

    def tables(self, numbers: bool = True) -> dict[str, pa.Table]:
        """The table of rows."""
        return {TABLE: pa.table({name: column_array(column, numbers) for name, column in self.columns.items()})}

    def named_rows(self, random: np.random.Generator) -> tuple[ExactColumn, ...]:
        """All rows, with their first sensitive value."""
        return (*self.exact, *self.sensitive_columns[:1])

    def drawn_columns(self, random: np.random.Generator) -> tuple[ExactColumn, ...]:
        """All rows, which are drawn already."""
        return (*self.exact, *self.sensitive_columns)

    @property
    def values(self) -> NDArray[Any]:
        """The values of the first sensitive attribute, in the order of the columns of beliefs."""
        return np.asarray(self.sensitive_columns[0].values)

    def about(self, attribute: str | None) -> SyntheticRelease:
        """What is published about one sensitive attribute, without the others; about the first if None."""
        at = self._place(attribute)
        if len(self.sensitive_columns) == 1:
            return self
        return replace(
            self, attributes=(*self.quasi, self.sensitive[at]), sensitive_columns=(self.sensitive_columns[at],)
        )

    def with_values(self, column: Column) -> SyntheticRelease:
        """The same rows, with the numbers of the original among the values that might have been drawn."""
        (sensitive_attribute,) = self.sensitive_columns
        if column.kind != "numeric":
            return self
        values, at = coded_numbers(np.concatenate([sensitive_attribute.values, column.values.astype(np.float64)]))
        return replace(
            self, sensitive_columns=(sensitive_attribute._replace(values=values, codes=at[sensitive_attribute.codes]),)
        )

    def conditioned_on(self, name: str, known: str) -> SyntheticRelease | None:
        """What is published about one sensitive attribute beside another that is known of everyone."""
        names = [attribute.name for attribute in self.sensitive]
        if name == known or name not in names or known not in names:
            return None
        at, alone = names.index(known), self.about(name)
        taken = replace(self.sensitive[at], role="quasi")
        return replace(
            alone, attributes=(*self.quasi, taken, *alone.sensitive), exact=(*self.exact, self.sensitive_columns[at])
        )

    def beliefs(
        self, points: Mapping[str, ArrayLike], withheld: ArrayLike | None = None, *, attribute: str | None = None
    ) -> NDArray[np.float64]:
        """The beliefs in each sensitive value of an attacker who takes the drawn rows as if they were people's.

        That is the distribution among the rows with the quasi-identifiers of a point, and NaN if there are none: then
        they say nothing about such a person in particular.
        """
        return super().beliefs(points, attribute=attribute)

    def believed_counts(self, rows: RowsAt) -> NDArray[np.float64]:
        """How many of the rows have each value."""
        sensitive_attribute = self.sensitive_columns[0]
        return crossed(
            rows.lines, rows.number, sensitive_attribute.codes[rows.rows], len(sensitive_attribute.values)
        ).astype(np.float64)

    def presence(self, points: Mapping[str, ArrayLike], *, combined: bool = False) -> NDArray[np.float64]:
        """NaN for every point: drawn rows say nothing certain about who is in the table."""
        return np.full(len(points_given(self.quasi, points)[0]), np.nan)

    def known_values(self, name: str) -> NDArray[Any]:
        """The values of a column in their order."""
        return np.asarray(self.columns[name].values)

    def _estimates(self, queries: Sequence[Query], estimator: str) -> NDArray[np.float64]:
        """The number of drawn rows that satisfy each query, which estimates that of the original.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> scheme = dc.PrivBayes(domains="observed", random_state=1)
        >>> drawn = scheme.publish(patients(), dc.DifferentialPrivacy(2))
        >>> drawn.estimate("SELECT COUNT(*) FROM t WHERE sex IN ('F', 'M')")
        48.0
        """
        return np.array([self.tally.counts(self.bits(query.conditions))[0] for query in queries], np.float64)

    def notes_on(self, names: Sequence[str]) -> tuple[str, ...]:
        """A sentence on what the counts rest on."""
        return ("the rows are synthetic, drawn from noisy counts",)


def _privacy(entry: Any, faults: list[str]) -> Privacy:
    """What the manifest says of how the rows were drawn."""
    entry = entry if isinstance(entry, dict) else {}
    epsilon, domains = entry.get("epsilon"), entry.get("domains")
    number = isinstance(epsilon, int | float) and not isinstance(epsilon, bool) and math.isfinite(epsilon)
    if not number or epsilon <= 0 or domains not in get_args(Domains):
        raise DiscreetError(
            "the manifest of the release does not say which epsilon was spent, and where the lists of values came "
            f"from; {DAMAGED}"
        )
    if set(entry) != set(Privacy._fields):
        faults.append("The manifest has entries under 'privacy' that this format does not know.")
    return Privacy(float(epsilon), domains)
