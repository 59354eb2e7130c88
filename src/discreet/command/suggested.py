"""Writes a command that publishes a table, for profile and advise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from discreet.arguments import as_flags, command_line
from discreet.errors import without_passwords
from discreet.table.layout import Layout

ROLES = ("quasi", "identifiers", "sensitive", "person")
READING = (
    *("keep", "numeric", "categorical", "ordinal", "hierarchies", "domains", "na", "dates", "lists", "join", "floor"),
    *("weight", "round", "bottom", "top", "bins"),
)
"""The flags that may be repeated."""


def publish_command(
    input: str, given: Mapping[str, Any], promises: Sequence[str], scheme: str | None = None, **more: Any
) -> str:
    """Return the command, with all flags that were given about the table and those of ``more``.

    >>> given = dict.fromkeys((*READING, *(field.name for field in fields(Layout))), ())
    >>> given |= {"quasi": ("age", "sex"), "identifiers": (), "sensitive": "ill", "person": None}
    >>> given |= {"missing": None, "where": None}
    >>> print(publish_command("ill.csv", given, ["l-diversity(l=2)"], "cuts"))
    discreet publish ill.csv -o release --quasi age,sex --sensitive ill --promise 'l-diversity(l=2)' --scheme cuts
    """
    words = ["discreet", "publish", input, "-o", "release"]
    for role in ROLES:
        words += as_flags(role, given[role]) if given[role] else []
    for promise in promises:
        words += ["--promise", promise]
    words += [] if scheme is None else ["--scheme", scheme]
    for key in READING:
        for text in given[key]:
            words += as_flags(key, text)
    layout = {field.name: given[field.name] for field in fields(Layout) if field.name != "na"}
    for key, value in {"where": given["where"], "missing": given["missing"], **layout, **more}.items():
        words += as_flags(key, value) if value else []
    return without_passwords(command_line(words))
