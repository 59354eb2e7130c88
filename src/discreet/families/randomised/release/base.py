"""The common part of the formats that publish quasi-identifiers unchanged and randomise every sensitive value.

``table`` contains the rows, ``prior`` counts each original value in the whole original; each format adds the
probability of each published value given each original one. From these anyone can compute what a published value
implies about the original one, and estimate how often original values occur among any rows. Presence in the table is
not hidden: anyone who knows a person's quasi-identifiers finds the row, and only the sensitive value is protected.

The column of randomised values is called ``NAME_randomised`` in ``table``, so that nobody counts in it by mistake;
everything else, queries too, is about the attribute ``NAME``.

Replacements are drawn from the values that occur in the original, which are the values that the prior lists.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.releases.attributes import Attribute
from discreet.releases.bit_counts import Words
from discreet.releases.columns import ExactColumn, column_array, one_of, read_listed, read_sensitive, value_name
from discreet.releases.exact_rows import ExactRowsRelease, RowsAt, crossed
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.labels import number_written
from discreet.releases.partition import PublishedRows
from discreet.releases.passthrough import check_kept, check_quasi
from discreet.releases.reading import check_rows, ending_of, read_exact, read_lines, read_texts, row_attributes
from discreet.releases.release import check_names
from discreet.releases.statement import Statement
from discreet.table.query import Query
from discreet.table.table import Table
from discreet.table.texts import MISSING

SURE = 1.0 - 1e-9
"""The belief from which a value counts as certain: no printed probability is quite 0."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RandomisedRelease(ExactRowsRelease):
    """Rows with unchanged quasi-identifiers, and sensitive values that chance has kept or replaced.

    What is believed of a row follows from its published value, the prior and the probabilities of randomisation. The
    private ``trace`` contains the line of the published table for every input row, -1 if withheld.
    """

    contents: ClassVar[Mapping[str, str]] = {"prior": "how many rows of the original have each sensitive value"}

    prior: NDArray[np.int64]
    """The count of each sensitive value in the whole original."""

    @classmethod
    def parts(cls, table: Table, drawn: NDArray[np.int32], statement: Statement, **more: Any) -> dict[str, Any]:
        """The fields of a release that publishes ``drawn[row]`` in place of each row's sensitive value.

        ``drawn`` contains codes of the sensitive attribute, or -1 to withhold the row. ``more`` is added to the
        manifest. Rows are in the order of the table.
        """
        column = table.sensitive_attribute
        if column is None:
            raise DiscreetError(f"a {cls.format} release randomises a sensitive attribute and the table has none")
        if not bool((drawn >= 0).any()):
            raise DiscreetError(
                "every row is withheld, so there is nothing to publish; treat missing as a value of its own instead "
                f"({argument('missing', 'value')})"
            )
        check_kept(table)
        check_quasi(table)
        check_names({randomised_name(column.name): column.name}, (each.name for each in table.columns))
        rows = PublishedRows(table, drawn)
        domain = np.flatnonzero(table.prior_counts)
        place = np.full(len(column.values), -1, np.int32)
        place[domain] = np.arange(len(domain), dtype=np.int32)
        numeric = column.kind == "numeric"
        values = column.values[domain].astype(np.float64) if numeric else np.array(column.texts, object)[domain]
        trace = np.full(table.rows, -1, np.int32)
        trace[rows.rows] = np.arange(len(rows.rows), dtype=np.int32)
        return {
            "manifest": rows.manifest(cls, statement, randomised=entry_of(column.name), **more),
            "attributes": rows.attributes,
            "exact": rows.exact,
            "sensitive_columns": (ExactColumn(values, place[drawn[rows.rows]], column.notation),),
            "prior": table.prior_counts[domain],
            "others": rows.others,
            "trace": trace,
        }

    def tables(self, numbers: bool = True) -> dict[str, pa.Table]:
        """The published table, and the prior."""
        counts = pa.array(self.prior)
        shown = {attribute: column for column, attribute in self.randomised.items()}
        return {
            "table": pa.table(
                {shown.get(name, name): column_array(column, numbers) for name, column in self.columns.items()}
            ),
            "prior": pa.table(
                [pa.array(self.texts), counts if numbers else counts.cast(pa.string())], names=["value", "count"]
            ),
        }

    @property
    def randomised(self) -> Mapping[str, str]:
        """The column of the table that holds the randomised values."""
        return {randomised_name(self.sensitive_attribute.name): self.sensitive_attribute.name}

    @property
    def shown(self) -> ExactColumn:
        """The sensitive values and the code of each row's published value.

        Faulty files may contain values that the prior does not list; these come last.
        """
        return self.sensitive_columns[0]

    @property
    def values(self) -> NDArray[Any]:
        """The sensitive values of the original, in the order of the prior and of the columns of beliefs."""
        return self.shown.values[: len(self.prior)]

    @property
    def texts(self) -> list[str]:
        """The sensitive values of the original as texts, as the prior writes them."""
        return [value_name(value, self.sensitive_attribute.notation) for value in self.values.tolist()]

    def drawn_columns(self, random: np.random.Generator) -> tuple[ExactColumn, ...]:
        """Raise an error: values drawn row by row would go with quasi-identifiers less than those of the original."""
        raise DiscreetError(
            f"values drawn for the rows of a {self.format} release would go together with quasi-identifiers less than "
            "the original ones did, which rows do not show one by one; ask for counts with estimate, which undoes the "
            "randomisation"
        )

    @property
    @abstractmethod
    def retention(self) -> float:
        """The expected share of sensitive values that are published unchanged."""

    @property
    @abstractmethod
    def sources(self) -> NDArray[np.int64]:
        """Per value of the prior: the original value that is certain where it is published; -1 if none is."""

    @abstractmethod
    def believed(self, published: NDArray[np.int64]) -> NDArray[np.float64]:
        """For each line of published counts, the sum of the beliefs that its published values imply."""

    def believed_counts(self, rows: RowsAt) -> NDArray[np.float64]:
        """What the published values of the rows imply."""
        return self.believed(self._counted(rows))

    def estimated_counts(self, rows: RowsAt) -> NDArray[np.float64]:
        """The reconstruction of what the rows had originally."""
        return self.reconstructed(self._counted(rows))

    def _counted(self, rows: RowsAt) -> NDArray[np.int64]:
        """How often each value of the prior is published on each line."""
        width, codes = len(self.prior), self.shown.codes[rows.rows]
        return crossed(rows.lines[codes < width], rows.number, codes[codes < width], width)

    @abstractmethod
    def reconstructed(self, published: NDArray[np.int64]) -> NDArray[np.float64]:
        """For each line of published counts, the estimated original counts."""

    def known_values(self, name: str) -> NDArray[Any]:
        """The values of a column in their order: the published ones or, if it is sensitive, all original ones."""
        if name != self.sensitive_attribute.name:
            return np.asarray(self.columns[name].values)
        # an ordinal attribute may list values that do not occur
        return (
            np.array(self.sensitive_attribute.values, object)
            if self.sensitive_attribute.kind == "ordinal"
            else self.values
        )

    def _asked(self, query: Query, wanted: NDArray[np.bool_]) -> list[Words]:
        """The rows that satisfy each condition on an unchanged column; the sensitive values that the query asks for are
        marked in ``wanted``."""
        sensitive_attribute = self.sensitive_attribute.name
        # an ordinal attribute may list values that do not occur
        ordinal = self.sensitive_attribute.kind == "ordinal"
        known = np.array([MISSING, *self.sensitive_attribute.values], object) if ordinal else self.values
        for condition in query.by_attribute.get(sensitive_attribute, ()):
            admitted = condition.admits(known, self.sensitive_attribute.meaning)
            wanted &= np.isin(self.values, known[admitted]) if ordinal else admitted
        return self.bits(condition for condition in query.conditions if condition.attribute != sensitive_attribute)


