"""Plans for dividing several sensitive attributes among tables: exposure against association, to choose from.

The more attributes share a table, the more is exposed to whoever knows one of a person's values, and the less of their
association is lost. No plan on the frontier is beaten in both by another that was found; ``schemes.codip`` chooses one
of them by the exposure that is allowed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import DiscreetError
from discreet.principles.wording import listed
from discreet.report.frontier import FAINT_INK, HEIGHT, WIDTH, check_suffix
from discreet.report.plots import COLORS, FAINT, INK, library, svg, themed
from discreet.schemes.codip.plans import STEPS, frontier, merged
from discreet.table.dependency import Dependency, Plan, dependency
from discreet.table.table import Table


@dataclass(frozen=True)
class Projection:
    """One plan: which attributes share a table, and what that exposes and loses."""

    tables: tuple[tuple[str, ...], ...]
    exposure: float
    """The Information Exposure Ratio: 0 for a table per attribute, 1 for one table."""
    association_loss: float
    """The Association Loss Ratio: 1 for a table per attribute, 0 for one table."""

    @property
    def text(self) -> str:
        """Which attributes share a table; those that have one to themselves are not listed."""
        shared = [" + ".join(table) for table in self.tables if len(table) > 1]
        return "; ".join(shared) or "none"


@dataclass(frozen=True)
class Projections:
    """The frontier of plans, from no association lost to nothing exposed."""

    rows: int
    sensitive: tuple[str, ...]
    plans: tuple[Projection, ...]
    paper: tuple[Projection, ...]
    """The plans that the merges of CODIP* (Figure 4 of the paper) pass through."""
    found: Dependency = field(repr=False, compare=False)

    @property
    def best(self) -> Projection:
        """The plan with the smallest sum of both ratios: a suggestion where nothing else decides."""
        return min(self.plans, key=lambda one: one.exposure + one.association_loss)

    def by_tables(self) -> list[Projection]:
        """For each number of tables on the frontier, the plan with the smallest sum of both ratios."""
        found: dict[int, Projection] = {}
        for one in sorted(self.plans, key=lambda one: one.exposure + one.association_loss):
            found.setdefault(len(one.tables), one)
        return [found[number] for number in sorted(found)]

    def as_dict(self) -> dict[str, Any]:
        """The plans as plain values, with the entropies and the mutual information they follow from."""
        return {
            "sensitive": list(self.sensitive),
            "entropy": dict(zip(self.sensitive, self.found.entropy.tolist(), strict=True)),
            "mutual_information": self.found.shared.tolist(),
            "plans": [asdict(one) for one in self.plans],
            "paper": [asdict(one) for one in self.paper],
            "best": asdict(self.best),
        }

    def plot(self, path: str | os.PathLike[str], title: str = "a table") -> None:
        """Draw the frontier and the dependencies to a file: ``.html`` (with a table), ``.svg`` or ``.png``."""
        Path(path).write_bytes(self.drawn(check_suffix(os.fspath(path)), title))

    def drawn(self, suffix: str, title: str = "a table") -> bytes:
        """The frontier and the dependencies as the content of a file; ``title`` names the table, without a path."""
        chart = themed({"hconcat": [_frontier(self), _heat_map(self)], "spacing": 40, "padding": 8}, autosize="pad")
        if suffix == ".png":
            return bytes(library().vegalite_to_png({**chart, "background": "white"}, scale=2))
        picture = svg(chart, "Exposure against association loss of plans, and what attributes tell about each other")
        return (picture if suffix == ".svg" else _page(self, title, picture)).encode()


def projections(table: Table, harmless: Mapping[str, Collection[str]] | None = None, steps: int = STEPS) -> Projections:
    """Return the frontier of plans for a table with several sensitive attributes.

    ``harmless`` names, per attribute, the values that are not sensitive; ``steps`` bounds the search where there
    are too many plans to look at all of them.

    >>> import discreet as dc, pyarrow as pa
    >>> people = pa.table({"age": [1, 2, 3, 4], "ill": list("aabb"), "drug": list("xxyy"), "job": list("mnmn")})
    >>> told = projections(dc.read(people, quasi=["age"], sensitive=["ill", "drug", "job"]))
    >>> told.best.tables, told.best.association_loss
    ((('ill', 'drug'), ('job',)), 0.0)
    """
    if len(table.sensitive) < 2:
        raise DiscreetError("plans divide several sensitive attributes among tables; name at least two")
    found = dependency(table.sensitive, harmless)
    way = merged(found, lambda plan: True)
    return Projections(
        table.rows,
        found.names,
        tuple(_described(found, plan) for plan in frontier(found, steps)),
        tuple(_described(found, plan) for plan in way),
        found,
    )


def _described(found: Dependency, plan: Plan) -> Projection:
    tables = tuple(tuple(found.names[at] for at in part) for part in plan)
    return Projection(tables, round(found.exposure(plan), 9), round(found.association_loss(plan), 9))


# ---------------------------------------------------------------------------------------------------------- the plots


def _titled(text: str) -> dict[str, Any]:
    return {"text": text, "anchor": "start", "fontSize": 13, "fontWeight": "bold", "color": INK, "offset": 10}


def _frontier(told: Projections) -> dict[str, Any]:
    """Exposure against association loss: the frontier as a line, the paper's merges and the suggestion as points."""
    ours, theirs = "best found", "CODIP*"
    series = {"domain": [ours, theirs], "range": [COLORS[0], COLORS[1]]}
    color = {"field": "of", "type": "nominal", "scale": series, "legend": {"title": None, "orient": "top-right"}}

    def points(plans: tuple[Projection, ...], of: str) -> dict[str, Any]:
        return {"values": [{"loss": one.association_loss, "exposure": one.exposure, "of": of} for one in plans]}

    best = told.best
    said = [{"loss": best.association_loss, "exposure": best.exposure, "said": f"{len(best.tables)} tables"}]
    axis = {"format": "~%", "grid": True, "tickCount": 5}
    scale = {"domain": [0, 1], "nice": False}
    text = {"type": "text", "align": "left", "dx": 9, "dy": -9, "fontWeight": "bold", "fontSize": 12, "color": INK}
    return {
        "title": _titled("Plans: what is exposed, and what is lost"),
        "width": WIDTH,
        "height": HEIGHT,
        "encoding": {
            "x": {
                "field": "loss",
                "type": "quantitative",
                "title": "association loss",
                "scale": scale,
                "axis": axis,
            },
            "y": {"field": "exposure", "type": "quantitative", "title": "exposure", "scale": scale, "axis": axis},
        },
        "layer": [
            {
                "data": points(told.plans, ours),
                "mark": {"type": "line", "strokeWidth": 2, "interpolate": "step-after"},
                "encoding": {"color": color, "order": {"field": "loss", "type": "quantitative"}},
            },
            {
                "data": points(told.paper, theirs),
                "mark": {"type": "point", "size": 50, "strokeWidth": 1.8},
                "encoding": {"color": color},
            },
            {
                "data": {"values": said},
                "mark": {"type": "point", "filled": True, "size": 90, "color": INK, "opacity": 1},
            },
            {
                "data": {"values": said},
                "mark": {**text, "stroke": "white", "strokeWidth": 4},
                "encoding": {"text": {"field": "said"}},
            },
            {"data": {"values": said}, "mark": text, "encoding": {"text": {"field": "said"}}},
        ],
    }


