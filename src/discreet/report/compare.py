"""Compare schemes on the same table, promises and workload; every release is audited from its files.

Each release is written to a temporary folder and loaded from there, so that the measurements are those of a reader.
Times of publishing are from a coded table to a release in memory, with the kernels compiled; how long compiling took is
told apart. A scheme or an attack that breaks down is reported, and the results of the others are kept.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import ArrayLike, NDArray

from discreet.adversary.attacks.campaign import attack
from discreet.adversary.attacks.evidence import Evidence
from discreet.adversary.audit import Audit, audit
from discreet.adversary.group_sizes import GroupSizes
from discreet.adversary.verdict import PromiseVerdict
from discreet.analyst.workload import run
from discreet.arguments import argument
from discreet.datasets import patients
from discreet.errors import DiscreetError
from discreet.kernels.compiling import when_compiling
from discreet.options import checked, several
from discreet.principles import Principle, Prior
from discreet.principles.beta_likeness import BetaLikeness
from discreet.principles.l_diversity import LDiversity
from discreet.principles.principle import as_principles
from discreet.principles.t_closeness import TCloseness
from discreet.progress import COMPILES, PATIENCE, Progress
from discreet.releases import load
from discreet.releases.placement import UnwrittenError, writing
from discreet.report.comparison import Comparison, Result
from discreet.report.equal import Equal, distance_of
from discreet.report.workloads import draw
from discreet.schemes import SCHEMES, Scheme, as_scheme, make_scheme
from discreet.schemes.described import narrow
from discreet.schemes.refusal import RefusalError
from discreet.table.query import Query
from discreet.table.table import Table, as_table
from discreet.unfinished import unfinished

WARM_UP = "warm-up"
SHARES = {
    WARM_UP: (0.0, 0.0),
    "publish": (0.0, 0.55),
    "save": (0.55, 0.6),
    "audit": (0.6, 0.75),
    "workload": (0.75, 0.9),
    "attack": (0.9, 1.0),
}
"""The portion of the progress bar that each stage of one release takes."""
MOST_QUERIES = 1_000_000
GUESSES = ("beliefs", "naive-bayes", "naive-bayes(box=spread)")
"""The attacks on every release, which every format allows: its own beliefs, and what groups tell about each other, by
both ways to read a description."""
VICTIMS = 20_000
"""How many people are attacked at most: the same ones for every release, drawn at random."""


def compare(
    table: Table,
    promises: Principle | str | Iterable[Principle | str],
    schemes: str | Scheme | Iterable[str | Scheme] | None = None,
    *,
    measured: Principle | str | Iterable[Principle | str] = (),
    queries: int = 10_000,
    dimensions: int | None = None,
    selectivity: float | None = None,
    volume: float | None = None,
    workload: str | None = None,
    equal: str | None = None,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Publish a table under each promise by each scheme, audit and attack the files, and measure loss, error and time.

    A scheme is given as text, such as ``"cuts(effort=thorough, loss=gcp)"``, or as an object; by default all known
    schemes take part. If a scheme refuses a promise, its refusal is the result. ``measured`` are promises that nobody
    makes: how far a release keeps them is reported beside its own. ``dimensions`` is 3 unless the table has fewer
    quasi-identifiers. Queries are expected to select a share of the rows (``selectivity``,
    0.1 by default), or cover a share of the space of their attributes (``volume``), or are those of a paper
    (``workload``); see ``discreet.report.workloads``. With ``equal``, such as ``"t=0.1"`` or ``"loss=0.3"``, the
    parameter of each promise is searched for each scheme so that releases have this t or loss in common.
    ``random_state`` makes an experiment reproducible.

    >>> comparison = compare(patients(), ["beta-likeness(beta=2)"], ["cuts", "mondrian"], queries=50)
    >>> [(result.scheme, result.audit.holds) for result in comparison.results]
    [('cuts', True), ('mondrian', True)]
    """
    table, random_state = as_table(table), checked("random_state", random_state, int | None)
    progress = checked("progress", progress, Progress | None)
    queries, dimensions = checked("queries", queries, int), checked("dimensions", dimensions, int | None)
    selectivity, volume = checked("selectivity", selectivity, float | None), checked("volume", volume, float | None)
    if queries > MOST_QUERIES:
        raise DiscreetError(
            f"a workload of {queries:,} queries would take days and tell no more than one of a few thousand; ask for "
            f"{MOST_QUERIES:,} queries at most"
        )
    wanted = tuple(dict.fromkeys(as_principles(promises)))
    others = tuple(dict.fromkeys(part for promise in as_principles(measured) for part in promise.parts))
    contenders = contend(SCHEMES if schemes is None else schemes, random_state)
    _check(table, wanted, others, contenders)
    tell = progress or (lambda stage, share: None)
    terms = None if equal is None else Equal.parse(equal)
    shown = () if terms is None or terms.measured != "t" else (TCloseness(1, distance_of(table.sensitive_attribute)),)
    tell("drawing the workload", 0.0)
    seed = random_state or 0
    drawn = draw(table, workload, queries, dimensions, selectivity, volume, seed)
    results: list[Result] = []
    total = len(wanted) * len(contenders)
    for promise in wanted:
        own = TCloseness.name in {part.name for part in promise.parts}
        beside = others if own else tuple(dict.fromkeys((*others, *shown)))
        for label, scheme in contenders.items():
            stages = Stages(tell, f"{label}, {promise}", len(results), total)
            trial = Trial(label, scheme, table, promise, beside, drawn.queries, drawn.exact, seed, stages, equal=terms)
            results.append(trial.result())
    return Comparison(
        table.rows,
        table.quasi_names,
        tuple(column.name for column in table.sensitive),
        wanted,
        tuple(contenders),
        drawn.asked,
        tuple(results),
    )


