"""One person: what somebody who knows their quasi-identifiers believes about them, by the release."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from discreet.app.pages import desk_of, form, go, show, word
from discreet.app.work import person
from discreet.errors import DiscreetError


async def screen(request: Request) -> Response:
    """Show what is believed about the row that was asked for, and take another."""
    desk = desk_of(request)
    if desk.folder is None:
        return go("/publish")
    return show(request, "person.html", heading="One person", person=desk.person)


async def ask(request: Request) -> Response:
    """Begin to look at a row."""
    fields = await form(request)
    desk, row = desk_of(request), word(fields, "row")
    folder = desk.published()
    if not row.isdecimal():
        raise DiscreetError(f"{row!r} is no number of a row; write one, such as 1 for the first")

    def done(found: dict[str, Any]) -> None:
        desk.person = found

    desk.begin(
        "looking at one person",
        "/person",
        person,
        done,
        folder=folder,
        original=desk.input,
        row=int(row),
    )
    return go("/working")
