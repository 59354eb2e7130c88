"""Pages are filled in from templates: whatever a table contains is text, never markup, code or a template."""

from __future__ import annotations

import pandas as pd
import pytest

import discreet as dc
from discreet.report.page import render

HOSTILE = ("<script>alert(1)</script>", "a\"b'c", "{{ 7 * 7 }}", "{% raw %}", "zip\x1b[2J", "& <b>")


@pytest.mark.slow
def test_columns_and_titles_are_escaped_on_every_page(tmp_path: object) -> None:
    names = list(HOSTILE)
    frame = pd.DataFrame({name: [at * 7 % (5 + place) for at in range(40)] for place, name in enumerate(names)})
    table = dc.read(frame, quasi=names[:-1], sensitive=names[-1])
    comparison = dc.compare(table, "k-anonymity(k=5)", ["cuts", "mondrian"], queries=10, dimensions=2)
    told = dc.plan(table)
    path = f"{tmp_path}/frontier.html"
    told.plot(path, title="<script>alert(1)</script>")
    with open(path, encoding="utf-8") as file:
        frontier = file.read()
    page = comparison.page("<script>alert(1)</script>")
    for text in (page, frontier):
        assert "<script" not in text and "\x1b" not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text and "&amp; &lt;b&gt;" in text
    assert "{{ 7 * 7 }}" in page and "{% raw %}" in page and r"zip\x1b[2J" in page
    assert "a&#34;b&#39;c" in page


def test_a_value_that_is_missing_is_an_error() -> None:
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError, match="'prior' is undefined"):
        render("frontier.html", heading="nothing else")
