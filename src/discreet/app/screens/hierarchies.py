"""Hierarchies: for each column a tree that is made from its values, changed on screen, checked, and kept as a file."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from discreet.app.desk import Desk
from discreet.app.draft import Draft
from discreet.app.pages import desk_of, form, go, show, word
from discreet.app.screens.open import begin_look
from discreet.app.work import tree
from discreet.arguments import command_line
from discreet.errors import DiscreetError
from discreet.jobs.outputs import check_file, write_file
from discreet.progress import Remarks
from discreet.table.hierarchy_edit import grouped, renamed, taken_out
from discreet.table.hierarchy_starters import KINDS
from discreet.table.paths import located

HERE = "/hierarchies"
MOST = 400
"""How many nodes of a tree are shown, and how many faults."""


async def screen(request: Request) -> Response:
    """Show the columns that may have a hierarchy, and the one that is drawn up."""
    desk = desk_of(request)
    if desk.profile is None or not desk.reading.get("quasi"):
        return go("/table")
    at = request.query_params.get("at", "")
    name = _columns(desk)[int(at)] if at.isdecimal() and int(at) < len(_columns(desk)) else None
    draft = None if name is None else desk.drafts.get(name)
    kept = desk.reading.get("hierarchies") or {}
    file = command = None
    if name is not None and draft is not None:
        file = draft.kept or f"hierarchy_{name}{draft.ending}"
        command = command_line(["discreet", "hierarchy", "init", desk.input or "", name, "-o", file])
    return show(
        request,
        "hierarchies.html",
        heading="Hierarchies",
        columns=_columns(desk),
        kept=kept,
        at=None if name is None else int(at),
        name=name,
        draft=draft,
        kinds=KINDS,
        most=MOST,
        file=file,
        command=command,
    )


async def make(request: Request) -> Response:
    """Begin to make a hierarchy to start from."""
    fields = await form(request)
    desk, (at, name), kind = desk_of(request), _named(desk_of(request), fields), word(fields, "kind")
    reading = {key: value for key, value in desk.reading.items() if key in ("na", "where", "columns")}

    def done(made: dict[str, object]) -> None:
        desk.drafts[name] = Draft(folder=desk.private, **made)  # type: ignore[arg-type]

    given = {"input": desk.input, "reading": reading, "column": name, "kind": kind or None}
    desk.begin("making a hierarchy", f"{HERE}?at={at}", tree, done, **given)
    return go("/working")


async def change(request: Request) -> Response:
    """Change the hierarchy: bring nodes together, rename or take out a group, take another text, undo."""
    fields = await form(request)
    desk, (at, name) = desk_of(request), _named(desk_of(request), fields)
    draft, what, label = _draft(desk, name), word(fields, "what"), word(fields, "label")
    if what == "text":
        draft.change(fields.get("text", [""])[0])
    elif what == "undo":
        draft.undo()
    elif what == "group":
        draft.change_rows(grouped(draft.rows, set(fields.get("node", [])), label))
    elif what == "rename":
        draft.change_rows(renamed(draft.rows, _single(fields), label))
    elif what == "out":
        draft.change_rows(taken_out(draft.rows, _single(fields)))
    else:
        raise DiscreetError("the form cannot be read; load the page again")
    return go(f"{HERE}?at={at}")


async def keep(request: Request) -> Response:
    """Write the hierarchy to a file, and read the table with it."""
    fields = await form(request)
    desk, (at, name) = desk_of(request), _named(desk_of(request), fields)
    draft, file = _draft(desk, name), word(fields, "file")
    if not draft.examined.usable:
        raise DiscreetError("the hierarchy has faults; correct them first")
    if not file.endswith(draft.ending):
        raise DiscreetError(f"the file of this hierarchy has to end with {draft.ending}; name another")
    place = str(located(file).absolute())
    inputs = {} if desk.input is None else {"the table": located(desk.input)}
    target = check_file(place, "hierarchy", place == draft.kept, inputs, Remarks())
    write_file(target, draft.text.encode(), place == draft.kept, Remarks())
    draft.kept = place
    return _read_with(desk, at, {**(desk.reading.get("hierarchies") or {}), name: place})


async def leave(request: Request) -> Response:
    """Read the table without the hierarchy of a column; its file stays."""
    fields = await form(request)
    desk, (at, name) = desk_of(request), _named(desk_of(request), fields)
    held = desk.reading.get("hierarchies") or {}
    return _read_with(desk, at, {column: file for column, file in held.items() if column != name})


async def file(request: Request) -> Response:
    """Send the text of a hierarchy as a file."""
    desk, at = desk_of(request), request.query_params.get("at", "")
    columns = _columns(desk) if desk.profile is not None else []
    draft = desk.drafts.get(columns[int(at)]) if at.isdecimal() and int(at) < len(columns) else None
    if draft is None:
        return go(HERE)
    headers = {"content-disposition": f'attachment; filename="hierarchy{draft.ending}"'}
    return Response(draft.text, media_type="text/plain; charset=utf-8", headers=headers)


def _read_with(desk: Desk, at: int, trees: dict[str, str]) -> Response:
    reading = {key: value for key, value in desk.reading.items() if key != "hierarchies"}
    begin_look(desk, reading | ({"hierarchies": trees} if trees else {}), f"{HERE}?at={at}")
    return go("/working")


def _columns(desk: Desk) -> list[str]:
    """The columns that may have a hierarchy."""
    quasi = desk.reading.get("quasi") or []
    return [quasi] if isinstance(quasi, str) else list(quasi)


def _named(desk: Desk, fields: dict[str, list[str]]) -> tuple[int, str]:
    """The column that a form is about."""
    at, columns = word(fields, "at"), _columns(desk)
    if not at.isdecimal() or int(at) >= len(columns):
        raise DiscreetError("the form cannot be read; load the page again")
    return int(at), columns[int(at)]


def _draft(desk: Desk, name: str) -> Draft:
    draft = desk.drafts.get(name)
    if draft is None:
        raise DiscreetError(f"there is no hierarchy of {name!r} yet; make one first")
    return draft


def _single(fields: dict[str, list[str]]) -> str:
    """The one node that is marked."""
    marked = fields.get("node", [])
    if len(marked) != 1:
        raise DiscreetError("mark the one group that is meant")
    return marked[0]
