"""Publish: where the release goes, and what was found about it."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from discreet.app.pages import desk_of, form, go, show, word
from discreet.app.work import publish
from discreet.errors import DiscreetError
from discreet.jobs.job import as_toml
from discreet.table.paths import located


async def screen(request: Request) -> Response:
    """Show what is about to be done."""
    desk = desk_of(request)
    if not desk.promises:
        return go("/choose")
    job = desk.job("release")
    return show(
        request,
        "publish.html",
        heading="Publish",
        here_is=os.getcwd(),
        job=as_toml(job),
        command=desk.command("publish", output="release", promises=desk.promises, scheme=desk.scheme),
    )


async def begin(request: Request) -> Response:
    """Begin to publish."""
    fields = await form(request)
    desk = desk_of(request)
    output, trace = word(fields, "output"), word(fields, "trace")
    if not output:
        raise DiscreetError("no folder is named for the release; name one that does not exist yet, such as release")
    place = located(output).absolute()
    content = {**desk.job(str(place)), "format": "parquet" if word(fields, "format") == "parquet" else "csv"}
    if trace:
        content["trace"] = str(located(trace).absolute())

    def done(outcome: dict[str, object]) -> None:
        desk.outcome = {**outcome, "output": str(place)}

    desk.begin("publishing", "/release", publish, done, content=content)
    return go("/working")


async def release(request: Request) -> Response:
    """Show the verdict on the release."""
    desk = desk_of(request)
    if desk.outcome is None:
        return go("/publish")
    return show(request, "release.html", heading="The release", outcome=desk.outcome)


async def packed(request: Request) -> Response:
    """Send the release as one file."""
    desk = desk_of(request)
    if desk.folder is None:
        return go("/publish")
    folder, path = Path(desk.folder), desk.private / "release.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for each in sorted(folder.iterdir()):
            if each.is_file() and not each.is_symlink():
                # the time of a file would tell when it was made
                info = zipfile.ZipInfo(f"{folder.name}/{each.name}")
                info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                with packed.open(info, "w", force_zip64=True) as into, each.open("rb") as file:
                    while block := file.read(1 << 20):
                        into.write(block)
    return FileResponse(path, filename=f"{folder.name}.zip")
