"""How results show themselves: a few lines of text, and in a notebook what the command prints."""

from __future__ import annotations

from importlib import import_module

MOST_LINES = 10
"""How many lines a result has below its first."""


class Displayed:
    """A result whose text and page in a notebook are made from what its commands say."""

    def _shown(self) -> list[str]:
        """Return what the result says first, and then of its parts, a line each."""
        raise NotImplementedError

    def __repr__(self) -> str:
        first, *lines = self._shown()
        more = [f"... and {len(lines) - MOST_LINES:,} more"] if len(lines) > MOST_LINES else []
        return "\n  ".join([first, *lines[:MOST_LINES], *more])

    def _repr_html_(self) -> str:
        # The command line, which alone knows how to draw, is named here and imported when a notebook asks.
        return str(import_module("discreet.command.notebook").html(self))
