"""`discreet profile`: describes a table before it is published, and shows which promises it can keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from discreet.command.console import Exit, number, output, print_json, show_remark, watching
from discreet.command.flags import parsed
from discreet.command.render import grid
from discreet.command.suggested import publish_command
from discreet.jobs.profile import heeding, profile_file
from discreet.principles.wording import counted, percent, rows
from discreet.report.profile import Profile
from discreet.report.roles import ColumnProfile, Roles, Share
from discreet.table.notes import Note
from discreet.table.query import NUMBERS


def profile(input: str, as_json: bool, **given: Any) -> int:
    """Describe a table, and show which promises it can keep."""
    with watching() as progress:
        outcome = profile_file(input, reading=parsed(given), progress=progress)
    for remark in outcome.remarks:
        show_remark(remark)
    command = suggested_command(input, outcome.heeded, outcome.roles, given, outcome.notes, outcome.promises)
    if as_json:
        document = _document(outcome.profile, outcome.roles, command)
        print_json({**document, "notes": [str(note) for note in outcome.notes]})
    else:
        show(output(), outcome.profile, outcome.roles, command)
    return Exit.HOLDS


def _document(profiled: Profile, roles: Roles | None, command: str) -> dict[str, Any]:
    document = profiled.as_dict()
    if roles is not None:
        for column in document["columns"]:
            column["role"] = None if column["role"] == "quasi" else column["role"]
        document["suggested_roles"] = vars(roles)
    return {**document, "suggested_command": command}


def suggested_command(
    input: str,
    profiled: Profile,
    roles: Roles | None,
    given: dict[str, Any],
    notes: Sequence[Note],
    promises: Sequence[str],
) -> str:
    """Return a command that publishes this table, including all flags that the user has given about it."""
    sensitive = tuple(column.name for column in profiled.columns if column.role == "sensitive")
    if roles is not None:
        quasi: tuple[str, ...] = roles.quasi
        identifiers, person = (*given["identifiers"], *roles.identifiers), given["person"] or roles.person
        sensitive = sensitive or (() if roles.sensitive is None else (roles.sensitive,))
        quasi = tuple(name for name in quasi if name not in (*identifiers, *sensitive, person))
    else:
        quasi = tuple(column.name for column in profiled.columns if column.role == "quasi")
        identifiers, person = given["identifiers"], given["person"]
    roles_said = {"quasi": quasi, "identifiers": identifiers, "sensitive": sensitive, "person": person}
    used = {*quasi, *sensitive}
    given = heeding(given, [about for remark in notes if (about := remark.about(used)) is not None])
    lacking = any(column.missing and column.kind in NUMBERS and column.name in used for column in profiled.columns)
    missing = given["missing"] or "value" if lacking else None
    return publish_command(input, {**given, **roles_said, "missing": missing}, promises)


# ------------------------------------------------------------------------------------------------------------ showing


def show(console: Console, profiled: Profile, roles: Roles | None = None, command: str | None = None) -> None:
    """Print the columns, who stands out, and what can be promised; with a command also how to publish the table."""
    people = "" if profiled.persons == profiled.rows else f" about {counted(profiled.persons, 'person')}"
    console.print(f"{rows(profiled.rows)}{people}.")
    console.print()
    console.print(_columns(profiled.columns, with_roles=roles is None))
    console.print()
    if roles is None and profiled.uniqueness:
        _show_uniqueness(console, profiled)
    elif roles is not None:
        _show_roles(console, roles)
    sensitive = [column for column in profiled.columns if column.role == "sensitive"]
    for column in sensitive:
        _show_sensitive(console, column)
    if roles is None or sensitive:
        console.print("What can be promised:")
        for promise in profiled.reachable:
            console.print(f"  {promise.sentence}")
        console.print()
    if command is not None:
        console.print("To publish it:" if roles is None else "To publish it, if these roles are right:")
        console.print(f"  {command}")


def _columns(columns: tuple[ColumnProfile, ...], with_roles: bool) -> Any:
    headings = ["column", "role", "kind", "distinct", "missing", "values"]
    lines = [
        [column.name, column.role, column.kind, f"{column.distinct:,}", f"{column.missing:,}", _values(column)]
        for column in columns
    ]
    if not with_roles:
        headings, lines = [headings[0], *headings[2:]], [[line[0], *line[2:]] for line in lines]
    return grid(headings, lines, right=(len(headings) - 3, len(headings) - 2))


def _values(column: ColumnProfile) -> str:
    if column.kind != "categorical" and column.low is not None:
        span = column.low if column.low == column.high else f"{column.low} to {column.high}"
        return f"{span}; most often {column.top[0].value} ({percent(column.top[0].share)})"
    return ", ".join(f"{share.value} ({percent(share.share)})" for share in column.top[:3]) + (
        f" and {column.distinct - 3:,} more" if column.distinct > 3 else ""
    )


def _show_uniqueness(console: Console, profiled: Profile) -> None:
    whole, *without = profiled.uniqueness
    verb = "has" if whole.unique == 1 else "have"
    console.print(
        f"Who stands out: {rows(whole.unique)} ({percent(whole.unique_share)}) {verb} a combination of "
        f"quasi-identifiers that no other row has; there are {whole.combinations:,} combinations, the smallest with "
        f"{rows(whole.smallest)}, the median with {number(whole.median)} {'row' if whole.median == 1 else 'rows'}."
    )
    if without:
        headings = ["left out", "unique rows", "share", "combinations", "smallest", "median"]
        lines = [
            [
                str(line.dropped),
                *(f"{line.unique:,}", percent(line.unique_share)),
                *(f"{line.combinations:,}", f"{line.smallest:,}", number(line.median)),
            ]
            for line in without
        ]
        console.print()
        console.print(grid(headings, lines, right=range(1, 6)))
    console.print()


def _show_roles(console: Console, roles: Roles) -> None:
    console.print("Roles suggested by the names and values of the columns; please check them:")
    for what, names in (
        ("identifiers, not to be published", roles.identifiers),
        ("quasi-identifiers", roles.quasi),
        ("sensitive", () if roles.sensitive is None else (roles.sensitive,)),
        ("identifies each row's person, if people have several rows", () if roles.person is None else (roles.person,)),
        ("unclear; not published unless given a role", roles.unsure),
    ):
        if names:
            console.print(f"  {what}: {', '.join(names)}")
    console.print()


def _show_sensitive(console: Console, column: ColumnProfile) -> None:
    def in_words(share: Share) -> str:
        return f"'{share.value}' ({rows(share.rows)}, {percent(share.share)})"

    console.print(f"The sensitive attribute {column.name!r} has {column.distinct:,} different values.")
    console.print(f"  most frequent: {', '.join(in_words(share) for share in column.top)}")
    console.print(f"  rarest: {in_words(column.rarest)}")
    console.print()
