"""The command line, run in this process."""

from __future__ import annotations

from click.testing import CliRunner, Result

from discreet.command.main import main


def run(*words: str, code: int = 0) -> Result:
    """What a command prints; it has to end with this code, and must not break down."""
    result = CliRunner().invoke(main, words)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output and "internal error (" not in result.output  # help names the code of one
    return result


def refused(*words: str) -> str:
    """The one sentence with which a command refuses its input."""
    result = run(*words, code=2)
    (line,) = result.stderr.splitlines()
    assert result.stdout == "" and line.startswith("discreet: "), result.output
    return line
