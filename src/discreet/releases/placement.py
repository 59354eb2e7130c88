"""Move files into place: a release in one step, and together with its trace.

A release is written beside its place, synced to disk, and then swapped with the old folder in one system call. Readers,
and a process killed at any time, see this step done or not done. The trace lies elsewhere, perhaps on another disk, and
no system changes two places in one step. So the finished trace follows the release at once. A kill between these two
leaves the new release with the old trace. Nothing is lost then: the old release and the new trace lie complete in the
hidden folders beside their places (`discreet.unfinished`). An audit with the old trace fails and says so, commands that
name the two places tell of the hidden folders, and to publish again makes a pair.

What is found beside a place may have come with an archive. So commands that read a release change nothing there, and
nothing that is found says which file to write. Only what writes to a place removes what killed commands left beside it,
and only when its own result is in place.

All moves happen with interrupts blocked and under a lock on the parent folder of the release, so that concurrent
processes take turns. A process replaces only the release that was there when it began: if another one was faster, its
release stays, because its trace would fit nothing otherwise. Where the system cannot swap two folders in one step
(other than Linux and macOS, and some network drives), the old folder is moved aside first. A kill between these two
renames leaves no folder in place until the next command that publishes there puts the old one back.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from discreet.arguments import argument
from discreet.disk import NOT_SUPPORTED, exchanged, locked, reason, sync, uninterrupted
from discreet.errors import DiscreetError
from discreet.releases.folder import MANIFEST, check_folder
from discreet.table.paths import located, real
from discreet.unfinished import ASIDE, leftovers, place_of, remove, unfinished


def real_place(path: str | os.PathLike[str]) -> Path:
    """The path with links resolved, so that new files are written on the file system where they will end up."""
    return real(located(path))


def replace_folder(folder: str | os.PathLike[str], write: Callable[[Path], None], force: bool) -> Path:
    """Fill a new folder with ``write`` and swap it with ``folder`` in one step, or leave everything unchanged."""
    target = real_place(folder)
    with writing(target):
        put_back(target)
        check_folder(target, force)
        before = manifest_digest(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        with unfinished(target) as fresh:
            fresh.mkdir()
            write(fresh)
            place(fresh, target, before, force)
        tidied(target)
    return target


def place(fresh: Path, target: Path, before: str | None, force: bool, trace: tuple[Path, Path] | None = None) -> None:
    """Move a finished release into place, together with its trace, given as (finished file, its target).

    ``before`` is the `manifest_digest` of the target when the work began: if two processes want the same place, one
    fails. Without ``force`` the target must be absent or an empty folder.
    """
    with writing(target):
        for path in [*fresh.iterdir(), fresh, fresh.parent]:
            sync(path)
        with uninterrupted(), locked(target.parent):
            check_folder(target, force)
            if manifest_digest(target) != before:
                raise DiscreetError(
                    f"another command published to {str(target)!r} in the meantime, and its release stays; "
                    "choose another folder, or run this again to replace it"
                )
            undo = _enter(fresh, target, force)
            try:
                sync(target.parent)
                if trace is not None:
                    enter_file(*trace, force)
            except BaseException:
                undo()
                raise
            if trace is not None:
                _sync_at_last(trace[1].parent)


def _sync_at_last(folder: Path) -> None:
    """Sync the last step to disk; a failure here no longer undoes anything, because everything is in place."""
    try:
        sync(folder)
    except OSError as error:
        raise DiscreetError(
            f"the release and its trace are in place, but {str(folder)!r} could not be flushed to disk "
            f"({error.strerror or error}); check the disk, and audit the release with its trace"
        ) from error


def _enter(fresh: Path, target: Path, force: bool) -> Callable[[], object]:
    """Move a folder into place and return a function that undoes this."""
    empty = target.is_dir() and not any(target.iterdir())
    if not force or empty or not target.exists():
        if empty and os.name == "nt":
            target.rmdir()
        fresh.rename(target)  # the system rejects this unless the target is absent or an empty folder

        def leave() -> None:
            target.rename(fresh)
            if empty:
                target.mkdir()

        return leave
    if exchanged(fresh, target):
        return lambda: exchanged(fresh, target)
    aside = fresh.with_name(ASIDE)
    target.rename(aside)
    try:
        fresh.rename(target)
    except BaseException:
        aside.rename(target)
        raise

    def undo() -> None:
        target.rename(fresh)
        aside.rename(target)

    return undo


def enter_file(fresh: Path, target: Path, force: bool) -> None:
    """Move a finished file into place in one step; without ``force`` only if there is none."""
    check_file(target)
    if force:
        fresh.replace(target)
        return
    try:
        os.link(fresh, target)  # unlike a rename, it never replaces anything
    except FileExistsError:
        raise DiscreetError(
            f"{str(target)!r} exists already; choose another file, or {argument('force', True)} to replace it"
        ) from None
    except OSError as error:
        if error.errno not in {*NOT_SUPPORTED, errno.EPERM, errno.EMLINK}:  # else: a file system without hard links
            raise
        fresh.rename(target)


def check_file(target: Path, what: str | None = None) -> None:
    """Raise if the target exists but is not a plain file, such as a pipe, a device or a folder."""
    what = repr(str(target)) if what is None else what
    if target.is_dir():
        raise DiscreetError(f"{what} is a folder; name a file")
    if target.exists() and not target.is_file():
        raise DiscreetError(f"{what} is a pipe or a device, which a file would replace; name a plain file")


class UnwrittenError(DiscreetError):
    """Raised if the system does not let a release be written, for example to a full disk."""


@contextlib.contextmanager
def writing(target: Path) -> Iterator[None]:
    """Turn what the system says against writing a release into a sentence with its place."""
    try:
        yield
    except OSError as error:
        raise UnwrittenError(
            f"the release could not be written to {place_of(target)!r} ({reason(error)}); nothing has changed"
        ) from error


def manifest_digest(folder: Path) -> str | None:
    """The digest of the manifest in a folder, or ``None`` if there is no manifest."""
    try:
        return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    except OSError:
        return None


# ---------------------------------------------------------------------------------------------------------- leftovers


def left_beside(target: Path) -> list[str]:
    """A sentence on each folder that a killed command left beside a place; changes nothing."""
    return [
        f"A command that was killed left {str(home)!r}. If a release or its trace is missing now, or the two do not "
        "belong together, publish again: this removes the folder when it is done, and until then what the command "
        "wrote or replaced is in there."
        for home in leftovers(target)
    ]


def put_back(target: Path) -> list[str]:
    """Put a release back that a killed command left aside, with nothing in its place; returns what to say about it."""
    for home in leftovers(target):
        aside = home / ASIDE
        with uninterrupted(), locked(target.parent):
            if aside.is_dir() and not aside.is_symlink() and not os.path.lexists(target):
                aside.rename(target)
                sync(target.parent)
                return [f"A command that was killed had moved {str(target)!r} aside: it is back in place."]
    return []


def tidied(target: Path) -> list[str]:
    """Remove what killed commands left beside a place that has just been written; a sentence for each leftover."""
    return [
        f"{str(home)!r} cannot be removed; remove it by hand."
        if remove(home)
        else f"Removed what a command that was killed had left beside {str(target)!r}."
        for home in leftovers(target, unlocked=True)
    ]
