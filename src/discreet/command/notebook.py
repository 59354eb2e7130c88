"""Draws results for notebooks, as commands print them in a terminal."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from rich.terminal_theme import TerminalTheme

from discreet.command import advise, attack, compare, plan, profile, render
from discreet.command.console import results

WIDTH = 115
"""The width of the drawing, in characters."""
INK = (0, 0, 0)
COLOURS = [INK, (208, 59, 59), (31, 143, 69), (166, 124, 0), *[(42, 120, 214)] * 4]
"""The colours of a terminal, in tones that can be read on white and on black."""
PRE = '<pre style="white-space: pre; overflow-x: auto; line-height: 1.25; font-family: monospace">{code}</pre>'
SHOWN: dict[str, Callable[..., None]] = {
    "Advice": advise.show,
    "Audit": render.show_audit,
    "Campaign": attack.show,
    "Comparison": compare.show,
    "Plan": plan.show,
    "Profile": profile.show,
}
"""What shows a result in a terminal, by the name of its class."""


def html(result: Any) -> str:
    """Return what a command prints of a result as HTML, with whatever it quotes escaped."""
    how = {"record": True, "force_terminal": True, "force_jupyter": False, "color_system": "standard"}
    console = results(io.StringIO(), WIDTH, **how)  # as it knows no notebook, it does not print into it by itself
    SHOWN[type(result).__name__](console, result)
    theme = TerminalTheme((255, 255, 255), INK, COLOURS)
    return console.export_html(theme=theme, code_format=PRE, inline_styles=True)