def contend(schemes: str | Scheme | Iterable[str | Scheme], random_state: int | None = None) -> dict[str, Scheme]:
    """The schemes to compare, by their texts; intervals are narrow unless a scheme asks for ``snap=true``.

    >>> list(contend(["cuts", "cuts(effort=thorough)", make_scheme("burel", {"refine": "true"})]))
    ['cuts', 'cuts(effort=thorough)', 'burel(refine=true)']
    """
    made = [
        make_scheme(scheme, random_state=random_state) if isinstance(scheme, str) else as_scheme(scheme)
        for scheme in several(schemes)
    ]
    return {str(scheme): narrow(scheme) for scheme in made}


def _check(
    table: Table,
    promises: tuple[Principle, ...],
    measured: tuple[Principle, ...],
    contenders: Mapping[str, Scheme],
) -> None:
    """Raise for requests that no scheme could answer; problems of single schemes are reported in their results."""
    if not promises:
        raise DiscreetError("no promise was given; ask for one such as 'beta-likeness(beta=2)'")
    if not contenders:
        raise DiscreetError(f"no scheme was named; choose from {', '.join(SCHEMES)}")
    if table.rows == 0:
        raise DiscreetError("the table has no rows, so there is nothing to compare; check the input")
    if not table.quasi:
        quasi = argument("quasi", ["age"])
        raise DiscreetError(f"the table has no quasi-identifiers; name those that others may know, as in {quasi}")
    prior = Prior.of(table)
    for promise in (*promises, *measured):
        promise.require(prior)


# ---------------------------------------------------------------------------------------------------------- measuring


class Stages:
    """Reports the progress on one release, and measures the time of each stage."""

    def __init__(self, tell: Progress, what: str, done: int, total: int) -> None:
        self._tell, self._what, self._done, self._total = tell, f"{done + 1} of {total}: {what}", done, total
        self.stage = WARM_UP
        self.seconds: dict[str, float] = {}

    @contextmanager
    def during(self, stage: str) -> Iterator[None]:
        """Measure a stage."""
        self.stage = stage
        started = time.perf_counter()
        self.share(stage, 0.0)
        yield
        self.seconds[stage] = time.perf_counter() - started

    def share(self, stage: str, share: float) -> None:
        """Report how much of the present stage is done; a scheme may give the stage its own name."""
        low, high = SHARES[self.stage]
        inside = low + (high - low) * (share if 0.0 <= share <= 1.0 else 0.0)
        self._tell(f"{self._what} ({stage})", (self._done + inside) / self._total)


