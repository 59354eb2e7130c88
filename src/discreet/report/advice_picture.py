"""The picture of advice: a point for each release that was tried, by what attackers guess and how good counts are."""

from __future__ import annotations

from typing import Any

from discreet.report.advice import NAMES, Advice, Candidate
from discreet.report.charts import COLORS, INK, NAME, heading, layer, numbers, outlined, panel, side_by_side

LEAST_ERROR = 1e-3
"""Smaller errors are drawn here, so that the axis by powers of ten has an end."""
TICKS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]
KINDS = ("groups that hide", "groups of any size", "exact quasi-identifiers")
"""What releases show of quasi-identifiers, as their points are drawn."""
WIDTH = 620


def drawn(advice: Advice) -> str | None:
    """Return the picture as SVG; None if fewer than two releases have counts and can be attacked."""
    points = [
        point
        for strength in advice.strengths
        for each in strength.candidates
        if (point := _point(strength.name, each)) is not None
    ]
    if len(points) < 2:
        return None
    recommended: dict[tuple[float, float], dict[str, Any]] = {}
    for each in advice.recommendations:
        point = None if each.release is None or each.strength is None else _point(each.strength, each.release)
        if point is not None:
            held = recommended.setdefault((point["error"], point["guessed"]), {**point, "name": "for"})
            held["name"] += f"{',' if held['name'] != 'for' else ''} {each.recipient}"
    labels = list(recommended.values())
    across = numbers(
        "guessed", "people whose value attacks guess", {"zero": False, "nice": True}, {"format": "~%", "tickCount": 8}
    )
    upwards = numbers("error", "error of counts (median)", {"type": "log"}, {"format": "~%", "values": TICKS})
    legend = {"title": None, "orient": "bottom", "columns": 3}
    color = {
        "field": "strength",
        **NAME,
        "scale": {"domain": list(NAMES), "range": list(COLORS[:3])},
        "legend": {**legend, "labelExpr": "datum.label + ' promise'"},
    }
    shape = {"field": "kind", **NAME, "scale": {"domain": list(KINDS)}, "legend": legend}
    mark = {"type": "point", "filled": True, "size": 90, "opacity": 0.9}
    layers = [layer(mark, points, color=color, shape=shape)]
    ring = {"type": "point", "filled": False, "size": 260, "strokeWidth": 2, "color": INK, "opacity": 1}
    layers.append(layer(ring, labels))
    middle = max(point["guessed"] for point in points) / 2
    for label in labels:
        left = label["guessed"] <= middle
        look = {"align": "left" if left else "right", "dx": 14 if left else -14, "fontWeight": "normal", "color": INK}
        layers += outlined([label], "name", look)
    chart = panel(heading("Better to the lower left"), across, upwards, layers)
    text = "Releases that were tried, by what attackers guess and by the error of counts; the numbers are in the tables"
    return side_by_side([{**chart, "width": WIDTH}], ".svg", text, str).decode()


def _point(strength: str, release: Candidate) -> dict[str, Any] | None:
    if release.error is None or release.guessed is None:
        return None
    kind = KINDS[2] if release.exact else KINDS[0] if release.hidden else KINDS[1]
    return {"strength": strength, "kind": kind, "error": max(release.error, LEAST_ERROR), "guessed": release.guessed}
