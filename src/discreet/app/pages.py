"""Screens filled in from templates, and forms read back."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.app.desk import Desk
from discreet.errors import DiscreetError
from discreet.report.page import environment

STEPS = (
    ("/", "Open"),
    ("/table", "Table"),
    ("/hierarchies", "Hierarchies"),
    ("/choose", "Promise"),
    ("/publish", "Publish"),
    ("/release", "Release"),
    ("/count", "Count"),
    ("/person", "Person"),
    ("/report", "Report"),
)
"""The screens of a publication, in their order."""
FORM = 1 << 20
"""The most bytes that a form may have."""
FIELDS = 20_000


def desk_of(request: Request) -> Desk:
    """The desk of the app."""
    desk: Desk = request.app.state.desk
    return desk


def show(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Fill in the template of a screen."""
    desk = desk_of(request)
    text = (
        environment("discreet.app")
        .get_template(template)
        .render(desk=desk, steps=STEPS, here=request.scope["path"], open_to=reached(desk), **values)
    )
    return HTMLResponse(text, status)


def problem(request: Request, sentence: str, status: int = 400, back: str = "/") -> Response:
    """Show what went wrong, and the way back."""
    return show(request, "problem.html", status, heading="That did not work", sentence=sentence, back=back)


def reached(desk: Desk) -> set[str]:
    """The screens for which enough is known."""
    found = {"/"}
    if desk.profile is not None:
        found.add("/table")
        if desk.reading.get("quasi"):
            found |= {"/hierarchies", "/choose"}
            if desk.promises:
                found.add("/publish")
    if desk.outcome is not None:
        found |= {"/release", "/count", "/person", "/report"}
    return found


def go(path: str) -> Response:
    """Go to another screen."""
    return RedirectResponse(path, 303)


async def form(request: Request) -> dict[str, list[str]]:
    """The fields of a form of the current state of the desk; raises an error for one of another state."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM:
            raise DiscreetError("the form is too large; name a file in place of its content")
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=FIELDS, errors="strict")
    except ValueError:
        raise DiscreetError("the form cannot be read; load the page again") from None
    desk_of(request).check(word(fields, "number"))
    return fields


def word(fields: dict[str, list[str]], name: str) -> str:
    """The text of a field, without blanks around it."""
    return fields.get(name, [""])[0].strip()
