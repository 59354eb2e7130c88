"""`discreet schemes`, `promises` and `attacks`: what there is to choose from, and what each is for."""

from __future__ import annotations

import re

from rich.table import Table
from rich.text import Text

from discreet.command.console import Exit, output, print_json
from discreet.command.interface import CATALOGUED
from discreet.command.render import show_list
from discreet.literature import term
from discreet.report.manual import ManualPage, manual_page

REFUSES = "Refuses, unless some parameters or a second promise allow it"


def manual(name: str, noun: str, chosen: str | None, as_json: bool) -> int:
    """List one kind of thing, or show the manual page of one of them."""
    registry = CATALOGUED[name]
    if chosen is not None:
        known = None if chosen.lower() in registry else term(chosen)
        if known is not None:
            registry, chosen = CATALOGUED[known[1].kind], known[1].name
            if not as_json:
                output().print(f"Here {known[0]} is {known[1].written}.\n", highlight=False, markup=False)
        page = manual_page(registry, chosen.lower())
        print_json(page.as_dict()) if as_json else _show(page)
        return Exit.HOLDS
    listed = {each: registry.summary(each) for each in registry}
    if as_json:
        print_json(listed)
        return Exit.HOLDS
    show_list(listed)
    output().print()
    output().print(f"'discreet {name} NAME' explains one {noun} and its options.", highlight=False)
    return Exit.HOLDS


def _plain(text: str) -> str:
    """Return a docstring's text on one line, without the marks of code and emphasis.

    >>> _plain("*Why.* ``t``: *plain*\\n cuts, 2 * 3")
    'Why. t: plain cuts, 2 * 3'
    """
    return " ".join(re.sub(r"``|\*(?=\w)|(?<=[\w.])\*", "", text).split())


def _show(page: ManualPage) -> None:
    console = output()
    console.print(Text(f"{page.name}: {page.summary}", style="bold"))
    for paragraph in (page.origin, *page.text.split("\n\n")):
        console.print()
        console.print(Text(_plain(paragraph)))
    if page.options:
        table = Table("option", "values", "default", "meaning", box=None, padding=(0, 2, 0, 0))
        for option in page.options:
            default = "required" if option.default is None else option.default
            table.add_row(option.name, option.values, default, _plain(option.meaning))
        console.print()
        console.print(table)
    if page.published:
        console.print()
        console.print(Text(f"{page.name}(published), as in the paper, is {page.name}({page.published})."))
    if page.literature:
        console.print()
        console.print(Text(f"In the literature: {'; '.join(page.literature)}."))
    for verb, promises in (("Keeps", page.keeps), (REFUSES, page.refuses)):
        if promises:
            console.print()
            console.print(Text(f"{verb}: {', '.join(promises)}."))
