"""Unfinished files and folders: built beside their target, and removed by their process or a later one.

A file or folder is built as ``content`` in a hidden folder ``.NAME.xxxxxxxx.unfinished`` beside its target NAME,
readable by its owner only. The process that builds it holds a lock on the file ``lock`` in that folder while it lives;
when the process dies, however it dies, the system releases the lock. So a hidden folder of this name that belongs to
this user and whose lock is free is provably a leftover, and a locked one is never touched. Where files cannot be
locked (Windows, some network drives), nothing can be proved, and leftovers stay.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

CONTENT, LOCK, ASIDE = "content", "lock", "aside"
"""What is in a hidden folder: what is built, the lock, and a folder that made room for what was built."""
NOT_HELD = -1
"""Stands for the handle of a lock that is not held open: Windows could not remove it, and locks no files this way."""
_NAME = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{8}\.unfinished", re.DOTALL)

_at_hand: set[Path] = set()
"""The folders to remove if this process has to end at once."""

_SETTLED: ContextVar[list[Path] | None] = ContextVar("settled", default=None)
"""Where the present call records what has been moved to its target, if it asked for it."""


@contextlib.contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """Provide a path on the file system of ``target`` to build it at; whatever is left there is removed on exit.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     with unfinished(Path(home, "page.html")) as fresh:
    ...         _ = fresh.write_text("hello")
    ...         _ = fresh.rename(Path(home, "page.html"))
    ...     os.listdir(home)
    ['page.html']
    """
    lock = None
    while lock is None:
        home = target.with_name(f".{target.name}.{secrets.token_hex(4)}.unfinished")
        home.mkdir(mode=0o700)
        _at_hand.add(home)
        try:
            lock = _locked(home)
            if lock is not None:
                yield home / CONTENT
        finally:
            remove(home)
            _at_hand.discard(home)
            if lock not in (None, NOT_HELD):
                os.close(lock)


@contextlib.contextmanager
def removed_on_failure(folder: Path) -> Iterator[None]:
    """Remove a folder if the block fails, or the process ends meanwhile, before anything in the folder has settled."""
    _at_hand.add(folder)
    try:
        yield
    except BaseException:
        if folder in _at_hand:
            remove(folder)
        raise
    finally:
        _at_hand.discard(folder)


@contextlib.contextmanager
def settling(settled: list[Path]) -> Iterator[None]:
    """Append to ``settled`` each file and folder that this block has moved to its target, where it stays whatever
    fails later. Work of other threads is not recorded."""
    token = _SETTLED.set(settled)
    try:
        yield
    finally:
        _SETTLED.reset(token)


def settle(path: Path) -> None:
    """Record that ``path`` has been moved to its target, so that no failure removes it or a folder around it."""
    settled = _SETTLED.get()
    if settled is not None:
        settled.append(path)
    _at_hand.difference_update(path.parents)


def abandon(patience: float = 1.0) -> None:
    """Remove everything unfinished before the process ends at once.

    Another thread may still be writing, so removal is repeated for up to ``patience`` seconds.
    """
    end = time.monotonic() + patience
    while any(remove(path) for path in tuple(_at_hand)) and time.monotonic() < end:
        time.sleep(0.01)


def remove(path: Path) -> bool:
    """Remove a folder and its content, as far as possible; return whether anything is left.

    The lock is removed last: if the process is killed meanwhile, the rest is still recognised as a leftover.
    """
    with contextlib.suppress(OSError):
        for inner in path.iterdir():
            if inner.is_dir() and not inner.is_symlink():
                shutil.rmtree(inner, ignore_errors=True)
            elif inner.name != LOCK:
                inner.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        if {inner.name for inner in path.iterdir()} <= {LOCK}:
            (path / LOCK).unlink(missing_ok=True)
            path.rmdir()
    return path.exists()


def leftovers(target: Path, *, unlocked: bool = False) -> Iterator[Path]:
    """Yield the folders that killed processes left beside ``target``, each locked while the caller handles it.

    Nothing is changed, and nothing in them is read. With ``unlocked``, folders are removed that a process made and did
    not come to lock.
    """
    try:
        beside = sorted(target.parent.iterdir())
    except OSError:
        return
    for path in beside:
        match = _NAME.fullmatch(path.name)
        if match is None or match["name"] != target.name or path in _at_hand or not _ours(path):
            continue
        if os.name != "posix":
            continue  # nothing can be proved
        try:
            if not stat.S_ISREG((path / LOCK).lstat().st_mode):
                continue  # somebody else's doing
            lock = os.open(path / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            with contextlib.suppress(OSError):
                if unlocked:
                    path.rmdir()  # its process has not locked it yet; if that still lives, it makes another folder
            continue
        except OSError:
            continue
        try:
            if _taken(lock) and path.exists():
                yield path
        finally:
            os.close(lock)


def place_of(path: str | os.PathLike[str]) -> str:
    """The place that is meant by a path in a hidden folder, which is what users know; other paths are returned as is.

    >>> place_of("home/.release.0123abcd.unfinished/content/table.csv").replace(os.sep, "/")
    'home/release'
    """
    given = Path(path)
    for part in reversed((given, *given.parents)):
        match = _NAME.fullmatch(part.name)
        if match is not None:
            return str(part.with_name(match["name"]))
    return os.fspath(path)


def _locked(home: Path) -> int | None:
    """Lock a new folder and return the lock's handle; None if another process has removed it as a leftover."""
    try:
        lock = os.open(home / LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    except FileNotFoundError:
        return None
    if os.name == "nt":
        os.close(lock)
        return NOT_HELD
    if _taken(lock, alone=False) and (home / LOCK).exists():
        return lock
    os.close(lock)
    return None


def _taken(lock: int, *, alone: bool = True) -> bool:
    """Try to take a lock and return whether to go on; where files cannot be locked, only if not ``alone``.

    ``alone`` means that the caller needs proof that no other process holds the lock.
    """
    try:
        import fcntl
    except ImportError:
        return not alone
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return not alone
    return True


def _ours(path: Path) -> bool:
    """Whether a path is a folder of this user, and not a link to one."""
    try:
        status = path.lstat()
    except OSError:  # its process has just removed it
        return False
    return stat.S_ISDIR(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid())
