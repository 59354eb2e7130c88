"""Plot the frontier of epsilon and m that a table can keep: as an HTML page, SVG or PNG.

Everything below the line can be kept, nothing above it. At a step the smaller m applies, because the epsilon at which
an m ends is a supremum that is not attained.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError
from discreet.principles import Prior
from discreet.principles.proximity import Proximity, rounded_down
from discreet.principles.wording import exact
from discreet.report.plots import COLORS, INK, library, svg, themed
from discreet.report.proximity_plan import ProximityPlan, frontier, widths

if TYPE_CHECKING:
    from discreet.report.plan import Plan

SUFFIXES = (".html", ".svg", ".png")
EVERY = 12
"""Every m up to this one has its own step; larger ones grow by the factor ``GROWTH``."""
GROWTH = 1.12
STEEP = 20.0
"""The ratio of the largest to the smallest number from which an axis is logarithmic."""
WIDTH, HEIGHT = 400, 300
FAINT_INK = "#666666"
AXES = {
    "absolute": ("Absolute: within epsilon of the number", "epsilon, in units of {name}"),
    "relative": ("Relative: within a share of the number", "epsilon, as a share of {name}"),
}


def check_suffix(path: str | Path) -> str:
    """The picture format that a file name asks for; raises if it is not supported.

    >>> check_suffix("frontier.SVG")
    '.svg'
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise DiscreetError(
            f"the name of the plot '{path}' does not say its format; let it end in {', '.join(SUFFIXES[:-1])} or "
            f"{SUFFIXES[-1]}"
        )
    return suffix


def drawn(told: Plan, suffix: str, title: str = "a table") -> bytes:
    """The frontiers of a plan as the content of a file; ``title`` says which table it is, without its path."""
    if told.persons < told.rows:
        raise DiscreetError(
            "a frontier of epsilon and m is about proximity, which is not promised about persons with several rows; "
            "give one row per person"
        )
    if told.proximity is None or told.prior is None:
        what = "none" if told.sensitive is None else f"{told.sensitive!r}, which is not numeric"
        raise DiscreetError(
            f"a frontier of epsilon and m needs a numeric sensitive attribute, and the table has {what}; name one, or "
            f"declare it numeric"
        )
    chart = themed(_chart(told.prior, told.proximity), autosize="pad")
    if suffix == ".png":
        return bytes(library().vegalite_to_png({**chart, "background": "white"}, scale=2))
    picture = svg(chart, "The largest m that can be kept, by epsilon; the numbers are in the tables")
    return (picture if suffix == ".svg" else _page(told.prior, told.proximity, title, picture)).encode()


# ---------------------------------------------------------------------------------------------------------- the plot


def steps(prior: Prior, neighbourhood: str) -> list[tuple[int, float]]:
    """A selection of m, largest first, each with the supremum of the epsilons with which it can be kept.

    >>> import numpy as np
    >>> steps(Prior(np.ones(9, int), tuple(map(str, range(0, 90, 10))), "numeric"), "absolute")[-4:]
    [(5, 10.0), (4, 20.0), (3, 30.0), (2, 40.0)]
    """
    best = int(Proximity(0.0, 1, neighbourhood).reachable(prior).strongest or 1)  # type: ignore[arg-type]
    listed, m = [], 2
    while m < best:
        listed.append(m)
        m = m + 1 if m < EVERY else max(m + 1, round(m * GROWTH))
    listed += [best] if best > 1 else []
    return [(m, Proximity(0.0, m, neighbourhood).widest(prior)) for m in reversed(listed)]  # type: ignore[arg-type]


def _chart(prior: Prior, told: ProximityPlan) -> dict[str, Any]:
    return {
        "hconcat": [_panel(prior, told, neighbourhood) for neighbourhood in AXES],
        "spacing": 40,
        "padding": 8,
    }


