"""Work under way: how far it is, and a way to cancel it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from discreet.app.pages import desk_of, go, problem, show

EVERY = 0.2
"""Seconds between two looks at the work."""


async def screen(request: Request) -> Response:
    """Show how far the work is; when it has ended, its result, or what went wrong."""
    desk = desk_of(request)
    task = desk.task
    if task is None:
        return go("/")
    if task.running:
        return show(request, "working.html", heading=task.title.capitalize(), task=task)
    back = {"/table": "/", "/release": "/publish"}.get(task.then, task.then)
    if task.fault is not None:
        return problem(request, task.fault, back=back)
    if task.cancelled:
        return problem(request, "it was cancelled, and nothing was left behind", 200, back)
    return go(task.then)


async def events(request: Request) -> Response:
    """Send how far the work is, as often as that changes."""

    async def changes() -> AsyncIterator[str]:
        last = None
        while not await request.is_disconnected():
            task = desk_of(request).task
            state = {"running": False} if task is None else task.state
            if state != last:
                last = state
                yield f"data: {json.dumps(state)}\n\n"
            if not state["running"]:
                return
            await asyncio.sleep(EVERY)

    return StreamingResponse(changes(), media_type="text/event-stream")


async def cancel(request: Request) -> Response:
    """Cancel the work."""
    task = desk_of(request).task
    if task is not None:
        task.cancel()
        for _ in range(30):
            if not task.running:
                break
            await asyncio.sleep(EVERY)
    return go("/working")
