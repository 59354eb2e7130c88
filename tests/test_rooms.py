"""The diagram of imports: data moves one way, and a room knows the rooms before it and none after."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import discreet
import discreet.principles
from discreet.catalogue import FORMATS

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
    "display",
    "unfinished",
    "randomness",
    "processors",
    "literature",
)
"""What every room may use."""
KNOWS: dict[str, tuple[str, ...]] = {
    "kernels": (),
    "table": (),
    "datasets": ("table",),
    "principles": ("kernels", "table"),
    "releases": ("kernels", "table", "principles"),
    "schemes": ("kernels", "table", "principles", "releases"),
    "analyst": ("kernels", "table", "principles", "releases"),
    "adversary": ("kernels", "table", "principles", "releases", "analyst"),
    "report": ("datasets", "kernels", "table", "principles", "releases", "schemes", "analyst", "adversary"),
    "families": ("kernels", "table", "principles", "releases", "schemes", "analyst", "adversary", "report"),
}
KNOWS["engines"] = ("kernels", "table", "principles", "releases", "schemes", "analyst", "adversary")
KNOWS["jobs"] = tuple(KNOWS)
KNOWS["app"] = tuple(KNOWS)
KNOWS["evidence"] = tuple(KNOWS)
"""Per room the rooms that it may import. The command line and the package itself see all. Only these and jobs know
families: for the others, the catalogue names their classes."""
ALL_SEEING = ("__init__", "__main__", "command", "extend")
ASK_FOR_SCHEMES = {"adversary/checks/manifest.py": "a manifest names the scheme that an audit asks"}
"""The files outside the schemes' own rooms that ask the catalogue for schemes, and why: these import no scheme, but
depend on what schemes offer all the same."""


class Budget(NamedTuple):
    """How large a room may be. Whoever needs more first looks for what has become superfluous, and then says why."""

    lines: int
    files: int


BUDGETS = {
    "adversary": Budget(8_600, 54),
    "analyst": Budget(2_300, 15),
    "app": Budget(1_800, 23),
    "command": Budget(3_500, 27),
    "datasets": Budget(700, 5),
    "engines": Budget(2_750, 18),
    "evidence": Budget(3_500, 16),
    "families": Budget(17_600, 110),
    "ground": Budget(1_900, 18),
    "jobs": Budget(2_900, 21),
    "kernels": Budget(4_150, 33),
    "principles": Budget(3_500, 24),
    "releases": Budget(8_900, 49),
    "report": Budget(5_500, 30),
    "schemes": Budget(4_000, 28),
    "table": Budget(10_450, 51),
}
"""Per room; ``ground`` are the modules beside the rooms."""
CORE = Budget(46_000, 300)
"""All of them together but the families and what is new, which is less than the sum of what each may have at most."""
NEW = (
    *("literature.py", "command/data.py", "report/tradeoff.py"),
    *("table/foreign.py", "table/layout.py", "table/unnamed.py"),
    *("table/addresses.py", "table/statements.py", "table/postgres.py", "table/sinks.py", "jobs/deposit.py"),
    *("table/floors.py", "table/floored_query.py", "table/fit.py", "table/bins.py", "table/fitted_query.py"),
    "table/selection.py",
    *("releases/marginals.py", "releases/spread.py", "releases/drawn.py", "adversary/checks/marginals.py"),
    *(
        "analyst/answers.py",
        "releases/box_bounds.py",
        "releases/anatomy/groups.py",
        "releases/uncertainty.py",
        "releases/box_uncertainty.py",
    ),
    *("analyst/quality.py", "adversary/group_sizes.py", "releases/frames.py"),
    *("command/hierarchy.py", "jobs/hierarchy.py", "table/hierarchy_check.py", "table/hierarchy_starters.py"),
    *("jobs/person.py", "report/advice_picture.py", "report/scale.py"),
    *("releases/totals.py", "table/total.py", "table/hierarchy_edit.py"),
    *("releases/grid.py", "adversary/checks/grid.py", "table/decimals.py"),
    *(
        "table/exports.py",
        "jobs/export.py",
        "jobs/starters.py",
        "command/export.py",
        "display.py",
        "command/notebook.py",
    ),
    *("adversary/predicates.py", "adversary/attacks/singling_out.py"),
    *("adversary/reidentification.py", "report/board.py", "report/limits.py"),
    *("report/one_way.py", "report/promised.py", "jobs/report.py", "command/report.py"),
    *("jobs/large.py", "command/large.py"),
    *("jobs/profile.py", "command/app.py", "adversary/checks/overlap.py"),
    *("command/reproduce.py", "analyst/grouped_workload.py", "analyst/prefix_workload.py"),
    *("report/equal.py", "report/workloads.py"),
    *("report/advice.py", "jobs/advise.py", "command/advise.py", "command/suggested.py"),
)
"""What was built since; it counts towards what its room may grow by."""
COMING: dict[str, int] = {}
"""The lines of rooms that do not exist yet: their budgets when they do, beside ``CORE``."""
GROWTH = {"analyst": 4_000, "report": 4_000, "adversary": 1_500, "table": 2_000}
"""By how many lines budgets may be raised for what is planned: measures and pages (4,000 in both rooms together),
attacks, files and hierarchies."""
LONGEST = 60
"""The lines of the longest function outside the kernels, without its docstring."""


class Module(NamedTuple):
    """A source file of the house."""

    parts: tuple[str, ...]
    """Its path, from the house on."""
    text: str
    nodes: tuple[ast.AST, ...]
    """All nodes of its syntax tree."""
    imports: frozenset[str]
    """What it imports, by full name, also what it imports late or for type checking only."""

    @classmethod
    def of(cls, path: Path) -> Module:
        text = path.read_text(encoding="utf-8")
        nodes = tuple(ast.walk(ast.parse(text)))
        return cls(path.relative_to(HOUSE).parts, text, nodes, frozenset(imported(nodes)))

    @property
    def name(self) -> str:
        """Its path in words."""
        return "/".join(self.parts)

    @property
    def room(self) -> str:
        """The room that it is in."""
        return self.parts[0].removesuffix(".py")


def imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        names = [name.name for name in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        yield from (name for name in names if name.startswith("discreet."))


@cache
def modules() -> tuple[Module, ...]:
    """All source files, each parsed once."""
    return tuple(Module.of(path) for path in sorted(HOUSE.rglob("*.py")))


@cache
def rooms() -> dict[str, set[str]]:
    """Per room the rooms that it imports from."""
    found: dict[str, set[str]] = {}
    for module in modules():
        found.setdefault(module.room, set()).update({name.split(".")[1] for name in module.imports} - {module.room})
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


def test_rooms_below_the_schemes_ask_the_catalogue_for_them_where_it_is_known() -> None:
    asking = {
        module.name
        for module in modules()
        if "discreet.catalogue.SCHEMES" in module.imports and "schemes" not in KNOWS.get(module.room, ("schemes",))
    }
    assert {name for name in asking if not name.startswith("schemes/")} == set(ASK_FOR_SCHEMES)


def foreign(module: Module) -> set[str]:
    """The packages that a module imports, now or later."""
    names = set()
    for node in module.nodes:
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module))
    return {name.partition(".")[0] for name in names}


def test_only_the_command_line_knows_a_terminal() -> None:
    """Jobs, and all that they do, serve a web app and Python as well."""
    for module in modules():
        if module.room in ("command", "__main__"):
            continue
        assert not foreign(module) & {"click", "rich"}, module.name
        for node in module.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "print", f"{module.name}:{node.lineno}"
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("stdout", "stderr"), f"{module.name}:{node.lineno}"


# --------------------------------------------------------------------------------------------------------------- size


def sizes() -> dict[str, Budget]:
    """Per room its lines and files; the modules beside the rooms are one."""
    found: dict[str, Budget] = {}
    for module in modules():
        room = module.room if len(module.parts) > 1 else "ground"
        lines, files = found.get(room, (0, 0))
        found[room] = Budget(lines + module.text.count("\n"), files + 1)
    return found


@pytest.mark.parametrize(
    "room", ["ground", *sorted({path.relative_to(HOUSE).parts[0] for path in HOUSE.rglob("*/*.py")})]
)
def test_a_room_keeps_its_budget(room: str) -> None:
    size = sizes()[room]
    assert room in BUDGETS, f"{room} is new: give it a budget of at most {COMING.get(room, 0):,} lines"
    planned = f"; for what is planned it may be raised by up to {GROWTH[room]:,} lines" if room in GROWTH else ""
    assert size.lines <= BUDGETS[room].lines and size.files <= BUDGETS[room].files, f"{room} has {size}{planned}"


def test_the_core_keeps_its_budget() -> None:
    apart = ("families", "engines", "app", "evidence", *COMING)
    core = [module for module in modules() if module.name not in NEW and module.room not in apart]
    assert sum(module.text.count("\n") for module in core) <= CORE.lines
    assert len(core) <= CORE.files


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without its docstring."""
    assert function.end_lineno is not None
    first = function.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = len(range(first.lineno, (first.end_lineno or first.lineno) + 1)) if documented else 0
    return function.end_lineno - function.lineno + 1 - docstring


