"""`discreet schemes`, `promises` and `attacks`: what there is to choose from, and what each is for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from discreet.command import flags
from discreet.command.console import HOLDS, output, print_json

if TYPE_CHECKING:
    from discreet.report.manual import ManualPage


def _command(name: str, group: str, noun: str) -> click.Command:
    """Return the command that lists one kind of thing, or shows the manual page of one of them."""

    @click.command(name)
    @click.argument("chosen", metavar="[NAME]", required=False, shell_complete=flags.completed_from(group))
    @flags.with_flags(flags.JSON, flags.QUIET)
    def command(chosen: str | None, as_json: bool) -> int:
        from discreet import catalogue

        registry = getattr(catalogue, group)
        if chosen is None:
            listed = {each: registry.summary(each) for each in registry}
            if as_json:
                print_json(listed)
            else:
                _list(listed)
                output().print()
                output().print(f"'discreet {name} NAME' explains one {noun} and its options.", highlight=False)
            return HOLDS
        from discreet.report.manual import manual_page

        page = manual_page(registry, chosen)
        if as_json:
            print_json(page.as_dict())
        else:
            _show(page)
        return HOLDS

    command.help = f"List the {name}, or explain the {noun} NAME: what it is for, its options, and where it comes from."
    return command


schemes = _command("schemes", "SCHEMES", "scheme")
promises = _command("promises", "PRINCIPLES", "promise")
attacks = _command("attacks", "ATTACKS", "attack")


def _list(summaries: dict[str, str]) -> None:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for name, summary in summaries.items():
        table.add_row(name, summary)
    output().print(table)


def _plain(text: str) -> str:
    """Return a docstring's text on one line, without the marks of code and emphasis.

    >>> _plain("``t``: *plain*\\n cuts, 2 * 3")
    't: plain cuts, 2 * 3'
    """
    return " ".join(re.sub(r"``|\*(?=\w)|(?<=\w)\*", "", text).split())


def _show(page: ManualPage) -> None:
    from rich.table import Table
    from rich.text import Text

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
    for verb, promises in (("Keeps", page.keeps), ("Refuses", page.refuses)):
        if promises:
            console.print()
            console.print(Text(f"{verb}: {', '.join(promises)}."))
