"""The common part of the formats that publish quasi-identifiers unchanged and randomise every sensitive value.

``table`` contains the rows, ``prior`` counts each original value in the whole original; each format adds the
probability of each published value given each original one. From these anyone can compute what a published value
implies about the original one, and estimate how often original values occur among any rows. Presence in the table is
not hidden: anyone who knows a person's quasi-identifiers finds the row, and only the sensitive value is protected.

Replacements are drawn from the values that occur in the original, which are the values that the prior lists.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.releases.attributes import Attribute
from discreet.releases.bit_counts import Tally, Words
from discreet.releases.canonical import line_keys, line_order, renumbered, taken_in
from discreet.releases.columns import ExactColumn, column_array, value_name
from discreet.releases.exact_rows import ExactRowsRelease, codes_found, crossed, lines_at, rows_at
from discreet.releases.partition import PublishedRows
from discreet.releases.passthrough import check_kept, check_quasi
from discreet.releases.statement import Statement
from discreet.table.query import Condition, Query
from discreet.table.table import Column, Table
from discreet.table.texts import MISSING


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RandomisedRelease(ExactRowsRelease):
    """Rows with unchanged quasi-identifiers, and sensitive values that chance has kept or replaced."""

    manifest: dict[str, Any]
    attributes: tuple[Attribute, ...]
    exact: tuple[ExactColumn, ...]
    shown: ExactColumn
    """The sensitive values and the code of each row's published value. Faulty files may contain values that the prior
    does not list; these come last."""
    prior: NDArray[np.int64]
    """The count of each sensitive value in the whole original."""
    others: tuple[ExactColumn, ...] = ()
    """Kept columns, published unchanged."""
    faults: tuple[str, ...] = ()
    trace: NDArray[np.int32] | None = None
    """Private: the line of the published table for every input row, -1 if withheld. Never saved."""

    # -------------------------------------------------------------------------------------------------------- making

    @classmethod
    def parts(
        cls,
        table: Table,
        drawn: NDArray[np.int32],
        statement: Statement,
        **more: Any,
    ) -> dict[str, Any]:
        """The fields of a release that publishes ``drawn[row]`` in place of each row's sensitive value.

        ``drawn`` contains codes of the sensitive attribute, or -1 to withhold the row. ``more`` is added to the
        manifest. Rows are in the order of the table.
        """
        column = table.secret
        if column is None:
            raise DiscreetError(f"a {cls.format} release randomises a sensitive attribute and the table has none")
        if not bool((drawn >= 0).any()):
            raise DiscreetError(
                "every row is withheld, so there is nothing to publish; treat missing as a value of its own instead "
                f"({argument('missing', 'value')})"
            )
        check_kept(table)
        check_quasi(table)
        rows = PublishedRows(table, drawn)
        domain = np.flatnonzero(table.prior_counts)
        place = np.full(len(column.values), -1, np.int32)
        place[domain] = np.arange(len(domain), dtype=np.int32)
        trace = np.full(table.rows, -1, np.int32)
        trace[rows.rows] = np.arange(len(rows.rows), dtype=np.int32)
        return {
            "manifest": rows.manifest(cls, statement, **more),
            "attributes": rows.attributes,
            "exact": rows.exact,
            "shown": ExactColumn(_values(column, domain), place[drawn[rows.rows]], column.notation),
            "prior": table.prior_counts[domain],
            "others": rows.others,
            "trace": trace,
        }

    def in_order(self) -> Self:
        """Return the same release with its rows in canonical order."""
        order = line_order(None, line_keys((*self.exact, self.shown, *self.others), self.rows))
        if order is None:
            return self
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return replace(
            self,
            exact=taken_in(order, self.exact),
            shown=taken_in(order, [self.shown])[0],
            others=taken_in(order, self.others),
            trace=renumbered(places, self.trace),
        )

    def tables(self, numbers: bool) -> dict[str, pa.Table]:
        """The published table, and the prior."""
        columns = [column_array(payload, numbers) for payload in (*self.exact, self.shown, *self.others)]
        names = [attribute.name for attribute in self.attributes]
        counts = pa.array(self.prior)
        return {
            "table": pa.table(columns, names=names),
            "prior": pa.table(
                [pa.array(self.texts), counts if numbers else counts.cast(pa.string())], names=["value", "count"]
            ),
        }

    # ------------------------------------------------------------------------------------------------------- counting

    @property
    def rows(self) -> int:
        """The number of published rows."""
        return len(self.shown.codes)

    @property
    def values(self) -> NDArray[Any]:
        """The sensitive values of the original, in the order of the prior and of the columns of beliefs."""
        return self.shown.values[: len(self.prior)]

    @property
    def texts(self) -> list[str]:
        """The sensitive values of the original as texts, as the prior writes them."""
        return [value_name(value, self.secret.notation) for value in self.values.tolist()]

    @property
    @abstractmethod
    def retention(self) -> float:
        """The expected share of sensitive values that are published unchanged."""

    # --------------------------------------------------------------------------------------------------------- asking

    @abstractmethod
    def believed(self, published: NDArray[np.int64]) -> NDArray[np.float64]:
        """For each line of published counts, the sum of the beliefs that its published values imply."""

    def beliefs(
        self, points: Mapping[str, ArrayLike], withheld: ArrayLike | None = None, *, attribute: str | None = None
    ) -> NDArray[np.float64]:
        """An adversary's beliefs in each sensitive value of a person with these quasi-identifiers.

        ``points`` contains original values, one array per quasi-identifier. Each row with the values of a point is
        equally likely to be the person's. The belief in an original value, given the row's published one, follows from
        the prior and the probabilities of randomisation; the result is the mean over these rows. If no row has the
        values, the person was withheld: then the belief is the distribution of the ``withheld`` counts (in the order of
        ``values``), or NaN if these are not known.
        """
        self.about(attribute)
        found, width = rows_at(self.quasi, self.exact, points), len(self.prior)
        codes = self.shown.codes[found.rows]
        counts = crossed(found.lines[codes < width], found.number, codes[codes < width], width)
        result = np.zeros((len(found.known), width))
        result[found.known] = self.believed(counts)[found.places]
        if withheld is not None and np.asarray(withheld).sum() > 0:
            result[~result.any(axis=1)] = np.asarray(withheld)
        totals = result.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(result, totals, out=np.full_like(result, np.nan), where=totals > 0))

    @abstractmethod
    def reconstructed(self, published: NDArray[np.int64]) -> NDArray[np.float64]:
        """For each line of published counts, the estimated original counts."""

    def contingency(self, column: Column, *, spread: bool = True) -> NDArray[np.float64]:
        """Estimate the original values of the rows with each value of a quasi-identifier (``Release.contingency``)."""
        axis = next(at for at, attribute in enumerate(self.quasi) if attribute.name == column.name)
        exact, width = self.exact[axis], len(self.prior)
        listed = self.shown.codes < width
        counts = crossed(exact.codes[listed], len(exact.values), self.shown.codes[listed], width)
        return lines_at(self.reconstructed(counts), codes_found(self.quasi[axis], exact, column.values))

    def known_values(self, name: str) -> NDArray[Any]:
        """The values of a column in their order: the published ones or, if it is sensitive, all original ones."""
        if name != self.secret.name:
            return self.unchanged[name].values
        # an ordinal attribute may list values that do not occur
        return np.array(self.secret.values, object) if self.secret.kind == "ordinal" else self.values

    def _asked(self, query: Query, wanted: NDArray[np.bool_]) -> list[Words]:
        """The rows that satisfy each condition on an unchanged column; the sensitive values that the query asks for are
        marked in ``wanted``."""
        conditions = []
        for condition in query.conditions:
            attribute = self.asked(condition)
            if attribute.role == "sensitive":
                wanted &= self._wanted(condition)
                continue
            admitted = condition.admits(self.unchanged[attribute.name].values, attribute.meaning)
            conditions.append(self._tally.bits(attribute.name, admitted))
        return conditions

    def _wanted(self, condition: Condition) -> NDArray[np.bool_]:
        """Which sensitive values a condition admits; an ordinal attribute may list values that do not occur."""
        if self.secret.kind != "ordinal":
            return condition.admits(self.values, self.secret.meaning)
        order = [MISSING, *self.secret.values]
        admitted = dict(zip(order, condition.admits(np.array(order, object), "ordinal").tolist(), strict=True))
        return np.array([admitted.get(value, False) for value in self.values.tolist()], np.bool_)

    @cached_property
    @abstractmethod
    def _tally(self) -> Tally:
        """The published rows, prepared for counting."""


def _values(column: Column, domain: NDArray[np.intp]) -> NDArray[Any]:
    """Some values of a column as stored in a release: numbers or texts."""
    if column.kind == "numeric":
        return column.values[domain].astype(np.float64)
    return np.array([str(column.values[code]) for code in domain], object)
