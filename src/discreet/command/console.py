"""What the user sees: results on stdout, everything else on stderr, and progress only where somebody watches."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click

from discreet.progress import Progress
from discreet.table.texts import UNSEEN, visible

if TYPE_CHECKING:
    from rich.console import Console

HOLDS = 0
VIOLATED = 1
BAD_INPUT = 2
UNTOLD = 3
"""What was asked for is done and stands, but the result could not be shown."""
SIGNALLED = 128
"""Added to the number of the signal that ended a command, as shells do."""
INTERRUPTED = SIGNALLED + 2
PIPE_CLOSED = SIGNALLED + 13
TERMINATED = SIGNALLED + 15

STDOUT = "standard output"
QUIETLY = "discreet.quiet"
"""Where the context of a command remembers that it is to be quiet."""
PIPED_WIDTH = 160
"""Columns of a table when its reader is a file or a program, which has no width of its own."""

COMPILING = "Compiling what this needs, once per machine and version: up to half a minute."
PATIENCE = 1.0
"""Seconds of compiling that nobody needs to be told of."""


def complain(message: str) -> int:
    """Say in one sentence on stderr what is wrong; returns the exit code for bad input."""
    note(f"discreet: {shortened(message)}")
    return BAD_INPUT


def quiet() -> bool:
    """Whether nobody wants to read anything but the result, and what is wrong."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIETLY))


def note(message: str) -> None:
    """Say something on stderr that is no result; where nobody can be told, go on."""
    if quiet():
        return
    try:
        click.echo(visible(message), err=True)
    except OSError:
        give_up(sys.stderr)


def give_up(stream: TextIO) -> None:
    """Let what is still buffered go nowhere: Python would try to write it once more, and complain, when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Let a fault of the system that says nothing about its place name what was being written."""
    try:
        yield
    except OSError as fault:
        fault.filename = fault.filename or what
        raise


def shortened(message: str) -> str:
    """A message without the middle of words that nobody reads to their end.

    >>> len(shortened("x" * 5000))
    103
    """
    return re.sub(r"\S{400,}", lambda word: f"{word[0][:80]}...{word[0][-20:]}", message)


def output() -> Console:
    """The console for results. Cells such as ``[17, 24]`` are data: neither markup nor escapes are read in them."""
    from rich.console import Console
    from rich.text import Text

    class Results(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

        def print(self, *objects: Any, **how: Any) -> None:
            seen = [
                visible(one) if isinstance(one, str)
                else Text(visible(one.plain), style=one.style) if isinstance(one, Text)
                else one  # a grid, which sees to its cells
                for one in objects
            ]  # fmt: skip
            with naming(STDOUT):
                super().print(*seen, **how)

    stream = sys.stdout
    width = None if stream.isatty() else PIPED_WIDTH
    return Results(file=stream, width=width, markup=False, highlight=False, emoji=False, soft_wrap=True)


def print_json(document: Any) -> None:
    """Print a document as JSON; numbers that JSON does not have (infinity, NaN) become null."""
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"  # then let JSON escape what would not fit
    text = json.dumps(_plain(document), indent=2, ensure_ascii=plain, allow_nan=False)
    with naming(STDOUT):
        # what JSON need not escape and a terminal obeys; it stands in texts only, where it may be escaped
        click.echo(UNSEEN.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays, which are not imported here
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int)) else str(value)


@contextmanager
def watching() -> Iterator[Progress]:
    """A function to report progress to: a bar on stderr if that is a terminal, else nothing.

    Meanwhile whatever has to be compiled is announced, since that may take longer than all the rest.
    """
    from discreet.kernels.compiling import when_compiling

    if quiet() or not sys.stderr.isatty():
        with when_compiling(lambda: note(COMPILING), PATIENCE):
            yield lambda stage, share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=30), TimeElapsedColumn())
    console = Console(stderr=True)
    telling = when_compiling(lambda: console.print(COMPILING), PATIENCE)
    with Bars(*columns, console=console, transient=True) as bars, telling:
        task = bars.add_task("reading", total=None)

        def show(stage: str, share: float) -> None:
            # A task that reaches its end stops its clock, and the last stage is not yet over when another begins.
            total = 1.0 if share > 0.0 else None
            bars.update(task, description=stage, completed=min(0.999, max(0.0, share)), total=total)

        yield show


def number(value: float | None, digits: int = 3) -> str:
    """A number for reading.

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


def percent(share: float) -> str:
    """A share for reading, written as principles write it.

    >>> percent(0.5), percent(0.000298), percent(0.0), percent(1.0), percent(-0.25)
    ('50.0 %', '0.03 %', '0.0 %', '100.0 %', '-25.0 %')
    """
    from discreet.principles.wording import percent as positive

    share = 0.0 if abs(share) < 1e-9 else share
    return positive(share) if share >= 0 else f"-{positive(-share)}"


def rows_in_groups(rows: int, groups: int, withheld: int) -> str:
    """How much is published and how much is not.

    >>> rows_in_groups(1000, 1, 0), rows_in_groups(75, 10, 25)
    ('1,000 rows in 1 group; none withheld.', '75 rows in 10 groups; 25 withheld (25.0 %).')
    """
    from discreet.principles.wording import rows as counted

    left = f"{withheld:,} withheld ({percent(withheld / (rows + withheld))})" if withheld else "none withheld"
    within = f" in {groups:,} {'group' if groups == 1 else 'groups'}" if groups else ""
    return f"{counted(rows)}{within}; {left}."