def test_functions_are_short() -> None:
    found = {
        f"{module.name}: {node.name}"
        for module in modules()
        if "kernels" not in module.parts
        for node in module.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and length(node) > LONGEST
    }
    assert found == set()


# ----------------------------------------------------------------------------------------------------------- families

FAMILIES = sorted(path.name for path in (HOUSE / "families").iterdir() if (path / "__init__.py").is_file())
DOOR = ("The promise: ", "What is published: ", "Why it holds: ")
"""What the front door of a family says, beside its paper and its files."""


def family(module: Module) -> str:
    """The family that a module belongs to; empty for the core, and for what all families share."""
    return module.parts[1] if module.room == "families" and len(module.parts) > 2 else ""


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_imports_no_other(name: str) -> None:
    found = {
        (module.name, other)
        for module in modules()
        if family(module) == name
        for other in module.imports
        if other.startswith("discreet.families.") and not other.startswith(f"discreet.families.{name}.")
    }
    assert found == set()


@pytest.mark.parametrize("name", FAMILIES)
def test_the_front_door_of_a_family_names_its_files(name: str) -> None:
    door = (HOUSE / "families" / name / "__init__.py").read_text(encoding="utf-8")
    assert all(f"\n{words}" in door for words in DOOR)
    assert "Our own." in door or re.search(r"\b(19|20)\d\d\b", door), "the paper, or that it is our own"
    for path in (HOUSE / "families" / name).iterdir():
        if path.name not in ("__init__.py", "__pycache__"):
            assert re.search(rf"^    .*\b{path.stem}\b", door, re.MULTILINE), path.name


