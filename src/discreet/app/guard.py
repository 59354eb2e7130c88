"""Who may talk to the app: the browser that opened the address with the token, and no other site or program.

The server listens on the loopback interface only. Other programs of this machine, and sites that the same browser
shows, can reach that as well. So every request has to

- name the address that the server was started on (``Host``): a site whose name was made to point here does not;
- bring the cookie that was given in exchange for the token of the address, which only the steward's terminal showed;
- if it changes anything, come from a page of the app itself (``Origin``, ``Sec-Fetch-Site``).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with no-referrer forms would bring no origin
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""On every answer that does not have them: no script and no style but our own files, and nothing is kept."""


class Guard:
    """Passes on the requests of the steward's browser, and refuses all others."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app, self.port = app, port
        self.token, self._cookie = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.name = f"discreet-{port}"
        """The name of the cookie: browsers share cookies among the ports of a machine."""
        self.hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))

    @property
    def address(self) -> str:
        """Where the app is opened."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        answer = self.answer(str(scope["method"]), headers, str(scope["path"]), bytes(scope["query_string"]))
        await (answer or self.app)(scope, receive, _with_headers(send))

    def answer(self, method: str, headers: Mapping[str, str], path: str, query: bytes) -> Response | None:
        """Return what is answered in place of the app; None if the request is passed on."""
        if headers.get("host") not in self.hosts:
            return _refused(421, "This address is not that of the app; open the one that discreet printed.")
        if self._comes_from_elsewhere(method, headers):
            return _refused(403, "This request does not come from a page of the app.")
        if method == "GET" and path == "/" and (given := parse_qs(query.decode("latin-1")).get("token")):
            if not secrets.compare_digest(given[0].encode(), self.token.encode()):
                return _refused(403, "This is not the token of this app; open the address that discreet printed last.")
            entered = RedirectResponse("/", 303)
            entered.set_cookie(self.name, self._cookie, httponly=True, samesite="strict", path="/")
            return entered
        if not secrets.compare_digest(_cookie(headers, self.name).encode(), self._cookie.encode()):
            return _refused(401, "Open the app by the address that discreet printed, which has a token.")
        return None

    def _comes_from_elsewhere(self, method: str, headers: Mapping[str, str]) -> bool:
        """Whether a request that may change something was not made by a page of the app."""
        if method in ("GET", "HEAD"):
            return False
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site not in (None, "same-origin"):
            return True
        if origin is None:
            return site is None
        return origin != f"http://{headers.get('host')}"


def _cookie(headers: Mapping[str, str], name: str) -> str:
    try:
        held = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if held is None else held.value


def _refused(status: int, sentence: str) -> Response:
    return PlainTextResponse(sentence + "\n", status)


def _with_headers(send: Send) -> Send:
    """Return a way to send answers with our headers."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            held = {name.lower() for name, _ in message["headers"]}
            more: list[Any] = [
                (name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in held
            ]
            message["headers"] = [*message["headers"], *more]
        await send(message)

    return sending
