"""Output files and folders: checked before the work begins, and written only when it is done."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from discreet.arguments import argument
from discreet.disk import naming, obstacle, sync, uninterrupted
from discreet.errors import DiscreetError
from discreet.progress import Remarks
from discreet.releases.folder import check_folder, release_folder
from discreet.releases.placement import check_file as check_plain
from discreet.releases.placement import enter_file, left_beside, put_back, real_place, tidied
from discreet.releases.trace import check_outside
from discreet.table.addresses import Address, addressed
from discreet.table.paths import located
from discreet.unfinished import settle, unfinished


def check_output(output: str, force: bool, used: Mapping[str, Path], remarks: Remarks) -> Path:
    """Return the folder for a release; refuse it if files would be lost or it cannot be written.

    ``used`` are the files that the job reads, by description.
    """
    if isinstance(addressed(output), Address):
        raise DiscreetError(
            "the address of a database is no folder for a release; name a folder, or a table of the database as well, "
            f"as in {argument('output_table', 'people')}"
        )
    target = real_place(output)
    if not target.name:
        raise DiscreetError(f"'{output}' cannot be replaced by a release; choose another folder")
    for what, path in used.items():
        if target in real_place(path).parents:
            raise DiscreetError(f"{what}, '{path}', lies inside the output folder '{output}'; choose another folder")
    remarks("place", *put_back(target))
    tell(target, remarks)
    check_folder(located(output), force)
    _check_writable(target, f"'{output}'")
    return target


def check_trace(trace: str, output: Path, force: bool, used: Mapping[str, Path], remarks: Remarks) -> Path:
    """Return the file for the private trace; refuse it inside a release, or if it would replace another file."""
    path = real_place(trace)
    if output == path or output in path.parents:
        raise DiscreetError(
            f"the trace '{trace}' lies inside the output folder and would be published with it; choose another place"
        )
    check_outside(Path(os.path.abspath(located(trace))))  # links are not resolved
    check_outside(path)
    return check_file(trace, "trace", force, used, remarks)


def check_file(name: str, what: str, force: bool, used: Mapping[str, Path], remarks: Remarks) -> Path:
    """Return an output file; refuse it if something would be lost or it cannot be written.

    ``what`` names it in errors, such as "page" or "plot".
    """
    path = real_place(name)
    for which, other in used.items():
        if path == real_place(other):
            raise DiscreetError(f"the {what} '{name}' would overwrite {which}; choose another file")
    check_plain(path, f"the {what} '{name}'")
    if not path.parent.is_dir():
        raise DiscreetError(f"there is no folder '{path.parent}' for the {what}; make it first")
    tell(path, remarks)
    if path.exists() and not force:
        replace = argument("force", True)
        raise DiscreetError(f"the {what} '{name}' exists already; choose another file, or {replace} to replace it")
    _check_writable(path, f"the {what} '{name}'")
    return path


def tell(path: str | Path, remarks: Remarks) -> None:
    """Remark on what killed commands have left beside a path, and change nothing."""
    remarks("place", *left_beside(real_place(release_folder(path))))


def tidy(path: str | Path, remarks: Remarks) -> None:
    """Remove what killed commands have left beside a path that has just been written, and remark on it."""
    remarks("place", *tidied(real_place(path)))


def write_file(path: Path, content: bytes, force: bool, remarks: Remarks) -> None:
    """Write a file atomically."""
    write_files({path: lambda fresh: fresh.write_bytes(content)}, force, remarks)


def write_files(writers: Mapping[Path, Callable[[Path], object]], force: bool, remarks: Remarks) -> None:
    """Write files, each by its function: none is put into its place before all are complete."""
    with ExitStack() as stack:
        ready: dict[Path, Path] = {}
        for path, write in writers.items():
            with naming(str(path)):
                ready[path] = stack.enter_context(unfinished(path))
                write(ready[path])
                sync(ready[path])
        with uninterrupted(), ExitStack() as undo:
            for path, fresh in ready.items():
                new = not path.exists()
                with naming(str(path)):
                    enter_file(fresh, path, force)
                if new:
                    undo.callback(path.unlink)
            undo.pop_all()
            for path in ready:
                settle(path)
        for path in ready:
            sync(path.parent)
            tidy(path, remarks)


def _check_writable(target: Path, what: str) -> None:
    reason = obstacle(target)
    if reason is not None:
        raise DiscreetError(f"{what} cannot be written: {reason}; choose another place")
