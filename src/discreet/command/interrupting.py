"""How a command ends when it is asked to: at once, with nothing half-written, saying what stands.

Python handles signals in its main thread only, and there between two of its own instructions: a compiled loop, or the
compiler itself, would be waited for. So the work is done by another thread, and the main thread waits for it or for a
signal, whichever comes first.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from discreet.command.console import SIGNALLED, complain
from discreet.disk import CHANGING, SIGNALS
from discreet.unfinished import abandon, settled

GRACE = 0.5
"""Seconds in which the work may undo what it has begun by itself, before that is done for it."""
STACK = 64 << 20
"""Bytes for the stack of the thread, of which a system may give less than to a main thread."""


class Interrupted(BaseException):
    """Raised in the thread that works, where nobody mistakes it for something else."""


def interruptible(work: Callable[[], int]) -> int:
    """Do some work and return what it returns, unless a signal ends the process."""
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

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        _leave(number, worker)

    # what is ignored stays so: nohup, and commands in the background of a script
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: handler for number, handler in handlers.items() if handler not in (None, signal.SIG_IGN)}
    for number in before:
        signal.signal(number, leave)
    try:
        worker.start()
        while worker.is_alive():
            worker.join(3600.0)  # without a limit, Windows would not look for signals
    finally:
        threading.stack_size(before_stack)
        for number, handler in before.items():
            signal.signal(number, handler)
    if failed:
        raise failed[0]
    return done[0]


def _leave(number: int, worker: threading.Thread) -> NoReturn:
    """End the process: first let files that change places do so, then let nothing else change."""
    for one in SIGNALS:
        signal.signal(one, signal.SIG_DFL)  # whoever asks again shall not have to wait
    CHANGING.acquire()  # never released: from here on nothing takes its place
    if worker.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident), ctypes.py_object(Interrupted))
        worker.join(GRACE)
    abandon()
    # by a thread of its own: a terminal that was stopped takes nothing, and shall not keep the process
    teller = threading.Thread(target=_tell, daemon=True)
    teller.start()
    teller.join(GRACE)
    os._exit(SIGNALLED + number)


def _tell() -> None:
    """Say what has happened."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[2K\x1b[?25h")  # a bar may have been drawn there, and have hidden the cursor
    stands = " and ".join(f"'{path}'" for path in settled)
    complain(f"interrupted, but {stands} had been written and stands" if stands else "interrupted; nothing has changed")
