"""The walks in CONTRIBUTING.md name files that data really passes, in the order in which it passes them."""

from __future__ import annotations

import gc
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from numba.core.dispatcher import Dispatcher

import discreet
from support.command import run
from support.house import ROOT

HOUSE = Path(discreet.__file__).parent
WALKS = {
    "publish": (
        *("publish", "patients.csv", "-o", "release", "--quasi", "age,sex", "--sensitive", "disease"),
        *("--promise", "beta-likeness(beta=2)", "--trace", "trace.csv", "--force"),
    ),
    "audit": ("audit", "release", "--original", "patients.csv", "--trace", "trace.csv"),
}


def walk(command: str) -> list[str]:
    """The files that CONTRIBUTING.md lists for a command."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^### A walk of {command}$(.*?)(?=^#)", text, re.MULTILINE | re.DOTALL)
    return re.findall(r"^    ([\w/]+\.py)  ", section, re.MULTILINE)


def entered(*words: str) -> list[str]:
    """The files of the library in which a command calls functions, in the order of their first calls."""
    files: dict[str, None] = {}
    with calling(files.setdefault):
        run(*words)
    paths = [Path(file) for file in files]
    return [path.relative_to(HOUSE).as_posix() for path in paths if path.is_relative_to(HOUSE)]


@contextmanager
def calling(note: Callable[[str], object]) -> Iterator[None]:
    """Call ``note`` with the file of every function that is called, in any thread, compiled or not."""
    if sys.version_info >= (3, 12):  # since then numba reports to monitors only
        monitoring, tool = sys.monitoring, sys.monitoring.PROFILER_ID
        for kernel in (value for value in gc.get_objects() if isinstance(value, Dispatcher)):
            kernel._enable_sysmon = True  # numba's setting for it is read before the kernels are made
        monitoring.use_tool_id(tool, "walk")
        monitoring.register_callback(tool, monitoring.events.PY_START, lambda code, _: note(code.co_filename))
        monitoring.set_events(tool, monitoring.events.PY_START)
        try:
            yield
        finally:
            monitoring.set_events(tool, monitoring.events.NO_EVENTS)
            monitoring.free_tool_id(tool)
        return

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            note(frame.f_code.co_filename)

    before = sys.getprofile()
    threading.setprofile(look)  # commands work in a thread of their own
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)
        threading.setprofile(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("command", list(WALKS))
@pytest.mark.usefixtures("people")
def test_walks_pass_the_listed_files_in_their_order(command: str) -> None:
    for words in WALKS.values():
        run(*words)  # so that no call is one that an import makes
    passed, listed = entered(*WALKS[command]), walk(command)
    assert 12 <= len(listed) <= 20
    assert [file for file in passed if file in listed] == listed, f"the files in their order: {' '.join(passed)}"
