"""The measures of a comparison: their meaning and formatting, for screen and page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.principles.wording import percent
from discreet.report.comparison import Result


@dataclass(frozen=True)
class Measure:
    """One measure of a result."""

    title: str
    meaning: str
    of: Callable[[Result], float | None]
    """The value for a result, if it has one."""
    text: Callable[[float], str]
    lower_is_better: bool = True


_four: Callable[[float], str] = "{:.4f}".format
_whole: Callable[[float], str] = "{:,}".format


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:,.1f}"


def _error(kind: str) -> Callable[[Result], float | None]:
    return lambda result: None if result.workload is None else getattr(result.workload, kind)


def _loss(name: str) -> Callable[[Result], float | None]:
    return lambda result: None if result.exact_quasi else result.losses.get(name)


EXACT = "exact"
"""Shown instead of a loss if quasi-identifiers are published unchanged, so that there is none to rank by."""
AIL = Measure(
    "AIL",
    "average information loss of the quasi-identifiers: 0 when they are exact, 1 when nothing is left of them. It says "
    f"nothing about sensitive values. Schemes marked {EXACT!r} publish quasi-identifiers as they are and blur the "
    "sensitive values instead; compare these by the errors of queries",
    _loss("ail"),
    _four,
)
GCP = Measure("GCP", "global certainty penalty: the same loss by another formula", _loss("gcp"), _four)
MEDIAN = Measure("median error", "relative error of the median query", _error("median"), percent)
MEAN = Measure("mean error", "relative error of a query, on average", _error("mean"), percent)
GUESSED = Measure(
    "guessed",
    "people whose sensitive value an attack guesses rightly, by the best of a few attacks; the less, the less is "
    "learnt about groups of people, by adversaries and analysts alike",
    lambda result: result.guessed,
    percent,
    lower_is_better=False,  # less is safer and tells analysts less
)
SECONDS = Measure(
    "seconds",
    "time to publish, from the table in memory to the release in memory; one run",
    lambda result: (result.seconds or {}).get("publish"),
    _seconds,
)
GROUPS = Measure(
    "groups",
    "sets of records published with one description",
    lambda result: None if result.audit is None else result.audit.groups or None,
    _whole,
    lower_is_better=False,
)
WITHHELD = Measure(
    "withheld",
    "rows that are not published",
    lambda result: None if result.audit is None else result.audit.withheld,
    _whole,
    lower_is_better=False,  # the losses already account for withheld rows
)

MEASURES = (AIL, GCP, MEDIAN, MEAN, GUESSED, SECONDS, GROUPS, WITHHELD)


def cell(measure: Measure, result: Result) -> str:
    """A measure of a result as text; a dash if the result has no value.

    >>> cell(AIL, Result("k-anonymity(k=5)", "cuts"))
    '-'
    >>> cell(AIL, Result("l-diversity(l=2)", "anatomy", exact_quasi=True))
    'exact'
    """
    value = measure.of(result)
    if value is None:
        return EXACT if result.exact_quasi and measure in (AIL, GCP) else "-"
    return measure.text(value)


def best(measure: Measure, results: Sequence[Result]) -> list[Result]:
    """The results with the lowest value, as formatted, among those whose audit holds; none if there is no choice."""
    sound = [result for result in results if result.audit is not None and result.audit.holds]
    values = {at: value for at, result in enumerate(sound) if (value := measure.of(result)) is not None}
    if not measure.lower_is_better or len(values) < 2:
        return []
    lowest = measure.text(min(values.values()))
    return [sound[at] for at, value in values.items() if measure.text(value) == lowest]
