"""Open a table: a file of this machine, one that is dropped, or an invented one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from discreet.app.desk import Desk, StaleError
from discreet.app.pages import desk_of, form, go, show, word
from discreet.app.work import look
from discreet.errors import DiscreetError
from discreet.table.paths import located

LARGEST = 8 << 30
"""The most bytes that are taken in from the browser; a larger file is opened by its path."""
ENDING = re.compile(r"(\.[A-Za-z0-9]{1,12}){0,2}$")


async def screen(request: Request) -> Response:
    """Show how a table is opened."""
    return show(request, "open.html", heading="Open a table", largest=LARGEST >> 30)


async def by_path(request: Request) -> Response:
    """Open a file of this machine."""
    fields = await form(request)
    path = word(fields, "path")
    if not path:
        raise DiscreetError("no file is named; write its path, such as /home/ann/patients.csv")
    found = located(path)
    if not found.exists():
        raise DiscreetError(f"there is no file {path!r}; check the path")
    return _opened(desk_of(request), str(found.absolute()), found.name)


async def invented(request: Request) -> Response:
    """Open an invented table, to try things out."""
    from pyarrow.csv import write_csv

    from discreet.datasets import patients_arrow

    await form(request)
    desk = desk_of(request)
    path = desk.private / "patients.csv"
    write_csv(patients_arrow(), path)
    return _opened(desk, str(path), "patients.csv")


async def upload(request: Request) -> Response:
    """Take in a file that was dropped or chosen, into the private folder."""
    desk = desk_of(request)
    desk.check(request.query_params.get("number", ""))
    stated = request.headers.get("content-length", "")
    if stated.isdecimal() and int(stated) > LARGEST:
        return JSONResponse({"fault": _too_large()}, 413)
    name = Path(unquote(request.query_params.get("name", ""))).name or "table"
    ending = ENDING.search(name)
    path = desk.private / f"table-{desk.number}{ending[0] if ending else ''}"
    taken = 0
    try:
        with path.open("xb") as file:
            async for chunk in request.stream():
                taken += len(chunk)
                if taken > LARGEST:
                    raise DiscreetError(_too_large())
                file.write(chunk)
    except FileExistsError:
        raise StaleError("another tab is copying a file; wait for it, and load this page again") from None
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    _opened(desk, str(path), name)
    return JSONResponse({"next": "/working"})


def _too_large() -> str:
    return f"the file has more than {LARGEST >> 30} GB; open it by its path, which copies nothing"


def _opened(desk: Desk, path: str, title: str) -> Response:
    desk.open(path, title)
    begin_look(desk, {})
    return go("/working")


def begin_look(desk: Desk, reading: dict[str, Any], then: str = "/table") -> None:
    """Read the table of the desk in some way, and show a screen then."""

    def done(profile: dict[str, Any]) -> None:
        desk.read_as(reading, profile)

    desk.begin("reading the table", then, look, done, input=desk.input, reading=reading)
