"""What a comparison shows of a result: the numbers, what they mean and how they are written, for screen and page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.principles.wording import percent
from discreet.report.compare import Result


@dataclass(frozen=True)
class Measure:
    """One number of a result."""

    title: str
    meaning: str
    of: Callable[[Result], float | None]
    """The number, if the result has it."""
    text: Callable[[float], str]
    lower_is_better: bool = True


def _four(value: float) -> str:
    return f"{value:.4f}"


def _whole(value: float) -> str:
    return f"{int(value):,}"


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:,.1f}"


def _error(kind: str) -> Callable[[Result], float | None]:
    return lambda result: None if result.workload is None else getattr(result.workload, kind)


def _loss(name: str) -> Callable[[Result], float | None]:
    return lambda result: result.losses.get(name)


AIL = Measure("AIL", "average information loss: 0 when all is exact, 1 when nothing is left", _loss("ail"), _four)
GCP = Measure("GCP", "global certainty penalty: 0 when all is exact, 1 when nothing is left", _loss("gcp"), _four)
MEDIAN = Measure("median error", "relative error of the median query", _error("median"), percent)
MEAN = Measure("mean error", "relative error of a query, on average", _error("mean"), percent)
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
    lower_is_better=False,  # what matters of them is in the loss already
)

MEASURES = (AIL, GCP, MEDIAN, MEAN, SECONDS, GROUPS, WITHHELD)


def cell(measure: Measure, result: Result) -> str:
    """A number of a result as it is written; a dash when it has none.

    >>> cell(AIL, Result("k-anonymity(k=5)", "cuts"))
    '-'
    """
    value = measure.of(result)
    return "-" if value is None else measure.text(value)


def best(measure: Measure, results: Sequence[Result]) -> list[Result]:
    """The results with the lowest number, as it is written, among those whose audit holds, if there is a choice."""
    sound = [result for result in results if result.audit is not None and result.audit.holds]
    values = {at: value for at, result in enumerate(sound) if (value := measure.of(result)) is not None}
    if not measure.lower_is_better or len(values) < 2:
        return []
    lowest = measure.text(min(values.values()))
    return [sound[at] for at, value in values.items() if measure.text(value) == lowest]
