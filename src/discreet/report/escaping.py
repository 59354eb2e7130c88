"""Texts of data in a page: neither the browser nor whoever looks at its source in a terminal obeys them."""

from __future__ import annotations

import html

from discreet.table.texts import visible


def escape(text: str) -> str:
    """A text as it is to stand in HTML.

    >>> print(escape("<b> \\x1b[2J"))
    &lt;b&gt; \\x1b[2J
    """
    return html.escape(visible(text))
