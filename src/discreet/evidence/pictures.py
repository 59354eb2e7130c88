"""Results as plots, as one page that needs no network, and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from discreet.evidence.claims import series
from discreet.evidence.experiment import Axis
from discreet.evidence.results import Result
from discreet.report.charts import COLORS, NAME, heading, layer, numbers, svg, themed
from discreet.report.page import render
from discreet.report.plots import DASHES, SHAPES

WIDTH, HEIGHT = 300, 210
WORDS = {True: "holds", False: "does not hold", None: "cannot be judged"}
"""What is said of a finding."""


def picture(result: Result) -> str | None:
    """The measures of an experiment beside each other as SVG, a line for each method; None if there is nothing."""
    experiment, methods = result.experiment, methods_of(result)
    panels = [panel for axis in experiment.y if (panel := _panel(result, axis, methods)) is not None]
    if not panels:
        return None
    chart = themed({"hconcat": panels, "spacing": 30, "padding": 8}, autosize="pad")
    chart["background"] = "white"
    return svg(chart, f"{experiment.title}; the numbers are in the table")


def methods_of(result: Result) -> list[str]:
    """The methods of a result, in their order."""
    return list(dict.fromkeys(one["method"] for one in result.records))


def _panel(result: Result, axis: Axis, methods: list[str]) -> dict[str, Any] | None:
    records = [
        {"method": method, "x": place, "y": value}
        for method in methods
        for place, value in series(result.records, axis.name, method).items()
        if math.isfinite(value) and not (axis.log and value <= 0)
    ]
    if not records:
        return None
    places = list(result.experiment.places)
    texts = any(isinstance(place, str) for place in places)
    look = {"field": "method", **NAME, "sort": None}
    legend = {"title": None, "orient": "bottom", "columns": 2, "symbolSize": 80, "columnPadding": 20}
    x: dict[str, Any] = {"field": "x", "type": "ordinal", "sort": None, "title": result.experiment.x.title}
    x["axis"] = {"labelAngle": 0, "grid": False}
    if not texts:
        scale = {"type": "log" if result.experiment.x.log else "linear", "zero": False, "nice": False, "padding": 12}
        ticks = {"values": places, "grid": False, "format": result.experiment.x.ticks, "labelOverlap": True}
        x = numbers("x", result.experiment.x.title, scale, ticks)
    y = numbers("y", None, {"type": "log"} if axis.log else {"zero": True}, {"format": axis.ticks, "tickCount": 5})

    def channel(values: Sequence[Any], **more: Any) -> dict[str, Any]:
        """What the colour, the shape or the dash of a line shows."""
        given = [values[at % len(values)] for at in range(len(methods))]
        return {**look, "scale": {"domain": methods, "range": given}, **more}

    return {
        "title": heading(axis.title),
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": records},
        "encoding": {"x": x, "y": y, "color": channel(COLORS, legend=legend)},
        "layer": [
            layer({"type": "line", "strokeWidth": 2}, strokeDash=channel(DASHES, legend=None)),
            layer({"type": "point", "filled": True, "size": 60, "opacity": 1}, shape=channel(SHAPES, legend=legend)),
        ],
    }


def state(result: Result) -> str:
    """Whether the finding holds, in words."""
    return WORDS[None if result.verdict is None else result.verdict.holds]


def sentence(result: Result) -> str:
    """Whether the finding holds here, and why not."""
    return result.refused if result.verdict is None else result.verdict.sentence


def table(result: Result, axis: Axis) -> tuple[list[str], list[list[str]]]:
    """A measure by method and place: the heading, and a line for each method that has it."""
    places = list(result.experiment.places)
    lines = []
    for method in methods_of(result):
        values = series(result.records, axis.name, method)
        if values:
            lines.append([method, *(number(values.get(place), axis) for place in places)])
    return [result.experiment.x.title, *map(str, places)], lines


def number(value: float | None, axis: Axis) -> str:
    """A number as its axis writes it."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:.1%}" if axis.ticks.endswith("%") else f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def page(results: Sequence[Result]) -> str:
    """One page with all results: verdicts first, then each with its plot and its numbers."""
    sections = [
        {
            "result": one,
            "state": state(one),
            "sentence": sentence(one),
            "picture": picture(one),
            "tables": [(axis.title, *table(one, axis)) for axis in one.experiment.y],
        }
        for one in results
    ]
    return render("evidence.html", heading="Experiments of five papers, measured again", sections=sections)


def markdown(results: Sequence[Result]) -> str:
    """The same as Markdown, without plots."""
    lines = ["| experiment | what the paper found | here | rows |", "|---|---|---|---|"]
    lines += [
        f"| {one.experiment.name}: {one.experiment.title} | {one.experiment.found} | **{state(one)}**: {sentence(one)} "
        f"| {one.settings.rows:,} |"
        for one in results
    ]
    for one in results:
        lines += ["", f"### {one.experiment.name}", "", f"{one.experiment.title}. `{one.command}`"]
        for axis in one.experiment.y:
            head, body = table(one, axis)
            if body:
                lines += ["", f"{axis.title}:", "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
                lines += [f"| {' | '.join(cells)} |" for cells in body]
    return "\n".join(lines) + "\n"
