"""The plots of a comparison as SVG: bars for one promise, lines for promises that differ in one number."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

from discreet.principles import Principle
from discreet.report.charts import COLORS, INK, NAME, layer, numbers, svg, themed
from discreet.report.comparison import Comparison
from discreet.report.measures import AIL, GUESSED, MEDIAN, SECONDS, Measure
from discreet.table.texts import number_text

STAR = "M0,-1L.25,-.35L.95,-.31L.4,.13L.59,.81L0,.42L-.59,.81L-.4,.13L-.95,-.31L-.25,-.35Z"
SALTIRE = "M-.9,-.5L-.5,-.9L0,-.4L.5,-.9L.9,-.5L.4,0L.9,.5L.5,.9L0,.4L-.5,.9L-.9,.5L-.4,0Z"
HOURGLASS = "M-.8,-.9L.8,-.9L-.8,.9L.8,.9Z"
BOWTIE, CHEVRON = "M-.9,-.8L.9,.8L.9,-.8L-.9,.8Z", "M-.9,.1L0,-.8L.9,.1L.9,.7L0,-.2L-.9,.7Z"
HEXAGON, SLANTED = "M-.5,-.87L.5,-.87L1,0L.5,.87L-.5,.87L-1,0Z", "M-1,.6L-.4,-.6L1,-.6L.4,.6Z"
BAR, PILLAR = "M-1,-.35L1,-.35L1,.35L-1,.35Z", "M-.35,-1L.35,-1L.35,1L-.35,1Z"
CORNER, ARROW = "M-.8,-.9L-.1,-.9L-.1,.2L.8,.2L.8,.9L-.8,.9Z", "M-1,-.3L.1,-.3L.1,-.8L1,0L.1,.8L.1,.3L-1,.3Z"
SHAPES = (
    *("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"),
    *(STAR, SALTIRE, HOURGLASS, BAR, PILLAR, BOWTIE, CHEVRON, HEXAGON, SLANTED, CORNER, ARROW),
)
"""Their number and that of the colours are coprime, so that no pair repeats before all pairs have been used."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 2, 1, 2], [3, 3], [10, 2])
WIDTH = 350
"""The width of a whole plot, including the labels of its axes: three fit side by side."""
STEEP = 30
"""Times that differ by more than this factor are drawn on a logarithmic axis, in plots with lines."""


@dataclass(frozen=True)
class Plot:
    """How one measure is drawn."""

    measure: Measure
    title: str
    axis: str
    ticks: str
    """The number format of the axis."""


PLOTS = (
    Plot(AIL, "Loss of the quasi-identifiers", "AIL (0 exact, 1 nothing left)", "~g"),
    Plot(MEDIAN, "Workload error", "median relative error", "~%"),
    Plot(GUESSED, "Sensitive values guessed", "people guessed rightly", "~%"),
    Plot(SECONDS, "Time to publish", "seconds", "~g"),
)


@dataclass(frozen=True)
class Family:
    """Promises that differ in one number, in ascending order, or a single promise."""

    promises: tuple[Principle, ...]
    parameter: str | None = None
    places: tuple[float, ...] = ()

    @property
    def title(self) -> str:
        """The promise, with the range of the number in which the promises differ."""
        first = str(self.promises[0])
        if self.parameter is None:
            return first
        low, high = (f"{self.parameter}={number_text(place)}" for place in (self.places[0], self.places[-1]))
        return first.replace(low, f"{low} to {number_text(self.places[-1])}") if low in first else f"{first} to {high}"


