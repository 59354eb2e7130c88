"""The picture of risk against use: what each scheme leaves an attacker, and what it leaves the analyst.

Upwards is the error of counts. Across is the parameter that a release really keeps, as its audit found from the
files, which may be stronger than what was promised; and beside it how many people's values attacks guess, or, if nobody
was attacked, the loss of the quasi-identifiers. Each scheme is a line through its releases under promises of different
strengths; boxes, boxes with counts of whole columns and exact quasi-identifiers differ in how it is drawn.
"""

from __future__ import annotations

import math
from typing import Any

from discreet.errors import DiscreetError
from discreet.expressions import split
from discreet.report.charts import NAME, QUANTITY, heading, numbers, panel, side_by_side
from discreet.report.comparison import BOXES, EXACT, WITH_COUNTS, Comparison
from discreet.report.measures import AIL, GUESSED, MEDIAN
from discreet.report.plots import Family, coloured, families, lines_of_schemes, scheme_channel

SUFFIXES = (".svg", ".png")
DASHES = {BOXES: [1.5, 3], WITH_COUNTS: [7, 4], EXACT: [1, 0]}
"""How the lines of releases are drawn, by what they publish of quasi-identifiers."""
Axis = dict[str, Any]
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
    guessed = any(point[GUESSED.title] is not None for point in points)
    panels = [
        _panel(points, comparison, _kept(family), _error(points), "What is proven"),
        _panel(points, comparison, _guessed(), _error(points), "What attacks find")
        if guessed
        else _panel(points, comparison, _kept(family), _loss(), "Loss of the quasi-identifiers"),
    ]
    second = "the success of attacks" if guessed else "the loss of quasi-identifiers"
    label = f"Error of counts of each scheme, by the {_parameter(family)} that its releases keep, and {second}"
    return side_by_side([panel for panel in panels if panel], suffix, label, str)


def _points(comparison: Comparison, family: Family) -> list[dict[str, Any]]:
    """A point per scheme and promise whose audit holds."""
    points = []
    for at, promise in enumerate(family.promises):
        for result in comparison.under(promise):
            kept = result.achieved.get(_parameter(family))
            if kept is not None and result.audit is not None and result.audit.holds:
                measured = {measure.title: measure.of(result) for measure in (MEDIAN, AIL, GUESSED)}
                if (error := measured[MEDIAN.title]) is not None:
                    measured[MEDIAN.title] = max(error, LEAST_ERROR)
                who = {"scheme": algorithm(result.scheme), "line": result.scheme, "descriptions": result.described}
                points.append({**who, "strength": at, "kept": kept, **measured})
    return points


def algorithm(scheme: str) -> str:
    """A scheme as text, without the options that only say how its groups are described.

    >>> algorithm("cuts(effort=thorough, descriptions=exact)"), algorithm("lifting(marginals=none)"), algorithm("cuts")
    ('cuts(effort=thorough)', 'lifting', 'cuts')
    """
    name, _, inside = scheme.partition("(")
    options = [each.strip() for each in split(inside.removesuffix(")"), ",")]
    left = [each for each in options if each and each.partition("=")[0] not in ("descriptions", "marginals")]
    return f"{name}({', '.join(left)})" if left else name


def _parameter(family: Family) -> str:
    """The name of the parameter in which the promises differ; of a single promise its main one."""
    from discreet.principles.principle import main_parameter

    return family.parameter or main_parameter(str(family.promises[0]))


def _panel(
    points: list[dict[str, Any]], comparison: Comparison, across: Axis, upwards: Axis, title: str
) -> dict[str, Any] | None:
    """The points that have both measures; None if there are none."""
    present = [point for point in points if point[across["field"]] is not None and point[upwards["field"]] is not None]
    if not present:
        return None
    chart = panel(heading(title), across, upwards, lines_of_schemes(4, 60))
    chart["encoding"]["color"] = scheme_channel(4)
    line = chart["layer"][0]["encoding"]
    line |= {"order": {"field": "strength", **QUANTITY}, "detail": {"field": "line", **NAME}}
    schemes = list(dict.fromkeys(map(algorithm, comparison.schemes)))
    chart = coloured(chart, schemes, {point["scheme"] for point in points})
    kinds = [kind for kind in DASHES if kind in {point["descriptions"] for point in points}]
    if len(kinds) > 1:
        scale = {"domain": kinds, "range": [DASHES[kind] for kind in kinds]}
        dash = {**scheme_channel(3), "field": "descriptions", "scale": scale}
        dash["legend"] = {**dash["legend"], "symbolType": "stroke", "symbolSize": 600}
        chart["layer"][0]["encoding"]["strokeDash"] = dash
    return {**chart, "data": {"values": present}}


def _kept(family: Family) -> Axis:
    """The axis of the parameter that is proven."""
    title = f"{_parameter(family)} really kept, as audited"
    return numbers("kept", title, {"zero": True, "nice": True}, {"grid": False, "format": "~g", "tickCount": 6})


def _guessed() -> Axis:
    """The axis of the success of attacks."""
    title = "people whose value the best of a few attacks guesses"
    return numbers(GUESSED.title, title, {"zero": False, "nice": True}, {"grid": False, "format": "~%", "tickCount": 6})


def _loss() -> Axis:
    """The axis of losses, from 0 to 1."""
    title = "AIL (0 exact, 1 nothing left)"
    return numbers(AIL.title, title, {"domain": [0, 1]}, {"tickCount": 5, "format": "~g"})


def _error(points: list[dict[str, Any]]) -> Axis:
    """The axis of errors, by powers of ten."""
    errors = [point[MEDIAN.title] for point in points if point[MEDIAN.title] is not None] or [LEAST_ERROR]
    low, high = (math.log(end(errors), STEP) for end in (min, max))
    ticks = [float(f"{STEP**power:.0e}") for power in range(math.floor(low), math.ceil(high) + 1)]
    scale = {"type": "log", "domain": [ticks[0], ticks[-1]], "nice": False}
    return numbers(MEDIAN.title, "median relative error", scale, {"values": ticks, "format": "~%"})