def test_kernels_of_families_know_kernels_only() -> None:
    found = {
        (module.name, other)
        for module in modules()
        if family(module) and "kernels" in module.parts
        for other in module.imports
        if not other.startswith(("discreet.kernels.", f"discreet.families.{family(module)}.kernels."))
    }
    assert found == set()


# ------------------------------------------------------------------------------------------------------------ formats

SHARED = ("generalized", "anatomy")
"""The formats that several schemes make; every other one belongs to a family."""


def test_formats_are_shared_or_belong_to_a_family() -> None:
    entries = FORMATS.built_in
    assert {name for name, entry in entries.items() if not entry.home.startswith("families.")} == set(SHARED)
    for name in entries.keys() - set(SHARED):
        entry = entries[name]
        assert entry.home.split(".")[:2] == entry.auditor.split(".")[:2], name


def test_a_shared_format_imports_no_other() -> None:
    for some, other in (SHARED, SHARED[::-1]):
        for module in modules():
            if module.parts[:2] == ("releases", some) or module.name == f"adversary/formats/{some}.py":
                prefixes = (f"discreet.releases.{other}.", f"discreet.adversary.formats.{other}")
                assert not [name for name in module.imports if name.startswith(prefixes)], module.name


def test_a_family_subclasses_the_release_of_a_shared_format_if_its_own_release_imports_it() -> None:
    for module in modules():
        if not family(module) or not {"release", "auditor"} & {part.removesuffix(".py") for part in module.parts}:
            continue
        own = [
            FORMATS[name].release
            for name, entry in FORMATS.built_in.items()
            if entry.home.startswith(f"families.{family(module)}.")
        ]
        for shared in SHARED:
            prefixes = (f"discreet.releases.{shared}.", f"discreet.adversary.formats.{shared}")
            if any(name.startswith(prefixes) for name in module.imports):
                assert any(issubclass(release, FORMATS[shared].release) for release in own), module.name


def test_shared_checks_and_attacks_import_no_format() -> None:
    """But to attack a table that is no release: the original itself."""
    packages = tuple(f"discreet.releases.{name}." for name in SHARED)
    found = {
        (module.name, name)
        for module in modules()
        if module.room in ("adversary", "analyst") and module.parts[1] != "formats"
        for name in module.imports
        if name.startswith(packages)
    }
    assert {file for file, _ in found} <= {"adversary/attacks/target.py"}


def test_nobody_asks_which_format_a_release_has() -> None:
    """But the formats themselves, and their auditors."""
    asking = []
    for module in modules():
        if module.room in ("releases", "families") or module.parts[:2] == ("adversary", "formats"):
            continue
        for node in module.nodes:
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "isinstance":
                names = [name.id for name in ast.walk(node) if isinstance(name, ast.Name)]
                asking += [f"{module.name}: {name}" for name in names if name.endswith("Release")]
    assert asking == []


def test_only_schemes_made_for_one_promise_ask_for_its_kind() -> None:
    """What others need to know of a promise is a property of every promise."""
    kinds = {entry.home.partition(":")[2] for entry in discreet.principles.PRINCIPLES.built_in.values()}
    for module in modules():
        for node in module.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                asked = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
                assert not asked & kinds, f"{module.name}:{node.lineno}"


def test_only_the_command_line_speaks_of_flags() -> None:
    """Other rooms ask ``discreet.arguments`` for the words, which depend on who is spoken to."""
    for module in modules():
        if module.parts[0] in ("command", "arguments.py"):
            continue
        docstrings = {
            id(node.body[0].value)
            for node in module.nodes
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in module.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                assert not re.search(r"(^|[\s'(])--[a-z]", node.value), f"{module.name}:{node.lineno}"