def _panel(prior: Prior, told: ProximityPlan, neighbourhood: str) -> dict[str, Any]:
    """One frontier, with the user's epsilon and m if they concern this kind of neighbourhood."""
    found = steps(prior, neighbourhood)
    best = found[0][0] if found else 1
    asked = _asked(told) if told.neighbourhood == neighbourhood else None
    across = _across(neighbourhood, [width for _, width in found], None if asked is None else asked["epsilon"])
    low, high = across["scale"]["domain"]
    # the line starts on the left with the largest m, and at the end of each m drops to the next smaller one
    line = [{"epsilon": low, "m": best}]
    for (_, width), after in zip(found, [*(m for m, _ in found[1:]), 1], strict=False):
        if width < high:
            line.append({"epsilon": max(low, width), "m": after})
    line.append({"epsilon": high, "m": line[-1]["m"]})
    top = max(best, asked["m"] if asked else 1)
    title, name = AXES[neighbourhood]
    return {
        "title": {"text": title, "anchor": "start", "fontSize": 13, "fontWeight": "bold", "color": INK, "offset": 10},
        "width": WIDTH,
        "height": HEIGHT,
        "encoding": {
            "x": {**across, "title": name.format(name=prior.attribute or "the number")},
            "y": _upwards(top),
        },
        "layer": [*_frontier(line), *(_words(line) if asked is None else _mark(asked, low, high))],
    }


def _frontier(line: list[dict[str, float]]) -> list[dict[str, Any]]:
    data = {"values": line}
    area = {"type": "area", "interpolate": "step-after", "color": COLORS[0], "opacity": 0.14}
    return [
        {"data": data, "mark": area, "encoding": {"y2": {"datum": 1}}},
        {"data": data, "mark": {"type": "line", "interpolate": "step-after", "color": COLORS[0], "strokeWidth": 2}},
    ]


def _across(neighbourhood: str, widths: Sequence[float], asked: float | None) -> dict[str, Any]:
    """The axis of epsilon: from 0 to 1 if relative, else over the range in which m falls to 1."""
    field = {"field": "epsilon", "type": "quantitative"}
    if neighbourhood == "relative":
        scale = {"domain": [0, 1], "nice": False}
        return {**field, "scale": scale, "axis": {"format": "~%", "grid": False, "tickCount": 6}}
    ends = [width for width in widths if 0.0 < width < math.inf]
    ends += [asked] if asked else []
    low, high = (min(ends), max(ends)) if ends else (1.0, 1.0)
    low, high = max(low, 1e-300), min(high, 1e307)  # so that the margins added below stay finite and positive
    if high < STEEP * low:
        scale = {"domain": [0, 1.15 * high], "nice": False}
        return {**field, "scale": scale, "axis": {"format": ",.6~g", "grid": False, "tickCount": 5}}
    # margins on both sides: left of the first step, the line continues down to epsilon 0
    scale = {"type": "log", "domain": [low / 3, high * 2], "nice": False}
    ticks = _ticks(low / 3, high * 2)
    return {**field, "scale": scale, "axis": {"format": ",.6~g", "grid": False, "values": ticks, "labelOverlap": True}}


def _upwards(top: float) -> dict[str, Any]:
    """The axis of m, starting at 1, which promises nothing."""
    steep = top > STEEP
    scale = {"type": "log"} if steep else {}
    axis = {"format": ",d", "values": _ticks(1, 1.3 * top) if steep else _whole_ticks(top)}
    return {
        "field": "m",
        "type": "quantitative",
        "title": "largest m",
        "scale": {**scale, "domain": [1, 1.3 * top if steep else top + max(0.6, 0.12 * top)], "nice": False},
        "axis": axis,
    }


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten, with twice and five times each if there are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1,) if len(powers) > 5 else (1, 2, 5)
    return [number for power in powers for digit in digits if low <= (number := float(f"{digit}e{power}")) <= high]


def _whole_ticks(top: float) -> list[int]:
    step = 1 if top <= 10 else 2
    return list(range(step, int(top) + 1, step))


def _words(line: list[dict[str, float]]) -> list[dict[str, Any]]:
    """Labels for the two sides of the line, in corners that it does not cross."""
    if line[0]["m"] == 1:
        return [_word("No m above 1 can be kept, whatever epsilon.", "left", 12, HEIGHT / 2)]
    return [_word("can be kept", "left", 12, HEIGHT - 14), _word("cannot be kept", "right", WIDTH - 8, 12)]


