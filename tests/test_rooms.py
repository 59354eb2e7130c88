"""The diagram of imports: data moves one way, and a room knows the rooms before it and none after."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import discreet
import discreet.principles

HOUSE = Path(discreet.__file__).parent
GROUND = (
    "errors",
    "arguments",
    "options",
    "expressions",
    "version",
    "progress",
    "plugins",
    "catalogue",
    "disk",
    "unfinished",
    "randomness",
    "processors",
)
"""What every room may use."""
KNOWS = {
    "kernels": (),
    "table": (),
    "datasets": ("table",),
    "principles": ("kernels", "table"),
    "releases": ("kernels", "table", "principles"),
    "schemes": ("kernels", "table", "principles", "releases"),
    "analyst": ("kernels", "table", "principles", "releases"),
    "adversary": ("kernels", "table", "principles", "releases", "analyst"),
    "publishing": ("table", "principles", "releases", "schemes"),
    "report": ("datasets", "kernels", "table", "principles", "releases", "schemes", "analyst", "adversary"),
}
"""Per room the rooms that it may import. The command line and the package itself see all."""
ALL_SEEING = ("__init__", "__main__", "command")


def imports(path: Path) -> set[str]:
    """The rooms that a file imports from, also those that it imports late or for type checking only."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"discreet.{one.name}" for one in node.names] if node.module == "discreet" else [node.module]
        elif isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("discreet.")}
    return found


def rooms() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in HOUSE.rglob("*.py"):
        room = path.relative_to(HOUSE).parts[0].removesuffix(".py")
        found.setdefault(room, set()).update(imports(path) - {room})
    return found


@pytest.mark.parametrize("room", sorted(KNOWS))
def test_a_room_knows_only_the_rooms_before_it(room: str) -> None:
    assert rooms()[room] - set(GROUND) <= set(KNOWS[room])


def test_every_room_is_in_the_diagram() -> None:
    assert set(rooms()) == {*KNOWS, *GROUND, *ALL_SEEING}


def test_the_diagram_has_no_circle() -> None:
    left = dict(KNOWS)
    while left:
        free = [room for room, known in left.items() if not set(known) & set(left)]
        assert free, f"a circle among {sorted(left)}"
        for room in free:
            del left[room]


def test_nobody_asks_which_format_a_release_has() -> None:
    """But the formats themselves, and their auditors."""
    asking = []
    for path in HOUSE.rglob("*.py"):
        parts = path.relative_to(HOUSE).parts
        if parts[0] == "releases" or parts[:2] == ("adversary", "formats"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "isinstance":
                names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
                asking += [f"{'/'.join(parts)}: {name}" for name in names if name.endswith("Release")]
    assert asking == []


def test_only_schemes_made_for_one_promise_ask_for_its_kind() -> None:
    """What others need to know of a promise is a property of every promise."""
    kinds = {entry.home.partition(":")[2] for entry in discreet.principles.PRINCIPLES.built_in.values()}
    for path in HOUSE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                asked = {one.id for one in ast.walk(node.args[1]) if isinstance(one, ast.Name)}
                assert not asked & kinds, f"{path.relative_to(HOUSE)}:{node.lineno}"


def test_only_the_command_line_speaks_of_flags() -> None:
    """Other rooms ask ``discreet.arguments`` for the words, which depend on who is spoken to."""
    for path in HOUSE.rglob("*.py"):
        if path.relative_to(HOUSE).parts[0] in ("command", "arguments.py"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node):
                node.body = node.body[1:]
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not re.search(r"(^|[\s'(])--[a-z]", node.value), f"{path.relative_to(HOUSE)}:{node.lineno}"
