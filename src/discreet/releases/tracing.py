"""The private trace: the published group of every input row. It undoes a release, so it never lies inside one."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pyarrow as pa

from discreet.errors import DiscreetError
from discreet.releases.files import MANIFEST
from discreet.releases.generalized import GeneralizedRelease
from discreet.table.write import write_table


def write_trace(release: GeneralizedRelease, path: str | os.PathLike[str]) -> Path:
    """Write the columns ``row`` (input row, from 0) and ``group`` (empty when withheld), readable by its owner only."""
    if release.trace is None:
        raise DiscreetError("a release loaded from its files has no trace; only the one who publishes can write it")
    target = Path(path).expanduser().absolute()
    if any((folder / MANIFEST).exists() for folder in target.parents):
        raise DiscreetError(
            f"the trace {str(target)!r} would lie inside a release, where it would undo it; choose a place outside"
        )
    groups = pa.array(release.trace, mask=release.trace < 0)
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
    try:
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        write_table(pa.table({"row": pa.array(range(len(groups))), "group": groups}), fresh)
        fresh.replace(target)
    except OSError as error:
        raise DiscreetError(f"the trace could not be written to {str(target)!r} ({error.strerror or error})") from error
    finally:
        fresh.unlink(missing_ok=True)
    return target
