"""`discreet hierarchy`: makes a hierarchy to start from, checks one, and draws it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console

from discreet.arguments import argument
from discreet.command.console import Exit, note, output, print_json, show_remark
from discreet.command.flags import pairs
from discreet.command.render import grid
from discreet.errors import DiscreetError
from discreet.jobs.hierarchy import check_hierarchy, init_hierarchy, plain
from discreet.principles.wording import counted
from discreet.table.hierarchy_check import Examined, Node

SIBLINGS = 10
"""How many nodes below one are drawn."""
LINES = 100
"""How many lines a drawing has at most; below, levels are left out."""
ALIKE = 10
"""How many faults of one sort are shown."""


def init(input: str, column: str, kind: Any, file: str, force: bool, as_json: bool, **given: Any) -> int:
    """Write a hierarchy to start from, and draw it."""
    outcome = init_hierarchy(input, column, kind, file=file, force=force, reading=_reading(given), remark=show_remark)
    if as_json:
        print_json(outcome.as_dict())
        return Exit.HOLDS
    file = str(outcome.file)
    note(f"Wrote {file!r}, of the kind {outcome.starter.kind}, because {outcome.starter.why}.")
    note(
        f"Edit it, check it with discreet hierarchy check, and publish with {argument('hierarchies', {column: file})}."
    )
    _draw(output(), outcome.nodes)
    return Exit.HOLDS


def check(file: str, input: str | None, column: str | None, as_json: bool, **given: Any) -> int:
    """Show all faults of a hierarchy, and draw it."""
    examined = check_hierarchy(file, input, column, reading=_reading(given))
    if as_json:
        print_json(_document(file, examined))
        return Exit.HOLDS if examined.usable else Exit.BAD_INPUT
    for remark in examined.remarks:
        note(f"Note: {remark}.")
    console = output()
    sorts = Counter(fault.sort for fault in examined.faults)
    for sort, number in sorts.items():
        for fault in [fault for fault in examined.faults if fault.sort == sort][:ALIKE]:
            console.print(fault.sentence)
        if number > ALIKE:
            console.print(f"... and {number - ALIKE:,} more of this sort ({sort})")
    if examined.nodes:
        if examined.faults:
            console.print()
        _draw(console, examined.nodes)
    if examined.usable:
        note(f"{file!r} can be used.")
        return Exit.HOLDS
    note(f"discreet: {file!r} cannot be used; it has {counted(len(examined.faults), 'fault')}")
    return Exit.BAD_INPUT


def show(file: str, as_json: bool) -> int:
    """Draw a hierarchy."""
    examined = check_hierarchy(file)
    if examined.faults:
        raise DiscreetError(examined.faults[0].sentence)
    if not examined.nodes:
        raise DiscreetError(f"{file!r}: {examined.remarks[0]}, as in discreet hierarchy check {file} TABLE COLUMN")
    if as_json:
        print_json({"file": file, "tree": plain(examined.nodes)})
    else:
        _draw(output(), examined.nodes)
    return Exit.HOLDS


def _reading(given: dict[str, Any]) -> dict[str, Any]:
    return {**given, "dates": pairs("--date", given["dates"], "birth=%d.%m.%Y")}


def _document(file: str, examined: Examined) -> dict[str, Any]:
    faults = [fault._asdict() for fault in examined.faults]
    said = {"file": file, "usable": examined.usable, "faults": faults, "notes": list(examined.remarks)}
    return {**said, "tree": plain(examined.nodes)}


# ------------------------------------------------------------------------------------------------------------- drawing


def _draw(console: Console, nodes: Sequence[Node]) -> None:
    """Draw a tree with its counts."""
    with_rows = nodes[0].rows is not None
    lines = (
        [label, *([f"{leaves:,}" if leaves else ""]), *([f"{rows:,}"] if with_rows and rows is not None else [""])]
        for label, leaves, rows in drawn(nodes)
    )
    headings = ["", "leaves", "rows"] if with_rows else ["", "leaves"]
    console.print(grid(headings, (line[: len(headings)] for line in lines), right=(1, 2)))


def drawn(nodes: Sequence[Node]) -> Iterator[tuple[str, int | None, int | None]]:
    """Yield the lines of the drawing of a tree: a label with branches before it, and its counts.

    >>> nodes = [Node("*", 0, 2, None, False), Node("f", 1, 1, None, True), Node("m", 1, 1, None, True)]
    >>> [line[0] for line in drawn(nodes)]
    ['*', '├─ f', '└─ m']
    """
    below: dict[int, list[int]] = {}
    path: list[int] = []
    for at, node in enumerate(nodes):
        del path[node.depth :]
        if path:
            below.setdefault(path[-1], []).append(at)
        path.append(at)
    deepest = _deepest(nodes, below)
    waiting = [(0, "", "")]
    while waiting:
        at, branch, indent = waiting.pop()
        if at < 0:
            yield f"{branch}... {-at:,} more", None, None
            continue
        node = nodes[at]
        yield branch + node.label, None if node.leaf else node.leaves, node.rows
        inner = below.get(at, []) if node.depth < deepest else []
        shown = [*inner[:SIBLINGS], *([SIBLINGS - len(inner)] if len(inner) > SIBLINGS else [])]
        for place, each in reversed(list(enumerate(shown))):
            last = place == len(shown) - 1
            waiting.append((each, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  ")))


def _deepest(nodes: Sequence[Node], below: dict[int, list[int]]) -> int:
    """Return the depth down to which a drawing has few enough lines."""
    level, depth, lines = [0], 0, 1
    while level := [each for at in level for each in below.get(at, [])[:SIBLINGS]]:
        lines += len(level)
        if lines > LINES and depth > 0:
            break
        depth += 1
    return depth
