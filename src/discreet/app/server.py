"""The server of the app: its routes, and its beginning and end."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from discreet.app.desk import Desk, StaleError
from discreet.app.guard import Guard
from discreet.app.pages import problem
from discreet.app.screens import choose, count, hierarchies, open, person, publish, report, table, working
from discreet.errors import DiscreetError, in_words

STATIC = {"app.css": "text/css", "app.js": "text/javascript"}
Screen = Callable[[Request], Awaitable[Response]]


async def asset(request: Request) -> Response:
    """Send one of our own files."""
    name = request.path_params["name"]
    if name not in STATIC:
        return problem(request, "there is no such page; go back", 404)
    return FileResponse(Path(__file__).parent / "static" / name, media_type=STATIC[name])


ROUTES: tuple[tuple[str, str, Screen], ...] = (
    ("/", "GET", open.screen),
    ("/open", "POST", open.by_path),
    ("/invented", "POST", open.invented),
    ("/upload", "PUT", open.upload),
    ("/table", "GET", table.screen),
    ("/table", "POST", table.read),
    ("/hierarchies", "GET", hierarchies.screen),
    ("/hierarchies/make", "POST", hierarchies.make),
    ("/hierarchies/change", "POST", hierarchies.change),
    ("/hierarchies/keep", "POST", hierarchies.keep),
    ("/hierarchies/leave", "POST", hierarchies.leave),
    ("/hierarchies/file", "GET", hierarchies.file),
    ("/choose", "GET", choose.screen),
    ("/choose", "POST", choose.choose),
    ("/choose/picture", "GET", choose.picture),
    ("/advise", "POST", choose.ask),
    ("/publish", "GET", publish.screen),
    ("/publish", "POST", publish.begin),
    ("/release", "GET", publish.release),
    ("/release.zip", "GET", publish.packed),
    ("/count", "GET", count.screen),
    ("/count", "POST", count.ask),
    ("/person", "GET", person.screen),
    ("/person", "POST", person.ask),
    ("/report", "GET", report.screen),
    ("/report", "POST", report.begin),
    ("/report/page", "GET", report.page),
    ("/check", "GET", report.audits),
    ("/check", "POST", report.audit),
    ("/working", "GET", working.screen),
    ("/working/events", "GET", working.events),
    ("/cancel", "POST", working.cancel),
    ("/static/{name}", "GET", asset),
)


async def _fault(request: Request, fault: Exception) -> Response:
    """Show what was wrong with a request."""
    status = 409 if isinstance(fault, StaleError) else 400
    if request.method == "PUT":
        return JSONResponse({"fault": str(fault)}, status)
    path = str(request.scope["path"])
    gets = {path for path, method, _ in ROUTES if method == "GET"}
    above = path if path in gets else path.rpartition("/")[0]
    return problem(request, str(fault), status, above if above in gets else "/")


async def _broken(request: Request, fault: Exception) -> Response:
    sentence = f"internal error ({in_words(fault)}); please report it with what you did"
    return JSONResponse({"fault": sentence}, 500) if request.method == "PUT" else problem(request, sentence, 500)


async def _missing(request: Request, fault: Exception) -> Response:
    return problem(request, "there is no such page; go back", 404)


def application(desk: Desk) -> Starlette:
    """Return the app around a desk, without the guard."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        desk.close()

    handlers: dict[Any, Any] = {DiscreetError: _fault, 404: _missing, 405: _missing, Exception: _broken}
    routes = [Route(path, screen, methods=[method]) for path, method, screen in ROUTES]
    made = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    made.state.desk = desk
    return made


def serve(file: str | None, port: int, browser: bool, say: Callable[[str], None]) -> None:
    """Serve the app on this machine until it is interrupted; ``say`` is given its address."""
    import uvicorn

    from discreet.table.paths import located

    desk = Desk()
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listening.bind(("127.0.0.1", port))
            except OSError as fault:
                raise DiscreetError(
                    f"port {port} of this machine cannot be used ({fault.strerror}); leave it out, or name another"
                ) from None
            guard = Guard(application(desk), listening.getsockname()[1])
            if file is not None:
                found = located(file)
                if not found.exists():
                    raise DiscreetError(f"there is no file {file!r}; check the path")
                desk.open(str(found.absolute()), found.name)
                open.begin_look(desk, {})
            say(guard.address)
            if browser:
                webbrowser.open(guard.address)
            config = uvicorn.Config(guard, log_level="critical", access_log=False, lifespan="on", server_header=False)
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        desk.close()
