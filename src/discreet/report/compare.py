"""Compare schemes on the same table, promises and workload; every release is audited from its files.

Each release is written to a temporary folder and loaded from there, so that the measurements are those of a reader.
Times cover publishing only, from a coded table to a release in memory, with the kernels compiled.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from discreet.adversary.audit import Audit, audit
from discreet.analyst.queries import exact_counts
from discreet.analyst.volume import volume_workload
from discreet.analyst.workload import WorkloadResult, run, workload
from discreet.arguments import argument
from discreet.datasets import patients
from discreet.errors import DiscreetError
from discreet.kernels.compiling import when_compiling
from discreet.principles import BetaLikeness, LDiversity, Principle, Prior, TCloseness, parse
from discreet.principles.principle import main_parameter
from discreet.principles.wording import about, percent
from discreet.progress import Progress
from discreet.releases import load
from discreet.report.contenders import contend
from discreet.schemes import SCHEMES, Scheme
from discreet.table.query import Query
from discreet.table.table import Table
from discreet.unfinished import unfinished

SHARES = {"publish": (0.0, 0.6), "save": (0.6, 0.65), "audit": (0.65, 0.8), "workload": (0.8, 1.0)}
"""The portion of the progress bar that each stage of one release takes."""


MOST_QUERIES = 1_000_000


@dataclass(frozen=True)
class Asked:
    """The workload that every release answers."""

    queries: int
    dropped: int
    """The number of queries that no row of the original satisfies, so that a relative error is undefined."""
    dimensions: int
    """The number of quasi-identifiers with a condition in each query (lambda), besides the sensitive attribute."""
    selectivity: float | None
    """The share of the rows that a query is expected to select (theta); ``None`` if a volume was asked for."""
    volume: float | None = None
    """The share of the space of its attributes that a query covers (s)."""

    @property
    def size(self) -> str:
        """The size of a query, in words."""
        if self.volume is None:
            return f"expected to select {percent(self.selectivity or 0.0)} of the rows"
        return f"with a volume of {percent(self.volume)}"


@dataclass(frozen=True)
class Result:
    """The result of one scheme under one promise."""

    promise: str
    scheme: str
    """The scheme's name with the options that were set."""
    refusal: str | None = None
    """The scheme's reason for not publishing; then all other results are absent."""
    audit: Audit | None = None
    workload: WorkloadResult | None = None
    seconds: Mapping[str, float] | None = None
    exact_quasi: bool = False
    """Whether quasi-identifiers are published unchanged, so that the loss is in the sensitive values alone."""

    @property
    def losses(self) -> dict[str, float]:
        """The losses by name, as far as they are defined for the format of the release."""
        return {} if self.audit is None else self.audit.losses

    @property
    def failures(self) -> list[str]:
        """Sentences on everything that the audit found wrong."""
        if self.audit is None:
            return []
        kept = [one.sentence for one in self.audit.promises if not one.holds]
        return kept + [check.sentence for check in self.audit.checks if not check.holds]

    @property
    def achieved(self) -> dict[str, float | None]:
        """For every promise, the strongest parameter that the release keeps, by its name."""
        if self.audit is None:
            return {}
        found: dict[str, float | None] = {}
        for kept in self.audit.promises:
            name = main_parameter(kept.promise)
            name = name if kept.attribute is None else f"{name} ({kept.attribute})"
            found[kept.promise if name in found else name] = kept.achieved
        return found

    @property
    def achieved_text(self) -> str:
        """The strongest parameters in words.

        >>> Result("k-anonymity(k=5)", "cuts").achieved_text
        '-'
        """
        known = [f"{name} {about(value)}" for name, value in self.achieved.items() if value is not None]
        return ", ".join(known) or "-"

    def as_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        found, errors, taken = self.audit, self.workload, self.seconds or {}
        return {
            "promise": self.promise,
            "scheme": self.scheme,
            "refusal": self.refusal,
            "holds": None if found is None else found.holds,
            "failures": self.failures,
            "achieved": self.achieved,
            "losses": self.losses,
            "exact_quasi": None if found is None else self.exact_quasi,
            "rows": None if found is None else {"published": found.rows, "withheld": found.withheld},
            "groups": None if found is None else found.groups,
            "workload": None if errors is None else {"median": errors.median, "mean": errors.mean},
            "seconds": {stage: round(seconds, 4) for stage, seconds in taken.items()},
        }


