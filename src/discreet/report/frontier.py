"""Plot the frontier of epsilon and m that a table can keep: as an HTML page, SVG or PNG.

Everything below the line can be kept, nothing above it. At a step the smaller m applies, because the epsilon at which
an m ends is a supremum that is not attained.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError
from discreet.principles import Prior
from discreet.principles.proximity import rounded_down
from discreet.report.charts import (
    COLORS,
    FAINT_INK,
    PANEL_HEIGHT,
    PANEL_WIDTH,
    heading,
    layer,
    numbers,
    outlined,
    panel,
    side_by_side,
)
from discreet.report.proximity_plan import ProximityPlan, asked_about, frontier, largest_m, widths
from discreet.table.texts import number_text

if TYPE_CHECKING:
    from discreet.report.plan import Plan

EVERY = 12
"""Every m up to this one has its own step; larger ones grow by the factor ``GROWTH``."""
GROWTH = 1.12
STEEP = 20.0
"""The ratio of the largest to the smallest number from which an axis is logarithmic."""
AXES = {
    "absolute": ("Absolute: within epsilon of the number", "epsilon, in units of {name}"),
    "relative": ("Relative: within a share of the number", "epsilon, as a share of {name}"),
}


def drawn(plan: Plan, suffix: str, title: str = "a table") -> bytes:
    """The frontiers of a plan as the content of a file; ``title`` says which table it is, without its path."""
    if plan.persons < plan.rows:
        raise DiscreetError(
            "a frontier of epsilon and m is about proximity, which is not promised about persons with several rows; "
            "give one row per person"
        )
    if plan.proximity is None or plan.prior is None:
        what = "none" if plan.sensitive is None else f"{plan.sensitive!r}, which is not numeric"
        raise DiscreetError(
            f"a frontier of epsilon and m needs a numeric sensitive attribute, and the table has {what}; name one, or "
            f"declare it numeric"
        )
    prior, proximity = plan.prior, plan.proximity
    panels = [_panel(prior, proximity, neighbourhood) for neighbourhood in AXES]
    label = "The largest m that can be kept, by epsilon; the numbers are in the tables"
    return side_by_side(panels, suffix, label, lambda picture: _page(prior, proximity, title, picture))


# ---------------------------------------------------------------------------------------------------------- the plot


def steps(prior: Prior, neighbourhood: str) -> list[tuple[int, float]]:
    """A selection of m, largest first, each with the supremum of the epsilons with which it can be kept.

    >>> import numpy as np
    >>> steps(Prior(np.ones(9, int), tuple(map(str, range(0, 90, 10))), "numeric"), "absolute")[-4:]
    [(5, 10.0), (4, 20.0), (3, 30.0), (2, 40.0)]
    """
    best = largest_m(prior, neighbourhood)
    listed, m = [], 2
    while m < best:
        listed.append(m)
        m = m + 1 if m < EVERY else max(m + 1, round(m * GROWTH))
    listed += [best] if best > 1 else []
    return [(m, asked_about(0.0, m, neighbourhood).widest(prior)) for m in reversed(listed)]


def _panel(prior: Prior, plan: ProximityPlan, neighbourhood: str) -> dict[str, Any]:
    """One frontier, with the user's epsilon and m if they concern this kind of neighbourhood."""
    suprema = steps(prior, neighbourhood)
    best = suprema[0][0] if suprema else 1
    asked = _asked(plan) if plan.neighbourhood == neighbourhood else None
    title, name = AXES[neighbourhood]
    widths = [width for _, width in suprema]
    across = _across(neighbourhood, name.format(name=prior.attribute or "the number"), widths, asked)
    low, high = across["scale"]["domain"]
    # the line starts on the left with the largest m, and at the end of each m drops to the next smaller one
    line = [{"epsilon": low, "m": best}]
    for (_, width), after in zip(suprema, [*(m for m, _ in suprema[1:]), 1], strict=False):
        if width < high:
            line.append({"epsilon": max(low, width), "m": after})
    line.append({"epsilon": high, "m": line[-1]["m"]})
    steplike = {"interpolate": "step-after", "color": COLORS[0]}
    layers = [
        layer({"type": "area", **steplike, "opacity": 0.14}, line, y2={"datum": 1}),
        layer({"type": "line", **steplike, "strokeWidth": 2}, line),
        *(_words(line) if asked is None else _mark(asked, low, high)),
    ]
    return panel(heading(title), across, _upwards(max(best, asked["m"] if asked else 1)), layers)


