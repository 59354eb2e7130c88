"""The table: what its columns are, which role each has, and who stands out."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from discreet.app.pages import desk_of, form, go, show, word
from discreet.app.screens.open import begin_look
from discreet.errors import DiscreetError

ROLES = {
    "quasi": "others may know it (quasi-identifier)",
    "sensitive": "sensitive: to be protected",
    "identifiers": "names a person: not published",
    "person": "tells whose row it is, if people have several: not published",
    "keep": "published unchanged, without protection",
    "": "not published",
}
WAYS = {"": "refuse the table", "withhold": "withhold their rows", "value": "take it for a value"}
"""What is done with missing numbers."""
KINDS = {"": "as detected", "numeric": "numbers", "categorical": "categories", "ordinal": "ordered categories"}


async def screen(request: Request) -> Response:
    """Show the columns, and what is known of the table."""
    desk = desk_of(request)
    if desk.profile is None:
        return go("/")
    roles = _roles(desk.reading, desk.profile)
    seen = {column["name"]: column for column in desk.profile["columns"]}
    columns = [
        {
            **seen.get(column["name"], column),
            "role": roles.get(column["name"], ""),
            "read_as": _kind(desk.reading, column["name"]),
        }
        for column in desk.columns
    ]
    return show(
        request,
        "table.html",
        heading="What the columns are",
        columns=columns,
        roles=ROLES,
        kinds=KINDS,
        ways=WAYS,
        chosen=bool(desk.reading.get("quasi")),
        command=desk.command("profile"),
    )


async def read(request: Request) -> Response:
    """Read the table with other roles and kinds."""
    fields = await form(request)
    desk = desk_of(request)
    names = [column["name"] for column in desk.columns]
    reading: dict[str, Any] = {key: list[str]() for key in (*ROLES, *KINDS) if key}
    for at, name in enumerate(names):
        for key in (word(fields, f"role-{at}"), word(fields, f"kind-{at}")):
            if key in reading:
                reading[key].append(name)
            elif key:
                raise DiscreetError("the form cannot be read; load the page again")
    if len(reading["person"]) > 1:
        several = " and ".join(map(repr, reading["person"]))
        raise DiscreetError(f"only one column can tell whose row it is, not {several}; choose one of them")
    reading["person"] = next(iter(reading["person"]), None)
    if not reading["quasi"]:
        raise DiscreetError("no column is one that others may know; without any there is nobody to protect from")
    reading["na"] = [text.strip() for text in word(fields, "na").split(",") if text.strip()]
    way = word(fields, "missing")
    reading["missing"] = way if way in WAYS else None
    reading["where"] = word(fields, "where") or None
    trees = desk.reading.get("hierarchies") or {}
    reading["hierarchies"] = {name: file for name, file in trees.items() if name in reading["quasi"]}
    begin_look(desk, {key: value for key, value in reading.items() if value})
    return go("/working")


def _roles(reading: dict[str, Any], profile: dict[str, Any]) -> dict[str, str]:
    """The role of each column: as it was given, or as it is suggested."""
    given = reading if reading.get("quasi") else profile["roles"] or {}
    found = {}
    for role in ROLES:
        held = given.get(role) or ()
        found.update(dict.fromkeys([held] if isinstance(held, str) else held, role))
    return found


def _kind(reading: dict[str, Any], name: str) -> str:
    return next((kind for kind in KINDS if kind and name in (reading.get(kind) or ())), "")
