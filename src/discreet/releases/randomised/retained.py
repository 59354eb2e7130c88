"""A retained release: quasi-identifiers as they are, every sensitive number kept by a coin or else drawn anew.

Besides ``table`` and ``prior`` (see ``randomised``) it says in its manifest with which probability a number was kept,
and how it was drawn otherwise: ``uniform``, all values of the prior alike, or ``prior``, each as often as it occurs.
That is a matrix as a perturbed release prints one, told by one number, as the values may be tens of thousands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.principles.principle import Principle
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn
from discreet.releases.randomised.base import RandomisedRelease
from discreet.releases.randomised.bit_counts import Tally
from discreet.releases.randomised.coin import Coin, Noise
from discreet.releases.randomised.reconstruct import Estimator
from discreet.releases.randomised.retained_estimate import estimated
from discreet.table.query import Query
from discreet.table.table import Table

ASSUMPTIONS = (
    "Every published row is a row of the original with its quasi-identifiers as they were; whoever knows someone's "
    "quasi-identifiers can tell that the person is in the table, and which rows may be the person's. Only the "
    "sensitive value is protected.",
    "Every sensitive value was kept with the probability that the manifest states, and otherwise replaced by one of "
    "the values that the prior lists, drawn with equal probabilities (noise: uniform) or with those of the prior "
    "(noise: prior), independently of all other rows and columns.",
    "The order of the rows carries no information.",
    "The promise is kept against the distribution of the sensitive attribute in the whole original, as the prior lists "
    "it: it bounds the belief that the original value of someone whose published value is known lies near to any value "
    "of the prior, for an adversary who starts from that distribution and judges each row by itself. What else the "
    "adversary knows may say more, and so may, where rows are few, the exact counts of the prior together with all "
    "published values.",
    "The promise covers this one release of the table, not what several releases of it say together.",
)


@dataclass(frozen=True, eq=False, repr=False)
class RetainedRelease(RandomisedRelease):
    """What leaves the house, as made by a scheme (``from_draws``) or as found in a folder (``load``)."""

    format: ClassVar[str] = "retained"
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS

    manifest: dict[str, Any]
    attributes: tuple[Attribute, ...]
    exact: tuple[ExactColumn, ...]
    shown: ExactColumn
    coin: Coin
    prior: NDArray[np.int64]
    others: tuple[ExactColumn, ...] = ()
    faults: tuple[str, ...] = ()
    trace: NDArray[np.int32] | None = None
    """Private: the place in the published table of every input row, -1 when withheld. Never saved."""

    @classmethod
    def from_draws(
        cls,
        table: Table,
        drawn: NDArray[np.int32],
        coin: Coin,
        noise: Noise,
        *,
        promise: Principle,
        scheme: str,
        options: Mapping[str, Any] | None = None,
        seeded: np.random.Generator | None = None,
    ) -> RetainedRelease:
        """Publish ``drawn[row]`` in place of each row's sensitive value: one of its codes, or -1 to withhold the row.

        The order of rows comes from the operating system, unless a ``seeded`` generator is given; the manifest then
        warns that this is an experiment.
        """
        told = {"probability": coin.probability, "noise": noise}
        parts = cls.parts(table, drawn, promise=promise, scheme=scheme, options=options, seeded=seeded, retention=told)
        return cls(coin=coin, **parts)

    @classmethod
    def load(cls, home: Path, manifest: dict[str, Any]) -> RetainedRelease:
        """The release in a folder whose manifest has been read."""
        from discreet.releases.randomised.retained_load import load_retained

        return load_retained(home, manifest)

    @property
    def retention(self) -> float:
        """The share of values that is expected to be published as it was: kept, or drawn again by chance."""
        return float(self.coin.probability + self.coin.share @ self.prior / self.prior.sum())

    def believed(self, published: NDArray[np.int64]) -> NDArray[np.float64]:
        """Per line of published counts: the beliefs that the published values lead to, added up."""
        return self.coin.believed(published, self.prior)

    def estimates(self, queries: Sequence[Query], estimator: Estimator = "auto") -> NDArray[np.float64]:
        """How many published rows satisfied each query in the original, sensitive values being reconstructed.

        Conditions on quasi-identifiers and other columns are exact, and so is a query with no others. How many of the
        rows that satisfy them held a wanted number is estimated (see ``retained_estimating``). Whether a number is
        wanted is kept, or drawn anew, just as the number is, so that no single numbers have to be counted.
        """
        width = len(self.prior)
        held = np.bincount(self.shown.codes, minlength=width)[:width]
        # per value, added up in their order: how often it is published, its share among draws, and that in the prior
        sums = np.zeros((3, width + 1))
        np.cumsum(
            [held, self.coin.weights / self.coin.weights.sum(), self.prior / self.prior.sum()], 1, out=sums[:, 1:]
        )
        rows, published, inside = np.empty(len(queries)), np.empty(len(queries)), np.empty((3, len(queries)))
        exact = np.zeros(len(queries), np.bool_)
        for at, query in enumerate(queries):
            wanted = np.ones(width, np.bool_)
            conditions = self._asked(query, wanted)
            rows[at] = self._tally.counts(conditions)[0]
            exact[at] = wanted.all()
            edges = np.flatnonzero(np.diff(wanted, prepend=False, append=False))
            inside[:, at] = (sums[:, edges[1::2]] - sums[:, edges[::2]]).sum(axis=1)
            shown = np.zeros(-(-self.rows // 64) * 64, np.bool_)  # the rows as they stand in the tally
            for first, last in sums[0, edges].astype(np.int64).reshape(-1, 2).tolist():
                shown[first:last] = True
            published[at] = self._tally.counts([*conditions, np.packbits(shown).view(np.uint64)])[0]
        whole = None if self.withheld else (inside[0], self.rows)
        told = estimated(self.coin.probability, rows, published, inside[1], inside[2], whole, estimator)
        return np.where(exact, rows, told)

    @cached_property
    def _tally(self) -> Tally:
        """The rows in the order of their published numbers, where those of a range stand together."""
        order = np.argsort(self.shown.codes, kind="stable")
        own = {name: column for name, column in self._columns.items() if name != self.sensitive.name}
        codes = {name: column.codes[order] for name, column in own.items()}
        sizes = {name: len(column.values) for name, column in own.items()}
        return Tally(codes, sizes, np.zeros(self.rows, np.int32), 1)
