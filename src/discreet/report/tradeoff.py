"""The picture of risk against use: what each scheme leaves an attacker, and what it leaves the analyst.

Across is the parameter that a release really keeps, as its audit found from the files, which may be stronger than what
was promised; upwards is the error of counts, and beside it the loss of the quasi-identifiers. Each scheme is a line
through its releases under promises of different strengths.
"""

from __future__ import annotations

import math
from typing import Any

from discreet.errors import DiscreetError
from discreet.report.charts import QUANTITY, heading, numbers, panel, side_by_side
from discreet.report.comparison import Comparison
from discreet.report.measures import AIL, MEDIAN, Measure
from discreet.report.plots import Family, coloured, families, lines_of_schemes, scheme_channel

SUFFIXES = (".svg", ".png")
LEAST_ERROR = 1e-3
"""Smaller errors are drawn here, so that an axis by powers of ten has an end."""
STEP = math.sqrt(10.0)
"""The factor from one number on the axis of errors to the next."""


def drawn(comparison: Comparison, suffix: str) -> bytes:
    """The picture as the content of a file that ends in ``suffix``.

    >>> from discreet import compare
    >>> from discreet.datasets import patients
    >>> comparison = compare(patients(), ["beta-likeness(beta=1)", "beta-likeness(beta=4)"], ["cuts"], queries=50)
    >>> drawn(comparison, ".svg")[:4]
    b'<svg'
    """
    family = max(families(comparison.promises), key=lambda family: len(family.promises))
    points = _points(comparison, family)
    if not points:
        raise DiscreetError("there is nothing to draw, as no scheme kept any of these promises; ask for less")
    panels = [
        _panel(points, comparison, family, MEDIAN, "Error of counts", "median relative error"),
        _panel(points, comparison, family, AIL, "Loss of the quasi-identifiers", "AIL (0 exact, 1 nothing left)"),
    ]
    label = f"Error of counts and loss of each scheme, by the {_parameter(family)} that its releases keep"
    return side_by_side([panel for panel in panels if panel], suffix, label, str)


def _points(comparison: Comparison, family: Family) -> list[dict[str, Any]]:
    """A point per scheme and promise whose audit holds."""
    points = []
    for at, promise in enumerate(family.promises):
        for result in comparison.under(promise):
            kept = result.achieved.get(_parameter(family))
            if kept is not None and result.audit is not None and result.audit.holds:
                measured = {measure.title: measure.of(result) for measure in (MEDIAN, AIL)}
                points.append({"scheme": result.scheme, "strength": at, "kept": kept, **measured})
    return points


def _parameter(family: Family) -> str:
    """The name of the parameter in which the promises differ; of a single promise its main one."""
    from discreet.principles.principle import main_parameter

    return family.parameter or main_parameter(str(family.promises[0]))


def _panel(
    points: list[dict[str, Any]], comparison: Comparison, family: Family, measure: Measure, title: str, axis: str
) -> dict[str, Any] | None:
    """The points of one measure; None if no release has it."""
    present = [point for point in points if point[measure.title] is not None]
    if not present:
        return None
    kept = f"{_parameter(family)} really kept, as audited"
    across = numbers("kept", kept, {"zero": True, "nice": True}, {"grid": False, "format": "~g", "tickCount": 6})
    chart = panel(heading(title), across, _upwards(present, measure, axis), lines_of_schemes(4, 60))
    chart["encoding"]["color"] = scheme_channel(4)
    chart["layer"][0]["encoding"]["order"] = {"field": "strength", **QUANTITY}
    schemes = {point["scheme"] for point in points}
    return coloured({**chart, "data": {"values": present}}, comparison.schemes, schemes)


def _upwards(points: list[dict[str, Any]], measure: Measure, axis: str) -> dict[str, Any]:
    """The axis of a measure: losses from 0 to 1, errors by powers of ten."""
    if measure is AIL:
        return numbers(measure.title, axis, {"domain": [0, 1]}, {"tickCount": 5, "format": "~g"})
    for point in points:
        point[measure.title] = max(point[measure.title], LEAST_ERROR)
    errors = [point[measure.title] for point in points]
    low, high = (math.log(end(errors), STEP) for end in (min, max))
    ticks = [float(f"{STEP**power:.0e}") for power in range(math.floor(low), math.ceil(high) + 1)]
    scale = {"type": "log", "domain": [ticks[0], ticks[-1]], "nice": False}
    return numbers(measure.title, axis, scale, {"values": ticks, "format": "~%"})