@dataclass(frozen=True)
class Comparison:
    """The results of every scheme under every promise, in the order of the request."""

    rows: int
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    promises: tuple[Principle, ...]
    schemes: tuple[str, ...]
    asked: Asked
    results: tuple[Result, ...]

    @property
    def holds(self) -> bool:
        """Whether all audits hold; refusals do not count."""
        return all(result.audit.holds for result in self.results if result.audit is not None)

    @property
    def published(self) -> bool:
        """Whether there was any release to audit."""
        return any(result.audit is not None for result in self.results)

    def under(self, promise: Principle) -> tuple[Result, ...]:
        """The results of the schemes under one promise."""
        return tuple(result for result in self.results if result.promise == str(promise))

    def as_dict(self) -> dict[str, Any]:
        """The comparison as plain values."""
        return {
            "holds": self.holds,
            "rows": self.rows,
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive) if len(self.sensitive) > 1 else next(iter(self.sensitive), None),
            "promises": [str(promise) for promise in self.promises],
            "schemes": list(self.schemes),
            "workload": vars(self.asked),
            "results": [result.as_dict() for result in self.results],
        }

    def page(self, title: str = "a table") -> str:
        """The comparison as one self-contained HTML file; see ``discreet.report.page``."""
        from discreet.report.page import page

        return page(self, title)


