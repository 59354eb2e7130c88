"""The promise and the scheme: advice with the numbers of this table, or whatever the steward writes."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from discreet.app.pages import desk_of, form, go, show, word
from discreet.app.work import advise
from discreet.catalogue import PRINCIPLES, SCHEMES
from discreet.errors import DiscreetError
from discreet.principles import conjunction, parse
from discreet.schemes import make_scheme

PICTURE = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
"""A picture has its styles in it, and no script."""


async def screen(request: Request) -> Response:
    """Show what may be promised, and what each choice costs."""
    desk = desk_of(request)
    if desk.profile is None or not desk.reading.get("quasi"):
        return go("/table")
    return show(
        request,
        "choose.html",
        heading="What to promise",
        profile=desk.profile,
        advice=desk.advice,
        promises=" & ".join(desk.promises or desk.profile["promises"]),
        known=[(name, PRINCIPLES.summary(name)) for name in PRINCIPLES],
        schemes=[(name, SCHEMES.summary(name)) for name in SCHEMES],
        command=desk.command("advise"),
    )


async def picture(request: Request) -> Response:
    """Send the picture of the choices."""
    desk = desk_of(request)
    if desk.advice is None or desk.advice["picture"] is None:
        return go("/choose")
    return Response(desk.advice["picture"], media_type="image/svg+xml", headers=PICTURE)


async def ask(request: Request) -> Response:
    """Begin to try promises and schemes."""
    await form(request)
    desk = desk_of(request)

    def done(advice: dict[str, object]) -> None:
        desk.advice = advice

    desk.begin("trying promises and schemes", "/choose", advise, done, input=desk.input, reading=dict(desk.reading))
    return go("/working")


async def choose(request: Request) -> Response:
    """Take a promise and a scheme."""
    fields = await form(request)
    promise, scheme = word(fields, "promise"), word(fields, "scheme")
    if not promise:
        raise DiscreetError("no promise is named; write one, such as k-anonymity(k=5) & beta-likeness(beta=2)")
    made = conjunction([parse(promise)])
    make_scheme(scheme or None, {}, None, made)  # refuses what is none
    desk_of(request).choose([str(part) for part in made.parts], scheme or None)
    return go("/publish")
