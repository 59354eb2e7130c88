"""A command that is asked to end does so at once, says what has happened, and leaves with the code of the signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from discreet.command import console
from discreet.command.main import main
from support.house import SRC

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

PUBLISH = (
    *("publish", "patients.csv", "-o", "release", "--quasi", "age,sex", "--sensitive", "disease"),
    *("--promise", "k-anonymity(k=4)"),
)
LONGEST = 600
"""Seconds after which an endless loop ends by itself, if the tests were killed before they could end it."""
LOOP = f"""
import signal, sys, numba, numpy as np
from discreet.adversary import audit
from discreet.command.main import main

# whoever runs the tests may ignore signals, as under nohup, and what they start inherits that
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)

@numba.njit(nogil=True)
def forever(numbers):
    while numbers[0] == 0:
        numbers[1] += 1

forever(np.ones(2))

def busy(folder, *rest, **more):
    signal.alarm({LONGEST})
    print("waiting", file=sys.stderr, flush=True)
    forever(np.zeros(2))

audit.audit = busy
main(sys.argv[1:])
"""


@contextmanager
def started(script: str, *words: str, **more: object) -> Iterator[subprocess.Popen[str]]:
    """A Python process that runs this script; killed in the end, so that a test that fails does not wait for it."""
    environment = {**os.environ, "PYTHONPATH": SRC}
    with subprocess.Popen(
        [sys.executable, "-c", script, *words], env=environment, stderr=subprocess.PIPE, text=True, **more  # type: ignore[call-overload]
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def wait_for(process: subprocess.Popen[str], word: str) -> None:
    assert process.stderr is not None
    while (line := process.stderr.readline()).strip() != word:
        assert line, "it ended before it came to that"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "kind"),
    [("publish", signal.SIGINT), ("publish", signal.SIGTERM), ("publish", signal.SIGHUP), ("demo", signal.SIGTERM)],
)
def test_a_compiled_loop_is_not_waited_for(people: Path, command: str, kind: signal.Signals) -> None:
    words = PUBLISH if command == "publish" else ("demo", "--rows", "200")
    with started(LOOP, *words) as process:
        wait_for(process, "waiting")
        time.sleep(0.1)
        assert len(list(people.iterdir())) == 2
        process.send_signal(kind)
        assert process.wait() == console.SIGNALLED + kind  # the loop itself would end by another signal
        assert process.stderr is not None
        assert process.stderr.read() == "discreet: interrupted; nothing has changed\n"
    assert [path.name for path in people.iterdir()] == ["patients.csv"]


DESTRUCTOR = f"""
import signal, sys
from discreet.command import interruption

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)

class Busy:
    def __del__(self):  # as numba's callbacks from C: what is raised in it cannot be raised any further
        signal.alarm({LONGEST})
        print("waiting", file=sys.stderr, flush=True)
        while True:
            pass

def work():
    Busy()
    while True:  # the work goes on
        pass

interruption.interruptible(work)
"""


@pytest.mark.slow
def test_an_interrupt_that_python_cannot_raise_is_not_told_as_a_fault() -> None:
    with started(DESTRUCTOR) as process:
        wait_for(process, "waiting")
        process.send_signal(signal.SIGTERM)
        assert process.wait() == console.Exit.TERMINATED
        assert process.stderr is not None
        assert process.stderr.read() == "discreet: interrupted; nothing has changed\n"


@pytest.mark.slow
def test_what_a_script_ignores_does_not_end_a_command(people: Path) -> None:
    script = (
        "import signal, sys\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from discreet.command import publish\nfrom discreet.command.main import main\ncarry = publish.carry_out\n"
        "def ask(job):\n    signal.raise_signal(signal.SIGHUP)\n    return carry(job)\n"
        "publish.carry_out = ask\nmain(sys.argv[1:])\n"
    )
    with started(script, *PUBLISH, stdout=subprocess.DEVNULL) as process:
        process.communicate()
    assert process.returncode == 0 and (people / "release").is_dir()


@pytest.mark.slow
def test_a_killed_demo_does_not_block_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with started(LOOP, "demo", "--rows", "200") as process:
        wait_for(process, "waiting")
        process.kill()
    home = tmp_path / "discreet-demo"
    assert any(path.name.startswith(".release.") for path in home.iterdir())
    result = CliRunner().invoke(main, ["demo", "--rows", "200"])
    assert result.exit_code == 0, result.output
    assert "Note: Removed what a command that was killed had left beside" in result.stderr
    assert not any(path.name.startswith(".") for path in home.rglob("*"))


def test_the_end_of_a_file_is_no_interrupt(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(job: object) -> None:
        raise EOFError("Ran out of input")

    monkeypatch.setattr("discreet.command.publish.carry_out", end)
    result = CliRunner().invoke(main, PUBLISH)
    assert result.exit_code == 4 and "internal error (EOFError: Ran out of input)" in result.stderr


# ------------------------------------------------------------------------------------------------ nobody can be told


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_exit_codes_where_nothing_can_be_written(people: Path) -> None:
    def run(*words: str, **streams: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "discreet", *words]
        environment = {**os.environ, "PYTHONPATH": SRC}
        return subprocess.run(command, env=environment, text=True, check=False, **streams)  # type: ignore[call-overload, no-any-return]

    with open("/dev/full", "w") as full:
        told = run(*PUBLISH, stdout=full, stderr=subprocess.PIPE)
        assert told.returncode == console.Exit.UNPRINTED == 3
        assert told.stderr.splitlines()[-1] == (
            "discreet: standard output: No space left on device; "
            f"'{people}/release' had already been written completely"
        )
        assert (people / "release" / "release.json").exists()
        refused = run(*PUBLISH, stdout=subprocess.PIPE, stderr=full)
        assert (refused.returncode, refused.stdout) == (2, "")
        again = run(*PUBLISH, "--force", "--seed", "1", stdout=subprocess.PIPE, stderr=full)  # which is worth a note
        assert again.returncode == 0 and "The release is in release" in again.stdout
        assert run("audit", "release", "--original", "patients.csv", stdout=full, stderr=full).returncode == 2
