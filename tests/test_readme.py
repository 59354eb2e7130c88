"""The README: what it tells a newcomer to type runs, block by block, in an empty folder."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from discreet.command.main import main
from support.house import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks() -> list[tuple[str, str]]:
    """The fenced blocks, each with its language."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def typed(block: str) -> list[list[str]]:
    """The commands of a block of the console, as words."""
    commands = re.split(r"^\$ ", block.replace("\\\n", ""), flags=re.MULTILINE)[1:]
    return [shlex.split(command, comments=True) for command in commands]


@pytest.mark.slow
def test_the_blocks_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    ran = []
    for language, block in blocks():
        if language == "toml":
            (tmp_path / block.splitlines()[0].removeprefix("# ")).write_text(block)
        elif language == "python":
            exec(block, names)
        else:
            assert language == "console"
            for words in typed(block):
                ran.append(" ".join(words[:2]))
                if words[0] == "discreet":
                    result = CliRunner().invoke(main, words[1:])
                    assert result.exit_code == 0, (words, result.output)
                elif words[0] == "python":
                    subprocess.run([sys.executable, *words[1:]], check=True)
                else:
                    assert words[0] == "make"
    assert {"discreet profile", "discreet publish", "discreet audit", "discreet query", "discreet compare"} <= {*ran}
    assert names["release"].withheld == 0
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {
        *("patients.csv", "patients.trace", "release", "python-release", "comparison.html"),
        *("job.toml", "job-release", "job.trace"),
    }
