"""How far counts from groups with exact quasi-identifiers may be off.

An estimate takes quasi-identifiers and sensitive values to be independent inside a group. In a group
of n rows, K of which have a value that is asked for, and a share ``a`` of which satisfies the
conditions on quasi-identifiers, the rows that do both are then as if drawn without replacement: their
variance is n a(1-a) k(1-k) n/(n-1) with k = K/n. What this leaves out is the association inside groups.
Its strength is estimated from the groups themselves, for the very values that are asked for: by how
much more than by chance their shares ``k`` go with the shares of random conditions. It is measured for
every quasi-identifier by itself (for the part of a group that one condition cuts off) and for all
together.

Nothing can be learnt about it where groups are made alike in their sensitive values, as by ``burel``;
so there are standard errors for schemes only that divide rows by quasi-identifiers. `FACTOR` makes the
errors of a normal distribution of these variances; it was chosen on releases of several data sets, and
tests measure on others how often 1.96 standard errors suffice.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.table.combinations import ranked
from discreet.table.query import Query

if TYPE_CHECKING:
    from discreet.releases.anatomy.release import AnatomyRelease

Numbers = NDArray[np.float64]

DIVIDING = ("cuts", "mondrian", "incognito", "sealed", "mirrored")
"""The schemes that divide rows by quasi-identifiers."""
FEWEST = 10
"""The fewest groups from which the association can be estimated."""
CONDITIONS, STRONGEST, FACTOR = 40, 0.4, 2.8 / 1.96
"""Random conditions per quasi-identifier, the largest association assumed, and what errors are multiplied by."""


class Groups:
    """The rows of a release as combinations of quasi-identifiers in groups, prepared for many queries."""

    def __init__(self, release: AnatomyRelease) -> None:
        self.release = release
        self.sizes = release.sizes.astype(np.float64)
        names = list(release.columns)
        keys = [release.columns[name].codes.astype(np.int64) for name in names]
        line = np.zeros(release.rows, np.int64)
        for codes, name in zip(keys, names, strict=True):
            _, _, line = ranked(line * len(release.columns[name].values) + codes)
        _, first, of_row = ranked(line * release.groups + release.group_of)
        self.group = release.group_of[first]
        self.number = np.bincount(of_row, minlength=len(first)).astype(np.float64)
        self.codes = {name: release.columns[name].codes[first] for name in names}

    def rows(self, kept: NDArray[np.bool_]) -> Numbers:
        """Return how many rows of each group are kept, given which combinations are."""
        return np.bincount(self.group, self.number * kept, len(self.sizes)).astype(np.float64)

    def asked(self, query: Query) -> tuple[dict[str, NDArray[np.bool_]], list[Numbers]]:
        """Return which combinations satisfy the conditions on each exact column, and how many rows of each group have
        the values asked for, per sensitive attribute."""
        release = self.release
        kept: dict[str, NDArray[np.bool_]] = {}
        having: list[Numbers] = []
        for name, conditions in query.by_attribute.items():
            admitted = np.ones(len(release.known_values(name)), np.bool_)
            for condition in conditions:
                admitted &= condition.admits(release.known_values(name), release.asked(condition).meaning)
            if name in self.codes:
                kept[name] = admitted[self.codes[name]]
                continue
            at = [attribute.name for attribute in release.sensitive].index(name)
            counts = release.counted[at].counts
            within = np.repeat(np.arange(len(self.sizes)), np.diff(counts.starts))
            amounts = np.where(admitted[counts.values], counts.amounts, 0.0)
            having.append(np.bincount(within, amounts, len(self.sizes)).astype(np.float64))
        return kept, having

    def bounds(self, query: Query) -> tuple[float, float]:
        """Return how many rows satisfy a query for certain, and how many may."""
        kept, having = self.asked(query)
        both = np.logical_and.reduce([*kept.values()]) if kept else np.ones(len(self.group), np.bool_)
        parts = [self.rows(both), *having]
        least = np.maximum(0.0, sum(parts) - (len(parts) - 1) * self.sizes)
        return float(least.sum()), float(np.minimum.reduce(parts).sum())

    @cached_property
    def _random(self) -> tuple[NDArray[np.int64], Numbers, Numbers]:
        """Random conditions on quasi-identifiers: whose each is, how far the rows of each group that satisfy it are
        from the overall share, and how much these vary."""
        chance = np.random.default_rng(0)  # not secret: it decides about widths of intervals only
        whose, away = list[int](), list[Numbers]()
        for at, attribute in enumerate(self.release.quasi):
            number = len(self.release.columns[attribute.name].values)
            for _ in range(CONDITIONS if number > 1 else 0):
                length = min(max(1, round(number * chance.uniform(0.1, 0.75))), number - 1)
                start = int(chance.integers(0, number - length + 1))
                held = (np.arange(number) >= start) & (np.arange(number) < start + length)
                if attribute.kind == "categorical":
                    held = chance.permutation(held)
                rows = self.rows(held[self.codes[attribute.name]])
                whose.append(at)
                away.append(rows - self.sizes * (rows.sum() / self.sizes.sum()))
        weights = np.array(away).reshape(len(away), len(self.sizes))
        return np.array(whose, np.int64), weights, (weights**2 / self.sizes).sum(axis=1)

    def standard_error(self, query: Query) -> float:
        """Return the standard error of an estimate; NaN where several sensitive attributes are asked for."""
        kept, having = self.asked(query)
        if len(having) > 1:
            return float("nan")
        both = np.logical_and.reduce([*kept.values()]) if kept else np.ones(len(self.group), np.bool_)
        if not having or both.all():
            return 0.0
        n, total = self.sizes, float(self.sizes.sum())
        a, k = self.rows(both) / n, having[0] / n
        p = float(having[0].sum()) / total
        drawn = float((n * a * (1 - a) * k * (1 - k) * n / np.maximum(n - 1, 1)).sum())
        whose, weights, spread = self._random
        beyond = (weights @ (k - p)) ** 2 - spread * p * (1 - p)

        def strength(which: NDArray[np.bool_]) -> float:
            scale = float((spread[which] ** 2).sum()) * p * (1 - p)
            return min(STRONGEST**2, max(0.0, float(beyond[which].sum()) / scale)) if scale > 0.0 else 0.0

        left = strength(np.ones(len(whose), np.bool_)) * float((n * a * (1 - a)).sum()) ** 2
        for at, attribute in enumerate(self.release.quasi):
            if attribute.name in kept:
                alone = self.rows(kept[attribute.name]) / n
                left += strength(whose == at) * float((n * a * (1 - alone)).sum()) ** 2
        return FACTOR * float(np.sqrt(drawn + p * (1 - p) / 2 * left))


def tells(release: AnatomyRelease) -> bool:
    """Whether the groups of a release tell how strong the association in them may be."""
    scheme = release.manifest.get("scheme")
    dividing = isinstance(scheme, dict) and scheme.get("name") in DIVIDING
    return dividing and release.groups >= FEWEST
