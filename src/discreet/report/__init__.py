"""Comparisons, plans and profiles of tables and releases, as numbers, sentences, pages and plots.

``discreet.report`` is this room, and it is also called: ``discreet.report("release")`` gathers the facts about a
release for a privacy board (`discreet.report.board.report`).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Called(ModuleType):
    """A module that is called as the function of its name; importing anything in it hides that function."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Return what `discreet.report.board.report` returns."""
        from discreet.report.board import report

        return report(*given, **named)


sys.modules[__name__].__class__ = _Called
