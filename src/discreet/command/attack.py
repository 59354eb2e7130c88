"""`discreet attack`: guesses the sensitive values of the people in a release, and reports how often that succeeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from discreet.catalogue import ATTACKS
from discreet.command import flags
from discreet.command.audit import read_population, reading_with
from discreet.command.console import (
    HOLDS,
    INTERNAL,
    VIOLATED,
    internal_error,
    number,
    output,
    percent,
    print_json,
    quiet,
    watching,
)

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.adversary.attacks.campaign import Campaign

EVERY = "all"


@click.command(cls=flags.WithPlugins)
@click.argument("folder", metavar="DIR", type=flags.FILE)
@flags.with_flags(
    flags.path("--original", "The table that was published.", "INPUT", required=True),
    flags.valued(
        "--attack attacks",
        "ATTACK",
        f"{', '.join(ATTACKS.built_in)} or {EVERY}, with parameters as in 'naive-bayes(correction=1)'; 'discreet "
        "attacks' explains them. Repeatable.",
        multiple=True,
        default=(EVERY,),
        show_default=True,
    ),
    flags.path(
        "--with others",
        "Another release about the same people, for attacks that combine several. Repeatable.",
        "DIR",
        multiple=True,
    ),
    flags.path("--outsiders", "People who are not in the release, to compare with."),
    flags.path("--population", "Everyone who may be in the table, for the attack 'presence'."),
    flags.path("--trace", "The private trace, for an attacker who knows everyone's group."),
    flags.valued("--victims", "N", "Attack only N people, drawn at random (default: everyone).", type=int),
    flags.valued("--seed", "N", "Seed of the random draws, to repeat a result.", type=int),
    *flags.FORMATS,
    *flags.SEVERAL,
    flags.JSON,
    flags.QUIET,
)
def attack(
    folder: str,
    original: str,
    attacks: tuple[str, ...],
    others: tuple[str, ...],
    outsiders: str | None,
    population: str | None,
    trace: str | None,
    victims: int | None,
    seed: int | None,
    as_json: bool,
    **reading: Any,
) -> int:
    """Attack the release in DIR: guess the sensitive value of everyone in the original, and count the right guesses.

    The attacker has the files of the release and knows everyone's quasi-identifiers; the sensitive values of the
    original only serve to score the guesses. Each rate of success is shown beside the rates without the release and
    from the original itself, and beside what the promise allows.

    Exit code: 0 if no attack achieves more than the promise allows, 1 if one does, 2 for bad input, 4 if an attack
    failed with an internal error; the results of the others are kept.
    """
    from discreet.adversary.attacks.campaign import attack as carry_out
    from discreet.command.outputs import tidy
    from discreet.table.read import read

    for place in (folder, *others):
        tidy(place)
    with watching() as progress:
        progress("reading", 0.0)
        settings = _reading(folder, others, reading)
        campaign = carry_out(
            folder,
            read(original, **settings),
            list(attacks),
            others=others,
            outsiders=None if outsiders is None else read(outsiders, **settings),
            population=None if population is None else read_population(population, settings),
            trace=trace,
            victims=victims,
            random_state=seed,
            progress=progress,
        )
    if as_json:
        print_json({**campaign.as_dict(), "folder": folder, "original": original})
    elif not (quiet() and campaign.holds):
        _show(output(), campaign)
    for name, fault in campaign.failures.items():
        internal_error(fault, f"{name}: ")
    return VIOLATED if campaign.exceeded else INTERNAL if campaign.failures else HOLDS


def _reading(folder: str, others: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for reading the original: those of the release, and further quasi-identifiers of others."""
    settings = reading_with(folder, given)
    for other in others:
        more = reading_with(other, given)
        new = [name for name in more["quasi"] if name not in settings["quasi"]]
        settings["quasi"] = [*settings["quasi"], *new]
        settings["keep"] = [name for name in settings["keep"] if name not in new]
        for kind in ("numeric", "categorical", "ordinal"):
            settings[kind] = [*settings[kind], *(name for name in more[kind] if name in new)]
        for key in ("dates", "hierarchies"):
            settings[key] = {**{name: entry for name, entry in more[key].items() if name in new}, **settings[key]}
    return settings


def _show(console: Console, campaign: Campaign) -> None:
    """Print the verdict, a table of all attacks, and what each of them means."""
    from rich.text import Text

    from discreet.command.render import grid

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