def randomised_name(attribute: str) -> str:
    """The name of the column that holds the randomised values of an attribute."""
    return f"{attribute}_randomised"


def entry_of(attribute: str) -> dict[str, str]:
    """What the manifest says about the randomised values of an attribute."""
    return {"attribute": attribute, "column": randomised_name(attribute)}


def read_parts(home: Home, manifest: dict[str, Any], names: Sequence[str]) -> tuple[dict[str, Any], list[str], str]:
    """The fields of a release whose tables are called ``names``, the texts of its prior, and the file extension."""
    attributes = row_attributes(manifest)
    ending = ending_of(manifest, names)
    sensitive_attribute = next(attribute for attribute in attributes if attribute.role == "sensitive")
    column = _column(manifest, sensitive_attribute.name)
    check_names({column: sensitive_attribute.name}, (attribute.name for attribute in attributes))
    named = [column if attribute is sensitive_attribute else attribute.name for attribute in attributes]
    columns = read_texts(home / f"table.{ending}", named)
    faults: list[str] = []
    texts, prior = _prior(home / f"prior.{ending}")
    exact, others = read_exact(attributes, columns, faults)
    shown = _shown(replace(sensitive_attribute, name=column), *columns[column], texts, faults)
    check_rows(f"table.{ending}", len(shown.codes), manifest, faults)
    original = manifest["rows"]["published"] + manifest["rows"]["withheld"]
    if int(prior.sum()) != original:
        faults.append(f"The prior counts {int(prior.sum()):,} rows, but by the manifest the original has {original:,}.")
    parts = {
        "manifest": manifest,
        "attributes": attributes,
        "exact": exact,
        "sensitive_columns": (shown,),
        "prior": prior,
        "others": others,
        "faults": tuple(faults),
    }
    return parts, texts, ending


