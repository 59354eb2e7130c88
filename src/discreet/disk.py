"""What is asked of the system when files change places: in one step, on disk, one at a time, and not interrupted."""

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
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals by which a command is asked to end."""

CHANGING = threading.RLock()
"""Held while files change places; whoever wants to leave the process from another thread takes it first."""


def sync(path: Path) -> None:
    """Have a file or folder put on disk; an error is an error, except where a folder cannot be put there at all."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:
        if path.is_dir():  # on Windows, and where everybody may put something in and nobody look
            return
        raise
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in NOT_SUPPORTED or not path.is_dir():
            raise
    finally:
        os.close(handle)


def exchanged(one: Path, other: Path) -> bool:
    """Let two files or folders of one file system change names in one step; False where the system has no such step.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     one, other = Path(home, "one"), Path(home, "other")
    ...     _ = one.write_text("1"), other.write_text("2")
    ...     (one if exchanged(one, other) else other).read_text()
    '2'
    """
    call = _exchange_call()
    if call is None:
        return False
    if call(os.fsencode(one), os.fsencode(other)) == 0:
        return True
    number = ctypes.get_errno()
    if number in NOT_SUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(other))


@functools.cache
def _exchange_call() -> Callable[[bytes, bytes], int] | None:
    """The function of the C library that exchanges two names, with its flags; None if there is none."""
    if os.name != "posix":
        return None
    library = ctypes.CDLL(None, use_errno=True)
    here, at_once = -100, 2  # AT_FDCWD; RENAME_EXCHANGE on Linux and RENAME_SWAP on macOS are both 2
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        return lambda one, other: int(library.renamex_np(one, other, at_once))
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        return lambda one, other: int(library.renameat2(here, one, here, other, at_once))
    return None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Be the only one who changes places in a folder; where folders cannot be locked, be one of several."""
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
            if error.errno not in {*NOT_SUPPORTED, errno.EBADF, errno.ENOLCK}:  # network drives lock no folders
                raise
        yield
    finally:
        os.close(handle)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back the signals that ask the process to end, until this is over; then they act as they would have.

    Python lets its main thread handle signals. There their handlers are exchanged for one that remembers; a command's
    main thread, whose work is done by another (`discreet.command.interrupting`), waits for `CHANGING` instead.
    """
    with CHANGING:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        came: list[int] = []

        def remember(number: int, frame: FrameType | None) -> None:
            came.append(number)

        before = {number: signal.getsignal(number) for number in SIGNALS}
        # what is ignored (nohup) stays so; a handler that is not Python's own could not be put back
        held = [number for number, handler in before.items() if handler not in (None, signal.SIG_IGN)]
        for number in held:
            signal.signal(number, remember)
        try:
            yield
        finally:
            for number in held:
                signal.signal(number, before[number])
            for number in came[:1]:
                signal.raise_signal(number)


def obstacle(target: Path) -> str | None:
    """Why nothing can take a place by a rename, as far as that can be known before it is tried; None if nothing is.

    >>> obstacle(Path("/"))
    "'/' is a mount point, which cannot be replaced in one step"
    """
    if target.is_symlink():
        return f"{str(target)!r} is a link that leads nowhere"
    if target in _mount_points() or os.path.ismount(target):
        return f"{str(target)!r} is a mount point, which cannot be replaced in one step"
    parent = target.parent
    while not parent.exists() and parent != parent.parent:  # a drive that is not there is its own parent
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        return f"{str(parent)!r} is not writable"
    if not hasattr(os, "getuid") or not target.exists() or not parent.stat().st_mode & stat.S_ISVTX:
        return None
    if os.getuid() in (0, target.stat().st_uid, parent.stat().st_uid):
        return None
    return f"{str(target)!r} is somebody else's, and only its owner can replace what is in {str(parent)!r}"


def _mount_points() -> set[Path]:
    """Where something is mounted, where the system tells: files and folders of the same file system may be as well."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return set()
    places = (line.split(b" ")[4] for line in lines)
    return {Path(os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), one))) for one in places}
