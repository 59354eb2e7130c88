"""Ends a command on a signal: at once, with nothing half-written, and a message about which files are in place.

Python handles signals only in the main thread, between two bytecode instructions: it would wait for a compiled loop,
or for the compiler itself. So another thread does the work, and the main thread waits for the work to end or for a
signal, whichever comes first.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from discreet.command.console import SIGNALLED, complain
from discreet.disk import CHANGING, SIGNALS, signals_to
from discreet.unfinished import abandon

LOOK = 3600.0 if os.name == "posix" else 0.2
"""Seconds to wait for the work at a time. Elsewhere signals do not end a wait: they are handled after it."""
GRACE = 0.5
"""Seconds for the work to clean up after itself, before it is done from here."""
STACK = 64 << 20
"""The stack size of the working thread in bytes; by default some systems give it less than the main thread."""


class Interrupted(BaseException):
    """Raised in the working thread; not an Exception, so that no handler of errors catches it."""


def interruptible(work: Callable[[], int], settled: Sequence[Path] = ()) -> int:
    """Call ``work`` in another thread and return its result, unless a signal ends the process.

    ``settled`` grows by each file and folder that the work has moved to its target.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    done: list[int] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as fault:
            failed.append(fault)

    before_stack = threading.stack_size(STACK)
    worker = threading.Thread(target=run, name="work", daemon=True)

    try:
        with signals_to(lambda number, _: _leave(number, worker, settled)):
            worker.start()
            while worker.is_alive():
                worker.join(LOOK)
    finally:
        threading.stack_size(before_stack)
    if failed:
        raise failed[0]
    return done[0]


def _leave(number: int, worker: threading.Thread, settled: Sequence[Path]) -> NoReturn:
    """End the process: wait until files being moved are in place, then prevent any further move."""
    for other in SIGNALS:
        signal.signal(other, signal.SIG_DFL)  # a second signal ends the process at once
    # where a destructor or a callback from C is interrupted, Python would print a traceback and go on
    sys.unraisablehook = lambda _: None
    threading.excepthook = lambda _: None
    CHANGING.acquire()  # never released: from here on no file is moved into place
    if worker.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident), ctypes.py_object(Interrupted))
        worker.join(GRACE)
    abandon()
    # in a thread of its own: writing to a stopped terminal blocks, which must not keep the process alive
    teller = threading.Thread(target=_tell, args=(settled,), daemon=True)
    teller.start()
    teller.join(GRACE)
    os._exit(SIGNALLED + number)


def _tell(settled: Sequence[Path]) -> None:
    """Print that the command was interrupted, and which files are in place."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[2K\x1b[?25h")  # erase the progress bar and show the cursor
    stands = " and ".join(f"'{path}'" for path in settled)
    complain(
        f"interrupted, but {stands} had already been written completely"
        if stands
        else "interrupted; nothing has changed"
    )
