"""Shells complete commands, flags, files and the names in the catalogue."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from discreet.catalogue import ATTACKS, PRINCIPLES, SCHEMES
from discreet.command.main import COMMANDS, main
from support.house import SRC

SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


def completed(*words: str) -> list[str]:
    """What the last word may become; the kind of completion where the shell itself knows the values."""
    complete = BashComplete(main, {}, "discreet", "_DISCREET_COMPLETE")
    return [item.value or item.type for item in complete.get_completions(list(words[:-1]), words[-1])]


def test_commands_and_flags() -> None:
    assert completed("") == list(COMMANDS)
    assert completed("pub") == ["publish"]
    assert completed("publish", "--prom") == ["--promise"]
    assert completed("publish", "--format", "") == ["csv", "parquet"]
    assert completed("hierarchy", "") == ["check", "init", "show"]
    assert completed("hierarchy", "init", "--kind", "") == ["ranges", "prefixes", "balanced", "dates"]


@pytest.mark.parametrize(
    "words",
    [("publish",), ("publish", "-o"), ("audit",), ("audit", "--original"), ("query", "-f"), ("hierarchy", "show")],
)
def test_files_are_left_to_the_shell(words: tuple[str, ...]) -> None:
    assert completed(*words, "") == ["file"]


def test_names_are_those_of_the_catalogue() -> None:
    for command in ("publish", "audit", "compare"):
        assert completed(command, "--promise", "") == list(PRINCIPLES)
    assert completed("promises", "") == list(PRINCIPLES)
    assert completed("publish", "--scheme", "") == completed("schemes", "") == list(SCHEMES)
    assert completed("attack", "--attack", "") == completed("attacks", "") == list(ATTACKS)
    assert completed("publish", "--promise", "be") == ["beta-likeness"]
    assert completed("compare", "--schemes", "cuts,mo") == ["cuts,mondrian"]
    assert completed("publish", "--scheme", "nothing") == []


def test_names_have_their_summaries() -> None:
    complete = ZshComplete(main, {}, "discreet", "_DISCREET_COMPLETE")
    (item,) = complete.get_completions(["schemes"], "mo")
    assert item.help == SCHEMES.summary("mondrian")


@pytest.mark.slow
@pytest.mark.parametrize("shell", list(SHELLS))
def test_every_shell_gets_its_script(shell: str) -> None:
    environment = {**os.environ, "PYTHONPATH": SRC, "_DISCREET_COMPLETE": f"{shell}_source"}
    # the name of the program decides the name of the variable
    script = "import sys; sys.argv = ['discreet']; from discreet.command.main import main; main()"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert "_discreet_completion" in done.stdout and f"_DISCREET_COMPLETE={shell}_complete" in done.stdout
