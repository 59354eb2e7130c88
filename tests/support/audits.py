"""The audits that a release has to pass."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from discreet.adversary.audit import Audit, audit
from discreet.releases import Release
from discreet.table.table import Table


def audits(release: Release, table: Table, **more: Any) -> list[Audit]:
    """The audits of the saved files, with and without the trace, all of which hold.

    Where only the trace tells what is promised about, promises may not be shown without it; all else must be.
    """
    with tempfile.TemporaryDirectory() as folder:
        release.save(Path(folder) / "release")
        found = [audit(Path(folder) / "release", table, trace=trace, **more) for trace in (release.trace, None)]
    for result, trace in zip(found, (release.trace, None), strict=True):
        unshown = trace is None and release.format == "matched"
        assert result.holds or (unshown and all(check.holds for check in result.checks)), result.sentences()
    return found


def failing(found: Audit) -> dict[str, str]:
    """What fails, by the name of the check or the text of the promise, and what is said about it."""
    broken = {kept.promise: kept.sentence for kept in found.promises if not kept.holds}
    return {check.name: check.sentence for check in found.checks if not check.holds} | broken


def said(found: Audit, name: str) -> str:
    """What a check says."""
    return next(check.sentence for check in found.checks if check.name == name)
