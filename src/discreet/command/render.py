"""Prints an audit: the verdict first, then each promise, then the losses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.adversary import Audit, PromiseVerdict
from discreet.command.console import number, output
from discreet.errors import visible
from discreet.principles.principle import main_parameter
from discreet.principles.wording import counted, percent

LOSSES = {
    "ail": "average information loss of quasi-identifiers (AIL)",
    "gcp": "global certainty penalty of quasi-identifiers (GCP)",
    "exposure": "exposed by other sensitive attributes of a table (Information Exposure Ratio)",
    "association_loss": "association lost between tables (Association Loss Ratio)",
    "retention": "sensitive values expected to be unchanged (retention)",
    "discernibility": "discernibility",
    "average_class_size": "rows per group, on average",
}

OF_ONE = ("ail", "gcp", "retention", "exposure", "association_loss")
"""Those that lie between 0 and 1."""


def show_audit(console: Console, audit: Audit, *, every_check: bool = False) -> None:
    """Print the verdict, the promises, the checks (all, or only those that failed) and the losses."""
    console.print(Text(audit.verdict, style="bold green" if audit.holds else "bold red"))
    console.print()
    if audit.promises:
        console.print(_promises(audit.promises))
        if not every_check:  # otherwise the sentences on promises below contain the limits
            for limit in dict.fromkeys(kept.limit for kept in audit.promises if kept.limit is not None):
                console.print(Text(limit))
        console.print()
    judged = [
        ("promise kept" if kept.holds else "BROKEN" if kept.broken else "NOT JUDGED", kept.holds, kept.sentence)
        for kept in audit.promises
    ]
    judged += [
        (check.name if check.holds else f"FAILED {check.name}", check.holds, check.sentence) for check in audit.checks
    ]
    lines = [(name, holds, sentence) for name, holds, sentence in judged if every_check or not holds]
    if lines:
        _list(console, sorted(lines, key=lambda line: line[1]))
        console.print()
    if audit.losses:
        rows = (
            (LOSSES.get(name, name), number(value, 4), "of 1" if name in OF_ONE else "")
            for name, value in audit.losses.items()
        )
        console.print(grid(["", "", ""], rows, right=(1,)))


def _list(console: Console, lines: list[tuple[str, bool, str]]) -> None:
    """Print names with a sentence each: wrapped in a terminal; else on one line each, so that they can be searched."""
    if not console.is_terminal:
        width = max(len(name) for name, _, _ in lines)
        for name, _, sentence in lines:
            console.print(f"{name:<{width}}  {sentence}")
        return
    styles = ["" if holds else "red" for _, holds, _ in lines]
    cells = zip(lines, styles, strict=True)
    console.print(grid(["", ""], ((Text(line[0], style), Text(line[2], style)) for line, style in cells)))


def _promises(kept: list[PromiseVerdict]) -> Any:
    rows = (
        (
            verdict.promise,
            Text("yes", "green") if verdict.holds else Text("NO", "bold red"),
            achieved(verdict),
            "-" if verdict.average is None else number(verdict.average, 4),
            percent(verdict.margin) if verdict.strain < 1e9 else "-",
            _closest(verdict),
        )
        for verdict in kept
    )
    return grid(["promise", "holds", "achieved", "average", "margin", "closest group"], rows, right=(3, 4))


def achieved(kept: PromiseVerdict) -> str:
    """Return the strongest parameter that the release keeps, with its name: ``beta 1.98``."""
    if kept.achieved is None:
        return "-"
    return f"{main_parameter(kept.promise)} {number(kept.achieved, 4)}"


def _closest(kept: PromiseVerdict) -> str:
    who = "the withheld" if kept.group is None else f"group {kept.group}"
    return f"{who} ({counted(kept.size, 'row')})" if kept.size else "-"


def rows_in_groups(rows: int, groups: int, withheld: int) -> str:
    """Describe how many rows are published, in how many groups, and how many are withheld.

    >>> rows_in_groups(1000, 1, 0), rows_in_groups(75, 10, 25)
    ('1,000 rows in 1 group; none withheld.', '75 rows in 10 groups; 25 withheld (25.0 %).')
    """
    left = f"{withheld:,} withheld ({percent(withheld / (rows + withheld))})" if withheld else "none withheld"
    within = f" in {counted(groups, 'group')}" if groups else ""
    return f"{counted(rows, 'row')}{within}; {left}."


def grid(headings: Sequence[str], rows: Iterable[Iterable[Any]], right: Collection[int] = ()) -> Any:
    """Create a plain table without frames; the columns at the indices ``right`` are aligned right.

    >>> grid(["name"], [["Ann"]]).columns[0].header
    'name'
    """
    named = any(headings)
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=named, padding=(0, 1, 0, 0))
    for place, heading in enumerate(headings):
        justify: Literal["left", "right"] = "right" if place in right else "left"
        table.add_column(visible(heading), overflow="fold", no_wrap=place == 0, justify=justify)
    for cells in rows:  # which are data: characters that control the terminal are shown as escapes
        seen = (Text(visible(cell.plain), cell.style) if isinstance(cell, Text) else visible(cell) for cell in cells)
        table.add_row(*seen)
    return table


def show_list(summaries: Mapping[str, str]) -> None:
    """Print names, each with what it is."""
    table = Table.grid(padding=(0, 2))
    for name, summary in summaries.items():
        table.add_row(name, summary)
    output().print(table)