def compare(
    table: Table,
    promises: Principle | str | Iterable[Principle | str],
    schemes: Iterable[str | Scheme] | None = None,
    *,
    queries: int = 10_000,
    dimensions: int | None = None,
    selectivity: float | None = None,
    volume: float | None = None,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Publish a table under each promise by each scheme, audit the files, and measure loss, workload error and time.

    A scheme is given as text, with options after a colon (``"cuts:effort=thorough;loss=gcp"``), or as an object; by
    default all known schemes take part. If a scheme refuses a promise, its refusal is the result. ``dimensions`` is 3
    unless the table has fewer quasi-identifiers. Queries are expected to select a share of the rows (``selectivity``,
    0.1 by default; see ``discreet.analyst.workload``), or cover a share of the space of their attributes (``volume``;
    see ``discreet.analyst.volume``). ``random_state`` makes an experiment reproducible.

    >>> told = compare(patients(), ["beta-likeness(beta=2)"], ["cuts", "mondrian"], queries=50)
    >>> [(result.scheme, result.audit.holds) for result in told.results]
    [('cuts', True), ('mondrian', True)]
    """
    if queries > MOST_QUERIES:
        raise DiscreetError(
            f"a workload of {queries:,} queries would take days and tell no more than one of a few thousand; ask for "
            f"{MOST_QUERIES:,} queries at most"
        )
    if isinstance(promises, str | Principle):
        promises = [promises]
    wanted = tuple(dict.fromkeys(parse(one) if isinstance(one, str) else one for one in promises))
    contenders = contend(SCHEMES if schemes is None else schemes, random_state)
    _check(table, wanted, contenders)
    tell = progress or (lambda stage, share: None)
    tell("drawing the workload", 0.0)
    dimensions = min(3, len(table.quasi)) if dimensions is None else dimensions
    seed = random_state or 0
    if volume is None:
        selectivity = 0.1 if selectivity is None else selectivity
        asked = workload(table, dimensionality=dimensions, selectivity=selectivity, number=queries, seed=seed)
    elif selectivity is None:
        asked = volume_workload(table, dimensionality=dimensions + 1, volume=volume, number=queries, seed=seed)
    else:
        raise DiscreetError("a workload has a selectivity or a volume, not both; give one")
    truth = exact_counts(table, asked)
    results: list[Result] = []
    total = len(wanted) * len(contenders)
    for promise in wanted:
        for label, scheme in contenders.items():
            stages = _Stages(tell, f"{label}, {promise}", len(results), total)
            results.append(_timed(label, scheme, table, promise, asked, truth, stages))
    return Comparison(
        table.rows,
        table.quasi_names,
        tuple(column.name for column in table.sensitive),
        wanted,
        tuple(contenders),
        Asked(queries, int((truth == 0).sum()), dimensions, selectivity, volume),
        tuple(results),
    )


def _check(table: Table, promises: tuple[Principle, ...], contenders: Mapping[str, Scheme]) -> None:
    """Raise for requests that no scheme could answer; problems of single schemes are reported in their results."""
    if not promises:
        raise DiscreetError("no promise was given; ask for one such as 'beta-likeness(beta=2)'")
    if not contenders:
        raise DiscreetError(f"no scheme was named; there is {', '.join(SCHEMES)}")
    if table.rows == 0:
        raise DiscreetError("the table has no rows, so there is nothing to compare; check the input")
    if not table.quasi:
        quasi = argument("quasi", ["age"])
        raise DiscreetError(f"the table has no quasi-identifiers; name those that others may know, as in {quasi}")
    prior = Prior.of(table)
    for promise in promises:
        promise.require(prior)


# ---------------------------------------------------------------------------------------------------------- measuring


class _Stages:
    """Reports the progress on one release, and measures the time of each stage."""

    def __init__(self, tell: Progress, what: str, done: int, total: int) -> None:
        self._tell, self._what, self._done, self._total = tell, f"{done + 1} of {total}: {what}", done, total
        self._stage = "publish"
        self.seconds: dict[str, float] = {}

    def begin(self, stage: str) -> None:
        self._stage, self._started = stage, time.perf_counter()
        self.share(stage, 0.0)

    def share(self, stage: str, share: float) -> None:
        """Report how much of the present stage is done; a scheme may give the stage its own name."""
        low, high = SHARES[self._stage]
        inside = low + (high - low) * (share if 0.0 <= share <= 1.0 else 0.0)
        self._tell(f"{self._what} ({stage})", (self._done + inside) / self._total)

    def end(self) -> None:
        self.seconds[self._stage] = time.perf_counter() - self._started


def _timed(
    label: str,
    scheme: Scheme,
    table: Table,
    promise: Principle,
    asked: Sequence[Query],
    truth: ArrayLike,
    stages: _Stages,
) -> Result:
    """The result of a scheme under a promise, measured again if kernels were compiled during the first run."""
    _warm(scheme, promise)
    compiled: list[bool] = []
    with when_compiling(lambda: compiled.append(True)):
        result = _measured(label, scheme, table, promise, asked, truth, stages)
    return _measured(label, scheme, table, promise, asked, truth, stages) if compiled else result


def _measured(
    label: str,
    scheme: Scheme,
    table: Table,
    promise: Principle,
    asked: Sequence[Query],
    truth: ArrayLike,
    stages: _Stages,
) -> Result:
    stages.begin("publish")
    try:
        release = scheme.publish(table, promise, stages.share)
    except DiscreetError as refusal:
        return Result(str(promise), label, str(refusal))
    stages.end()
    with unfinished(temporary_place()) as folder:
        stages.begin("save")
        release.save(folder)
        stages.end()
        trace, exact_quasi = release.trace, release.exact_quasi
        del release  # from here on, only the files
        stages.begin("audit")
        found = audit(folder, table, trace=trace, promises=promise.parts)
        stages.end()
        stages.begin("workload")
        errors = run(load(folder), table, asked, truth) if found.holds or found.promises else None
        stages.end()
    return Result(str(promise), label, None, found, _finite(errors), stages.seconds, exact_quasi)


def temporary_place() -> Path:
    """The path beside which temporary releases are written."""
    return Path(tempfile.gettempdir(), "discreet-comparison")


def _finite(errors: WorkloadResult | None) -> WorkloadResult | None:
    """The errors, or ``None`` if no query had one."""
    return None if errors is None or math.isnan(errors.median) else errors


def _warm(scheme: Scheme, promise: Principle) -> None:
    """Compile and load most kernels before measuring, on a small synthetic table.

    If the few patients of this table cannot keep the promise, another promise that the scheme supports serves as well.
    """
    for another in (promise, BetaLikeness(4), LDiversity(2), TCloseness(0.9)):
        with suppress(DiscreetError):
            scheme.publish(patients(), another)
            return
