"""The private trace: the published group of every input row. It undoes a release, so it never lies inside one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.errors import DiscreetError
from discreet.releases.files import MANIFEST, beside, sync
from discreet.releases.release import Release
from discreet.table.paths import located
from discreet.table.write import write_table


def write_trace(release: Release, path: str | os.PathLike[str], then: Callable[[], object] | None = None) -> Path:
    """Write the columns ``row`` (input row, from 0) and ``group`` (empty when withheld), readable by its owner only.

    The file appears whole or not at all; when ``then`` is given, only if that succeeds.
    """
    if release.trace is None:
        raise DiscreetError("a release loaded from its files has no trace; only the one who publishes can write it")
    target = located(path).absolute()
    check_outside(target)
    groups = pa.array(release.trace, mask=release.trace < 0)
    try:
        with beside(target, "new") as fresh:
            os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            write_table(pa.table({"row": np.arange(len(groups)), "group": groups}), fresh)
            sync(fresh)
            if then is not None:
                then()
            fresh.replace(target)
    except OSError as error:
        raise DiscreetError(f"the trace could not be written to {str(target)!r} ({error.strerror or error})") from error
    return target


def check_outside(path: Path) -> None:
    """Refuse a place inside a release."""
    for folder in path.absolute().parents:
        if (folder / MANIFEST).exists():
            raise DiscreetError(
                f"the trace {str(path)!r} would lie inside a release, since there is a {MANIFEST} in {str(folder)!r}, "
                "and would undo it; choose a place outside"
            )