def _heat_map(told: Projections) -> dict[str, Any]:
    """How much each pair of attributes tells about each other, with the tables of the suggested plan marked."""
    order = [name for table in told.best.tables for name in table]
    places = [told.sensitive.index(name) for name in order]
    entropy = told.found.entropy[places]
    least = np.minimum(entropy[:, None], entropy)
    shared = told.found.shared[np.ix_(places, places)]
    share = np.divide(shared, least, out=np.zeros_like(shared), where=least > 0.0)
    size = len(order)
    cells = [
        {"x": j, "x2": j + 1, "y": i, "y2": i + 1, "share": round(min(1.0, float(share[i, j])), 4)}
        for i in range(size)
        for j in range(size)
        if i != j
    ]
    frames, start = [], 0
    for table in told.best.tables:
        frames.append({"x": start, "x2": start + len(table), "y": start, "y2": start + len(table)})
        start += len(table)
    middle = [at + 0.5 for at in range(size)]
    axis = {
        "values": middle,
        "labelExpr": f"{json.dumps(order)}[floor(datum.value)]",
        "grid": False,
        "ticks": False,
        "domain": False,
        "labelLimit": 110,
        "labelOverlap": False,
    }
    scale = {"domain": [0, size], "nice": False}
    color = {
        "field": "share",
        "type": "quantitative",
        "scale": {"range": ["#ffffff", COLORS[0]], "domain": [0, 1], "interpolate": "rgb"},
        "legend": {"title": None, "format": "~%", "gradientLength": HEIGHT * 0.6},
    }
    side = max(HEIGHT, 22 * size)
    return {
        "title": {
            **_titled("What attributes tell about each other"),
            "subtitle": "mutual information as a share of the smaller entropy; frames are tables of the marked plan",
            "subtitleColor": FAINT_INK,
        },
        "width": side,
        "height": side,
        "encoding": {
            "x": {
                "field": "x",
                "type": "quantitative",
                "title": None,
                "scale": scale,
                "axis": {**axis, "labelAngle": -45},
            },
            "x2": {"field": "x2"},
            "y": {
                "field": "y",
                "type": "quantitative",
                "title": None,
                "scale": {**scale, "reverse": True},
                "axis": axis,
            },
            "y2": {"field": "y2"},
        },
        "layer": [
            {
                "data": {"values": cells},
                "mark": {"type": "rect", "stroke": FAINT, "strokeWidth": 1},
                "encoding": {"color": color},
            },
            {
                "data": {"values": frames},
                "mark": {"type": "rect", "filled": False, "stroke": COLORS[1], "strokeWidth": 2.5},
            },
        ],
    }


# ----------------------------------------------------------------------------------------------------------- the page


def _page(told: Projections, title: str, svg: str) -> str:
    from discreet.report.page import render

    heading = f"How to divide the sensitive attributes of {title}"
    return render("projections.html", heading=heading, told=told, svg=svg, listed=listed)
