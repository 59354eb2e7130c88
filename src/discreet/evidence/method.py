"""The schemes that are compared: what the papers compare, with the papers' settings, and our own under their names.

Releases are kept for a while, because figures of a paper look at the same ones. Times are those of the processors, so
that they depend little on what else a machine does; kernels are compiled before, by publishing a few rows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from discreet.analyst.loss import ail, gcp
from discreet.analyst.workload import run
from discreet.errors import DiscreetError
from discreet.evidence.claims import Record
from discreet.evidence.ground import Asked
from discreet.principles import Prior, parse
from discreet.releases.release import Release
from discreet.schemes import make_scheme
from discreet.table.table import Table

WARM_ROWS = 2_000
"""Enough rows for every kernel to be used."""


@dataclass(frozen=True)
class Method:
    """A scheme with its settings, what it promises, and how counts are estimated from it."""

    name: str
    """The name in the paper; or that of our scheme."""
    scheme: str
    """The scheme as it is typed; it may have names of parameters in braces, too."""
    promise: str
    """What it promises, with the names of parameters in braces: ``beta-likeness(beta={beta})``."""
    estimator: str = "auto"

    def publish(self, table: Table, given: Mapping[str, Any], seed: int) -> Made:
        """Publish a table under the promise with these parameters."""
        return published(table, self.scheme.format_map(given), self.promise.format_map(given), seed)

    def errors(self, made: Made, table: Table, asked: Asked) -> Record:
        """How far estimates are from the exact counts: median and mean."""
        usual = made.release.estimators
        name = self.estimator if self.estimator == "auto" or self.estimator in usual else "auto"
        found = run(_Estimating(made.release, name), table, asked.queries, asked.exact)  # type: ignore[arg-type]
        return {"error": found.median, "mean error": found.mean, "dropped": found.dropped}

    def losses(self, made: Made) -> Record:
        """What describing quasi-identifiers costs."""
        return {"AIL": ail(made.release), "GCP": gcp(made.release), "groups": getattr(made.release, "groups", None)}


@dataclass(frozen=True)
class Made:
    """A release, and how long it took."""

    release: Any
    seconds: float


@dataclass(frozen=True)
class _Estimating:
    """A release whose counts are estimated in one way."""

    release: Release
    estimator: str

    def estimates(self, queries: Any) -> Any:
        return self.release.estimates(queries, self.estimator)


@lru_cache(maxsize=24)
def published(table: Table, scheme: str, promise: str, seed: int) -> Made:
    """Publish a table, with kernels compiled before."""
    _warm(table, scheme, promise)
    asked, made = parse(promise), make_scheme(scheme, random_state=seed)
    start = time.process_time()
    release = made.publish(table, asked)
    return Made(release, time.process_time() - start)


_WARM: set[tuple[str, ...]] = set()
"""What has been compiled, by scheme, promise and kinds of columns."""


def _warm(table: Table, scheme: str, promise: str) -> None:
    key = (scheme, promise.partition("(")[0], *(column.kind for column in table.columns))
    if key in _WARM or table.rows <= WARM_ROWS:
        return
    _WARM.add(key)
    few = table.reordered(np.sort(np.random.default_rng(0).permutation(table.rows)[:WARM_ROWS]))
    with suppress(DiscreetError):  # few rows may not keep the promise
        make_scheme(scheme, random_state=0).publish(few, parse(promise))


def measured(method: Method, measure: Any) -> Record:
    """The record of a method; if it refuses, why it does."""
    try:
        return {"method": method.name, **measure()}
    except DiscreetError as refusal:
        return {"method": method.name, "refused": str(refusal)}


def achieved(release: Any, table: Table, promise: str) -> float:
    """How far the groups of a release keep a promise: its main parameter."""
    return float(parse(promise).achieved(release.counts, Prior.of(table)))


def average(release: Any, table: Table, promise: str) -> float:
    """The same on average over the groups."""
    return float(parse(promise).achieved_each(release.counts, Prior.of(table)).mean())
