"""What Windows does otherwise, acted out here: it flushes only what is open for writing, has neither locks nor users,
and refuses to move or remove what is open, or to move anything onto something else."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from discreet import disk, unfinished
from discreet.releases import folder as release_folder
from discreet.releases import placement
from support.command import run
from support.house import SRC

fcntl = pytest.importorskip("fcntl")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells which files are open")
MISSING = ("getuid", "O_NOFOLLOW", "sched_getaffinity")
PUBLISH = (
    *("publish", "patients.csv", "-o", "release", "--quasi", "age,sex", "--sensitive", "disease"),
    *("--promise", "k-anonymity(k=4)", "--trace", "trace.csv"),
)


class Windows:
    """The module ``os`` as it is there; pathlib goes on with the real one, whose calls the fixture replaces."""

    name = "nt"

    def __getattr__(self, name: str) -> Any:
        if name in MISSING:
            raise AttributeError(name)
        return getattr(os, name)

    @staticmethod
    def open(path: Any, flags: int, mode: int = 0o777) -> int:
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, "Permission denied", os.fspath(path))
        return os.open(path, flags, mode)


def refuse_if_open(path: Any) -> None:
    """Raise if this process has the file open, or a file in the folder."""
    asked = os.path.realpath(path)
    for handle in os.listdir("/proc/self/fd"):
        try:
            held = os.readlink(f"/proc/self/fd/{handle}")
        except OSError:
            continue
        if held == asked or held.startswith(f"{asked}{os.sep}"):
            raise PermissionError(errno.EACCES, "The file is being used by another process", os.fspath(path))


@pytest.fixture
def windows(people: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fsync, unlink, rename, replace = os.fsync, os.unlink, os.rename, os.replace

    def flush(handle: int) -> None:
        if fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        fsync(handle)

    def remove(path: Any, *, dir_fd: int | None = None) -> None:
        if dir_fd is None:
            refuse_if_open(path)
        unlink(path, dir_fd=dir_fd)

    def move(source: Any, target: Any) -> None:
        refuse_if_open(source)
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "Cannot create a file when that file already exists", str(target))
        rename(source, target)

    def move_onto(source: Any, target: Any) -> None:
        refuse_if_open(source)
        if os.path.isdir(target):
            raise PermissionError(errno.EACCES, "Access is denied", str(target))
        refuse_if_open(target)
        replace(source, target)

    for name, call in {"unlink": remove, "rename": move, "replace": move_onto}.items():
        monkeypatch.setattr(os, name, call)
    for module in (disk, unfinished, placement, release_folder):
        monkeypatch.setattr(module, "os", Windows())
    monkeypatch.setattr(Windows, "fsync", staticmethod(flush), raising=False)
    monkeypatch.setattr(disk, "_exchange_call", lambda: None)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    return people


def test_a_release_and_its_trace_are_written_and_replaced(windows: Path) -> None:
    assert "holds" in run(*PUBLISH).stdout
    assert sorted(path.name for path in windows.iterdir()) == ["patients.csv", "release", "trace.csv"]
    first = (windows / "release" / "release.json").read_bytes()
    again = ("l-diversity(l=2)" if word == "k-anonymity(k=4)" else word for word in PUBLISH)
    run(*again, "--force")
    assert (windows / "release" / "release.json").read_bytes() != first
    run("audit", "release", "--original", "patients.csv", "--trace", "trace.csv")
    assert sorted(path.name for path in windows.iterdir()) == ["patients.csv", "release", "trace.csv"]


def test_an_empty_folder_becomes_a_release(windows: Path) -> None:
    (windows / "release").mkdir()
    run(*PUBLISH)
    assert (windows / "release" / "release.json").is_file()


def test_a_release_that_somebody_reads_stays_as_it_is(windows: Path) -> None:
    run(*PUBLISH)
    before = (windows / "release" / "release.json").read_bytes()
    with (windows / "release" / "table.csv").open("rb"):
        result = run(*PUBLISH, "--force", code=2)
    note, refusal = result.stderr.splitlines()
    assert note.startswith("Note: this replaces the release in 'release'.") and "nothing has changed" in refusal
    assert (windows / "release" / "release.json").read_bytes() == before
    assert sorted(path.name for path in windows.iterdir()) == ["patients.csv", "release", "trace.csv"]


def test_what_is_unfinished_is_removed_when_a_process_has_to_end(windows: Path) -> None:
    with unfinished.unfinished(windows / "page.html") as fresh:
        fresh.write_text("half of it", encoding="utf-8")
        unfinished.abandon(patience=0.0)
        assert [path.name for path in windows.iterdir()] == ["patients.csv"]


WAITING = """
import os, signal, threading, time
import discreet.command.console, discreet.disk, discreet.unfinished

os.name = "nt"
from discreet.command import interruption

os.name = "posix"

join = threading.Thread.join
def deaf(thread, timeout=None):  # a signal does not end a wait; its handler is called afterwards
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    join(thread, timeout)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

def work():
    print("working", flush=True)
    time.sleep(60)

signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread.join = deaf
interruption.interruptible(work)
"""


@pytest.mark.slow
def test_waits_are_short_where_signals_do_not_end_them() -> None:
    environment = {**os.environ, "PYTHONPATH": SRC}
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 130 and said == "discreet: interrupted; nothing has changed\n"
