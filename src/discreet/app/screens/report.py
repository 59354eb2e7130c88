"""The report for a privacy board, and the audit of any release."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from discreet.app.pages import desk_of, form, go, show, word
from discreet.app.work import check, report
from discreet.errors import DiscreetError
from discreet.table.paths import located

PAGE = "report.html"
BOARD = {
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}
"""The page of the report has its styles in it, and no script."""


async def screen(request: Request) -> Response:
    """Show how a report is made, and where it is."""
    desk = desk_of(request)
    if desk.outcome is None:
        return go("/publish")
    return show(request, "report.html", heading="Report", report=desk.report)


async def begin(request: Request) -> Response:
    """Begin to write the report, with the original or from the release alone."""
    fields = await form(request)
    desk = desk_of(request)
    folder = desk.published()

    def done(made: dict[str, object]) -> None:
        desk.report = made

    original = desk.input if word(fields, "kind") == "internal" else None
    given = {"folder": folder, "original": original, "page": str(desk.private / PAGE)}
    desk.begin("writing the report", "/report", report, done, **given)
    return go("/working")


async def page(request: Request) -> Response:
    """Send the page of the report."""
    desk = desk_of(request)
    if desk.report is None:
        return go("/report")
    if request.query_params.get("save"):
        return FileResponse(desk.private / PAGE, filename=PAGE, headers=BOARD)
    return FileResponse(desk.private / PAGE, media_type="text/html", headers=BOARD)


async def audits(request: Request) -> Response:
    """Show how a release is audited."""
    return show(request, "check.html", heading="Audit a release", found=desk_of(request).found)


async def audit(request: Request) -> Response:
    """Begin to audit a release against an original."""
    fields = await form(request)
    desk = desk_of(request)
    folder, original = word(fields, "folder"), word(fields, "original")
    if not folder or not original:
        raise DiscreetError("an audit compares a release with its original; name the folder of the one, and the other")

    def done(found: dict[str, object]) -> None:
        desk.found = {**found, "folder": folder}

    given = {"folder": str(located(folder).absolute()), "original": str(located(original).absolute())}
    promises = [word(fields, "promise")] if word(fields, "promise") else []
    desk.begin("auditing", "/check", check, done, promises=promises, **given)
    return go("/working")
