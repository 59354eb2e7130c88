"""`discreet attack`: guesses the sensitive values of the people in a release, and reports how often that succeeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from discreet.adversary.attacks.campaign import Campaign
from discreet.adversary.attacks.campaign import attack as carry_out
from discreet.arguments import argument
from discreet.command.audit import read_population, reading_with
from discreet.command.console import Exit, internal_error, number, output, print_json, quiet, show_remark, watching
from discreet.command.render import grid
from discreet.errors import DiscreetError
from discreet.jobs.outputs import tell
from discreet.principles.wording import percent
from discreet.progress import Remarks
from discreet.table.layout import READING
from discreet.table.read import read


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
    """Attack a release, and show how often each attack succeeds."""
    for place in (folder, *others):
        tell(place, Remarks(show_remark))
    with watching() as progress:
        progress("reading", 0.0)
        settings = _reading(folder, others, reading)
        elsewhere = {"person": None, "delimiter": reading["delimiter"], "encoding": reading["encoding"]}
        campaign = carry_out(
            folder,
            read(original, **settings),
            list(attacks),
            others=others,
            outsiders=None if outsiders is None else read(outsiders, **{**settings, **elsewhere}),
            population=None if population is None else read_population(population, settings, reading),
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
    return Exit.VIOLATED if campaign.exceeded else Exit.INTERNAL if campaign.failures else Exit.HOLDS


def _reading(folder: str, others: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for reading the original: those of the release, and further quasi-identifiers of others."""
    settings = reading_with(folder, given)
    for other in others:
        more = reading_with(other, given)
        settings |= _one_layout(settings, more, f"'{folder}' and '{other}'")
        new = [name for name in more["quasi"] if name not in settings["quasi"]]
        settings["quasi"] = [*settings["quasi"], *new]
        settings["keep"] = [name for name in settings["keep"] if name not in new]
        for kind in ("numeric", "categorical", "ordinal"):
            settings[kind] = [*settings[kind], *(name for name in more[kind] if name in new)]
        for key in ("dates", "hierarchies"):
            settings[key] = {**{name: entry for name, entry in more[key].items() if name in new}, **settings[key]}
    return settings


def _one_layout(settings: Mapping[str, Any], more: Mapping[str, Any], both: str) -> dict[str, Any]:
    """Return how two releases say to read the original; refuse to read it in a way that one of them denies.

    What only one of them says of the file is detected for the other, which agrees with anything. But a mark of missing
    values is a value for the other, and a first line that is a row is a header.
    """
    said = [dict(each) for each in (settings, more)]
    for each, other in zip(said, (more, settings), strict=True):
        for key in ("dates", "lists"):
            each[key] = {name: text for name, text in each[key].items() if text and other[key].get(name)}
        for key in ("delimiter", "encoding"):
            each[key] = each[key] if other[key] else None
        each["header"] = each["header"] if each["header"] == "none" else None
    for key in READING:
        one, two = (each[key] or None for each in said)
        if one != two:
            stated = [repr(entry) if entry else "nothing" for entry in (one, two)]
            raise DiscreetError(
                f"{both} say to read the original differently: {key} is {stated[0]} in one and {stated[1]} in the "
                f"other; say {argument(key)} for both, or attack them one at a time"
            )
    return {key: settings[key] or more[key] for key in ("delimiter", "encoding", "header")}


def _show(console: Console, campaign: Campaign) -> None:
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
