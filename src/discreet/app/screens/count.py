"""Counts from the release, as analysts will estimate them, beside those of the original."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from discreet.app.desk import Desk
from discreet.app.pages import desk_of, form, go, show, word
from discreet.app.work import count
from discreet.arguments import command_line
from discreet.errors import DiscreetError

MOST = 20
"""How many counts are kept on the screen."""


async def screen(request: Request) -> Response:
    """Show what was counted, and take another question."""
    desk = desk_of(request)
    if desk.folder is None:
        return go("/publish")
    last = desk.counts[0]["sql"] if desk.counts else _example(desk)
    command = command_line(["discreet", "query", desk.folder, last])
    return show(request, "count.html", heading="Count in the release", last=last, command=command)


async def ask(request: Request) -> Response:
    """Begin to count."""
    fields = await form(request)
    desk = desk_of(request)
    sql = word(fields, "sql")
    folder = desk.published()
    if not sql:
        raise DiscreetError("nothing is asked; write a count, such as SELECT COUNT(*) FROM t WHERE age >= 40")

    def done(answer: dict[str, Any]) -> None:
        desk.counts = [answer, *desk.counts][:MOST]

    desk.begin("counting", "/count", count, done, folder=folder, original=desk.input, sql=sql)
    return go("/working")


def _example(desk: Desk) -> str:
    """A count that can be asked of the table: of the most frequent sensitive value, if there is one."""
    assert desk.profile is not None, "what is published was read before"
    for column in desk.profile["columns"]:
        if column["role"] == "sensitive" and column["kind"] == "categorical":
            name, value = column["name"].replace('"', '""'), column["top"][0]["value"].replace("'", "''")
            return f"SELECT COUNT(*) FROM t WHERE \"{name}\" = '{value}'"
    return "SELECT COUNT(*) FROM t"
