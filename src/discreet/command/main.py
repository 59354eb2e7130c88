"""The command `discreet`: its subcommands, and the conversion of every error into a sentence and an exit code.

Neither this module nor `interface`, which says what commands take, imports anything heavier than click, so that help
appears at once.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from discreet.arguments import speaking_flags
from discreet.command import slips
from discreet.command.console import STDOUT, Exit, complain, give_up, internal_error, note
from discreet.command.interruption import interruptible
from discreet.disk import FULL, naming, reason
from discreet.errors import DiscreetError
from discreet.unfinished import place_of, settling
from discreet.version import __version__

COMMANDS = {
    "publish": "Publish a table under a promise, and audit what was written.",
    "audit": "Check the files of a release against the original.",
    "attack": "Attack a release: how often can sensitive values be guessed?",
    "query": "Estimate a count from a release.",
    "export": "Write the tables of a release for Excel, Stata, SPSS, R or pandas.",
    "compare": "Publish a table by several schemes and compare loss, error, attacks and time.",
    "report": "Write a page about a release that a privacy board can sign.",
    "advise": "Try promises and schemes on a table, and say which suits whom.",
    "plan": "Show the strongest promises that a table can keep.",
    "profile": "Describe a table: who stands out, and what it can promise.",
    "reproduce": "Measure again what five papers measured, and say which findings hold.",
    "schemes": "List the schemes, or explain one and its options.",
    "promises": "List the promises, or explain one and its parameters.",
    "attacks": "List the attacks, or explain one and its parameters.",
    "hierarchy": "Make a hierarchy to start from, check one, or draw it.",
    "app": "Do all of this in a browser, on this machine.",
    "data": "List invented tables to try things out on, or write one to a file.",
    "demo": "Make up a table, publish it, audit it, show the result.",
}
"""The commands in the order of the help, and what each is for."""


class SentenceGroup(slips.CommandGroup):
    """A group whose commands return their exit code; every error is a sentence, and users never see a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name; None if there is none."""
        from discreet.command import interface

        return next((command for command in interface.COMMANDS if command.name == cmd_name), None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **extra: Any) -> Any:  # type: ignore[override]
        """Run a command and exit with its exit code."""
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **extra)
        _replace_closed_streams()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # never fail on a character
        args = [_as_typed(word) for word in (sys.argv[1:] if args is None else args)]
        settled: list[Path] = []
        sys.exit(interruptible(lambda: self._guarded(args, settled, **extra), settled))

    def _guarded(self, args: Sequence[str] | None, settled: list[Path], **extra: Any) -> int:
        try:
            with speaking_flags(), settling(settled):
                result = super().main(args, standalone_mode=False, **extra)
            with naming(STDOUT):
                sys.stdout.flush()
            return result if isinstance(result, int) else 0
        except DiscreetError as fault:
            return complain(str(fault))
        except click.UsageError as fault:
            if type(fault).__name__ == "NoArgsIsHelpError":  # its message is the help; since click 8.2
                for line in fault.format_message().splitlines():
                    note(line)
                return Exit.BAD_INPUT
            path = fault.ctx.command_path if fault.ctx is not None else "discreet"
            said = " ".join(fault.format_message().split())
            return complain(f"{said.rstrip('.')}; see '{path} --help'")
        except click.ClickException as fault:
            return complain(fault.format_message())
        except click.Abort as fault:
            if isinstance(fault.__cause__, EOFError):  # click treats it as end of input
                return internal_error(fault.__cause__)
            complain("interrupted")
            return Exit.INTERRUPTED
        except BrokenPipeError:
            give_up(sys.stdout)  # the reader has closed the pipe
            return Exit.PIPE_CLOSED
        except OSError as fault:
            if fault.filename == STDOUT:
                give_up(sys.stdout)
                if settled:
                    stands = " and ".join(f"'{path}'" for path in settled)
                    complain(f"{STDOUT}: {fault.strerror or fault}; {stands} had already been written completely")
                    return Exit.UNPRINTED
            where = f"{place_of(str(fault.filename))!r}: " if fault.filename else ""
            nothing = "nothing was published; " if fault.errno in FULL and not settled else ""
            return complain(f"{where}{reason(fault)}; {nothing}solve this and run the command again")
        except MemoryError:
            return complain("there is not enough memory for this table; use fewer columns or rows, or a larger machine")
        except Exception as fault:
            return internal_error(fault)


def _as_typed(word: str) -> str:
    """Return a word of the command line as it was typed: without UTF-8, Python disguises bytes beyond ASCII.

    >>> _as_typed("gr\\udcc3\\udcb6\\udcc3\\udc9fe"), _as_typed("p\\udcff.csv") == "p\\udcff.csv"
    ('größe', True)
    """
    try:
        return word.encode("utf-8", "surrogateescape").decode()
    except UnicodeError:  # no text at all, such as the name of a file in bytes of another encoding
        return word


def _replace_closed_streams() -> None:
    """Redirect standard streams that the caller has closed to the null device.

    Python sets such a stream to None. The system would give its file descriptor to the next file that is opened, and
    code that writes to the stream by number would write into that file: so the descriptor is occupied as well.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                nowhere = os.open(os.devnull, os.O_RDWR)
                if nowhere != number:
                    os.dup2(nowhere, number)
                    os.close(nowhere)
            setattr(sys, name, open(os.devnull, "r" if number == 0 else "w", encoding="utf-8"))  # noqa: SIM115


def _drop_all() -> None:
    """Drop everything at the end: to search it for garbage first would take a third of a second.

    But duckdb would print that it was not cleaned up.
    """
    if "duckdb" not in sys.modules:
        gc.freeze()


atexit.register(_drop_all)


@click.group(cls=SentenceGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="discreet", message="%(prog)s %(version)s")
def main() -> None:
    """Publish microdata so that what it discloses about any person is bounded; check its files against the original.

    Exit codes: 0 the promise holds, 1 it does not, 2 bad input, 3 everything is written and valid, but the result could
    not be printed, 4 an internal error; 129, 130 or 143 the command was interrupted by a signal.
    """
