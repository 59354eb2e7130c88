"""A perturbed release: quasi-identifiers as they are, every sensitive value as chance has left or replaced it.

``table`` holds the rows; ``matrix`` how probable each published value (line) was for each original one (column);
``prior`` how often each original value occurs in the whole original. From these three anyone can tell what a published
value says about the original one, and estimate how often original values occur among any rows. Nothing is hidden about
who is in the table: whoever knows someone's quasi-identifiers finds the row, and only the sensitive value is protected.

The values that chance draws from, and that the matrix and the prior list, are those that occur in the original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.principles.principle import Principle
from discreet.randomness import permutation
from discreet.releases.anatomy_asking import codes_found, numbered
from discreet.releases.attributes import Attribute, as_shown, describe
from discreet.releases.keeping import check_kept, kept_assumptions
from discreet.releases.payload import Payload, make_payload, payload_array
from discreet.releases.posteriors import Matrix
from discreet.releases.reconstruction import Estimator, reconstruct
from discreet.releases.release import Release, new_manifest
from discreet.releases.tallying import Tally
from discreet.table.query import Condition, Query, Range
from discreet.table.table import Column, Table
from discreet.table.texts import MISSING, near, number_text

FORMAT = "perturbed"
PUBLISHED = "published"
ASSUMPTIONS = (
    "Every published row is a row of the original with its quasi-identifiers as they were; whoever knows someone's "
    "quasi-identifiers can tell that the person is in the table, and which rows may be the person's. Only the "
    "sensitive value is protected.",
    "Every sensitive value was replaced at random, independently of all other rows and columns, with the probabilities "
    "that the matrix prints (line: published value, column: original value).",
    "The order of the rows carries no information.",
    "The promise is kept against the distribution of the sensitive attribute in the whole original, as the prior lists "
    "it: it bounds the belief in any original value of someone whose published value is known, for an adversary who "
    "starts from that distribution and judges each row by itself. What else the adversary knows may say more, and so "
    "may, where rows are few, the exact counts of the prior together with all published values.",
    "The promise covers this one release of the table, not what several releases of it say together.",
)
BATCH = 1 << 22
"""How many counts are reconstructed at a time."""


@dataclass(frozen=True, eq=False)
class PerturbedRelease(Release):
    """What leaves the house, as made by a scheme (``from_draws``) or as found in a folder (``load``)."""

    format: ClassVar[str] = FORMAT

    manifest: dict[str, Any]
    attributes: tuple[Attribute, ...]
    exact: tuple[Payload, ...]
    """Per quasi-identifier: its distinct published values, and which one each published row holds."""
    shown: Payload
    """The sensitive values, and which one each row is published with. Files that are at fault may show values beyond
    those of the matrix and the prior; these stand at the end."""
    matrix: Matrix
    prior: NDArray[np.int64]
    """How often each sensitive value occurs in the whole original."""
    others: tuple[Payload, ...] = ()
    """Columns carried along, published as they are."""
    faults: tuple[str, ...] = ()
    """What is wrong with the files, in sentences; always empty for a release that was made here."""
    trace: NDArray[np.int32] | None = None
    """Private: the place in the published table of every input row, -1 when withheld. Never saved."""

    # -------------------------------------------------------------------------------------------------------- making

    @classmethod
    def from_draws(
        cls,
        table: Table,
        drawn: NDArray[np.int32],
        matrix: Matrix,
        *,
        promise: Principle,
        scheme: str,
        options: Mapping[str, Any] | None = None,
        seeded: np.random.Generator | None = None,
    ) -> PerturbedRelease:
        """Publish ``drawn[row]`` in place of each row's sensitive value: one of its codes, or -1 to withhold the row.

        The order of rows comes from the operating system, unless a ``seeded`` generator is given; the manifest then
        warns that this is an experiment.
        """
        column = table.sensitive
        if column is None:
            raise DiscreetError("a perturbed release randomises a sensitive attribute and the table has none")
        published = drawn >= 0
        if not bool(published.any()):
            raise DiscreetError(
                "every row is withheld, so there is nothing to publish; treat missing as a value of its own instead "
                "(--missing value)"
            )
        check_kept(table)
        rows = np.flatnonzero(published)
        rows = rows[permutation(len(rows), seeded)]
        trace = np.full(table.rows, -1, np.int32)
        trace[rows] = np.arange(len(rows), dtype=np.int32)
        domain = np.flatnonzero(table.prior_counts)
        place = np.full(len(column.values), -1, np.int32)
        place[domain] = np.arange(len(domain), dtype=np.int32)
        quasi = [as_shown(one, published) for one in table.quasi]
        attributes = [describe(one, "quasi", published, False) for one in quasi]
        exact = [make_payload(one, attribute, rows) for one, attribute in zip(quasi, attributes, strict=True)]
        attributes.append(describe(column, "sensitive", None, True))
        attributes += [describe(one, "other", published, False) for one in table.other]
        manifest = new_manifest(
            FORMAT,
            scheme=scheme,
            options=options or {},
            promise=promise,
            attributes=attributes,
            rows=len(rows),
            withheld=table.rows - len(rows),
            assumptions=(*ASSUMPTIONS, *kept_assumptions(table)),
            seeded=seeded is not None,
        )
        return cls(
            manifest,
            tuple(attributes),
            tuple(exact),
            Payload(_values(column, domain), place[drawn[rows]]),
            matrix,
            table.prior_counts[domain],
            tuple(make_payload(one, None, rows) for one in table.other),
            trace=trace,
        )

    def tables(self, numbers: bool) -> dict[str, pa.Table]:
        """The published table in a random order of rows, the matrix, and the prior."""
        columns = [payload_array(payload, numbers) for payload in (*self.exact, self.shown, *self.others)]
        names = [attribute.name for attribute in self.attributes]
        values = self.texts
        # the printed decimals are so few that they survive being held as numbers
        cells = [pa.array(texts) for texts in zip(*self.matrix.texts(), strict=True)]
        counts = pa.array(self.prior)
        head = PUBLISHED
        while head in values:
            head += "_"
        return {
            "table": pa.table(columns, names=names),
            "matrix": pa.table(
                [pa.array(values), *(cell.cast(pa.float64()) if numbers else cell for cell in cells)],
                names=[head, *values],
            ),
            "prior": pa.table(
                [pa.array(values), counts if numbers else counts.cast(pa.string())], names=["value", "count"]
            ),
        }

    # ------------------------------------------------------------------------------------------------------- counting

    @property
    def rows(self) -> int:
        """How many rows are published."""
        return len(self.shown.codes)

    @property
    def sensitive(self) -> Attribute:
        """The sensitive attribute."""
        return next(attribute for attribute in self.attributes if attribute.role == "sensitive")

    @property
    def values(self) -> NDArray[Any]:
        """The sensitive values of the original, in the order of the matrix and of the columns of beliefs."""
        return self.shown.values[: self.matrix.width]

    @property
    def texts(self) -> list[str]:
        """The same as the matrix and the prior name them."""
        return [value_name(value) for value in self.values.tolist()]

    @property
    def retention(self) -> float:
        """The share of values that is expected to be published as it was."""
        return float(self.matrix.retention @ self.prior / self.prior.sum())

    # --------------------------------------------------------------------------------------------------------- asking

    def beliefs(self, points: Mapping[str, ArrayLike], withheld: ArrayLike | None = None) -> NDArray[np.float64]:
        """What an adversary who knows these quasi-identifiers believes, having found the rows that bear them.

        ``points`` holds original values, one array per quasi-identifier. Each of the rows that bear a point is equally
        likely to be its row; what a row's published value tells about its original one follows from the prior and the
        matrix, and the belief is the average over these rows. A point that no row bears was withheld: then the belief
        is the distribution of the ``withheld`` counts (in the order of ``values``), or NaN when these are not known.
        """
        columns = []
        for attribute, payload in zip(self.quasi, self.exact, strict=True):
            if attribute.name not in points:
                raise DiscreetError(
                    f"the quasi-identifier {attribute.name!r} of the release is not among the points given"
                )
            columns.append(codes_found(attribute, payload, np.atleast_1d(np.asarray(points[attribute.name]))))
        if len({len(column) for column in columns}) > 1:
            raise DiscreetError("the points need as many values for every quasi-identifier")
        known = np.all([column >= 0 for column in columns], axis=0)
        both = [np.concatenate([of.codes, at[known]]) for of, at in zip(self.exact, columns, strict=True)]
        keys = numbered(both, [len(of.values) for of in self.exact], len(both[0]))
        found, places = np.unique(keys[self.rows :], return_inverse=True)
        at = np.searchsorted(found, keys[: self.rows])
        hit = np.flatnonzero(found[np.minimum(at, len(found) - 1)] == keys[: self.rows]) if len(found) else at[:0]
        width = self.matrix.width
        hit = hit[self.shown.codes[hit] < width]
        cells = at[hit] * width + self.shown.codes[hit]
        counts = np.bincount(cells, minlength=len(found) * width).reshape(len(found), width)
        result = np.zeros((len(known), width))
        result[known] = (counts @ np.nan_to_num(self.matrix.posteriors(self.prior)))[places]
        if withheld is not None and np.asarray(withheld).sum() > 0:
            result[~result.any(axis=1)] = np.asarray(withheld)
        totals = result.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(result, totals, out=np.full_like(result, np.nan), where=totals > 0))

    def estimates(self, queries: Sequence[Query], estimator: Estimator = "auto") -> NDArray[np.float64]:
        """How many published rows satisfied each query in the original, sensitive values being reconstructed.

        Conditions on quasi-identifiers and other columns are exact, and so is a query with no others. How often the
        original sensitive values occur among the rows that satisfy them is estimated (see ``reconstruction``).
        """
        width = self.matrix.width
        whole = None if self.withheld else self._tally.counts([])[:width]
        step = max(1, BATCH // width)
        result = np.empty(len(queries))
        for start in range(0, len(queries), step):
            part = queries[start : start + step]
            published = np.empty((len(part), width), np.int64)
            wanted = np.ones((len(part), width), np.bool_)
            for at, query in enumerate(part):
                published[at] = self._published(query, wanted[at])
            totals = published.sum(axis=1).astype(np.float64)
            asked = np.flatnonzero(~wanted.all(axis=1))
            counts = reconstruct(self.matrix, self.prior, published[asked], whole, estimator)
            totals[asked] = np.where(wanted[asked], counts, 0.0).sum(axis=1)
            result[start : start + step] = totals
        return result

    def _published(self, query: Query, wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The published counts among the rows a query is about; the sensitive values it asks for go to ``wanted``."""
        conditions = []
        for condition in query.conditions:
            name = condition.attribute
            attribute = next((one for one in self.attributes if one.name == name), None)
            if attribute is None:
                raise DiscreetError(f"there is no column {name!r} in the release; {near(name, self._columns)}")
            if attribute.role == "sensitive":
                wanted &= self._wanted(condition)
                continue
            if attribute.role == "other" and attribute.kind == "ordinal" and isinstance(condition, Range):
                raise DiscreetError(
                    f"the order of the values of column {name!r} is not published; ask for values with = or IN"
                )
            admitted = condition.admits(self._columns[name].values, attribute.kind)
            conditions.append(self._tally.bits(name, admitted))
        return self._tally.counts(conditions)[: self.matrix.width]

    def _wanted(self, condition: Condition) -> NDArray[np.bool_]:
        """Which sensitive values a condition admits; an order may have values that do not occur."""
        if self.sensitive.kind != "ordinal":
            return condition.admits(self.values, self.sensitive.kind)
        order = [MISSING, *self.sensitive.values]
        admitted = dict(zip(order, condition.admits(np.array(order, object), "ordinal").tolist(), strict=True))
        return np.array([admitted.get(value, False) for value in self.values.tolist()], np.bool_)

    @cached_property
    def _columns(self) -> dict[str, Payload]:
        names = [attribute.name for attribute in self.attributes]
        return dict(zip(names, (*self.exact, self.shown, *self.others), strict=True))

    @cached_property
    def _tally(self) -> Tally:
        own = {name: column for name, column in self._columns.items() if name != self.sensitive.name}
        codes = {name: column.codes for name, column in own.items()}
        sizes = {name: len(column.values) for name, column in own.items()}
        return Tally(codes, sizes, self.shown.codes, len(self.shown.values))


def value_name(value: Any) -> str:
    """A sensitive value as the matrix and the prior name it.

    >>> value_name(17.0), value_name(float("nan")), value_name("flu")
    ('17', '(missing)', 'flu')
    """
    if isinstance(value, str):
        return value
    return MISSING if value != value else number_text(value)


def _values(column: Column, domain: NDArray[np.intp]) -> NDArray[Any]:
    """Some values of a column as a release holds them: numbers, or texts."""
    if column.kind == "numeric":
        return column.values[domain].astype(np.float64)
    return np.array([str(column.values[code]) for code in domain], object)
