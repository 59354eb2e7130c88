"""Where results go: checked before the work begins, and filled only when it is done."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from discreet.command.console import naming
from discreet.errors import DiscreetError
from discreet.table.paths import located, real


def absolute(path: str | Path) -> Path:
    """A path as it is, from the root, without dots."""
    return Path(os.path.abspath(located(path)))


def check_output(output: str, force: bool, used: Mapping[str, Path]) -> Path:
    """The folder for a release; refused when something would be lost or it cannot be written.

    ``used`` are files that the command reads, by what they are.
    """
    from discreet.releases.files import check_folder

    target = absolute(output)
    if not target.name:
        raise DiscreetError(f"'{output}' cannot be replaced by a release; choose another folder")
    for what, path in used.items():
        if real(target) in real(absolute(path)).parents:
            raise DiscreetError(f"{what}, '{path}', lies inside the output folder '{output}'; choose another folder")
    check_folder(located(output), force)
    _check_writable(target, output)
    return target


def check_trace(trace: str, output: Path, force: bool, used: Mapping[str, Path]) -> Path:
    """The private file that tells the group of every row; refused inside the release, or in place of another file."""
    from discreet.releases.tracing import check_outside

    path = absolute(trace)
    resolved = real(path)
    if real(output) == resolved or real(output) in resolved.parents:
        raise DiscreetError(
            f"the trace '{trace}' lies inside the output folder and would be published with it; choose another place"
        )
    for what, other in used.items():
        if resolved == real(absolute(other)):
            raise DiscreetError(f"the trace '{trace}' would overwrite {what}; choose another file")
    if path.is_dir():
        raise DiscreetError(f"the trace '{trace}' is a folder; name a file")
    if path.exists() and not force:
        raise DiscreetError(f"the trace '{trace}' exists already; choose another file, or --force to replace it")
    check_outside(path)
    if not path.parent.is_dir():
        raise DiscreetError(f"there is no folder '{path.parent}' for the trace; make it first")
    _check_writable(path, trace)
    return path


def check_file(name: str, what: str, force: bool, used: Mapping[str, Path]) -> Path:
    """A file to be written, such as the "page" or the "plot"; refused when something would be lost or it cannot be."""
    path = absolute(name)
    for which, other in used.items():
        if real(path) == real(absolute(other)):
            raise DiscreetError(f"the {what} '{name}' would overwrite {which}; choose another file")
    if path.is_dir():
        raise DiscreetError(f"the {what} '{name}' is a folder; name a file")
    if path.exists() and not force:
        raise DiscreetError(f"the {what} '{name}' exists already; choose another file, or --force to replace it")
    if not path.parent.is_dir():
        raise DiscreetError(f"there is no folder '{path.parent}' for the {what}; make it first")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise DiscreetError(
            f"the {what} '{name}' cannot be written: '{path.parent}' is not writable; choose another place"
        )
    return path


def write_file(path: Path, content: bytes) -> None:
    """Write a file in one step."""
    from discreet.releases.files import beside, sync

    with naming(str(path)), beside(path, "new") as fresh:
        fresh.write_bytes(content)
        sync(fresh)
        fresh.replace(path)


def _check_writable(target: Path, name: str) -> None:
    parent = target.parent
    while not parent.exists() and parent != parent.parent:  # a drive that is not there is its own parent
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise DiscreetError(f"'{name}' cannot be written: '{parent}' is not writable; choose another place")


def put_in_place(staged: Path, target: Path, force: bool) -> None:
    """Move the files of a staged release into its place in one step."""
    from discreet.releases.files import replace_folder

    def move(home: Path) -> None:
        for path in staged.iterdir():
            path.rename(home / path.name)

    replace_folder(target, move, force)
