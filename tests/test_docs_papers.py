"""The pages on papers: whatever they say is here is known, and every test and command beside a line exists."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from discreet.catalogue import ATTACKS, FORMATS, PRINCIPLES, SCHEMES
from discreet.command.main import main
from discreet.errors import DiscreetError
from discreet.expressions import parse_one
from discreet.principles import parse
from discreet.schemes import make_scheme
from support.house import ROOT

PAPERS = ROOT / "docs" / "papers"
PAGES = [page for page in sorted(PAPERS.glob("*.md")) if page.stem != "index"]
HEADER = ["in the paper", "here", "what is different, and why", "shown by"]
READERS: tuple[Callable[[str], object], ...] = (
    make_scheme,
    parse,
    lambda text: parse_one(text, ATTACKS, "attack", "beliefs"),
)
CATALOGUES = SCHEMES, PRINCIPLES, FORMATS, ATTACKS
UNSHOWN = {"-"}
"""What stands where nothing is claimed."""


class Line(NamedTuple):
    """A line of a table."""

    number: int
    cells: list[str]


def lines(page: Path) -> Iterator[Line]:
    """The lines of the tables with the columns of `HEADER`; a ``|`` inside backticks is no border."""
    inside = False
    for number, text in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        cells = [cell.strip() for cell in re.findall(r"\|((?:`[^`]*`|[^`|])*)(?=\|)", text)]
        if cells == HEADER:
            inside = True
        elif not text.startswith("|"):
            inside = False
        elif inside and not set(cells) <= {"---"}:
            yield Line(number, cells)


def quoted(cell: str) -> list[str]:
    """The code in a cell."""
    return re.findall(r"`([^`]+)`", cell)


@cache
def names_in(path: Path) -> set[str]:
    """The names of the tests in a file, those in classes as ``Class::test``."""
    found = set()
    for one in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(one, ast.FunctionDef):
            found.add(one.name)
        elif isinstance(one, ast.ClassDef):
            found |= {f"{one.name}::{part.name}" for part in one.body if isinstance(part, ast.FunctionDef)}
    return found


def is_test(text: str) -> bool:
    """Whether this is ``tests/FILE.py::NAME``, and exists."""
    file, _, name = text.partition("::")
    return file.startswith("tests/") and (ROOT / file).is_file() and name in names_in(ROOT / file)


def is_command(text: str) -> bool:
    """Whether this is a measurement, or a command of discreet with flags that it has."""
    words = text.split()
    if words[:3] == ["python", "-m", "benchmarks"]:
        known = (ROOT / "benchmarks" / "__main__.py").read_text(encoding="utf-8")
        return all(f'"{name}": {name}.main' in known for name in words[3:])
    if words[0] != "discreet" or len(words) < 2:
        return False
    command = main.get_command(None, words[1])  # type: ignore[arg-type]
    flags = {flag for option in command.params for flag in option.opts} if command is not None else set()
    return command is not None and {word for word in words[2:] if word.startswith("--")} <= flags


def is_named(text: str) -> bool:
    """Whether the catalogue has this scheme, promise, format or attack, with these parameters."""
    if any(text in catalogue for catalogue in CATALOGUES):
        return True
    for read in READERS:
        try:
            read(text)
        except DiscreetError:
            continue
        return True
    return False


def is_python(text: str) -> bool:
    """Whether ``dc.NAME`` or ``discreet.MODULE.NAME`` exists."""
    first, *rest = re.sub(r"\(.*\)$", "", text).replace("dc.", "discreet.", 1).split(".")
    if first != "discreet":
        return False
    found, path = importlib.import_module(first), first
    for name in rest:
        path = f"{path}.{name}"
        try:
            found = getattr(found, name)
        except AttributeError:
            try:
                found = importlib.import_module(path)
            except ImportError:
                return False
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_whatever_a_page_says_is_here_is_known(page: Path) -> None:
    found = list(lines(page))
    assert len(found) > 20, "a page has a line for each definition, theorem, algorithm, figure and table of its paper"
    for number, cells in found:
        assert len(cells) == len(HEADER), f"{page.name}:{number} has {len(cells)} cells"
        for text in quoted(cells[1]):
            known = is_named(text) or is_command(text) or is_python(text)
            assert known, f"{page.name}:{number}: {text} is no scheme, promise, attack, command or function"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_test_and_command_beside_a_line_exists(page: Path) -> None:
    for number, cells in lines(page):
        shown = quoted(cells[3])
        assert shown or cells[3] in UNSHOWN, f"{page.name}:{number}: shown by a test, a command, or {UNSHOWN}"
        for text in shown:
            assert is_test(text) or is_command(text), f"{page.name}:{number}: there is no {text}"


def test_tests_and_commands_elsewhere_on_the_pages_exist() -> None:
    for page in sorted(PAPERS.glob("*.md")):
        for text in quoted(re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)):
            if text.startswith("tests/"):
                assert is_test(text), f"{page.name}: there is no {text}"
            elif text.startswith(("discreet ", "python -m ")):
                assert is_command(text), f"{page.name}: there is no {text}"


@pytest.mark.parametrize(
    "text",
    ["burel(room=no)", "buerl", "dc.Buerl", "discreet publsh", "discreet publish --promises", "python -m benchmarks x"],
)
def test_what_does_not_exist_is_noticed(text: str) -> None:
    assert not (is_named(text) or is_command(text) or is_python(text))
    assert not is_test("tests/test_docs_papers.py::test_nothing") and not is_test("tests/no.py::test_nothing")