def _across(neighbourhood: str, title: str, widths: Sequence[float], asked: dict[str, Any] | None) -> dict[str, Any]:
    """The axis of epsilon: from 0 to 1 if relative, else over the range in which m falls to 1."""
    if neighbourhood == "relative":
        axis = {"format": "~%", "grid": False, "tickCount": 6}
        return numbers("epsilon", title, {"domain": [0, 1], "nice": False}, axis)
    ends = [width for width in (*widths, asked["epsilon"] if asked else 0.0) if 0.0 < width < math.inf]
    low, high = (min(ends), max(ends)) if ends else (1.0, 1.0)
    low, high = max(low, 1e-300), min(high, 1e307)  # so that the margins added below stay finite and positive
    axis = {"format": ",.6~g", "grid": False}
    if high < STEEP * low:
        return numbers("epsilon", title, {"domain": [0, 1.15 * high], "nice": False}, {**axis, "tickCount": 5})
    # margins on both sides: left of the first step, the line continues down to epsilon 0
    low, high = low / 3, high * 2
    axis |= {"values": _ticks(low, high), "labelOverlap": True}
    return numbers("epsilon", title, {"type": "log", "domain": [low, high], "nice": False}, axis)


def _upwards(top: float) -> dict[str, Any]:
    """The axis of m, starting at 1, which promises nothing."""
    if top > STEEP:
        ticks, scale = _ticks(1, 1.3 * top), {"type": "log", "domain": [1, 1.3 * top], "nice": False}
    else:
        step = 1 if top <= 10 else 2
        ticks = list(range(step, int(top) + 1, step))
        scale = {"domain": [1, top + max(0.6, 0.12 * top)], "nice": False}
    return numbers("m", "largest m", scale, {"format": ",d", "values": ticks})


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten, with twice and five times each if there are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1,) if len(powers) > 5 else (1, 2, 5)
    return [number for power in powers for digit in digits if low <= (number := float(f"{digit}e{power}")) <= high]


def _words(line: list[dict[str, float]]) -> list[dict[str, Any]]:
    """Labels for the two sides of the line, in corners that it does not cross."""
    if line[0]["m"] == 1:
        return [_word("No m above 1 can be kept, whatever epsilon.", "left", 12, PANEL_HEIGHT / 2)]
    return [_word("can be kept", "left", 12, PANEL_HEIGHT - 14), _word("cannot be kept", "right", PANEL_WIDTH - 8, 12)]


def _word(text: str, align: str, x: float, y: float) -> dict[str, Any]:
    mark = {"type": "text", "color": FAINT_INK, "fontSize": 12, "fontStyle": "italic", "text": text, "align": align}
    return layer(mark, [{}], x={"value": x}, y={"value": y})


def _asked(plan: ProximityPlan) -> dict[str, Any] | None:
    """The point of the user's epsilon and m, with its label."""
    epsilon, m, kept = plan.epsilon, plan.m, True
    if epsilon is not None and m is not None:
        kept = bool(plan.feasible)
        label = f"epsilon={number_text(epsilon)}, m={m:,}: {'can' if kept else 'cannot'} be kept"
    elif epsilon is not None:
        m = plan.largest_m
        label = f"epsilon={number_text(epsilon)}: m up to {m:,}"
    elif m is None or plan.widest_epsilon is None:
        return None
    elif plan.widest_epsilon == 0.0:
        epsilon, kept, label = 0.0, False, f"m={m:,}: no epsilon can be kept"
    elif math.isinf(plan.widest_epsilon):
        epsilon, label = 1.0, f"m={m:,}: any epsilon"
    else:
        epsilon, label = plan.widest_epsilon, f"m={m:,}: epsilon below {number_text(rounded_down(plan.widest_epsilon))}"
    return {"epsilon": epsilon, "m": m, "label": label, "kept": kept}


def _mark(asked: dict[str, Any], low: float, high: float) -> list[dict[str, Any]]:
    """The user's point, with lines to both axes."""
    color = COLORS[2] if asked["kept"] else COLORS[1]
    place = min(max(asked["epsilon"], low), high)
    records = [{**asked, "epsilon": place}]
    rule = {"type": "rule", "color": color, "strokeDash": [4, 3], "strokeWidth": 1.2}
    right = (math.log(place / low) / math.log(high / low) if low > 0.0 else place / high) > 0.5
    beside = {"align": "right", "dx": 4} if right else {"align": "left", "dx": -4}
    return [
        layer(rule, records, y2={"datum": 1}),
        layer(rule, records, x2={"datum": low}),
        layer({"type": "point", "filled": True, "size": 110, "color": color, "opacity": 1}, records),
        *outlined(records, "label", {"color": color, "dy": -12, **beside}),
    ]


# ---------------------------------------------------------------------------------------------------------- the page


def _page(prior: Prior, plan: ProximityPlan, title: str, picture: str) -> str:
    from discreet.report.page import render

    sections = [
        {
            "title": name,
            "points": [(_apart(point.epsilon), f"{point.m:,}") for point in frontier(prior, neighbourhood)],
            "ends": [
                (f"{width.m:,}", "any" if math.isinf(width.epsilon) else _apart(rounded_down(width.epsilon)))
                for width in widths(prior, neighbourhood)
            ],
        }
        for neighbourhood, (name, _) in AXES.items()
    ]
    return render(
        "frontier.html",
        heading=f"What {title} can promise about {prior.attribute}",
        prior=prior,
        sentences=plan.sentences,
        svg=picture,
        sections=sections,
    )


def _apart(value: float) -> str:
    """All digits of a number, with thousands separators."""
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,}"
