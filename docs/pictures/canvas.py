"""A small canvas: shapes and words at places, written as SVG whose bytes do not vary from machine to machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

INK = "#222222"
GREY = "#8a8a8a"
PALE = "#d9d9d9"
WORDS = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"

Point = tuple[float, float]


class Canvas:
    """A white sheet of a size; what is drawn later lies above what was drawn before."""

    def __init__(self, width: float, height: float, title: str):
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def _add(self, tag: str, content: str = "", **attributes: object) -> None:
        words = " ".join(f"{name.replace('_', '-')}={quoteattr(_text(value))}" for name, value in attributes.items())
        self.parts.append(f"<{tag} {words}>{content}</{tag}>" if content else f"<{tag} {words}/>")

    def rect(
        self, low: Point, high: Point, fill: str = "none", line: str = INK, width: float = 1, **more: object
    ) -> None:
        """A rectangle between two corners."""
        (x, y), (right, bottom) = low, high
        size = {"x": min(x, right), "y": min(y, bottom), "width": abs(right - x), "height": abs(bottom - y)}
        self._add("rect", **size, fill=fill, stroke=line, stroke_width=width, **more)

    def line(self, points: Sequence[Point], colour: str = INK, width: float = 1, **more: object) -> None:
        """A line from point to point."""
        places = " ".join(f"{_text(x)},{_text(y)}" for x, y in points)
        self._add("polyline", points=places, fill="none", stroke=colour, stroke_width=width, **more)

    def arrow(self, points: Sequence[Point], colour: str = INK, width: float = 1.5) -> None:
        """A line whose last point has a head."""
        (x0, y0), (x1, y1) = points[-2:]
        length = max(1e-9, ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5)
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        back = (x1 - 8 * dx, y1 - 8 * dy)
        self.line([*points[:-1], back], colour, width)
        corners = [(x1, y1), (back[0] - 4 * dy, back[1] + 4 * dx), (back[0] + 4 * dy, back[1] - 4 * dx)]
        self.shape(corners, colour)

    def shape(self, points: Sequence[Point], fill: str, line: str = "none", width: float = 1, **more: object) -> None:
        """A filled polygon."""
        places = " ".join(f"{_text(x)},{_text(y)}" for x, y in points)
        self._add("polygon", points=places, fill=fill, stroke=line, stroke_width=width, **more)

    def circle(
        self, at: Point, radius: float, fill: str = "none", line: str = "none", width: float = 1, **more: object
    ) -> None:
        """A circle around a point."""
        self._add("circle", cx=at[0], cy=at[1], r=radius, fill=fill, stroke=line, stroke_width=width, **more)

    def text(
        self, at: Point, words: str, size: float = 14, colour: str = INK, anchor: str = "start", **more: object
    ) -> None:
        """Words beginning at a point, or with it in their ``middle`` or at their ``end``."""
        self._add("text", escape(words), x=at[0], y=at[1], font_size=size, fill=colour, text_anchor=anchor, **more)

    def write(self, path: Path) -> None:
        """Write the sheet to a file."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_text(self.width)} {_text(self.height)}" '
            f'width="{_text(self.width)}" font-family={quoteattr(WORDS)} role="img">'
        )
        sheet = f'<rect width="{_text(self.width)}" height="{_text(self.height)}" fill="#ffffff"/>'
        lines = [head, f"<title>{escape(self.title)}</title>", sheet, *self.parts, "</svg>"]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _text(value: object) -> str:
    """A number to a tenth, so that the last digits of floating point are not written; anything else as it is."""
    if not isinstance(value, float):
        return str(value)
    written = f"{value:.1f}".removesuffix(".0")
    return "0" if written == "-0" else written
