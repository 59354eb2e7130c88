"""What is not finished yet: kept beside its place, and removed in the end by its maker, or by the next who comes.

A file or folder is made as ``content`` in a hidden folder ``.NAME.xxxxxxxx.unfinished`` beside the NAME that it shall
have, readable by its owner only. The maker holds a lock on the file ``lock`` in it for as long as it lives, and the
system gives that up when the maker dies, however it dies. So a hidden folder of this name that is ours and whose lock
is free is provably a leftover, and one that is locked is never touched. Where files cannot be locked, nothing is
provable, and leftovers stay.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

CONTENT, LOCK = "content", "lock"
_NAME = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{8}\.unfinished", re.DOTALL)

_at_hand: set[Path] = set()
"""What is to be removed should this process have to leave at once."""

settled: list[Path] = []
"""What has taken its place, and stands whatever comes after."""


@contextlib.contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """A place for what shall become ``target``, on the same file system; whatever is left there is removed in the end.

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
            if lock is not None:
                os.close(lock)


@contextlib.contextmanager
def removed_on_failure(folder: Path) -> Iterator[None]:
    """Have a folder removed should this fail, or the process leave meanwhile, before anything in it has settled."""
    _at_hand.add(folder)
    try:
        yield
    except BaseException:
        if folder in _at_hand:
            remove(folder)
        raise
    finally:
        _at_hand.discard(folder)


def settle(path: Path) -> None:
    """Note that something has taken its place, so that it stays there."""
    settled.append(path)
    _at_hand.difference_update(path.parents)


def abandon(patience: float = 1.0) -> None:
    """Remove everything that is not finished, for a process that leaves at once; a thread may still be filling it."""
    end = time.monotonic() + patience
    while any(remove(path) for path in tuple(_at_hand)) and time.monotonic() < end:
        time.sleep(0.01)


def remove(path: Path) -> bool:
    """Remove a folder and what is in it, as far as possible; whether something is left.

    The lock goes last, so that whatever a kill leaves of the folder is still known for a leftover.
    """
    with contextlib.suppress(OSError):
        for one in path.iterdir():
            if one.is_dir() and not one.is_symlink():
                shutil.rmtree(one, ignore_errors=True)
            elif one.name != LOCK:
                one.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        if {one.name for one in path.iterdir()} <= {LOCK}:
            (path / LOCK).unlink(missing_ok=True)
            path.rmdir()
    return path.exists()


def leftovers(target: Path) -> Iterator[Path]:
    """The folders beside ``target`` that killed makers of it have left, each locked while it is looked at."""
    try:
        beside = sorted(target.parent.iterdir())
    except OSError:
        return
    for path in beside:
        found = _NAME.fullmatch(path.name)
        if found is None or found["name"] != target.name or path in _at_hand or not _ours(path):
            continue
        try:
            lock = os.open(path / LOCK, os.O_RDWR | os.O_NOFOLLOW) if os.name == "posix" else None
        except FileNotFoundError:
            with contextlib.suppress(OSError):
                path.rmdir()  # its maker has not come further than to make it; if it lives, it will make another
            continue
        except OSError:
            continue
        if lock is None:
            continue
        try:
            if _taken(lock) and path.exists():
                yield path
        finally:
            os.close(lock)


def _locked(home: Path) -> int | None:
    """Lock a new folder; the handle of the lock, or None when somebody has taken the folder for a leftover before."""
    try:
        lock = os.open(home / LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    except FileNotFoundError:
        return None
    if _taken(lock, alone=False) and (home / LOCK).exists():
        return lock
    os.close(lock)
    return None


def _taken(lock: int, *, alone: bool = True) -> bool:
    """Whether a lock could be taken; where there are none, only somebody who need not be ``alone`` can go on."""
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
    """Whether a path is a folder, no link to one, and this user's."""
    if path.is_symlink() or not path.is_dir():
        return False
    return not hasattr(os, "getuid") or path.stat().st_uid == os.getuid()
