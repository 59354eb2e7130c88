"""Output to the user: results on stdout, everything else on stderr, and progress only on a terminal."""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TextIO

import click

from discreet.disk import naming
from discreet.errors import UNSEEN, in_words, legible, visible
from discreet.progress import COMPILES, PATIENCE, Progress, Remark

if TYPE_CHECKING:
    from rich.console import Console

SIGNALLED = 128
"""Added to the number of the signal that ended a command, as in shells."""


class Exit(IntEnum):
    """The exit codes of commands."""

    HOLDS = 0
    VIOLATED = 1
    BAD_INPUT = 2
    UNPRINTED = 3
    """The command succeeded and its files are in place, but the result could not be printed."""
    INTERNAL = 4
    """Something went wrong that is an error of ours, and not of the input."""
    INTERRUPTED = SIGNALLED + 2
    PIPE_CLOSED = SIGNALLED + 13
    TERMINATED = SIGNALLED + 15


STDOUT = "standard output"
QUIETLY = "discreet.quiet"
"""The key in click's context under which --quiet is stored."""
PIPED_WIDTH = 160
"""The width of tables that are written to a file or a pipe."""

COMPILING = "Compiling numerical code for this scheme and kind of table, once per machine: up to half a minute."


def complain(message: str) -> int:
    """Print an error in one sentence on stderr; return the exit code for bad input."""
    note(f"discreet: {message}")
    return Exit.BAD_INPUT


def internal_error(fault: BaseException, where: str = "") -> int:
    """Report an unexpected error, with its traceback if that is asked for; return the exit code."""
    if os.environ.get("DISCREET_DEBUG") == "1":
        traceback.print_exception(fault)
    complain(
        f"{where}internal error ({in_words(fault)}); please report it with the command you ran, and the traceback that "
        "DISCREET_DEBUG=1 shows"
    )
    return Exit.INTERNAL


def quiet() -> bool:
    """Whether the command was called with --quiet."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIETLY))


def note(message: str) -> None:
    """Print a remark on stderr; if stderr cannot be written to, go on without it."""
    if quiet():
        return
    try:
        click.echo(legible(message), err=True)
    except OSError:
        give_up(sys.stderr)


def give_up(stream: TextIO) -> None:
    """Discard what is still buffered: Python would otherwise try to write it again at exit, and complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def show_remark(remark: Remark) -> None:
    """Print a remark of a job; those on hierarchies are lists of what was found, and no notes."""
    note(remark.sentence if remark.about == "hierarchies" else f"Note: {remark.sentence}")


def output() -> Console:
    """Return the console for results."""
    stream = sys.stdout
    return results(stream, None if stream.isatty() else PIPED_WIDTH, soft_wrap=True)


def results(stream: TextIO, width: int | None, **how: Any) -> Console:
    """Return a console that prints cells such as ``[17, 24]`` literally, without markup or escapes."""
    from rich.console import Console
    from rich.text import Text

    class Results(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

        def print(self, *objects: Any, **how: Any) -> None:
            seen = [
                visible(thing) if isinstance(thing, str)
                else Text(visible(thing.plain), style=thing.style) if isinstance(thing, Text)
                else thing  # a grid, which escapes its own cells
                for thing in objects
            ]  # fmt: skip
            with naming(STDOUT):
                super().print(*seen, **how)

    return Results(file=stream, width=width, markup=False, highlight=False, emoji=False, **how)


def print_json(document: Any) -> None:
    """Print a document as JSON; numbers that JSON does not have (infinity, NaN) become null."""
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"  # then escape everything beyond ASCII
    text = json.dumps(_plain(document), indent=2, ensure_ascii=plain, allow_nan=False)
    with naming(STDOUT):
        # JSON allows some control characters unescaped that a terminal would obey. They occur only within JSON strings,
        # where they may be escaped; line breaks between values stay.
        click.echo(UNSEEN.sub(lambda match: match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}", text))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy scalars and arrays; NumPy is not imported here
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int)) else str(value)


@contextmanager
def watching() -> Iterator[Progress]:
    """Provide a progress callback that draws a bar on stderr if that is a terminal, else does nothing.

    Compiling is announced meanwhile, since it may take longer than everything else; the bar then says so.
    """
    from discreet.kernels.compiling import when_compiling

    if quiet() or not sys.stderr.isatty():
        with when_compiling(lambda: note(COMPILING), PATIENCE):
            yield lambda stage, share: note(stage) if stage.endswith(f"({COMPILES})") else None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=30), TimeElapsedColumn())
    console = Console(stderr=True)
    bars = Bars(*columns, console=console, transient=True)
    task, current = bars.add_task("reading", total=None), "reading"

    def compiling(begins: bool) -> None:
        bars.update(task, description=COMPILES if begins else current)

    with bars, when_compiling(lambda: console.print(COMPILING, soft_wrap=True), PATIENCE, compiling):

        def show(stage: str, share: float) -> None:
            nonlocal current
            current = stage
            # A completed task would stop its clock, although another stage may follow: so never report more than 0.999.
            total = 1.0 if share > 0.0 else None
            bars.update(task, description=stage, completed=min(0.999, max(0.0, share)), total=total)

        yield show


def number(value: float | None, digits: int = 3) -> str:
    """Format a number for reading.

    >>> number(2.0), number(0.123456), number(1234567), number(float("inf"))
    ('2', '0.123', '1,234,567', 'infinite')
    """
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "infinite"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.1f}" if 1000 <= abs(value) < 1e15 else f"{value:.{digits}g}"
