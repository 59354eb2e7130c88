"""`discreet attack`: guesses the sensitive values of the people in a release, and reports how often that succeeds."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from discreet.adversary.attacks.campaign import Campaign
from discreet.command.console import Exit, internal_error, number, output, print_json, quiet, show_remark, watching
from discreet.command.flags import parsed
from discreet.command.render import grid
from discreet.jobs.attack import attack_files
from discreet.principles.wording import percent


def attack(folder: str, original: str, attacks: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """Attack a release, and show how often each attack succeeds."""
    how = {key: given.pop(key) for key in ("others", "outsiders", "population", "trace", "victims", "seed")}
    with watching() as progress:
        outcome = attack_files(
            folder, original, attacks, **how, reading=parsed(given), progress=progress, remark=show_remark
        )
    campaign = outcome.campaign
    if as_json:
        print_json(outcome.as_dict())
    elif not (quiet() and campaign.holds):
        show(output(), campaign)
    for name, fault in campaign.failures.items():
        internal_error(fault, f"{name}: ")
    return Exit.VIOLATED if campaign.exceeded else Exit.INTERNAL if campaign.failures else Exit.HOLDS


def show(console: Console, campaign: Campaign) -> None:
    """Print the verdict, a table of all attacks, and what each of them means."""
    doubtful = any(evidence.above for evidence in campaign.evidence)
    console.print(
        Text(campaign.verdict, style="bold red" if not campaign.holds else "bold yellow" if doubtful else "bold green")
    )
    console.print()
    headings = ("attack", "succeeds", "95 % interval", "without release", "if redrawn", "from original", "allowed")
    lines = []
    several = len({evidence.attribute for evidence in campaign.evidence}) > 1
    for evidence in campaign.evidence:
        low, high = evidence.interval
        name = f"{evidence.attack}: {evidence.attribute}" if several else evidence.attack
        shares = (evidence.redrawn, evidence.ceiling, evidence.bound)
        above = Text("above" if evidence.above else "", style="yellow")
        hurt = evidence.hurt
        line = (
            Text(name, style="bold red" if evidence.exceeds else ""),
            percent(evidence.rate),
            f"{number(100 * low)} to {number(100 * high)} %",
            percent(evidence.baseline),
            *("-" if share is None else percent(share) for share in shares),
            Text("EXCEEDED", style="bold red") if evidence.exceeds else above,
            "-" if hurt is None else f"row {hurt.row:,}: {percent(hurt.prior)} to {percent(hurt.belief)}",
        )
        lines.append(line)
    if lines:
        console.print(grid([*headings, "", "hurt most"], lines, right=range(1, len(headings))))
        console.print()
    for sentence in campaign.sentences()[1:]:
        console.print(sentence)