class Trial(NamedTuple):
    """One scheme under one promise."""

    label: str
    scheme: Scheme
    table: Table
    promise: Principle
    measured: tuple[Principle, ...]
    asked: Sequence[Query]
    truth: ArrayLike
    seed: int
    stages: Stages
    guesses: tuple[str, ...] = GUESSES
    """The attacks on the release."""
    victims: int | None = None
    """How many people are attacked at most, if fewer than usual."""
    equal: Equal | None = None
    """What releases are to have in common; the parameter of the promise is then searched."""

    def result(self) -> Result:
        """The result, measured again if kernels were compiled during the first run."""
        started, compiled = time.perf_counter(), list[bool]()
        try:
            with when_compiling(lambda: self.stages.share(COMPILES, 0.0), PATIENCE):
                self.stages.share(WARM_UP, 0.0)
                _warm(self.scheme, self.promise)
                ready = time.perf_counter()
                with when_compiling(lambda: compiled.append(True)):
                    result = self._measured()
            if compiled:
                ready = time.perf_counter()
                result = self._measured()
        except UnwrittenError as fault:
            raise DiscreetError(f"{fault}; name a folder with more room in the environment variable TMPDIR") from fault
        except Exception as fault:  # an error of ours, which must not take the other results with it
            return Result(str(self.promise), self.label, errors={self.stages.stage: fault})
        return replace(result, warm_up=ready - started)

    def _measured(self) -> Result:
        stages, promise = self.stages, self.promise
        try:
            if self.equal is not None:
                promise = self.equal.searched(self.scheme, self.table, promise)
            with stages.during("publish"):
                release = self.scheme.publish(self.table, promise, stages.share)
        except RefusalError as fault:
            return Result(str(self.promise), self.label, str(fault), unsuited=fault.refusal)
        except DiscreetError as fault:
            return Result(str(self.promise), self.label, str(fault))
        with writing(temporary_place()), unfinished(temporary_place()) as folder:
            with stages.during("save"):
                release.save(folder, audit=False)  # which has a stage of its own
            trace, exact_quasi, counted = release.trace, release.exact_quasi, release.marginals is not None
            del release  # from here on, only the files
            with stages.during("audit"):
                audited = audit(folder, self.table, trace=trace, promises=promise.parts)
                others = self._others(folder, trace, audited)
            judged = audited.holds or audited.promises
            with stages.during("workload"):
                loaded = load(folder) if judged else None
                errors = None if loaded is None else run(loaded, self.table, self.asked, self.truth)
                sizes = None if loaded is None else GroupSizes.of(loaded.revealed(self.table), self.table)
            with stages.during("attack"):
                evidence, failures = self._evidence(folder) if judged and self.table.sensitive else ((), {})
        if errors is not None and math.isnan(errors.median):  # no query has one
            errors = None
        asked, seconds = str(self.promise), stages.seconds
        made = Result(asked, self.label, None, audited, errors, seconds, exact_quasi, counted, evidence, failures)
        found = str(promise) if self.equal is not None else None
        return replace(made, measured=others, sizes=sizes, found=found)

    def _others(self, folder: Path, trace: NDArray[Any] | None, audited: Audit) -> tuple[PromiseVerdict, ...]:
        """How far the release keeps the promises that are only measured, by an audit whose verdict does not count."""
        if not self.measured:
            return ()
        known = {(verdict.promise, verdict.attribute) for verdict in audited.promises}
        judged = audit(folder, self.table, trace=trace, promises=self.measured).promises
        return tuple(verdict for verdict in judged if (verdict.promise, verdict.attribute) not in known)

    def _evidence(self, folder: Path) -> tuple[tuple[Evidence, ...], dict[str, Exception]]:
        """How often the sensitive values of the same people are guessed from the files, and attacks that broke down."""
        evidence: list[Evidence] = []
        failures: dict[str, Exception] = {}
        for at, guess in enumerate(self.guesses):

            def tell(stage: str, share: float, done: int = at) -> None:
                self.stages.share(stage, (done + share) / len(self.guesses))

            with suppress(DiscreetError):  # descriptions can be read in two ways only where there are descriptions
                victims = min(self.victims or VICTIMS, self.table.rows)
                attacked = attack(folder, self.table, guess, victims=victims, random_state=self.seed, progress=tell)
                evidence += attacked.evidence
                failures |= attacked.failures
        return tuple(evidence), failures


def temporary_place() -> Path:
    """The path beside which temporary releases are written."""
    return Path(tempfile.gettempdir(), "discreet-comparison")


def _warm(scheme: Scheme, promise: Principle) -> None:
    """Compile and load most kernels before measuring, on a small synthetic table.

    If the few patients of this table cannot keep the promise, another promise that the scheme supports serves as well.
    """
    for another in (promise, BetaLikeness(4), LDiversity(2), TCloseness(0.9)):
        with suppress(DiscreetError):
            scheme.publish(patients(), another)
            return
