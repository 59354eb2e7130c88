"""Where results go: checked before the work begins, and filled only when it is done."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MANIFEST = "release.json"


def absolute(path: str | Path) -> Path:
    """A path as it is, from the root, without dots."""
    return Path(os.path.abspath(os.path.expanduser(path)))


def check_output(output: str, force: bool, used: Mapping[str, Path]) -> Path:
    """The folder for a release; refused when something would be lost or it cannot be written.

    ``used`` are files that the command reads, by what they are.
    """
    target = absolute(output)
    if not target.name:
        raise DiscreetError(f"'{output}' cannot be replaced by a release; choose another folder")
    if target.exists() and not target.is_dir():
        raise DiscreetError(f"'{output}' is a file; choose a folder for the release")
    for what, path in used.items():
        if target.resolve() in absolute(path).resolve().parents:
            raise DiscreetError(f"{what}, '{path}', lies inside the output folder '{output}'; choose another folder")
    if target.is_dir() and any(target.iterdir()):
        if not force:
            raise DiscreetError(f"the folder '{output}' is not empty; choose another, or --force to replace it")
        if not (target / MANIFEST).is_file():
            raise DiscreetError(
                f"the folder '{output}' holds no release, so it is not replaced even with --force; choose another"
            )
    _check_writable(target, output)
    return target


def check_trace(trace: str, output: Path, force: bool, used: Mapping[str, Path]) -> Path:
    """The private file that tells the group of every row; refused inside the release, or in place of another file."""
    path = absolute(trace)
    resolved = path.resolve()
    if output.resolve() == resolved or output.resolve() in resolved.parents:
        raise DiscreetError(
            f"the trace '{trace}' lies inside the output folder and would be published with it; choose another place"
        )
    for what, other in used.items():
        if resolved == absolute(other).resolve():
            raise DiscreetError(f"the trace '{trace}' would overwrite {what}; choose another file")
    if path.is_dir():
        raise DiscreetError(f"the trace '{trace}' is a folder; name a file")
    if path.exists() and not force:
        raise DiscreetError(f"the trace '{trace}' exists already; choose another file, or --force to replace it")
    if not path.parent.is_dir():
        raise DiscreetError(f"there is no folder '{path.parent}' for the trace; make it first")
    _check_writable(path, trace)
    return path


def _check_writable(target: Path, name: str) -> None:
    parent = target.parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise DiscreetError(f"'{name}' cannot be written: '{parent}' is not writable; choose another place")


@contextmanager
def beside(target: Path, ending: str) -> Iterator[Path]:
    """A name beside a target for what is not finished; whatever bears it is removed in the end."""
    path = target.with_name(f".{target.name}.{secrets.token_hex(4)}.{ending}")
    try:
        yield path
    finally:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def put_in_place(staged: Path, target: Path, force: bool) -> None:
    """Move the files of a staged release into its place in one step."""
    from discreet.releases.files import replace_folder

    def move(home: Path) -> None:
        for path in staged.iterdir():
            path.rename(home / path.name)

    replace_folder(target, move, force)


def write_trace(path: Path, groups: NDArray[Any], then: Callable[[], None]) -> None:
    """Write the private trace, readable by its owner alone; it appears only if ``then`` succeeds."""
    import numpy as np
    import pyarrow as pa

    from discreet.table.write import write_table

    with beside(path, "new") as fresh:
        os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        write_table(pa.table({"row": np.arange(len(groups)), "group": pa.array(groups, mask=groups < 0)}), fresh)
        with fresh.open("rb") as file:
            os.fsync(file.fileno())
        then()
        fresh.replace(path)
