"""The private trace: the published group of every input row. It undoes a release, so it must lie outside."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.disk import reason, sync
from discreet.errors import DiscreetError
from discreet.releases.folder import MANIFEST
from discreet.releases.placement import check_file, enter_file, real_place, tidied
from discreet.releases.release import Release
from discreet.table.write import write_table
from discreet.unfinished import unfinished


def write_trace(release: Release, path: str | os.PathLike[str]) -> Path:
    """Write the columns ``row`` (input row, from 0) and ``group`` (empty if withheld), readable by the owner only.

    A release of several tables has a column ``group_1``, ``group_2``, ... for each instead; a matched release has a
    third column, ``candidates``: the numbers of all rows that may be the person's, its own first. The file appears
    complete or not at all; an existing file is replaced.
    """
    target = real_place(path)
    check_outside(target)
    check_file(target)
    try:
        with unfinished(target) as fresh:
            fill_trace(release, fresh)
            enter_file(fresh, target, force=True)
            sync(target.parent)
        tidied(target)
    except OSError as error:
        raise DiscreetError(f"the trace could not be written to {str(target)!r} ({reason(error)})") from error
    return target


def fill_trace(release: Release, path: Path) -> None:
    """Write the trace of a release to a new file and sync it to disk."""
    check_of_people(type(release))
    if release.trace is None:
        raise DiscreetError("a release loaded from its files has no trace; only the one who publishes can write it")
    columns = release.trace_columns(release.trace)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    write_table(pa.table({"row": np.arange(len(release.trace)), **columns}), path)
    sync(path)


def check_of_people(kind: type[Release]) -> None:
    """Raise for a format of synthetic rows."""
    if not kind.of_people:
        raise DiscreetError(f"a {kind.format} release has no trace, because its rows are synthetic; ask for none")


def check_outside(path: Path) -> None:
    """Raise if a path lies inside a release."""
    for folder in path.absolute().parents:
        if (folder / MANIFEST).exists():
            raise DiscreetError(
                f"the trace {str(path)!r} would lie inside a release, since there is a {MANIFEST} in {str(folder)!r}, "
                "and would undo it; choose a place outside"
            )
