"""An audit as a reader in a terminal wants it: the verdict first, then each promise, then what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.command.console import number, percent

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.adversary.audit import Audit, Kept

LOSSES = {
    "ail": "average information loss (AIL)",
    "gcp": "global certainty penalty (GCP)",
    "discernibility": "discernibility",
    "average_class_size": "rows per group, on average",
}


def show_audit(console: Console, audit: Audit, *, every_check: bool) -> None:
    """Print the verdict, the promises, the checks (all, or those that matter) and the losses."""
    from rich.text import Text

    verdict = "The promise holds." if audit.holds else "The promise is NOT shown to hold."
    console.print(Text(verdict, style="bold green" if audit.holds else "bold red"))
    console.print()
    if audit.promises:
        console.print(_promises(audit.promises))
    for kept in audit.promises:
        if not kept.holds:
            console.print(Text(f"  {'BROKEN' if kept.broken else 'NOT JUDGED'}  {kept.sentence}", style="red"))
        elif every_check:
            console.print(f"  {kept.sentence}")
    for check in audit.checks:
        if not check.holds:
            console.print(Text(f"  FAILED  {check.name}: {check.sentence}", style="red"))
        elif every_check:
            console.print(f"  {check.name}: {check.sentence}")
    console.print()
    if audit.losses:
        console.print(_losses(audit))


def _promises(kept: list[Kept]) -> Any:
    from rich.text import Text

    table = grid("promise", "holds", "achieved", "margin", "closest group")
    for one in kept:
        style = "green" if one.holds else "bold red"
        table.add_row(
            Text(one.promise),
            Text("yes" if one.holds else "NO", style=style),
            achieved(one),
            percent(one.margin) if one.strain < 1e9 else "-",
            _closest(one),
        )
    return table


def achieved(kept: Kept) -> str:
    """The strongest parameter that the release keeps, by its name: ``beta 1.98``."""
    from discreet.principles import parse

    if kept.achieved is None:
        return "-"
    parameters = parse(kept.promise).parameters
    name = f"{parameters[0].name} " if parameters else ""
    return f"{name}{number(kept.achieved, 4)}"


def _closest(kept: Kept) -> str:
    if not kept.size:
        return "-"
    who = "withheld rows" if kept.group is None else f"group {kept.group}"
    return f"{who} ({kept.size:,} {'row' if kept.size == 1 else 'rows'})"


def _losses(audit: Audit) -> Any:
    table = grid("", "")
    for name, value in audit.losses.items():
        scale = "   of 1" if name in ("ail", "gcp") else ""
        table.add_row(LOSSES.get(name, name), f"{number(value, 4)}{scale}")
    return table


def grid(*headings: str) -> Any:
    """A plain table without frames."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    named = any(headings)
    table = Table(box=SIMPLE_HEAD if named else None, pad_edge=False, show_header=named, padding=(0, 1, 0, 1))
    for place, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=place == 0)
    return table
