"""What all plots share: colours, axes, and how a Vega-Lite chart becomes a file.

A chart is a Vega-Lite specification, drawn without a browser and without a network. It is written as plain JSON:
altair uses the same words, at the price of eight more packages and 0.4 s of import.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError

PACKAGES = {"vl_convert": "vl-convert-python", "jinja2": "jinja2"}
"""The package that provides each module that only plots and pages need; the extra ``report`` installs them."""
SUFFIXES = (".html", ".svg", ".png")
COLORS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
    *("#333333", "#880000", "#9933ff", "#2b1a8c", "#b5d67a", "#661166", "#9b7dff", "#f0c3c3"),
    *("#dc003c", "#0000fa", "#78506e", "#240030"),
)
"""One for each scheme. The first six are those of Okabe and Ito. For people with a colour vision deficiency, the others
are as easy to distinguish from these and from each other as these six are."""
INK, FAINT_INK, FAINT = "#333333", "#666666", "#e3e3e3"
QUANTITY, NAME = {"type": "quantitative"}, {"type": "nominal"}
"""What a field of records holds."""
PANEL_WIDTH, PANEL_HEIGHT = 400, 300
"""The size of one of two plots side by side."""


def require(module: str) -> Any:
    """Import one of the modules; raises with installation advice if its package is missing."""
    try:
        return import_module(module)
    except ImportError:
        raise DiscreetError(
            f"plots and pages need the package {PACKAGES[module]}, which is not installed; "
            f"install it with: pip install 'discreet[report]'"
        ) from None


def require_all() -> None:
    """Raise before any work is done if one of the packages is missing."""
    for module in PACKAGES:
        require(module)


def check_suffix(path: str | Path, suffixes: Sequence[str] = SUFFIXES) -> str:
    """The picture format that a file name asks for; raises if it is not supported.

    >>> check_suffix("frontier.SVG")
    '.svg'
    """
    suffix = Path(path).suffix.lower()
    if suffix not in suffixes:
        raise DiscreetError(
            f"the name of the plot '{path}' does not say its format; let it end in {', '.join(suffixes[:-1])} or "
            f"{suffixes[-1]}"
        )
    return suffix


def side_by_side(panels: list[dict[str, Any]], suffix: str, label: str, page: Callable[[str], str]) -> bytes:
    """Plots beside each other as the content of a file; ``page`` puts their SVG into an HTML page."""
    chart = themed({"hconcat": panels, "spacing": 40, "padding": 8}, autosize="pad")
    chart["background"] = "white"  # it may be shown on a dark page
    if suffix == ".png":
        return bytes(require("vl_convert").vegalite_to_png(chart, scale=2))
    picture = svg(chart, label)
    return (picture if suffix == ".svg" else page(picture)).encode()


def svg(chart: dict[str, Any], label: str) -> str:
    """A specification as SVG, with a label for readers who do not see it."""
    drawing = str(require("vl_convert").vegalite_to_svg(chart))
    return drawing.replace("<svg ", f'<svg role="img" aria-label="{html.escape(label)}" ', 1)


def numbers(field: str, title: str | None, scale: dict[str, Any], axis: dict[str, Any]) -> dict[str, Any]:
    """The axis of a field with numbers."""
    return {"field": field, **QUANTITY, "title": title, "scale": scale, "axis": axis}


def heading(text: str) -> dict[str, Any]:
    """The title above a plot."""
    return {"text": text, "anchor": "start", "fontSize": 13, "fontWeight": "bold", "color": INK, "offset": 10}


def layer(mark: dict[str, Any], records: list[Any] | None = None, **encoding: Any) -> dict[str, Any]:
    """A layer of a chart: what is drawn for each of its records, or of the chart's, and where."""
    data = {} if records is None else {"data": {"values": records}}
    return {**data, "mark": mark, "encoding": encoding}


def outlined(records: list[Any], field: str, look: dict[str, Any]) -> list[dict[str, Any]]:
    """A text drawn twice, first with a white outline, so that it is legible across lines."""
    text = {"type": "text", "fontSize": 12, "fontWeight": "bold", **look}
    white = {**text, "stroke": "white", "strokeWidth": 4}
    return [layer(mark, records, text={"field": field}) for mark in (white, text)]


def panel(title: dict[str, Any], x: Any, y: Any, layers: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """One of two plots side by side; ``x`` and ``y`` are its axes."""
    size = {"width": PANEL_WIDTH, "height": PANEL_HEIGHT}
    return {"title": title, **size, "encoding": {"x": x, "y": y}, "layer": layers, **more}


def themed(chart: dict[str, Any], autosize: str = "fit") -> dict[str, Any]:
    """A chart as a complete specification, in the common style of all plots."""
    axis = {"labelColor": INK, "titleColor": INK, "gridColor": FAINT, "domainColor": "#999999", "tickColor": "#999999"}
    config = {
        "autosize": {"type": autosize, "contains": "padding"},
        "font": "Helvetica, Arial, sans-serif",
        "background": "transparent",
        "view": {"stroke": None},
        "axis": {**axis, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 240},
        "legend": {"labelFontSize": 12, "labelColor": INK, "labelLimit": 240},
    }
    schema = "https://vega.github.io/schema/vega-lite/v5.json"  # identifies the grammar; nothing is downloaded
    return {"$schema": schema, **chart, "config": config}