def families(promises: Sequence[Principle]) -> list[Family]:
    """Group promises that differ in one number only.

    >>> from discreet.principles import parse
    >>> [family.title for family in families([parse(f"beta-likeness(beta={beta})") for beta in (4, 1)])]
    ['beta-likeness(beta=1 to 4)']
    """
    kin: dict[tuple[object, ...], list[Principle]] = {}
    for promise in promises:
        # parameters that are words must agree; numbers may differ
        alike = tuple(
            (*where, "number" if isinstance(value, int | float) and not isinstance(value, bool) else value)
            for where, value in _details(promise)
        )
        kin.setdefault(alike, []).append(promise)
    families = []
    for members in kin.values():
        columns = list(zip(*(_details(member) for member in members), strict=True))
        varying = [cells for cells in columns if len({value for _, value in cells}) > 1]
        if len(members) > 1 and len(varying) == 1:
            places = [float(cast(float, value)) for _, value in varying[0]]
            order = sorted(range(len(members)), key=places.__getitem__)
            name = varying[0][0][0][1]
            families.append(Family(tuple(members[at] for at in order), name, tuple(places[at] for at in order)))
        else:
            families += [Family((member,)) for member in members]
    return families


def _details(promise: Principle) -> list[tuple[tuple[str, str], object]]:
    """All parameters of all parts of a promise, with their names."""
    return [
        ((part.name, field.name), getattr(part, field.name))
        for part in promise.parts
        for field in fields(cast(Any, part))
    ]


def draw(comparison: Comparison, family: Family, plot: Plot) -> str | None:
    """One measure of a family of promises as SVG; ``None`` if no result has it."""
    records: list[dict[str, Any]] = []
    for at, promise in enumerate(family.promises):
        for result in comparison.under(promise):
            value = plot.measure.of(result)
            if value is not None:
                place = family.places[at] if family.places else 0.0
                records.append(
                    {"scheme": result.scheme, "place": place, "value": value, "text": plot.measure.text(value)}
                )
    if not records:
        return None
    chart = _bars(records, plot) if family.parameter is None else _lines(records, plot, family)
    if plot.measure is GUESSED:
        limits = {"without a release": comparison.without_release, "from the original": comparison.from_original}
        _add_limits(chart, {name: value for name, value in limits.items() if value is not None})
    complete = themed({**coloured(chart, comparison.schemes, {record["scheme"] for record in records}), "width": WIDTH})
    return svg(complete, f"{plot.title} by scheme: {plot.axis}; the numbers are in the table")


def _bars(records: list[dict[str, Any]], plot: Plot) -> dict[str, Any]:
    top = (max(record["value"] for record in records) or 1.0) * 1.2  # leaves room for the number at the longest bar
    scale, axis = {"domain": [0, top], "nice": False}, {"tickCount": 4, "format": plot.ticks}
    # the name of a scheme may be long, so it is placed above its bar, not beside it
    text = {"type": "text", "align": "left", "baseline": "middle", "color": INK, "fontSize": 12}
    down = {"field": "scheme", **NAME, "title": None, "sort": None, "axis": None}
    return {
        "data": {"values": records},
        "height": 50 + 44 * len(records),
        "encoding": {"x": numbers("value", plot.axis, scale, axis), "y": down},
        "layer": [
            layer({"type": "bar", "height": 16, "yOffset": 8}, color={"field": "scheme", **NAME, "legend": None}),
            layer({**text, "dy": -10}, x={"datum": 0}, text={"field": "scheme", **NAME}),
            layer({**text, "dx": 4, "dy": 8}, text={"field": "text", **NAME}),
        ],
    }


def _lines(records: list[dict[str, Any]], plot: Plot, family: Family) -> dict[str, Any]:
    values = [record["value"] for record in records]
    steep = plot.measure is SECONDS and max(values) > STEEP * max(min(values), 1e-9)
    tens = range(math.floor(math.log10(max(min(values), 1e-9))), math.ceil(math.log10(max(*values, 1e-9))) + 1)
    ticks = {"values": [10.0**ten for ten in tens]} if steep else {"tickCount": 5}
    names = {record["scheme"] for record in records}
    columns = 1 if max(map(len, names)) > 22 else 2
    places = {"values": list(family.places), "grid": False, "format": "~g"}
    x = numbers("place", family.parameter, {"zero": False, "nice": False, "padding": 12}, places)
    scale: dict[str, Any] = {"type": "log"} if steep else {"zero": True, "nice": 5}
    y = numbers("value", plot.axis, scale, {**ticks, "format": plot.ticks})
    return {
        "data": {"values": records},
        "height": 250 + 16 * math.ceil(len(names) / columns),
        "encoding": {"x": x, "y": y, "color": scheme_channel(columns)},
        "layer": lines_of_schemes(columns, 70),
    }