def _word(text: str, align: str, x: float, y: float) -> dict[str, Any]:
    mark = {"type": "text", "color": FAINT_INK, "fontSize": 12, "fontStyle": "italic", "text": text, "align": align}
    return {"data": {"values": [{}]}, "mark": mark, "encoding": {"x": {"value": x}, "y": {"value": y}}}


def _asked(told: ProximityPlan) -> dict[str, Any] | None:
    """The point of the user's epsilon and m, with its label."""
    if told.epsilon is not None and told.m is not None:
        verdict = "can be kept" if told.feasible else "cannot be kept"
        said = f"epsilon={exact(told.epsilon)}, m={told.m:,}: {verdict}"
        return {"epsilon": told.epsilon, "m": told.m, "said": said, "kept": bool(told.feasible)}
    if told.epsilon is not None:
        said = f"epsilon={exact(told.epsilon)}: m up to {told.largest_m:,}"
        return {"epsilon": told.epsilon, "m": told.largest_m, "said": said, "kept": True}
    if told.m is not None and told.widest_epsilon is not None:
        most = told.widest_epsilon
        if most == 0.0:
            return {"epsilon": 0.0, "m": told.m, "said": f"m={told.m:,}: no epsilon can be kept", "kept": False}
        if math.isinf(most):
            return {"epsilon": 1.0, "m": told.m, "said": f"m={told.m:,}: any epsilon", "kept": True}
        said = f"m={told.m:,}: epsilon below {exact(rounded_down(most))}"
        return {"epsilon": most, "m": told.m, "said": said, "kept": True}
    return None


def _mark(asked: dict[str, Any], low: float, high: float) -> list[dict[str, Any]]:
    """The user's point, with lines to both axes."""
    color = COLORS[2] if asked["kept"] else COLORS[1]
    place = min(max(asked["epsilon"], low), high)
    data = {"values": [{**asked, "epsilon": place}]}
    rule = {"type": "rule", "color": color, "strokeDash": [4, 3], "strokeWidth": 1.2}
    right = (math.log(place / low) / math.log(high / low) if low > 0.0 else place / high) > 0.5
    text = {"type": "text", "color": color, "fontSize": 12, "fontWeight": "bold", "dy": -12}
    said = {"text": {"field": "said", "type": "nominal"}}
    text |= {"align": "right", "dx": 4} if right else {"align": "left", "dx": -4}
    return [
        {"data": data, "mark": rule, "encoding": {"y2": {"datum": 1}}},
        {"data": data, "mark": rule, "encoding": {"x2": {"datum": low}}},
        {"data": data, "mark": {"type": "point", "filled": True, "size": 110, "color": color, "opacity": 1}},
        # drawn twice, first with a white outline, so that the text is legible across lines
        *(
            {"data": data, "mark": {**text, **look}, "encoding": said}
            for look in ({"stroke": "white", "strokeWidth": 4}, {})
        ),
    ]


# ---------------------------------------------------------------------------------------------------------- the page


def _page(prior: Prior, told: ProximityPlan, title: str, picture: str) -> str:
    from discreet.report.page import render

    sections = [
        {
            "title": name,
            "points": [(_apart(one.epsilon), f"{one.m:,}") for one in frontier(prior, neighbourhood)],
            "ends": [(f"{one.m:,}", _below(one.epsilon)) for one in widths(prior, neighbourhood)],
        }
        for neighbourhood, (name, _) in AXES.items()
    ]
    return render(
        "frontier.html",
        heading=f"What {title} can promise about {prior.attribute}",
        prior=prior,
        sentences=told.sentences,
        svg=picture,
        sections=sections,
    )


def _below(epsilon: float) -> str:
    return "any" if math.isinf(epsilon) else _apart(rounded_down(epsilon))


def _apart(value: float) -> str:
    """All digits of a number, with thousands separators.

    >>> _apart(4500.0), _apart(1234.5), _apart(0.05)
    ('4,500', '1,234.5', '0.05')
    """
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,}"
