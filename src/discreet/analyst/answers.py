"""Counts with what is certain about them, and with intervals where these can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.releases import totals
from discreet.releases.release import AUTO, Release
from discreet.table.query import Query

if TYPE_CHECKING:
    from discreet.releases.release import Question

WIDTH = 1.96
"""The standard errors to either side of an estimate that make an interval of 95 %."""


@dataclass(frozen=True)
class Answer:
    """The answer to a question about a release: a count, a sum or a mean."""

    estimate: float
    standard_error: float | None = None
    """How far the estimate is off, as a standard deviation; None where the release does not tell."""
    low: float | None = None
    """The lower end of an interval of 95 %."""
    high: float | None = None
    """Its upper end."""
    least: float | None = None
    """How many published rows satisfy the query for certain; None if the format tells nothing."""
    most: float | None = None
    """How many may satisfy it."""
    notes: tuple[str, ...] = ()
    """Sentences on what the estimate rests on, without a full stop."""

    def as_dict(self) -> dict[str, Any]:
        """All figures, ready for JSON, which states the notes on its own."""
        return {name: figure for name, figure in vars(self).items() if name != "notes"}


def answers(release: Release, queries: Sequence[Question | str], estimator: str = AUTO) -> list[Answer]:
    """Estimate how many published rows satisfy each query, with certain bounds and intervals of 95 %, or the sum or the
    mean of a column over them.

    Intervals are about the usual estimator of the release, and there are none for another, nor for sums and means.
    Sums have certain bounds, means have none.

    >>> import discreet as dc
    >>> from discreet.datasets import census
    >>> release = dc.publish(census(2000), dc.BetaLikeness(2), dc.Cuts(descriptions="exact", random_state=1))
    >>> (answer,) = answers(release, ["SELECT COUNT(*) FROM t WHERE age < 30 AND salary <= 10"])
    >>> answer.least <= answer.low < answer.estimate < answer.high <= answer.most
    True
    """
    asked = [release.resolved(query) for query in queries]
    usual = release.estimator_named(estimator) == release.estimator_named()
    estimates = release.estimates(asked, estimator).tolist()
    counts = [each for each in asked if isinstance(each, Query)]
    bounds = release.certain_bounds(counts)
    errors = release.standard_errors(counts) if usual else None
    result, at = list[Answer](), 0
    for each, estimate in zip(asked, estimates, strict=True):
        if isinstance(each, Query):
            certain, error = None if bounds is None else bounds[at], None if errors is None else float(errors[at])
            answer, notes, at = _answer(estimate, certain, error, usual), release.notes(each), at + 1
        else:
            measure = each.measure
            within = None if measure.mean else totals.bounds(release, measure.attribute, each.query)
            answer, notes = _answer(estimate, within, None, usual), release.notes(each.query, [measure.attribute])
        result.append(replace(answer, notes=notes))
    return result


def _answer(
    estimate: float, bounds: Sequence[float] | NDArray[np.float64] | None, error: float | None, usual: bool
) -> Answer:
    """Return an answer; the ``usual`` estimates are within the certain bounds, others as papers have them."""
    least, most = (None, None) if bounds is None else map(float, bounds)
    if usual and least is not None and most is not None:
        estimate = min(max(estimate, least), most)
    if error is None or np.isnan(error):
        return Answer(estimate, least=least, most=most)
    low, high = estimate - WIDTH * error, estimate + WIDTH * error
    low, high = max(low, 0.0 if least is None else least), high if most is None else min(high, most)
    return Answer(estimate, error, low, high, least, most)
