"""Move files into place: a release in one step, and together with its trace or not at all.

A release is written beside its place, synced to disk, and then swapped with the old folder in one system call. Readers,
and a process killed at any time, see this step done or not done. The trace lies elsewhere, perhaps on another disk, and
no system changes two places in one step. So before the release moves into place, a note is written beside the finished,
still hidden trace: the folder it belongs to, and the digest of that folder's future manifest. From then on there is the
old release with the old trace or, for a moment, the new release with the old trace.

Whoever next loads, saves, audits or publishes that release, or writes that trace, finds the note of the dead process
and reads the manifest in the folder. If its digest is the one noted, the release did move into place, so the finished
trace is moved into place too. If not, the release did not, and the trace is removed. Either way the release ends up
with its own trace, wherever the kill came, even during such a repair. A second note, beside the unfinished release,
says where the trace is to go, so that the folder alone leads to it. The order in which leftovers are found does not
matter. Byte-identical manifests mean identical releases, because the manifest contains the digests of all tables; then
either trace is right.

All this happens with interrupts blocked and under a lock on the parent folder of the release, so that concurrent
processes take turns. A process replaces only the release that was there when it began: if another one was faster, its
release stays, because its trace would fit nothing otherwise. Where the system cannot swap two folders in one step
(other than Linux and macOS, and some network drives), the old folder is moved aside first. A kill between these two
renames leaves no folder in place until the next command that names it puts the old one back.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from discreet.arguments import argument
from discreet.disk import NOT_SUPPORTED, exchanged, locked, sync, uninterrupted
from discreet.errors import DiscreetError
from discreet.releases.folder import MANIFEST, check_folder, release_folder
from discreet.table.paths import located, real
from discreet.unfinished import CONTENT, leftovers, remove, unfinished

ASIDE, NOTE = "aside", "note"


def real_place(path: str | os.PathLike[str]) -> Path:
    """The path with links resolved, so that new files are written on the file system where they will end up."""
    return real(located(path))


def replace_folder(folder: str | os.PathLike[str], write: Callable[[Path], None], force: bool) -> Path:
    """Fill a new folder with ``write`` and swap it with ``folder`` in one step, or leave everything unchanged."""
    target = real_place(folder)
    try:
        tidied(target)
        check_folder(target, force)
        before = manifest_digest(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        with unfinished(target) as fresh:
            fresh.mkdir()
            write(fresh)
            place(fresh, target, before, force)
    except OSError as error:
        raise _unwritten(target, error) from error
    return target


def place(fresh: Path, target: Path, before: str | None, force: bool, trace: tuple[Path, Path] | None = None) -> None:
    """Move a finished release into place, together with its trace, given as (finished file, its target).

    ``before`` is the `manifest_digest` of the target when the work began: if two processes want the same place, one
    fails. Without ``force`` the target must be absent or an empty folder.
    """
    try:
        for path in [*fresh.iterdir(), fresh, fresh.parent]:
            sync(path)
        with uninterrupted(), locked(target.parent):
            check_folder(target, force)
            if manifest_digest(target) != before:
                raise DiscreetError(
                    f"another command published to {str(target)!r} in the meantime, and its release stays; "
                    "choose another folder, or run this again to replace it"
                )
            if trace is not None:
                _lay_note(trace, fresh, target)
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


def _unwritten(target: Path, error: OSError) -> DiscreetError:
    return DiscreetError(
        f"the release could not be written to {str(target)!r} ({error.strerror or error}); nothing has changed"
    )


# ---------------------------------------------------------------------------------------------------------- leftovers


def _lay_note(trace: tuple[Path, Path], fresh: Path, target: Path) -> None:
    """Record beside a finished trace which release it belongs to, and beside the release where the trace is to go."""
    unplaced, place_of_trace = trace
    notes = {
        fresh.with_name(NOTE): {"trace": str(place_of_trace)},
        unplaced.with_name(NOTE): {"folder": str(target), "manifest": manifest_digest(fresh)},
    }
    for path, note in notes.items():
        path.write_text(json.dumps(note), encoding="utf-8")
        for changed in (path, path.parent, path.parent.parent):
            sync(changed)


def _read_note(home: Path) -> dict[str, str]:
    """The note in an unfinished folder; empty if there is none, or one cut short by a kill."""
    try:
        note = json.loads((home / NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}


def manifest_digest(folder: Path) -> str | None:
    """The digest of the manifest in a folder, or ``None`` if there is no manifest."""
    try:
        return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    except OSError:
        return None


def finish(folder: str | os.PathLike[str]) -> None:
    """Complete or remove what killed commands left of a release and its trace, if this user may change files there."""
    with contextlib.suppress(OSError):
        tidied(real(release_folder(folder)))


def tidied(target: Path) -> list[str]:
    """Complete or remove what killed commands left beside a place; returns a sentence for each leftover."""
    sentences = []
    for home in leftovers(target):
        trace = _read_note(home).get("trace")
        if trace is not None:
            sentences += tidied(Path(trace))
        with uninterrupted():
            if _trace_entered(home, target):
                done = f"A command was killed before it moved the trace {str(target)!r} into place: it is in place now."
            elif _put_back(home, target):
                done = f"A command that was killed had moved {str(target)!r} aside: it is back in place."
            else:
                done = f"Removed what a command that was killed had left beside {str(target)!r}."
            sentences.append(f"{str(home)!r} cannot be removed; remove it by hand." if remove(home) else done)
    return sentences


def _trace_entered(home: Path, target: Path) -> bool:
    """Move a leftover trace into place if its release is in place; returns whether this was so."""
    note = _read_note(home)
    if "folder" not in note:  # the release cannot have moved into place
        return False
    folder = Path(note["folder"])
    if not folder.parent.is_dir():
        return False
    with locked(folder.parent):
        if not (home / CONTENT).exists() or manifest_digest(folder) != note["manifest"]:
            return False
        (home / CONTENT).replace(target)
        sync(target.parent)
        return True


def _put_back(home: Path, target: Path) -> bool:
    """Put a release back that was left aside with nothing in its place; returns whether this was so."""
    with locked(target.parent):
        if not (home / ASIDE).exists() or target.exists():
            return False
        (home / ASIDE).rename(target)
        sync(target.parent)
        return True
