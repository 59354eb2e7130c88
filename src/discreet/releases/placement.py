"""How files come into their places: a release in one step, and together with its trace or not at all.

A release is made beside its place, put on disk, and then changes names with what was there in one step of the system,
which a reader and a kill see done or not done. Its trace lies elsewhere, perhaps on another disk, and no system changes
two places in one step. So before the release takes its place, a note is laid beside the finished, still hidden trace:
for which folder it is, and the digest of the manifest that this folder will have. From then on there is old release and
old trace, or, for a moment, new release and old trace. Whoever finds the note of a maker that has died reads the
manifest in the folder. If its digest is the one noted, the release did take its place, and so must the trace, which is
finished and on disk: it is put there. If not, the release did not, and the trace is removed. Either way the release has
its own trace, wherever the kill came, also within such a repair. Nothing depends on the order in which leftovers are
found, and manifests that are the same to the byte are those of the same release, for which either trace is right: the
manifest holds the digests of all tables.

All this happens under a lock of the folder in which the release lies, so that of several makers one comes after the
other, and without interrupts. Where the system cannot exchange two folders in one step (other than Linux and macOS, and
some network drives), what was there is put aside first. A kill between these two renames leaves no folder in its place
until the next command that names it puts the old one back.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from discreet.arguments import argument
from discreet.disk import NOT_SUPPORTED, exchanged, locked, sync, uninterrupted
from discreet.errors import DiscreetError
from discreet.releases.folder import MANIFEST, check_folder
from discreet.table.paths import located, real
from discreet.unfinished import CONTENT, leftovers, remove, unfinished

ASIDE, NOTE = "aside", "note"


def real_place(path: str | os.PathLike[str]) -> Path:
    """Where something is in the end: links are followed, so that it is made on the file system that it goes to."""
    return real(located(path))


def replace_folder(folder: str | os.PathLike[str], write: Callable[[Path], None], force: bool) -> Path:
    """Fill a new folder with ``write`` and put it in place of ``folder`` in one step, or leave everything as it was."""
    target = real_place(folder)
    try:
        tidied(target)
        check_folder(target, force)
        target.parent.mkdir(parents=True, exist_ok=True)
        with unfinished(target) as fresh:
            fresh.mkdir()
            write(fresh)
            place(fresh, target, force)
    except OSError as error:
        raise _unwritten(target, error) from error
    return target


def place(fresh: Path, target: Path, force: bool, trace: tuple[Path, Path] | None = None) -> None:
    """Put a finished release in its place, and with it its trace, given as the finished file and where that goes.

    Without ``force`` only where there is nothing, or an empty folder: of two who want the same place, one is refused.
    """
    try:
        for path in [*fresh.iterdir(), fresh, fresh.parent]:
            sync(path)
        with uninterrupted(), locked(target.parent):
            check_folder(target, force)  # somebody else may have been faster
            if trace is not None:
                _lay_note(trace[0], fresh, target)
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
    except OSError as error:
        raise _unwritten(target, error) from error


def _sync_at_last(folder: Path) -> None:
    """Have the last step put on disk; by then everything is in its place, and stays there."""
    try:
        sync(folder)
    except OSError as error:
        raise DiscreetError(
            f"the release and its trace are in their places, but {str(folder)!r} could not be put on disk "
            f"({error.strerror or error}); see to the disk, and audit the release with its trace"
        ) from error


def _enter(fresh: Path, target: Path, force: bool) -> Callable[[], object]:
    """Let a folder take its place; returns what undoes it."""
    empty = target.is_dir() and not any(target.iterdir())
    if not force or empty or not target.exists():
        if empty and os.name == "nt":
            target.rmdir()
        fresh.rename(target)  # the system refuses this where there is more than an empty folder

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
    """Let a finished file take its place in one step; without ``force`` only where there is none."""
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
        if error.errno not in {*NOT_SUPPORTED, errno.EPERM, errno.EMLINK}:  # a file system without such links
            raise
        fresh.rename(target)


def check_file(target: Path) -> None:
    """Refuse what is no plain file, and would be lost: a pipe, a device, a folder."""
    if target.is_dir():
        raise DiscreetError(f"{str(target)!r} is a folder; name a file")
    if target.exists() and not target.is_file():
        raise DiscreetError(f"{str(target)!r} is a pipe or a device, which a file would replace; name a plain file")


def _unwritten(target: Path, error: OSError) -> DiscreetError:
    return DiscreetError(
        f"the release could not be written to {str(target)!r} ({error.strerror or error}); nothing has changed"
    )


# ---------------------------------------------------------------------------------------------------------- leftovers


def _lay_note(trace: Path, fresh: Path, target: Path) -> None:
    """Say beside a finished trace to which release it belongs."""
    path = trace.with_name(NOTE)
    path.write_text(json.dumps({"folder": str(target), "manifest": _digest(fresh)}))
    for one in (path, path.parent, path.parent.parent):
        sync(one)


def _digest(folder: Path) -> str | None:
    """The digest of the manifest in a folder, if there is one."""
    try:
        return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    except OSError:
        return None


def tidied(target: Path) -> list[str]:
    """Finish or remove what killed commands have left beside a place; what was done, in sentences."""
    said = []
    for home in leftovers(target):
        with uninterrupted():
            if _trace_entered(home, target):
                done = f"A command was killed before the trace {str(target)!r} took its place: it has taken it now."
            elif _put_back(home, target):
                done = f"A command that was killed had put {str(target)!r} aside: it is back in its place."
            else:
                done = f"Removed what a command that was killed had left beside {str(target)!r}."
            said.append(f"{str(home)!r} cannot be removed; see to it." if remove(home) else done)
    return said


def _trace_entered(home: Path, target: Path) -> bool:
    """Whether a finished trace was left over whose release is in its place; then it takes its own."""
    try:
        note = json.loads((home / NOTE).read_text())
        folder, manifest = Path(note["folder"]), note["manifest"]
    except (OSError, ValueError):  # none, or one that a kill has cut short, before the release could take its place
        return False
    if not folder.parent.is_dir():
        return False
    with locked(folder.parent):
        if not (home / CONTENT).exists() or _digest(folder) != manifest:
            return False
        (home / CONTENT).replace(target)
        sync(target.parent)
        return True


def _put_back(home: Path, target: Path) -> bool:
    """Whether a release was left put aside, with nothing in its place; then it is put back."""
    with locked(target.parent):
        if not (home / ASIDE).exists() or target.exists():
            return False
        (home / ASIDE).rename(target)
        sync(target.parent)
        return True
