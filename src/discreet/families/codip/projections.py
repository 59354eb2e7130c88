"""Plans for dividing several sensitive attributes among tables: exposure against association, to choose from.

The more attributes share a table, the more is exposed to an attacker who knows one of a person's values, and the less
of their association is lost. No plan on the frontier is beaten in both by another that was found; ``Codip``
chooses one of them by the exposure that is allowed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.families.codip.plans import STEPS, frontier, merged
from discreet.principles.wording import listed
from discreet.report.charts import (
    COLORS,
    FAINT,
    FAINT_INK,
    INK,
    PANEL_HEIGHT,
    QUANTITY,
    check_suffix,
    heading,
    layer,
    numbers,
    outlined,
    panel,
    side_by_side,
)
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
    dependency: Dependency = field(repr=False, compare=False)

    @property
    def best(self) -> Projection:
        """The plan with the smallest sum of both ratios: a suggestion where nothing else decides."""
        return min(self.plans, key=_sum_of_ratios)

    def by_tables(self) -> list[Projection]:
        """For each number of tables on the frontier, the plan with the smallest sum of both ratios."""
        best: dict[int, Projection] = {}
        for plan in sorted(self.plans, key=_sum_of_ratios):
            best.setdefault(len(plan.tables), plan)
        return [best[number] for number in sorted(best)]

    def as_dict(self) -> dict[str, Any]:
        """The plans as plain values, with the entropies and the mutual information they follow from."""
        return {
            "sensitive": list(self.sensitive),
            "entropy": dict(zip(self.sensitive, self.dependency.entropy.tolist(), strict=True)),
            "mutual_information": self.dependency.shared.tolist(),
            "plans": [asdict(plan) for plan in self.plans],
            "paper": [asdict(plan) for plan in self.paper],
            "best": asdict(self.best),
        }

    def plot(self, path: str | os.PathLike[str], title: str = "a table") -> None:
        """Draw the frontier and the dependencies to a file: ``.html`` (with a table), ``.svg`` or ``.png``."""
        Path(path).write_bytes(self.drawn(check_suffix(os.fspath(path)), title))

    def drawn(self, suffix: str, title: str = "a table") -> bytes:
        """The frontier and the dependencies as the content of a file; ``title`` names the table, without a path."""
        label = "Exposure against association loss of plans, and what attributes tell about each other"
        panels = [_frontier(self), _heat_map(self)]
        return side_by_side(panels, suffix, label, lambda picture: _page(self, title, picture))


def _sum_of_ratios(plan: Projection) -> float:
    return plan.exposure + plan.association_loss


def projections(table: Table, harmless: Mapping[str, Collection[str]] | None = None, steps: int = STEPS) -> Projections:
    """Return the frontier of plans for a table with several sensitive attributes.

    ``harmless`` names, per attribute, the values that are not sensitive; ``steps`` bounds the search where there
    are too many plans to look at all of them.

    >>> import discreet as dc, pyarrow as pa
    >>> people = pa.table({"age": [1, 2, 3, 4], "ill": list("aabb"), "drug": list("xxyy"), "job": list("mnmn")})
    >>> divided = projections(dc.read(people, quasi=["age"], sensitive=["ill", "drug", "job"]))
    >>> divided.best.tables, divided.best.association_loss
    ((('ill', 'drug'), ('job',)), 0.0)
    """
    if len(table.sensitive) < 2:
        raise DiscreetError("plans divide several sensitive attributes among tables; name at least two")
    measured = dependency(table.sensitive, harmless)
    return Projections(
        table.rows,
        measured.names,
        tuple(_described(measured, plan) for plan in frontier(measured, steps)),
        tuple(_described(measured, plan) for plan in merged(measured, lambda plan: True)),
        measured,
    )


def _described(measured: Dependency, plan: Plan) -> Projection:
    tables = tuple(tuple(measured.names[at] for at in part) for part in plan)
    return Projection(tables, round(measured.exposure(plan), 9), round(measured.association_loss(plan), 9))


# ---------------------------------------------------------------------------------------------------------- the plots


def _frontier(divided: Projections) -> dict[str, Any]:
    """Exposure against association loss: the frontier as a line, the paper's merges and the suggestion as points."""
    ours, theirs = "best found", "CODIP*"
    series = {"domain": [ours, theirs], "range": [COLORS[0], COLORS[1]]}
    color = {"field": "of", "type": "nominal", "scale": series, "legend": {"title": None, "orient": "top-right"}}

    def points(plans: Iterable[Projection], of: str) -> list[dict[str, Any]]:
        return [{"loss": plan.association_loss, "exposure": plan.exposure, "of": of} for plan in plans]

    best = points([divided.best], f"{len(divided.best.tables)} tables")
    axis, scale = {"format": "~%", "grid": True, "tickCount": 5}, {"domain": [0, 1], "nice": False}
    line, order = {"type": "line", "strokeWidth": 2, "interpolate": "step-after"}, {"field": "loss", **QUANTITY}
    layers = [
        layer(line, points(divided.plans, ours), color=color, order=order),
        layer({"type": "point", "size": 50, "strokeWidth": 1.8}, points(divided.paper, theirs), color=color),
        layer({"type": "point", "filled": True, "size": 90, "color": INK, "opacity": 1}, best),
        *outlined(best, "of", {"align": "left", "dx": 9, "dy": -9, "color": INK}),
    ]
    title = heading("Plans: what is exposed, and what is lost")
    x, y = numbers("loss", "association loss", scale, axis), numbers("exposure", "exposure", scale, axis)
    return panel(title, x, y, layers)