def scheme_channel(columns: int) -> dict[str, Any]:
    """What the colour, shape or dash of a mark shows: its scheme, listed below the plot in this many columns."""
    legend = {"title": None, "orient": "bottom", "columns": columns, "symbolSize": 80}
    return {"field": "scheme", **NAME, "sort": None, "legend": legend}


def lines_of_schemes(columns: int, size: int) -> list[dict[str, Any]]:
    """A line for each scheme, and points of a size on it."""
    scheme = scheme_channel(columns)
    return [
        layer({"type": "line", "strokeWidth": 2}, strokeDash={**scheme, "legend": None}),
        layer({"type": "point", "filled": True, "size": size, "opacity": 1}, shape=scheme),
    ]


def _add_limits(chart: dict[str, Any], limits: dict[str, float]) -> None:
    """Draw lines across a chart at values to compare with, each with its name."""
    bars = chart["encoding"]["y"]["field"] == "scheme"
    along, across = ("x", "y") if bars else ("y", "x")
    end = "height" if bars else "width"
    scale = chart["encoding"][along]["scale"]
    if bars:
        scale["domain"] = [0, max(scale["domain"][1], 1.25 * max(limits.values()))]
        chart["height"] += 18 * len(limits)
        chart["encoding"]["y"]["scale"] = {"paddingOuter": 0.5}
    for place, (name, value) in enumerate(sorted(limits.items(), key=lambda limit: limit[1])):
        plain = {along: {**chart["encoding"][along], "field": "limit"}, "color": {"value": "#777777"}}
        label = {"type": "text", "color": "#555555", "fontSize": 11, "align": "left", "text": name}
        # in a chart of lines, names are below the lowest line and above all others, where there is room
        beside = {"baseline": "bottom", "dy": -3} if place else {"baseline": "top", "dy": 4}
        whole = {across: {"value": 0}, f"{across}2": {"value": end}}
        start = {across: {"value": 6 + 14 * place if bars else 4}}
        chart["layer"] += [
            layer({"type": "rule", "strokeDash": [4, 3]}, [{"limit": value}], **plain, **whole),
            layer({**label, "dx": 4} if bars else {**label, **beside}, [{"limit": value}], **plain, **start),
        ]


def looks_of(many: int) -> dict[str, list[Any]]:
    """The colour, shape and dash for each of ``many`` schemes; no two look the same.

    >>> {channel: looks[0] for channel, looks in looks_of(3).items()}
    {'color': '#0072b2', 'shape': 'circle', 'strokeDash': [1, 0]}
    """
    channels: dict[str, Sequence[Any]] = {"color": COLORS, "shape": SHAPES, "strokeDash": DASHES}
    return {channel: [looks[at % len(looks)] for at in range(many)] for channel, looks in channels.items()}


def coloured(chart: dict[str, Any], schemes: Sequence[str], present: Collection[str]) -> dict[str, Any]:
    """A chart in which each of the schemes that are present has its own colour, shape and dash, as in all charts."""
    kept = [at for at, scheme in enumerate(schemes) if scheme in present]
    domain = [schemes[at] for at in kept]
    for encoding in (chart["encoding"], *(drawn["encoding"] for drawn in chart["layer"])):
        for channel, looks in looks_of(len(schemes)).items():
            if "field" in encoding.get(channel, {}):
                scale = {"domain": domain, "range": [looks[at] for at in kept]}
                encoding[channel] = {**encoding[channel], "scale": scale}
    return chart
