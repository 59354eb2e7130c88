"""Groups with exact quasi-identifiers: what is certain about counts from them, and how far these may be off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.releases.uncertainty import Asked, Association, random_runs
from discreet.table.combinations import ranked
from discreet.table.query import Query

if TYPE_CHECKING:
    from discreet.releases.anatomy.release import AnatomyRelease

Numbers = NDArray[np.float64]


class Groups:
    """The rows of a release as combinations of quasi-identifiers in groups, prepared for many queries."""

    def __init__(self, release: AnatomyRelease) -> None:
        self.release = release
        self.sizes = release.counts.sizes.astype(np.float64)
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

    def satisfying(self, kept: Mapping[str, NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Return which combinations satisfy the conditions on all exact columns, given which satisfy those on each."""
        return np.asarray(np.logical_and.reduce([np.ones(len(self.group), np.bool_), *kept.values()]))

    def bounds(self, query: Query) -> tuple[float, float]:
        """Return how many rows satisfy a query for certain, and how many may."""
        kept, having = self.asked(query)
        parts = [self.rows(self.satisfying(kept)), *having]
        least = np.maximum(0.0, sum(parts) - (len(parts) - 1) * self.sizes)
        return float(least.sum()), float(np.minimum.reduce(parts).sum())

    @cached_property
    def _association(self) -> Association:
        """How strongly sensitive values go with quasi-identifiers, as random conditions tell."""
        whose, rows = list[int](), list[Numbers]()
        for at, attribute in enumerate(self.release.quasi):
            for held in random_runs(attribute, len(self.release.columns[attribute.name].values)):
                whose.append(at)
                rows.append(self.rows(held[self.codes[attribute.name]]))
        return Association(self.sizes, whose, rows)

    def standard_errors(self, queries: Sequence[Query]) -> Numbers:
        """Return the standard errors of estimates; NaN where several sensitive attributes are asked for."""
        places = {attribute.name: at for at, attribute in enumerate(self.release.quasi)}
        asked, known = list[Asked](), np.ones(len(queries), np.bool_)
        for at, query in enumerate(queries):
            kept, having = self.asked(query)
            known[at] = len(having) <= 1
            alone = {places[name]: self.rows(held) / self.sizes for name, held in kept.items() if name in places}
            every = self.rows(self.satisfying(kept)) / self.sizes
            asked.append(Asked(alone, every, having[0] if having else None))
        return np.where(known, self._association.errors(asked, len(places)), np.nan)
