"""Escape texts from data for a page, so that neither a browser nor a terminal that shows its source executes them."""

from __future__ import annotations

import html

from discreet.table.texts import visible


def escape(text: str) -> str:
    """A text escaped for HTML, with control characters made visible.

    >>> print(escape("<b> \\x1b[2J"))
    &lt;b&gt; \\x1b[2J
    """
    return html.escape(visible(text))
