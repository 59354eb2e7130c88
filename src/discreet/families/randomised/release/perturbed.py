"""A perturbed release: unchanged quasi-identifiers, and sensitive values that chance has kept or replaced.

Besides ``table`` and ``prior`` (see ``base``) it contains ``matrix``: the probability of
each published value (line) given each original one (column), chosen separately for every pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self, Unpack, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.families.randomised.release.base import SURE, RandomisedRelease, read_parts
from discreet.families.randomised.release.matrix import Matrix
from discreet.families.randomised.release.reconstruct import Estimator, reconstruct
from discreet.releases.assumptions import EXACT_ROWS, NO_ORDER, ONE_RELEASE
from discreet.releases.bit_counts import Tally
from discreet.releases.folder import Home
from discreet.releases.statement import Stated, Statement
from discreet.table.query import Query
from discreet.table.table import Table
from discreet.table.write import read_table

PUBLISHED = "published"
ASSUMPTIONS = (
    EXACT_ROWS,
    "Every sensitive value was replaced at random, independently of all other rows and columns, with the probabilities "
    "that the matrix prints (line: published value, column: original value).",
    NO_ORDER,
    "The promise is kept against the distribution of the sensitive attribute in the whole original, as the prior "
    "lists it: it bounds the belief in any original value, or in any node of values if it is about nodes, of someone "
    "whose published value is known, for an adversary who starts from that distribution and judges each row by "
    "itself. Other knowledge may reveal more, and so may the exact counts of the prior together with all published "
    "values, if there are few rows.",
    ONE_RELEASE,
)

BATCH = 1 << 22
"""How many counts are reconstructed at a time."""

ESTIMATORS = {
    "ridge": "the inverse shrunk toward the prior",
    "em": "the most probable counts by expectation maximisation",
    "controlled-inverse": "the inverse, corrected by what is known of the whole table",
    "inverse": "the inverse of the matrix times the published counts (PM^-1 E'), as in the paper",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PerturbedRelease(RandomisedRelease):
    """A perturbed release, made by a scheme (``from_draws``) or loaded from a folder (``load``)."""

    format: ClassVar[str] = "perturbed"
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS
    estimators = ESTIMATORS
    contents: ClassVar[Mapping[str, str]] = {
        "matrix": "with which probability a value (its column) was published as another (its line)"
    }

    matrix: Matrix
    """The probability of each published value given each original one."""

    @classmethod
    def from_draws(cls, table: Table, drawn: NDArray[np.int32], matrix: Matrix, **stated: Unpack[Stated]) -> Self:
        """Publish ``drawn[row]``, a code or -1 to withhold the row, in place of each row's sensitive value."""
        return cls(matrix=matrix, **cls.parts(table, drawn, Statement(**stated))).in_order()

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> Self:
        """Load the release in a folder whose manifest has been read."""
        parts, texts, ending = read_parts(home, manifest, ("table", "matrix", "prior"))
        return cls(matrix=_read_matrix(home / f"matrix.{ending}", texts), **parts)

    def tables(self, numbers: bool = True) -> dict[str, pa.Table]:
        """The published table, the matrix, and the prior."""
        values = self.texts
        # the printed decimals are few enough to survive conversion to floats
        cells = [pa.array(texts) for texts in zip(*self.matrix.texts(), strict=True)]
        head = PUBLISHED
        while head in values:
            head += "_"
        matrix = pa.table(
            [pa.array(values), *(cell.cast(pa.float64()) if numbers else cell for cell in cells)],
            names=[head, *values],
        )
        return {**super().tables(numbers), "matrix": matrix}

    @property
    def retention(self) -> float:
        """The expected share of sensitive values that are published unchanged."""
        return float(self.matrix.retention @ self.prior / self.prior.sum())

    @property
    def sources(self) -> NDArray[np.int64]:
        """Those of whose line of the matrix one cell has nearly all the belief."""
        beliefs = np.nan_to_num(self.matrix.posteriors(self.prior))
        return np.where(beliefs.max(axis=1) >= SURE, beliefs.argmax(axis=1), -1)

    def believed(self, published: NDArray[np.int64]) -> NDArray[np.float64]:
        """For each line of published counts, the sum of the beliefs that its published values imply."""
        return np.asarray(published @ np.nan_to_num(self.matrix.posteriors(self.prior)), np.float64)

    def _estimates(self, queries: Sequence[Query], estimator: str) -> NDArray[np.float64]:
        """The estimated number of published rows whose original values satisfy each query.

        Conditions on other columns are evaluated exactly, so a query without a condition on sensitive values is exact;
        otherwise see ``reconstruct``: the default is ours, the paper's is ``inverse``.
        """
        width = self.matrix.width
        step = max(1, BATCH // width)
        result = np.empty(len(queries))
        for start in range(0, len(queries), step):
            part = queries[start : start + step]
            published = np.empty((len(part), width), np.int64)
            wanted = np.ones((len(part), width), np.bool_)
            for at, query in enumerate(part):
                published[at] = self.tally.counts(self._asked(query, wanted[at]))[:width]
            totals = published.sum(axis=1).astype(np.float64)
            asked = np.flatnonzero(~wanted.all(axis=1))
            counts = self.reconstructed(published[asked], cast(Estimator, estimator))
            totals[asked] = np.where(wanted[asked], counts, 0.0).sum(axis=1)
            result[start : start + step] = totals
        return result

    def reconstructed(self, published: NDArray[np.int64], estimator: Estimator = "auto") -> NDArray[np.float64]:
        """For each line of published counts, the estimated original counts."""
        whole = None if self.withheld else self.tally.counts([])[: self.matrix.width]
        return reconstruct(self.matrix, self.prior, published, whole, estimator)

    @cached_property
    def tally(self) -> Tally:
        """The rows by their published value."""
        return Tally(self.columns, self.shown.codes, len(self.shown.values))


def _read_matrix(path: Path, texts: list[str]) -> Matrix:
    """Read the matrix; its lines and columns must be in the order of the prior."""
    if not path.is_file():
        raise DiscreetError(f"the release is incomplete: {path.name!r} is missing; publish it again")
    table = read_table(path)
    coded = [column.chunk(0) for column in table.columns]
    cells = [np.array(each.dictionary.to_pylist(), object)[each.indices.to_numpy()].tolist() for each in coded]
    if table.column_names[1:] != texts or cells[0] != texts:
        raise DiscreetError(
            f"the lines and columns of {path.name!r} are not the values of the prior, in its order; the file was "
            "damaged or edited, so publish it again"
        )
    return Matrix.from_texts([list(line) for line in zip(*cells[1:], strict=True)])
