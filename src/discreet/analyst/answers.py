"""Counts with what is certain about them, and with intervals where these can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.releases.release import AUTO, Release
from discreet.table.query import Query

WIDTH = 1.96
"""The standard errors to either side of an estimate that make an interval of 95 %."""


@dataclass(frozen=True)
class Answer:
    """The answer to a count query."""

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


def answers(release: Release, queries: Sequence[Query | str], estimator: str = AUTO) -> list[Answer]:
    """Estimate how many published rows satisfy each query, with certain bounds and intervals of 95 %.

    Intervals are about the usual estimator of the release, and there are none for another.

    >>> import discreet as dc
    >>> from discreet.datasets import census
    >>> release = dc.publish(census(2000), dc.BetaLikeness(2), dc.Cuts(descriptions="exact", random_state=1))
    >>> (answer,) = answers(release, ["SELECT COUNT(*) FROM t WHERE age < 30 AND salary <= 10"])
    >>> answer.least <= answer.low < answer.estimate < answer.high <= answer.most
    True
    """
    asked = [release.resolved(query) for query in queries]
    usual = release.estimator_named(estimator) == release.estimator_named()
    estimates, bounds = release.estimates(asked, estimator), release.certain_bounds(asked)
    errors = release.standard_errors(asked) if usual else None
    result = []
    for at, estimate in enumerate(estimates):
        certain, error = None if bounds is None else bounds[at], None if errors is None else float(errors[at])
        answer = _answer(float(estimate), certain, error, usual)
        result.append(replace(answer, notes=release.notes(asked[at])))
    return result


def _answer(estimate: float, bounds: NDArray[np.float64] | None, error: float | None, usual: bool) -> Answer:
    """Return an answer; the ``usual`` estimates are within the certain bounds, others as papers have them."""
    least, most = (None, None) if bounds is None else map(float, bounds)
    if usual and least is not None and most is not None:
        estimate = min(max(estimate, least), most)
    if error is None or np.isnan(error):
        return Answer(estimate, least=least, most=most)
    low, high = estimate - WIDTH * error, estimate + WIDTH * error
    low, high = max(low, 0.0 if least is None else least), high if most is None else min(high, most)
    return Answer(estimate, error, low, high, least, most)
