"""`discreet advise`: shows which promises suit a table, what each costs, and which release suits whom."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from discreet.command.console import (
    Exit,
    complain,
    internal_error,
    number,
    output,
    print_json,
    show_remark,
    watching,
)
from discreet.command.flags import parsed
from discreet.command.render import grid
from discreet.command.suggested import publish_command
from discreet.jobs.advise import AdviseOutcome, advise_file
from discreet.principles.wording import counted, percent, rows
from discreet.report.advice import Advice, Candidate, Recommendation, Strength

HEADINGS = ("release", "groups", "error", "loss", "least", "ends", "alone", "belief", "guessed", "secs")
LEGEND = (
    "Groups: hide, of at least so many rows as k-anonymity promises; any, of any size; exact, quasi-identifiers as "
    "they are. Error: by how much counts are off (median). Loss: average information loss of the quasi-identifiers, "
    "of 1. Least: rows of the smallest group. Ends: groups in which the description and one end of an interval fit "
    "exactly one row. Alone: how often conditions that an attacker writes down fit exactly one person. Belief: the "
    "strongest in a sensitive value that is true. Guessed: persons whose value the best of the quick attacks guesses. "
    "Secs: seconds of publishing."
)
ONCE = (
    "Publish one of these releases, and the table once: whoever has two releases about the same people may learn more "
    "from both than from either."
)


def advise(input: str, most_withheld: float | None, as_json: bool, **given: Any) -> int:
    """Advise on a table."""
    asked = {} if most_withheld is None else {"most_withheld": most_withheld}
    with watching() as progress:
        outcome = advise_file(input, reading=parsed(given), **asked, progress=progress, remark=show_remark)
    advice = outcome.advice
    commands = [
        None
        if each.release is None
        else publish_command(input, given, [each.release.promise], each.release.scheme, **asked)
        for each in advice.recommendations
    ]
    if as_json:
        print_json(_document(outcome, commands))
    else:
        show(output(), advice, commands)
    return _exit_code(advice)


def _document(outcome: AdviseOutcome, commands: list[str | None]) -> dict[str, Any]:
    document = outcome.as_dict()
    for made, command in zip(document["recommendations"], commands, strict=True):
        made["command"] = command
    return document


def _exit_code(advice: Advice) -> int:
    """Report what broke down, and return the exit code."""
    failures = [(strength, *failure) for strength in advice.strengths for failure in strength.failures.items()]
    for strength, scheme, fault in failures:
        internal_error(fault, f"{scheme}, {strength.hidden}: ")
    if not failures and not any(strength.candidates for strength in advice.strengths):
        return complain("no release could be made, for the reasons above; use fewer quasi-identifiers, or see plan")
    return Exit.INTERNAL if failures else Exit.HOLDS


# ------------------------------------------------------------------------------------------------------------ showing


def show(console: Console, advice: Advice, commands: list[str | None] | None = None) -> None:
    """Print the strengths with their releases, and what is recommended; with commands also how to publish it."""
    persons = "" if advice.persons == advice.rows else f" about {counted(advice.persons, 'person')}"
    made = sum(len(strength.candidates) for strength in advice.strengths)
    console.print(
        f"{rows(advice.rows)}{persons}. Nothing is published: {counted(made, 'release')} were made"
        + (f" of a sample of {rows(advice.measured)}" if advice.measured < advice.rows else "")
        + ", audited, attacked and removed."
    )
    if advice.measured < advice.rows:
        console.print(
            "From the whole table counts are better, and groups as small or smaller; publishing takes longer."
        )
    for strength in advice.strengths:
        console.print()
        _show_strength(console, strength)
    console.print()
    console.print(LEGEND)
    if advice.baseline_error is not None:
        console.print(
            f"One group with exact quasi-identifiers (baseline) has counts that are off by "
            f"{percent(advice.baseline_error)}, and tells nothing about anybody's sensitive value: compare the "
            "others with it."
        )
    for at, recommended in enumerate(advice.recommendations):
        console.print()
        _show_recommendation(console, recommended, None if commands is None else commands[at])
    console.print()
    console.print(ONCE)


def _show_strength(console: Console, strength: Strength) -> None:
    console.print(Text(f"{strength.name}: {strength.promise}", style="bold"))
    for sentence in strength.sentences:
        console.print(f"  {sentence}")
    if strength.hidden != strength.promise and any(each.hidden for each in strength.candidates):
        console.print(f"  Groups that hide: {strength.hidden}.")
    if strength.candidates:
        console.print(grid(HEADINGS, map(_line, strength.candidates), right=range(2, len(HEADINGS))))
    for scheme, reason in strength.refusals.items():
        console.print(f"{scheme}: {reason}", soft_wrap=True)


def _line(release: Candidate) -> list[str]:
    described = "exact" if release.exact else "hide" if release.hidden else "any"

    def share(value: float | None) -> str:
        return "-" if value is None else percent(value)

    return [
        *(release.scheme, described, share(release.error)),
        "-" if release.loss is None else f"{release.loss:.3f}",
        "-" if release.smallest is None else f"{release.smallest:,}",
        *map(share, (release.singled, release.isolated, release.belief, release.guessed)),
        number(release.seconds, 2),
    ]


def _show_recommendation(console: Console, recommended: Recommendation, command: str | None) -> None:
    release = recommended.release
    what = "nothing" if release is None else f"{recommended.strength}, {release.scheme}"
    console.print(Text(f"For {recommended.recipient}: {what}", style="bold"))
    for reason in recommended.reasons:
        console.print(f"  {reason}")
    if command is not None:
        console.print(f"  {command}")
