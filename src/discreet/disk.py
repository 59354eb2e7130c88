"""System calls for replacing files safely: atomic exchange, flushing to disk, locks, and deferred signals."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import re
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

NOT_SUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})
FULL = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals that ask a command to end."""

CHANGING = threading.RLock()
"""Held while files are moved into place; a thread that wants to end the process acquires it first."""


def sync(path: Path) -> None:
    """Flush a file or folder to disk; errors are raised, except on systems that cannot flush folders at all."""
    try:
        handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)  # Windows flushes what it may write to
    except PermissionError:
        if path.is_dir():  # on Windows, and for folders that are writable but not readable
            return
        raise
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in NOT_SUPPORTED or not path.is_dir():
            raise
    finally:
        os.close(handle)


def reason(error: OSError) -> str:
    """Why the system refused to write; of a full disk, that it is full.

    >>> reason(OSError(errno.ENOSPC, "No space left on device"))
    'No space left on device: the disk is full'
    """
    said = error.strerror or str(error)
    return f"{said}: the disk is full" if error.errno in FULL else said


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Add the name of the file being written to system errors that name no file."""
    try:
        yield
    except OSError as fault:
        fault.filename = fault.filename or what
        raise


def exchanged(left: Path, right: Path) -> bool:
    """Swap the names of two files or folders of one file system atomically; False if the system cannot do that.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     left, right = Path(home, "left"), Path(home, "right")
    ...     _ = left.write_text("1"), right.write_text("2")
    ...     (left if exchanged(left, right) else right).read_text()
    '2'
    """
    call = _exchange_call()
    if call is None:
        return False
    if call(os.fsencode(left), os.fsencode(right)) == 0:
        return True
    number = ctypes.get_errno()
    if number in NOT_SUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(right))


@functools.cache
def _exchange_call() -> Callable[[bytes, bytes], int] | None:
    """Return a wrapper of the C library's function that swaps two names; None if the system has none."""
    if os.name != "posix":
        return None
    library = ctypes.CDLL(None, use_errno=True)
    here, at_once = -100, 2  # AT_FDCWD; RENAME_EXCHANGE on Linux and RENAME_SWAP on macOS are both 2
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        return lambda left, right: int(library.renamex_np(left, right, at_once))
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        return lambda left, right: int(library.renameat2(here, left, here, right, at_once))
    return None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on a folder; do nothing where folders cannot be locked."""
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, PermissionError):
        yield
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in {*NOT_SUPPORTED, errno.EBADF, errno.ENOLCK}:  # network drives cannot lock folders
                raise
        yield
    finally:
        os.close(handle)


@contextmanager
def signals_to(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Have a function handle the signals that ask a command to end, in the main thread, until the block is left.

    Ignored signals (nohup, background commands of a script) stay ignored; a handler that was not installed by Python
    (None) could not be restored.
    """
    before = {number: signal.getsignal(number) for number in SIGNALS}
    held = {number: usual for number, usual in before.items() if usual not in (None, signal.SIG_IGN)}
    for number in held:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, usual in held.items():
            signal.signal(number, usual)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Defer the signals that ask the process to end until the block is left; then they take their usual effect.

    Python handles signals in the main thread only. There the block replaces their handlers by one that records the
    signal. A command works in another thread (`discreet.command.interruption`), where handlers cannot be replaced; its
    main thread waits for `CHANGING` before it ends the process.
    """
    with CHANGING:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        came: list[int] = []

        try:
            with signals_to(lambda number, _: came.append(number)):
                yield
        finally:
            for number in came[:1]:
                signal.raise_signal(number)


def obstacle(target: Path) -> str | None:
    """Explain why no rename can replace ``target``, as far as that is known beforehand; None if nothing prevents it.

    >>> obstacle(Path("/").absolute()).partition(" is ")[2]
    'a mount point, which cannot be replaced in one step'
    """
    if target.is_symlink():
        return f"{str(target)!r} is a link that leads nowhere"
    if target in _mount_points() or os.path.ismount(target):
        return f"{str(target)!r} is a mount point, which cannot be replaced in one step"
    parent = target.parent
    while not parent.exists() and parent != parent.parent:  # a missing drive is its own parent
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        return f"{str(parent)!r} is not writable"
    if not hasattr(os, "getuid") or not target.exists() or not parent.stat().st_mode & stat.S_ISVTX:
        return None
    if os.getuid() in (0, target.stat().st_uid, parent.stat().st_uid):
        return None
    return f"{str(target)!r} is somebody else's, and only its owner can replace what is in {str(parent)!r}"


def _mount_points() -> set[Path]:
    """Return all mount points, on systems that list them; `os.path.ismount` misses bind mounts and mounted files."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return set()
    places = (re.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8)]), line.split(b" ")[4]) for line in lines)
    return {Path(os.fsdecode(place)) for place in places}