def _heat_map(divided: Projections) -> dict[str, Any]:
    """How much each pair of attributes tells about each other, with the tables of the suggested plan marked."""
    order = [name for table in divided.best.tables for name in table]
    size, share = len(order), _shared(divided, order)
    cells = [
        {**_square(j, i, 1), "share": round(min(1.0, float(share[i, j])), 4)}
        for i in range(size)
        for j in range(size)
        if i != j
    ]
    frames, start = [], 0
    for table in divided.best.tables:
        frames.append(_square(start, start, len(table)))
        start += len(table)
    axis = {
        "values": [at + 0.5 for at in range(size)],
        "labelExpr": f"{json.dumps(order)}[floor(datum.value)]",
        **dict.fromkeys(("grid", "ticks", "domain", "labelOverlap"), False),
        "labelLimit": 110,
    }
    scale = {"domain": [0, size], "nice": False}
    color = {
        "field": "share",
        **QUANTITY,
        "scale": {"range": ["#ffffff", COLORS[0]], "domain": [0, 1], "interpolate": "rgb"},
        "legend": {"title": None, "format": "~%", "gradientLength": PANEL_HEIGHT * 0.6},
    }
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    layers = [
        layer({"type": "rect", "stroke": FAINT, "strokeWidth": 1}, cells, color=color, **ends),
        layer({"type": "rect", "filled": False, "stroke": COLORS[1], "strokeWidth": 2.5}, frames, **ends),
    ]
    subtitle = "mutual information as a share of the smaller entropy; frames are tables of the marked plan"
    title = {**heading("What attributes tell about each other"), "subtitle": subtitle, "subtitleColor": FAINT_INK}
    x, y = numbers("x", None, scale, {**axis, "labelAngle": -45}), numbers("y", None, {**scale, "reverse": True}, axis)
    return panel(title, x, y, layers, **dict.fromkeys(("width", "height"), max(PANEL_HEIGHT, 22 * size)))


def _square(x: int, y: int, side: int) -> dict[str, int]:
    return {"x": x, "x2": x + side, "y": y, "y2": y + side}


def _shared(divided: Projections, order: list[str]) -> NDArray[np.float64]:
    """The mutual information of each pair of attributes, as a share of the smaller entropy."""
    places = [divided.sensitive.index(name) for name in order]
    entropy = divided.dependency.entropy[places]
    least = np.minimum(entropy[:, None], entropy)
    shared = divided.dependency.shared[np.ix_(places, places)]
    return np.divide(shared, least, out=np.zeros_like(shared), where=least > 0.0)


# ----------------------------------------------------------------------------------------------------------- the page


def _page(divided: Projections, title: str, svg: str) -> str:
    from discreet.report.page import render

    title = f"How to divide the sensitive attributes of {title}"
    return render("projections.html", heading=title, divided=divided, svg=svg, listed=listed)