def _column(manifest: Mapping[str, Any], attribute: str) -> str:
    """The column with the randomised values of an attribute; raises unless the manifest names it."""
    if "randomised" not in manifest:
        raise DiscreetError(
            "the manifest does not name the column of randomised values, because an earlier version of discreet "
            f"published randomised values under the name of the attribute itself, {attribute!r}; publish it again"
        )
    if manifest["randomised"] != entry_of(attribute):
        raise DiscreetError(
            f"the manifest must name {randomised_name(attribute)!r} as the column of the randomised values of "
            f"{attribute!r}; {DAMAGED}"
        )
    return randomised_name(attribute)


def _prior(path: Path) -> tuple[list[str], NDArray[np.int64]]:
    """The sensitive values as texts, and the count of each."""
    texts, words = read_lines(path, ["value", "count"])
    counts = [int(word) if word.isascii() and word.isdigit() and len(word) < 16 else 0 for word in words]
    if len(set(texts)) < len(texts) or not texts or min(counts) < 1:
        raise DiscreetError(
            f"{path.name!r} of the release must list every sensitive value once, with how often it occurs; the file "
            "was damaged or edited, so publish it again"
        )
    return texts, np.array(counts, np.int64)


def _shown(
    attribute: Attribute, words: list[str], codes: NDArray[Any], texts: list[str], faults: list[str]
) -> ExactColumn:
    """The published sensitive values in the order of the prior; values that it does not list are faults, at the end."""
    numeric = attribute.kind == "numeric"
    if numeric:
        exact_column = read_sensitive(attribute, words, codes, faults)
        words, codes = (
            [value_name(value, attribute.notation) for value in exact_column.values.tolist()],
            exact_column.codes,
        )
    shown = read_listed(attribute.name, words, codes, texts, "the prior does not list", faults)
    if not numeric:
        return shown
    try:
        numbers = [math.nan if text == MISSING else number_written(text, attribute.notation) for text in shown.values]
        return ExactColumn(np.array(numbers, np.float64), shown.codes, attribute.notation)
    except ValueError:
        raise DiscreetError(
            f"the prior of the release lists a value of {attribute.name!r} that is not {one_of(attribute)}; the "
            "file was damaged or edited, so publish it again"
        ) from None
