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
    click.option("--original", required=True, type=flags.FILE, metavar="INPUT", help="The table that was published."),
    click.option(
        "--attack",
        "attacks",
        multiple=True,
        metavar="ATTACK",
        default=(EVERY,),
        show_default=True,
        help=f"{', '.join(ATTACKS.built_in)} or {EVERY}; with parameters, as in 'naive-bayes(correction=1)'; see "
        "'discreet attacks'. Repeatable.",
    ),
    click.option(
        "--with",
        "others",
        multiple=True,
        type=flags.FILE,
        metavar="DIR",
        help="Another release about the same people, for attacks that combine several. Repeatable.",
    ),
    click.option(
        "--outsiders", type=flags.FILE, metavar="FILE", help="People who are not in the release, for comparison."
    ),
    click.option(
        "--population", type=flags.FILE, metavar="FILE", help="Everyone who may be in the table, for 'presence'."
    ),
    click.option(
        "--trace", type=flags.FILE, metavar="FILE", help="The private trace, if the adversary is to know all groups."
    ),
    click.option("--victims", type=int, metavar="N", help="Attack so many people, drawn at random (default: all)."),
    click.option("--seed", type=int, metavar="N", help="Make what is drawn repeatable."),
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

    The adversary has the files of the release and knows everyone's quasi-identifiers; the sensitive values of the
    original only score the guesses. Every rate of success is reported beside what is reached without the release, from
    the original itself, and by what the promise allows.

    Exit code: 0 if no attack achieves more than the promise allows, 1 if one does, 2 for bad input, 4 if an attack
    broke down by an internal error; the results of the others are kept.
    """
    from discreet.adversary.attacks.campaign import attack as carry_out
    from discreet.command.outputs import tidy
    from discreet.table.read import read

    for place in (folder, *others):
        tidy(place)
    with watching() as progress:
        progress("reading", 0.0)
        told = _reading(folder, others, reading)
        found = carry_out(
            folder,
            read(original, **told),
            list(attacks),
            others=others,
            outsiders=None if outsiders is None else read(outsiders, **told),
            population=None if population is None else read_population(population, told),
            trace=trace,
            victims=victims,
            random_state=seed,
            progress=progress,
        )
    if as_json:
        print_json({**found.as_dict(), "folder": folder, "original": original})
    elif not (quiet() and found.holds):
        _show(output(), found)
    for name, fault in found.failures.items():
        internal_error(fault, f"{name}: ")
    return VIOLATED if found.exceeded else INTERNAL if found.failures else HOLDS


def _reading(folder: str, others: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for reading the original: those of the release, and further quasi-identifiers of others."""
    told = reading_with(folder, given)
    for other in others:
        more = reading_with(other, given)
        new = [name for name in more["quasi"] if name not in told["quasi"]]
        told["quasi"] = [*told["quasi"], *new]
        told["keep"] = [name for name in told["keep"] if name not in new]
        for kind in ("numeric", "categorical", "ordinal"):
            told[kind] = [*told[kind], *(name for name in more[kind] if name in new)]
        for about in ("dates", "hierarchies"):
            told[about] = {**{name: one for name, one in more[about].items() if name in new}, **told[about]}
    return told


def _show(console: Console, found: Campaign) -> None:
    """Print the verdict, a table of all attacks, and what each of them means."""
    from rich.text import Text

    from discreet.command.render import grid

    doubtful = any(one.above for one in found.evidence)
    console.print(
        Text(found.verdict, style="bold red" if not found.holds else "bold yellow" if doubtful else "bold green")
    )
    console.print()
    headings = ("attack", "succeeds", "95 % interval", "without release", "if redrawn", "from original", "allowed")
    table = grid(*headings, "", "hurt most", right=range(1, len(headings)))
    several = len({one.attribute for one in found.evidence}) > 1
    for one in found.evidence:
        low, high = one.interval
        hurt = (
            "-"
            if one.hurt is None
            else f"row {one.hurt.row:,}: {percent(one.hurt.prior)} to {percent(one.hurt.belief)}"
        )
        table.add_row(
            Text(f"{one.attack}: {one.attribute}" if several else one.attack, style="bold red" if one.exceeds else ""),
            percent(one.rate),
            f"{number(100 * low)} to {number(100 * high)} %",
            percent(one.baseline),
            *("-" if share is None else percent(share) for share in (one.redrawn, one.ceiling, one.bound)),
            Text("EXCEEDED", style="bold red") if one.exceeds else Text("above", style="yellow") if one.above else "",
            hurt,
        )
    if found.evidence:
        console.print(table)
        console.print()
    for sentence in found.sentences()[1:]:
        console.print(sentence)
